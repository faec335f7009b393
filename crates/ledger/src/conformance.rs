//! What every store must do. `ledger` runs it on the in-memory store, `ledger-sql` on each database.

#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "this is a test suite")]
mod bodies;
mod records;
pub mod spending;

use std::sync::Arc;

use domain::event::{ContainerKind, Direction};
use domain::id::{BatchId, EventId, IdentityId, NodeId, OriginId, PlaceId, Prefix, TaskId};
use domain::probe::{Probe, Silent};
use domain::{Digest, Time};

use crate::chain::{Fault, MemoryVault, Pinned, Vault, Word};
use crate::records::{AuditEntry, AuditHead, Blob, Event, Identity, Lease, Salt, SaltBytes, TaskStep};
use crate::store::Outcome;
use crate::value::{Ref, Row, Seq};
use crate::{
    AuditScope, Batch, CommitError, CommitSequence, Entry, Found, Ledger, Op, Refusal, Seal, Select, Store,
    Written,
};

const STREAM: NodeId = NodeId::from_bits(1);

/// Runs every case, each on a fresh store.
pub async fn run<S: AsyncFn() -> Arc<dyn Store>>(fresh: S) {
    macro_rules! cases {
        ($($case:path),+ $(,)?) => {$(
            let store = fresh().await;
            $case(Ledger::start(Arc::clone(&store), seal(), Arc::new(Silent)), store).await;
        )+};
    }
    cases!(
        a_refused_batch_leaves_no_trace,
        the_same_batch_twice_is_written_once,
        a_refused_batch_harms_no_other_in_its_group,
        the_same_event_key_is_refused,
        a_row_is_written_once_kept_or_replaced,
        the_last_of_two_projections_in_a_batch_stands,
        sequence_numbers_rise_in_commit_order,
        a_stale_fence_writes_nothing,
        the_chain_goes_on_across_batches,
        a_tail_that_was_moved_heals_and_is_named_for_ever,
        an_older_state_that_was_put_back_is_found_out,
        a_checkpoint_ends_the_epoch_and_everybody_goes_on_in_the_next,
        a_snapshot_is_one_moment,
        bodies::changed_bodies_are_named_and_erased_ones_are_counted,
        questions_filter_order_and_limit,
        records::every_record_comes_back_as_it_went_in,
        ids_are_found_by_any_unique_prefix,
        many_writers_lose_nothing,
        whoever_verifies_while_others_write_finds_no_fault,
        a_lease_is_taken_over_only_as_it_was_seen,
        a_group_is_as_good_as_one_after_the_other,
        the_database_of_another_house_is_left_alone,
        whoever_reads_by_sequence_number_misses_nothing,
        what_is_erased_is_gone_and_a_tombstone_takes_its_place,
        an_erasure_is_done_with_its_batch_or_not_at_all,
        in_a_group_an_erasure_takes_what_came_before_it_and_nothing_else,
        whoever_expects_a_row_is_refused_once_it_is_gone,
        whoever_expects_quiet_is_refused_once_anything_was_written,
        no_batch_of_a_sequence_overtakes_one_that_was_refused,
        spending::the_last_of_a_budget_is_spent_once,
        spending::whoever_comes_at_once_shares_a_budget,
        spending::a_budget_counts_to_its_limit_and_takes_back_to_nothing,
        spending::whoever_may_not_spend_all_spends_nothing,
        spending::the_same_batch_twice_spends_once,
        spending::a_batch_that_is_refused_spends_nothing,
        spending::a_budget_that_is_put_stands_in_its_turn,
        spending::nothing_starts_between_a_halt_and_its_end,
        spending::tools_are_replaced_and_taken_out,
        spending::ratios_come_back_as_they_went_in,
    );
}

fn seal() -> Seal {
    Seal::for_tests(STREAM, [7; 32])
}

/// Writes a group in one transaction.
async fn transact<const N: usize>(store: &dyn Store, group: [Batch; N]) -> Vec<Outcome> {
    let probe: Arc<dyn Probe> = Arc::new(Silent);
    store.transact(group.into(), &Arc::new(seal()), &probe).await.expect("transact").outcomes
}

fn at(n: i64) -> Time {
    Time::from_micros(1_800_000_000_000_000 + n)
}

fn batch(n: u128) -> Batch {
    Batch::new(BatchId::from_bits(n), at(0))
}

fn event(n: u128, key: &str) -> Event {
    Event {
        seq: Seq(None),
        id: EventId::from_bits(n),
        key: key.into(),
        adapter: "mail".into(),
        platform: "mail".into(),
        container_kind: ContainerKind::Dm,
        place: PlaceId::from_bits(1),
        sender: IdentityId::from_bits(1),
        direction: Direction::In,
        body: Digest::of(b"body"),
        content_type: "text/plain".into(),
        metadata: None,
        occurred_at: at(1),
        received_at: at(2),
        origin_id: OriginId::from_bits(1),
        answers: None,
    }
}

