//! A policy that asks: held, and let in by a yes.

use app::Code;
use app::people::AccessRequestAnswer;
use app::policies::Apply;
use domain::approval::Status;
use ledger::records::{Knock, KnockKind};
use policy::acl::Effect;
use policy::admit::Asked;
use testkit::{Kept, World};

use crate::admission::{
    ASK, DAY, SECOND, admit, code, decision, knows, question, records, rows, sound, words, writes, yes,
};

async fn asking(kept: Kept) -> World {
    let world = World::new(kept).await;
    world.app.policies().apply("ask.yaml", ASK, Apply::Really).await.expect("applied");
    knows(&world, "Tom", "friend", "demo:tom").await;
    world
}

async fn answer(world: &World, answer: AccessRequestAnswer) {
    let knock = question(world).await;
    world.app.access_requests().answer(&knock, answer, "terminal").await.expect("answered");
    world.clock.turn(SECOND);
}

#[tokio::test]
async fn what_a_policy_asks_about_waits_and_a_yes_lets_it_in() {
    for kept in Kept::each() {
        let world = asking(kept).await;
        let event = writes(&world, "tom", 1).await;
        assert_eq!(admit(&world).await, (0, 0, 1), "{kept:?}");
        let held = decision(&world, event).await;
        assert_eq!((held.effect, held.session, held.tools.len()), (Effect::Ask, None, 0), "{kept:?}");
        let view = world.app.access_requests().show(&question(&world).await).await.expect("a view");
        assert_eq!((view.kind, view.person.as_deref()), (KnockKind::Ask, Some("Tom")), "{kept:?}");
        answer(&world, yes()).await;
        let after = decision(&world, event).await;
        assert_eq!((after.effect, after.facts.asked), (Effect::Allow, Some(Asked::SaidYes)), "{kept:?}");
        assert_eq!(after.matched, ["ask-first", "friends-access"], "{kept:?}");
        let tom = world.app.people().show("Tom").await.expect("somebody").id;
        assert_eq!(after.session, Some(format!("agent:main:friend:{tom}")), "{kept:?}");
        assert!(after.permissions.may("calc").is_yes(), "{kept:?}");
        assert!(!after.permissions.may("calendar_read").is_yes(), "{kept:?}");
        // Each time.
        let next = writes(&world, "tom", 2).await;
        assert_eq!(admit(&world).await, (0, 0, 1), "{kept:?}");
        assert_eq!(records(&world, next).await.len(), 1, "{kept:?}");
        assert_eq!(rows::<Knock>(&world).await.len(), 2, "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test]
async fn a_no_denies_and_the_owner_has_a_day_of_peace() {
    for kept in Kept::each() {
        let world = asking(kept).await;
        let event = writes(&world, "tom", 1).await;
        admit(&world).await;
        answer(&world, AccessRequestAnswer::No).await;
        let after = decision(&world, event).await;
        assert_eq!((after.effect, after.facts.asked), (Effect::Deny, Some(Asked::SaidNo)), "{kept:?}");
        assert!(after.tools.is_empty() && after.session.is_none(), "{kept:?}");
        assert!(words(&after).ends_with("the owner was asked about it, and said no"), "{kept:?}");
        let soon = writes(&world, "tom", 2).await;
        assert_eq!(admit(&world).await, (0, 1, 0), "{kept:?}");
        assert_eq!(decision(&world, soon).await.facts.asked, Some(Asked::NotAgain), "{kept:?}");
        world.clock.turn(DAY);
        writes(&world, "tom", 3).await;
        assert_eq!(admit(&world).await, (0, 0, 1), "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test]
async fn so_many_wait_behind_one_question_and_no_more() {
    for kept in Kept::each() {
        let world = asking(kept).await;
        for n in 1..=22 {
            writes(&world, "tom", n).await;
        }
        assert_eq!(admit(&world).await, (0, 2, 20), "{kept:?}");
        assert_eq!(rows::<Knock>(&world).await[0].events, 20, "{kept:?}");
        answer(&world, yes()).await;
        let knock = &rows::<Knock>(&world).await[0];
        assert_eq!(knock.status, Status::Approved, "{kept:?}");
        let view = world.app.access_requests().show(&knock.id.to_string()).await.expect("a view");
        let let_in = view.messages.iter().filter(|message| message.effect == "allow").count();
        assert_eq!(let_in, 20, "{kept:?}: what was denied before stays so");
        sound(&world).await;
    }
}

/// The stranger who was asked about becomes somebody of whom a policy wants to be asked: that is the same question.
#[tokio::test]
async fn a_yes_to_a_stranger_is_a_yes_to_what_waits() {
    for kept in Kept::each() {
        let world = asking(kept).await;
        let event = writes(&world, "lea", 1).await;
        assert_eq!(admit(&world).await, (0, 1, 0), "{kept:?}");
        answer(&world, yes()).await;
        assert_eq!(decision(&world, event).await.effect, Effect::Allow, "{kept:?}");
        writes(&world, "lea", 2).await;
        assert_eq!(admit(&world).await, (0, 0, 1), "{kept:?}: the next one is asked about");
        sound(&world).await;
    }
}

/// Whoever wants to go on with a message before anybody has looked at it does not get around the question.
#[tokio::test]
async fn to_resume_a_message_from_outside_is_to_decide_about_it_as_always() {
    for kept in Kept::each() {
        let world = asking(kept).await;
        knows(&world, "Lea", "family", "demo:lea").await;
        let mut events = Vec::new();
        for sender in ["tom", "lea", "eve"] {
            events.push(writes(&world, sender, 1).await);
        }
        for event in &events {
            let refused = world.resume(Some(&event.to_string())).await;
            assert_eq!(code(refused), Code::NOT_ADMITTED, "{kept:?}");
            assert_eq!(records(&world, *event).await.len(), 1, "{kept:?}");
        }
        assert_eq!(
            world.app.access_requests().list().await.expect("knocks").len(),
            2,
            "{kept:?}: tom, and eve"
        );
        assert_eq!(admit(&world).await, (0, 0, 0), "{kept:?}");
        sound(&world).await;
    }
}

/// A question that was asked by a clock that went back is the one that stands, though an older one looks newer.
#[tokio::test]
async fn a_clock_that_goes_back_does_not_stop_the_house() {
    for kept in Kept::each() {
        let world = asking(kept).await;
        writes(&world, "tom", 1).await;
        admit(&world).await;
        answer(&world, yes()).await;
        world.clock.turn_back(DAY);
        for n in 2..=3 {
            writes(&world, "tom", n).await;
            assert_eq!(admit(&world).await, (0, 0, 1), "{kept:?}");
        }
        let mut waiting: Vec<u64> = rows::<Knock>(&world).await.iter().map(|knock| knock.events).collect();
        waiting.sort_unstable();
        assert_eq!(waiting, [1, 2], "{kept:?}");
        sound(&world).await;
    }
}
