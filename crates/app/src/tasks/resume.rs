//! `resume`: go on with a task.

use std::sync::Arc;

use clap::Args;
use domain::id::TaskId;
use kernel::{Problem, Surface, WaitMode};
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run::{conclude, run_due_jobs};
use super::{Report, TaskOutcome, Tasks, Undone};
use crate::App;
use crate::operation::{
    AttendedTask, HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
    Output,
};

/// Go on with a task that was interrupted, or that waited for you
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ResumeTask {
    /// A task or an event; any unique beginning of its id
    pub id: Option<String>,
    /// What you say to the question that it asks
    pub answer: Option<String>,
    /// Stay until every question that it leads to is answered, here or elsewhere
    #[arg(long)]
    #[serde(default)]
    pub wait: bool,
}

impl Operation for ResumeTask {
    const SPEC: OperationSpec = OperationSpec::new(
        "resume",
        OperationAccess::RUN,
        &[
            "regent resume          the only unfinished one",
            "regent resume t-k7q2",
            "regent resume t-k7q2 \"the one under docs\"",
        ],
    )
    .route(HttpMethod::Post, "/tasks/{id}/resume")
    .mcp()
    .starts_work();
    type Output = ResumeOutput;

    async fn run(self, context: &OperationContext<'_>) -> Result<ResumeOutput, OperationError> {
        let OperationContext { app, io } = *context;
        let (id, answer) = (self.id.as_deref(), self.answer.as_deref());
        let task = match find_begun(app, id).await {
            // The process that drives it asks there; whether it still does is for the work to say.
            Some(task) if is_attended(app, task).await => AttendedTask::PerhapsDriven(task),
            Some(task) => AttendedTask::Begun(task),
            None => AttendedTask::New,
        };
        let work = app.tasks().resume(id, answer, io.delivery(), io.wait_mode(self.wait));
        let (report, progress) = io.attend(task, self.wait, Box::pin(work)).await?;
        if report.status.is_over()
            && let Some(undone) = app.tasks().undone_by(report.task).await?
        {
            run_due_jobs(app).await;
            return Ok(ResumeOutput::Undo(Box::new(undone)));
        }
        let stored = !report.worked;
        let outcome = conclude(context, (report, progress)).await;
        Ok(ResumeOutput::Task(Box::new(TaskOutcome { stored, ..outcome })))
    }
}

/// The task that is meant, if it was begun: one that only waits takes no step that would tell.
async fn find_begun(app: &App, id: Option<&str>) -> Option<TaskId> {
    match id {
        Some(id) => app.tasks().show(id).await.ok().map(|view| view.line.task),
        None => {
            let tasks = app.tasks().list(domain::limits::LIST_ENTRIES).await.ok()?;
            tasks.iter().find(|line| !line.status.is_over()).map(|line| line.task)
        }
    }
}

async fn is_attended(app: &App, task: TaskId) -> bool {
    app.approvals().open_of_task(task).await.is_ok_and(|open| open.iter().any(|view| view.attended))
}

/// What a resumed task came to. An undo that was resumed reports like an undo.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ResumeOutput {
    Task(Box<TaskOutcome>),
    Undo(Box<Undone>),
}

impl Output for ResumeOutput {
    fn render(&self, style: &Style<'_>) -> Page {
        match self {
            Self::Task(outcome) => outcome.render(style),
            Self::Undo(undone) => undone.render(style),
        }
    }

    fn json_lines(&self) -> Vec<Value> {
        match self {
            Self::Task(outcome) => outcome.json_lines(),
            Self::Undo(undone) => undone.json_lines(),
        }
    }

    fn problem(&self) -> Option<Problem> {
        match self {
            Self::Task(_) => None,
            Self::Undo(undone) => Output::problem(&**undone),
        }
    }

    fn exit(&self) -> u8 {
        match self {
            Self::Task(outcome) => outcome.exit(),
            Self::Undo(undone) => undone.exit(),
        }
    }
}

impl Tasks<'_> {
    /// Goes on with a task. Without an id: with the only one that is not over. An answer is for the question that it asks.
    ///
    /// # Errors
    /// If there is nothing to go on with, another process drives it, or the ledger fails.
    #[tracing::instrument(level = "info", name = "tasks.resume", skip_all)]
    pub async fn resume(
        self,
        id: Option<&str>,
        answer: Option<&str>,
        surface: Arc<dyn Surface>,
        wait: WaitMode,
    ) -> Result<Report, Problem> {
        let started = self.app.now();
        let (event, outcome) = self.app.kernel.resume(id, answer, surface, wait).await?;
        self.report(&event, outcome, self.app.now().since(started)).await
    }
}
