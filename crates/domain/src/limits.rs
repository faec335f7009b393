//! A limit on everything, in one place. The table in `docs/limits.md` is checked against this file.

use std::time::Duration;

/// One line on standard input.
pub const LINE_BYTES: usize = 1024 * 1024;
/// The request of one `run`.
pub const REQUEST_BYTES: usize = 64 * 1024;
/// One standing instruction of the owner.
pub const INSTRUCTION_BYTES: usize = 4 * 1024;
/// The content of one event.
pub const EVENT_BODY_BYTES: usize = 10 * 1024 * 1024;
/// Lines of `events ingest` that are answered later than the next one is read.
pub const EVENTS_IN_FLIGHT: usize = 256;
/// Bytes of content after which no other line is read before one was answered.
pub const BYTES_IN_FLIGHT: usize = 4 * 1024 * 1024;
/// Entries that one listing returns by default.
pub const LIST_ENTRIES: u32 = 100;
/// Files that one `find_files` or `glob` call names; it counts them all.
pub const FOUND_FILES: usize = 1_000;
/// Different extensions or folders that one `find_files` call keeps apart.
pub const FOUND_GROUPS: usize = 100_000;
/// What one `read_file` call returns of a file.
pub const READ_BYTES: usize = 1024 * 1024;
/// Matching lines that one call returns, and it counts them all; lines of a file that may be asked for.
pub const MATCHING_LINES: usize = 1_000;
/// What is kept of the result of one call.
pub const OUTPUT_BYTES: usize = 50 * 1024 * 1024;
/// Objects and lists within each other in what is kept of others: a model's reply, arguments, a result, an event's metadata.
pub const NESTED_LEVELS: usize = 64;
/// What is kept of the reason why a call failed.
pub const FAILURE_BYTES: usize = 4 * 1024;
/// How long a call that is to stop may take to say how far it came.
pub const STOPPING: Duration = Duration::from_millis(300);
/// Calls of one task, unless the owner sets another budget.
pub const TASK_CALLS: u64 = 1_000;
/// A text that one `write_file` or `edit_file` call writes or changes.
pub const WRITE_BYTES: usize = 10 * 1024 * 1024;
/// What the record of a write shows of its diff.
pub const DIFF_BYTES: usize = 16 * 1024;
/// Names that one call may delete, copy or move.
pub const CHANGED_NAMES: usize = 1_000;
/// What one call that changes several files looks through of them.
pub const CHANGED_BYTES: u64 = 1024 * 1024 * 1024;
/// A file up to this size is digested before a call deletes, copies or moves it.
pub const DELETED_DIGEST_BYTES: u64 = 100 * 1024 * 1024;
/// What one call takes away is kept up to this size, of all its names together, so that it can be put back.
pub const UNDO_BYTES: usize = 16 * 1024 * 1024;
/// A CSV or JSON file that a table tool looks through.
pub const TABLE_BYTES: u64 = 100 * 1024 * 1024;
/// Columns of one table.
pub const TABLE_COLUMNS: usize = 1_000;
/// Different values that `table_groups` keeps apart.
pub const TABLE_GROUPS: usize = 100_000;
/// Groups that one `table_groups` or `find_files` call returns; it counts them all.
pub const LISTED_GROUPS: usize = 1_000;
/// One expression for `calc`.
pub const CALC_BYTES: usize = 4 * 1024;
/// How long a call may start after it was authorised.
pub const AUTHORISATION: Duration = Duration::from_secs(30);
/// How long one file tool may run.
pub const FILE_TOOL: Duration = Duration::from_secs(120);
/// Model steps in one attempt.
pub const ATTEMPT_STEPS: usize = 10;
/// Corrections of one subtask, before its attempts are over.
pub const ATTEMPT_RETRIES: u32 = 2;
/// Subtasks in one plan.
pub const PLAN_SUBTASKS: usize = 500;
/// Calls of one task that run side by side.
pub const PARALLEL_CALLS: usize = 32;
/// Asks of one task that models are at, side by side.
pub const PARALLEL_ASKS: usize = 32;
/// How long a model may take to answer one ask.
pub const MODEL: Duration = Duration::from_secs(30 * 60);
/// Exchanges of the same workspace that a request is read with.
pub const HISTORY: usize = 5;
/// Batches that one durable transaction takes: fewer than a pipeline has in flight, so that the next ones are prepared meanwhile.
pub const GROUP_BATCHES: usize = 128;
/// Batches that wait for the committer before a writer has to wait too.
pub const WAITING_BATCHES: usize = 256;
/// Audit entries after which a checkpoint is due before its time.
pub const CHECKPOINT_ENTRIES: u64 = 10_000;
/// How long a driver may be silent before another may take its task over.
pub const LEASE: Duration = Duration::from_secs(30);
/// How far two clocks may differ before one of them counts as wrong: that of another machine, or the same one after the
/// network corrected it.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);
/// How long a question to a person stands, unless the settings say otherwise.
pub const APPROVAL: Duration = Duration::from_secs(30 * 60);
/// How long a yes is good for, unless it says otherwise.
pub const APPROVAL_TOKEN: Duration = Duration::from_secs(24 * 60 * 60);
/// How many of the last questions a grant that is offered is measured by.
pub const COVERAGE: u32 = 100;
/// Wrong replies before a one-time code is worth nothing.
pub const CODE_TRIES: u64 = 5;

#[cfg(test)]
mod tests;
