//! Another program writes rows that carry authority, and brings old ones back. None of it counts.

use std::sync::Arc;

use domain::call::ToolId;
use domain::id::{BatchId, EntityId, GrantId, IdentityId, NodeId};
use domain::probe::Silent;
use domain::{Digest, Time, Trust};
use ledger::memory::MemoryStore;
use ledger::records::{
    ActivePolicies, AuditHead, AuthoritySeal, Entity, EntityKind, EntityTag, Grant, Halt, Identity,
    PolicySwitch,
};
use ledger::table::Record;
use ledger::{AuditEvent, Batch, CommitError, Ledger, Refusal, Seal, Select, Store, StoreError, Unverified};

const STREAM: NodeId = NodeId::from_bits(1);

fn ledger(store: &Arc<MemoryStore>) -> Ledger {
    Ledger::start(Arc::<MemoryStore>::clone(store) as _, Seal::for_tests(STREAM, [7; 32]), Arc::new(Silent))
}

fn at(n: i64) -> Time {
    Time::from_micros(n)
}

fn batch(n: u128) -> Batch {
    let mut batch = Batch::new(BatchId::from_bits(n), at(1));
    batch.audit(AuditEvent::InstanceResumed.entry("test", at(1)));
    batch
}

fn halt() -> Halt {
    Halt { name: Halt::ALL.into(), at: at(1), by: "owner".into() }
}

fn switch(name: &str, enabled: bool) -> PolicySwitch {
    PolicySwitch { name: name.into(), enabled, at: at(1) }
}

fn person(n: u128, trust: Option<Trust>) -> Entity {
    let (id, kind) = (EntityId::from_bits(n), EntityKind::Person);
    Entity { id, kind, name: None, is_owner: n == 1, relationship: None, trust, created_at: at(1) }
}

fn address(n: u128, of: Option<u128>) -> Identity {
    Identity {
        id: IdentityId::from_bits(n),
        platform: "mail".into(),
        identifier: format!("{n}@x"),
        entity_id: of.map(EntityId::from_bits),
        account: None,
        first_seen: at(1),
        is_owned: false,
        is_verified: of.is_some(),
    }
}

fn grant(n: u128, live: bool) -> Grant {
    let id = GrantId::from_bits(n);
    Grant {
        id,
        live: live.then(|| id.to_string()),
        tool_id: "write_file".parse::<ToolId>().expect("id"),
        terms: Digest::ZERO,
        created_at: at(1),
        expires_at: None,
        revoked_at: (!live).then(|| at(2)),
        granted_by: "owner".into(),
        request_id: None,
    }
}

fn policies(n: u8) -> ActivePolicies {
    let (policies, sources) = (Digest::of(&[n]), Digest::of(&[n, n]));
    ActivePolicies { kind: "acl".into(), policies, sources, at: at(1) }
}

/// The batch that starts a call, relying on a grant if there is one.
fn start(n: u128, relies_on: Option<&Grant>) -> Batch {
    let mut batch = batch(n);
    batch.expect_absent::<Halt>("name", &Halt::ALL.to_owned());
    if let Some(live) = relies_on.and_then(|grant| grant.live.as_ref()) {
        batch.expect_present::<Grant>("live", live);
    }
    batch
}

async fn refused(ledger: &Ledger, batch: Batch) -> Option<Unverified> {
    match ledger.commit(batch).await {
        Ok(_) => None,
        Err(CommitError::Refused(Refusal::Unverified(why))) => Some(why),
        Err(other) => unreachable!("{other}"),
    }
}

fn why<T: std::fmt::Debug>(read: Result<T, StoreError>) -> Unverified {
    match read {
        Err(StoreError::Unverified(why)) => why,
        other => unreachable!("{other:?}"),
    }
}

/// An instance with something in every table.
async fn instance() -> (Arc<MemoryStore>, Ledger) {
    let store = Arc::new(MemoryStore::default());
    let ledger = ledger(&store);
    let mut work = batch(1);
    work.put(&person(1, None)).put(&person(2, Some(Trust::Hostile))).put(&address(1, Some(2)));
    work.put(&address(9, None)).put(&EntityTag { entity_id: EntityId::from_bits(2), tag: "role:a".into() });
    work.put(&switch("quiet-hours", true)).put(&policies(1)).put(&grant(1, true)).put(&halt());
    ledger.commit(work).await.expect("commit");
    (store, ledger)
}

#[tokio::test]
async fn what_this_instance_wrote_counts_in_every_process() {
    let (store, first) = instance().await;
    for ledger in [first, ledger(&store)] {
        assert_eq!(ledger.halted().await.expect("halt"), Some(halt()));
        assert_eq!(ledger.policy_switches().await.expect("switches"), [switch("quiet-hours", true)]);
        assert_eq!(ledger.active_policies("acl").await.expect("policies"), Some(policies(1)));
        assert_eq!(ledger.live_grants().await.expect("grants"), [grant(1, true)]);
        assert_eq!(ledger.owner().await.expect("owner"), Some(person(1, None)));
        assert_eq!(ledger.tags_of(EntityId::from_bits(2)).await.expect("tags"), ["role:a"]);
        for n in [1, 9, 77] {
            let of = (n == 1).then_some(2);
            let found = ledger.identity_of("mail", &format!("{n}@x")).await.expect("address");
            assert_eq!(found, (n != 77).then(|| address(n, of)));
        }
        assert_eq!(ledger.verify_authority().await.expect("verify"), []);
    }
}

