//! The store in memory, and mutants of it. One binary for all of it.

#![expect(clippy::expect_used, reason = "a test fails loudly")]

mod audit_event;
mod authority;
mod memory;
mod mutants;
mod spending;
