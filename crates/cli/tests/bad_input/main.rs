//! The real binary under bad input: wrong words, wrong settings, wrong lines, a house in a bad state, a full disk,
//! Ctrl-C. Each error has its exit code and its R-code, says what to do, and leaves nothing half-written.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests of the binary: they start processes, look at files, and say why they skip"
)]

mod approvals;
mod audit;
mod database;
mod disk;
mod house;
mod ingest;
mod json;
mod models;
mod mount;
mod output;
mod policies;
mod process;
mod recheck;
mod remedies;
mod settings;
mod signals;
mod sql;
mod together;
mod tools;
mod usage;
mod world;
