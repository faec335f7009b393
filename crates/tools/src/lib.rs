//! The built-in tools: finding, reading, writing and deleting files inside one workspace; tables; arithmetic.
//!
//! [`builtin`] registers them with the broker, which alone may call them. Behind that, each tool is one function
//! from a [`workspace::Workspace`], typed arguments and a word to stop, to a typed record or the reason why there
//! is none. They block, and look as long as there is something to look at: whoever calls them gives them a
//! thread and a time-out, and tells them to stop when it is over.
//!
//! | module | tool | |
//! |---|---|---|
//! | [`find`], [`glob`], [`read`], [`hash`] | `find_files`, `glob`, `read_file`, `hash` | read |
//! | [`write`], [`edit`], [`delete`] | `write_file`, `edit_file`, `delete_file` | change one file |
//! | [`delete_files`], [`copy_files`], [`move_files`] | the same | change several files |
//! | [`put_back`] | `put_back` | puts back what one of those changed, by the owner's hand |
//! | [`table`] | `table_columns`, `table_stats`, `table_groups` | read |
//! | [`calc`] | `calc` | touches nothing |
//!
//! Nothing here decides whether a call is allowed, starts a process or speaks to the network. Nothing is
//! written or moved through a link. Only [`put_back`] makes a link, gives rights, and takes away a
//! folder, which has to be empty. What is found in files is data; it is never run, and never made into a command
//! line.
//!
//! INVARIANT (confined): nothing outside the workspace is listed, shown or changed, whoever moves things about
//! meanwhile, see [`workspace`] and [`confined`]. What that does not cover is said there too.
//! INVARIANT (whole): a file has its old content or its new one, never a part, see [`staged`].
//! INVARIANT (stopped): after a stop nothing is put in place, moved or deleted.
//! INVARIANT (honest-count): a limit shortens the list and never the count, and what could not be read
//! is said in the record.
//! INVARIANT (bounded): memory depends on the limits, not on how many or how large the files are.
//!
//! Start reading at [`builtin`] and [`find`], then [`workspace`] and [`confined`]. Behind `find` stand [`places`] (where),
//! [`wanted`] and [`search`] (which), the generic [`walk`], [`gather`], which asks the one about what the other comes
//! across, and [`tally`], which counts. For what writes: [`write`], then [`staged`]; for what changes several names,
//! [`several`]. What is
//! looked at before a call stands in [`standing`], how it is compared in [`expected`].

#[cfg(feature = "bench")]
pub mod bench;
mod bytes;
mod calc;
mod confined;
mod copy_files;
mod delete;
mod delete_files;
mod diff;
mod edit;
mod expected;
mod find;
mod found;
mod gather;
mod glob;
mod handlers;
mod hash;
mod house;
mod leftovers;
mod lines;
mod move_files;
mod names;
mod needle;
mod pairs;
mod pattern;
mod places;
mod put_back;
mod queue;
#[cfg(test)]
mod races;
mod read;
mod rules;
#[cfg(test)]
mod schemas;
mod search;
mod several;
mod staged;
mod standing;
mod stopping;
mod table;
mod tally;
#[cfg(test)]
mod testing;
mod text;
mod walk;
mod wanted;
mod way;
mod workspace;
mod write;

pub use handlers::builtin;
pub use put_back::{Kept, add_put_back};
pub use workspace::Workspace;
