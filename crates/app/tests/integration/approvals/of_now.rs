//! What was answered is decided about with the tools, the settings and the policies of now, however long the answer took, and
//! whoever waited for it.

use std::sync::Arc;

use app::Code;
use app::approvals::Act;
use app::grants::NewGrant;
use domain::Stop;
use domain::approval::{Fate, Status as Asked};
use domain::ask::Action;
use domain::task::Status;
use ledger::records::{Approval, CallStatus};
use serde_json::json;
use testkit::scripted::call;
use testkit::{Kept, Scripted, World};

use crate::approvals::{YES, calls, code, first_question, rows, sound, stays, there, waiting};

/// A tool of our own that deletes, with something said about it.
fn tidy(more: &serde_json::Value) -> String {
    let mut tool = json!({
        "tool_id": "tidy", "description": "tidies up", "handler_config": { "function": "delete_file" },
    });
    tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    tool.to_string()
}

fn tidies() -> Arc<Scripted> {
    Arc::new(Scripted::new(|seen| match seen.last() {
        None => call("tidy", json!({ "path": "old.txt" })),
        Some(_) => Action::done("done"),
    }))
}

/// While a process waits for the answer, what it waits with becomes something else.
async fn meanwhile(kept: Kept, change: impl AsyncFn(&World)) -> (World, Status) {
    let mut world = World::new(kept).await;
    world.file("old.txt", "keep me");
    world.app.tools().register(&tidy(&json!({}))).await.unwrap();
    world.think(tidies());
    let leave = Stop::default();
    let task = stays(&mut world, "tidy old.txt", &leave);
    let view = first_question(&world).await;
    change(&world).await;
    world.app.approvals().resolve(&view.short, YES, "terminal").await.unwrap();
    // It ends, or it asks again and is told to leave.
    loop {
        let fate = world.app.approvals().show(&view.short).await.unwrap().fate;
        if task.is_finished() || fate.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    leave.now();
    let report = task.await.unwrap().unwrap();
    assert_eq!(world.app.approvals().show(&view.short).await.unwrap().fate, Some(Fate::Void), "{kept:?}");
    (world, report.status)
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_stays_decides_with_the_tools_of_now() {
    for kept in Kept::each() {
        let removed =
            meanwhile(kept, async |world| drop(world.app.tools().remove("tidy").await.unwrap())).await;
        assert!(there(&removed.0, "old.txt") && removed.1.is_over(), "{kept:?}");
        let disabled = tidy(&json!({ "execution_mode": "disabled" }));
        let disabled =
            meanwhile(kept, async |world| drop(world.app.tools().register(&disabled).await.unwrap())).await;
        assert!(there(&disabled.0, "old.txt") && disabled.1.is_over(), "{kept:?}");
        let other = tidy(&json!({ "description": "something else" }));
        let other =
            meanwhile(kept, async |world| drop(world.app.tools().register(&other).await.unwrap())).await;
        assert_eq!((there(&other.0, "old.txt"), other.1), (true, Status::Waiting), "asked anew, {kept:?}");
        sound(&other.0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_with_other_arguments_needs_its_yes_like_any_other() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("a.txt", "a").file("b.txt", "b");
        world.app.tools().set_level("read_file", 0).await.unwrap();
        world.think(Arc::new(Scripted::calling(&[("read_file", json!({ "path": "a.txt" }))])));
        assert_eq!(code(&world.run("read a.txt").await), Some(Code::WAITING));
        let view = first_question(&world).await;
        let other = Act::Modify { args: json!({ "path": "b.txt" }), typed: None };
        world.app.approvals().resolve(&view.short, other, "terminal").await.unwrap();
        world.app.tools().set_level("read_file", 1).await.unwrap(); // another definition than the one that was answered for
        assert_eq!(code(&world.resume(None).await), Some(Code::WAITING), "{kept:?}");
        let after = world.app.approvals().show(&view.short).await.unwrap();
        assert_eq!((after.status, after.fate), (Asked::Modified, Some(Fate::Void)), "{kept:?}");
        assert_eq!(after.changed, Some(json!({ "path": "b.txt" })));
        let again = first_question(&world).await;
        assert_eq!(again.question.as_ref().unwrap().args(), &json!({ "path": "b.txt" }));
        world.app.approvals().resolve(&again.short, YES, "terminal").await.unwrap();
        assert_eq!(world.resume(None).await.unwrap().status, Status::Done);
        sound(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_for_another_reason_does_not_use_a_yes_to_something_else() {
    for kept in Kept::each() {
        let (world, view) = waiting(kept).await;
        world.app.approvals().resolve(&view.short, YES, "terminal").await.unwrap();
        world.file("old.txt", "something else"); // the yes was not for this
        let pins = [("path".to_owned(), "old.txt".to_owned())].into();
        let grant = NewGrant {
            tool: "delete_file".into(),
            pins,
            principal: "owner".into(),
            agent: "main".into(),
            session: None,
            lasting: None,
            reason: String::new(),
        };
        world.app.grants().add(grant).await.unwrap();
        world.resume(None).await.unwrap();
        assert!(!there(&world, "old.txt"), "the grant lets it");
        assert_eq!(world.app.approvals().show(&view.short).await.unwrap().fate, Some(Fate::Void), "{kept:?}");
        sound(&world).await;
    }
}

/// Neither a task that is over nor whoever lists what waits leaves a question behind.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_ends_asks_nobody_any_more() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("old.txt", "keep me");
        world.think(Arc::new(Scripted::beside(2, |subtask, _| match subtask {
            0 => call("delete_file", json!({ "path": "old.txt" })),
            _ => call("find_files", json!({ "under": "." })), // in circles
        })));
        let report = world.run("delete old.txt").await.unwrap();
        assert_eq!(report.status, Status::Stopped, "{kept:?}");
        assert!(there(&world, "old.txt") && world.app.approvals().list().await.unwrap().is_empty());
        let asked: Vec<Approval> = rows(&world).await;
        let ends: Vec<_> = asked.iter().map(|asked| (asked.status, asked.resolved_by.as_deref())).collect();
        assert_eq!(ends, [(Asked::Expired, Some("task"))], "{kept:?}");
        assert!(calls(&world).await.iter().all(|call| call.status != CallStatus::Waiting));
        sound(&world).await;
    }
}

/// Asked about, started, killed, asked about again: the record of it is complete all the while.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_asked_about_again_is_on_record_as_such() {
    for kept in Kept::each() {
        let (mut world, view) = waiting(kept).await;
        world.app.approvals().resolve(&view.short, YES, "terminal").await.unwrap();
        world.file("old.txt", "changed meanwhile");
        world.restart();
        assert_eq!(code(&world.resume(None).await), Some(Code::WAITING));
        sound(&world).await;
        let again = first_question(&world).await;
        let no = Act::Reject { reason: String::new() };
        world.app.approvals().resolve(&again.short, no, "terminal").await.unwrap();
        world.resume(None).await.unwrap();
        sound(&world).await;
    }
}
