//! The solver against the seed's tables, against numbers worked out by hand, and against chance.

mod blocks;
mod cells;
mod properties;
mod rounds;

use std::collections::{BTreeMap, BTreeSet};

use domain::criterion::Mode;
use domain::gradient::Params;

use super::{Class, Judged, Outcome, Round, Solution, State, Status, ToolCall, Verdict, solve};

fn passed(text: &str) -> Judged {
    Judged {
        text: text.to_owned(),
        mode: Mode::Verifiable,
        verdict: Verdict::Pass,
        failure_class: None,
        attempts: vec![true],
    }
}

fn failed(text: &str, class: Option<Class>) -> Judged {
    Judged { verdict: Verdict::Fail, failure_class: class, attempts: Vec::new(), ..passed(text) }
}

/// A matter of judgement that failed in the end.
fn doubtful(text: &str, class: Class, attempts: &[bool]) -> Judged {
    Judged { mode: Mode::Plausible, attempts: attempts.to_vec(), ..failed(text, Some(class)) }
}

fn outcome(subtask: &str, status: Status, criteria: Vec<Judged>) -> Outcome {
    Outcome { subtask: subtask.to_owned(), status, tool_calls: Vec::new(), criteria }
}

/// So many criteria of which so many failed, with this class.
fn share(failures: usize, of: usize, class: Option<Class>) -> Vec<Outcome> {
    let criteria = (0..of).map(|n| {
        let text = format!("c{n}");
        if n < failures { failed(&text, class) } else { passed(&text) }
    });
    vec![outcome("s", Status::Matched, criteria.collect())]
}

fn call(tool: &str, target: Option<&str>, class: Option<&str>, ok: Option<bool>) -> ToolCall {
    ToolCall { tool: tool.to_owned(), target: target.map(str::to_owned), class: class.map(str::to_owned), ok }
}

/// The rounds of one task with the seed's parameters; each with the milliseconds since it began.
fn play(rounds: &[(f64, Vec<Outcome>)]) -> Vec<Solution> {
    play_with(&Params::default(), &BTreeMap::new(), rounds)
}

fn play_with(
    params: &Params,
    classes: &BTreeMap<String, BTreeSet<String>>,
    rounds: &[(f64, Vec<Outcome>)],
) -> Vec<Solution> {
    let mut state = State::default();
    let solved = rounds.iter().map(|(elapsed_ms, outcomes)| {
        let round = Round { elapsed_ms: *elapsed_ms, outcomes, classes };
        let (next, solution) = solve(params, &state, &round).expect("outcomes");
        state = next;
        solution
    });
    solved.collect()
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}
