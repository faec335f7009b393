//! Decisions made again from what was recorded, and compared with what was decided then.
//!
//! Pure: [`recheck`] takes a chain as it was found in the ledger and says of each thing in it whether the same comes out
//! today. Three questions are asked of everything, where they apply: does the body still have the digest that the row
//! names, does the row say what the audit says, and does the decision follow from what it was made from. Where other
//! rules decided then, a difference is not held against the record, and is said all the same.
//!
//! `chain.rs` reads the chain from the ledger.

mod admission;
mod calls;
mod chain;
mod journal;
mod look;

use broker::{Decided, ToolSpec};
use domain::id::VpolId;
use engine::task::Step;
use ledger::AuditEventKind;
use ledger::records::{Access, AgentTask, Event, Origin, Reason, Salt, TaskStep, ToolCall};
use policy::acl::PolicySet;
use policy::admit::Admitted;
use policy::vpol::{Vpol, VpolSet};
use serde::Serialize;

/// A body that a row names, as it was found.
#[derive(Clone, Debug)]
pub(crate) enum Kept<T> {
    There(T),
    /// It, or the salt of the person whose it is, was erased.
    Gone,
    /// There is something, and it is not what its name says.
    Changed,
    /// It is what its name says, and nothing that this program can read.
    Unreadable(String),
}

/// Everything that was recorded from one origin on.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) origin: Option<Origin>,
    pub(crate) event: Event,
    pub(crate) request: Kept<String>,
    /// Of the person whose chain it is; nothing if it was erased.
    pub(crate) salt: Option<Salt>,
    /// The decisions about the event: one, and one more where the owner was asked.
    pub(crate) admissions: Vec<Judged>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) task: Option<AgentTask>,
    pub(crate) steps: Vec<(TaskStep, Kept<Step>)>,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) calls: Vec<Called>,
    /// Events that answer the first one.
    pub(crate) answers: Vec<Event>,
    pub(crate) audit: Vec<ledger::Entry>,
    /// What is wrong with the audit itself, if anything is.
    pub(crate) fault: Option<String>,
}

/// A decision about the event, and the policies that it names.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) row: Access,
    pub(crate) body: Kept<Admitted>,
    /// Nothing where it names none.
    pub(crate) sets: Option<(Kept<PolicySet>, Kept<VpolSet>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Policy {
    pub(crate) id: VpolId,
    pub(crate) row: Option<ledger::records::Vpol>,
    pub(crate) rules: Kept<Vpol>,
}

/// A call with its decision, and the bodies that the decision names.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) row: ToolCall,
    pub(crate) decided: Kept<Decided>,
    pub(crate) tool: Kept<ToolSpec>,
    pub(crate) request: Kept<String>,
    /// The policy of that moment, where it was another than the chain's.
    pub(crate) of_now: Option<Kept<Vpol>>,
}

/// What came of making everything in a chain again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rechecked {
    /// Whether nothing differs that the same rules decided.
    pub holds: bool,
    pub lines: Vec<Line>,
}

impl Rechecked {
    pub fn count(&self, which: impl Fn(&Again) -> bool) -> usize {
        self.lines.iter().filter(|line| which(&line.again)).count()
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// `admission`, `policy`, `journal`, `checks`, `call` …
    pub what: &'static str,
    pub id: String,
    /// The id as short as it can be typed; empty until somebody reads it.
    #[serde(skip)]
    pub short: String,
    /// The tool, for a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(flatten)]
    pub again: Again,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "again", rename_all = "snake_case")]
pub enum Again {
    Same,
    Differs(Difference),
    /// What it was made from was erased.
    Erased,
    /// It was recorded before what it was made from was kept.
    Unkept,
    /// Other code decided then: what it says today, beside what it said.
    OtherRules {
        rules_then: Option<u32>,
        rules_now: u32,
        differs: Option<Difference>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub field: String,
    pub then: String,
    pub now: String,
}

impl Again {
    /// A difference that nothing excuses: something was changed, or there is a fault in the program.
    #[must_use]
    pub const fn is_held_against(&self) -> bool {
        matches!(self, Self::Differs(_))
    }
}

/// Makes every decision of a chain again.
pub(crate) fn recheck(chain: &Chain) -> Rechecked {
    let mut lines = admission::event(chain);
    lines.extend(admission::admissions(chain));
    lines.extend(chain.policies.iter().flat_map(admission::policy));
    let (replayed, found) = journal::journal(chain);
    lines.extend(found);
    lines.extend(calls::calls(chain, replayed.as_ref()));
    lines.extend(journal::checks(chain, replayed.as_ref()));
    lines.extend(journal::answer(chain, replayed.as_ref()));
    lines.extend(journal::task(chain, replayed.as_ref()));
    lines.extend(admission::audit(chain));
    Rechecked { holds: !lines.iter().any(|line| line.again.is_held_against()), lines }
}

impl Chain {
    /// The newest audit entry of these kinds about this.
    fn entry(&self, subject: &str, kinds: &[AuditEventKind]) -> Option<&ledger::Entry> {
        let is_one = |kind: &str| kinds.iter().any(|one| one.name() == kind);
        self.audit.iter().rfind(|entry| entry.subject == subject && is_one(&entry.kind))
    }
}
