//! The services that every stage and every feature works with.

use std::sync::Arc;

use domain::id::{Id, Kind};
use domain::probe::Probe;
use domain::{Clock, IdSource, Time};
use ledger::{Batch, Ledger};

use crate::bus::Bus;
use crate::jobs::Timing;

/// Ledger, clock, ids and bus of this process.
#[derive(Clone)]
pub struct Services {
    pub ledger: Arc<Ledger>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub probe: Arc<dyn Probe>,
    pub timing: Timing,
    pub bus: Bus,
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services").field("timing", &self.timing).finish_non_exhaustive()
    }
}

impl Services {
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    #[must_use]
    pub fn id<K: Kind>(&self) -> Id<K> {
        Id::random(&*self.ids)
    }

    /// An id that begins with its date. People do not type such ids.
    #[must_use]
    pub fn dated_id<K: Kind>(&self) -> Id<K> {
        Id::dated(self.clock.now(), &*self.ids)
    }

    #[must_use]
    pub fn batch(&self) -> Batch {
        Batch::new(self.dated_id(), self.clock.now())
    }
}
