//! The terminal that the program runs on: questions and answers on it, and the person in front of it.

mod session;
pub(crate) mod tty;

pub(crate) use session::TerminalSession;
