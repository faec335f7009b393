//! The ways to read: one file per area, each a handful of questions with a name.

mod approvals;
mod audit;
mod bodies;
mod broker;
mod events;
mod ids;
mod open;
mod people;
mod tasks;

pub use bodies::Body;
pub use ids::Found;
