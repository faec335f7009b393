//! `people`, on every store: who is known, whose an address is, how far somebody is trusted; and what happens when a message, a
//! second change or `forget` comes at the same moment.

use std::sync::{Arc, Mutex, mpsc};

use app::people::IdentityStatus;
use app::people::{Because, Changes, Forget, NewPerson, PersonView};
use app::record::Check;
use app::{App, Code, Problem};
use domain::Trust;
use domain::id::EventId;
use domain::probe::{Point, Probe, Silent};
use ledger::query::Query;
use ledger::records::{AuditEntry, Entity, EntityKind, Identity, TABLES};
use ledger::value::Value;
use ledger::{Ledger, Select};
use testkit::{Kept, World};

const CANARY: &str = "canary";

async fn ledger_of(world: &World) -> Ledger {
    Ledger::start(world.store().await, world.seal(), Arc::new(Silent))
}

fn named(name: &str) -> NewPerson {
    NewPerson {
        name: name.into(),
        kind: EntityKind::Person,
        relationship: None,
        tags: Vec::new(),
        trust: None,
        addresses: Vec::new(),
    }
}

fn at(name: &str, addresses: &[&str]) -> NewPerson {
    NewPerson { addresses: addresses.iter().map(|&address| address.into()).collect(), ..named(name) }
}

fn tags(add: &[&str], remove: &[&str]) -> Changes {
    let owned = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect();
    Changes { tags: owned(add), no_tags: owned(remove), ..Changes::default() }
}

fn trusted(trust: Option<Trust>) -> Changes {
    Changes { trust: Some(trust), ..Changes::default() }
}

async fn writes(app: &App, sender: &str, n: u32) -> EventId {
    let source = EventId::named(&format!("{sender} {n}"));
    let line = format!(
        r#"{{"adapter":"demo","source_id":"{source}","sender":"{sender}","content":"{CANARY} {sender} {n}"}}"#
    );
    app.events().ingest(&line).await.expect("ledger").expect("an event").id
}

fn code<T: std::fmt::Debug>(result: Result<T, Problem>) -> Code {
    result.expect_err("must not work").code
}

fn addresses(person: &PersonView) -> Vec<&str> {
    person.addresses.iter().map(|address| address.address.as_str()).collect()
}

async fn identity(world: &World, identifier: &str) -> Option<Identity> {
    ledger_of(world).await.identity_of("demo", identifier).await.expect("ledger")
}

/// The tables that hold this anywhere.
async fn tables_with(world: &World, what: &str) -> Vec<&'static str> {
    let store = world.store().await;
    let mut found = Vec::new();
    for table in TABLES {
        let query = Query { table, filters: Vec::new(), order: None, limit: None };
        let rows = store.select(&query).await.expect("select");
        let holds = |cell: &Value| match cell {
            Value::Text(text) => text.contains(what),
            Value::Bytes(bytes) => bytes.windows(what.len()).any(|window| window == what.as_bytes()),
            Value::Null | Value::Int(_) | Value::Real(_) | Value::Time(_) => false,
        };
        if rows.iter().flatten().any(holds) {
            found.push(table.name);
        }
    }
    found
}

async fn kinds(world: &World) -> Vec<String> {
    let entries = ledger_of(world).await.select(Select::<AuditEntry>::all().ascending("seq")).await;
    let entries = entries.expect("audit").into_iter().map(|entry| entry.kind);
    entries.filter(|kind| kind.starts_with("person.")).collect()
}

