//! `regent ggs step`: rounds as JSON lines in, what the solver says to each as JSON lines out, so that anybody can check
//! the mathematics from outside. Lines of the same task are its successive rounds. Fields that nobody knows are ignored.

use std::collections::{BTreeMap, HashMap};

use domain::gradient::{Macro, Params};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;

use super::{NoOutcomes, Outcome, Round, Solution, State, solve};

/// Tasks that are kept apart: a stream that never ends must not fill the memory.
pub const TASKS: usize = 1_000_000;

/// Why a line is no round. The task that it names, if any, is where it was before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRound {
    #[error("not JSON: column {column} makes no sense")]
    NotJson { column: usize },
    #[error("not a round: {0}")]
    Form(String),
    #[error("`task` is a text or a number")]
    Task,
    #[error("`elapsed_ms` is a number that is not below 0")]
    Elapsed,
    #[error(transparent)]
    NoOutcomes(#[from] NoOutcomes),
    #[error("there are {TASKS} other tasks already, and no room for another one")]
    Full,
}

#[derive(Debug, Deserialize)]
struct Line {
    task: Value,
    elapsed_ms: Option<f64>,
    outcomes: Vec<Outcome>,
}

/// What a round is answered with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    task: Value,
    round: u32,
    #[serde(rename = "D")]
    d: f64,
    #[serde(rename = "P")]
    p: f64,
    omega: f64,
    #[serde(rename = "L")]
    l: f64,
    grad_l: f64,
    grad_gap: f64,
    directive: Macro,
    prev_directive: String,
    blocked_tools: Vec<String>,
    blocked_targets: Vec<String>,
    worsening: u32,
    law2: bool,
    rationale: String,
}

/// Everything that a stream of lines has to be remembered of.
#[derive(Clone, Debug)]
pub struct Filter {
    params: Params,
    room: usize,
    /// By the task as it is written in JSON: `1` and `"1"` are two.
    states: HashMap<String, State>,
}

impl Filter {
    #[must_use]
    pub fn new(params: Params) -> Self {
        Self { params, room: TASKS, states: HashMap::new() }
    }

    /// # Errors
    /// Why the line cannot be used. Then it is as if it had not come.
    pub fn answer(&mut self, line: &str) -> Result<Answer, BadRound> {
        let Line { task, elapsed_ms, outcomes } = read(line)?;
        if !(task.is_string() || task.is_number()) {
            return Err(BadRound::Task);
        }
        let elapsed_ms = elapsed_ms.unwrap_or_default();
        if !elapsed_ms.is_finite() || elapsed_ms < 0.0 {
            return Err(BadRound::Elapsed);
        }
        let key = task.to_string();
        let new = State::default();
        let state = match self.states.get(&key) {
            Some(state) => state,
            None if self.states.len() >= self.room => return Err(BadRound::Full),
            None => &new,
        };
        // There is no registry here: a class is what the calls of the round say.
        let round = Round { elapsed_ms, outcomes: &outcomes, classes: &BTreeMap::new() };
        let (state, solution) = solve(&self.params, state, &round)?;
        self.states.insert(key, state);
        Ok(Answer::of(task, solution))
    }
}

fn read(line: &str) -> Result<Line, BadRound> {
    let read = domain::json::from_str(line).map_err(|error| match error.classify() {
        Category::Data => BadRound::Form(domain::json::reason(&error)),
        _ => BadRound::NotJson { column: error.column() },
    })?;
    // A list with the right things in it would be read as if they had names.
    if line.trim_start().starts_with('{') { Ok(read) } else { Err(BadRound::Form("it is no object".into())) }
}

