//! What the engine asks of a model, and what it gets back, as types. Only the adapters of real models
//! render prompts and parse text; the reflex provider answers the ask itself, and a recording is keyed on it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{Chooser, Evidence, ToolId};
use crate::source::Text;
use crate::task::{Plan, Subtask, TaskSpec};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "the machine hands it out in a box")]
pub enum Ask {
    /// R1: what does this request need?
    Perceive { request: Text, now: Time },
    /// R2: how is it to be done, and how will we know?
    Plan { spec: TaskSpec },
    /// R3: given what has been seen so far, what is the next move for this subtask?
    Act { spec: TaskSpec, number: u32, subtask: Subtask, evidence: Vec<Evidence> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Perceived(Perception),
    Planned(Plan),
    Acted(Action),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Perception {
    Task(Box<TaskSpec>),
    /// Not understood with certainty. A reflex never guesses.
    Beyond {
        why: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Call {
        tool: ToolId,
        args: Value,
        chosen_by: Chooser,
    },
    /// What came out, as a claim; the evidence is the truth.
    Finish {
        output: String,
    },
}
