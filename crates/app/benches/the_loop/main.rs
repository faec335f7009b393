//! What the loop costs: `cargo bench -p runtime --bench the_loop -- beside|wide|crowd|all`.
//!
//! * `beside`: four subtasks of equal length beside one, with a tool that sleeps. At most 1.3 times as long.
//! * `wide`: plans of 125, 250 and 500 subtasks, planned, run and shown; the time per subtask stays the same.
//! * `crowd`: 100 tasks at once in one process, and the memory that takes.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, prints what it saw and fails loudly"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::ask::{Action, Reply, Want};
use domain::criterion::{Check, Criterion};
use domain::source::Text;
use domain::task::{Plan, Status, Subtask};
use serde_json::json;
use testkit::scripted::{call, understood};
use testkit::{Kept, Thinker, World};
use tokio::task::JoinSet;

/// How long the sleeping tool takes.
const SLEEP: Duration = Duration::from_millis(500);
const ROUNDS: usize = 5;

fn main() {
    let which = std::env::args().nth(1).filter(|arg| !arg.starts_with("--")).unwrap_or_else(|| "all".into());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        if matches!(which.as_str(), "beside" | "all") {
            beside().await;
        }
        if matches!(which.as_str(), "wide" | "all") {
            wide().await;
        }
        if matches!(which.as_str(), "crowd" | "all") {
            crowd().await;
        }
    });
}

/// A model that plans this many subtasks, each of one call that takes this long.
fn model(subtasks: usize, takes: Duration, chain: bool) -> Thinker {
    Thinker::new(move |ask| {
        Ok(match &ask.want {
            Want::Perceive { request, .. } => Reply::Perceived(understood(request)),
            Want::Plan { .. } => {
                let slept = || Criterion::checked("it slept", Check::NotEmpty { pointer: "/slept".into() });
                let one = |n: usize| {
                    let on = n.checked_sub(1).filter(|_| chain).map(|on| u32::try_from(on).expect("small"));
                    let new = Subtask::new(Text::model(format!("part {n}")), vec![slept()]);
                    Subtask { depends_on: on.into_iter().collect(), ..new }
                };
                Reply::Planned(Plan::of((0..subtasks).map(one).collect()))
            }
            Want::Act { evidence, .. } if evidence.is_empty() => {
                Reply::Acted(call("sleep", json!({ "ms": u64::try_from(takes.as_millis()).expect("small") })))
            }
            Want::Act { .. } | Want::Judge { .. } => Reply::Acted(Action::done("done")),
        })
    })
}

async fn timed(world: &World) -> Duration {
    let began = Instant::now();
    let report = world.run("sleep").await.expect("a report");
    assert_eq!(report.status, Status::Done, "{:?}", report.result);
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().expect("some")
}

async fn beside() {
    let mut world = World::new(Kept::InSqlite).await;
    let (mut one, mut four) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        world.think(Arc::new(model(1, SLEEP, false)));
        one.push(timed(&world).await);
        world.think(Arc::new(model(4, SLEEP, false)));
        four.push(timed(&world).await);
    }
    let (one, four) = (median(one), median(four));
    let ratio = four.as_secs_f64() / one.as_secs_f64();
    println!("beside   one {one:?}, four {four:?}: {ratio:.3} times (at most 1.3)");
    assert!(ratio <= 1.3, "four subtasks do not run side by side");
}

async fn wide() {
    for chain in [false, true] {
        let mut each = Vec::new();
        for subtasks in [125, 250, 500] {
            let mut world = World::new(Kept::InSqlite).await;
            world.set("[budget]\n\"task.calls\" = \"2000\"");
            world.think(Arc::new(model(subtasks, Duration::ZERO, chain)));
            let ran = timed(&world).await;
            let began = Instant::now();
            let task = world.app.tasks().list(1).await.expect("tasks").remove(0);
            let view = world.app.tasks().show(&task.short).await.expect("a view");
            let shown = began.elapsed();
            assert_eq!(view.calls.len(), subtasks + 1);
            let per = ran / u32::try_from(subtasks).expect("small");
            let shape = if chain { "chain" } else { "fan" };
            println!(
                "wide     {shape:<5} {subtasks:>3} subtasks: run {ran:?} ({per:?} each), shown in {shown:?}"
            );
            each.push((per + shown / u32::try_from(subtasks).expect("small")).as_secs_f64());
        }
        let growth = each.last().expect("some") / each.first().expect("some");
        println!("wide     cost per subtask, 500 beside 125: {growth:.2} times");
    }
}

async fn crowd() {
    const TASKS: usize = 100;
    let mut world = World::new(Kept::InSqlite).await;
    world.think(Arc::new(model(5, Duration::from_millis(50), false)));
    let before = resident();
    let began = Instant::now();
    let world = Arc::new(world);
    let mut running = JoinSet::new();
    for n in 0..TASKS {
        let world = Arc::clone(&world);
        running.spawn(async move { world.run(&format!("sleep {n}")).await.expect("a report").status });
    }
    let done = running.join_all().await;
    assert!(done.iter().all(|status| *status == Status::Done), "{done:?}");
    let (took, after) = (began.elapsed(), peak());
    println!(
        "crowd    {TASKS} tasks of five subtasks at once: {took:?}; {before} MB before, {after} MB at the most (under 200)"
    );
    assert!(after < 200, "too much memory");
}

fn status(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find_map(|line| line.strip_prefix(field)).expect("the field");
    line.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).expect("a number") / 1024
}

fn resident() -> u64 {
    status("VmRSS:")
}

fn peak() -> u64 {
    status("VmHWM:")
}
