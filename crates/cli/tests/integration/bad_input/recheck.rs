//! `why --recheck` on a record that somebody changed behind the program's back.

use crate::world::World;

/// The task of the one request, and the tampered house.
fn tampered(statements: &[&str]) -> (World, String) {
    let world = World::lived_in();
    let task = world.regent(&["tasks", "list", "--json"]).run().succeeds().json()[0]["task"].clone();
    world.sql(statements);
    (world, task.as_str().expect("an id").to_owned())
}

#[test]
fn an_untouched_record_comes_out_the_same() {
    let (world, task) = tampered(&[]);
    let outcome = world.regent(&["why", &task, "--recheck"]).run().succeeds();
    assert!(outcome.stdout.ends_with("recheck: 10 the same\n"), "{outcome}");
    let json = world.regent(&["why", &task, "--recheck", "--json"]).run().succeeds();
    assert_eq!(json.json()[0]["recheck"]["holds"], true, "{json}");
    let plain = world.regent(&["why", &task, "--json"]).run().succeeds();
    assert!(plain.json()[0].get("recheck").is_none(), "nothing is computed that nobody asked for\n{plain}");
}

/// Exit 1 and a code, and everything that was found stands above it.
#[test]
fn what_was_changed_is_named_and_exits_with_1() {
    let table = [
        (
            "UPDATE tool_calls SET status = 'failed' WHERE tool_id = 'find_files'",
            "DIFFERS: status, in the audit: then finished, now failed",
        ),
        ("UPDATE agent_tasks SET directive = 'abandon'", "DIFFERS: directive: then abandon, now accept"),
        ("DELETE FROM tool_calls WHERE tool_id = 'deliver'", "DIFFERS: row: then kept, now gone"),
        (
            "UPDATE blobs SET content = CAST(replace(CAST(content AS TEXT), 'level 4', 'level 9') AS BLOB) \
             WHERE instr(CAST(content AS TEXT), 'level 4') > 0",
            "DIFFERS: decision: then what its digest says, now something else",
        ),
        (
            "UPDATE validation_policies SET name = 'other'",
            "DIFFERS: name, in its row: then default-owner, now other",
        ),
    ];
    for (statement, found) in table {
        let (world, task) = tampered(&[statement]);
        let outcome = world.regent(&["why", &task, "--recheck"]).run().fails(1, "R1008");
        assert!(outcome.stdout.contains(found), "{statement}\n{outcome}");
        outcome.says(&["although the rules are the same", "regent audit verify"]);
        let json = world.regent(&["why", &task, "--recheck", "--json"]).run();
        assert_eq!((json.exit, &json.json()[0]["recheck"]["holds"]), (Some(1), &false.into()), "{json}");
        world.regent(&["why", &task]).run().succeeds();
    }
}

/// What was erased is said, and is no failure.
#[test]
fn what_was_erased_is_said_and_exits_with_0() {
    let (world, task) = tampered(&["DELETE FROM blobs WHERE person IS NOT NULL"]);
    let outcome = world.regent(&["why", &task, "--recheck"]).run().succeeds();
    assert!(outcome.stdout.contains("erased: cannot be computed again"), "{outcome}");
    assert!(outcome.stdout.ends_with("recheck: 2 the same, 7 erased\n"), "{outcome}");
}
