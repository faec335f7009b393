//! The vendors' own client libraries against our double of their servers (`crates/double/clients/check.py`): what they understand,
//! the double has said as its vendor would.

use anyhow::Context as _;

use crate::build::build;
use crate::job::Job;
use crate::python::Environment;
use crate::suites::Ran;

pub(crate) const PYTHON: Environment =
    Environment { name: "clients", requirements: "crates/double/clients/requirements.txt", pip: &[] };
const CHECK: &str = "crates/double/clients/check.py";

pub(crate) fn run(job: &Job) -> anyhow::Result<Ran> {
    let built = build(job)?;
    let double = built.program("double")?;
    let python = PYTHON.python(job)?;
    // -B: nothing is to be written beside the sources.
    let args = ["-B", CHECK, &double.to_string_lossy()];
    let mut command = job.command(&python.to_string_lossy(), &args);
    // The libraries speak to this machine alone, whatever the way out of it is.
    command.env("NO_PROXY", "*").env("no_proxy", "*");
    let output = job.run(command)?;
    let passed = passed(&output.stdout).context("a last line that says how many passed")?;
    Ok(Ran { tests: Some(passed), ..Ran::default() })
}

/// `308 passed, 0 failed`.
fn passed(printed: &str) -> Option<u64> {
    let (passed, failed) = printed.lines().next_back()?.split_once(" passed, ")?;
    passed.parse().ok().filter(|passed| failed == "0 failed" && *passed > 0)
}

#[cfg(test)]
mod tests {
    use super::passed;

    #[test]
    fn only_a_last_line_without_failures_counts() {
        for (printed, expected) in [
            ("ok      a\n308 passed, 0 failed\n", Some(308)),
            ("ok      a\n307 passed, 1 failed\n", None),
            ("0 passed, 0 failed", None),
            ("308 passed, 0 failed\nTraceback\n", None),
            ("", None),
        ] {
            assert_eq!(passed(printed), expected, "{printed}");
        }
    }
}
