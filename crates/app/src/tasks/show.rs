//! `tasks show`.

use clap::Args;
use domain::Time;
use domain::gradient::PlanDirective;
use domain::task::FinalResult;
use engine::task::Step;
use kernel::journal::{self, LoadedJournal};
use kernel::{Code, Problem};
use ledger::Found;
use ledger::records::{CallStatus, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cost::cost;
use super::{RoleCost, TaskLine, Tasks};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// One task with its plan, calls, journal and result
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowTask {
    /// Any unique beginning of its id
    pub id: String,
}

impl Operation for ShowTask {
    const SPEC: OperationSpec =
        OperationSpec::new("tasks show", OperationAccess::READ, &["regent tasks show t-k7q2"])
            .route(HttpMethod::Get, "/tasks/{id}")
            .mcp();
    type Output = TaskView;

    async fn run(self, context: &OperationContext<'_>) -> Result<TaskView, OperationError> {
        Ok(context.app.tasks().show(&self.id).await?)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct CallLine {
    pub call: domain::id::CallId,
    #[serde(skip)]
    pub short: String,
    pub tool: domain::call::ToolId,
    pub status: CallStatus,
    pub duration_ms: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct StepLine {
    pub n: u64,
    pub at: Time,
    pub input: &'static str,
}

/// A task with its journal, its calls and its result.
#[derive(Clone, Debug, Serialize)]
pub struct TaskView {
    #[serde(flatten)]
    pub line: TaskLine,
    pub plan: Vec<String>,
    pub calls: Vec<CallLine>,
    /// Where it was steered: one for each time it was planned again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<PlanDirective>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cost: Vec<RoleCost>,
    /// What it asks back, while nobody has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    pub journal: Vec<StepLine>,
    pub result: Option<FinalResult>,
    /// Whether its journal was erased: then all that is left of it is what it did and when.
    pub erased: bool,
    /// Which step cannot be read, and why. What is shown follows from the steps before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

impl Tasks<'_> {
    /// # Errors
    /// If there is no such task, or the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "tasks.show", skip_all)]
    pub async fn show(self, id: &str) -> Result<TaskView, Problem> {
        let Found::Task(task) = self.app.kernel.find(id).await? else {
            return Err(
                Problem::new(Code::NO_SUCH_ID, format!("`{id}` is not a task")).remedy("regent tasks list")
            );
        };
        let ledger = self.app.kernel.ledger().await?;
        let LoadedJournal { rows, steps, erased, mut unreadable } =
            journal::read(ledger, task.task_id).await?;
        let journal = rows.into_iter().map(|(row, input)| StepLine { n: row.n, at: row.at, input }).collect();
        let folded = if steps.is_empty() { None } else { Some(journal::fold(&steps)) };
        let folded = folded.transpose().unwrap_or_else(|problem| {
            unreadable.get_or_insert(problem.what);
            None
        });
        let mut calls = Vec::new();
        for call in ledger.calls_of(task.task_id).await? {
            calls.push(self.call_line(call).await?);
        }
        let plan = folded
            .as_ref()
            .and_then(|task| task.plan())
            .map_or_else(Vec::new, |plan| plan.subtasks.iter().map(|s| s.intent.text.clone()).collect());
        let question = folded.as_ref().and_then(|task| task.question().map(str::to_owned));
        let result = folded.and_then(|task| task.result().cloned());
        let (rounds, cost, line) = (rounds(&steps), cost(&steps), self.line(*task).await?);
        Ok(TaskView { line, plan, calls, rounds, cost, question, journal, result, erased, unreadable })
    }

    async fn call_line(self, call: ToolCall) -> Result<CallLine, Problem> {
        let short = self.app.kernel.short(call.id).await?;
        Ok(CallLine {
            call: call.id,
            short,
            tool: call.tool_id,
            status: call.status,
            duration_ms: call.duration_ms,
        })
    }
}

/// What the solver said of each plan that was not the last.
fn rounds(steps: &[Step]) -> Vec<PlanDirective> {
    let said = steps.iter().flat_map(|step| &step.messages).filter(|message| message.kind == "PlanDirective");
    said.filter_map(|message| serde_json::from_value(message.body.clone()).ok()).collect()
}
