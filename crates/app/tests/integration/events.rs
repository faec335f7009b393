//! Events as adapters hand them over: what is taken in, what is a repeat, and what is refused. On every store.

use app::operation::LinePipeline as _;
use app::people::{Forget, NewPerson};
use app::record::{BadLine, EventPipeline, Receipt};
use ledger::Select;
use ledger::records::{EntityKind, Event};
use ledger::table::Record as _;
use serde_json::{Value, json};
use testkit::{Kept, World};

async fn takes(world: &World, line: &Value) -> Result<Receipt, BadLine> {
    world.app.events().ingest(&line.to_string()).await.expect("ledger")
}

fn line(source: &str, sender: &str, content: &str) -> Value {
    json!({ "adapter": "demo", "source_id": source, "sender": sender, "content": content })
}

async fn events(world: &World) -> Vec<Event> {
    let rows = world.store().await.select(&Select::<Event>::all().query).await.expect("rows");
    rows.into_iter().map(|row| Event::from_row(row).expect("an event")).collect()
}

#[tokio::test]
async fn the_same_key_with_another_body_is_refused_and_a_repeat_is_not() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let first = takes(&world, &line("1", "lea", "hello")).await.expect("an event");
        let again = takes(&world, &line("1", "lea", "hello")).await.expect("the same");
        assert_eq!((first.id, first.new, again.new), (again.id, true, false), "{kept:?}");
        let taken = BadLine::KeyTaken { key: "demo:1".into(), id: first.id };
        for other in [line("1", "lea", "hello!"), line("1", "tom", "hello"), line("1", "lea", "")] {
            assert_eq!(takes(&world, &other).await, Err(taken.clone()), "{kept:?}: {other}");
        }
        assert_eq!(events(&world).await.len(), 1, "{kept:?}");

        // The digest is kept longer than the words, and goes with the person.
        world.app.people().forget("demo:lea", Forget::ForGood).await.expect("forgotten");
        let from_the_start = takes(&world, &line("1", "lea", "hello")).await.expect("known");
        assert_eq!((from_the_start.id, from_the_start.new), (first.id, false), "{kept:?}");
        assert!(
            !takes(&world, &line("1", "lea", "other")).await.expect("not to be told apart").new,
            "{kept:?}"
        );
    }
}