fn entry(subject: &str) -> Entry {
    Entry {
        at: at(3),
        kind: "event.received".into(),
        actor: "system".into(),
        subject: subject.into(),
        trust: None,
        origin_id: Some(OriginId::from_bits(4821)),
        reason_id: None,
        vpol_id: None,
        detail: serde_json::json!({}),
    }
}

fn refusal(result: Result<crate::Receipt, CommitError>) -> Refusal {
    match result {
        Err(CommitError::Refused(refusal)) => refusal,
        other => panic!("must be refused, is {other:?}"),
    }
}

async fn count<T: crate::table::Record>(ledger: &Ledger) -> usize {
    ledger.select(Select::<T>::all()).await.expect("select").len()
}

async fn a_refused_batch_leaves_no_trace(ledger: Ledger, _: Arc<dyn Store>) {
    let mut work = batch(1);
    work.put(&event(1, "k")).put(&Blob::public(b"x".to_vec())).audit(entry("e")).fence("task", 3);
    let expected = Refusal::Fenced { subject: "task".into(), expected: 3, found: 0 };
    assert_eq!(refusal(ledger.commit(work).await), expected);
    assert_eq!((count::<Event>(&ledger).await, count::<Blob>(&ledger).await), (0, 0));
    assert_eq!(ledger.verify_audit().await.expect("verify").streams, []);
}

async fn the_same_batch_twice_is_written_once(ledger: Ledger, _: Arc<dyn Store>) {
    for _ in 0..2 {
        let mut work = batch(1);
        work.put(&event(1, "k")).audit(entry("e"));
        assert_eq!(ledger.commit(work).await.expect("commit").batch(), BatchId::from_bits(1));
    }
    assert_eq!(count::<Event>(&ledger).await, 1);
    assert_eq!(ledger.audit_of(OriginId::from_bits(4821), "e").await.expect("audit").len(), 1);
}

async fn a_refused_batch_harms_no_other_in_its_group(ledger: Ledger, store: Arc<dyn Store>) {
    let mut good = batch(1);
    good.put(&event(1, "a")).audit(entry("a"));
    let mut bad = batch(2);
    bad.put(&event(2, "b")).audit(entry("b")).expect_absent::<Event>("key", &"a".to_owned());
    let mut also_good = batch(3);
    also_good.put(&event(3, "c")).audit(entry("c"));
    let outcomes = transact(&*store, [good, bad, also_good]).await;
    let present = Refusal::Present { table: "events", column: "key" };
    assert_eq!(outcomes, [Ok(Written::Now), Err(present), Ok(Written::Now)]);
    let keys: Vec<_> = ledger.events(9).await.expect("events").into_iter().map(|event| event.key).collect();
    assert_eq!(keys, ["a", "c"]);
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
}

async fn the_same_event_key_is_refused(ledger: Ledger, _: Arc<dyn Store>) {
    for n in 1..=2 {
        let mut work = batch(n);
        work.put(&event(n, "k")).expect_absent::<Event>("key", &"k".to_owned());
        let result = ledger.commit(work).await;
        if n == 2 {
            assert_eq!(refusal(result), Refusal::Present { table: "events", column: "key" });
        }
    }
    assert_eq!(
        ledger.event_by_key("k").await.expect("event").map(|event| event.id),
        Some(EventId::from_bits(1))
    );
}

async fn a_row_is_written_once_kept_or_replaced(ledger: Ledger, _: Arc<dyn Store>) {
    let mut first = batch(1);
    first.put(&event(1, "k")).put(&Blob::public(b"x".to_vec())).put(&lease(1, "one"));
    ledger.commit(first).await.expect("commit");

    let mut again = batch(2);
    again.put(&event(1, "other"));
    assert_eq!(refusal(ledger.commit(again).await), Refusal::Duplicate { table: "events" });

    let mut rest = batch(3);
    rest.put(&Blob::public(b"x".to_vec())).put(&lease(2, "two"));
    ledger.commit(rest).await.expect("commit");
    assert_eq!(count::<Blob>(&ledger).await, 1);
    assert_eq!(ledger.lease("task").await.expect("lease"), Some(lease(2, "two")));
}

fn lease(epoch: u64, holder: &str) -> Lease {
    Lease { subject: "task".into(), epoch, holder: holder.into(), until: at(9), beats: 0 }
}

async fn the_last_of_two_projections_in_a_batch_stands(ledger: Ledger, _: Arc<dyn Store>) {
    let mut work = batch(1);
    work.put(&lease(1, "one")).put(&lease(2, "two"));
    ledger.commit(work).await.expect("commit");
    assert_eq!(ledger.lease("task").await.expect("lease"), Some(lease(2, "two")));
}