/// Put, changed, or brought back under its key: the row does not count, whoever reads it.
#[tokio::test]
async fn a_row_of_another_program_does_not_count() {
    type Tampering = (&'static str, &'static ledger::table::Table, ledger::value::Row, bool);
    let cases: [Tampering; 12] = [
        ("grant", Grant::TABLE, grant(5, true).row(), true),
        ("grant", Grant::TABLE, Grant { terms: Digest::of(b"more"), ..grant(1, true) }.row(), true),
        ("person", Entity::TABLE, person(2, Some(Trust::Operator)).row(), true),
        ("person", Entity::TABLE, Entity { is_owner: true, ..person(2, None) }.row(), true),
        ("address", Identity::TABLE, address(9, Some(1)).row(), true),
        ("address", Identity::TABLE, address(1, Some(1)).row(), true),
        (
            "tag",
            EntityTag::TABLE,
            EntityTag { entity_id: EntityId::from_bits(2), tag: "x".into() }.row(),
            true,
        ),
        ("policy switch", PolicySwitch::TABLE, switch("quiet-hours", false).row(), true),
        ("policy switch", PolicySwitch::TABLE, switch("quiet-hours", false).row(), false),
        ("policy set", ActivePolicies::TABLE, policies(2).row(), true),
        ("halt", Halt::TABLE, halt().row(), false),
        ("person", Entity::TABLE, person(2, None).row(), false),
    ];
    for (kind, table, row, put) in cases {
        let (store, first) = instance().await;
        store.tamper(table, &row, put).await;
        let expected = match put {
            true => Unverified::Forged { kind },
            false => Unverified::Missing { kind },
        };
        for ledger in [first, ledger(&store)] {
            let read = match kind {
                "grant" => ledger.live_grants().await.map(drop),
                "person" => ledger.entity(EntityId::from_bits(2)).await.map(drop),
                "address" => match row.get(2) {
                    Some(ledger::value::Value::Text(name)) => {
                        ledger.identity_of("mail", name).await.map(drop)
                    }
                    _ => panic!("an address has a name"),
                },
                "tag" => ledger.tags_of(EntityId::from_bits(2)).await.map(drop),
                "policy switch" => ledger.policy_switches().await.map(drop),
                "policy set" => ledger.active_policies("acl").await.map(drop),
                _ => ledger.halted().await.map(drop),
            };
            assert_eq!(why(read), expected, "{kind}, put: {put}");
            assert_eq!(ledger.verify_authority().await.expect("verify"), std::slice::from_ref(&expected));
        }
    }
}

#[tokio::test]
async fn no_call_starts_without_the_halt_that_was_taken_out() {
    let (store, ledger) = instance().await;
    assert!(ledger.commit(start(2, None)).await.is_err(), "it is halted");
    store.tamper(Halt::TABLE, &halt().row(), false).await;
    assert_eq!(refused(&ledger, start(3, None)).await, Some(Unverified::Missing { kind: "halt" }));
}

/// A batch without an entry, as for a plan that is only tried.
#[tokio::test]
async fn nor_does_a_model_get_asked_for_a_plan() {
    let (store, ledger) = instance().await;
    store.tamper(Halt::TABLE, &halt().row(), false).await;
    let mut plan = Batch::new(BatchId::from_bits(5), at(1));
    plan.put(&address(8, None)).expect_absent::<Halt>("name", &Halt::ALL.to_owned());
    assert_eq!(refused(&ledger, plan).await, Some(Unverified::Missing { kind: "halt" }));
    let mut plan = Batch::new(BatchId::from_bits(6), at(1));
    plan.expect_absent::<Halt>("name", &Halt::ALL.to_owned());
    assert_eq!(refused(&ledger, plan).await, Some(Unverified::Missing { kind: "halt" }));
}

#[tokio::test]
async fn no_call_starts_with_a_grant_of_another_program_and_one_that_needs_none_does() {
    let store = Arc::new(MemoryStore::default());
    let ledger = ledger(&store);
    store.tamper(Grant::TABLE, &grant(1, true).row(), true).await;
    let forged = refused(&ledger, start(1, Some(&grant(1, true)))).await;
    assert_eq!(forged, Some(Unverified::Forged { kind: "grant" }));
    assert_eq!(refused(&ledger, start(2, None)).await, None);
}

