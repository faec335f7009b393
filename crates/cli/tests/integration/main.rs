//! The real binary as a process. One binary for all of it: linking costs more than compiling.
//!
//! `process`, `world`, `sql`, `mount`, `search` and `terminal` are what the tests share.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests of the binary: they start processes, look at files, and say why they skip"
)]

mod another_user;
mod bad_input;
#[cfg(feature = "faults")]
mod display;
mod documents;
#[cfg(feature = "faults")]
mod failpoints;
mod forget;
mod hostile_model;
mod keeping;
#[cfg(feature = "faults")]
mod kill;
#[cfg(feature = "faults")]
mod kill_forget;
#[cfg(feature = "faults")]
mod kill_loop;
mod logging;
mod mount;
mod pending;
mod postgres;
mod postgres_client;
mod process;
mod prompt;
mod search;
mod sql;
#[cfg(feature = "faults")]
mod stale;
mod stranger;
mod terminal;
mod transcripts;
mod world;
