//! What is kept for good: records, the one way to write them, and the ways to read them back.
//!
//! There are no per-table write traits. [`Ledger::commit`] takes a [`Batch`] and writes all of it or none,
//! in one durable transaction that it shares with whatever other batches were waiting; the [`Receipt`] it
//! returns is the only proof that something is durable, and only this crate can make one.
//!
//! It does not know SQL (that is `ledger-sql`), does not decide anything, and never reads the clock.
//!
//! Invariants, cited where they are relied on: `batch-grows` (batch.rs), `spine` (records), `no-person` and
//! the chain's own (chain.rs), `receipt` (below).
//!
//! Start reading at [`store::apply`]: what a batch means, for every database.

pub mod audit_event;
pub mod authority;
pub mod batch;
pub mod chain;
mod committer;
#[cfg(feature = "conformance")]
pub mod conformance;
mod group;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "mutants")]
pub mod mutant;
mod problem;
pub mod query;
pub mod records;
#[cfg(feature = "conformance")]
pub mod sample;
mod sequence;
mod spend;
pub mod store;
pub mod table;
mod tail;
pub mod value;
mod views;

pub use audit_event::{AuditEvent, AuditEventKind};
pub use authority::Unverified;
pub use batch::{Batch, Refusal, Token};
pub use chain::{Entry, Seal, StreamVerdict, Verification};
pub use committer::{CommitError, Ledger, PendingCommit, Receipt};
pub use query::{Op, Select};
pub use sequence::CommitSequence;
pub use spend::Spend;
pub use store::{Applied, Outcome, Snapshot, Store, StoreError, Written};
pub use value::Ratio;
pub use views::{AuditFindings, AuditScope, Body, BodyReport, Found};
