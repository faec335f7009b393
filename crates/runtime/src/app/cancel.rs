//! `cancel`: a task is put an end to, whoever drives it. Its lease is taken away, so whatever the other process still
//! tries is refused; it notices within a moment, and stops what it runs.

use std::sync::Arc;

use domain::id::TaskId;
use domain::task::{Cause, Status};

use super::run::{Begun, Errand, Wish};
use super::undo::Unshown;
use super::{App, Patience, Report, Request, Thinking};
use crate::pipeline::{self, Desk, Ended, Held, Surface};
use crate::problem::{Code, Problem};

/// How often the lease is read again of a driver that renewed it at the same moment.
const TRIES: usize = 8;

impl App {
    /// # Errors
    /// If there is no such task, it is over, or the ledger fails.
    pub async fn cancel(&self, id: &str) -> Result<Report, Problem> {
        let desk = self.desk().await?;
        let started = desk.now();
        let (event, _) = self.resumable(id).await?;
        let task = pipeline::task_of(&event);
        let (text, workspace) = self.as_asked(&desk, &event).await?;
        let surface: Arc<dyn Surface> = Arc::new(Unshown);
        let request = Request {
            text,
            workspace,
            surface,
            watch: Arc::new(|_, _| {}),
            patience: Patience::Leave,
            thinking: Thinking::default(),
        };
        for _ in 0..TRIES {
            let row = desk.ledger.task(task).await?;
            if row.as_ref().is_some_and(|row| row.status.is_over()) {
                let what = format!("{} is over already", self.short(task).await?);
                return Err(Problem::new(Code::NOTHING_TO_CANCEL, what)
                    .safe("nothing was changed")
                    .remedy(format!("regent tasks show {}", self.short(task).await?)));
            }
            let begun = row.is_some_and(|row| matches!(row.status, Status::Running | Status::Waiting));
            let held = Held::after(desk.ledger.lease(&task.to_string()).await?);
            let cast = self.cast_of(&desk, &event).await?;
            let errand =
                Errand { desk: &desk, event: &event, cast, held, request: &request, wish: Wish::Cancel };
            match self.drive(errand, if begun { Begun::Yes } else { Begun::No }).await {
                Err(problem) if problem.code == Code::DRIVEN_ELSEWHERE => {}
                ended => return self.report(&event, ended?, desk.now().since(started)).await,
            }
        }
        let what = format!("{} could not be taken from whoever drives it", self.short(task).await?);
        Err(Problem::new(Code::DRIVEN_ELSEWHERE, what).safe("it goes on there").remedy("regent halt"))
    }

    /// What a task came to that somebody else put an end to, while this process drove it.
    pub(super) async fn cancelled_meanwhile(
        &self,
        desk: &Desk,
        task: TaskId,
    ) -> Result<Option<Ended>, Problem> {
        let steps = pipeline::load(&desk.ledger, task).await?;
        if steps.is_empty() {
            return Ok(None);
        }
        let folded = pipeline::fold(&steps)?;
        let result = folded.result().filter(|result| result.cause == Some(Cause::Cancelled)).cloned();
        Ok(result.map(|result| Ended {
            status: Status::Stopped,
            result: Some(result),
            question: None,
            worked: true,
        }))
    }
}