/// What was revoked was sealed once: its old row and its old seal are both there to be brought back.
#[tokio::test]
async fn an_older_state_does_not_come_back_however_much_of_it_is_brought() {
    let store = Arc::new(MemoryStore::default());
    let ledger_of = || ledger(&store);
    let ledger = ledger_of();
    let mut work = batch(1);
    work.put(&grant(1, true));
    ledger.commit(work).await.expect("commit");
    let seals: Vec<AuthoritySeal> = ledger.select(Select::all()).await.expect("seals");
    let head = ledger.audit_head().await.expect("head").expect("there is one");
    let mut revoke = batch(2);
    revoke.put(&grant(1, false));
    ledger.commit(revoke).await.expect("commit");
    assert_eq!(ledger.select(Select::<AuthoritySeal>::all()).await.expect("seals"), []);

    store.tamper(Grant::TABLE, &grant(1, true).row(), true).await;
    assert_eq!(why(ledger.live_grants().await), Unverified::Forged { kind: "grant" });
    for seal in &seals {
        store.tamper(AuthoritySeal::TABLE, &seal.row(), true).await;
    }
    // This process knows the seals; one that starts now finds others than the head names.
    assert_eq!(why(ledger.live_grants().await), Unverified::Forged { kind: "grant" });
    assert_eq!(why(ledger_of().live_grants().await), Unverified::Seals);
    assert_eq!(refused(&ledger_of(), start(3, Some(&grant(1, true)))).await, Some(Unverified::Seals));
    store.tamper(AuditHead::TABLE, &head.row(), true).await;
    // The vault has noted how far the head had come.
    assert_eq!(why(ledger.live_grants().await), Unverified::Head);
    assert_eq!(refused(&ledger, start(4, Some(&grant(1, true)))).await, Some(Unverified::Head));
}

/// The audit heals and goes on. What was authority before does not count until the owner has decided what does.
#[tokio::test]
async fn after_damage_nothing_counts_until_it_is_sealed_again() {
    let (store, ledger) = instance().await;
    let head = ledger.audit_head().await.expect("head").expect("there is one");
    store.tamper(AuditHead::TABLE, &AuditHead { mac: Digest::ZERO, ..head }.row(), true).await;
    ledger.commit(batch(2)).await.expect("the work goes on");
    assert!(ledger.healed());
    store.tamper(Halt::TABLE, &halt().row(), false).await;
    for n in 0..2 {
        let mut work = batch(10 + n);
        work.put(&switch("later", true));
        ledger.commit(work).await.expect("commit");
        assert_eq!(why(ledger.policy_switches().await), Unverified::Lost);
        assert_eq!(refused(&ledger, start(20 + n, None)).await, Some(Unverified::Lost));
    }
    let mut decided = batch(30);
    decided.erase::<Halt, _>("name", &[Halt::ALL.to_owned()]).put(&grant(1, false)).seal_existing();
    ledger.commit(decided).await.expect("commit");
    for ledger in [&ledger, &self::ledger(&store)] {
        assert_eq!(ledger.verify_authority().await.expect("verify"), []);
        let found = ledger.policy_switches().await.expect("switches");
        assert_eq!(found, [switch("later", true), switch("quiet-hours", true)]);
        assert_eq!(ledger.live_grants().await.expect("grants"), []);
    }
    assert_eq!(refused(&ledger, start(31, None)).await, None);
}

/// A set that changes without an entry of its own could be brought back at the same place of the chain.
#[tokio::test]
async fn the_set_never_changes_without_an_entry() {
    let store = Arc::new(MemoryStore::default());
    let ledger = ledger(&store);
    let mut silent = Batch::new(BatchId::from_bits(1), at(1));
    silent.put(&switch("a", true));
    ledger.commit(silent).await.expect("commit");
    let kinds: Vec<String> =
        ledger.audit_tail(9).await.expect("tail").into_iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, ["authority.sealed"]);
    // A row that carries no authority, and one that is written as it was, change nothing.
    let mut same = Batch::new(BatchId::from_bits(2), at(1));
    same.put(&switch("a", true)).put(&address(9, None));
    ledger.commit(same).await.expect("commit");
    assert_eq!(ledger.audit_tail(9).await.expect("tail").len(), 1);
    assert_eq!(ledger.verify_authority().await.expect("verify"), []);
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
}

/// An address can be guessed; what is left of it in the seals must not confirm the guess.
#[tokio::test]
async fn a_seal_does_not_tell_the_key_of_its_row() {
    let (_, ledger) = instance().await;
    let guess = Digest::of(b"mail1@x");
    let seals: Vec<AuthoritySeal> = ledger.select(Select::all()).await.expect("seals");
    assert_eq!(seals.len(), 8, "one for each row that carries authority");
    assert!(seals.iter().all(|seal| seal.key != guess && seal.mac != guess));
    let other = Ledger::start(
        Arc::new(MemoryStore::default()) as Arc<dyn Store>,
        Seal::for_tests(STREAM, [8; 32]),
        Arc::new(Silent),
    );
    let mut work = batch(1);
    work.put(&address(1, Some(2)));
    other.commit(work).await.expect("commit");
    let theirs: Vec<AuthoritySeal> = other.select(Select::all()).await.expect("seals");
    assert!(theirs.iter().all(|seal| seals.iter().all(|ours| ours.key != seal.key)));
}
