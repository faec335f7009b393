//! The log: spans of operations, tasks and calls, one line per failure, and none of the texts that people wrote.

use std::os::unix::fs::PermissionsExt as _;

use crate::world::World;

/// Words that must not be in a log.
const CANARY: &str = "canary";

#[test]
fn a_log_has_the_spans_of_a_run_and_none_of_its_texts() {
    let world = World::lived_in();
    std::fs::write(world.workspace().join(format!("{CANARY}.rs")), "fn a() {}").expect("a file");
    let log = world.folder().join("regent.log");
    let path = log.to_str().expect("UTF-8");
    let request = format!("how many Rust files have {CANARY} in their name?");
    world.regent(&["run", &request, "--log-file", path]).env("RUST_LOG", "info").run().succeeds();
    world.regent(&["why", CANARY, "--log-file", path]).run();
    let text = std::fs::read_to_string(&log).expect("a log");
    for part in ["operation{name=\"run\"}", "task{task=t-", "call{tool=find_files call=c-", "ERROR", "code=R"]
    {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let call = text.lines().find(|line| line.contains("call{tool=find_files")).expect("a call");
    assert!(call.contains("task{task=t-"), "a call is below its task: {call}");
    assert_eq!(
        text.lines().filter(|line| line.contains("ERROR")).count(),
        1,
        "one line per failure:\n{text}"
    );
    assert!(!text.contains(CANARY), "{text}");
    let mode = std::fs::metadata(&log).expect("a log").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn without_a_file_and_a_filter_nothing_is_logged_and_a_bad_one_is_refused() {
    let world = World::lived_in();
    let quiet = world.regent(&["tasks", "list"]).run().succeeds();
    assert!(!quiet.stderr.contains("INFO"), "{quiet}");
    let loud = world.regent(&["tasks", "list"]).env("RUST_LOG", "info").run().succeeds();
    assert!(loud.stderr.contains("operation{name=\"tasks list\"}"), "{loud}");
    world.regent(&["tasks", "list"]).env("RUST_LOG", "a=b=c").run().fails(2, "R2001");
    let nowhere = world.folder().join("no/such/folder/regent.log");
    let nowhere = nowhere.to_str().expect("UTF-8");
    world.regent(&["tasks", "list", "--log-file", nowhere]).run().fails(4, "R4016");
}
