//! The record: what happened, why, whether it holds. `why`, recheck, verify, export and anchor of the audit, replay, events.

mod audit;
mod events;
mod recheck;
mod replay;
mod why;

pub use audit::{Anchored, AuditLine, AuditReport, Check, StreamReport};
pub use events::{BadLine, EventLine, Events, Receipt, WatermarkLine};
pub use recheck::{Again, Difference, Line, Rechecked};
pub use replay::{Played, PlayedStep};
pub use why::{Branch, OriginLine, PolicyLine, Proof, ReasonLine, Why, render_why};

use crate::App;

/// The record of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub(crate) app: &'a App,
}
