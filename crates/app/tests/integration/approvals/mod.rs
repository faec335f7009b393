//! Questions to a person, from the call that waits to what came of the answer. On every store.

mod codes;
mod of_now;

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::WaitMode;
use app::approvals::{Act, ApprovalView};
use app::record::Check;
use app::tasks::Report;
use app::{Code, Problem};
use domain::Stop;
use domain::approval::{Fate, Lasting, Status as Asked};
use domain::ask::Action;
use domain::call::{Evidence, FailureClass};
use domain::probe::Silent;
use domain::task::{Directive, Status};
use ledger::memory::MemoryStore;
use ledger::mutant::{Guard, Mutant};
use ledger::query::Select;
use ledger::records::{Approval, AuditEntry, CallStatus, ToolCall};
use ledger::table::Record;
use ledger::{Ratio, Store};
use serde_json::{Value, json};
use testkit::scripted::call;
use testkit::{Kept, Scripted, Together, World};

const YES: Act = Act::Approve { lasting: Lasting::Once, typed: None, good_for: None };

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.unwrap();
    rows.into_iter().map(|row| T::from_row(row).unwrap()).collect()
}

/// The calls, but for the one that hands the answer back.
async fn calls(world: &World) -> Vec<ToolCall> {
    let mut calls = rows::<ToolCall>(world).await;
    calls.retain(|call| call.tool_id.as_str() != "deliver");
    calls.sort_by_key(|call| call.timestamp);
    calls
}

async fn statuses(world: &World) -> Vec<CallStatus> {
    calls(world).await.into_iter().map(|call| call.status).collect()
}

async fn kinds(world: &World, of: &str) -> Vec<String> {
    let kinds = rows::<AuditEntry>(world).await.into_iter().map(|entry| entry.kind);
    kinds.filter(|kind| kind.starts_with(of)).collect()
}

fn code(report: &Result<Report, Problem>) -> Option<Code> {
    match report {
        Ok(report) => report.problem().map(|problem| problem.code),
        Err(problem) => Some(problem.code),
    }
}

/// A model that wants to delete a file that the owner has named, and then says what it was told.
fn deletes(path: &str) -> Arc<Scripted> {
    let args = json!({ "path": path });
    Arc::new(Scripted::new(move |seen| match seen.last() {
        None => call("delete_file", args.clone()),
        Some(last) => Action::done(format!("{:?}", last.outcome)),
    }))
}

/// A task whose call waits for a person.
async fn waiting(kept: Kept) -> (World, ApprovalView) {
    let mut world = World::new(kept).await;
    world.file("old.txt", "keep me");
    world.think(deletes("old.txt"));
    let report = world.run("delete old.txt").await;
    assert_eq!(code(&report), Some(Code::WAITING));
    let report = report.unwrap();
    assert_eq!((report.status, report.waiting.len()), (Status::Waiting, 1));
    let [view] = <[_; 1]>::try_from(world.app.approvals().list().await.unwrap()).unwrap();
    (world, view)
}

/// Another process that waits for the answer to what this leads to.
fn stays(world: &mut World, request: &str, leave: &Stop) -> tokio::task::JoinHandle<Result<Report, Problem>> {
    let request = app::RunRequest { wait: WaitMode::Stay(leave.clone()), ..world.request(request) };
    let app = world.another(Arc::new(Silent));
    tokio::spawn(async move { app.tasks().run(request).await })
}

