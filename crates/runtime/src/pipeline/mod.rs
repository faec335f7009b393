//! The journey of an event, one file per stage, in order:
//!
//! `ingest` (written down before anything else looks at it) → `admit` (who, whether, how far) → `drive` (the engine
//! decides, the broker executes, the criteria are checked) → `deliver` (the answer goes back through the same door).
//!
//! `people`, `linking` and `journal` are what the stages share: whose words these are, whose an address is, and how a step is
//! written down.

mod admit;
pub(crate) mod approve;
mod asking;
mod authority;
mod deliver;
mod drive;
mod driving;
mod ingest;
mod journal;
pub(crate) mod knock;
pub(crate) mod linking;
mod people;
mod unread;
mod validation;

pub(crate) use asking::{ASK_MODEL, AskModel};
pub use deliver::Surface;
pub use drive::Watch;

pub(crate) use admit::{Sitting, Turn, admission, enter, facts, facts_of_nobody, task_of, webhook};
pub(crate) use authority::{Authority, Rights};
pub(crate) use deliver::Deliver;
pub(crate) use drive::{Basis, Claim, Driver, Ended, FIRST_EPOCH, Ground, Held, Setting, question, ruling};
pub use drive::{Foreseen, Planned, Rehearsal};
pub(crate) use driving::{Driven, Driving};
pub(crate) use ingest::{Cast, Ingested, draft, ingest};
pub(crate) use journal::{
    JournalStep, fold, load, load_each, load_readable, never_begun, projection, queued, step_of,
};
pub(crate) use ledger::chain::Trail;
pub use linking::Surety;
pub(crate) use people::{Person, agent, owner, sender};
pub(crate) use unread::end_unread;
pub(crate) use validation::{body, kept};

use std::sync::Arc;

use domain::id::{Id, Kind};
use domain::probe::Probe;
use domain::{Clock, IdSource, Time};
use ledger::{Batch, Ledger};

use crate::bus::Bus;
use crate::duties::Pace;

/// What every stage works with.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) probe: Arc<dyn Probe>,
    pub(crate) pace: Pace,
    pub(crate) bus: Bus,
}

impl Desk {
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    pub(crate) fn id<K: Kind>(&self) -> Id<K> {
        Id::random(&*self.ids)
    }

    /// An id that nobody types.
    pub(crate) fn dated_id<K: Kind>(&self) -> Id<K> {
        Id::dated(self.clock.now(), &*self.ids)
    }

    pub(crate) fn batch(&self) -> Batch {
        Batch::new(self.dated_id(), self.clock.now())
    }
}
