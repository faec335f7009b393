//! What happens next. The task machine takes one input at a time and returns effects as data; the runtime
//! performs them and feeds the results back as inputs, each of them durable before it is handled here.
//!
//! There is no clock, no I/O, no model and no lock in this crate. A crash is: fold the journal again and go on.
//!
//! The roles of the control loop (perceiver, planner, executor, validators, solver) are modules of one
//! machine. They hold no handle on each other: a role returns, the fold hands on, and every message is
//! part of the step it was said in. What is not here: memory itself, which is asked and told.
//!
//! Start reading at [`task::Task::handle`].

/// The number of the deciding code of this crate; every step names it. A test
/// (`the_deciding_code_is_what_its_number_says`) fails when that code changes; raise the number if a journal can fold to
/// anything else.
pub const RULES: u32 = 6;

pub mod check;
mod files;
pub mod ggs;
pub mod plan;
pub mod task;
