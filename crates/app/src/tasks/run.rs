//! `run`: one request of the owner, through the whole journey.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use domain::task::Status;
use kernel::{
    Code, DriveOutcome, DryRun, JournalTap, ModelOptions, Problem, RunRequest, StepFeed, Unshown, WaitMode,
    check_request, task_of,
};
use ledger::records::{CallStatus, Event};
use llm::{Provider, Script};
use present::progress::TaskProgress;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Report, TaskOutcome, Tasks};
use crate::App;
use crate::operation::{
    AttendedTask, HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
    Output,
};

/// Do what is asked, here, and print the result
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct RunTask {
    /// What is to be done, in plain language
    #[arg(value_name = "REQUEST", required = true, num_args = 1..)]
    pub request: Vec<String>,
    /// Stay until every question that it leads to is answered, here or elsewhere
    #[arg(long)]
    #[serde(default)]
    pub wait: bool,
    /// Only show the plan, the tools and what you would be asked; do nothing
    #[arg(long, conflicts_with = "wait")]
    #[serde(default)]
    pub plan: bool,
    /// Ask a model even if the reflexes understand it
    #[arg(long)]
    #[serde(default)]
    pub no_reflex: bool,
    /// Take answers from a recording (`regent replay <task> --recording`) instead of asking a model
    #[arg(long, value_name = "FILE", conflicts_with = "no_reflex")]
    pub replay: Option<PathBuf>,
}

impl Operation for RunTask {
    const SPEC: OperationSpec = OperationSpec::new(
        "run",
        OperationAccess::RUN,
        &["regent run \"list the 5 newest markdown files under docs\""],
    )
    .route(HttpMethod::Post, "/tasks")
    .mcp()
    .starts_work();
    type Output = RunOutput;

    async fn run(self, context: &OperationContext<'_>) -> Result<RunOutput, OperationError> {
        let OperationContext { app, io } = *context;
        let replacement = match &self.replay {
            Some(file) => Some(read_recording(context, file)?),
            None => None,
        };
        let options = ModelOptions { reflex: !self.no_reflex, replacement };
        let (text, workspace) = (self.request.join(" "), io.folder()?);
        if self.plan {
            let (surface, wait) = (Arc::new(Unshown), WaitMode::Leave);
            let request = RunRequest { text, workspace, surface, wait, options };
            return Ok(RunOutput::Plan(Box::new(Box::pin(app.tasks().plan(&request)).await?)));
        }
        let (surface, wait) = (io.delivery(), io.wait_mode(self.wait));
        let request = RunRequest { text, workspace, surface, wait, options };
        let work = Box::pin(app.tasks().run(request));
        let attended = io.attend(AttendedTask::New, self.wait, work).await?;
        Ok(RunOutput::Task(Box::new(conclude(context, attended).await)))
    }
}

/// Ends work that the caller attended: background jobs that are due run, and what it came to is put together.
pub(crate) async fn conclude(
    context: &OperationContext<'_>,
    (report, progress): (Report, TaskProgress),
) -> TaskOutcome {
    // The stream of data ended with the answer; that it could not be delivered is said beside it.
    if let Some(problem) = report.problem().filter(|problem| problem.code == Code::OUTPUT)
        && context.io.reads_data()
    {
        context.io.note_problem(&problem);
    }
    run_due_jobs(context.app).await;
    TaskOutcome { report, progress, stored: false }
}

/// No daemon is needed for background jobs: a process that has answered runs what is due, for a moment. What does not fit is
/// left to the next process, or to `regent tick`; what fails is on record.
pub(crate) async fn run_due_jobs(app: &App) {
    const AT_MOST: Duration = Duration::from_millis(50);
    drop(tokio::time::timeout(AT_MOST, app.instance().tick()).await);
}

/// A recording that the caller named, as a provider.
fn read_recording(
    context: &OperationContext<'_>,
    file: &std::path::Path,
) -> Result<Arc<dyn Provider>, Problem> {
    let wrong = |why: String| {
        Problem::new(Code::BAD_RECORDING, format!("{}: {why}", file.display())).safe("nothing was written")
    };
    let text = context.io.read_file(file).map_err(|error| wrong(error.to_string()))?;
    let text = text.ok_or_else(|| wrong("there is no such file".into()))?;
    Ok(Arc::new(Script::read(&text).map_err(wrong)?))
}

/// What a run came to, or what it would do.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum RunOutput {
    Task(Box<TaskOutcome>),
    Plan(Box<DryRun>),
}

impl Output for RunOutput {
    fn render(&self, style: &Style<'_>) -> Page {
        match self {
            Self::Task(outcome) => outcome.render(style),
            Self::Plan(plan) => plan.render(style),
        }
    }

    fn json_lines(&self) -> Vec<Value> {
        match self {
            Self::Task(outcome) => outcome.json_lines(),
            Self::Plan(plan) => plan.json_lines(),
        }
    }

    fn exit(&self) -> u8 {
        match self {
            Self::Task(outcome) => outcome.exit(),
            Self::Plan(plan) => plan.exit(),
        }
    }
}

impl Tasks<'_> {
    /// Runs one request of the owner.
    ///
    /// # Errors
    /// If it cannot be ingested or is not admitted, or the ledger fails. That the work itself failed is a report.
    #[tracing::instrument(level = "info", name = "tasks.run", skip_all)]
    pub async fn run(self, request: RunRequest) -> Result<Report, Problem> {
        check_request(&request)?;
        self.run_as(&request, None).await
    }

    /// The same with a media type: a request that is a call has one.
    pub(crate) async fn run_as(
        self,
        request: &RunRequest,
        content_type: Option<&str>,
    ) -> Result<Report, Problem> {
        let started = self.app.now();
        let (event, outcome) = self.app.kernel.run(request, content_type).await?;
        self.report(&event, outcome, self.app.now().since(started)).await
    }

    /// Cancels a task, whichever process drives it.
    ///
    /// # Errors
    /// If there is no such task, it is over, or the ledger fails.
    #[tracing::instrument(level = "info", name = "tasks.cancel", skip_all)]
    pub async fn cancel(self, id: &str) -> Result<Report, Problem> {
        let started = self.app.now();
        let (event, outcome) = self.app.kernel.cancel(id).await?;
        self.report(&event, outcome, self.app.now().since(started)).await
    }

    /// For a reader that must miss nothing: every step of every process after this sequence number, or from now on.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "tasks.tap", skip_all)]
    pub async fn tap(self, after: Option<i64>) -> Result<JournalTap, Problem> {
        self.app.kernel.tap(after).await
    }

    /// For a display: the steps of this process as they become durable. It may miss some, and then says how many.
    #[must_use]
    pub fn feed(self) -> StepFeed {
        self.app.kernel.steps()
    }

    pub(super) async fn report(
        self,
        event: &Event,
        outcome: DriveOutcome,
        elapsed: Duration,
    ) -> Result<Report, Problem> {
        let task = task_of(event);
        let DriveOutcome { status, result, question, worked } = outcome;
        let waiting = if status == Status::Waiting {
            self.app.approvals().open_of_task(task).await?
        } else {
            Vec::new()
        };
        let calls = self.app.kernel.ledger().await?.calls_of(task).await?;
        let changed = calls
            .iter()
            .filter(|call| status.is_over() && call.status == CallStatus::Finished && call.change.is_some());
        Ok(Report {
            can_undo: changed.count(),
            task,
            short: self.app.kernel.short(task).await?,
            event: event.id,
            status,
            result,
            waiting,
            question,
            cost: self.cost(task, &calls).await?,
            worked,
            elapsed,
        })
    }
}
