//! What was asked for before in the same workspace: a request is read with it ("do it again", "no, in French").

use std::path::Path;

use domain::ask::Exchange;
use domain::event::CLI;
use domain::limits::HISTORY;
use domain::task::FinalResult;
use ledger::StoreError;
use ledger::records::AgentTask;

use super::DIRECT_CALL;
use crate::journal::{self, LoadedJournal};
use crate::kernel::Kernel;
use crate::services::Services;
use domain::problem::{Code, Problem};

/// How many tasks back it is looked for.
const LOOKED_AT: u32 = 50;
/// The summary of a task that cannot be read.
const UNREADABLE: &str = "(what came of it cannot be read any more)";
/// How much of a result is a summary.
const SUMMARY_CHARS: usize = 300;

/// What a task came to, as far as its journal can be read.
#[derive(Clone, Debug)]
pub enum TaskResult {
    Result(Box<FinalResult>),
    NothingYet,
    Erased,
    /// Why it cannot be read.
    Unreadable(String),
}

impl Kernel {
    /// What a task came to, from its journal.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn task_result(&self, task: &AgentTask) -> Result<TaskResult, Problem> {
        let LoadedJournal { steps, erased, unreadable, .. } =
            journal::read(self.ledger().await?, task.task_id).await?;
        Ok(match unreadable {
            _ if erased => TaskResult::Erased,
            Some(why) => TaskResult::Unreadable(why),
            None if steps.is_empty() => TaskResult::NothingYet,
            None => match journal::fold(&steps) {
                Ok(task) => {
                    let result = task.result().cloned();
                    result.map_or(TaskResult::NothingYet, |result| TaskResult::Result(Box::new(result)))
                }
                Err(problem) => TaskResult::Unreadable(problem.what),
            },
        })
    }

    /// The last exchanges of this workspace, oldest first. What was erased is not among them. Of a task whose journal cannot be
    /// read, only that is told: one damaged task does not end all others.
    pub(super) async fn history(
        &self,
        services: &Services,
        workspace: &Path,
    ) -> Result<Vec<Exchange>, Problem> {
        let mut found = Vec::new();
        for task in services.ledger.tasks(LOOKED_AT).await?.into_iter().filter(|task| task.status.is_over()) {
            let Some(event) = services.ledger.event(task.payload).await? else { continue };
            if event.adapter != CLI || event.content_type == DIRECT_CALL {
                continue;
            }
            let worked_in = match self.workspace_of(services, &event).await {
                Err(problem) if problem.code == Code::DATABASE_DAMAGED => continue,
                worked_in => worked_in?,
            };
            if worked_in.as_deref() != Some(workspace) {
                continue;
            }
            let input = match services.ledger.text(&event.body).await {
                Err(StoreError::Corrupt(_)) | Ok(None) => continue,
                Ok(Some(input)) => input,
                Err(error) => return Err(error.into()),
            };
            let summary = match self.task_result(&task).await? {
                TaskResult::Result(result) => result.text.chars().take(SUMMARY_CHARS).collect(),
                TaskResult::Unreadable(_) => UNREADABLE.to_owned(),
                TaskResult::NothingYet | TaskResult::Erased => continue,
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
