//! Run, resume, cancel and plan: the kernel does it, and this reports what came of it.

use std::sync::Arc;
use std::time::Duration;

use domain::task::Status;
use kernel::{
    DriveOutcome, DryRun, JournalTap, Problem, RunRequest, StepFeed, Surface, WaitMode, check_request,
    task_of,
};
use ledger::records::{CallStatus, Event};

use super::{Report, Tasks};

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

    /// What would be done, with which tools, and what would be asked. Nothing is done, and nothing is written.
    ///
    /// # Errors
    /// If it would not be admitted, or the ledger fails.
    #[tracing::instrument(level = "info", name = "tasks.plan", skip_all)]
    pub async fn plan(self, request: &RunRequest) -> Result<DryRun, Problem> {
        self.app.kernel.plan(request).await
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

    async fn report(
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
