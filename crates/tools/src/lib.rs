//! The built-in tools: finding and reading files inside one workspace.
//!
//! [`files`] registers them with the broker, which alone may call them. Behind that, each tool is one function from a [`workspace::Workspace`] and typed arguments to a typed record, or to
//! the reason why there is none. They block, and look as long as there is something to look at: whoever
//! calls them gives them a thread and a time-out.
//!
//! Nothing here decides whether a call is allowed, writes to a file, starts a process or speaks to the
//! network. What is found in files is data; it is never run, and never made into a command line.
//!
//! INVARIANT (confined): nothing outside the workspace is listed or shown, see [`workspace`].
//! INVARIANT (honest-count): a limit shortens the list and never the count, and what could not be read
//! is said in the record.
//! INVARIANT (bounded): memory depends on the limits, not on how many or how large the files are.
//!
//! Start reading at [`files`] and [`find`], then [`workspace`]; the walk and the search are behind them.

mod find;
mod found;
mod glob;
mod handlers;
mod pattern;
mod read;
mod search;
mod tally;
#[cfg(test)]
mod testing;
mod text;
mod walk;
mod workspace;

pub use handlers::files;
pub use workspace::Workspace;
