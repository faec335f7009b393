//! Events as they are taken in: the event, its origin, its body, its audit entry, the batch; 64 writers at once, each
//! waiting for its own to be durable before it goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use domain::event::{ContainerKind, Direction};
use domain::id::{BatchId, Id, IdentityId, Kind, NodeId, PlaceId};
use domain::probe::Silent;
use domain::{Digest, IdSource, Time};
use ledger::records::{Blob, Event, Origin, Salt, SaltBytes};
use ledger::value::Seq;
use ledger::{Batch, Entry, Ledger, Seal, Store};
use serde_json::json;

use super::{TOGETHER, content, key};

pub(super) struct Ours {
    ledger: Arc<Ledger>,
    next: u64,
}

pub(super) struct Written {
    pub(super) per_transaction: f64,
    pub(super) p99: Duration,
}

struct Numbered(u64);

impl IdSource for Numbered {
    fn bits(&self) -> u128 {
        let digest = Digest::of(&self.0.to_be_bytes());
        digest.as_bytes().iter().take(16).fold(0, |bits, byte| (bits << 8) | u128::from(*byte))
    }
}

impl Ours {
    pub(super) async fn begin(store: Arc<dyn Store>) -> Self {
        let seal = Seal::for_tests(NodeId::from_bits(1), [7; 32]);
        let ledger = Arc::new(Ledger::start(store, seal, Arc::new(Silent)));
        let mut first = Batch::new(BatchId::from_bits(1), at(0));
        first.put(&salt()).audit(entry("house.begun", "house", json!({}), 0));
        ledger.commit(first).await.expect("durable");
        Self { ledger, next: 0 }
    }

    pub(super) const fn count(&self) -> u64 {
        self.next
    }

    pub(super) async fn write(&mut self, count: u64) -> Written {
        let (barriers, end) = (self.ledger.barriers(), self.next + count);
        let next = Arc::new(AtomicU64::new(self.next));
        let mut writers = tokio::task::JoinSet::new();
        for _ in 0..TOGETHER {
            let (ledger, next) = (Arc::clone(&self.ledger), Arc::clone(&next));
            writers.spawn(async move {
                let mut waited = Vec::new();
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= end {
                        return waited;
                    }
                    let started = Instant::now();
                    ledger.commit(batch(n)).await.expect("durable");
                    waited.push(started.elapsed());
                }
            });
        }
        let mut waited: Vec<Duration> = writers.join_all().await.concat();
        waited.sort_unstable();
        self.next = end;
        let transactions = self.ledger.barriers() - barriers;
        Written {
            per_transaction: count as f64 / transactions.max(1) as f64,
            p99: waited.get(waited.len() * 99 / 100).copied().unwrap_or_default(),
        }
    }

    /// Every event is there, each once, in a chain that holds.
    pub(super) async fn check(&self) -> String {
        let (mut seen, mut after) = (0_u64, 0_i64);
        let mut keys = std::collections::HashSet::new();
        loop {
            let page = self.ledger.events_after(after, 10_000).await.expect("events");
            let Some(last) = page.last() else { break };
            after = last.seq.0.unwrap_or(i64::MAX);
            seen += page.len() as u64;
            keys.extend(page.into_iter().map(|event| event.key));
        }
        let wanted = (0..self.next).all(|n| keys.contains(&key(n)));
        let started = Instant::now();
        let verification = self.ledger.verify_audit().await.expect("readable");
        let entries: u64 = verification.streams.iter().map(|stream| stream.entries).sum();
        if seen != self.next || !wanted || !verification.is_consistent() {
            panic!("{seen} of {} events, all wanted: {wanted}, chain: {verification:?}", self.next);
        }
        let rate = entries as f64 / started.elapsed().as_secs_f64();
        format!("none lost, none doubled; the chain of {entries} entries holds ({rate:.0} entries/s)")
    }
}

fn at(n: u64) -> Time {
    Time::from_micros(1_800_000_000_000_000 + i64::try_from(n).expect("small") * 100)
}

fn salt() -> Salt {
    Salt { person: "somebody".into(), salt: SaltBytes::new(Digest::of(b"salt")) }
}

fn dated<K: Kind>(n: u64, what: u64) -> Id<K> {
    Id::dated(at(n), &Numbered(n * 4 + what))
}

fn entry(kind: &str, subject: &str, detail: serde_json::Value, n: u64) -> Entry {
    Entry {
        at: at(n),
        kind: kind.into(),
        actor: "adapter:mail".into(),
        subject: subject.into(),
        trust: None,
        origin_id: Some(dated(n, 1)),
        reason_id: None,
        vpol_id: None,
        detail,
    }
}

fn batch(n: u64) -> Batch {
    let body = Blob::personal(content(n).into_bytes(), &salt());
    let key = key(n);
    let event = Event {
        seq: Seq(None),
        id: Event::id_of(&key),
        key,
        adapter: "mail".into(),
        platform: "mail".into(),
        container_kind: ContainerKind::Dm,
        place: PlaceId::from_bits(1),
        sender: IdentityId::from_bits(1),
        direction: Direction::In,
        body: body.hash,
        content_type: "text/plain".into(),
        metadata: None,
        occurred_at: at(n),
        received_at: at(n),
        origin_id: dated(n, 1),
        answers: None,
    };
    let origin =
        Origin { id: event.origin_id, origin_type: "message".into(), source_ref: event.id, timestamp: at(n) };
    let detail = json!({ "body": event.body, "sender": event.sender, "place": event.place });
    let mut batch = Batch::new(dated(n, 0), at(n));
    batch.put(&body).put(&origin).put(&event).expect_absent::<Event>("id", &event.id);
    batch.audit(entry("event.received", &event.id.to_string(), detail, n));
    batch
}
