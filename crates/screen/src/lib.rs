//! What a text is, before a person or a model acts on it. Today: look-alikes. A look-alike is a value that a person takes for
//! another one, because it has letters of another script, characters without a shape, or an address that leads elsewhere.
//!
//! This crate does not display anything, does not decide whether a call is allowed and does not change a text. It has no I/O and
//! no state: every function takes values and returns findings.
//!
//! INVARIANT (findings-are-raw): a finding may quote the value that it is about. The caller escapes it before it is displayed.
//!
//! Start reading at [`find_look_alikes`].

mod look_alike;

pub use look_alike::{find_look_alikes, find_look_alikes_in_text, is_unusual_blank};
