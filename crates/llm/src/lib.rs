//! Providers: whoever answers what the engine asks in types. For now one, the [`Reflex`], which needs no
//! model.
//!
//! Nothing here reads a file, opens a connection or keeps state; whoever is asked gives an answer, the
//! engine decides what becomes of it.
//!
//! INVARIANT (never-guess): a reflex accounts for every word of a request or says that it is beyond it.
//!
//! Start reading at [`Reflex::answer`].

mod reflex;

pub use reflex::Reflex;
