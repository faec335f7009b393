//! What ran, what waits.

use domain::event::CLI;
use domain::gradient::PlanDirective;
use domain::task::{FinalResult, Status};
use domain::{Time, id::TaskId};
use engine::task::Step;
use ledger::Found;
use ledger::records::{AgentTask, CallStatus, ToolCall};
use llm::{DirectCall, DirectCalls};
use present::{Style, Tone, shorten};
use serde::Serialize;
use serde_json::Value;

use super::cost::cost;
use super::{RoleCost, Tasks};
use kernel::journal::{self, LoadedJournal};
use kernel::{Code, Problem};

#[derive(Clone, Debug, Serialize)]
pub struct TaskLine {
    pub task: TaskId,
    #[serde(skip)]
    pub short: String,
    pub status: Status,
    pub task_class: Option<String>,
    pub created_at: Time,
    pub completed_at: Option<Time>,
    pub steps: u64,
    /// The request, word for word; nothing if it was erased.
    pub request: Option<String>,
    /// The same as a person says it: a call by their own hand is not written as JSON.
    #[serde(skip)]
    pub said: Option<String>,
}

impl TaskLine {
    /// The task on one line.
    #[must_use]
    pub fn row(&self, style: &Style<'_>) -> String {
        let (word, tone) = match self.status {
            Status::Queued => ("not begun", Tone::Attention),
            Status::Running => ("unfinished", Tone::Attention),
            Status::Waiting => ("waits", Tone::Attention),
            Status::Done => ("done", Tone::Good),
            Status::Stopped => ("stopped", Tone::Bad),
        };
        let request = self.said.as_deref().map_or_else(|| "(erased)".into(), |text| shorten(text, 50));
        let when = self.created_at.date_time(style.zone);
        let word = style.theme.paint(&format!("{word:<10}"), tone);
        format!("{:<8} {word} {request:<51} {when}", self.short)
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
    /// Newest first.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "tasks.list", skip_all)]
    pub async fn list(self, limit: u32) -> Result<Vec<TaskLine>, Problem> {
        let mut lines = Vec::new();
        for task in self.app.kernel.ledger().await?.tasks(limit).await? {
            lines.push(self.line(task).await?);
        }
        Ok(lines)
    }

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

    pub(crate) async fn line(self, task: AgentTask) -> Result<TaskLine, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let event = ledger.event(task.payload).await?;
        let (request, own) = match event {
            Some(event) => (ledger.text(&event.body).await?, event.adapter == CLI),
            None => (None, false),
        };
        let said = request.as_deref().map(|text| if own { said(text) } else { text.to_owned() });
        let short = self.app.kernel.short(task.task_id).await?;
        let AgentTask { task_id, status, task_class, created_at, completed_at, steps, .. } = task;
        Ok(TaskLine {
            task: task_id,
            short,
            status,
            task_class,
            created_at,
            completed_at,
            steps,
            request,
            said,
        })
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

/// What the owner asked for, as they typed it: `delete_file path=old.txt` for a call, its intent for several.
pub(crate) fn said(request: &str) -> String {
    if let Ok(DirectCall { tool, args, .. }) = serde_json::from_str(request) {
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let args = args.as_object().into_iter().flatten();
        let args: String = args.map(|(name, value)| format!(" {name}={}", shown(value))).collect();
        return format!("{tool}{args}");
    }
    serde_json::from_str(request).map_or_else(|_| request.to_owned(), |calls: DirectCalls| calls.intent)
}

/// What the solver said of each plan that was not the last.
fn rounds(steps: &[Step]) -> Vec<PlanDirective> {
    let said = steps.iter().flat_map(|step| &step.messages).filter(|message| message.kind == "PlanDirective");
    said.filter_map(|message| serde_json::from_value(message.body.clone()).ok()).collect()
}
