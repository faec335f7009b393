//! Whoever nobody knows: the owner is asked once, and what comes of each answer.

use app::Code;
use app::people::{AccessRequestAnswer, AccessRequestView, Forget, PersonDetails};
use app::policies::Apply;
use domain::Trust;
use domain::approval::Status;
use domain::event::Direction;
use ledger::records::{AuditEntry, Event, Identity, Knock, KnockKind};
use policy::acl::Effect;
use policy::admit::Asked;
use testkit::{Kept, World};

use crate::admission::{
    CANARY, DAY, SECOND, admit, code, decision, decisions, knows, ledger_of, question, records, rows, sound,
    words, writes, yes,
};

const NOBODY: &str = "- name: nobody\n  match: {}\n  effect: deny\n  priority: 99\n";

fn who(name: &str, relationship: &str) -> AccessRequestAnswer {
    let (name, relationship) = (Some(name.into()), Some(relationship.into()));
    AccessRequestAnswer::Yes(PersonDetails { name, relationship, person: None })
}

async fn answer(world: &World, answer: AccessRequestAnswer) -> AccessRequestView {
    let knock = question(world).await;
    let view = world.app.access_requests().answer(&knock, answer, "terminal").await.expect("answered");
    world.clock.turn(SECOND);
    view
}

async fn identity(world: &World) -> Identity {
    let found = ledger_of(world).await.identity_of("demo", "lea").await.expect("ledger");
    found.expect("somebody")
}

#[tokio::test]
async fn about_a_stranger_the_owner_is_asked_once_and_the_stranger_hears_nothing() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let first = writes(&world, "lea", 1).await;
        assert_eq!(admit(&world).await, (0, 1, 0), "{kept:?}");
        for n in 2..=21 {
            writes(&world, "lea", n).await;
        }
        assert_eq!(admit(&world).await, (0, 20, 0), "{kept:?}");
        let view = world.app.access_requests().show(&question(&world).await).await.expect("a view");
        assert_eq!((view.kind, view.status), (KnockKind::Pairing, Status::Pending), "{kept:?}");
        assert_eq!((view.sender.as_deref(), view.person), (Some("demo:lea"), None), "{kept:?}");
        assert_eq!((view.messages.len(), view.messages[0].event), (20, first), "{kept:?}");
        assert!(view.messages.iter().all(|message| message.effect == "deny"), "{kept:?}");
        assert_eq!(view.messages[0].text, Some(format!("{CANARY}, says lea")), "{kept:?}");
        let admission = decision(&world, first).await;
        assert_eq!(admission.principal, domain::principal::Principal::Unknown);
        assert_eq!((admission.trust, admission.session), (Trust::Untrusted, None), "{kept:?}");
        assert!(admission.tools.is_empty(), "{kept:?}");

        let ids: Vec<_> = rows::<Event>(&world).await;
        let last = ids.iter().max_by_key(|event| event.seq.0).expect("an event").id;
        let admission = decision(&world, last).await;
        assert_eq!((admission.effect, admission.facts.asked), (Effect::Deny, Some(Asked::TooManyWait)));
        assert!(words(&admission).ends_with("too many messages of this sender wait for the owner already"));
        assert_eq!(records(&world, last).await[0].knock_id, None, "{kept:?}");
        assert!(ids.iter().all(|event| event.direction == Direction::In), "{kept:?}: nothing is sent");
        sound(&world).await;
    }
}

