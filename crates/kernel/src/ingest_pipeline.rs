//! Many events on their way to the disk at a time, told of in the order in which they came.
//!
//! A durable transaction takes as long for one event as for a hundred. So the next events are prepared and handed in while
//! the ones before are being written. Each batch follows the one before it ([`CommitSequence`]): if one is refused, because
//! another process met the same person at the same moment, so are all after it, and what is in flight is ingested again, one
//! by one. So no event overtakes another one, and a watermark never says more than there is.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use domain::event::Incoming;
use domain::problem::Problem;
use ledger::records::{Event, Place};
use ledger::table::Record as _;
use ledger::{CommitError, CommitSequence, PendingCommit, Refusal};

use crate::ingest::{self, EventParties, EventPlace, IngestedEvent};
use crate::kernel::Kernel;
use crate::parties::{self, Party};
use crate::services::Services;

/// Events that are on their way at a time.
const EVENTS: usize = domain::limits::EVENTS_IN_FLIGHT;
/// Bytes of their contents. One event is taken whatever its size is.
const BYTES: usize = domain::limits::BYTES_IN_FLIGHT;

/// Takes events in, in order.
#[derive(Debug)]
pub struct IngestPipeline<'k> {
    kernel: &'k Kernel,
    window: Option<Window>,
    in_flight: VecDeque<InFlight>,
    bytes: usize,
    /// A batch was refused: no event is taken before the ones in flight are through.
    is_draining: bool,
}

/// What holds for a while. It is looked up again after as many events as may be in flight, or as soon as none is.
#[derive(Debug)]
struct Window {
    services: Services,
    sequence: CommitSequence,
    events: usize,
    /// By platform and address.
    senders: Known<(String, String), Party>,
    /// By platform, account and container.
    places: Known<(String, Option<String>, Option<String>), EventPlace>,
}

#[derive(Debug)]
struct InFlight {
    incoming: Incoming,
    parties: EventParties,
    event: Event,
    commit: PendingCommit,
}

impl<'k> IngestPipeline<'k> {
    #[must_use]
    pub const fn new(kernel: &'k Kernel) -> Self {
        Self { kernel, window: None, in_flight: VecDeque::new(), bytes: 0, is_draining: false }
    }

    /// Whether another event may be taken before the oldest one is reported.
    #[must_use]
    pub fn has_room(&self) -> bool {
        !self.is_draining && self.in_flight.len() < EVENTS && self.bytes < BYTES
    }

    /// Prepares an event and hands it in.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn take(&mut self, incoming: Incoming) -> Result<(), Problem> {
        let key = incoming.key();
        let window = match self.window.take() {
            Some(window) if window.events < EVENTS => self.window.insert(window),
            before => {
                let services = self.kernel.services().await?;
                self.window.insert(Window::after(before, services))
            }
        };
        let sender = window.sender(&incoming).await?;
        let place = window.place(&incoming).await?;
        let parties = EventParties { sender, agent: None, driver: None };
        let services = &window.services;
        let mut batch = services.batch();
        let event = ingest::enter(services, &incoming, &key, &parties, &place, &mut batch)?;
        if !place.is_new {
            batch.expect_present::<Place>("id", &place.place.id); // the event that was to write it may be refused
        }
        batch.follow(&window.sequence);
        let commit = services.ledger.submit(batch).await?;
        window.events += 1;
        self.bytes += incoming.content.len();
        self.in_flight.push_back(InFlight { incoming, parties, event, commit });
        Ok(())
    }

    /// Waits until the oldest event is decided. It may be dropped and called again.
    pub async fn decided(&mut self) {
        match self.in_flight.front_mut() {
            Some(oldest) => oldest.commit.decided().await,
            None => std::future::pending().await,
        }
    }

    /// The oldest event, once it is durable; `None` if none is in flight.
    ///
    /// # Errors
    /// If the ledger fails. Then nothing is known of the ones after it.
    pub async fn next(&mut self) -> Result<Option<(Incoming, IngestedEvent)>, Problem> {
        let Some(oldest) = self.in_flight.pop_front() else { return Ok(None) };
        let InFlight { incoming, parties, event, commit } = oldest;
        self.bytes = self.bytes.saturating_sub(incoming.content.len());
        let ingested = match commit.receipt().await {
            Ok(_durable) => IngestedEvent { event, new: Some(parties) },
            Err(CommitError::Refused(refusal)) if ingest::may_pass(&refusal) => {
                // A repeat does not break the sequence.
                self.is_draining |= !matches!(refusal, Refusal::Present { .. });
                self.ingest_again(&incoming, &event.key, &refusal).await?
            }
            Err(error) => return Err(error.into()),
        };
        if self.in_flight.is_empty() {
            (self.window, self.is_draining) = (None, false);
        }
        Ok(Some((incoming, ingested)))
    }

    async fn ingest_again(
        &self,
        incoming: &Incoming,
        key: &str,
        refusal: &Refusal,
    ) -> Result<IngestedEvent, Problem> {
        let services = self.kernel.services().await?;
        if matches!(refusal, Refusal::Present { table, .. } if *table == Event::TABLE.name)
            && let Some(event) = services.ledger.event_by_key(key).await?
        {
            return Ok(IngestedEvent { event, new: None });
        }
        let parties = async || {
            let sender = parties::sender(&services, incoming.platform(), &incoming.sender).await?;
            Ok(EventParties { sender, agent: None, driver: None })
        };
        ingest::ingest(&services, incoming, parties).await
    }
}

impl Window {
    /// What earlier events in flight write for the first time is known still: no reader finds it yet.
    fn after(before: Option<Self>, services: Services) -> Self {
        let Some(mut before) = before else {
            let (senders, places) = (Known::default(), Known::default());
            return Self { services, sequence: CommitSequence::new(), events: 0, senders, places };
        };
        before.senders.age();
        before.places.age();
        Self { services, events: 0, ..before }
    }

    async fn sender(&mut self, incoming: &Incoming) -> Result<Party, Problem> {
        let key = (incoming.platform().to_owned(), incoming.sender.clone());
        if let Some(known) = self.senders.get(&key) {
            return Ok(known.clone());
        }
        let sender = parties::sender(&self.services, &key.0, &key.1).await?;
        self.senders.insert(key, sender.as_written(), sender.is_new());
        Ok(sender)
    }

    async fn place(&mut self, incoming: &Incoming) -> Result<EventPlace, Problem> {
        let key = (incoming.platform().to_owned(), incoming.account.clone(), incoming.container_id.clone());
        if let Some(known) = self.places.get(&key) {
            return Ok(known.clone());
        }
        let place = ingest::find_place(&self.services, incoming).await?;
        self.places.insert(key, EventPlace { is_new: false, ..place.clone() }, place.is_new);
        Ok(place)
    }
}

/// What was looked up in this window, and what was new in it or in the one before: that may be in flight still.
#[derive(Debug)]
struct Known<K, V> {
    values: HashMap<K, V>,
    /// For how many more windows it is kept.
    new: HashMap<K, u8>,
}

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Self { values: HashMap::new(), new: HashMap::new() }
    }
}

impl<K: Eq + Hash + Clone, V> Known<K, V> {
    fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key)
    }

    fn insert(&mut self, key: K, value: V, is_new: bool) {
        if is_new {
            self.new.insert(key.clone(), 2);
        }
        self.values.insert(key, value);
    }

    /// A window is over. As many events as one has may be in flight, so what was new two windows ago is written.
    fn age(&mut self) {
        self.new.retain(|_, windows| {
            *windows -= 1;
            *windows > 0
        });
        self.values.retain(|key, _| self.new.contains_key(key));
    }
}