async fn first_question(world: &World) -> ApprovalView {
    loop {
        match world.app.approvals().list().await.unwrap().pop() {
            Some(view) => return view,
            None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

fn there(world: &World, path: &str) -> bool {
    world.path().join(path).exists()
}

async fn sound(world: &World) {
    let check = Check { complete: true, ..Check::default() };
    let audit = world.app.record().verify(&check).await.unwrap();
    assert_eq!(audit.problem(), None, "{audit:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_survives_a_restart_and_runs_the_call_once() {
    for kept in Kept::each() {
        let (mut world, view) = waiting(kept).await;
        assert!(there(&world, "old.txt"));
        let question = view.question.as_ref().unwrap();
        assert_eq!((question.summary().as_str(), view.attended), ("delete_file old.txt", false));
        assert!(question.offer.is_none(), "nothing is granted beyond a call that destroys");
        world.restart();
        let answered = world.app.approvals().resolve(&view.short, YES, "terminal").await.unwrap();
        assert_eq!((answered.status, answered.fate), (Asked::Approved, None));
        assert!(there(&world, "old.txt"), "whoever answers does not run it");
        world.restart();
        let report = world.resume(None).await.unwrap();
        assert_eq!(report.result.unwrap().directive, Directive::Accept, "{kept:?}");
        assert!(!there(&world, "old.txt"));
        let after = world.app.approvals().show(&view.short).await.unwrap();
        assert_eq!((after.status, after.fate), (Asked::Approved, Some(Fate::Used)));

        // Used up: the same file again is another question.
        world.file("old.txt", "again");
        let report = world.resume(Some(&report.short)).await.unwrap();
        assert!(!report.worked && there(&world, "old.txt"));
        assert_eq!(code(&world.run("delete old.txt").await), Some(Code::WAITING));
        assert!(there(&world, "old.txt"));
        let ran = calls(&world).await.into_iter().find(|call| call.id == view.call).unwrap();
        assert_eq!((ran.status, ran.alignment_rating), (CallStatus::Finished, Ratio::new(1.0).ok()));
        let kinds = kinds(&world, "approval.").await;
        let expected = ["approval.requested", "approval.approved", "approval.used", "approval.requested"];
        assert_eq!(kinds, expected, "{kept:?}");
        assert!(world.app.record().recheck(&report.short).await.unwrap().recheck.unwrap().holds, "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_resumed_what_nobody_approved_never_runs() {
    for kept in Kept::each() {
        let (mut world, view) = waiting(kept).await;
        for _ in 0..3 {
            world.restart();
            assert_eq!(code(&world.resume(None).await), Some(Code::WAITING), "{kept:?}");
        }
        let again = world.app.approvals().list().await.unwrap();
        assert_eq!(again.iter().map(|view| view.id).collect::<Vec<_>>(), [view.id], "asked once");
        assert!(there(&world, "old.txt"));
        assert_eq!(statuses(&world).await, [CallStatus::Waiting]);
        sound(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_is_told_with_its_reason_and_held_against_the_call() {
    for kept in Kept::each() {
        let (world, view) = waiting(kept).await;
        let no = Act::Reject { reason: "I need it".into() };
        let answered = world.app.approvals().resolve(&view.short, no, "terminal").await.unwrap();
        assert_eq!((answered.status, answered.said.as_deref()), (Asked::Rejected, Some("I need it")));
        let report = world.resume(None).await.unwrap();
        assert_eq!(report.problem().unwrap().code, Code::REFUSED);
        let reason = report.result.unwrap().reason.unwrap();
        assert!(reason.contains("the owner said no: I need it"), "{reason}");
        assert!(there(&world, "old.txt"));
        let calls = calls(&world).await;
        assert_eq!((calls[0].status, calls[0].alignment_rating), (CallStatus::Refused, Ratio::new(0.0).ok()));
        assert!(world.app.record().recheck(&report.short).await.unwrap().recheck.unwrap().holds, "{kept:?}");
        sound(&world).await;
    }
}

/// Neither yes nor no: the agent is told so, may ask again, and nothing is held against it.
#[tokio::test(flavor = "multi_thread")]
async fn an_expired_question_is_neutral_and_may_be_asked_again() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("old.txt", "keep me");
        let told: Arc<Mutex<Vec<Evidence>>> = Arc::default();
        let notes = Arc::clone(&told);
        world.think(Arc::new(Scripted::new(move |seen| {
            *notes.lock().unwrap() = seen.to_vec();
            match seen.len() {
                0 | 1 => call("delete_file", json!({ "path": "old.txt" })),
                _ => Action::done("done"),
            }
        })));
        world.run("delete old.txt").await.unwrap();
        let first = world.app.approvals().list().await.unwrap().remove(0);
        world.clock.turn(Duration::from_secs(30 * 60 - 1));
        assert_eq!(world.app.approvals().list().await.unwrap().len(), 1, "open to the last second");
        world.clock.turn(Duration::from_secs(1));
        let late = world.app.approvals().resolve(&first.short, YES, "terminal").await.unwrap_err();
        assert_eq!(late.code, Code::ANSWERED);
        assert!(late.what.contains("has expired"), "{}", late.what);
        assert_eq!(code(&world.resume(None).await), Some(Code::WAITING), "it asked again");
        let told = told.lock().unwrap().clone();
        let failure = told[0].outcome.as_ref().unwrap_err();
        assert_eq!(failure.class, FailureClass::Refused);
        assert!(failure.message.contains("neither yes nor no"), "{failure:?}");
        let expired = calls(&world).await.into_iter().find(|call| call.id == first.call).unwrap();
        assert_eq!((expired.status, expired.alignment_rating), (CallStatus::Refused, None), "{kept:?}");
        let second = world.app.approvals().list().await.unwrap().remove(0);
        assert_ne!(first.id, second.id);
        world.app.approvals().resolve(&second.short, YES, "terminal").await.unwrap();
        world.resume(None).await.unwrap();
        assert!(!there(&world, "old.txt"));
        let rows = rows::<Approval>(&world).await;
        let by = rows.iter().find(|row| row.id == first.id).unwrap().resolved_by.clone();
        assert_eq!(by.as_deref(), Some("clock"), "nobody said anything");
        sound(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_other_arguments_only_those_run() {
    for kept in Kept::each() {
        let (world, view) = waiting(kept).await;
        world.file("copy.txt", "a copy");
        let bad = Act::Modify { args: json!({ "pth": "copy.txt" }), typed: None };
        let bad = world.app.approvals().resolve(&view.short, bad, "terminal").await.unwrap_err();
        assert_eq!(bad.code, Code::BAD_ARGUMENTS);
        let other = Act::Modify { args: json!({ "path": "copy.txt" }), typed: None };
        world.app.approvals().resolve(&view.short, other, "terminal").await.unwrap();
        let report = world.resume(None).await.unwrap();
        assert_eq!(report.result.unwrap().directive, Directive::Accept, "{kept:?}");
        assert!(there(&world, "old.txt") && !there(&world, "copy.txt"), "{kept:?}");
        let after = world.app.approvals().show(&view.short).await.unwrap();
        assert_eq!((after.status, after.fate), (Asked::Modified, Some(Fate::Used)));
        let calls = calls(&world).await;
        let mut ends: Vec<_> = calls.iter().map(|call| (call.status, call.id == view.call)).collect();
        ends.sort_by_key(|(_, original)| *original);
        assert_eq!(ends, [(CallStatus::Finished, false), (CallStatus::Refused, true)]);
        let original = calls.iter().find(|call| call.id == view.call).unwrap();
        assert_eq!(original.alignment_rating, None, "other arguments are not held against it");
        assert!(world.app.record().recheck(&report.short).await.unwrap().recheck.unwrap().holds, "{kept:?}");
        sound(&world).await;
    }
}

/// What is asked again with the yes is asked under the policy of now.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_no_voids_a_yes_and_the_agent_is_told() {
    for kept in Kept::each() {
        let (mut world, view) = waiting(kept).await;
        world.app.approvals().resolve(&view.short, YES, "terminal").await.unwrap();
        world.app.tools().switch("delete_file", false).await.unwrap();
        world.restart();
        let report = world.resume(None).await.unwrap();
        assert_eq!(report.problem().unwrap().code, Code::REFUSED);
        assert!(report.result.unwrap().reason.unwrap().contains("switched off"), "{kept:?}");
        assert!(there(&world, "old.txt"));
        let after = world.app.approvals().show(&view.short).await.unwrap();
        assert_eq!((after.status, after.fate), (Asked::Approved, Some(Fate::Void)));

        // Switched on again: the yes stays void.
        world.app.tools().switch("delete_file", true).await.unwrap();
        world.resume(Some(&report.short)).await.unwrap();
        assert!(there(&world, "old.txt"));
        assert_eq!(kinds(&world, "approval.").await.last().unwrap(), "approval.voided");
        sound(&world).await;
    }
}

/// Another definition under the same name is another call.
#[tokio::test(flavor = "multi_thread")]
async fn a_yes_to_a_tool_is_not_a_yes_to_what_it_became() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("old.txt", "keep me");
        let tidy = |about: &str| {
            json!({ "tool_id": "tidy", "description": about, "handler_config": { "function": "delete_file" } })
                .to_string()
        };
        world.app.tools().register(&tidy("tidies up")).await.unwrap();
        world.think(Arc::new(Scripted::calling(&[("tidy", json!({ "path": "old.txt" }))])));
        world.run("tidy old.txt").await.unwrap();
        let first = world.app.approvals().list().await.unwrap().remove(0);
        world.app.approvals().resolve(&first.short, YES, "terminal").await.unwrap();
        world.app.tools().register(&tidy("something else")).await.unwrap();
        assert_eq!(code(&world.resume(None).await), Some(Code::WAITING), "{kept:?}");
        assert!(there(&world, "old.txt"));
        let second = world.app.approvals().list().await.unwrap().remove(0);
        assert_ne!(first.id, second.id, "a new question");
        assert_eq!(world.app.approvals().show(&first.short).await.unwrap().fate, Some(Fate::Void));
        world.app.approvals().resolve(&second.short, YES, "terminal").await.unwrap();
        world.resume(None).await.unwrap();
        assert!(!there(&world, "old.txt"), "{kept:?}");
        sound(&world).await;
    }
}

/// Another folder was put in the place of the one that was asked about, with the same file in it.
#[tokio::test(flavor = "multi_thread")]
async fn a_yes_is_for_the_folder_it_was_given_for() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("old.txt", "keep me");
        world.think(deletes("old.txt"));
        world.run("delete old.txt").await.unwrap();
        let first = world.app.approvals().list().await.unwrap().remove(0);
        world.app.approvals().resolve(&first.short, YES, "terminal").await.unwrap();
        let path = world.path().to_owned();
        let moved = path.with_extension("moved");
        fs::rename(&path, &moved).unwrap();
        fs::create_dir(&path).unwrap();
        // The database may be in it too.
        for entry in fs::read_dir(&moved).unwrap() {
            let entry = entry.unwrap();
            fs::rename(entry.path(), path.join(entry.file_name())).unwrap();
        }
        world.restart();
        assert_eq!(code(&world.resume(None).await), Some(Code::WAITING), "{kept:?}");
        assert!(there(&world, "old.txt"), "{kept:?}");
        assert_eq!(world.app.approvals().show(&first.short).await.unwrap().fate, Some(Fate::Void));
        fs::remove_dir(&moved).unwrap();
        sound(&world).await;
    }
}

/// As many as there are answer at the same moment: how many were heard?
async fn at_once(store: Arc<dyn Store>) -> (usize, Vec<Problem>) {
    const RIVALS: usize = 8;
    let mut world = World::on(store);
    world.file("old.txt", "keep me");
    world.think(deletes("old.txt"));
    world.run("delete old.txt").await.unwrap();
    let view = world.app.approvals().list().await.unwrap().remove(0);
    // From here on whoever looks waits until all have looked.
    let mut rivals = World::on(Together::new(world.store().await, Approval::TABLE.name, RIVALS));
    let mut running = tokio::task::JoinSet::new();
    for rival in 0..RIVALS {
        let (app, id) = (rivals.another(Arc::new(Silent)), view.id.to_string());
        let act = match rival % 3 {
            0 => YES,
            1 => Act::Reject { reason: format!("no {rival}") },
            _ => Act::Modify { args: json!({ "path": "old.txt" }), typed: None },
        };
        running.spawn(async move { app.approvals().resolve(&id, act, "terminal").await });
    }
    let (heard, told): (Vec<_>, Vec<_>) = running.join_all().await.into_iter().partition(Result::is_ok);
    (heard.len(), told.into_iter().filter_map(Result::err).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_eight_who_answer_at_once_one_is_heard_and_the_others_are_told_who() {
    let (heard, told) = at_once(Arc::new(MemoryStore::default())).await;
    assert_eq!((heard, told.len()), (1, 7));
    for problem in told {
        assert_eq!(problem.code, Code::ANSWERED);
        assert!(problem.what.contains("by owner, terminal"), "{}", problem.what);
    }
    // A store that does not compare lets more than one be heard: this test would notice.
    let without = Mutant::new(Arc::new(MemoryStore::default()), Guard::Stamp);
    assert!(at_once(Arc::new(without)).await.0 > 1);
}

/// The process that waits goes on by itself, whoever answers; and leaves if it is asked to.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_stays_goes_on_by_itself() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("old.txt", "keep me");
        world.think(deletes("old.txt"));
        let leave = Stop::default();
        let task = stays(&mut world, "delete old.txt", &leave);
        let view = first_question(&world).await;
        assert!(view.attended, "somebody is at it");
        world.app.approvals().resolve(&view.short, YES, "terminal").await.unwrap();
        let report = task.await.unwrap().unwrap();
        assert_eq!((report.status, there(&world, "old.txt")), (Status::Done, false), "{kept:?}");

        world.file("old.txt", "again");
        let task = stays(&mut world, "delete old.txt", &leave);
        first_question(&world).await;
        leave.now();
        let report = task.await.unwrap().unwrap();
        assert_eq!((report.status, there(&world, "old.txt")), (Status::Waiting, true), "{kept:?}");
        assert_eq!(world.app.approvals().list().await.unwrap().len(), 1, "neither yes nor no");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_passed_on_goes_to_the_next_and_its_time_begins_anew() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.set("[approvals]\nchain = \"lea, owner\"\ntime = \"10m\"");
        world.file("old.txt", "keep me");
        world.think(deletes("old.txt"));
        world.run("delete old.txt").await.unwrap();
        let first = world.app.approvals().list().await.unwrap().remove(0);
        assert_eq!(first.authority, "lea");
        world.clock.turn(Duration::from_secs(9 * 60));
        let moved = world.app.approvals().resolve(&first.short, Act::Escalate, "terminal").await.unwrap();
        assert_eq!((moved.authority.as_str(), moved.status), ("owner", Asked::Escalated));
        world.clock.turn(Duration::from_secs(9 * 60));
        assert_eq!(world.app.approvals().list().await.unwrap().len(), 1, "its time began anew");
        let above = world.app.approvals().resolve(&first.short, Act::Escalate, "terminal").await.unwrap_err();
        assert_eq!(above.code, Code::BAD_ANSWER, "nobody is above the owner");
        world.app.approvals().resolve(&first.short, YES, "terminal").await.unwrap();
        world.resume(None).await.unwrap();
        assert!(!there(&world, "old.txt"), "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_over_takes_no_answer() {
    let mut world = World::new(Kept::InMemory).await;
    world.file("old.txt", "keep me");
    world.think(deletes("old.txt"));
    world.run("delete old.txt").await.unwrap();
    let view = world.app.approvals().list().await.unwrap().remove(0);
    world
        .app
        .approvals()
        .resolve(&view.short, Act::Reject { reason: String::new() }, "terminal")
        .await
        .unwrap();
    world.resume(None).await.unwrap();
    let late = world.app.approvals().resolve(&view.short, YES, "terminal").await.unwrap_err();
    assert_eq!(late.code, Code::ANSWERED);
    assert!(late.what.contains("was rejected by owner, terminal"), "{}", late.what);
    assert!(there(&world, "old.txt"));
}

/// Two files in turn, each with a question of its own: what was said about one says nothing about the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_yes_is_for_one_call_and_alike_questions_are_told_by_their_shape() {
    let mut world = World::new(Kept::InMemory).await;
    world.file("a.txt", "a").file("b.txt", "b");
    let path = |path: &str| json!({ "path": path });
    world.think(Arc::new(Scripted::calling(&[
        ("delete_file", path("a.txt")),
        ("delete_file", path("b.txt")),
    ])));
    world.run("delete a.txt and b.txt").await.unwrap();
    let first = world.app.approvals().list().await.unwrap().remove(0);
    world.app.approvals().resolve(&first.short, YES, "terminal").await.unwrap();
    assert_eq!(code(&world.resume(None).await), Some(Code::WAITING));
    assert!(!there(&world, "a.txt") && there(&world, "b.txt"));
    let second = world.app.approvals().list().await.unwrap().remove(0);
    assert_eq!(first.shape, second.shape, "the same tool, the same kind of arguments, the same reasons");
    let args = |view: &ApprovalView| -> Value { view.question.as_ref().unwrap().args().clone() };
    assert_ne!(args(&first), args(&second));
}
