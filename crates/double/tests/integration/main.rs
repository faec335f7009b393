//! The fake provider server from outside: a client that reads bytes. One binary for all of it.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests start the program, read files, measure time, and fail loudly"
)]

mod asked;
mod common;
mod faults;
mod program;
mod said;
