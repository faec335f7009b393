//! What was asked for before in the same place: a request is read with it ("do it again", "no, in French").

use std::path::Path;

use domain::ask::Exchange;
use domain::event::CLI;
use domain::limits::HISTORY;
use ledger::StoreError;

use super::App;
use super::run::DIRECT;
use super::tasks::Told;
use crate::pipeline::Desk;
use crate::problem::{Code, Problem};

/// How far back it is looked for.
const LOOKED_AT: u32 = 50;
/// The summary of a task that cannot be read.
const UNREADABLE: &str = "(what came of it cannot be read any more)";
/// What is told of a result.
const SUMMARY_CHARS: usize = 300;

impl App {
    /// The last exchanges of this workspace, oldest first. What was erased is not among them. Of a task whose journal cannot be
    /// read, only that is told: one damaged task does not end all others.
    pub(super) async fn history(&self, desk: &Desk, workspace: &Path) -> Result<Vec<Exchange>, Problem> {
        let mut found = Vec::new();
        for task in desk.ledger.tasks(LOOKED_AT).await?.into_iter().filter(|task| task.status.is_over()) {
            let Some(event) = desk.ledger.event(task.payload).await? else { continue };
            if event.adapter != CLI || event.content_type == DIRECT {
                continue;
            }
            let worked_in = match self.workspace_of(desk, &event).await {
                Err(problem) if problem.code == Code::DATABASE_DAMAGED => continue,
                worked_in => worked_in?,
            };
            if worked_in.as_deref() != Some(workspace) {
                continue;
            }
            let input = match desk.ledger.text(&event.body).await {
                Err(StoreError::Corrupt(_)) | Ok(None) => continue,
                Ok(Some(input)) => input,
                Err(error) => return Err(error.into()),
            };
            let summary = match self.task_result(&task).await? {
                Told::Result(result) => result.text.chars().take(SUMMARY_CHARS).collect(),
                Told::Unreadable(_) => UNREADABLE.to_owned(),
                Told::NothingYet | Told::Erased => continue,
            };
            found.push(Exchange { input, summary });
            if found.len() == HISTORY {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }
}
