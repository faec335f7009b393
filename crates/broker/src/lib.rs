//! The only door to side effects.
//!
//! A call goes through it in four steps, and each step needs what the one before it gives:
//!
//! 1. [`Broker::authorize`] asks every layer; the strictest answer counts, and each one's word is kept. What comes back
//!    ([`Ruled`]) holds the call and the decision about it, and nothing else makes one.
//! 2. [`Prepared::enter`] puts the decision and the journal's `started` into a batch.
//! 3. The [`Receipt`](ledger::Receipt) of that very batch turns [`Pending`] into an [`Authorized`] call.
//! 4. [`Broker::execute`] gives it to the handler, which consumes it, and returns what is to be recorded.
//!
//! INVARIANT (one-door): a handler takes an `Authorized<Call>` by value, and only step 3 makes one. It cannot be
//! cloned, stored or made elsewhere, so skipping authority or the journal does not compile. `tests/ui/` holds each attempt with
//! the compiler's answer, and the proper way, which compiles; `cargo xtask test doc` compares.
//!
//! It does not decide who somebody is (`policy`), does not know what a tool does (`tools`), and writes nothing by
//! itself: it puts records into the batch it is given.

pub mod access;
pub use domain::alias;
mod asked;
mod broker;
pub mod budget;
pub mod decide;
mod decision_inputs;
mod door;
pub mod episode;
mod execute;
pub mod grant;

mod looked;
#[cfg(feature = "mutants")]
pub mod mutant;
pub mod question;
mod registration;
mod registry;
mod returned;
mod schema;
pub mod secrets;
mod tool;
mod validation;

pub use asked::{Asked, Asking};
pub use broker::{Broker, CallContext};
pub use decide::{Answer, DataLevel, Decision, DecisionView, Governed, Layer, Leave, Word};
pub use decision_inputs::{Decided, DecisionInputs};
pub use door::{Authorized, Context, NotCovered, Pending, Prepared, Refused, Ruled};
pub use execute::{Finished, Late};
pub use looked::{Difference, Looked, Sight};
pub use registration::Registration;
pub use registry::{NotRegistered, Registry};
pub use returned::{Artifact, Returned, Used};
pub use tool::{
    Author, Category, Cost, DataClass, ExecutionMode, Handler, HandlerType, Level, Reach, ToolSpec,
    ValidationMode,
};
pub use validation::{OfNow, Policies, Validation};
