//! What all policy files have in common: YAML with places, all mistakes at once, names, priorities and examples. What an
//! entry says is read by whoever's entry it is ([`crate::acl::load()`], [`crate::vpol::load()`]).

mod desk;
pub(crate) mod entry;
mod files;
pub mod limits;
mod mistake;
mod names;
pub(crate) mod nearest;
mod tree;

pub(crate) use desk::{Desk, Fields, Globs, shown};
pub(crate) use files::{Entry, Files, Read};
pub use files::{Origin, Source};
pub use mistake::{Mistake, Mistakes, Note, Noted, Place, Wrong};
pub use names::may_name;
pub(crate) use tree::{Node, Value};
