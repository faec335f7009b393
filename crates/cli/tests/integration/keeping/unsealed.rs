//! An instance of the version before: its rows that carry authority have no seals. They get them at the upgrade if the audit confirms
//! each of them, and none of them counts otherwise.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::Digest;
use ledger::chain::{Seal, Secret, Tip, Vault};
use services::Flavour;

use crate::keeping::old::entries_of;
use crate::keeping::restores::newest_key;
use crate::keeping::watched::{Instance, Place};
use crate::sql::Database;
use crate::world::REQUEST;

const PLACES: [Place; 2] = [Place::File, Place::Server(0)];

/// A vault with one secret, to seal a head as the version before did.
#[derive(Debug)]
struct OneSecret(Secret);

impl Vault for OneSecret {
    fn secret(&self, _epoch: u64) -> std::io::Result<Option<Secret>> {
        Ok(Some(self.0.clone()))
    }

    fn make(&self, _epoch: u64) -> std::io::Result<Secret> {
        Ok(self.0.clone())
    }

    fn authority_key(&self) -> std::io::Result<Secret> {
        Ok(self.0.clone())
    }

    fn erase_before(&self, _epoch: u64) -> std::io::Result<()> {
        Ok(())
    }

    fn tip(&self) -> std::io::Result<Option<Tip>> {
        Ok(None)
    }

    fn note(&self, _tip: Tip) -> std::io::Result<()> {
        Ok(())
    }

    fn checkpoints(&self) -> std::io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn append(&self, _line: &str) -> std::io::Result<()> {
        Ok(())
    }
}

/// The head of the audit, as it is to stand without authority.
fn seal_head(keys: &Path, head: &str) -> String {
    let secret = std::fs::read_to_string(newest_key(keys)).expect("a key");
    let secret = Secret::new(*secret.trim().parse::<Digest>().expect("a digest").as_bytes());
    let cells: Vec<&str> = head.trim().split('|').collect();
    let tip = Tip { seq: cells[1].parse().expect("a number"), hash: cells[2].parse().expect("a digest") };
    let seal = Seal::new(cells[0].parse().expect("a node"), Arc::new(OneSecret(secret)));
    seal.head(cells[3].parse().expect("a number"), tip, None).expect("a head").mac.to_string()
}

const SCHEMA_6: &str = "
    DROP TABLE agent_notes;
    DROP TABLE authority_seals;
    DROP TABLE database_stamp;
    ALTER TABLE audit_heads DROP COLUMN authority;
    ALTER TABLE agent_tasks DROP COLUMN journal;
    DROP INDEX approval_queue_by_live;
    ALTER TABLE approval_queue DROP COLUMN live;
    ALTER TABLE approval_queue DROP COLUMN token_until;";

/// Runs SQL behind the program's back.
fn execute(instance: &Instance, place: Place, sql: &str) {
    match instance.url(place) {
        None => instance.world.sql(&[sql]),
        Some(url) => {
            let server = services::shared(Flavour::Plain).expect("a server");
            server.run_at(url, &format!("SET search_path = brainframe; {sql}")).expect("SQL");
        }
    }
}

/// Takes out of the instance what schema 8 has brought.
fn take_back_to_schema_7(instance: &Instance, place: Place) {
    let version = match place {
        Place::File => "PRAGMA user_version = 7",
        Place::Server(_) => "DELETE FROM schema_migrations WHERE number >= 8",
    };
    execute(instance, place, &format!("DROP TABLE agent_notes; {version}"));
}

/// Takes out of the instance what schema 7 has brought.
fn take_back_to_schema_6(instance: &Instance, place: Place) {
    let data = instance.world.data();
    let paths = instance.succeeds(place, &["paths", "--json"]).json();
    let keys = PathBuf::from(paths[0]["keys"].as_str().expect("a folder"));
    let vault = keys.parent().expect("a folder");
    match instance.url(place) {
        None => {
            let head =
                "SELECT stream || '|' || seq || '|' || lower(hex(hash)) || '|' || epoch FROM audit_heads";
            let database = Database::open(&instance.world.database());
            let [head] = database.texts(head).try_into().expect("one");
            database.close();
            let mac = seal_head(&keys, &head);
            execute(instance, place, &format!("UPDATE audit_heads SET mac = X'{mac}'; {SCHEMA_6}"));
            execute(instance, place, "PRAGMA user_version = 6");
        }
        Some(url) => {
            let head = "SELECT stream, seq, encode(hash, 'hex'), epoch FROM brainframe.audit_heads";
            let server = services::shared(Flavour::Plain).expect("a server");
            let mac = seal_head(&keys, &server.run_at(url, head).expect("a head"));
            let sql = format!(
                "UPDATE audit_heads SET mac = '\\x{mac}'; {SCHEMA_6} DELETE FROM schema_migrations WHERE number >= 7"
            );
            execute(instance, place, &sql);
        }
    }
    std::fs::remove_file(keys.join("authority.key")).expect("remove");
    std::fs::remove_file(vault.join("database")).expect("remove");
    if place != Place::File {
        // There was one vault for whichever server.
        for name in ["keys", "checkpoints.jsonl", "tip"] {
            std::fs::rename(vault.join(name), data.join("remote").join(name)).expect("move");
        }
        std::fs::remove_dir_all(vault).expect("remove");
    }
}

