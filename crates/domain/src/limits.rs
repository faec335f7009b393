//! A limit on everything, in one place. The table in `docs/limits.md` is checked against this file.

use std::time::Duration;

/// One line on standard input.
pub const LINE_BYTES: usize = 1024 * 1024;
/// The request of one `run`.
pub const REQUEST_BYTES: usize = 64 * 1024;
/// The content of one event.
pub const EVENT_BODY_BYTES: usize = 10 * 1024 * 1024;
/// Entries that one listing returns by default.
pub const LIST_ENTRIES: u32 = 100;
/// Files that one `find_files` or `glob` call names; it counts them all.
pub const FOUND_FILES: usize = 1_000;
/// What one `read_file` call returns of a file.
pub const READ_BYTES: usize = 1024 * 1024;
/// Matching lines that one call returns; it counts them all.
pub const MATCHING_LINES: usize = 1_000;
/// How long a call may start after it was authorised.
pub const AUTHORISATION: Duration = Duration::from_secs(30);
/// How long one file tool may run.
pub const FILE_TOOL: Duration = Duration::from_secs(120);
/// Model steps in one attempt.
pub const ATTEMPT_STEPS: usize = 10;
/// Subtasks in one plan.
pub const PLAN_SUBTASKS: usize = 500;
/// Batches that one durable transaction takes.
pub const GROUP_BATCHES: usize = 64;
/// Batches that wait for the committer before a writer has to wait too.
pub const WAITING_BATCHES: usize = 256;
/// Audit entries after which a checkpoint is due before its time.
pub const CHECKPOINT_ENTRIES: u64 = 10_000;
/// How long a driver may be silent before another may take its task over.
pub const LEASE: Duration = Duration::from_secs(30);
