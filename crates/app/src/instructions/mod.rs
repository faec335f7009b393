//! Standing instructions: what the owner wants in every system prompt.

mod add;
mod list;
mod remove;

use domain::Time;
use kernel::Problem;
use ledger::records::AgentNote;
use present::{Page, Style, inline};
use serde::Serialize;

use crate::App;
use crate::operation::{OperationEntry, OperationGroup, Output};

pub use add::AddInstruction;
pub use list::{InstructionList, ListInstructions};
pub use remove::{InstructionRemoval, RemoveInstruction};

pub const GROUP: OperationGroup = OperationGroup::new(
    "instructions",
    "Standing instructions: what every agent keeps to in every task",
    &["regent instructions add \"write British English\"", "regent instructions list"],
    &[
        OperationEntry::of::<ListInstructions>(),
        OperationEntry::of::<AddInstruction>(),
        OperationEntry::of::<RemoveInstruction>(),
    ],
);

/// One standing instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstructionView {
    pub id: u64,
    pub agent: String,
    /// `None` if it was erased.
    pub text: Option<String>,
    pub priority: i64,
    pub created_at: Time,
}

impl InstructionView {
    fn row(&self) -> String {
        let text = self.text.as_deref().map_or_else(|| "(erased)".to_owned(), inline);
        let priority =
            if self.priority == 0 { String::new() } else { format!("  (priority {})", self.priority) };
        format!("{:>3}  {text}{priority}", self.id)
    }
}

impl Output for InstructionView {
    fn render(&self, _: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(self.row());
        page
    }
}

/// The standing instructions of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Instructions<'a> {
    pub(crate) app: &'a App,
}

impl Instructions<'_> {
    async fn view(self, note: AgentNote) -> Result<InstructionView, Problem> {
        let text = self.app.kernel.ledger().await?.text(&note.content).await?;
        let AgentNote { id, agent_id, priority, created_at, .. } = note;
        Ok(InstructionView { id, agent: agent_id, text, priority, created_at })
    }
}
