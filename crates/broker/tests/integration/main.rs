//! The broker from outside, with a real ledger behind it. One binary for all of it: linking costs more than compiling.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails loudly")]

mod door;
mod episodes;