async fn sequence_numbers_rise_in_commit_order(ledger: Ledger, _: Arc<dyn Store>) {
    for n in [3_u128, 1, 2] {
        let mut work = batch(n);
        work.put(&event(n, &format!("k{n}")));
        ledger.commit(work).await.expect("commit");
    }
    let events = ledger.events(9).await.expect("events");
    let ids: Vec<_> = events.iter().map(|event| event.id).collect();
    assert_eq!(ids, [3, 1, 2].map(EventId::from_bits));
    assert!(events.is_sorted_by(|a, b| a.seq < b.seq) && events.iter().all(|event| event.seq.0.is_some()));
}

async fn a_stale_fence_writes_nothing(ledger: Ledger, _: Arc<dyn Store>) {
    let mut take = batch(1);
    take.expect_lease("task", None).put(&lease(1, "one"));
    ledger.commit(take).await.expect("take");
    let mut take_over = batch(2);
    take_over.expect_lease("task", Some(lease(1, "one"))).put(&lease(2, "two"));
    ledger.commit(take_over).await.expect("take over");

    let mut stale = batch(3);
    stale.fence("task", 1).put(&event(1, "k"));
    let expected = Refusal::Fenced { subject: "task".into(), expected: 1, found: 2 };
    assert_eq!(refusal(ledger.commit(stale).await), expected);
    let mut current = batch(4);
    current.fence("task", 2).put(&event(2, "k"));
    ledger.commit(current).await.expect("the driver of now may write");
    assert_eq!(count::<Event>(&ledger).await, 1);
}

/// Whoever takes over expects the lease as it was looked at: a driver that has renewed it meanwhile keeps it.
async fn a_lease_is_taken_over_only_as_it_was_seen(ledger: Ledger, _: Arc<dyn Store>) {
    let take = |n, seen: Option<Lease>, next: Lease| {
        let mut work = batch(n);
        work.expect_lease("task", seen).put(&next);
        work
    };
    ledger.commit(take(1, None, lease(1, "one"))).await.expect("free");
    let fenced = |expected| Refusal::Fenced { subject: "task".into(), expected, found: 1 };
    assert_eq!(
        refusal(ledger.commit(take(2, None, lease(1, "two"))).await),
        fenced(0),
        "it is not free any more"
    );
    let renewed = Lease { beats: 1, ..lease(1, "one") };
    let mut renew = batch(3);
    renew.fence("task", 1).put(&renewed);
    ledger.commit(renew).await.expect("its driver renews it");
    let late = take(4, Some(lease(1, "one")), lease(2, "two"));
    assert_eq!(refusal(ledger.commit(late).await), fenced(1), "it was renewed");
    ledger.commit(take(5, Some(renewed), lease(2, "two"))).await.expect("as it was seen");
}

/// In one group the later batch meets what the earlier one has done.
async fn a_group_is_as_good_as_one_after_the_other(ledger: Ledger, store: Arc<dyn Store>) {
    let mut take = batch(1);
    take.expect_lease("task", None).put(&lease(1, "one")).audit(entry("a"));
    let mut late = batch(2);
    late.expect_lease("task", None).put(&lease(1, "two")).audit(entry("b"));
    let mut driver = batch(3);
    driver.fence("task", 1).put(&event(1, "a"));
    let mut again = batch(4);
    again.put(&event(2, "a")).expect_absent::<Event>("key", &"a".to_owned());
    let mut repeated = batch(3);
    repeated.put(&event(3, "c"));
    let mut unexpected = batch(5);
    unexpected.put(&event(1, "d")).put(&Blob::public(b"gone".to_vec()));
    let mut good = batch(6);
    good.put(&event(4, "e")).audit(entry("e"));
    let group = [take, late, driver, again, repeated, unexpected, good];
    let outcomes = transact(&*store, group).await;
    let fenced = Refusal::Fenced { subject: "task".into(), expected: 0, found: 1 };
    let expected = [
        Ok(Written::Now),
        Err(fenced),
        Ok(Written::Now),
        Err(Refusal::Present { table: "events", column: "key" }),
        Ok(Written::Before),
        Err(Refusal::Duplicate { table: "events" }),
        Ok(Written::Now),
    ];
    assert_eq!(outcomes, expected);
    let keys: Vec<_> = ledger.events(9).await.expect("events").into_iter().map(|event| event.key).collect();
    assert_eq!(keys, ["a", "e"]);
    assert_eq!(count::<Blob>(&ledger).await, 0, "of a refused batch nothing is left");
    assert_eq!(ledger.lease("task").await.expect("lease"), Some(lease(1, "one")));
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
}

