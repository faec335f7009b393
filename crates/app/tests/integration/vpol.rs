//! Validation policies at work: picked when a chain starts, kept, counted, and held against what counts now.

use std::sync::Arc;
use std::time::Duration;

use app::approvals::Act;
use app::tasks::Report;
use domain::approval::Lasting;
use ledger::query::Select;
use ledger::records::{CallStatus, ToolCall};
use ledger::table::Record as _;
use serde_json::json;
use testkit::{Kept, Scripted, World};

/// A policy that every chain comes under.
fn policy(rules: &str) -> String {
    format!("- {{ name: careful, applies_to: {{}}, mode: monitor, priority: 100, rules: {{ {rules} }} }}")
}

/// The calls so far but for those that hand a result back, in the order they were asked for.
async fn calls(world: &World) -> Vec<CallStatus> {
    let rows = world.store().await.select(&Select::<ToolCall>::all().query).await.unwrap();
    let mut calls: Vec<ToolCall> = rows.into_iter().map(|row| ToolCall::from_row(row).unwrap()).collect();
    calls.retain(|call| call.tool_id.as_str() != "deliver");
    calls.sort_by_key(|call| (call.timestamp, call.id));
    calls.into_iter().map(|call| call.status).collect()
}

/// Everything that was decided comes out the same again, from what was kept.
async fn holds(world: &World, task: &str) {
    let recheck = world.app.record().recheck(task).await.unwrap().recheck.unwrap();
    assert!(recheck.holds, "{recheck:#?}");
}

async fn by_hand(world: &World) -> Report {
    let report = world.call("calc", json!({ "expression": "1 + 1" }), false).await.unwrap();
    holds(world, &report.short).await;
    world.clock.turn(Duration::from_secs(60));
    report
}

const FILE: &str = "careful.yaml";
const RAN: CallStatus = CallStatus::Finished;
const NOT: CallStatus = CallStatus::Refused;

#[tokio::test]
async fn a_rate_is_counted_over_chains_and_slides() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.vpol(FILE, &policy("rate: 2/h"));
        for _ in 0..3 {
            by_hand(&world).await;
        }
        assert_eq!(calls(&world).await, [RAN, RAN, NOT], "{kept:?}");
        // Another text of the same name does not begin to count anew.
        world.vpol(FILE, &policy("rate: 2/h, budget: { calls: 7 }"));
        by_hand(&world).await;
        assert_eq!(calls(&world).await, [RAN, RAN, NOT, NOT], "{kept:?}");
        world.clock.turn(Duration::from_secs(3_500));
        by_hand(&world).await;
        assert_eq!(calls(&world).await, [RAN, RAN, NOT, NOT, RAN], "{kept:?}");
    }
}

/// A file that is deleted takes its policies out of force, whatever the other files are like; what decides is on record.
#[tokio::test]
async fn a_deleted_file_is_out_of_force_while_another_has_a_mistake() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.vpol(FILE, &policy("rate: 1/h"));
        by_hand(&world).await;
        world.vpol("bad.yaml", "- nonsense");
        by_hand(&world).await;
        assert_eq!(calls(&world).await, [RAN, NOT], "{kept:?}: the last good one counts");
        world.no_vpol(FILE);
        by_hand(&world).await;
        assert_eq!(calls(&world).await, [RAN, NOT, RAN], "{kept:?}");
        assert!(world.app.policies().vpols().await.unwrap().get("careful").is_none());
        let warning = world.app.policies().warning().await.unwrap();
        assert!(warning.ends_with("without `careful`, whose file was deleted"), "{warning}");
        // What was moved is not gone.
        world.vpol("other.yaml", &policy("rate: 9/h"));
        by_hand(&world).await;
        assert_eq!(calls(&world).await, [RAN, NOT, RAN, NOT], "{kept:?}");
    }
}

/// Calls from the future count from when the clock was found to have gone back.
#[tokio::test]
async fn a_rate_that_was_used_up_by_a_wrong_clock_is_free_after_its_window() {
    let decade = Duration::from_secs(3_653 * 24 * 3_600);
    let world = World::new(Kept::InMemory).await;
    world.vpol(FILE, &policy("rate: 2/h"));
    let ran = async |world: &World| by_hand(world).await.problem().is_none();
    world.clock.turn(decade);
    assert_eq!([ran(&world).await, ran(&world).await, ran(&world).await], [true, true, false]);
    world.clock.turn_back(decade);
    assert!(!ran(&world).await, "they may have been a moment ago");
    world.clock.turn(Duration::from_secs(3_600));
    assert!(ran(&world).await);
}

/// The world begins on a Sunday, at half past eight.
#[tokio::test]
async fn outside_its_hours_nothing_runs_and_the_answer_comes_all_the_same() {
    let world = World::new(Kept::InMemory).await;
    world.vpol(FILE, &policy("hours: sun 09:00-10:00"));
    let report = by_hand(&world).await;
    assert!(report.problem().is_some());
    world.clock.turn(Duration::from_secs(1_800));
    assert!(by_hand(&world).await.problem().is_none());
    assert_eq!(calls(&world).await, [NOT, RAN]);
}

#[tokio::test]
async fn a_chain_uses_no_more_than_its_policy_leaves_it() {
    let mut world = World::new(Kept::InMemory).await;
    world.vpol(FILE, &policy("budget: { calls: 1 }"));
    let sum = |expression: &str| ("calc", json!({ "expression": expression }));
    world.think(Arc::new(Scripted::calling(&[sum("1 + 1"), sum("2 + 2")])));
    world.vpol(FILE, &policy("budget: { calls: 1 }"));
    let report = world.run("add up").await.unwrap();
    assert_eq!(calls(&world).await, [RAN, NOT]);
    let said = format!("{:?}", report.problem());
    assert!(said.contains("the validation policy `careful`"), "{said}");
    holds(&world, &report.short).await;
}

/// What is asked about waits; meanwhile the owner writes other policies.
async fn asked(world: &mut World, first: &str, then: &str) -> Report {
    world.file("old.tmp", "x");
    let delete = ("delete_file", json!({ "path": "old.tmp" }));
    world.think(Arc::new(Scripted::calling(&[delete, ("calc", json!({ "expression": "1 + 1" }))])));
    world.vpol(FILE, first);
    let report = world.run("tidy up").await.unwrap();
    world.restart();
    world.vpol(FILE, then);
    let open = world.app.approvals().list().await.unwrap().pop().unwrap();
    let yes = Act::Approve { lasting: Lasting::Once, typed: None, good_for: None };
    world.app.approvals().resolve(&open.short, yes, "terminal").await.unwrap();
    let resumed = world.resume(Some(&report.short)).await.unwrap();
    holds(world, &report.short).await;
    resumed
}

#[tokio::test]
async fn what_is_tightened_counts_for_what_already_runs() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        asked(&mut world, &policy(""), &policy("hours: mon")).await;
        // The yes is void, and so is everything after it.
        assert_eq!(calls(&world).await, [NOT, NOT], "{kept:?}");
        assert!(world.path().join("old.tmp").exists());
    }
}

#[tokio::test]
async fn what_is_loosened_does_not() {
    let mut world = World::new(Kept::InSqlite).await;
    asked(&mut world, &policy("requires: approval"), &policy("")).await;
    // The first was answered; the policy that was frozen wants the second asked about, too.
    assert_eq!(calls(&world).await, [RAN, CallStatus::Waiting]);
}
