//! Answers from elsewhere.

use std::sync::Arc;
use std::time::Duration;

use app::Code;
use domain::approval::Status as Asked;
use domain::probe::Silent;
use ledger::records::ApprovalCode;
use ledger::table::Record as _;
use testkit::{Kept, Together, World};

use crate::approvals::{rows, sound, there, waiting};

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_good_once_and_a_few_guesses_are_its_end() {
    for kept in Kept::each() {
        let (world, view) = waiting(kept).await;
        let code = world.app.approvals().create_code(&view.short).await.unwrap();
        assert_eq!((code.number, code.code.len()), (1, 8));
        let reply = |word: &str, code: &str| format!("{word} 1 {code}");
        for guess in 0..5 {
            let wrong =
                world.app.approvals().reply(&reply("yes", &format!("0000000{guess}"))).await.unwrap_err();
            assert_eq!(wrong.code, Code::CODE);
        }
        let late = world.app.approvals().reply(&reply("yes", &code.code)).await.unwrap_err();
        assert_eq!(late.code, Code::CODE, "after five guesses it is worth nothing");
        assert!(
            world.app.approvals().show(&view.short).await.unwrap().status.is_open(),
            "and the question is open"
        );

        let old = world.app.approvals().create_code(&view.short).await.unwrap();
        let code = world.app.approvals().create_code(&view.short).await.unwrap();
        assert!(
            world.app.approvals().reply(&reply("yes", &old.code)).await.is_err(),
            "a newer one was given"
        );
        let answered = world.app.approvals().reply(&reply("yes", &code.code.to_lowercase())).await.unwrap();
        assert_eq!((answered.status, answered.resolved_via.as_deref()), (Asked::Approved, Some("code")));
        let again = world.app.approvals().reply(&reply("no", &code.code)).await.unwrap_err();
        assert_eq!(again.code, Code::CODE, "it was used");
        world.resume(None).await.unwrap();
        assert!(!there(&world, "old.txt"), "{kept:?}");
        sound(&world).await;
    }
}

/// Who guesses at the same moment as others guesses no more often.
#[tokio::test(flavor = "multi_thread")]
async fn guesses_at_the_same_moment_cost_a_try_each() {
    const AT_ONCE: usize = 4;
    let (mut world, view) = waiting(Kept::InMemory).await;
    world.app.approvals().create_code(&view.short).await.unwrap();
    let mut rivals = World::on(Together::new(world.store().await, ApprovalCode::TABLE.name, AT_ONCE));
    let mut guessing = tokio::task::JoinSet::new();
    for guess in 0..AT_ONCE {
        let app = rivals.another(Arc::new(Silent));
        guessing.spawn(async move { app.approvals().reply(&format!("yes 1 0000000{guess}")).await });
    }
    for guessed in guessing.join_all().await {
        assert_eq!(guessed.unwrap_err().code, Code::CODE);
    }
    let left = rows::<ApprovalCode>(&world).await;
    assert_eq!(left.iter().map(|code| code.tries).collect::<Vec<_>>(), [5 - AT_ONCE as u64]);
    world.restart();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_goes_with_its_question() {
    for kept in Kept::each() {
        let (world, view) = waiting(kept).await;
        let code = world.app.approvals().create_code(&view.short).await.unwrap();
        world.clock.turn(Duration::from_secs(30 * 60));
        let late = world.app.approvals().reply(&format!("yes 1 {}", code.code)).await.unwrap_err();
        assert_eq!(late.code, Code::CODE, "{kept:?}");
        assert!(world.app.approvals().list().await.unwrap().is_empty());
        assert_eq!(rows::<ApprovalCode>(&world).await, [], "{kept:?}");
    }
}
