//! `tasks list`.

use clap::Args;
use domain::event::CLI;
use domain::task::Status;
use domain::{Time, id::TaskId};
use kernel::Problem;
use ledger::records::AgentTask;
use llm::{DirectCall, DirectCalls};
use present::{Page, Style, Tone, shorten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Tasks;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    default_limit, json_each,
};

/// Newest first
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListTasks {
    /// How many at the most
    #[arg(long, default_value_t = default_limit())]
    #[serde(default = "default_limit")]
    pub limit: u32,
}

impl Operation for ListTasks {
    const SPEC: OperationSpec =
        OperationSpec::new("tasks list", OperationAccess::READ, &["regent tasks list --limit 5"])
            .route(HttpMethod::Get, "/tasks")
            .mcp();
    type Output = TaskList;

    async fn run(self, context: &OperationContext<'_>) -> Result<TaskList, OperationError> {
        let tasks = context.app.tasks().list(self.limit).await?;
        Ok(TaskList { nothing_ran: tasks.is_empty() && self.limit > 0, tasks })
    }
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct TaskList {
    pub tasks: Vec<TaskLine>,
    /// Whether the list is empty because there is no task.
    #[serde(skip)]
    pub nothing_ran: bool,
}

impl Output for TaskList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        if self.nothing_ran {
            page.add_note("nothing has run yet; try: regent run \"how many files are here?\"");
        }
        page.add_all(self.tasks.iter().map(|task| task.row(style)));
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.tasks)
    }
}

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