#[tokio::test]
async fn somebody_is_made_known_linked_changed_and_shown() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        writes(&world.app, "canary-lea", 1).await;
        writes(&world.app, "canary-tom", 1).await;
        let (unknown, count) = world.app.people().unknown_senders(1).await.expect("unknown");
        assert_eq!((unknown.len(), count), (1, 2), "{kept:?}");
        let seen = identity(&world, "canary-lea").await.expect("somebody");

        let lea = NewPerson {
            relationship: Some("canary-partner".into()),
            tags: vec!["role:canary".into(), "gardener".into()],
            ..at("Canary Lea", &["demo:canary-lea", "mail:canary-lea@x.example", "demo:canary-lea"])
        };
        let lea = world.app.people().add(lea).await.expect("added");
        assert_eq!(addresses(&lea), ["demo:canary-lea", "mail:canary-lea@x.example"], "{kept:?}");
        assert_eq!((lea.trust, lea.because), (Trust::Standard, Because::Known), "{kept:?}");
        assert_eq!(lea.tags, ["gardener", "role:canary"], "{kept:?}");
        assert_eq!(lea.first_seen, seen.first_seen, "{kept:?}");
        let after = identity(&world, "canary-lea").await.expect("somebody");
        assert_eq!(after, Identity { entity_id: Some(lea.id), ..seen }, "{kept:?}: the same address");

        let mail = "mail:canary-lea@x.example";
        let lea =
            world.app.people().link("Canary Lea", mail, IdentityStatus::Verified).await.expect("linked");
        assert_eq!((lea.trust, lea.because), (Trust::Verified, Because::VerifiedAddress), "{kept:?}");
        let each: Vec<_> = lea.addresses.iter().map(|address| (address.verified, address.trust)).collect();
        let each_expected = [(false, Some(Trust::Standard)), (true, Some(Trust::Verified))];
        assert_eq!(each, each_expected, "{kept:?}: a verified address says nothing of another one");

        let set = Changes { relationship: Some(None), ..tags(&["role:canary-two"], &["gardener"]) };
        let lea = world.app.people().set(mail, set.clone()).await.expect("changed");
        assert_eq!(lea.tags, ["role:canary", "role:canary-two"], "{kept:?}");
        assert_eq!(lea.relationship, None, "{kept:?}");
        let lea = world.app.people().set(&lea.short, trusted(Some(Trust::Hostile))).await.expect("changed");
        assert_eq!((lea.trust, lea.because), (Trust::Hostile, Because::Set), "{kept:?}");
        let entries = kinds(&world).await.len();
        world.app.people().set(&lea.short, set).await.expect("the same again");
        world
            .app
            .people()
            .link("Canary Lea", mail, IdentityStatus::Unverified)
            .await
            .expect("the same again");
        assert_eq!(kinds(&world).await.len(), entries, "{kept:?}: nothing new is not written down");

        assert_eq!(world.app.people().show("Canary Lea").await.expect("somebody"), lea, "{kept:?}");
        assert_eq!(world.app.people().list().await.expect("people"), [lea], "{kept:?}");
        assert_eq!(world.app.people().unknown_senders(9).await.expect("unknown").1, 1, "{kept:?}: tom");
        let said = ["added", "linked", "linked", "linked", "changed", "changed"];
        assert_eq!(kinds(&world).await, said.map(|what| format!("person.{what}")), "{kept:?}");
        let personal = ["blobs", "entity_tags", "entity_identities"];
        assert_eq!(tables_with(&world, CANARY).await, personal, "{kept:?}: nowhere else");
        assert_eq!(tables_with(&world, "Canary").await, ["entities"], "{kept:?}: nowhere else");
        assert!(world.app.record().verify(&Check::default()).await.expect("verify").is_sound(), "{kept:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_said_of_somebody_is_refused_and_nothing_is_written() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.app.people().add(at("Lea", &["demo:lea"])).await.expect("added");
        world.app.people().add(named("Tom")).await.expect("added");
        let before = kinds(&world).await;
        let too_long = "x".repeat(201);
        let names =
            ["", " ", "owner", "Owner", "Lea ", "a\u{202e}b", "a\nb", "demo:lea", "p-k7q2", &too_long];
        for name in names {
            assert_eq!(code(world.app.people().add(named(name)).await), Code::BAD_PERSON, "{name:?}");
        }
        assert_eq!(code(world.app.people().add(named("Lea")).await), Code::PERSON_TAKEN);
        for word in ["", "Partner", "old friend", "-x", "x-", "a--b", "a:b", "pärtner", &too_long] {
            let with = NewPerson { relationship: Some(word.into()), ..named("New") };
            assert_eq!(code(world.app.people().add(with).await), Code::BAD_PERSON, "{word:?}");
            let set = Changes { relationship: Some(Some(word.into())), ..Changes::default() };
            assert_eq!(code(world.app.people().set("Lea", set).await), Code::BAD_PERSON, "{word:?}");
        }
        for tag in ["", "Role:x", "role:", ":x", "role::x", "a b", "*", &too_long] {
            let with = NewPerson { tags: vec![tag.into()], ..named("New") };
            assert_eq!(code(world.app.people().add(with).await), Code::BAD_PERSON, "{tag:?}");
            assert_eq!(code(world.app.people().set("Lea", tags(&[tag], &[])).await), Code::BAD_PERSON);
            assert_eq!(code(world.app.people().set("Lea", tags(&[], &[tag])).await), Code::BAD_PERSON);
        }
        let many = NewPerson { tags: (0..65).map(|n| n.to_string()).collect(), ..named("New") };
        assert_eq!(code(world.app.people().add(many).await), Code::BAD_PERSON);
        for trust in [Trust::Operator, Trust::System] {
            let with = NewPerson { trust: Some(trust), ..named("New") };
            assert_eq!(code(world.app.people().add(with).await), Code::BAD_PERSON, "{trust}");
            assert_eq!(code(world.app.people().set("Lea", trusted(Some(trust))).await), Code::BAD_PERSON);
        }
        let system = NewPerson { kind: EntityKind::System, ..named("New") };
        assert_eq!(code(world.app.people().add(system).await), Code::BAD_PERSON);
        let long = format!("demo:{}", "x".repeat(513));
        let wrong = [
            "",
            "lea",
            "demo:",
            ":lea",
            "terminal:uid:1000",
            "system:agent:main",
            "demo:erased:i-1",
            "demo:a\u{1b}b",
            "de mo:lea",
            &long,
        ];
        for address in wrong {
            assert_eq!(
                code(world.app.people().add(at("New", &[address])).await),
                Code::BAD_PERSON,
                "{address:?}"
            );
            let link = world.app.people().link("Lea", address, IdentityStatus::Verified).await;
            assert_eq!(code(link), Code::BAD_PERSON, "{address:?}");
            assert_eq!(code(world.app.people().unlink(address).await), Code::BAD_PERSON, "{address:?}");
        }
        let taken =
            world.app.people().link("Tom", "demo:lea", IdentityStatus::Verified).await.expect_err("taken");
        assert_eq!(taken.code, Code::PERSON_TAKEN);
        assert!(taken.what.contains("belongs to Lea, p-"), "it says whose: {}", taken.what);
        let half = world.app.people().add(at("New", &["demo:fresh", "demo:lea"])).await;
        assert_eq!(code(half), Code::PERSON_TAKEN);
        assert_eq!(identity(&world, "fresh").await, None, "{kept:?}: all or nothing");
        for who in ["Nobody", "lea", "p-zzzz", "demo:tom", "", "t-1"] {
            assert_eq!(code(world.app.people().show(who).await), Code::NOBODY, "{who:?}");
            assert_eq!(
                code(world.app.people().link(who, "demo:x", IdentityStatus::Unverified).await),
                Code::NOBODY,
                "{who:?}"
            );
        }
        assert_eq!(code(world.app.people().unlink("demo:nobody").await), Code::NOBODY);
        assert_eq!(code(world.app.people().set("Lea", Changes::default()).await), Code::BAD_PERSON);
        assert_eq!(code(world.app.people().set("Lea", tags(&["a"], &["a"])).await), Code::BAD_PERSON);
        assert_eq!(kinds(&world).await, before, "{kept:?}");
        assert_eq!(world.app.people().list().await.expect("people").len(), 2, "{kept:?}");
    }
}