#[tokio::test]
async fn a_yes_introduces_them_and_the_policies_of_now_decide() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let (one, two) = (writes(&world, "lea", 1).await, writes(&world, "lea", 2).await);
        admit(&world).await;
        let view = answer(&world, who("Lea", "partner")).await;
        assert_eq!((view.status, view.person.as_deref()), (Status::Approved, Some("Lea")), "{kept:?}");
        assert!(view.messages.iter().all(|message| message.effect == "allow"), "{kept:?}: {view:?}");
        let lea = world.app.people().show("Lea").await.expect("somebody");
        assert_eq!((lea.relationship.as_deref(), lea.trust), (Some("partner"), Trust::Standard), "{kept:?}");
        assert_eq!(lea.addresses.len(), 1, "{kept:?}");
        let linked = identity(&world).await;
        assert_eq!((linked.entity_id, linked.is_verified, linked.is_owned), (Some(lea.id), false, false));
        for event in [one, two] {
            let [before, after] = <[_; 2]>::try_from(decisions(&world, event).await).expect("two");
            assert_eq!((before.effect, after.effect), (Effect::Deny, Effect::Allow), "{kept:?}");
            assert_eq!(after.matched, ["partner-access"], "{kept:?}");
            assert_eq!(after.session, Some(format!("agent:main:partner:{}", lea.id)), "{kept:?}");
            assert_eq!(after.facts.asked, Some(Asked::SaidYes), "{kept:?}");
            let rows = records(&world, event).await;
            assert_eq!((rows[0].n, rows[1].n, rows[0].knock_id), (0, 1, rows[1].knock_id), "{kept:?}");
        }
        let knock = &rows::<Knock>(&world).await[0];
        assert_eq!((knock.entity_id, knock.waiting.as_deref()), (Some(lea.id), None), "{kept:?}");
        let three = writes(&world, "lea", 3).await;
        assert_eq!(admit(&world).await, (1, 0, 0), "{kept:?}: and from now on");
        assert_eq!(records(&world, three).await.len(), 1, "{kept:?}");
        assert_eq!(
            code(
                world
                    .app
                    .access_requests()
                    .answer(&knock.id.to_string(), AccessRequestAnswer::No, "terminal")
                    .await
            ),
            Code::ANSWERED
        );
        sound(&world).await;
    }
}

/// A plain yes makes them what the least of the shipped policies takes; or they are somebody who is known already.
#[tokio::test]
async fn who_they_are_can_be_left_out_or_be_somebody_known() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let event = writes(&world, "lea", 1).await;
        admit(&world).await;
        answer(&world, yes()).await;
        let admission = decision(&world, event).await;
        assert_eq!(
            (admission.effect, &admission.matched[..]),
            (Effect::Allow, &["friends-access".into()][..])
        );
        knows(&world, "Tom", "family", "demo:tom").await;
        let event = writes(&world, "tom-at-work", 1).await;
        admit(&world).await;
        let tom = PersonDetails { person: Some("Tom".into()), ..PersonDetails::default() };
        let view = answer(&world, AccessRequestAnswer::Yes(tom)).await;
        assert_eq!((view.person.as_deref(), view.messages[0].effect.as_str()), (Some("Tom"), "allow"));
        assert_eq!(world.app.people().show("Tom").await.expect("somebody").addresses.len(), 2, "{kept:?}");
        assert_eq!(decision(&world, event).await.matched, ["family-access"], "{kept:?}");
        // The owner's own address needs more than a yes, and a name that is taken is taken.
        writes(&world, "somebody", 1).await;
        admit(&world).await;
        world.file("a.rs", "");
        world.run("how many Rust files are here?").await.expect("the owner is here");
        let knock = question(&world).await;
        let owner = PersonDetails { person: Some("owner".into()), ..PersonDetails::default() };
        for (wrong, expected) in [
            (AccessRequestAnswer::Yes(owner), Code::UNVERIFIED),
            (who("Tom", "friend"), Code::PERSON_TAKEN),
            (who("Sue", "Best Friend"), Code::BAD_PERSON),
        ] {
            assert_eq!(
                code(world.app.access_requests().answer(&knock, wrong, "terminal").await),
                expected,
                "{kept:?}"
            );
        }
        assert_eq!(question(&world).await, knock, "{kept:?}: it stands as before");
        sound(&world).await;
    }
}