/// A grant, and a yes that no call has used; the task that the yes is for.
fn with_a_grant_and_a_yes(place: Place, take_back: fn(&Instance, Place)) -> (Instance, String) {
    let instance = Instance::with_servers(usize::from(place != Place::File));
    instance.answers(place);
    instance.succeeds(place, &["tick"]);
    for file in ["a.txt", "b.txt"] {
        std::fs::write(instance.world.workspace().join(file), "dear").expect("a file");
    }
    instance.succeeds(place, &["grants", "add", "delete_file", "path=b.txt"]);
    let asked = instance.regent(place, &["tools", "call", "delete_file", "path=a.txt"]).run();
    assert_eq!(asked.exit, Some(3), "{asked}");
    let open = instance.succeeds(place, &["approvals", "list", "--json"]).json();
    let [task, id] = ["task", "id"].map(|field| open[0][field].as_str().expect("text").to_owned());
    instance.succeeds(place, &["approvals", "approve", &id]);
    take_back(&instance, place);
    (instance, task)
}

#[test]
fn its_grants_and_its_yes_still_count_after_the_upgrade() {
    for place in PLACES {
        for take_back in [take_back_to_schema_6 as fn(&Instance, Place), take_back_to_schema_7] {
            grant_and_yes_count(place, take_back);
        }
    }
}

fn grant_and_yes_count(place: Place, take_back: fn(&Instance, Place)) {
    let (instance, task) = with_a_grant_and_a_yes(place, take_back);
    instance.answers(place);
    let audit = instance.succeeds(place, &["audit", "list", "--json", "--limit", "100000"]).json();
    assert_eq!(entries_of(&audit, "house.upgraded").len(), 1, "{place:?}");
    instance.verifies(place);
    instance.succeeds(place, &["resume", &task]);
    assert!(!instance.world.workspace().join("a.txt").exists(), "{place:?}: the yes counts");
    instance.succeeds(place, &["tools", "call", "delete_file", "path=b.txt"]);
    assert!(!instance.world.workspace().join("b.txt").exists(), "{place:?}: the grant counts");
    instance.verifies(place);
    instance.succeeds(place, &["doctor"]);
}

#[test]
fn nothing_is_sealed_if_the_audit_does_not_confirm_it() {
    const ANOTHER_ID: &str =
        "substr(id, 1, length(id) - 1) || CASE substr(id, length(id)) WHEN '0' THEN '4' ELSE '0' END";
    for place in PLACES {
        let (instance, _) = with_a_grant_and_a_yes(place, take_back_to_schema_6);
        let forged = format!(
            "INSERT INTO grants SELECT {ANOTHER_ID}, {ANOTHER_ID}, tool_id, terms, created_at, expires_at, revoked_at,
                granted_by, request_id FROM grants"
        );
        execute(&instance, place, &forged);
        // It stays so until the owner has decided.
        let delete = ["tools", "call", "delete_file", "path=b.txt"];
        let first = instance.regent(place, &["run", REQUEST]).run().says(&["upgraded: ", "error R4035: "]);
        assert_eq!(first.exit, Some(4), "{place:?}: {first}");
        for args in [&["run", REQUEST][..], &delete] {
            instance.regent(place, args).run().fails(4, "R4035");
        }
        assert!(instance.world.workspace().join("b.txt").exists(), "{place:?}");
        instance.succeeds(place, &["authority", "reset", "--yes"]);
        instance.regent(place, &["run", REQUEST]).run().fails(3, "R3003");
        instance.succeeds(place, &["resume-all"]);
        instance.answers(place);
    }
}