/// A record with keys of its own is not ours to go on with.
async fn the_database_of_another_house_is_left_alone(ledger: Ledger, store: Arc<dyn Store>) {
    let mut work = batch(1);
    work.audit(entry("a"));
    ledger.commit(work).await.expect("commit");
    let stranger = Ledger::start(store, Seal::for_tests(NodeId::from_bits(2), [8; 32]), Arc::new(Silent));
    let mut work = batch(2);
    work.audit(entry("b")).put(&event(1, "k"));
    assert_eq!(refusal(stranger.commit(work).await), Refusal::OtherHouse { stream: STREAM });
    assert_eq!(count::<Event>(&stranger).await, 0);
}

/// The journal as the bus reads it: by sequence number, each step once, whoever wrote it.
async fn whoever_reads_by_sequence_number_misses_nothing(ledger: Ledger, store: Arc<dyn Store>) {
    const WRITERS: u64 = 4;
    const EACH: u64 = 25;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let ledger = Ledger::start(Arc::clone(&store), seal(), Arc::new(Silent));
        writers.spawn(async move {
            for n in 0..EACH {
                let mut work = batch(u128::from(writer * EACH + n));
                let task = TaskId::from_bits(writer.into());
                work.put(&TaskStep { seq: Seq(None), task, n, epoch: 1, body: Digest::ZERO, at: at(0) });
                ledger.commit(work).await.expect("commit");
            }
        });
    }
    let (mut after, mut seen) = (0, Vec::new());
    while seen.len() < usize::try_from(WRITERS * EACH).expect("few") {
        for step in ledger.steps_after(after, 7).await.expect("steps") {
            after = step.seq.0.expect("committed");
            seen.push((step.task, step.n));
        }
        tokio::task::yield_now().await;
    }
    writers.join_all().await;
    assert_eq!(ledger.newest_step().await.expect("newest"), after);
    let mut once = seen.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), seen.len(), "each of them once");
}

fn identity(n: u128, identifier: &str) -> Identity {
    Identity {
        id: IdentityId::from_bits(n),
        platform: "mail".into(),
        identifier: identifier.into(),
        entity_id: None,
        account: Some("home".into()),
        first_seen: at(1),
        is_owned: false,
        is_verified: false,
    }
}

fn salt(person: &str) -> Salt {
    Salt { person: person.into(), salt: SaltBytes::new(Digest::of(person.as_bytes())) }
}

fn personal(person: &str, content: &str) -> Blob {
    Blob::personal(content.into(), &salt(person))
}

async fn people_of(ledger: &Ledger) -> Vec<String> {
    let blobs = ledger.select(Select::<Blob>::all()).await.expect("select");
    let mut people: Vec<String> = blobs.into_iter().filter_map(|blob| blob.person).collect();
    people.sort_unstable();
    people
}

async fn what_is_erased_is_gone_and_a_tombstone_takes_its_place(ledger: Ledger, store: Arc<dyn Store>) {
    let mut work = batch(1);
    for n in 0..600_u128 {
        work.put(&personal("p-lea", &format!("words {n}")));
    }
    work.put(&personal("p-tom", "words 0")).put(&Blob::public(b"ours".to_vec()));
    work.put(&salt("p-lea")).put(&salt("p-tom")).put(&identity(1, "lea@x")).put(&identity(2, "tom@x"));
    work.audit(entry("a"));
    ledger.commit(work).await.expect("commit");

    let lea = identity(1, "lea@x");
    let mut erase = batch(2);
    // The tombstone has the id of what it stands for, so it could not be put first.
    erase.put(&lea.erased()).audit(entry("b"));
    erase.erase::<Blob, _>("person", &["p-lea".to_owned(), "p-nobody".to_owned()]);
    erase.erase::<Salt, _>("person", &["p-lea".to_owned()]).erase::<Identity, _>("id", &[lea.id]);
    ledger.commit(erase).await.expect("commit");
    assert_eq!(people_of(&ledger).await, ["p-tom"]);
    assert_eq!(count::<Blob>(&ledger).await, 2, "what belongs to nobody is left");
    assert_eq!(ledger.salt_of("p-lea").await.expect("salt"), None);
    assert_eq!(
        ledger.body(&personal("p-tom", "words 0").hash).await.expect("body"),
        Some(b"words 0".to_vec())
    );
    assert_eq!(ledger.identity(lea.id).await.expect("identity"), Some(lea.erased()));
    assert_eq!(ledger.identity_of("mail", "lea@x").await.expect("identity"), None);
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
    store.scrub().await.expect("scrub");
    assert_eq!(people_of(&ledger).await, ["p-tom"], "scrubbing takes nothing away that is there");
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
}

