//! The owner's standing instructions: a section at the end of every system prompt.

use std::sync::{Arc, Mutex, PoisonError};

/// Shared with the process that drives the task, so that a change counts from the next prompt on. Every clone is the same list.
#[derive(Clone, Debug, Default)]
pub struct StandingInstructions(Arc<Mutex<Vec<String>>>);

impl StandingInstructions {
    pub fn set(&self, instructions: Vec<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = instructions;
    }

    /// The section, or nothing if there are no instructions. An instruction of several lines stays one entry of the list.
    pub(super) fn section(&self) -> String {
        let instructions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if instructions.is_empty() {
            return String::new();
        }
        let mut text = String::from("\n## Standing instructions of the owner\n\nThey hold for every task:\n");
        for instruction in instructions.iter() {
            text.push_str("- ");
            text.push_str(&instruction.trim().replace('\n', "\n  "));
            text.push('\n');
        }
        text
    }
}
