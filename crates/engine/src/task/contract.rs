//! What roles say to each other: the kinds of messages, what stands in each, and who may say which to whom. Nothing else
//! is ever said; a test drives the machine through everything it can do and compares.

use domain::ask::Correction;
use domain::call::FailureClass;
use domain::criterion::Verdict;
use domain::gradient::PlanDirective;
use domain::megram::Megram;
use domain::task::{Directive, Measured};
use serde::Serialize;
use serde_json::{Value, json};

use super::Role;

/// Who may say what to whom. R4b speaks to R7 and never to R2; R7 alone speaks to R5 about what happened, and alone
/// hands the user a result.
pub const CONTRACT: [(Role, Role, &str); 20] = [
    (Role::User, Role::Perceiver, "Clarified"),
    (Role::User, Role::Planner, "Clarified"),
    (Role::User, Role::Solver, "Cancel"),
    (Role::Perceiver, Role::Planner, "TaskSpec"),
    (Role::Perceiver, Role::User, "Answer"),
    (Role::Perceiver, Role::User, "Question"),
    (Role::Planner, Role::User, "Question"),
    (Role::Planner, Role::Memory, "Recall"),
    (Role::Memory, Role::Planner, "Recalled"),
    (Role::Planner, Role::MetaValidator, "DispatchManifest"),
    (Role::Planner, Role::Executor, "SubTask"),
    (Role::Planner, Role::Solver, "Unplannable"),
    (Role::Executor, Role::Validator, "ExecutionResult"),
    (Role::Validator, Role::Executor, "CorrectionSignal"),
    (Role::Validator, Role::MetaValidator, "SubTaskOutcome"),
    (Role::MetaValidator, Role::Solver, "OutcomeSummary"),
    (Role::MetaValidator, Role::Solver, "ReplanRequest"),
    (Role::Solver, Role::Planner, "PlanDirective"),
    (Role::Solver, Role::Memory, "Megram"),
    (Role::Solver, Role::User, "FinalResult"),
];

/// What one message says.
#[derive(Debug)]
pub(super) enum Said<'a> {
    /// Where the step's input is what is said.
    Plain(&'static str),
    DispatchManifest {
        subtasks: Vec<Node<'a>>,
        task_criteria: Vec<&'a str>,
    },
    SubTask {
        id: String,
    },
    Unplannable {
        why: &'a str,
    },
    CorrectionSignal {
        attempt: u32,
        correction: &'a Correction,
    },
    SubTaskOutcome(&'a SubTaskOutcome),
    OutcomeSummary {
        summary: String,
    },
    ReplanRequest {
        failed_outcomes: Vec<u32>,
        gap_summary: String,
    },
    PlanDirective(&'a PlanDirective),
    Megram(&'a Megram),
    FinalResult {
        directive: Directive,
        measured: Option<&'a Measured>,
    },
}

/// One node of the plan, as it is dispatched.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Node<'a> {
    pub(super) id: String,
    pub(super) intent: &'a str,
    pub(super) depends_on: &'a [u32],
}

/// What R4a hands to R4b about one subtask.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubTaskOutcome {
    pub subtask_id: String,
    pub status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// The gap, attempt by attempt.
    pub gap_trajectory: Vec<Gap>,
    pub criteria_verdicts: Vec<Verdict>,
    /// How many calls it made; the lines of them are in the journal.
    pub tool_calls: usize,
}

/// How far one attempt was from its criteria.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// From 1.
    pub attempt: u32,
    /// The share of criteria that are met.
    pub score: f64,
    pub unmet_criteria: Vec<String>,
    pub failure_class: Option<FailureClass>,
}

impl Said<'_> {
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Plain(kind) => kind,
            Self::DispatchManifest { .. } => "DispatchManifest",
            Self::SubTask { .. } => "SubTask",
            Self::Unplannable { .. } => "Unplannable",
            Self::CorrectionSignal { .. } => "CorrectionSignal",
            Self::SubTaskOutcome(_) => "SubTaskOutcome",
            Self::OutcomeSummary { .. } => "OutcomeSummary",
            Self::ReplanRequest { .. } => "ReplanRequest",
            Self::PlanDirective(_) => "PlanDirective",
            Self::Megram(_) => "Megram",
            Self::FinalResult { .. } => "FinalResult",
        }
    }

    pub(super) fn body(&self) -> Value {
        match self {
            Self::Plain(_) => Value::Null,
            Self::DispatchManifest { subtasks, task_criteria } => {
                json!({ "subtasks": subtasks, "task_criteria": task_criteria })
            }
            Self::SubTask { id } => json!({ "subtask_id": id }),
            Self::Unplannable { why } => json!({ "why": why }),
            Self::CorrectionSignal { attempt, correction } => {
                let Correction { what_was_wrong, what_to_do, failure_class, .. } = correction;
                json!({
                    "attempt": attempt, "what_was_wrong": what_was_wrong, "what_to_do": what_to_do,
                    "failure_class": failure_class,
                })
            }
            Self::SubTaskOutcome(outcome) => plain(outcome),
            Self::OutcomeSummary { summary } => json!({ "summary": summary }),
            Self::ReplanRequest { failed_outcomes, gap_summary } => {
                json!({ "failed_outcomes": failed_outcomes, "gap_summary": gap_summary })
            }
            Self::PlanDirective(directive) => plain(directive),
            Self::Megram(megram) => plain(megram),
            Self::FinalResult { directive, measured } => {
                json!({ "directive": directive, "measured": measured })
            }
        }
    }
}

/// Every body here is plain data, which always has a JSON form.
fn plain<T: Serialize>(body: &T) -> Value {
    serde_json::to_value(body).unwrap_or_default()
}
