//! Grants: what is offered with a question, what it would have covered, and what it really covers. On every store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use app::approvals::{Act, ApprovalView, Coverage};
use app::grants::{GrantState, NewGrant};
use app::record::Check;
use app::tasks::Report;
use app::{Code, Problem};
use broker::{Decided, ToolSpec};
use domain::approval::Lasting;
use domain::ask::Action;
use ledger::query::Select;
use ledger::records::{AuditEntry, Blob, GrantEvent, ToolCall};
use ledger::table::Record;
use serde_json::json;
use testkit::scripted::call;
use testkit::{Kept, Scripted, World};

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.unwrap();
    rows.into_iter().map(|row| T::from_row(row).unwrap()).collect()
}

fn code(report: &Result<Report, Problem>) -> Option<Code> {
    match report {
        Ok(report) => report.problem().map(|problem| problem.code),
        Err(problem) => Some(problem.code),
    }
}

fn approve(lasting: Lasting) -> Act {
    Act::Approve { lasting, typed: None, good_for: None }
}

const NO: Act = Act::Reject { reason: String::new() };

/// A model that writes one file that nobody has named.
async fn writes(world: &mut World, path: &str) -> Result<Report, Problem> {
    let args = json!({ "path": path, "content": "text" });
    world.think(Arc::new(Scripted::new(move |seen| match seen.len() {
        0 => call("write_file", args.clone()),
        _ => Action::done("done"),
    })));
    world.run("write down what you found").await
}

async fn deletes(world: &mut World, path: &str) -> Result<Report, Problem> {
    world.think(Arc::new(Scripted::calling(&[("delete_file", json!({ "path": path }))])));
    world.run("tidy up").await
}

async fn asked(world: &World) -> ApprovalView {
    let short = world.app.approvals().list().await.unwrap().pop().unwrap().short;
    world.app.approvals().show(&short).await.unwrap()
}

async fn settle(world: &World, act: Act) {
    let view = asked(world).await;
    world.app.approvals().resolve(&view.short, act, "terminal").await.unwrap();
    world.resume(Some(&view.task_short)).await.unwrap();
}

