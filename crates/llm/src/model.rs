//! What a language model is to us, below the types: a text goes in, a text comes out, and it cost something.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use domain::DataClass;
use domain::ask::{Ask, Subject, Unanswered, Usage, Want};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whoever turns a prompt into text: a server, a program, a recording.
pub trait Model: Send + Sync {
    fn name(&self) -> String;

    /// Who would hear this prompt, and what it may take at the most; nothing where nobody outside this process does.
    fn quote(&self, _prompt: &Prompt) -> Option<Quote> {
        None
    }

    /// Takes out of a reply what must be in none: the key of whoever gave it. Asked about every value once it is read out of its
    /// text, where no escape hides anything any more.
    fn redact(&self, _value: &mut Value) {}

    /// Nothing leaves the machine before this is polled; whoever drops it calls it off. What comes in is told as it comes.
    fn complete(&self, prompt: Prompt, listen: Listen) -> Completing;
}

/// Who is told of a reply while it comes in. It must not block.
pub type Listen = Arc<dyn Fn(Piece<'_>) + Send + Sync>;

/// A part of a reply, as it came in. After [`Piece::Again`], what came before counts for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    /// What it says to itself.
    Thought(&'a str),
    /// Of the arguments of a call.
    Call(&'a str),
    /// It is asked once more, or somebody else is.
    Again,
}

/// What asking takes, before anybody is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Who may be asked, one after the other until one answers, as `provider/model`.
    pub models: Vec<String>,
    /// Whether any of them is on another machine.
    pub outside: bool,
    /// Whoever may be asked and may not be told this: who, and why.
    pub passed_over: Vec<(String, String)>,
    /// How many bytes would be sent once.
    pub bytes: u64,
    /// The most that could be counted, both ways together, in all tries.
    pub tokens: u64,
    /// The most that it could cost, in millionths of the house's currency.
    pub money: u64,
}

pub type Completing = Pin<Box<dyn Future<Output = Result<Completion, Unheard>> + Send>>;

/// Nobody answered; that may have cost something, too: a reply that was cut is paid for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unheard {
    pub why: Unanswered,
    pub usage: Usage,
}

impl From<Unanswered> for Unheard {
    fn from(why: Unanswered) -> Self {
        Self { why, usage: Usage::default() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    pub place: Place,
    /// What is the same in every ask of this role, so that a provider can keep it.
    pub system: String,
    /// What is different in each.
    pub user: String,
    /// JSON schema of the reply, for those who can be held to one.
    pub schema: Value,
    /// The same for those who can call: they call one tool instead of writing a reply. Only of an executor.
    pub calling: Option<Calling>,
    /// Whose data it may hold.
    pub classes: BTreeSet<DataClass>,
}

/// How somebody is asked who can call tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Calling {
    /// Instead of the prompt's: without the list of tools, and with another form of reply.
    pub system: String,
    /// Exactly one of them is to be called; [`FINISH`] is the last.
    pub tools: Vec<Callable>,
}

/// A function, as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Callable {
    pub name: String,
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
}

/// The call that says that nothing more is to be called.
pub const FINISH: &str = "finish";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Completion {
    pub text: String,
    /// What it called, in its order.
    pub calls: Vec<Called>,
    pub usage: Usage,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    pub tool: String,
    /// Always an object.
    pub args: Value,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Perceiver,
    Planner,
    Executor,
    Validator,
    MetaValidator,
}

impl Role {
    pub const ALL: [Self; 5] =
        [Self::Perceiver, Self::Planner, Self::Executor, Self::Validator, Self::MetaValidator];

    #[must_use]
    pub const fn of(subject: Subject) -> Self {
        match subject {
            Subject::Perceive => Self::Perceiver,
            Subject::Plan => Self::Planner,
            Subject::Act(_) => Self::Executor,
            Subject::Judge(Some(_)) => Self::Validator,
            Subject::Judge(None) => Self::MetaValidator,
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Perceiver => "perceiver",
            Self::Planner => "planner",
            Self::Executor => "executor",
            Self::Validator => "validator",
            Self::MetaValidator => "meta_validator",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where in a task an ask stands: the same after a kill, in another process and on another day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub role: Role,
    pub round: u32,
    pub subtask: Option<u32>,
    /// Of an executor, from 0. Of a perceiver or planner, 1 once a question back was answered. A judge is not told.
    pub attempt: u32,
    /// Calls whose evidence is there.
    pub moves: u32,
    /// Whether it is the second try, after a reply that could not be used.
    pub repair: bool,
}

impl Place {
    #[must_use]
    pub fn of(ask: &Ask) -> Self {
        let (subtask, attempt, evidence) = match &ask.want {
            Want::Perceive { clarified, .. } | Want::Plan { clarified, .. } => {
                (None, u32::from(clarified.is_some()), 0)
            }
            Want::Act { number, attempt, evidence, .. } => (Some(*number), *attempt, evidence.len()),
            Want::Judge { of, evidence, .. } => (*of, 0, evidence.len()),
        };
        Self {
            role: Role::of(ask.subject()),
            round: ask.round,
            subtask,
            attempt,
            moves: u32::try_from(evidence).unwrap_or(u32::MAX),
            repair: ask.repair.is_some(),
        }
    }
}

/// `executor, round 1, subtask 0, attempt 2, 3 moves, repair`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, round {}", self.role, self.round)?;
        if let Some(subtask) = self.subtask {
            write!(f, ", subtask {subtask}")?;
        }
        write!(f, ", attempt {}, {} moves", self.attempt, self.moves)?;
        if self.repair { f.write_str(", repair") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Role};
    use crate::worded::samples;
    use domain::ask::Subject;
    use serde_json::json;

    #[test]
    fn a_role_is_called_what_the_engine_calls_it() {
        for subject in
            [Subject::Perceive, Subject::Plan, Subject::Act(1), Subject::Judge(Some(1)), Subject::Judge(None)]
        {
            let role = Role::of(subject);
            assert_eq!((role.name(), json!(role)), (subject.role(), json!(subject.role())));
        }
    }

    #[test]
    fn a_place_is_read_off_the_ask_alone() {
        let places: Vec<String> = samples::all().iter().map(|(_, ask)| Place::of(ask).to_string()).collect();
        assert_eq!(
            places,
            [
                "perceiver, round 0, attempt 0, 0 moves",
                "perceiver, round 0, attempt 1, 0 moves, repair",
                "planner, round 0, attempt 0, 0 moves",
                "planner, round 1, attempt 1, 0 moves",
                "executor, round 0, subtask 1, attempt 0, 0 moves",
                "executor, round 1, subtask 0, attempt 1, 2 moves, repair",
                "validator, round 0, subtask 0, attempt 0, 2 moves",
                "meta_validator, round 1, attempt 0, 2 moves",
            ]
        );
    }

    #[test]
    fn a_place_is_written_flat() {
        let (_, ask) = samples::all().remove(5);
        let written = json!({
            "role": "executor", "round": 1, "subtask": 0, "attempt": 1, "moves": 2, "repair": true,
        });
        assert_eq!(json!(Place::of(&ask)), written);
        assert_eq!(serde_json::from_value::<Place>(written).expect("a place"), Place::of(&ask));
    }
}
