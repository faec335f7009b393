//! The only door to side effects.
//!
//! A call goes through it in four steps, and each step needs what the one before it gives:
//!
//! 1. [`decide`](decide::decide) asks every layer; the strictest answer counts, and each one's word is kept.
//! 2. [`Prepared::enter`] puts the decision and the journal's `started` into a batch.
//! 3. The [`Receipt`](ledger::Receipt) of that very batch turns [`Pending`] into an [`Authorized`] call.
//! 4. [`Broker::execute`] gives it to the handler, which consumes it, and returns what is to be recorded.
//!
//! INVARIANT (one-door): a handler takes an `Authorized<Call>` by value, and only step 3 makes one. It cannot be
//! cloned, stored or made elsewhere, so skipping authority or the journal does not compile:
//!
//! ```compile_fail
//! # use broker::{Authorized, Handler}; use domain::call::Call;
//! async fn sneak(handler: &dyn Handler, call: Call) {
//!     handler.call(call).await; // a call that nobody authorised
//! }
//! ```
//! ```compile_fail
//! # use broker::Authorized; use domain::{Time, call::Call}; use ledger::records::ToolCall;
//! fn forge(call: Call, row: ToolCall, not_after: Time) -> Authorized<Call> {
//!     Authorized { call, row, not_after } // its fields are private
//! }
//! ```
//! ```compile_fail
//! # use broker::Authorized; use domain::call::Call;
//! fn twice(authorized: &Authorized<Call>) -> Authorized<Call> {
//!     authorized.clone() // it cannot be cloned
//! }
//! ```
//! ```compile_fail
//! # use broker::Authorized; use domain::call::Call;
//! fn keep(authorized: &Authorized<Call>) -> String {
//!     serde_json::to_string(authorized).unwrap() // it cannot be stored
//! }
//! ```
//! ```compile_fail
//! # use broker::{Authorized, Handler}; use domain::call::Call;
//! async fn again(handler: &dyn Handler, authorized: Authorized<Call>) {
//!     handler.call(authorized).await;
//!     handler.call(authorized).await; // it was consumed
//! }
//! ```
//! ```compile_fail
//! # use ledger::Receipt;
//! fn receipt() -> Receipt {
//!     Receipt { batch: domain::id::BatchId::from_bits(1) } // only the ledger makes one
//! }
//! ```
//! The same shapes, used as they are meant, compile:
//! ```
//! # use broker::{Authorized, Handler, NotCovered, Pending}; use domain::call::{Call, Outcome}; use ledger::Receipt;
//! async fn proper(handler: &dyn Handler, pending: Pending, receipt: &Receipt) -> Result<Outcome, NotCovered> {
//!     let authorized: Authorized<Call> = pending.authorize(receipt)?;
//!     Ok(handler.call(authorized).await)
//! }
//! ```
//!
//! It does not decide who somebody is (`policy`), does not know what a tool does (`tools`), and writes nothing by
//! itself: it puts records into the batch it is given.

pub mod decide;
mod door;
mod execute;
mod tool;

pub use decide::{Answer, Decision, Facts, Layer, Word};
pub use door::{Authorized, Context, NotCovered, Pending, Prepared, Refused};
pub use execute::{Asker, Broker, Finished};
pub use tool::{Handler, Level, Registry, ToolSpec};
