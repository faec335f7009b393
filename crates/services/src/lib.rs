//! For tests: starts real services on loopback, in a temporary folder, and stops them by their process id. PostgreSQL now.
//!
//! Nothing here installs anything: `cargo xtask test` does, and starts the servers that many tests share. A server belongs to
//! the process that started it and never outlives it, not even when that process is killed (`folder.rs`). The clusters of the
//! system are neither used nor touched.
//!
//! Start reading at `postgres.rs` (a server of one's own) and `shared.rs` (one that is shared). `scale.rs` says how much the tests are to play.

#![expect(
    clippy::disallowed_methods,
    reason = "a tool for tests: it starts processes, waits for them and writes into a temporary folder"
)]

mod account;
mod address;
mod flavour;
mod folder;
mod postgres;
#[cfg(test)]
mod postgres_tests;
mod random;
mod scale;
mod shared;

pub use address::Address;
pub use flavour::{Flavour, PGSERVER, POSTGRES_14, Package, home};
pub use postgres::{FAST, Postgres, Stop};
pub use scale::{FULL, is_full, stride};
pub use shared::{shared, start_shared};
