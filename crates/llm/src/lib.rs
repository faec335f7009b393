//! Providers: whoever answers what the engine asks in types. For now two that need no model: the [`Reflex`], and
//! [`Direct`] for calls that the owner asks for by name.
//!
//! Nothing here reads a file, opens a connection or keeps state; whoever is asked gives an answer, the
//! engine decides what becomes of it.
//!
//! INVARIANT (never-guess): a reflex accounts for every word of a request or says that it is beyond it.
//!
//! Start reading at [`Reflex::answer`].

mod direct;
mod reflex;

pub use direct::{Direct, DirectCall, DirectCalls};
pub use reflex::Reflex;

use domain::ask::{Ask, Reply};

/// Whoever answers the engine's asks. Total: every ask gets the reply of its kind.
pub trait Provider: Send + Sync {
    fn answer(&self, ask: &Ask) -> Reply;
}
