//! The owner's standing instructions for the agent of a run.

use ledger::records::AgentNote;
use policy::admit::MAIN;

use crate::services::Services;
use domain::problem::Problem;

/// Sorts notes into the order in which agents read them.
pub fn order_instructions(notes: &mut [AgentNote]) {
    notes.sort_by_key(|note| (std::cmp::Reverse(note.priority), note.id));
}

/// The instructions that count now. One whose text was erased is left out.
///
/// # Errors
/// If a row is not as this instance sealed it, or the ledger fails.
pub(crate) async fn read_instructions(services: &Services) -> Result<Vec<String>, Problem> {
    let mut notes: Vec<AgentNote> = services.ledger.sealed().await?;
    notes.retain(|note| note.agent_id == MAIN && note.note_type == AgentNote::INSTRUCTION);
    order_instructions(&mut notes);
    let mut texts = Vec::new();
    for note in notes {
        texts.extend(services.ledger.text(&note.content).await?);
    }
    Ok(texts)
}
