//! The real binary under bad input: wrong words, wrong settings, wrong lines, a house in a bad state, a full disk,
//! Ctrl-C. Each error has its exit code and its R-code, says what to do, and leaves nothing half-written.

mod approvals;
mod audit;
mod database;
mod disk;
mod house;
mod ingest;
mod json;
mod models;
mod output;
mod policies;
mod recheck;
mod remedies;
mod settings;
mod signals;
mod together;
mod tools;
mod usage;
