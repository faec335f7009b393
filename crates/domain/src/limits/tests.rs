//! `docs/limits.md` says what `limits.rs` says.

use super as l;

fn number(n: usize) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

fn bytes(n: usize) -> String {
    match n {
        n if n.is_multiple_of(1024 * 1024) => format!("{} MiB", n / 1024 / 1024),
        n => format!("{} KiB", n / 1024),
    }
}

#[test]
fn the_document_has_every_limit_with_its_value() {
    let seconds = |span: std::time::Duration| format!("{} s", span.as_secs());
    let limits = [
        ("LINE_BYTES", bytes(l::LINE_BYTES)),
        ("REQUEST_BYTES", bytes(l::REQUEST_BYTES)),
        ("INSTRUCTION_BYTES", bytes(l::INSTRUCTION_BYTES)),
        ("EVENT_BODY_BYTES", bytes(l::EVENT_BODY_BYTES)),
        ("LIST_ENTRIES", number(l::LIST_ENTRIES as usize)),
        ("FOUND_FILES", number(l::FOUND_FILES)),
        ("FOUND_GROUPS", number(l::FOUND_GROUPS)),
        ("READ_BYTES", bytes(l::READ_BYTES)),
        ("MATCHING_LINES", number(l::MATCHING_LINES)),
        ("OUTPUT_BYTES", bytes(l::OUTPUT_BYTES)),
        ("NESTED_LEVELS", number(l::NESTED_LEVELS)),
        ("FAILURE_BYTES", bytes(l::FAILURE_BYTES)),
        ("STOPPING", format!("{} ms", l::STOPPING.as_millis())),
        ("TASK_CALLS", number(usize::try_from(l::TASK_CALLS).expect("small"))),
        ("WRITE_BYTES", bytes(l::WRITE_BYTES)),
        ("DIFF_BYTES", bytes(l::DIFF_BYTES)),
        ("CHANGED_NAMES", number(l::CHANGED_NAMES)),
        ("CHANGED_BYTES", bytes(usize::try_from(l::CHANGED_BYTES).expect("small"))),
        ("DELETED_DIGEST_BYTES", bytes(usize::try_from(l::DELETED_DIGEST_BYTES).expect("small"))),
        ("UNDO_BYTES", bytes(l::UNDO_BYTES)),
        ("TABLE_BYTES", bytes(usize::try_from(l::TABLE_BYTES).expect("small"))),
        ("TABLE_COLUMNS", number(l::TABLE_COLUMNS)),
        ("TABLE_GROUPS", number(l::TABLE_GROUPS)),
        ("LISTED_GROUPS", number(l::LISTED_GROUPS)),
        ("CALC_BYTES", bytes(l::CALC_BYTES)),
        ("AUTHORISATION", seconds(l::AUTHORISATION)),
        ("FILE_TOOL", seconds(l::FILE_TOOL)),
        ("ATTEMPT_STEPS", number(l::ATTEMPT_STEPS)),
        ("ATTEMPT_RETRIES", number(l::ATTEMPT_RETRIES as usize)),
        ("PLAN_SUBTASKS", number(l::PLAN_SUBTASKS)),
        ("PARALLEL_CALLS", number(l::PARALLEL_CALLS)),
        ("PARALLEL_ASKS", number(l::PARALLEL_ASKS)),
        ("MODEL", seconds(l::MODEL)),
        ("HISTORY", number(l::HISTORY)),
        ("EVENTS_IN_FLIGHT", number(l::EVENTS_IN_FLIGHT)),
        ("BYTES_IN_FLIGHT", bytes(l::BYTES_IN_FLIGHT)),
        ("GROUP_BATCHES", number(l::GROUP_BATCHES)),
        ("WAITING_BATCHES", number(l::WAITING_BATCHES)),
        ("CHECKPOINT_ENTRIES", number(usize::try_from(l::CHECKPOINT_ENTRIES).expect("small"))),
        ("CLOCK_TOLERANCE", seconds(l::CLOCK_TOLERANCE)),
        ("LEASE", seconds(l::LEASE)),
        ("APPROVAL", seconds(l::APPROVAL)),
        ("APPROVAL_TOKEN", seconds(l::APPROVAL_TOKEN)),
        ("COVERAGE", number(l::COVERAGE as usize)),
        ("CODE_TRIES", number(usize::try_from(l::CODE_TRIES).expect("small"))),
    ];
    let page = include_str!("../../../../docs/limits.md");
    for (name, value) in &limits {
        assert!(
            page.contains(&format!("| `{name}` | {value} |")),
            "`{name}` is {value}, docs/limits.md says otherwise"
        );
    }
    let declared = include_str!("../limits.rs").lines().filter(|line| line.starts_with("pub const ")).count();
    assert_eq!(declared, limits.len(), "a limit that this test does not know");
}