#[tokio::test]
async fn after_a_no_about_a_stranger_nobody_is_asked_again() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let event = writes(&world, "lea", 1).await;
        admit(&world).await;
        let view = answer(&world, AccessRequestAnswer::No).await;
        assert_eq!((view.status, view.person), (Status::Rejected, None), "{kept:?}");
        let [_, after] = <[_; 2]>::try_from(decisions(&world, event).await).expect("two");
        assert_eq!((after.effect, after.facts.asked), (Effect::Deny, Some(Asked::SaidNo)), "{kept:?}");
        assert_eq!(identity(&world).await.entity_id, None, "{kept:?}");
        world.clock.turn(400 * DAY);
        let late = writes(&world, "lea", 2).await;
        assert_eq!(admit(&world).await, (0, 1, 0), "{kept:?}");
        assert_eq!(decision(&world, late).await.facts.asked, Some(Asked::NotAgain), "{kept:?}");
        assert_eq!(world.app.access_requests().list().await.expect("knocks").len(), 0, "{kept:?}");
        assert_eq!(rows::<Knock>(&world).await.len(), 1, "{kept:?}");
        // The owner can still introduce them by hand.
        knows(&world, "Lea", "friend", "demo:lea").await;
        writes(&world, "lea", 3).await;
        assert_eq!(admit(&world).await, (1, 0, 0), "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test]
async fn no_answer_is_neither_yes_nor_no_and_after_a_day_they_are_asked_again() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let event = writes(&world, "lea", 1).await;
        admit(&world).await;
        let knock = rows::<Knock>(&world).await[0].clone();
        assert_eq!(knock.timeout_at.since(knock.created_at), 7 * DAY, "{kept:?}");
        world.clock.turn(7 * DAY - 3 * SECOND);
        admit(&world).await;
        assert_eq!(records(&world, event).await.len(), 1, "{kept:?}: it still stands");
        world.clock.turn(3 * SECOND);
        let late = writes(&world, "lea", 2).await;
        assert_eq!(admit(&world).await, (0, 1, 0), "{kept:?}");
        let over = world.app.access_requests().show(&knock.id.to_string()).await.expect("a view");
        assert_eq!(over.status, Status::Expired, "{kept:?}");
        let [_, after] = <[_; 2]>::try_from(decisions(&world, event).await).expect("two");
        assert_eq!((after.effect, after.facts.asked), (Effect::Deny, Some(Asked::NoAnswer)), "{kept:?}");
        assert_eq!(decision(&world, late).await.facts.asked, Some(Asked::NotAgain), "{kept:?}");
        assert_eq!(
            code(world.app.access_requests().answer(&knock.id.to_string(), yes(), "terminal").await),
            Code::ANSWERED,
            "{kept:?}: too late"
        );
        world.clock.turn(DAY);
        writes(&world, "lea", 3).await;
        admit(&world).await;
        assert_ne!(
            world.app.access_requests().list().await.expect("knocks")[0].id,
            knock.id,
            "{kept:?}: asked again"
        );
        sound(&world).await;
    }
}

#[tokio::test]
async fn a_yes_is_no_more_than_a_yes_where_a_policy_of_now_denies() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let event = writes(&world, "lea", 1).await;
        admit(&world).await;
        world.app.policies().apply("nobody.yaml", NOBODY, Apply::Really).await.expect("applied");
        let view = answer(&world, who("Lea", "partner")).await;
        assert_eq!((view.status, view.person.as_deref()), (Status::Approved, Some("Lea")), "{kept:?}");
        assert_eq!(view.messages[0].effect, "deny", "{kept:?}");
        let why = ["`nobody` denies it", "the owner was asked about it, and said yes"];
        assert_eq!(view.messages[0].why, why, "{kept:?}");
        let admission = decision(&world, event).await;
        assert_eq!((admission.effect, admission.session), (Effect::Deny, None), "{kept:?}");
        assert!(admission.tools.is_empty(), "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test]
async fn of_two_owners_who_answer_at_once_one_is_heard_and_the_other_told() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        let event = writes(&world, "lea", 1).await;
        admit(&world).await;
        let knock = question(&world).await;
        let mut rivals = tokio::task::JoinSet::new();
        for answer in [who("Lea", "friend"), AccessRequestAnswer::No] {
            let (app, knock) = (world.another(std::sync::Arc::new(domain::probe::Silent)), knock.clone());
            rivals.spawn(async move { app.access_requests().answer(&knock, answer, "terminal").await });
        }
        let (heard, told): (Vec<_>, Vec<_>) = rivals.join_all().await.into_iter().partition(Result::is_ok);
        assert_eq!((heard.len(), told.len()), (1, 1), "{kept:?}");
        assert_eq!(told.into_iter().map(code).collect::<Vec<_>>(), [Code::ANSWERED], "{kept:?}");
        let view = heard.into_iter().next().expect("one").expect("heard");
        let introduced = world.app.people().show("Lea").await.is_ok();
        assert_eq!(introduced, view.status == Status::Approved, "{kept:?}");
        assert_eq!(records(&world, event).await.len(), 2, "{kept:?}");
        let ends = rows::<AuditEntry>(&world).await.into_iter();
        let ends = ends.filter(|entry| entry.kind.starts_with("knock.") && entry.kind != "knock.asked");
        assert_eq!(ends.count(), 1, "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test]
async fn a_clock_that_goes_back_does_not_hide_the_answer() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let event = writes(&world, "lea", 1).await;
        admit(&world).await;
        // By less than two clocks may differ: the question is still open.
        world.clock.turn_back(30 * SECOND);
        let view = answer(&world, who("Lea", "partner")).await;
        assert_eq!(view.messages[0].effect, "allow", "{kept:?}");
        assert_eq!(decision(&world, event).await.effect, Effect::Allow, "{kept:?}");
        let why = world.app.record().recheck(&event.to_string()).await.expect("why");
        assert!(why.recheck.expect("asked for").holds, "{kept:?}");
    }
}