async fn an_erasure_is_done_with_its_batch_or_not_at_all(ledger: Ledger, store: Arc<dyn Store>) {
    let mut work = batch(1);
    work.put(&personal("p-lea", "words")).put(&event(1, "k"));
    ledger.commit(work).await.expect("commit");
    let erasing = |n| {
        let mut work = batch(n);
        work.erase::<Blob, _>("person", &["p-lea".to_owned()]);
        work
    };
    let mut fenced = erasing(2);
    fenced.fence("task", 3);
    let mut duplicate = erasing(3);
    duplicate.put(&event(1, "k"));
    let outcomes = transact(&*store, [fenced, duplicate]).await;
    assert!(outcomes.iter().all(Result::is_err), "{outcomes:?}");
    let mut alone = erasing(4);
    alone.put(&event(1, "k"));
    assert_eq!(refusal(ledger.commit(alone).await), Refusal::Duplicate { table: "events" });
    assert_eq!(people_of(&ledger).await, ["p-lea"], "nothing of it was done");

    ledger.commit(erasing(5)).await.expect("commit");
    let mut new_words = batch(6);
    new_words.put(&personal("p-lea", "new words"));
    ledger.commit(new_words).await.expect("commit");
    ledger.commit(erasing(5)).await.expect("handed in again");
    assert_eq!(people_of(&ledger).await, ["p-lea"], "the same batch twice erases once");
}

async fn in_a_group_an_erasure_takes_what_came_before_it_and_nothing_else(
    ledger: Ledger,
    store: Arc<dyn Store>,
) {
    let words = |n, content: &str| {
        let mut work = batch(n);
        work.put(&personal("p-lea", content)).audit(entry(content));
        work
    };
    let mut erase = batch(2);
    erase.erase::<Blob, _>("person", &["p-lea".to_owned()]).audit(entry("erased"));
    let group = [words(1, "before"), erase, words(3, "after"), words(4, "later")];
    let outcomes = transact(&*store, group).await;
    assert_eq!(outcomes, vec![Ok(Written::Now); 4]);
    let mut left: Vec<Vec<u8>> =
        ledger.select(Select::<Blob>::all()).await.expect("select").into_iter().map(|b| b.content).collect();
    left.sort_unstable();
    assert_eq!(left, [b"after".to_vec(), b"later".to_vec()]);
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
}

/// Whoever was about to write somebody's words when they were erased writes nothing.
async fn whoever_expects_a_row_is_refused_once_it_is_gone(ledger: Ledger, store: Arc<dyn Store>) {
    let words = |n, content: &str| {
        let mut work = batch(n);
        work.put(&personal("p-lea", content)).expect_present::<Salt>("person", &"p-lea".to_owned());
        work
    };
    let gone = Refusal::Gone { table: "salts", column: "person" };
    assert_eq!(refusal(ledger.commit(words(1, "never met")).await), gone);
    let mut meet = batch(2);
    meet.put(&salt("p-lea"));
    let mut erase = batch(4);
    erase.erase::<Salt, _>("person", &["p-lea".to_owned()]);
    erase.erase::<Blob, _>("person", &["p-lea".to_owned()]);
    let group = [meet, words(3, "there"), erase, words(5, "too late")];
    let outcomes = transact(&*store, group).await;
    assert_eq!(outcomes, [Ok(Written::Now), Ok(Written::Now), Ok(Written::Now), Err(gone)]);
    assert_eq!(people_of(&ledger).await, [""; 0]);
}

async fn whoever_expects_quiet_is_refused_once_anything_was_written(ledger: Ledger, store: Arc<dyn Store>) {
    let quiet = |n, after| {
        let mut work = batch(n);
        work.put(&event(n, &format!("k{n}"))).expect_quiet(after);
        work
    };
    assert_eq!(ledger.newest_commit().await.expect("newest"), 0);
    ledger.commit(quiet(1, 0)).await.expect("nothing was ever written");
    let seen = ledger.newest_commit().await.expect("newest");
    assert_eq!(refusal(ledger.commit(quiet(2, 0)).await), Refusal::Disturbed);
    ledger.commit(quiet(3, seen)).await.expect("nothing was written since");
    let seen = ledger.newest_commit().await.expect("newest");
    let mut other = batch(4);
    other.put(&event(4, "k4"));
    let outcomes = transact(&*store, [other, quiet(5, seen)]).await;
    assert_eq!(outcomes, [Ok(Written::Now), Err(Refusal::Disturbed)], "one of the same group counts too");
}