async fn sound(world: &World) {
    let check = Check { complete: true, ..Check::default() };
    let audit = world.app.record().verify(&check).await.unwrap();
    assert_eq!(audit.problem(), None, "{audit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_for_a_day_covers_what_it_said_and_ends() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        assert_eq!(code(&writes(&mut world, "reports/a.md").await), Some(Code::WAITING));
        let terms = asked(&world).await.question.unwrap().offer.unwrap();
        assert_eq!(terms.pins, BTreeMap::from([("path".into(), "reports/*".into())]));
        assert_eq!((terms.agent.as_str(), terms.by_hand), ("main", false));
        settle(&world, approve(Lasting::Day)).await;
        let [grant] = <[_; 1]>::try_from(world.app.grants().list().await.unwrap()).unwrap();
        assert_eq!((grant.state, grant.used), (GrantState::Live, 0), "the call itself had a yes of its own");

        assert_eq!(code(&writes(&mut world, "reports/b.md").await), None, "{kept:?}");
        // Another place, a way out of it, a file that is there, another tool: not what was said.
        for path in ["other/b.md", "reports/../b.md", "reports/./b.md", "reports//b.md", "reportsb.md"] {
            assert_eq!(code(&writes(&mut world, path).await), Some(Code::WAITING), "{path}");
            settle(&world, NO).await;
        }
        let replace = json!({ "path": "reports/b.md", "content": "other", "replace": true });
        world.think(Arc::new(Scripted::calling(&[("write_file", replace)])));
        assert_eq!(
            code(&world.run("write it").await),
            Some(Code::WAITING),
            "replacing is more than creating"
        );
        settle(&world, NO).await;
        assert_eq!(code(&deletes(&mut world, "reports/b.md").await), Some(Code::WAITING));
        settle(&world, NO).await;

        let used = world.app.grants().list().await.unwrap().remove(0);
        assert_eq!(used.used, 1);
        let log = world.app.grants().log(None).await.unwrap();
        let events: Vec<GrantEvent> = log.iter().map(|line| line.event).collect();
        assert_eq!(events, [GrantEvent::Created, GrantEvent::Used], "{kept:?}");
        let ran: Vec<ToolCall> = rows(&world).await;
        assert!(ran.iter().any(|call| Some(call.id) == log[1].call && call.tool_id.as_str() == "write_file"));

        world.clock.turn(Duration::from_secs(24 * 60 * 60));
        assert_eq!(code(&writes(&mut world, "reports/c.md").await), Some(Code::WAITING), "a day is over");
        world.app.instance().tick().await.unwrap();
        assert_eq!(world.app.grants().list().await.unwrap().remove(0).state, GrantState::Expired);
        let log = world.app.grants().log(Some(&grant.short)).await.unwrap();
        assert_eq!(log.last().unwrap().event, GrantEvent::Expired, "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_revoked_covers_nothing_any_more() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        writes(&mut world, "reports/a.md").await.unwrap();
        settle(&world, approve(Lasting::Always)).await;
        let grant = world.app.grants().list().await.unwrap().remove(0);
        assert_eq!((grant.expires_at, grant.look_again), (None, false));
        world.clock.turn(Duration::from_secs(90 * 24 * 60 * 60));
        assert!(
            world.app.grants().list().await.unwrap().remove(0).look_again,
            "after 90 days it is shown again"
        );
        assert_eq!(code(&writes(&mut world, "reports/b.md").await), None, "{kept:?}");
        world.app.grants().revoke(&grant.short).await.unwrap();
        assert_eq!(code(&writes(&mut world, "reports/c.md").await), Some(Code::WAITING), "{kept:?}");
        let again = world.app.grants().revoke(&grant.short).await.unwrap_err();
        assert_eq!(again.code, Code::ANSWERED);
        let kinds: Vec<String> =
            rows::<AuditEntry>(&world).await.into_iter().map(|entry| entry.kind).collect();
        let kinds: Vec<&str> =
            kinds.iter().map(String::as_str).filter(|kind| kind.starts_with("grant.")).collect();
        assert_eq!(kinds, ["grant.created", "grant.used", "grant.revoked"], "{kept:?}");
        sound(&world).await;
    }
}

/// The number that is shown, counted again from the ledger by other means: every question of the past is decided again
/// with the facts that were kept and the grant put beside them.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_grant_would_have_covered_is_what_the_ledger_says() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        let before = ["reports/a.md", "reports/b.md", "other/a.md", "reports/deep/c.md", "reports/../x.md"];
        for path in before {
            writes(&mut world, path).await.unwrap();
            settle(&world, NO).await;
        }
        world.file("reports/old.md", "old");
        deletes(&mut world, "reports/old.md").await.unwrap();
        settle(&world, NO).await;
        writes(&mut world, "reports/new.md").await.unwrap();
        let view = asked(&world).await;
        let expected = Coverage { covered: 3, of: 6 };
        assert_eq!(view.coverage, Some(expected), "{kept:?}");

        let terms = view.question.unwrap().offer.unwrap();
        let bodies: Vec<Blob> = rows(&world).await;
        let body = |hash| bodies.iter().find(|body| body.hash == hash).map(|body| body.content.as_slice());
        let mut counted = Coverage { covered: 0, of: 0 };
        for asked in rows::<ledger::records::Approval>(&world).await {
            if asked.id == view.id {
                continue;
            }
            let question: broker::question::Question =
                serde_json::from_slice(body(asked.question).unwrap()).unwrap();
            let decided: Decided = serde_json::from_slice(body(question.decision).unwrap()).unwrap();
            let facts = decided.inputs.unwrap();
            let tool: ToolSpec = serde_json::from_slice(body(facts.tool.unwrap()).unwrap()).unwrap();
            // By hand: the same tool, the path under the folder, not by way of another.
            let path = facts.call.args["path"].as_str().unwrap().to_owned();
            let covered = tool.id == terms.tool
                && path
                    .strip_prefix("reports/")
                    .is_some_and(|rest| !rest.split('/').any(|part| part == ".."));
            counted.covered += u64::from(covered);
            counted.of += 1;
        }
        assert_eq!(counted, expected, "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_offered_for_what_destroys_and_only_the_owner_can_write_that_down() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("tmp/a.log", "a").file("tmp/b.log", "b");
        deletes(&mut world, "tmp/a.log").await.unwrap();
        let view = asked(&world).await;
        assert_eq!((view.question.as_ref().unwrap().offer.clone(), view.coverage), (None, None));
        let day =
            world.app.approvals().resolve(&view.short, approve(Lasting::Day), "terminal").await.unwrap_err();
        assert_eq!(day.code, Code::BAD_ANSWER);
        assert!(asked(&world).await.status.is_open(), "it is still open");
        settle(&world, NO).await;

        let new = |pins: &[(&str, &str)]| NewGrant {
            tool: "delete_file".into(),
            pins: pins.iter().map(|(name, pin)| ((*name).to_owned(), (*pin).to_owned())).collect(),
            principal: "owner".into(),
            agent: "main".into(),
            session: None,
            lasting: Some(Duration::from_secs(60)),
            reason: "every night".into(),
        };
        for wrong in [&[][..], &[("path", "tmp/*")], &[("other", "tmp/a.log")]] {
            assert_eq!(
                world.app.grants().add(new(wrong)).await.unwrap_err().code,
                Code::BAD_GRANT,
                "{wrong:?}"
            );
        }
        world.app.grants().add(new(&[("path", "tmp/a.log")])).await.unwrap();
        assert_eq!(code(&deletes(&mut world, "tmp/b.log").await), Some(Code::WAITING), "not this one");
        settle(&world, NO).await;
        assert_eq!(code(&deletes(&mut world, "tmp/a.log").await), None, "{kept:?}");
        assert!(!world.path().join("tmp/a.log").exists() && world.path().join("tmp/b.log").exists());
        world.clock.turn(Duration::from_secs(60));
        world.file("tmp/a.log", "again");
        assert_eq!(code(&deletes(&mut world, "tmp/a.log").await), Some(Code::WAITING), "a minute is over");
        sound(&world).await;
    }
}

