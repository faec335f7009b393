//! A restore goes back to older rows, and not to an older say of the owner: what was halted, switched off, unlinked, distrusted or
//! removed since the backup stays so, and the output lists it.

use std::path::Path;

use serde_json::Value;

use crate::keeping::watched::{Instance, Place};
use crate::world::REQUEST;

const PLACES: [Place; 2] = [Place::File, Place::Server(0)];
const NOTES_TOOL: &str = r#"{"tool_id":"notes_read","description":"reads the notes","handler_config":{"function":"read_file","fixed":{"path":"notes.md"}}}"#;

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

struct Owner<'a> {
    instance: &'a Instance,
    place: Place,
}

impl Owner<'_> {
    fn says(&self, args: &[&str]) -> String {
        self.instance.succeeds(self.place, args).stdout
    }

    fn json(&self, args: &[&str]) -> Vec<Value> {
        self.instance.succeeds(self.place, args).json()
    }

    fn add_tool(&self) {
        self.instance.regent(self.place, &["tools", "add", "-"]).stdin(NOTES_TOOL).run().succeeds();
    }

    fn has_tool(&self) -> bool {
        self.says(&["tools", "list"]).contains("notes_read")
    }

    fn policy_is_on(&self, name: &str) -> bool {
        let report = self.json(&["acl", "list", "--json"]).remove(0);
        let policies = report["policies"].as_array().expect("policies").clone();
        let found = policies.iter().find(|policy| policy["name"] == name);
        found.unwrap_or_else(|| panic!("{report}"))["enabled"] == true
    }

    fn person(&self, name: &str) -> Value {
        self.json(&["people", "show", name, "--json"]).remove(0)
    }

    fn is_linked(&self, address: &str) -> bool {
        self.instance.regent(self.place, &["people", "show", address]).run().exit == Some(0)
    }
}

const CARRIED: [&str; 6] = [
    "the halt stays",
    "policy `block-unknown`: stays switched off",
    "Lea: relationship, trust and tags stay as they are now",
    "demo:lea: stays unlinked",
    "tool `notes_read`: stays as it ships, or removed",
    "Mallory: stays hostile",
];

#[test]
fn what_the_owner_said_since_the_backup_is_not_taken_back() {
    for place in PLACES {
        let instance = Instance::with_servers(1);
        let owner = Owner { instance: &instance, place };
        instance.ingest(place, 1..=2);
        owner.says(&[
            "people",
            "add",
            "Lea",
            "--trust",
            "verified",
            "--tag",
            "role:billing",
            "--link",
            "demo:lea",
        ]);
        owner.add_tool();
        let folder = instance.back_up(place);
        owner.says(&["acl", "disable", "block-unknown"]);
        owner.says(&["people", "unlink", "demo:lea"]);
        owner.says(&["people", "set", "Lea", "--trust", "untrusted", "--no-tag", "role:billing"]);
        owner.says(&["people", "add", "Mallory", "--trust", "hostile", "--link", "demo:mallory"]);
        owner.says(&["tools", "remove", "notes_read"]);
        owner.says(&["halt"]);
        for how in ["--dry-run", "--yes"] {
            let said = owner.says(&["restore", how, text(&folder)]);
            for line in CARRIED {
                assert!(said.contains(line), "{place:?} {how}: `{line}` is not said: {said}");
            }
        }
        instance.regent(place, &["run", REQUEST]).run().fails(3, "R3003");
        assert!(!owner.policy_is_on("block-unknown"), "{place:?}");
        assert!(!owner.is_linked("demo:lea"), "{place:?}");
        assert!(owner.is_linked("demo:mallory"), "{place:?}");
        let lea = owner.person("Lea");
        assert_eq!(lea["trust"], "untrusted", "{place:?}: {lea}");
        assert!(!lea.to_string().contains("role:billing"), "{place:?}: {lea}");
        assert_eq!(owner.person("Mallory")["trust"], "hostile", "{place:?}");
        assert!(!owner.has_tool(), "{place:?}");
        owner.says(&["resume-all"]);
        instance.answers(place);
        instance.verifies(place);

        // And the other way round: what is in force now is in force, whatever the backup says.
        owner.says(&["acl", "enable", "block-unknown"]);
        let said = owner.says(&["restore", "--yes", text(&folder)]);
        assert!(!said.contains("the halt stays"), "{place:?}: {said}");
        assert!(said.contains("policy `block-unknown`: stays switched on"), "{place:?}: {said}");
        assert!(owner.policy_is_on("block-unknown"), "{place:?}");
        instance.answers(place);
        instance.verifies(place);
    }
}

/// The address of one person in the backup is that of a hostile one now.
#[test]
fn an_address_that_was_given_to_a_hostile_person_stays_theirs() {
    for place in PLACES.into_iter().step_by(services::stride(2)) {
        let instance = Instance::with_servers(1);
        let owner = Owner { instance: &instance, place };
        instance.ingest(place, 1..=2);
        owner.says(&["people", "add", "Lea", "--link", "demo:lea"]);
        let folder = instance.back_up(place);
        owner.says(&["people", "unlink", "demo:lea"]);
        owner.says(&["people", "add", "Mallory", "--trust", "hostile", "--link", "demo:lea"]);
        owner.says(&["halt"]);
        let said = owner.says(&["restore", "--yes", text(&folder)]);
        assert!(said.contains("Mallory: stays hostile"), "{place:?}: {said}");
        instance.regent(place, &["run", REQUEST]).run().fails(3, "R3003");
        let shown = owner.person("demo:lea");
        assert_eq!((&shown["name"], &shown["trust"]), (&"Mallory".into(), &"hostile".into()), "{place:?}");
        owner.says(&["resume-all"]);
        instance.answers(place);
        instance.verifies(place);
    }
}

/// A halt that is in the backup, and was lifted since, comes back with it: it restricts, and the owner sees it.
#[test]
fn a_halt_in_the_backup() {
    for place in PLACES.into_iter().rev().step_by(services::stride(2)) {
        let instance = Instance::with_servers(1);
        instance.ingest(place, 1..=2);
        instance.succeeds(place, &["halt"]);
        let folder = instance.back_up(place);
        instance.succeeds(place, &["resume-all"]);
        instance.answers(place);
        instance.succeeds(place, &["restore", "--yes", text(&folder)]);
        instance.regent(place, &["run", REQUEST]).run().fails(3, "R3003");
        instance.succeeds(place, &["resume-all"]);
        instance.answers(place);
        instance.verifies(place);
    }
}