impl Answer {
    fn of(task: Value, solution: Solution) -> Self {
        Self {
            task,
            round: solution.round,
            d: solution.loss.d,
            p: solution.loss.p,
            omega: solution.loss.omega,
            l: solution.loss.l,
            grad_l: solution.grad_l,
            grad_gap: solution.grad_gap,
            directive: solution.directive,
            prev_directive: solution.prev_directive,
            blocked_tools: solution.blocked_tools,
            blocked_targets: solution.blocked_targets,
            worsening: solution.worsening,
            law2: solution.law2,
            rationale: solution.rationale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BadRound, Filter};
    use crate::ggs::NoOutcomes;
    use domain::gradient::Params;
    use serde_json::{Value, json};

    /// What is needed and nothing else: one subtask that failed.
    fn failed(task: &Value) -> String {
        json!({ "task": task, "outcomes": [{ "subtask": "a", "status": "failed" }] }).to_string()
    }

    fn round(filter: &mut Filter, task: &Value) -> Value {
        let answer = filter.answer(&failed(task)).expect("a round");
        serde_json::to_value(answer).expect("JSON")
    }

    #[test]
    fn a_line_with_everything_is_answered_with_everything() {
        let line = json!({
            "task": "t", "elapsed_ms": 30_000, "ignored": [1], "outcomes": [
                { "subtask": "a", "status": "failed", "since": "yesterday",
                  "tool_calls": [{ "tool": "read", "target": "x", "class": "files", "ok": false, "took": 3 }],
                  "criteria": [{ "text": "c", "mode": "plausible", "verdict": "fail",
                                 "failure_class": "environmental", "attempts": [false, true, false, false] }] },
                { "subtask": "b", "status": "skipped", "tool_calls": [], "criteria": [] },
                { "subtask": "task", "status": "matched", "tool_calls": [{ "tool": "read", "target": null }],
                  "criteria": [{ "text": "d", "mode": "verifiable", "verdict": "pass", "failure_class": null, "attempts": [] }] },
            ]
        });
        let answer = Filter::new(Params::default()).answer(&line.to_string()).expect("a round");
        // D = 3/4 of 2, Ω = 0.2 + 0.04, L = 0.6·0.375 + 0.4·0.24 = 0.321, but for the last bit.
        assert_eq!(
            serde_json::to_string(&answer).expect("JSON"),
            r#"{"task":"t","round":1,"D":0.375,"P":0.0,"omega":0.24,"L":0.32099999999999995,"grad_l":0.0,"grad_gap":0.0,"directive":"change_path","prev_directive":"init","blocked_tools":[],"blocked_targets":["x"],"worsening":0,"law2":false,"rationale":"round 1: D 0.375, P 0.000, Ω 0.240, L 0.321: the approach holds and nothing moves, so another target is tried"}"#
        );
    }

    #[test]
    fn tasks_have_rounds_of_their_own_and_come_back_as_they_were_given() {
        let mut filter = Filter::new(Params::default());
        let tasks = [json!("1"), json!(1), json!(""), json!(-7), json!(0.5)];
        for expected in 1..=3 {
            for task in &tasks {
                let answer = round(&mut filter, task);
                assert_eq!((&answer["task"], &answer["round"]), (task, &json!(expected)));
            }
        }
    }

    #[test]
    fn a_bad_line_is_answered_with_the_reason_and_leaves_the_task_where_it_was() {
        let form = |why: &str| BadRound::Form(why.to_owned());
        let table = [
            ("nonsense", BadRound::NotJson { column: 2 }),
            (r#"{"task":"t","outcomes":["#, BadRound::NotJson { column: 24 }),
            (r#"["t",0,[{"subtask":"a","status":"failed"}]]"#, form("it is no object")),
            (r#"{"outcomes":[]}"#, form("missing field `task`")),
            (r#"{"task":"t"}"#, form("missing field `outcomes`")),
            (r#"{"task":"t","outcomes":[]}"#, BadRound::NoOutcomes(NoOutcomes)),
            (r#"{"task":null,"outcomes":[{"subtask":"a","status":"failed"}]}"#, BadRound::Task),
            (r#"{"task":{},"outcomes":[{"subtask":"a","status":"failed"}]}"#, BadRound::Task),
            (
                r#"{"task":"t","elapsed_ms":-1,"outcomes":[{"subtask":"a","status":"failed"}]}"#,
                BadRound::Elapsed,
            ),
            (
                r#"{"task":"t","elapsed_ms":1e999,"outcomes":[{"subtask":"a","status":"failed"}]}"#,
                BadRound::NotJson { column: 30 },
            ),
            (
                r#"{"task":"t","outcomes":[{"subtask":"a","status":"maybe"}]}"#,
                form("unknown variant `maybe`, expected one of `matched`, `failed`, `skipped`"),
            ),
        ];
        let mut filter = Filter::new(Params::default());
        let mut untouched = filter.clone();
        let first = round(&mut filter, &json!("t"));
        assert_eq!(first, round(&mut untouched, &json!("t")));
        for (line, expected) in table {
            assert_eq!(filter.answer(line), Err(expected), "{line}");
        }
        assert_eq!(round(&mut filter, &json!("t")), round(&mut untouched, &json!("t")));
    }

    #[test]
    fn where_there_is_no_room_known_tasks_go_on() {
        let mut filter = Filter { room: 1, ..Filter::new(Params::default()) };
        round(&mut filter, &json!("known"));
        assert_eq!(filter.answer(&failed(&json!("new"))), Err(BadRound::Full));
        assert_eq!(round(&mut filter, &json!("known"))["round"], 2);
    }
}
