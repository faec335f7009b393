//! What one access decision costs: `cargo bench -p policy --bench acl`. Cases are drawn from 1,000 people; looking a person
//! up is the caller's. The reference in the same run is a walk over the same policies that compares one text each: what no
//! evaluator can go below without an index.

#![expect(clippy::disallowed_methods, reason = "a benchmark asks the clock")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark fails loudly and prints its table"
)]

mod workload;

use std::hint::black_box;
use std::time::{Duration, Instant};

use policy::acl::load::{Origin, Source, load};
use policy::acl::{Case, PolicySet};

use workload::{PEOPLE, POLICIES};

const ROUNDS: u64 = 5;
const EACH: u64 = 50_000;
/// What we promise for the slowest hundredth.
const GOAL: Duration = Duration::from_micros(20);

fn main() {
    let set = workload::policies();
    let everything = workload::all_match();
    let cases = workload::cases();
    println!("{POLICIES} policies, {PEOPLE} people; µs\n");
    println!("| what | mean | p50 | p99 |\n|---|---|---|---|");
    let mut worst = Duration::ZERO;
    for round in 1..=ROUNDS {
        row(
            &format!("reference: one comparison per policy ({round})"),
            each(&cases, |case| walked(&set, case)),
        );
        let decided = each(&cases, |case| set.decide(case));
        worst = worst.max(row(&format!("`decide` ({round})"), decided));
        let asked = each(&cases, |case| set.decide(case).permissions.may("calendar_read"));
        row(&format!("`decide` and `may` ({round})"), asked);
        let all = each(&cases, |case| everything.decide(case));
        worst = worst.max(row(&format!("`decide`, all {POLICIES} match ({round})"), all));
    }
    let matched: usize = cases.iter().map(|case| set.decide(case).matched.len()).sum();
    println!("\non average {:.1} policies match", matched as f64 / cases.len() as f64);
    row_of_loading();
    let kept = if worst <= GOAL { "kept" } else { "MISSED" };
    println!("\np99 of `decide` at most {GOAL:?}: {kept} ({worst:?})");
}

fn each<T>(cases: &[Case], work: impl Fn(&Case) -> T) -> Vec<Duration> {
    let timed = |case| {
        let started = Instant::now();
        black_box(work(black_box(case)));
        started.elapsed()
    };
    // Another order than that of memory: a step that shares no factor with the number of cases.
    let order = (0..EACH).map(|n| usize::try_from(n * 1_237).expect("small") % cases.len());
    order.filter_map(|at| cases.get(at)).map(timed).collect()
}

fn row(what: &str, mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let mean = times.iter().copied().map(micros).sum::<f64>() / times.len() as f64;
    println!("| {what} | {mean:.2} | {:.2} | {:.2} |", micros(at(50)), micros(at(99)));
    at(99)
}

fn row_of_loading() {
    let text = workload::text();
    let sources = [Source { file: "bench.yaml", text: &text, origin: Origin::Own }];
    let times = (0..100).map(|_| {
        let started = Instant::now();
        drop(black_box(load(&sources)));
        started.elapsed()
    });
    println!("\n| what | mean | p50 | p99 |\n|---|---|---|---|");
    row(&format!("loading {} bytes of policies", text.len()), times.collect());
}

fn walked(set: &PolicySet, case: &Case) -> usize {
    let same = |one: &Option<String>| one.is_some() && *one == case.principal.relationship;
    set.iter().filter(|policy| same(&policy.matching.principal.relationship)).count()
}
