//! The vocabulary of Regent: one word per concept, as plain data.
//!
//! Every other crate speaks in these types. Nothing here decides, stores, fetches or waits: time comes
//! from a [`Clock`], ids from an [`IdSource`], and both are given by the edge of the program.
//!
//! INVARIANT (canonical): everything that is hashed or signed goes through [`canonical::bytes`], never
//! through `serde_json` directly, because the order of keys and the form of numbers must not depend on
//! which features another crate switched on.
//!
//! Start reading at [`event`] and [`task`]: an event comes in, a task is what it may lead to.

pub mod alias;
pub mod approval;
pub mod ask;
pub mod budget;
pub mod by;
pub mod call;
pub mod canonical;
pub mod change;
pub mod constitution;
pub mod criterion;
pub mod data;
pub mod digest;
pub mod event;
pub mod glob;
pub mod gradient;
pub mod id;
pub mod json;
pub mod limits;
pub mod megram;
pub mod principal;
pub mod probe;
pub mod problem;
pub mod recall;
pub mod source;
pub mod stop;
pub mod tags;
pub mod task;
pub mod tier;
pub mod time;
pub mod trust;
pub mod unseen;

/// The name of an empty file that marks a folder as a copy of an instance. File tools do not enter such a folder.
pub const BACKUP_MARK: &str = ".regent-backup";

pub use by::By;
pub use data::DataClass;
pub use digest::Digest;
pub use id::{Id, IdSource};
pub use source::{Source, Text};
pub use stop::Stop;
pub use tags::Tags;
pub use tier::Tier;
pub use time::{Clock, Time};
pub use trust::Trust;
pub use unseen::is_unseen;
