//! What one access decision costs: `cargo bench -p policy --bench acl`. Cases are drawn from 1,000 people; looking a person
//! up is the caller's. The reference in the same run is a walk over the same policies that compares one text each: what no
//! evaluator can go below without an index.

#![expect(clippy::disallowed_methods, reason = "a benchmark asks the clock")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark fails loudly and prints its table"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use domain::event::ContainerKind;
use policy::acl::load::{Origin, Source, load};
use policy::acl::{Case, Moment, PolicySet, Scene, Who, shipped};

const POLICIES: usize = 100;
const PEOPLE: u64 = 1_000;
const ROUNDS: u64 = 5;
const EACH: u64 = 50_000;
/// What we promise for the slowest hundredth.
const GOAL: Duration = Duration::from_micros(20);

fn main() {
    let set = policies();
    let everything = all_match();
    let cases: Vec<Case> = (0..PEOPLE * 4).map(case).collect();
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
        row(
            &format!("`decide`, all {POLICIES} match ({round})"),
            each(&cases, |case| everything.decide(case)),
        );
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
    let text = text();
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

/// The shipped ones, and the owner's about single people, relationships, tags, places and times.
fn policies() -> PolicySet {
    let text = text();
    let own = Source { file: "bench.yaml", text: &text, origin: Origin::Own };
    let sources: Vec<Source<'_>> = shipped::FILES.into_iter().chain([own]).collect();
    let set = load(&sources).expect("policies").set;
    assert_eq!(set.iter().count(), POLICIES);
    set
}

fn text() -> String {
    let shipped = shipped::defaults().expect("policies").set.iter().count();
    let mut text = String::new();
    for n in 0..POLICIES - shipped {
        let matching = match n % 5 {
            0 => format!("principal: {{ id: p-{n} }}"),
            1 => format!("principal: {{ relationship: {} }}", relationship(n as u64)),
            2 => format!("principal: {{ tags: [\"group:{}\"] }}", n % 20),
            3 => format!(
                "principal: {{ is_owner: false }}, conditions: [{{ platform: p{}, time: \"22:00-07:00\" }}]",
                n % 7
            ),
            _ => format!("conditions: [{{ platform: p{}, container_kind: dm }}, {{ guild: g{n} }}]", n % 7),
        };
        let tools = "tools: { allow: [calc, web_search, \"calendar_*\", \"lists_*\"], deny: [shell, \"credentials_*\"] }";
        let text = &mut text;
        writeln!(text, "- name: own-{n}").expect("a String takes it");
        writeln!(text, "  match: {{ {matching} }}").expect("a String takes it");
        writeln!(text, "  effect: allow\n  priority: {}", n % 100).expect("a String takes it");
        writeln!(text, "  permissions: {{ {tools}, credentials: [google, github], data: restricted }}")
            .expect("a String takes it");
        writeln!(text, "  session: {{ key: \"s{n}:{{principal.id}}\" }}").expect("a String takes it");
    }
    text
}

fn all_match() -> PolicySet {
    let policy = |n: usize| {
        format!(
            "- {{ name: p{n}, match: {{}}, effect: allow, priority: {n}, permissions: {{ tools: {{ allow: [calc, web_search, \
             \"calendar_*\", \"lists_*\"], deny: [shell] }}, credentials: [google], data: full }} }}\n"
        )
    };
    let text: String = (0..POLICIES).map(policy).collect();
    load(&[Source { file: "all.yaml", text: &text, origin: Origin::Own }]).expect("policies").set
}

fn relationship(n: u64) -> &'static str {
    match n % 6 {
        0 => "partner",
        1 | 2 => "family",
        3 => "colleague",
        _ => "friend",
    }
}

fn case(n: u64) -> Case {
    let person = n % PEOPLE;
    let principal = Who {
        relationship: Some(relationship(person).to_owned()),
        tags: vec![format!("group:{}", person % 20), format!("group:{}", person % 13)],
        name: Some(format!("Person {person}")),
        ..if person == 0 { Who::owner("o-1") } else { Who::known(format!("p-{person}")) }
    };
    let kind = if n.is_multiple_of(3) { ContainerKind::Group } else { ContainerKind::Dm };
    let event = Scene {
        platform: Some(format!("p{}", n % 7)),
        container_kind: Some(kind),
        container_id: Some(format!("c-{}", n % 50)),
        guild: Some(format!("g{}", n % 90)),
        ..Scene::default()
    };
    let minute = u16::try_from(n * 97 % 10_080).expect("small");
    Case { principal, event, now: Moment::try_from(minute).ok() }
}