async fn no_batch_of_a_sequence_overtakes_one_that_was_refused(ledger: Ledger, store: Arc<dyn Store>) {
    let next = |n: u128, sequence: &CommitSequence| {
        let mut work = batch(n);
        work.put(&event(n, &format!("k{n}"))).expect_absent::<Event>("id", &EventId::from_bits(n));
        work.follow(sequence);
        work
    };
    let needs_salt = |n: u128, sequence: &CommitSequence| {
        let mut work = next(n, sequence);
        work.expect_present::<Salt>("person", &"nobody".to_owned());
        work
    };
    let (sequence, other) = (CommitSequence::new(), CommitSequence::new());
    let gone = Err(Refusal::Gone { table: "salts", column: "person" });
    let group = [next(1, &sequence), needs_salt(2, &sequence), next(3, &sequence), next(4, &other)];
    let outcomes = transact(&*store, group).await;
    assert_eq!(outcomes, [Ok(Written::Now), gone, Err(Refusal::OutOfOrder), Ok(Written::Now)]);
    // In a later group, too; and a new sequence goes on.
    let outcomes = transact(&*store, [next(5, &sequence), next(6, &other)]).await;
    assert_eq!(outcomes, [Err(Refusal::OutOfOrder), Ok(Written::Now)]);
    // What is there already holds nothing up; a row that nobody expected to be there does.
    let mut again = batch(7);
    again.put(&event(6, "k6")).expect_absent::<Event>("id", &EventId::from_bits(6)).follow(&other);
    let present = Err(Refusal::Present { table: "events", column: "id" });
    let mut twice = batch(8);
    twice.put(&event(6, "k6")).follow(&other);
    let duplicate = Err(Refusal::Duplicate { table: "events" });
    let outcomes = transact(&*store, [again, next(9, &other), twice, next(10, &other)]).await;
    // The duplicate is found by writing: until then the last one was as good as written, and after it is not.
    assert_eq!(outcomes, [present, Ok(Written::Now), duplicate, Err(Refusal::OutOfOrder)]);
    assert_eq!(count::<Event>(&ledger).await, 4);
    let pending = ledger.submit(next(11, &sequence)).await.expect("handed in");
    assert_eq!(refusal(pending.receipt().await), Refusal::OutOfOrder);
}

async fn the_chain_goes_on_across_batches(ledger: Ledger, _: Arc<dyn Store>) {
    for n in 1..=3 {
        let mut work = batch(n);
        work.audit(entry("a")).audit(entry("b"));
        ledger.commit(work).await.expect("commit");
    }
    let verification = ledger.verify_audit().await.expect("verify");
    assert!(verification.is_consistent());
    assert_eq!(verification.streams.iter().map(|stream| stream.entries).collect::<Vec<_>>(), [6]);
    let third = &ledger.audit_of(OriginId::from_bits(4821), "a").await.expect("audit")[1];
    assert_eq!((third.seq, ledger.verify_from(third).await.expect("verify").entries), (3, 4));
}

/// The work goes on in a new epoch, after an entry that says what was found; it is named for ever.
async fn a_tail_that_was_moved_heals_and_is_named_for_ever(ledger: Ledger, store: Arc<dyn Store>) {
    let mut work = batch(1);
    work.audit(entry("a")).audit(entry("b"));
    ledger.commit(work).await.expect("commit");
    let mut forged = batch(2);
    forged.put(&AuditHead {
        stream: STREAM,
        seq: 1,
        hash: Digest::ZERO,
        epoch: 1,
        mac: Digest::ZERO,
        authority: None,
    });
    ledger.commit(forged).await.expect("whoever owns the database can do this");
    assert!(!ledger.verify_audit().await.expect("verify").is_consistent());

    let mut next = batch(3);
    next.audit(entry("c")).put(&event(1, "k"));
    ledger.commit(next).await.expect("the work goes on");
    assert!(ledger.healed());
    assert_eq!(count::<Event>(&ledger).await, 1);
    let told: Vec<(u64, String)> =
        ledger.audit_tail(9).await.expect("tail").into_iter().map(|entry| (entry.seq, entry.kind)).collect();
    let kind = |kind: &str| kind.to_owned();
    let expected =
        [kind("event.received"), kind("event.received"), kind("audit.healed"), kind("event.received")];
    assert_eq!(told, (1..).zip(expected).collect::<Vec<_>>());
    let head = ledger.audit_head().await.expect("head").expect("there is one");
    assert_eq!((head.seq, head.epoch), (4, 2));
    for again in 0..3 {
        let verification = ledger.verify_audit().await.expect("verify");
        let faults: Vec<Fault> = verification.all_faults().map(|(_, fault)| fault.clone()).collect();
        assert_eq!(faults, [Fault::Recorded { seq: 3 }]);
        let mut work = batch(10 + again);
        work.audit(entry("d"));
        ledger.commit(work).await.expect("commit");
    }
    // Whoever starts later goes on from there.
    let another = Ledger::start(store, seal(), Arc::new(Silent));
    let mut work = batch(20);
    work.audit(entry("e"));
    another.commit(work).await.expect("commit");
    assert!(!another.healed());
}

