//! What a reflex task takes beyond its tool and the syncs that it waits for: from its event to its end, as the ledger has it.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use super::Bench;
use super::figures::{in_milliseconds, median_time, milliseconds};
use super::instance::Instance;
use super::promises::{Outcome, REFLEX};
use super::start::{WARM_UP, check_answer, time_command};
use crate::two_commands::REQUEST;

const ROUNDS: usize = 30;
/// What a durable run cannot do without, near enough: a few small appends, each on the disk before the next.
const SYNCS: usize = 4;
const SYNC_BYTES: usize = 4096;

/// How long a task took, and its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TaskTime {
    whole: Duration,
    tools: Duration,
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Outcome>> {
    let instance = bench.new_instance()?;
    check_answer(bench, &instance)?;
    let rounds = bench.rounds(ROUNDS);
    let mut syncs = Vec::new();
    for _ in 0..WARM_UP + rounds {
        time_command(instance.command(&bench.job, &["run", REQUEST]))?;
        syncs.push(time_syncs(&bench.scratch.path().join("synced"))?);
    }
    let times = task_times(bench, &instance, rounds)?;
    let whole = median_time(&times.iter().map(|task| task.whole).collect::<Vec<_>>());
    let tools = median_time(&times.iter().map(|task| task.tools).collect::<Vec<_>>());
    let syncs = median_time(&syncs);
    let beyond = whole.saturating_sub(tools).saturating_sub(syncs);

    let row = |what: &str, time| vec![what.to_owned(), milliseconds(time)];
    bench.print_table(&[
        vec!["what".to_owned(), "median (ms)".to_owned()],
        row("a reflex task, from its event to its end", whole),
        row("its tools", tools),
        row(&format!("fdatasync of {SYNC_BYTES} bytes, {SYNCS} ×"), syncs),
        row("beyond its tools and the syncs", beyond),
    ]);
    let reference = format!("tool {} ms, four syncs {} ms", milliseconds(tools), milliseconds(syncs));
    Ok(vec![REFLEX.seen(in_milliseconds(beyond), reference)])
}

/// Of the last tasks: the list begins with the newest.
fn task_times(bench: &Bench, instance: &Instance, count: usize) -> anyhow::Result<Vec<TaskTime>> {
    let listed = instance.read(&bench.job, &["tasks", "list", "--json", "--limit", &count.to_string()])?;
    let times = listed.lines().map(|line| {
        let listed: Value = serde_json::from_str(line).context("a task")?;
        let task = listed.get("task").and_then(Value::as_str).context("its id")?;
        let shown = instance.read(&bench.job, &["tasks", "show", task, "--json"])?;
        task_time(&listed, &serde_json::from_str(&shown)?).context("its times")
    });
    times.collect()
}

/// From a task as it is listed and as it is shown. Delivering the answer is no tool of the task.
fn task_time(listed: &Value, shown: &Value) -> Option<TaskTime> {
    let calls = shown.get("calls").and_then(Value::as_array).into_iter().flatten();
    let tools = calls.filter(|call| call.get("tool").is_some_and(|tool| tool != "deliver"));
    let tools = tools.filter_map(|call| call.get("duration_ms").and_then(Value::as_u64)).sum();
    let whole = between(listed.get("created_at")?, listed.get("completed_at")?)?;
    Some(TaskTime { whole, tools: Duration::from_millis(tools) })
}

/// From one time of the ledger to the next, less than a day later: `2026-11-17T09:18:25.693760Z`.
fn between(from: &Value, to: &Value) -> Option<Duration> {
    let of_day = |time: &Value| {
        let clock = time.as_str()?.split_once('T')?.1.strip_suffix('Z')?;
        let mut parts = clock.splitn(3, ':');
        let (hours, minutes): (f64, f64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(hours * 3600.0 + minutes * 60.0 + parts.next()?.parse::<f64>().ok()?)
    };
    Some(Duration::from_secs_f64((of_day(to)? - of_day(from)?).rem_euclid(24.0 * 3600.0)))
}

pub(super) fn time_syncs(path: &Path) -> anyhow::Result<Duration> {
    let mut file = std::fs::File::options().create(true).append(true).open(path)?;
    let started = Instant::now();
    for _ in 0..SYNCS {
        file.write_all(&[0; SYNC_BYTES])?;
        file.sync_data()?;
    }
    Ok(started.elapsed())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_of_the_ledger_are_subtracted_also_over_midnight() {
        let between = |from: &str, to: &str| between(&from.into(), &to.into()).map(|time| time.as_millis());
        assert_eq!(between("2026-11-17T09:18:25.500000Z", "2026-11-17T09:18:25.750000Z"), Some(250));
        assert_eq!(between("2026-11-17T23:59:59.500000Z", "2026-11-18T00:00:00.500000Z"), Some(1000));
        assert_eq!(between("then", "now"), None);
    }

    #[test]
    fn delivering_the_answer_is_no_tool() {
        let listed = json!({
            "created_at": "2026-11-17T09:18:25.500000Z", "completed_at": "2026-11-17T09:18:25.515000Z"
        });
        let shown = json!({ "calls": [
            { "tool": "find_files", "duration_ms": 6 }, { "tool": "deliver", "duration_ms": 3 }
        ]});
        let expected = TaskTime { whole: Duration::from_millis(15), tools: Duration::from_millis(6) };
        assert_eq!(task_time(&listed, &shown), Some(expected));
    }
}
