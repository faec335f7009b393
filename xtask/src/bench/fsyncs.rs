//! How often a command makes the disk wait, counted by `strace` where it is installed and allowed.

use std::path::Path;
use std::process::{Command, Stdio};

use super::process::pass_to;
use crate::job::Job;

/// `None` if `strace` does not run here. The command runs a little slower than without it, and gathers more into one write.
pub(super) fn count(job: &Job, command: &Command, stdin: &Path, scratch: &Path) -> Option<u64> {
    let counted = scratch.join("fsyncs");
    let args = ["-f", "--seccomp-bpf", "-c", "-U", "calls,name", "-e", "trace=fsync,fdatasync", "-o"];
    let mut strace = job.command("strace", &args);
    strace.arg(&counted);
    let mut strace = pass_to(strace, command);
    strace.stdin(std::fs::File::open(stdin).ok()?).stdout(Stdio::null()).stderr(Stdio::null());
    strace.status().ok().filter(std::process::ExitStatus::success)?;
    sum_calls(&std::fs::read_to_string(&counted).ok()?)
}

/// From `strace -c -U calls,name`.
fn sum_calls(table: &str) -> Option<u64> {
    let calls = table.lines().filter_map(|line| {
        let (calls, name) = line.trim().split_once(char::is_whitespace)?;
        (name.trim().ends_with("sync")).then(|| calls.parse::<u64>().ok()).flatten()
    });
    calls.reduce(|sum, calls| sum + calls)
}

#[cfg(test)]
mod tests {
    use super::sum_calls;

    #[test]
    fn both_kinds_of_sync_are_counted() {
        let table = "    calls syscall\n--------- ----------------\n      312 fdatasync\n        5 fsync\n--------- ----------------\n      317 total\n";
        assert_eq!(sum_calls(table), Some(317));
        assert_eq!(sum_calls(""), None);
    }
}