/// What was written and noted outside is not taken back unseen, however well the older state is sealed.
async fn an_older_state_that_was_put_back_is_found_out(ledger: Ledger, _: Arc<dyn Store>) {
    let mut work = batch(1);
    work.audit(entry("a"));
    ledger.commit(work).await.expect("commit");
    let older = ledger.audit_head().await.expect("head").expect("there is one");
    let mut work = batch(2);
    work.audit(entry("b"));
    ledger.commit(work).await.expect("commit");
    let mut put_back = batch(3);
    put_back.put(&older);
    ledger.commit(put_back).await.expect("whoever owns the database can do this");
    let mut next = batch(4);
    next.audit(entry("c"));
    ledger.commit(next).await.expect("the work goes on");
    assert!(ledger.healed());
}

async fn a_checkpoint_ends_the_epoch_and_everybody_goes_on_in_the_next(
    ledger: Ledger,
    store: Arc<dyn Store>,
) {
    let vault: Arc<dyn Vault> = Arc::new(MemoryVault::new([7; 32]));
    let start = || Ledger::start(Arc::clone(&store), Seal::new(STREAM, Arc::clone(&vault)), Arc::new(Silent));
    let (one, two) = (start(), start());
    drop(ledger);
    let root = Pinned::Root(vault.secret(1).expect("secret").expect("there is one").public());
    let mut n = 0;
    for epoch in 1..=3_u64 {
        for ledger in [&one, &two] {
            n += 1;
            let mut work = batch(n);
            work.audit(entry("a"));
            ledger.commit(work).await.expect("commit");
        }
        n += 1;
        let mut end = batch(n);
        end.audit(entry("end")).end_epoch();
        let ends = if epoch == 2 { &two } else { &one };
        ends.commit(end).await.expect("commit");
        assert!(vault.secret(epoch).expect("secret").is_none(), "it is erased");
        assert_eq!(vault.checkpoints().expect("lines").len() as u64, epoch);
        let scope = AuditScope { pinned: Some(&root), ..AuditScope::default() };
        let verification = two.examine_audit(scope).await.expect("verify").verification;
        assert_eq!((verification.word, verification.checkpoints), (Word::Intact, epoch), "{verification:?}");
        assert_eq!(verification.streams[0].signed, verification.streams[0].entries);
    }
    assert!(!one.healed() && !two.healed());
    assert_eq!(one.checkpoints().await.expect("checkpoints").len(), 3);
}