#[tokio::test]
async fn a_name_that_is_there_twice_is_refused() {
    let world = World::new(Kept::InMemory).await;
    for (text, name) in [
        (r#"{"adapter":"demo","adapter":"cli","source_id":"1","sender":"lea","content":"x"}"#, "adapter"),
        (r#"{"adapter":"demo","source_id":"1","sender":"lea","content":"a","content":"b"}"#, "content"),
        (
            r#"{"adapter":"demo","source_id":"1","sender":"lea","content":"a","metadata":{"guild":"x","guild":"y"}}"#,
            "guild",
        ),
        (r#"{"adapter":"demo","source_id":"1","sender":"lea","content":"a","odd":1,"odd":2}"#, "odd"),
    ] {
        let bad = world.app.events().ingest(text).await.expect("ledger").expect_err(text);
        assert_eq!(bad, BadLine::NotAnEvent(format!("`{name}` is named twice in one object")), "{text}");
    }
    assert_eq!(events(&world).await, []);
}

fn hook(name: &str, sender: &str, source: &str) -> Value {
    json!({ "adapter": "webhook", "account": name, "source_id": source, "sender": sender, "content": "a push" })
}

#[tokio::test]
async fn a_webhook_that_is_not_registered_is_not_let_in() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let unknown = |name: &str| Err(BadLine::UnknownWebhook { name: name.into() });
        assert_eq!(takes(&world, &hook("shop", "shop", "1")).await, unknown("shop"), "{kept:?}");
        let person = |name: &str, kind, address: &str| NewPerson {
            name: name.into(),
            kind,
            relationship: None,
            tags: Vec::new(),
            trust: None,
            addresses: vec![address.into()],
        };
        world.app.people().add(person("Lea", EntityKind::Person, "webhook:lea")).await.expect("added");
        assert_eq!(
            takes(&world, &hook("lea", "lea", "1")).await,
            unknown("lea"),
            "{kept:?}: a person is none"
        );

        world.app.people().add(person("Shop", EntityKind::Webhook, "webhook:shop")).await.expect("added");
        let mut principals = Vec::new();
        for (n, sender) in ["shop", "somebody"].into_iter().enumerate() {
            let event = takes(&world, &hook("shop", sender, &n.to_string())).await.expect("registered").id;
            world.app.events().admit_waiting().await.expect("decided");
            let why = world.app.record().why(&event.to_string()).await.expect("why");
            principals.push(format!("{why:?}").contains("webhook:shop"));
        }
        assert_eq!(
            principals,
            [true, true],
            "{kept:?}: it is the one it came by, whatever it says of itself"
        );
        assert_eq!(takes(&world, &hook("other", "shop", "9")).await, unknown("other"), "{kept:?}");

        // Taken in while it was registered, and decided about when it is not any more.
        let late = takes(&world, &hook("shop", "somebody", "7")).await.expect("registered").id;
        world.app.people().forget("Shop", Forget::ForGood).await.expect("forgotten");
        let decided = world.app.events().admit_waiting().await.expect("decided");
        assert_eq!((decided.allowed, decided.denied), (0, 1), "{kept:?}");
        let why = format!("{:?}", world.app.record().why(&late.to_string()).await.expect("why"));
        assert!(!why.contains("webhook:shop"), "{kept:?}: {why}");
    }
}

/// Answers everything that was taken.
async fn drain(pipeline: &mut EventPipeline<'_>, lines: usize) -> Vec<Result<Receipt, String>> {
    let mut answers = Vec::new();
    for _ in 0..lines {
        pipeline.decided().await;
        answers.push(pipeline.answer().await.expect("ledger"));
    }
    answers
}

/// The source ids of an adapter's account, in the order of the ledger.
async fn order(world: &World, account: &str) -> Vec<u32> {
    let mut events = events(world).await;
    events.sort_by_key(|event| event.seq);
    let numbers = events.iter().filter_map(|event| event.key.strip_prefix(&format!("demo:{account}:")));
    numbers.map(|number| number.parse().expect("a number")).collect()
}

#[tokio::test]
async fn many_events_are_in_flight_and_answered_in_order() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let mut pipeline = world.app.events().pipeline();
        let (mut taken, mut last) = (0, 0);
        let of = |n: u32, content: &str| {
            let mut line = line(&n.to_string(), &format!("sender-{}", n % 7), content);
            line["account"] = "home".into();
            line["container_id"] = format!("room-{}", n % 3).into();
            line.to_string()
        };
        while pipeline.has_room() {
            pipeline.take(of(taken, "hello")).await.expect("ledger").expect("an event");
            taken += 1;
        }
        assert_eq!(taken as usize, domain::limits::EVENTS_IN_FLIGHT, "{kept:?}");
        // One more for each that is told of, through several windows; some lines come again, one with another content.
        let mut answers = Vec::new();
        while last < 700 {
            answers.extend(drain(&mut pipeline, 1).await);
            last += 1;
            if pipeline.has_room() && taken < 700 {
                let text = match taken % 50 {
                    10 => of(taken - 5, "hello"),
                    20 => of(taken - 5, "other"),
                    _ => of(taken, "hello"),
                };
                pipeline.take(text).await.expect("ledger").expect("an event");
                taken += 1;
            }
        }
        assert_eq!((answers.len(), pipeline.has_room()), (700, true), "{kept:?}");
        for (n, answer) in (0_u32..).zip(&answers) {
            let first = n < 256;
            match (n % 50, answer) {
                (10, Ok(receipt)) if !first => {
                    assert_eq!((receipt.new, &receipt.key), (false, &format!("demo:home:{}", n - 5)))
                }
                (20, Err(why)) if !first => assert!(why.contains("was taken in before"), "{why}"),
                (_, Ok(receipt)) => {
                    assert_eq!((receipt.new, &receipt.key), (true, &format!("demo:home:{n}")), "{kept:?}")
                }
                (_, Err(why)) => panic!("{kept:?}: {n}: {why}"),
            }
        }
        assert!(order(&world, "home").await.is_sorted(), "{kept:?}");
    }
}

/// Two processes meet the same people at the same moment: one of them has to look again, and keeps its order.
#[tokio::test]
async fn processes_that_meet_the_same_people_keep_their_order_each() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        let other = world.another(std::sync::Arc::new(domain::probe::Silent));
        let of = |account: &str, n: u32| {
            let mut line = line(&n.to_string(), &format!("sender-{}", n % 40), "hello");
            line["account"] = account.into();
            line["container_id"] = format!("room-{}", n % 5).into();
            line.to_string()
        };
        for app in [&world.app, &other] {
            app.events()
                .ingest(&line("open", "somebody", "x").to_string())
                .await
                .expect("ledger")
                .expect("taken");
        }
        let (mut here, mut there) = (world.app.events().pipeline(), other.events().pipeline());
        for n in 0..200 {
            here.take(of("here", n)).await.expect("ledger").expect("an event");
            there.take(of("there", n)).await.expect("ledger").expect("an event");
        }
        let (here, there) = tokio::join!(drain(&mut here, 200), drain(&mut there, 200));
        let all_new = |answers: &[Result<Receipt, String>]| {
            answers.iter().all(|answer| answer.as_ref().is_ok_and(|one| one.new))
        };
        assert!(all_new(&here) && all_new(&there), "{kept:?}");
        for account in ["here", "there"] {
            assert_eq!(order(&world, account).await, (0..200).collect::<Vec<u32>>(), "{kept:?}");
        }
        let met = world.store().await.select(&Select::<ledger::records::Identity>::all().query).await;
        assert_eq!(met.expect("rows").len(), 41, "{kept:?}");
    }
}
