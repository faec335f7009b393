//! Crates that must not be built into the program, whatever brings them. `Cargo.lock` and `cargo metadata` also list what is optional
//! and never built, so `cargo tree` is asked.

use anyhow::bail;

use crate::job::{Job, Output};

/// The same names stand in deny.toml; here they are checked without any tool.
const BANNED: &[(&str, &str)] = &[
    ("ring", "a second TLS provider beside aws-lc-rs panics at run time"),
    ("openssl-sys", "needs a system library; TLS is rustls with aws-lc-rs"),
    ("sqlx", "links sqlite3 a second time beside rusqlite"),
];

pub(crate) fn check(job: &Job) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for (name, reason) in BANNED {
        let args = ["tree", "--workspace", "--all-features", "--edges", "normal,build", "--prefix", "none"];
        let mut command = job.cargo(&args);
        command.args(["--invert", name]).env("CARGO_TERM_COLOR", "never");
        if let Some(tree) = found(&job.probe(command)?)? {
            problems.push(format!("`{name}` is built in: {reason}. It comes by: {tree}"));
        }
    }
    Ok(problems)
}

/// The way by which the crate is reached, if it is. Anything that `cargo tree` says and we do not know is an error.
fn found(output: &Output) -> anyhow::Result<Option<String>> {
    let way = output.stdout.lines().take(5).collect::<Vec<_>>().join(" ← ");
    if output.status.success() {
        // Listed, but reached by nothing: it prints a warning and no tree.
        return Ok((!way.trim().is_empty()).then_some(way));
    }
    if output.stderr.contains("did not match any packages") {
        return Ok(None);
    }
    // Two versions of it: the name alone is not enough for cargo, but it is there.
    if output.stderr.contains("specification") && output.stderr.contains("ambiguous") {
        return Ok(Some("more than one version of it".to_owned()));
    }
    bail!("`cargo tree` failed: {}", output.stderr.trim());
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    fn output(code: i32, stdout: &str, stderr: &str) -> Output {
        Output {
            status: ExitStatus::from_raw(code << 8),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        }
    }

    #[test]
    fn absent_unreached_and_built_are_told_apart() {
        let absent = output(101, "", "error: package ID specification `ring` did not match any packages\n");
        assert_eq!(found(&absent).unwrap(), None);
        let unreached = output(0, "", "warning: nothing to print.\n");
        assert_eq!(found(&unreached).unwrap(), None);
        let built = output(0, "ring v0.17.0\nrustls v0.23.0\n", "");
        assert_eq!(found(&built).unwrap().as_deref(), Some("ring v0.17.0 ← rustls v0.23.0"));
    }

    #[test]
    fn a_tree_that_fails_otherwise_is_an_error() {
        assert!(found(&output(101, "", "error: failed to parse manifest")).is_err());
    }
}
