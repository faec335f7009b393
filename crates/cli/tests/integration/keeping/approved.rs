//! A house that comes back does not bring a yes back: what it was for may have happened since.

use std::path::Path;

use serde_json::Value;

use crate::keeping::backups::back_up;
use crate::keeping::old::entries_of;
use crate::keeping::server::OnServer;
use crate::process::Regent;
use crate::world::World;

/// A house, wherever its ledger is.
struct House<'a> {
    regent: &'a dyn Fn(&[&str]) -> Regent,
    workspace: &'a Path,
}

impl House<'_> {
    fn json(&self, args: &[&str]) -> Vec<Value> {
        (self.regent)(args).run().succeeds().json()
    }

    /// A call that asks: its task, and the question.
    fn asks(&self, file: &str) -> (String, String) {
        std::fs::write(self.workspace.join(file), "dear").expect("a file");
        let outcome = (self.regent)(&["tools", "call", "delete_file", &format!("path={file}")]).run();
        assert_eq!(outcome.exit, Some(3), "{outcome}");
        let open = self.json(&["approvals", "list", "--json"]);
        let ours = |view: &&Value| view["question"]["call"]["args"]["path"] == file;
        let view = open.iter().find(ours).unwrap_or_else(|| panic!("{open:?}"));
        let text = |field: &str| view[field].as_str().expect("text").to_owned();
        (text("task"), text("id"))
    }

    fn approve(&self, question: &str) {
        (self.regent)(&["approvals", "approve", question]).run().succeeds();
    }

    fn shown(&self, question: &str) -> (Value, Value) {
        let view = self.json(&["approvals", "show", question, "--json"]).remove(0);
        (view["status"].clone(), view["fate"].clone())
    }

    fn is_there(&self, file: &str) -> bool {
        self.workspace.join(file).exists()
    }

    /// Approved, copied, used; put back, and the file as it was.
    fn a_yes_is_good_once(&self, back_up: impl Fn() -> std::path::PathBuf) {
        let (task, yes) = self.asks("a.txt");
        let (waiting, open) = self.asks("b.txt");
        self.approve(&yes);
        let backup = back_up();
        (self.regent)(&["resume", &task]).run().succeeds();
        assert!(!self.is_there("a.txt"));
        assert_eq!(self.shown(&yes), ("approved".into(), "used".into()));

        (self.regent)(&["restore", "--yes", backup.to_str().expect("text")]).run().succeeds();
        assert_eq!(self.shown(&yes), ("approved".into(), "void".into()));
        assert_eq!(self.shown(&open), ("pending".into(), Value::Null), "nobody has answered it");
        let audit = self.json(&["audit", "list", "--json", "--limit", "100000"]);
        let voided = entries_of(&audit, "approval.voided");
        assert_eq!(voided.len(), 1, "{voided:?}");
        assert_eq!((&voided[0]["subject"], &voided[0]["actor"]), (&yes.as_str().into(), &"system".into()));

        std::fs::write(self.workspace.join("a.txt"), "dear").expect("the file as it was");
        let again = (self.regent)(&["resume", &task]).run();
        assert_eq!(again.exit, Some(3), "a new question, and nothing done: {again}");
        assert!(self.is_there("a.txt"));
        let views = self.json(&["approvals", "list", "--json"]);
        let asked = views.iter().find(|view| view["task"] == task.as_str()).expect("a new question");
        assert_ne!(asked["id"], yes.as_str());

        self.approve(asked["id"].as_str().expect("an id"));
        (self.regent)(&["resume", &task]).run().succeeds();
        assert!(!self.is_there("a.txt"), "with a new yes it may");
        self.approve(&open);
        (self.regent)(&["resume", &waiting]).run().succeeds();
        assert!(!self.is_there("b.txt"), "and what was open could still be answered");
        (self.regent)(&["audit", "verify", "--complete"]).run().succeeds();
    }
}

/// A code that was used, and a grant that was revoked, since the backup.
#[test]
fn neither_codes_nor_grants_come_back() {
    let world = World::lived_in();
    let house = House { regent: &|args| world.regent(args), workspace: &world.workspace() };
    let (task, question) = house.asks("a.txt");
    let code = house.json(&["approvals", "code", &question, "--json"]).remove(0);
    let reply = format!("yes {} {}", code["number"], code["code"].as_str().expect("a code"));
    let added = house.json(&["grants", "add", "delete_file", "path=b.txt", "--json"]).remove(0);
    let grant = added["id"].as_str().expect("an id").to_owned();
    let backup = back_up(&world);
    world.regent(&["grants", "revoke", &grant]).run().succeeds();
    world.regent(&["approvals", "reply", &reply]).run().succeeds();
    world.regent(&["resume", &task]).run().succeeds();

    let restored = world.regent(&["restore", "--yes", backup.to_str().expect("text")]).run().succeeds();
    assert!(restored.stdout.contains("1 grant in it: revoked"), "{restored}");
    world.regent(&["approvals", "reply", &reply]).run().fails(3, "R3007");
    assert_eq!(house.shown(&question), ("pending".into(), Value::Null));
    let grants = house.json(&["grants", "list", "--json"]);
    assert_eq!(grants[0]["state"], "revoked", "{grants:?}");
    house.asks("b.txt");
    world.regent(&["audit", "verify", "--complete"]).run().succeeds();
}

#[test]
fn a_yes_that_was_used_since_the_backup_is_void_after_the_restore() {
    let world = World::lived_in();
    let house = House { regent: &|args| world.regent(args), workspace: &world.workspace() };
    house.a_yes_is_good_once(|| back_up(&world));
}

#[test]
fn on_a_server_too() {
    let server = OnServer::lived_in();
    let house = House { regent: &|args| server.regent(args), workspace: &server.world.workspace() };
    house.a_yes_is_good_once(|| server.back_up());
}
