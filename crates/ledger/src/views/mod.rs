//! The ways to read: one file per area, each a handful of questions with a name.

mod approvals;
mod audit;
mod authority;
mod bodies;
mod broker;
mod events;
mod ids;
mod open;
mod people;
mod tasks;

pub use audit::{AuditFindings, AuditScope};
pub use bodies::{Body, BodyReport};
pub use ids::Found;
