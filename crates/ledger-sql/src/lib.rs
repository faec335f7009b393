//! The databases behind the ledger: SQLite and PostgreSQL, behind the same port.
//!
//! It knows tables only through [`ledger::table::Table`]: a new kind of record is one file in `ledger` and one
//! migration here, which [`schema`] writes, and no code. It decides nothing and opens no file but the database it was given.
//!
//! Start reading at [`SqliteStore::open`].

mod migrations;
mod postgres;
pub mod schema;
mod sql;
mod sqlite;
mod tally;

pub use postgres::{ConnectionDefaults, PostgresHold, PostgresStore, complete_url};
pub use sqlite::{Hold, SqliteStore};
pub use tally::{Head, Tally};