/// A snapshot is one moment, whatever is committed while somebody looks at it; and both ways of looking see the same.
async fn a_snapshot_is_one_moment(ledger: Ledger, _: Arc<dyn Store>) {
    for n in 1..=3 {
        let mut work = batch(n);
        work.audit(entry("a"));
        ledger.commit(work).await.expect("commit");
    }
    let mut snapshot = ledger.snapshot().await.expect("snapshot");
    let all = Select::<AuditEntry>::by("stream", &STREAM).ascending("seq").limit(100).query;
    let before = snapshot.select(&all).await.expect("rows");
    let mut work = batch(4);
    work.audit(entry("b"));
    ledger.commit(work).await.expect("commit");
    let mut scanned: Vec<Row> = Vec::new();
    let mut visit = |cells: &[Ref<'_>]| scanned.push(cells.iter().map(|cell| cell.keep()).collect());
    snapshot.scan(&all, &mut visit).await.expect("scan");
    assert_eq!((before.len(), &scanned), (3, &before));
    drop(snapshot);
    assert_eq!(count::<AuditEntry>(&ledger).await, 4);
}

async fn questions_filter_order_and_limit(ledger: Ledger, _: Arc<dyn Store>) {
    let mut work = batch(1);
    for n in 1..=5 {
        let metadata = (n % 2 == 0).then_some(Digest::ZERO);
        work.put(&Event {
            metadata,
            received_at: at(10 - n),
            ..event(n.unsigned_abs().into(), &format!("k{n}"))
        });
    }
    ledger.commit(work).await.expect("commit");
    let ask = async |select: Select<Event>| -> Vec<String> {
        ledger.select(select).await.expect("select").into_iter().map(|event| event.key).collect()
    };
    let all = Select::<Event>::all;
    assert_eq!(ask(all().ascending("received_at")).await, ["k5", "k4", "k3", "k2", "k1"]);
    assert_eq!(ask(all().descending("seq").limit(2)).await, ["k5", "k4"]);
    assert_eq!(ask(all().filter("received_at", Op::Ge, &at(8)).ascending("seq")).await, ["k1", "k2"]);
    assert_eq!(ask(all().filter("received_at", Op::Gt, &at(8)).ascending("seq")).await, ["k1"]);
    assert_eq!(ask(all().filter("received_at", Op::Lt, &at(6)).ascending("seq")).await, ["k5"]);
    assert_eq!(ask(all().filter("key", Op::Ne, &"k1".to_owned()).ascending("seq").limit(1)).await, ["k2"]);
    assert_eq!(ask(Select::by("metadata", &Some(Digest::ZERO)).ascending("seq")).await, ["k2", "k4"]);
    assert_eq!(ask(Select::by("metadata", &None::<Digest>).ascending("seq")).await, ["k1", "k3", "k5"]);
    assert_eq!(ask(Select::by("key", &"k3' OR 1=1 --".to_owned())).await, [""; 0]);
    let count = async |select: Select<Event>| ledger.count(select).await.expect("count");
    assert_eq!(count(all().descending("seq").limit(2)).await, 5, "whatever the limit");
    assert_eq!(count(all().filter("received_at", Op::Ge, &at(8))).await, 2);
    assert_eq!(count(Select::by("metadata", &Some(Digest::ZERO))).await, 2);
    assert_eq!(count(Select::by("metadata", &None::<Digest>)).await, 3);
    assert_eq!(count(Select::any_of("key", &["k1".to_owned(), "k9".to_owned()])).await, 1);
    assert_eq!(count(Select::any_of("key", &[] as &[String])).await, 0);
}

async fn ids_are_found_by_any_unique_prefix(ledger: Ledger, _: Arc<dyn Store>) {
    let (one, two) = (EventId::from_bits(0x1000 << 100), EventId::from_bits(0x1001 << 100));
    let mut work = batch(1);
    work.put(&Event { id: one, ..event(1, "a") }).put(&Event { id: two, ..event(2, "b") });
    ledger.commit(work).await.expect("commit");
    let find = async |text: &str| ledger.find(&text.parse::<Prefix>().expect("prefix")).await.expect("find");
    let short = ledger.short(&one.to_string()).await.expect("short");
    assert!(matches!(find(&short).await, Found::Event(event) if event.id == one));
    assert!(short.len() < one.to_string().len());
    assert_eq!(find("e-0").await, Found::Several(vec![one.to_string(), two.to_string()]));
    assert_eq!(find("e-z").await, Found::Nothing);
}

async fn many_writers_lose_nothing(ledger: Ledger, _: Arc<dyn Store>) {
    const WRITERS: u128 = 16;
    const EACH: u128 = 10;
    let ledger = Arc::new(ledger);
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let ledger = Arc::clone(&ledger);
        writers.spawn(async move {
            for n in 0..EACH {
                let id = writer * EACH + n;
                let mut work = batch(id);
                work.put(&event(id, &format!("k{id}"))).audit(entry("e"));
                ledger.commit(work).await.expect("commit");
            }
        });
    }
    writers.join_all().await;
    assert_eq!(count::<Event>(&ledger).await as u128, WRITERS * EACH);
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
    assert!(u128::from(ledger.barriers()) < WRITERS * EACH, "batches that wait together share a transaction");
}

/// A chain that grows under the eyes of whoever walks it is not broken.
async fn whoever_verifies_while_others_write_finds_no_fault(ledger: Ledger, store: Arc<dyn Store>) {
    const BATCHES: u128 = 60;
    drop(ledger);
    // The one who writes also signs, and erases the secret that the other was about to check a seal with.
    let vault: Arc<dyn Vault> = Arc::new(MemoryVault::new([7; 32]));
    let start = || Ledger::start(Arc::clone(&store), Seal::new(STREAM, Arc::clone(&vault)), Arc::new(Silent));
    let (ledger, writing) = (start(), start());
    let mut writer = tokio::task::JoinSet::new();
    writer.spawn(async move {
        for n in 0..BATCHES {
            let mut work = batch(n);
            work.audit(entry("a")).audit(entry("b"));
            if n % 20 == 19 {
                work.end_epoch();
            }
            writing.commit(work).await.expect("commit");
        }
    });
    let mut looked = 0;
    while writer.try_join_next().is_none() {
        let verification = ledger.verify_audit().await.expect("verify");
        assert!(verification.is_consistent(), "{verification:?}");
        let first = ledger.audit_tail(1).await.expect("tail").pop();
        if let Some(entry) = first {
            let verdict = ledger.verify_from(&entry).await.expect("verify");
            assert_eq!(verdict.faults, []);
        }
        looked += 1;
        tokio::task::yield_now().await;
    }
    assert!(looked > 0);
    let verification = ledger.verify_audit().await.expect("verify");
    assert_eq!((u128::from(verification.entries()), verification.checkpoints), (2 * BATCHES, 3));
}
