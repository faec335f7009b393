//! The record: what happened, why, whether it holds. `why`, recheck, verify, export and anchor of the audit, replay, events.

mod audit;
mod events;
mod recheck;
mod replay;
mod why;

pub use audit::{
    AnchorAudit, Anchored, AuditEntryList, AuditLine, AuditReport, AuditVerification, Check, ExportAudit,
    GROUP as AUDIT, ListAuditEntries, StreamReport, VerifyAudit,
};
pub use events::{
    BadLine, EventLine, EventList, EventPipeline, Events, GROUP as EVENTS, IngestEvents, ListEvents,
    ListWatermarks, Receipt, WatermarkLine, WatermarkList,
};
pub use recheck::{Again, Difference, Line, Rechecked};
pub use replay::{Played, PlayedStep, ReplayTask, TaskReplay};
pub use why::{Branch, OriginLine, OriginTrace, PolicyLine, Proof, ReasonLine, TraceOrigin, Why, render_why};

use kernel::{Code, Problem};

use crate::App;
use crate::operation::{OperationEntry, OperationGroup};

/// The commands of one word.
pub const COMMANDS: OperationGroup =
    OperationGroup::of_one_word(&[OperationEntry::of::<ReplayTask>(), OperationEntry::of::<TraceOrigin>()]);

/// How many characters of what was found are shown.
const FOUND_WIDTH: usize = 110;

/// What was recorded does not follow from its inputs any more.
fn differs(code: Code, what: &str) -> Problem {
    Problem::new(code, format!("{what} from what was recorded, although the rules are the same"))
        .safe("nothing was changed; a copy of the data folder is the evidence")
        .remedy("regent audit verify")
}

/// The record of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub(crate) app: &'a App,
}
