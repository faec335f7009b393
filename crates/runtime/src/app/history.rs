//! What was asked for before in the same place: a request is read with it ("do it again", "no, in French").

use std::path::Path;

use domain::ask::Exchange;
use domain::event::CLI;
use domain::limits::HISTORY;

use super::App;
use super::run::DIRECT;
use super::tasks::Told;
use crate::pipeline::Desk;
use crate::problem::Problem;

/// How far back it is looked for.
const LOOKED_AT: u32 = 50;
/// What is told of a result.
const SUMMARY_CHARS: usize = 300;

impl App {
    /// The last exchanges of this workspace, oldest first. What was erased is not among them.
    pub(super) async fn history(&self, desk: &Desk, workspace: &Path) -> Result<Vec<Exchange>, Problem> {
        let mut found = Vec::new();
        for task in desk.ledger.tasks(LOOKED_AT).await?.into_iter().filter(|task| task.status.is_over()) {
            let Some(event) = desk.ledger.event(task.payload).await? else { continue };
            if event.adapter != CLI || event.content_type == DIRECT {
                continue;
            }
            if self.workspace_of(desk, &event).await?.as_deref() != Some(workspace) {
                continue;
            }
            let Some(input) = desk.ledger.text(&event.body).await? else { continue };
            let Told::Result(result) = self.task_result(&task).await? else { continue };
            found.push(Exchange { input, summary: result.text.chars().take(SUMMARY_CHARS).collect() });
            if found.len() == HISTORY {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }
}