#[tokio::test]
async fn an_address_speaks_for_the_owner_only_if_it_is_verified() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        assert_eq!(code(world.app.people().show("owner").await), Code::NOBODY, "{kept:?}: not here yet");
        writes(&world.app, "me", 1).await;
        let unsure = world.app.people().link("owner", "demo:me", IdentityStatus::Unverified).await;
        assert_eq!(code(unsure), Code::UNVERIFIED, "{kept:?}");
        assert!(!identity(&world, "me").await.expect("somebody").is_owned, "{kept:?}");
        let owner =
            world.app.people().link("owner", "demo:me", IdentityStatus::Verified).await.expect("linked");
        assert_eq!((owner.is_owner, owner.trust, owner.because), (true, Trust::Operator, Because::Owner));
        assert_eq!(addresses(&owner), ["demo:me", "terminal:uid:1000"], "{kept:?}");
        let mine = identity(&world, "me").await.expect("somebody");
        assert_eq!((mine.is_owned, mine.is_verified), (true, true), "{kept:?}");
        world.run("how many files are here?").await.expect("the same owner at the terminal");
        for trust in [Some(Trust::Hostile), Some(Trust::Verified), None] {
            assert_eq!(code(world.app.people().set("owner", trusted(trust)).await), Code::BAD_PERSON);
        }
        world.app.people().unlink("demo:me").await.expect("unlinked");
        let free = identity(&world, "me").await.expect("somebody");
        assert_eq!((free.entity_id, free.is_owned, free.is_verified), (None, false, false), "{kept:?}");
        let owners = ledger_of(&world).await.select(Select::<Entity>::by("is_owner", &true)).await;
        assert_eq!(owners.expect("entities").len(), 1, "{kept:?}");
    }
}

