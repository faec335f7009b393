//! Providers: whoever answers what the engine asks in types. Two need no model: the [`Reflex`], and [`Direct`] for calls
//! that the owner asks for by name. [`Worded`] asks a language model, any [`Model`], in words; a [`Script`] plays one.
//!
//! Nothing here reads a file, opens a connection, knows the time or keeps state; whoever is asked gives an answer, the
//! engine decides what becomes of it.
//!
//! INVARIANT (never-guess): a reflex accounts for every word of a request or says that it is beyond it.
//!
//! Start reading at [`Provider`], then [`Reflex`] and [`Worded`].

mod direct;
mod model;
mod reflex;
mod script;
mod tiers;
mod worded;

pub use direct::{Direct, DirectCall, DirectCalls};
pub use model::{
    Callable, Called, Calling, Completing, Completion, FINISH, Listen, Model, Piece, Place, Prompt, Quote,
    Role, Unheard,
};
pub use reflex::{GRAMMAR, Reflex};
pub use script::{Script, Sleep};
pub use tiers::Tiers;
pub use worded::{Moment, REPLY_BYTES, StandingInstructions, ToolText, Worded};

use std::pin::Pin;

use domain::ask::{Ask, Judgement, Opinion, Reply, Unanswered, Usage};

/// Whoever answers the engine's asks.
pub trait Provider: Send + Sync {
    fn ask(&self, ask: &Ask) -> Answer;

    /// Whether it may know another way once it is told that one did not work. Who does not is asked once, and what then
    /// fails has failed.
    fn knows_another_way(&self) -> bool {
        false
    }
}

/// What becomes of an ask.
pub enum Answer {
    /// It takes nobody outside: the same ask has the same answer, and costs nothing.
    Now(Reply),
    /// Somebody in this process has to be asked, and takes time. Nothing has left the machine before this is polled.
    Later(Later),
    /// Somebody outside this process has to be asked, which is a call like any other: it is decided about, what it may cost
    /// is reserved, and only then is it polled.
    Quoted(Quote, Later),
}

pub type Later = Pin<Box<dyn Future<Output = Heard> + Send>>;

/// What came back from somebody who was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub reply: Result<Reply, Unanswered>,
    pub usage: Usage,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Now(reply) => f.debug_tuple("Now").field(reply).finish(),
            Self::Later(_) => f.write_str("Later"),
            Self::Quoted(quote, _) => f.debug_tuple("Quoted").field(quote).finish_non_exhaustive(),
        }
    }
}

/// Who answers without a model judges nothing; the plans it makes need no judge.
fn no_judge(criteria: &[String]) -> Reply {
    let unclear = |_: &String| Judgement {
        verdict: Opinion::Unclear,
        failure_class: None,
        evidence: "nobody judged it".into(),
    };
    Reply::Judged(criteria.iter().map(unclear).collect())
}
