//! Cancel: a task is ended, whichever process drives it. Its lease is taken away, so whatever that process still tries is
//! refused; it notices soon, and stops what it runs.

use std::sync::Arc;

use domain::id::TaskId;
use domain::task::{Cause, Status};
use ledger::records::Event;

use super::{ModelOptions, RequestedAction, RunContext, RunRequest, Unshown, WaitMode};
use crate::admit::task_of;
use crate::drive::DriveOutcome;
use crate::journal;
use crate::kernel::Kernel;
use crate::lease::TaskLease;
use crate::services::Services;
use domain::problem::{Code, Problem};

/// How often the lease is read again of a driver that renewed it at the same moment.
const TRIES: usize = 8;

impl Kernel {
    /// Ends a task.
    ///
    /// # Errors
    /// If there is no such task, it is over, or the ledger fails.
    pub async fn cancel(&self, id: &str) -> Result<(Event, DriveOutcome), Problem> {
        let services = &self.services().await?;
        let (event, _) = self.resumable(id).await?;
        let task = task_of(&event);
        let (text, workspace) = self.request_of(services, &event).await?;
        let (surface, wait) = (Arc::new(Unshown), WaitMode::Leave);
        let request = RunRequest { text, workspace, surface, wait, options: ModelOptions::default() };
        for _ in 0..TRIES {
            let row = services.ledger.task(task).await?;
            if row.as_ref().is_some_and(|row| row.status.is_over()) {
                let what = format!("{} is over already", self.short(task).await?);
                return Err(Problem::new(Code::NOTHING_TO_CANCEL, what)
                    .safe("nothing was changed")
                    .remedy(format!("regent tasks show {}", self.short(task).await?)));
            }
            let begun = row.is_some_and(|row| matches!(row.status, Status::Running | Status::Waiting));
            let context = RunContext {
                kernel: self,
                services,
                event: &event,
                parties: self.parties_of(services, &event).await?,
                lease: TaskLease::after(services.ledger.lease(&task.to_string()).await?),
                request: &request,
                action: RequestedAction::Cancel,
            };
            match context.drive(begun).await {
                Err(problem) if problem.code == Code::DRIVEN_ELSEWHERE => {}
                Err(problem) => return Err(problem),
                Ok(outcome) => return Ok((event, outcome)),
            }
        }
        let what = format!("{} could not be taken from whoever drives it", self.short(task).await?);
        Err(Problem::new(Code::DRIVEN_ELSEWHERE, what).safe("it goes on there").remedy("regent halt"))
    }
}

/// What a task came to that another process cancelled while this one drove it.
pub(super) async fn find_cancelled(
    services: &Services,
    task: TaskId,
) -> Result<Option<DriveOutcome>, Problem> {
    let steps = journal::load(&services.ledger, task).await?;
    if steps.is_empty() {
        return Ok(None);
    }
    let folded = journal::fold(&steps)?;
    let result = folded.result().filter(|result| result.cause == Some(Cause::Cancelled)).cloned();
    Ok(result.map(|result| DriveOutcome {
        status: Status::Stopped,
        result: Some(result),
        question: None,
        worked: true,
    }))
}
