//! The events of a task, as scripts and displays follow them: a projection of the journal, never stored. Their JSON has the
//! names of the ari seed, with its fields in `snake_case`.

use domain::call::ToolId;
use domain::id::{ApprovalId, CallId, TaskId};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// One event of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressEvent<'s> {
    /// The number of the step.
    pub seq: u64,
    pub task: TaskId,
    pub kind: ProgressEventKind<'s>,
}

/// What happened. A field that the step does not have is `null`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ProgressEventKind<'s> {
    Assessment { risk: f64, action: &'s str },
    Route { target: &'static str },
    SubtaskResult { subtask: u32, result: &'s str },
    ApprovalRequested { id: ApprovalId, call: CallId },
    ApprovalResolved { call: CallId, answer: &'static str },
    RuleViolated { rule: u8, name: &'static str, action: CallId },
    ModelUsage { role: &'static str, tokens_in: u64, tokens_out: u64, price: u64 },
    PlanReady { dag: Option<&'s Value>, tasks: Vec<Option<&'s Value>> },
    SubtaskStarted { subtask: Option<u32> },
    SubtaskComplete { subtask: Option<u32>, result: &'s Value },
    Round(RoundMeasures<'s>),
    PlanDirective(&'s Value),
    MemoryStored { kind: &'static str, id: String, megram: &'s Value },
    Response { directive: Option<&'s Value> },
    CallRequested { call: CallId, subtask: u32, tool: &'s ToolId },
}

/// What the solver measured, under the names that `regent ggs step` has for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundMeasures<'s> {
    #[serde(rename = "D")]
    d: Option<&'s Value>,
    #[serde(rename = "P")]
    p: Option<&'s Value>,
    omega: Option<&'s Value>,
    #[serde(rename = "L")]
    l: Option<&'s Value>,
    grad_l: Option<&'s Value>,
    prev_directive: Option<&'s Value>,
}

impl<'s> RoundMeasures<'s> {
    pub(super) fn read(value: &'s Value) -> Self {
        let loss = |name: &str| value.get("loss").and_then(|loss| loss.get(name));
        Self {
            d: loss("D"),
            p: loss("P"),
            omega: loss("Omega"),
            l: loss("L"),
            grad_l: value.get("grad_l"),
            prev_directive: value.get("prev_directive"),
        }
    }
}

impl ProgressEventKind<'_> {
    /// The name of the event in JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Assessment { .. } => "guardian:assessment_complete",
            Self::Route { .. } => "core:route",
            Self::SubtaskResult { .. } => "executor:result",
            Self::ApprovalRequested { .. } => "approval:requested",
            Self::ApprovalResolved { .. } => "approval:resolved",
            Self::RuleViolated { .. } => "governance:rule_violated",
            Self::ModelUsage { .. } => "model:usage",
            Self::PlanReady { .. } => "planner:task_ready",
            Self::SubtaskStarted { .. } => "executor:task_started",
            Self::SubtaskComplete { .. } => "executor:task_complete",
            Self::Round(_) => "ggs:round",
            Self::PlanDirective(_) => "solver:plan_directive",
            Self::MemoryStored { .. } => "memory:stored",
            Self::Response { .. } => "core:response",
            Self::CallRequested { .. } => "executor:call",
        }
    }
}

impl Serialize for ProgressEvent<'_> {
    /// `seq`, `v`, `type` and `task_id` come first, then the fields of the kind.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut event = json!({ "seq": self.seq, "v": 1, "type": self.kind.name(), "task_id": self.task });
        let fields = serde_json::to_value(&self.kind).map_err(serde::ser::Error::custom)?;
        if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
            event.extend(fields);
        }
        event.serialize(serializer)
    }
}
