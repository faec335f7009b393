//! The bus, on every store: who reads by sequence number misses nothing, who looks on may, and is told.

use std::sync::Arc;
use std::time::Duration;

use app::DisplayEvent;
use domain::probe::Silent;
use testkit::{Kept, World};

const REQUEST: &str = "how many Rust files are here?";
/// Steps of one such request.
const STEPS: usize = 9;

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_sees_every_step_of_every_process_once_and_in_order() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        world.file("a.rs", "fn a() {}");
        let mut tap = world.app.tasks().tap(Some(0)).await.expect("a tap");
        let mut late = world.app.tasks().tap(None).await.expect("a tap");
        world.run(REQUEST).await.expect("a report");
        world.start_another(Arc::new(Silent)); // its steps reach the tap of the first through the ledger alone
        world.run(REQUEST).await.expect("a report");
        let mut seen = Vec::new();
        while seen.len() < 2 * STEPS {
            seen.extend(tap.next().await.expect("steps"));
        }
        assert!(seen.is_sorted_by(|a, b| a.seq < b.seq), "{kept:?}");
        let steps: Vec<u64> = seen.iter().map(|tapped| tapped.step.as_ref().expect("not erased").n).collect();
        let once: Vec<u64> = (0..STEPS as u64).collect();
        assert_eq!(steps, [once.clone(), once].concat(), "{kept:?}");
        assert!(tap.now().await.expect("steps").is_empty(), "{kept:?}: each of them once");

        let mut again = world.app.tasks().tap(Some(seen[STEPS - 1].seq)).await.expect("a tap");
        assert_eq!(again.now().await.expect("steps").len(), STEPS, "{kept:?}: from anywhere");
        assert_eq!(late.now().await.expect("steps").len(), 2 * STEPS, "{kept:?}: from then on");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tap_waits_for_what_comes() {
    for kept in Kept::ALL {
        let world = Arc::new(World::new(kept).await);
        world.file("a.rs", "fn a() {}");
        let mut tap = world.app.tasks().tap(None).await.expect("a tap");
        let waiting = tokio::spawn(async move { tap.next().await.map(|steps| steps.len()) });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!waiting.is_finished(), "{kept:?}");
        world.run(REQUEST).await.expect("a report");
        assert!(waiting.await.expect("joined").expect("steps") > 0, "{kept:?}");
    }
}

/// Nobody who writes waits for somebody who looks.
#[tokio::test]
async fn a_display_that_does_not_look_misses_some_and_is_told_how_many() {
    let world = World::new(Kept::InMemory).await;
    world.file("a.rs", "fn a() {}");
    let (mut slow, mut quick) = (world.app.tasks().feed(), world.app.tasks().feed());
    const RUNS: usize = 40;
    for _ in 0..RUNS {
        world.run(REQUEST).await.expect("a report");
        for n in 0..STEPS as u64 {
            assert!(matches!(quick.next().await, Some(DisplayEvent::Step(posted)) if posted.step.n == n));
        }
    }
    assert_eq!(quick.missed(), 0);
    let Some(DisplayEvent::Missed(missed)) = slow.next().await else {
        panic!("it cannot have seen them all")
    };
    let mut seen = 0;
    while usize::try_from(missed).expect("few") + seen < RUNS * STEPS {
        assert!(matches!(slow.next().await, Some(DisplayEvent::Step(_))));
        seen += 1;
    }
    assert_eq!((slow.missed(), seen), (missed, 256));
}
