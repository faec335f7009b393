//! The journey of one event: ingest it, admit it, drive its task, deliver the answer. Beside that the kernel keeps the
//! journal, the leases and the bus, and runs the background jobs.
//!
//! It has no use cases: features (crate `app`) use the kernel, and surfaces use the features. It never reads the clock,
//! the environment or a file: the composition root gives it a [`Host`], a clock and a source of ids. It knows no
//! terminal and calls no surface, except to deliver an answer through [`Surface`]; a surface that wants to see progress
//! subscribes to the [`Bus`].
//!
//! INVARIANT (durable-first): everything is durable before anything acts on it.
//!
//! Start reading at [`Kernel::run`] in `run/mod.rs`, then `drive/mod.rs`.

pub mod admit;
pub mod approvals;
mod ask_model;
mod bus;
pub mod clock;
mod deliver;
mod drive;
mod halt;
mod host;
mod ids;
pub mod ingest;
mod ingest_pipeline;
pub mod jobs;
pub mod journal;
mod kernel;
mod lease;
pub mod parties;
pub mod people_revision;
mod policies;
mod run;
mod services;
mod tool_set;
mod validation;

pub use admit::task_of;
pub use ask_model::ASK_MODEL;
pub use bus::{Bus, DisplayEvent, JournalTap, ModelDelta, PublishedStep, StepFeed, TappedLine, TappedStep};
pub use deliver::Surface;
pub use domain::problem::{CODES, Code, Problem, page};
pub use drive::{DriveOutcome, DryRun, PlannedCall, PlannedSubtask, ruling};
pub use host::{Host, OsUser, RunSettings};
pub use ingest::{EventParties, IngestedEvent};
pub use ingest_pipeline::IngestPipeline;
pub use jobs::{JobReport, JobState, Timing};
pub use kernel::{Kernel, KernelParts};
pub use lease::TaskLease;
pub use policies::{PoliciesInForce, PolicySource};
pub use run::{
    DIRECT_CALL, ModelOptions, ModelSource, NoModels, RunRequest, TaskResult, UNDO_CLASS, UNDO_INTENT,
    Unshown, WaitMode, check_request, check_workspace, is_undo, order_instructions,
};
pub use services::Services;
pub use tool_set::ToolSet;
pub use validation::{read_body, read_vpol};
