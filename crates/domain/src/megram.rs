//! Megrams: what the solver leaves behind for memory, one experience each. When it was written and under which id is
//! the store's matter.

use serde::{Deserialize, Serialize};

use crate::gradient::Macro;

/// How strongly an experience counts, in which direction, and how fast it fades.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantum {
    /// The strength of it, 0 to 1.
    pub f: f64,
    /// −1 warns, +1 recommends.
    pub sigma: f64,
    /// Decay per day: 0.05 halves in about 14 days.
    pub k: f64,
}

impl From<Macro> for Quantum {
    /// The quantization matrix of the seed.
    fn from(state: Macro) -> Self {
        let (f, sigma, k) = match state {
            Macro::Abandon => (0.95, -1.0, 0.05),
            Macro::Accept => (0.90, 1.0, 0.05),
            Macro::ChangeApproach => (0.85, -1.0, 0.05),
            Macro::Success => (0.80, 1.0, 0.05),
            Macro::BreakSymmetry => (0.75, 1.0, 0.05),
            Macro::ChangePath => (0.30, 0.0, 0.2),
            Macro::Refine => (0.10, 0.5, 0.5),
        };
        Self { f, sigma, k }
    }
}

/// One experience. Which ones belong together is decided by `space` and `entity`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Megram {
    pub space: String,
    pub entity: String,
    pub content: String,
    pub state: Macro,
    pub f: f64,
    pub sigma: f64,
    pub k: f64,
}

impl Megram {
    /// What was learnt about a tool on a target, in a round that does not end the task.
    #[must_use]
    pub fn of_call(tool: &str, target: &str, state: Macro, content: impl Into<String>) -> Self {
        Self::tagged(format!("tool:{tool}"), format!("path:{target}"), state, content.into())
    }

    /// What became of a kind of task.
    #[must_use]
    pub fn of_intent(task_class: &str, state: Macro, content: impl Into<String>) -> Self {
        Self::tagged(format!("intent:{task_class}"), "env:local".to_owned(), state, content.into())
    }

    fn tagged(space: String, entity: String, state: Macro, content: String) -> Self {
        let Quantum { f, sigma, k } = state.into();
        Self { space, entity, content, state, f, sigma, k }
    }
}

#[cfg(test)]
mod tests {
    use super::{Megram, Quantum};
    use crate::gradient::Macro;

    #[test]
    fn the_quantization_matrix_of_the_seed() {
        let table = [
            (Macro::Abandon, 0.95, -1.0, 0.05),
            (Macro::Accept, 0.90, 1.0, 0.05),
            (Macro::ChangeApproach, 0.85, -1.0, 0.05),
            (Macro::Success, 0.80, 1.0, 0.05),
            (Macro::BreakSymmetry, 0.75, 1.0, 0.05),
            (Macro::ChangePath, 0.30, 0.0, 0.2),
            (Macro::Refine, 0.10, 0.5, 0.5),
        ];
        assert_eq!(table.len(), Macro::ALL.len());
        for (state, f, sigma, k) in table {
            assert_eq!(Quantum::from(state), Quantum { f, sigma, k }, "{state}");
        }
    }

    #[test]
    fn calls_and_intents_are_tagged_by_convention() {
        let call = Megram::of_call("read_file", "notes/a.txt", Macro::ChangePath, "no such file");
        let expected = Megram {
            space: "tool:read_file".to_owned(),
            entity: "path:notes/a.txt".to_owned(),
            content: "no such file".to_owned(),
            state: Macro::ChangePath,
            f: 0.30,
            sigma: 0.0,
            k: 0.2,
        };
        assert_eq!(call, expected);
        let intent = Megram::of_intent("largest_video_file", Macro::Accept, "found");
        assert_eq!(
            (intent.space.as_str(), intent.entity.as_str()),
            ("intent:largest_video_file", "env:local")
        );
    }
}