/// Another tool under the same name is another tool, whatever was granted for the first.
#[tokio::test(flavor = "multi_thread")]
async fn a_grant_is_for_the_tool_as_it_was() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("a.txt", "a");
        let peek = |function: &str, about: &str| {
            json!({
                "tool_id": "peek", "description": about, "validation_mode": "intercept",
                "handler_config": { "function": function },
            })
            .to_string()
        };
        world.app.tools().register(&peek("read_file", "looks")).await.unwrap();
        let grant = NewGrant {
            tool: "peek".into(),
            pins: [("path".to_owned(), "a.txt".to_owned())].into(),
            principal: "owner".into(),
            agent: "main".into(),
            session: None,
            lasting: None,
            reason: String::new(),
        };
        world.app.grants().add(grant).await.unwrap();
        let peeks = async |world: &mut World| {
            world.think(Arc::new(Scripted::calling(&[("peek", json!({ "path": "a.txt" }))])));
            code(&world.run("peek at a.txt").await)
        };
        assert_eq!(peeks(&mut world).await, None, "{kept:?}");
        world.app.tools().register(&peek("read_file", "described in other words")).await.unwrap();
        assert_eq!(peeks(&mut world).await, None, "the same tool, {kept:?}");
        world.app.tools().register(&peek("delete_file", "looks")).await.unwrap();
        assert_eq!(peeks(&mut world).await, Some(Code::WAITING), "{kept:?}");
        assert!(world.path().join("a.txt").exists(), "{kept:?}");
        sound(&world).await;
    }
}

/// What is switched off, or what the owner wants to be asked about each time, no grant lets through.
#[tokio::test(flavor = "multi_thread")]
async fn a_grant_answers_for_a_person_and_for_nothing_else() {
    let mut world = World::new(Kept::InMemory).await;
    writes(&mut world, "reports/a.md").await.unwrap();
    settle(&world, approve(Lasting::Always)).await;
    world.app.tools().switch("write_file", false).await.unwrap();
    assert_eq!(code(&writes(&mut world, "reports/b.md").await), Some(Code::REFUSED));
    assert!(!world.path().join("reports/b.md").exists());

    let strict = json!({
        "tool_id": "note", "description": "notes", "validation_mode": "strict", "handler_config": { "function": "read_file" },
    });
    world.app.tools().register(&strict.to_string()).await.unwrap();
    world.think(Arc::new(Scripted::calling(&[("note", json!({ "path": "reports/a.md" }))])));
    world.run("read the note").await.unwrap();
    assert!(asked(&world).await.question.unwrap().offer.is_none(), "strict asks each time");
}
