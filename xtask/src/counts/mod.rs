//! How many instructions a hot function takes, held against a budget. Times depend on what else the machine does, counts do
//! not: the same build counts the same, whatever the load. What the counts stand for in time is measured by the benchmarks.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::job::Job;
use crate::suites::Ran;
use crate::table;
use crate::two_commands::target_directory;

/// What is counted: a load of `crates/policy/examples/decide.rs`, the same as that of the benchmark `acl`.
#[derive(Debug)]
struct Counted {
    load: &'static str,
    what: &'static str,
    /// Instructions of one decision, its answer dropped. To change it on purpose: write the count here that the suite
    /// printed, and why in the commit.
    budget: u64,
}

const COUNTED: [Counted; 2] = [
    Counted { load: "usual", what: "`decide`, 100 policies, some match", budget: 22_425 },
    Counted { load: "all-match", what: "`decide`, 100 policies, all match", budget: 47_342 },
];

/// What a count may differ by without anybody having changed anything: other compilers, other C libraries. The kind of
/// processor makes 0.3 %, an allocator without a cache of its own 7 %.
const TOLERANCE_PERCENT: u64 = 10;

const PROFILE: &str = "xtask/src/counts/profile.toml";

pub(crate) fn run(job: &Job) -> anyhow::Result<Ran> {
    let mut build =
        job.cargo(&["build", "--quiet", "--package", "policy", "--example", "decide", "--config", PROFILE]);
    build.env("CARGO_INCREMENTAL", "0");
    job.run(build)?;
    let target = target_directory(job)?;
    let program = target.join("debug/examples/decide");
    let kept = target.join("counts");
    std::fs::create_dir_all(&kept)?;

    let mut rows = vec![["what", "instructions", "budget", "difference"].map(str::to_owned).to_vec()];
    let (mut wrong, mut notes) = (Vec::new(), Vec::new());
    for counted in &COUNTED {
        let count = each(job, &program, &kept, counted.load)?;
        let difference = format!("{:+.1} %", percent(count, counted.budget));
        rows.push(vec![counted.what.to_owned(), count.to_string(), counted.budget.to_string(), difference]);
        match judge(count, counted.budget) {
            Judged::Kept => {}
            Judged::Less => notes.push(format!(
                "{} takes {count} instructions now: lower its budget in xtask/src/counts/mod.rs",
                counted.what
            )),
            Judged::Over => wrong.push(over(counted, count, &profile(&kept, counted.load))),
        }
    }
    println!("\n{}", table::markdown(&rows));
    if !wrong.is_empty() {
        bail!("{}", wrong.join("; "));
    }
    Ok(Ran { tests: Some(COUNTED.len() as u64), note: notes.join("; "), ..Ran::default() })
}

fn over(counted: &Counted, count: u64, profile: &Path) -> String {
    let Counted { what, budget, .. } = counted;
    format!(
        "{what}: {count} instructions, {:.1} % over the budget of {budget} ({TOLERANCE_PERCENT} % are let pass). Where they go: \
         `callgrind_annotate {}`. If it is meant: write {count} into xtask/src/counts/mod.rs, and why into the commit",
        percent(count, *budget),
        profile.display(),
    )
}

#[derive(Debug, PartialEq, Eq)]
enum Judged {
    Kept,
    /// So far below the budget that it would let a loss pass unseen.
    Less,
    Over,
}

fn judge(count: u64, budget: u64) -> Judged {
    let tolerated = budget * TOLERANCE_PERCENT / 100;
    if count > budget + tolerated {
        Judged::Over
    } else if count < budget - tolerated {
        Judged::Less
    } else {
        Judged::Kept
    }
}

fn percent(count: u64, budget: u64) -> f64 {
    (count as f64 / budget as f64 - 1.0) * 100.0
}

/// Instructions per decision: a round over all cases less a run without one, so that reading policies and starting up cancel
/// out.
fn each(job: &Job, program: &Path, kept: &Path, load: &str) -> anyhow::Result<u64> {
    let setup = whole(job, program, &kept.join(format!("decide-{load}-setup.callgrind")), load, "0")?;
    let round = whole(job, program, &profile(kept, load), load, "1")?;
    let decisions = round.decisions.checked_sub(setup.decisions).filter(|more| *more > 0);
    let instructions = round.instructions.checked_sub(setup.instructions);
    decisions
        .zip(instructions)
        .map(|(decisions, instructions)| instructions / decisions)
        .with_context(|| format!("a round is no more than none: {round:?}, {setup:?}"))
}

fn profile(kept: &Path, load: &str) -> PathBuf {
    kept.join(format!("decide-{load}.callgrind"))
}

#[derive(Debug)]
struct Whole {
    decisions: u64,
    instructions: u64,
}

fn whole(job: &Job, program: &Path, profile: &Path, load: &str, rounds: &str) -> anyhow::Result<Whole> {
    let out = format!("--callgrind-out-file={}", profile.display());
    let program = program.to_string_lossy();
    // Neither anybody's valgrindrc nor the environment of this process is to have a say.
    let args = ["--tool=callgrind", "--quiet", "--command-line-only=yes", &out, &program, load, rounds];
    let mut command = job.command("valgrind", &args);
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    let decisions = job.read(command)?;
    let decisions = decisions.trim().parse().with_context(|| format!("it decided `{decisions}`"))?;
    let written = std::fs::read_to_string(profile).context("what callgrind wrote")?;
    let instructions = total(&written).with_context(|| format!("no total in {}", profile.display()))?;
    Ok(Whole { decisions, instructions })
}

/// `totals: 195257628`, of the one event that is counted by default: instructions.
fn total(profile: &str) -> Option<u64> {
    profile.lines().any(|line| line == "events: Ir").then_some(())?;
    profile.lines().rev().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_held_against_its_budget() {
        let table = [
            (1_000, Judged::Kept),
            (1_100, Judged::Kept),
            (1_101, Judged::Over),
            (900, Judged::Kept),
            (899, Judged::Less),
        ];
        for (count, judged) in table {
            assert_eq!(judge(count, 1_000), judged, "{count}");
        }
    }

    #[test]
    fn whoever_is_over_is_told_the_count_the_budget_and_what_to_do() {
        let counted = Counted { load: "usual", what: "`decide`", budget: 1_000 };
        assert_eq!(
            over(&counted, 1_250, Path::new("x.callgrind")),
            "`decide`: 1250 instructions, 25.0 % over the budget of 1000 (10 % are let pass). Where they go: \
             `callgrind_annotate x.callgrind`. If it is meant: write 1250 into xtask/src/counts/mod.rs, and why into the commit"
        );
    }

    #[test]
    fn the_total_is_read_off_what_callgrind_writes() {
        let written =
            |events: &str, last: &str| format!("version: 1\n{events}\nfn=(1) main\n16 400\n\n{last}\n");
        assert_eq!(total(&written("events: Ir", "totals: 195257628")), Some(195_257_628));
        assert_eq!(total(&written("events: Ir", "")), None);
        assert_eq!(total(&written("events: Ir Dr", "totals: 12 7")), None);
    }
}