#[tokio::test]
async fn words_go_with_the_address_that_said_them() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        writes(&world.app, "mallory", 1).await;
        world.app.people().add(at("Lea", &["demo:mallory", "demo:lea"])).await.expect("added");
        writes(&world.app, "mallory", 2).await;
        writes(&world.app, "lea", 1).await;
        world.app.people().unlink("demo:mallory").await.expect("unlinked");
        writes(&world.app, "mallory", 3).await;
        let gone = world.app.people().forget("demo:mallory", Forget::ForGood).await.expect("forgotten").gone;
        assert_eq!((gone.blobs, gone.entities, gone.entity_identities), (3, 0, 1), "{kept:?}");
        assert_eq!(tables_with(&world, "mallory").await, [""; 0], "{kept:?}");
        let lea = world.app.people().show("Lea").await.expect("untouched");
        assert_eq!(addresses(&lea), ["demo:lea"], "{kept:?}");
        assert_ne!(tables_with(&world, "canary lea 1").await, [""; 0], "{kept:?}");

        world.app.people().add(named("Without an address")).await.expect("added");
        for who in ["Lea", "Without an address"] {
            let gone = world.app.people().forget(who, Forget::ForGood).await.expect("by name").gone;
            assert_eq!(gone.entities, 1, "{kept:?}: {who}");
            assert_eq!(code(world.app.people().show(who).await), Code::NOBODY, "{kept:?}: {who}");
        }
        assert_eq!(world.app.people().list().await.expect("people"), [], "{kept:?}");
        assert_eq!(code(world.app.people().show(&lea.short).await), Code::NOBODY, "{kept:?}: a tombstone");
        assert_eq!(
            code(world.app.people().link(&lea.short, "demo:x", IdentityStatus::Unverified).await),
            Code::NOBODY
        );
        assert_eq!(
            world.app.people().unknown_senders(9).await.expect("unknown").1,
            0,
            "{kept:?}: tombstones"
        );
        world.app.people().add(at("Lea", &["demo:lea"])).await.expect("the name and the address are free");
    }
}

/// Stops before its first commit, until it is told to go on.
struct Held {
    commits: Mutex<u32>,
    here: mpsc::SyncSender<()>,
    go: Mutex<mpsc::Receiver<()>>,
}

impl Probe for Held {
    fn reached(&self, point: Point<'_>) {
        if point != Point::Committing {
            return;
        }
        let mut commits = self.commits.lock().expect("not poisoned");
        *commits += 1;
        if *commits == 1 {
            tokio::task::block_in_place(|| {
                self.here.send(()).expect("somebody listens");
                self.go.lock().expect("not poisoned").recv().expect("told to go on");
            });
        }
    }
}

