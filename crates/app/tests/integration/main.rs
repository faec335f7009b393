//! Product tests: `App` in a test world (`testkit::World`). One binary for all of it: linking costs more than compiling.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests spawn, look at files and rows from outside, and fail loudly"
)]

mod admission;
mod approvals;
mod authority;
mod broker;
mod bus;
mod clocks;
mod complete;
mod constitution;
mod dialects;
mod duties;
mod events;
mod forget;
mod grants;
mod hostile;
mod instructions;
mod journey;
mod models;
mod operations;
mod pending;
mod people;
mod policies;
mod reflexes;
mod resume;
mod retention;
mod rules;
mod several;
mod the_loop;
mod undo;
mod unreadable;
mod use_cases;
mod vpol;
mod why;
