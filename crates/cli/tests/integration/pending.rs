//! `approvals list` of the real program: one list by expiry, however many strangers write.

use std::fmt::Write as _;

use serde_json::Value;

use crate::world::World;

const SENDERS: usize = 250;

fn strangers(world: &World) {
    let lines = (0..SENDERS).fold(String::new(), |mut lines, n| {
        let line = r#""adapter":"crowd","content":"hello""#;
        writeln!(lines, r#"{{{line},"source_id":"{n}","sender":"s{n}"}}"#).expect("a line");
        lines
    });
    world.regent(&["events", "ingest"]).stdin(lines).run().succeeds();
    world.regent(&["tick"]).run().succeeds();
}

#[test]
fn many_strangers_neither_hide_a_call_nor_fill_the_screen() {
    let world = World::lived_in();
    strangers(&world);
    // The newest of all, and the first to expire.
    world.regent(&["tools", "call", "delete_file", "path=notes.md"]).run();
    let outcome = world.regent(&["approvals", "list"]).run().succeeds();
    let rows: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(rows.len(), 4, "{outcome}");
    assert!(rows[0].contains("delete_file notes.md"), "{outcome}");
    assert!(rows[1..].iter().all(|row| row.contains("wants in")), "{outcome}");
    let status = world.regent(&["status", "--json"]).run().succeeds().json();
    let waiting = status[0]["wanting_in"].as_u64().expect("a number");
    assert!(waiting >= 250 && status[0]["questions"] == 1, "{status:?}");
    let more = format!("{} more senders want in   regent approvals list --senders", waiting - 3);
    assert!(outcome.stderr.contains(&more), "{outcome}");

    let listed = world.regent(&["approvals", "list", "--senders"]).run().succeeds();
    assert_eq!(listed.stdout.lines().count(), 100, "{listed}");
    let json: Vec<Value> =
        world.regent(&["approvals", "list", "--json", "--limit", "7"]).run().succeeds().json();
    let times: Vec<&str> = json.iter().filter_map(|item| item["timeout_at"].as_str()).collect();
    assert!(times.len() == 7 && times.is_sorted() && json[0].get("question").is_some(), "{json:?}");

    world.regent(&["tools", "call", "calc", "expression=1"]).run();
    let one = world.regent(&["approvals", "list", "--limit", "1"]).run().succeeds();
    assert_eq!(one.stdout.lines().count(), 1, "{one}");
}