/// One process is held right before it writes; another one does something meanwhile.
async fn meanwhile<T: Send + 'static, F: Future<Output = T> + Send + 'static, M>(
    world: &mut World,
    held: impl FnOnce(App) -> F,
    between: impl AsyncFnOnce(&App) -> M,
) -> (T, M) {
    let (here, arrived) = mpsc::sync_channel(1);
    let (on, go) = mpsc::sync_channel(1);
    let app = world.another(Arc::new(Held { commits: Mutex::default(), here, go: Mutex::new(go) }));
    let work = tokio::spawn(held(app));
    tokio::task::block_in_place(|| arrived.recv()).expect("it is about to commit");
    let other = between(&world.app).await;
    on.send(()).expect("it goes on");
    (work.await.expect("a task"), other)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_while_they_are_linked_is_theirs() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        world.app.people().add(named("Lea")).await.expect("added");
        writes(&world.app, "known", 1).await;
        for sender in ["known", "fresh"] {
            let address = format!("demo:{sender}");
            let held =
                async move |app: App| app.people().link("Lea", &address, IdentityStatus::Unverified).await;
            let (linked, event) =
                meanwhile(&mut world, held, async |app: &App| writes(app, sender, 2).await).await;
            let linked = linked.expect("linked");
            let event = ledger_of(&world).await.event(event).await.expect("ledger").expect("an event");
            let theirs = identity(&world, sender).await.expect("somebody");
            assert_eq!((theirs.id, theirs.entity_id), (event.sender, Some(linked.id)), "{kept:?}: {sender}");
        }
        // And the other way round: the message is held while they are linked.
        for sender in ["known-too", "fresh-too"] {
            if sender == "known-too" {
                writes(&world.app, sender, 1).await;
            }
            let held = async move |app: App| writes(&app, sender, 3).await;
            let link = async |app: &App| {
                app.people()
                    .link("Lea", &format!("demo:{sender}"), IdentityStatus::Unverified)
                    .await
                    .expect("linked")
            };
            let (event, lea) = meanwhile(&mut world, held, link).await;
            let event = ledger_of(&world).await.event(event).await.expect("ledger").expect("an event");
            let theirs = identity(&world, sender).await.expect("somebody");
            assert_eq!((theirs.id, theirs.entity_id), (event.sender, Some(lea.id)), "{kept:?}: {sender}");
        }
        world.app.people().forget("Lea", Forget::ForGood).await.expect("forgotten");
        assert_eq!(tables_with(&world, CANARY).await, [""; 0], "{kept:?}: all of it goes");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_forgotten_meanwhile_does_not_come_back() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        // The person goes, or the address does.
        for (name, sender, goes) in [("Lea", "lea", "Lea"), ("Tom", "tom", "demo:tom")] {
            world.app.people().add(named(name)).await.expect("added");
            writes(&world.app, sender, 1).await;
            let old = identity(&world, sender).await.expect("somebody");
            let held = async move |app: App| {
                app.people().link(name, &format!("demo:{sender}"), IdentityStatus::Unverified).await
            };
            let forget =
                async |app: &App| app.people().forget(goes, Forget::ForGood).await.expect("forgotten");
            let (linked, _) = meanwhile(&mut world, held, forget).await;
            let row = ledger_of(&world).await.identity(old.id).await.expect("ledger").expect("a row");
            if goes == name {
                assert_eq!(code(linked), Code::NOBODY, "{kept:?}");
                assert_eq!(row, old, "{kept:?}: the address is as it was");
            } else {
                let linked = linked.expect("a new address of that name");
                assert_eq!(row, old.erased(), "{kept:?}: a tombstone stays one");
                assert_ne!(linked.addresses[0].id, old.id, "{kept:?}");
                assert_eq!(tables_with(&world, &format!("{CANARY} {sender}")).await, [""; 0], "{kept:?}");
            }
        }
        // A change of somebody who goes.
        world.app.people().add(named("Sue")).await.expect("added");
        let held = async move |app: App| app.people().set("Sue", tags(&["role:canary-sue"], &[])).await;
        let forget = async |app: &App| app.people().forget("Sue", Forget::ForGood).await.expect("forgotten");
        let (changed, _) = meanwhile(&mut world, held, forget).await;
        assert_eq!(code(changed), Code::NOBODY, "{kept:?}");
        assert_eq!(tables_with(&world, "canary-sue").await, [""; 0], "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_linked_while_they_are_forgotten_goes_too() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        world.app.people().add(at("Lea", &["demo:lea"])).await.expect("added");
        writes(&world.app, "canary-second", 1).await;
        // By name, and by an address that turns out to be hers; and one that is unlinked in between was asked for, too.
        let held = async move |app: App| app.people().forget("Lea", Forget::ForGood).await;
        let link = async |app: &App| {
            app.people().link("Lea", "demo:canary-second", IdentityStatus::Unverified).await
        };
        let (forgotten, linked) = meanwhile(&mut world, held, link).await;
        forgotten.expect("forgotten");
        linked.expect("linked");
        assert_eq!(tables_with(&world, "canary-second").await, [""; 0], "{kept:?}");

        world.app.people().add(named("Canary Tom")).await.expect("added");
        writes(&world.app, "tom", 1).await;
        let held = async move |app: App| app.people().forget("demo:tom", Forget::ForGood).await;
        let link =
            async |app: &App| app.people().link("Canary Tom", "demo:tom", IdentityStatus::Unverified).await;
        let (forgotten, linked) = meanwhile(&mut world, held, link).await;
        forgotten.expect("forgotten");
        linked.expect("linked");
        assert_eq!(tables_with(&world, "Canary").await, [""; 0], "{kept:?}: all of him");

        world.app.people().add(at("Sue", &["demo:sue"])).await.expect("added");
        writes(&world.app, "sue", 1).await;
        let held = async move |app: App| app.people().forget("demo:sue", Forget::ForGood).await;
        let unlink = async |app: &App| app.people().unlink("demo:sue").await;
        let (forgotten, unlinked) = meanwhile(&mut world, held, unlink).await;
        forgotten.expect("forgotten");
        unlinked.expect("unlinked");
        assert_eq!(tables_with(&world, "canary sue").await, [""; 0], "{kept:?}");
        assert_eq!(identity(&world, "sue").await, None, "{kept:?}");

        // What has become the owner's meanwhile is not forgotten.
        writes(&world.app, "me", 1).await;
        let held = async move |app: App| app.people().forget("demo:me", Forget::ForGood).await;
        let link = async |app: &App| app.people().link("owner", "demo:me", IdentityStatus::Verified).await;
        let (forgotten, linked) = meanwhile(&mut world, held, link).await;
        linked.expect("linked");
        assert_eq!(code(forgotten), Code::PART_OF_THE_HOUSE, "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_those_who_change_people_at_once_none_is_lost() {
    const RIVALS: usize = 6;
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        writes(&world.app, "wanted", 1).await;
        for n in 0..RIVALS {
            world.app.people().add(named(&format!("Rival {n}"))).await.expect("added");
        }
        let apps: Vec<Arc<App>> = (0..RIVALS).map(|_| Arc::new(world.another(Arc::new(Silent)))).collect();
        let mut at_once = tokio::task::JoinSet::new();
        for (n, app) in apps.iter().cloned().enumerate() {
            at_once.spawn(async move {
                app.people().link(&format!("Rival {n}"), "demo:wanted", IdentityStatus::Unverified).await
            });
        }
        let linked = at_once.join_all().await;
        let (won, lost): (Vec<_>, Vec<_>) = linked.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, RIVALS - 1), "{kept:?}: {lost:?}");
        assert!(lost.into_iter().all(|lost| code(lost) == Code::PERSON_TAKEN), "{kept:?}");
        let owner = identity(&world, "wanted").await.expect("somebody").entity_id;
        assert_eq!(owner, won.into_iter().flatten().map(|person| person.id).next(), "{kept:?}");

        let mut at_once = tokio::task::JoinSet::new();
        for (n, app) in apps.iter().cloned().enumerate() {
            at_once
                .spawn(async move { app.people().set("Rival 0", tags(&[&format!("role:{n}")], &[])).await });
        }
        assert!(at_once.join_all().await.iter().all(Result::is_ok), "{kept:?}");
        let tags = world.app.people().show("Rival 0").await.expect("somebody").tags;
        assert_eq!(tags, (0..RIVALS).map(|n| format!("role:{n}")).collect::<Vec<_>>(), "{kept:?}");

        let mut at_once = tokio::task::JoinSet::new();
        for app in apps {
            at_once.spawn(async move { app.people().add(named("The same")).await });
        }
        let added = at_once.join_all().await.into_iter().filter(Result::is_ok).count();
        assert_eq!(added, 1, "{kept:?}");
    }
}
