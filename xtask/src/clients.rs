//! The vendors' own client libraries against our double of their servers (`crates/double/clients/check.py`): what they understand,
//! the double has said as its vendor would.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::job::Job;
use crate::suites::Ran;
use crate::two_commands::target_directory;

const CHECK: &str = "crates/double/clients/check.py";
const REQUIREMENTS: &str = "crates/double/clients/requirements.txt";

pub(crate) fn run(job: &Job) -> anyhow::Result<Ran> {
    job.run(job.cargo(&["build", "--package", "double"]))?;
    let double = target_directory(job)?.join("debug/double");
    let python = folder(job)?.join("bin/python");
    // -B: nothing is to be written beside the sources.
    let args = ["-B", CHECK, &double.to_string_lossy()];
    let mut command = job.command(&python.to_string_lossy(), &args);
    // The libraries speak to this machine alone, whatever the way out of it is.
    command.env("NO_PROXY", "*").env("no_proxy", "*");
    let output = job.run(command)?;
    let passed = passed(&output.stdout).context("a last line that says how many passed")?;
    Ok(Ran { tests: Some(passed), note: String::new() })
}

/// `308 passed, 0 failed`.
fn passed(printed: &str) -> Option<u64> {
    let (passed, failed) = printed.lines().next_back()?.split_once(" passed, ")?;
    passed.parse().ok().filter(|passed| failed == "0 failed" && *passed > 0)
}

/// Whether exactly what is required is installed.
pub(crate) fn are_installed(job: &Job) -> bool {
    let installed = || -> anyhow::Result<bool> {
        let stamp = folder(job)?.join("installed.txt");
        Ok(std::fs::read_to_string(stamp)? == std::fs::read_to_string(job.root.join(REQUIREMENTS))?)
    };
    installed().unwrap_or(false)
}

/// Makes an environment of its own and installs them into it.
pub(crate) fn install(job: &Job) -> anyhow::Result<()> {
    let folder = folder(job)?;
    let path = folder.to_string_lossy();
    job.run(job.command("python3", &["-m", "venv", "--clear", &path]))?;
    let python = folder.join("bin/python");
    let args = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
    job.run(job.command(&python.to_string_lossy(), &args))?;
    std::fs::copy(job.root.join(REQUIREMENTS), folder.join("installed.txt"))
        .context("note what is installed")?;
    Ok(())
}

fn folder(job: &Job) -> anyhow::Result<PathBuf> {
    Ok(target_directory(job)?.join("clients"))
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
