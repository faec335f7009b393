//! Several processes at once on one house, from its first moment on.
#![expect(clippy::disallowed_methods, reason = "a test starts processes")]

use std::path::Path;
use std::process::{Command, Stdio};

const PROCESSES: usize = 12;

fn regent(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
    command.args(args).current_dir(home).env_clear().env("REGENT_HOME", home.join("house"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// All of them meet an empty house, an unknown owner and an agent that has never spoken.
#[test]
fn many_first_commands_at_once_make_one_house() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    std::fs::write(home.join("a.rs"), "fn main() {}").expect("a file");
    let start = |_| regent(home, &["run", "how many Rust files are here?"]).spawn().expect("it starts");
    let running: Vec<_> = (0..PROCESSES).map(start).collect();
    for child in running {
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(output.stdout.starts_with(b"1 Rust file"), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let lines = |args: &[&str]| {
        let output = regent(home, args).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8_lossy(&output.stdout).lines().count()
    };
    assert_eq!(lines(&["tasks", "list", "--json"]), PROCESSES);
    assert_eq!(lines(&["events", "list", "--json"]), 2 * PROCESSES, "each request and each answer, once");
    assert_eq!(lines(&["audit", "verify"]), 1);
}
