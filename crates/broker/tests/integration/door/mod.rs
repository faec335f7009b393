//! The door, with a real ledger behind it: what opens it, what does not, and what comes out.

mod again;
mod budgets;
mod opening;
mod registering;
mod running;
mod secrets;
mod world;
