//! A chain never goes further than it was let go at first, and loses what the policies of now take away.

use std::sync::Arc;

use app::approvals::Act;
use app::policies::Apply;
use app::{Code, Problem};
use domain::approval::Lasting;
use domain::ask::Action;
use ledger::records::{CallStatus, ToolCall};
use serde_json::json;
use testkit::scripted::call;
use testkit::{Kept, Scripted, World};

use crate::admission::{rows, sound};

const YES: Act = Act::Approve { lasting: Lasting::Once, typed: None, good_for: None };

/// Nobody deletes, not even the owner.
const NO_DELETES: &str = "- name: no-deletes\n  match: {}\n  ceiling: true\n  priority: 100\n  permissions:\n    tools: { allow: ['*'], deny: [delete_file] }\n    credentials: ['*']\n    data: full\n";
const NOBODY: &str = "- name: nobody\n  match: {}\n  effect: deny\n  priority: 100\n";

fn waits(result: Result<app::tasks::Report, Problem>) {
    let problem = result.expect("a report").problem().expect("it waits");
    assert_eq!(problem.code, Code::WAITING);
}

/// Writes a file, and deletes another one.
fn tidies() -> Arc<Scripted> {
    Arc::new(Scripted::new(|seen| match seen.len() {
        0 => call("write_file", json!({ "path": "new.txt", "content": "new" })),
        1 => call("delete_file", json!({ "path": "old.txt" })),
        _ => Action::done("done"),
    }))
}

async fn scene(kept: Kept) -> World {
    let mut world = World::new(kept).await;
    world.file("old.txt", "keep me");
    world.think(tidies());
    world
}

async fn answer(world: &World) -> Result<app::tasks::Report, Problem> {
    let views = world.app.approvals().list().await.expect("approvals");
    let [view] = <[_; 1]>::try_from(views).expect("one question");
    world.app.approvals().resolve(&view.short, YES, "terminal").await.expect("answered");
    world.resume(None).await
}

fn there(world: &World, file: &str) -> bool {
    world.path().join(file).exists()
}

async fn calls(world: &World) -> Vec<(String, CallStatus)> {
    let mut calls = rows::<ToolCall>(world).await;
    calls.retain(|call| call.tool_id.as_str() != "deliver");
    calls.sort_by_key(|call| call.timestamp);
    calls.into_iter().map(|call| (call.tool_id.to_string(), call.status)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_policies_of_now_take_away_is_gone_whatever_was_answered() {
    for kept in Kept::each() {
        let world = scene(kept).await;
        waits(world.run("tidy up").await);
        waits(answer(&world).await); // the file is written, and the other one is to be deleted
        assert!(there(&world, "new.txt"), "{kept:?}");
        world.app.policies().apply("no-deletes.yaml", NO_DELETES, Apply::Really).await.expect("applied");
        let report = answer(&world).await.expect("a report");
        assert!(report.status.is_over(), "{kept:?}: {report:?}");
        assert!(there(&world, "old.txt"), "{kept:?}: {:?}", calls(&world).await);
        sound(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_chain_was_not_let_do_at_first_it_is_not_let_do_later() {
    for kept in Kept::each() {
        let world = scene(kept).await;
        world.app.policies().apply("no-deletes.yaml", NO_DELETES, Apply::Really).await.expect("applied");
        waits(world.run("tidy up").await);
        world.app.policies().remove("no-deletes.yaml", Apply::Really).await.expect("removed");
        let report = answer(&world).await.expect("a report");
        assert!(report.status.is_over(), "{kept:?}: it is not even asked about: {report:?}");
        assert!(there(&world, "new.txt") && there(&world, "old.txt"), "{kept:?}");
        // Whoever asks now is let do it.
        world.clock.turn(crate::admission::SECOND);
        std::fs::remove_file(world.path().join("new.txt")).expect("a file");
        waits(world.run("tidy up").await);
        waits(answer(&world).await);
        answer(&world).await.expect("a report");
        assert!(!there(&world, "old.txt"), "{kept:?}: {:?}", calls(&world).await);
        sound(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_whose_owner_is_not_let_in_any_more_goes_no_further() {
    for kept in Kept::each() {
        let world = scene(kept).await;
        waits(world.run("tidy up").await);
        world.app.policies().apply("nobody.yaml", NOBODY, Apply::Really).await.expect("applied");
        assert_eq!(answer(&world).await.expect_err("not let in").code, Code::NOT_ADMITTED, "{kept:?}");
        assert!(!there(&world, "new.txt") && there(&world, "old.txt"), "{kept:?}");
        sound(&world).await;
    }
}

/// Only arithmetic, whoever asks.
const CALC: &str = "- name: calc-only\n  match: { principal: { is_owner: true } }\n  effect: allow\n  priority: 99\n  permissions: { tools: { allow: [calc] }, data: full }\n  session: { key: main }\n";

/// What is granted is granted to the chain that runs already, too; and whoever was let in is answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_grant_reaches_what_no_policy_allows_and_the_answer_comes_in_any_case() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.app.policies().apply("calc.yaml", CALC, Apply::Really).await.expect("applied");
        world.app.policies().switch("owner-full-access", false).await.expect("switched");
        world.file("notes/a.rs", "x");
        let list = || world.call("find_files", json!({ "under": "notes" }), false);
        let refused = list().await.expect("a report").problem().expect("refused");
        assert_eq!(refused.code, Code::REFUSED, "{kept:?}: and it is said, though no policy names `deliver`");
        let grant = app::grants::NewGrant {
            tool: "find_files".into(),
            pins: [("under".to_owned(), "notes".to_owned())].into(),
            principal: "owner".into(),
            agent: "main".into(),
            session: None,
            lasting: None,
            reason: String::new(),
        };
        let unknown =
            app::grants::NewGrant { pins: [("nonsense".into(), "1".into())].into(), ..grant.clone() };
        assert_eq!(
            crate::admission::code(world.app.grants().add(unknown).await),
            Code::BAD_GRANT,
            "{kept:?}"
        );
        world.app.grants().add(grant).await.expect("granted");
        world.clock.turn(crate::admission::SECOND);
        let report = list().await.expect("a report");
        assert_eq!(report.problem(), None, "{kept:?}");
        let why = world.app.record().recheck(&report.short).await.expect("why");
        assert!(why.recheck.expect("made again").holds, "{kept:?}");
        // Never past a policy that denies.
        let deny =
            CALC.replace("calc-only", "no-lists").replace("allow: [calc]", "deny: ['file:list', find_files]");
        world.app.policies().apply("deny.yaml", &deny, Apply::Really).await.expect("applied");
        world.clock.turn(crate::admission::SECOND);
        let refused = list().await.expect("a report").problem().expect("refused");
        assert_eq!(refused.code, Code::REFUSED, "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_was_not_let_in_is_over_and_is_not_gone_on_with() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.app.policies().apply("nobody.yaml", NOBODY, Apply::Really).await.expect("applied");
        assert_eq!(world.run("tidy up").await.expect_err("not let in").code, Code::NOT_ADMITTED, "{kept:?}");
        assert!(world.app.instance().status().await.expect("status").unfinished.is_empty(), "{kept:?}");
        world.app.policies().remove("nobody.yaml", Apply::Really).await.expect("removed");
        let event = world.app.events().list(1).await.expect("events").pop().expect("one").short;
        assert_eq!(crate::admission::code(world.resume(Some(&event)).await), Code::NOT_ADMITTED, "{kept:?}");
        sound(&world).await;
    }
}