/// Somebody was introduced by hand meanwhile: the policies of now would let them in, and the owner said no.
#[tokio::test]
async fn a_no_keeps_outside_whom_the_policies_of_now_would_let_in() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let (first, other) = (writes(&world, "lea", 1).await, writes(&world, "tom", 1).await);
        admit(&world).await;
        knows(&world, "Lea", "friend", "demo:lea").await;
        knows(&world, "Tom", "friend", "demo:tom").await;
        let open = world.app.access_requests().list().await.expect("knocks");
        let lea = open.iter().find(|view| view.person.as_deref() == Some("Lea")).expect("Lea's");
        world
            .app
            .access_requests()
            .answer(&lea.short, AccessRequestAnswer::No, "terminal")
            .await
            .expect("answered");
        assert_eq!(decision(&world, first).await.effect, Effect::Deny, "{kept:?}");
        world.clock.turn(8 * DAY);
        world.app.access_requests().list().await.expect("knocks");
        let silent = decision(&world, other).await;
        assert_eq!((silent.effect, silent.facts.asked), (Effect::Deny, Some(Asked::NoAnswer)), "{kept:?}");
        // From now on they are let in: they are known.
        let next = writes(&world, "lea", 2).await;
        admit(&world).await;
        assert_eq!(decision(&world, next).await.effect, Effect::Allow, "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test]
async fn a_yes_is_for_what_was_seen_and_nobody_is_introduced_twice() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        writes(&world, "lea", 1).await;
        admit(&world).await;
        let knock = question(&world).await;
        writes(&world, "lea", 2).await;
        admit(&world).await;
        let seen = format!("{knock}/1");
        assert_eq!(
            code(world.app.access_requests().answer(&seen, yes(), "terminal").await),
            Code::ANSWERED,
            "{kept:?}"
        );
        knows(&world, "Lea", "friend", "demo:lea").await;
        let named = who("Mia", "partner");
        let again = world.app.access_requests().answer(&format!("{knock}/2"), named, "terminal").await;
        assert_eq!(code(again), Code::BAD_ANSWER, "{kept:?}");
        let view = world
            .app
            .access_requests()
            .answer(&format!("{knock}/2"), yes(), "terminal")
            .await
            .expect("answered");
        assert!(view.messages.iter().all(|message| message.effect == "allow"), "{kept:?}");
        sound(&world).await;
    }
}

/// The access request of a person goes with them: from the list, from the counts, and from later decisions.
#[tokio::test]
async fn an_access_request_goes_with_the_person_that_is_forgotten() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let (first, second) = (writes(&world, "lea", 1).await, writes(&world, "tom", 1).await);
        admit(&world).await;
        let early = writes(&world, "sue", 1).await;
        let counts = async || {
            let (list, status) = (
                world.app.approvals().pending(9, 9).await.expect("list"),
                world.app.instance().status().await.expect("status"),
            );
            assert_eq!(list.items.len() as u64, list.senders, "{kept:?}");
            assert_eq!(list.senders, status.wanting_in, "{kept:?}");
            list.senders
        };
        assert_eq!(counts().await, 2, "{kept:?}");
        for sender in ["lea", "sue"] {
            world.app.people().forget(&format!("demo:{sender}"), Forget::ForGood).await.expect("forgotten");
        }
        assert_eq!(counts().await, 1, "{kept:?}");
        let effects: Vec<String> = records(&world, first).await.into_iter().map(|row| row.effect).collect();
        assert_eq!(effects, ["deny", "deny"], "{kept:?}");
        let knocks: Vec<Knock> = rows(&world).await;
        let of_lea = knocks.iter().find(|knock| knock.resolved_via.as_deref() == Some("forget"));
        assert_eq!(of_lea.map(|knock| knock.status), Some(Status::Expired), "{kept:?}");

        // Sue's message was not decided about yet: the owner is not asked who it was.
        assert_eq!(admit(&world).await, (0, 1, 0), "{kept:?}");
        assert_eq!(decision(&world, early).await.effect, Effect::Deny, "{kept:?}");
        assert_eq!(counts().await, 1, "{kept:?}");
        assert_eq!(decision(&world, second).await.effect, Effect::Deny, "{kept:?}");
        sound(&world).await;
    }
}
