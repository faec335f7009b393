//! Product tests: one request from the terminal to the ledger and back, on every store.

use app::instance::backup::How;
use app::record::Check;
use app::{Code, Problem};
use domain::event::Direction;
use domain::task::{Directive, Status};
use ledger::records::{AuditEntry, CallStatus, TABLES};
use ledger::value::Value;
use ledger::{Ledger, Select};
use std::sync::Arc;
use testkit::{Kept, World};

const REFERENCE: &str = "how many Rust files are here, and which is the largest?";

async fn furnished(kept: Kept) -> World {
    let world = World::new(kept).await;
    world
        .file("src/small.rs", "fn a() {}")
        .file("src/large.rs", "fn main() { println!(); }")
        .file("README.md", "# Hi");
    world
}

/// A second pair of eyes on what was kept.
async fn ledger_of(world: &World) -> Ledger {
    let seal = world.seal();
    Ledger::start(world.store().await, seal, Arc::new(domain::probe::Silent))
}

fn code<T: std::fmt::Debug>(result: Result<T, Problem>) -> Code {
    result.expect_err("must not work").code
}

#[tokio::test]
async fn the_reference_request_is_answered_checked_and_delivered_once() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        let report = world.run(REFERENCE).await.expect("a report");
        assert_eq!(report.status, Status::Done, "{kept:?}");
        assert_eq!(report.problem(), None);
        let result = report.result.expect("a result");
        assert_eq!(result.directive, Directive::Accept);
        assert!(result.verdicts.len() >= 3 && result.unmet().count() == 0);
        let answer = "2 Rust files; the largest is src/large.rs (25 bytes).\nSubfolders included; hidden files, ignored files and links left out.";
        assert_eq!(world.seen(), [answer]);
    }
}

/// (event) · (admission, plan, decisions, started) · (finished, verdict, answer) · (delivered).
#[tokio::test]
async fn the_reference_request_needs_four_durability_barriers() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        world.run(REFERENCE).await.expect("a report");
        assert_eq!(world.app.instance().barriers(), 4, "{kept:?}");
        world.run(REFERENCE).await.expect("a report");
        assert_eq!(
            world.app.instance().barriers(),
            8,
            "nor does it need more in a house that knows its owner"
        );
    }
}

#[tokio::test]
async fn the_whole_chain_is_on_record() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        let report = world.run(REFERENCE).await.expect("a report");
        let ledger = ledger_of(&world).await;
        let events = ledger.events(9).await.expect("events");
        assert_eq!(
            events.iter().map(|event| event.direction).collect::<Vec<_>>(),
            [Direction::In, Direction::Out]
        );
        assert_eq!(events[1].answers, Some(events[0].id), "the loop closes");
        let calls = ledger.calls_of(report.task).await.expect("calls");
        let mut calls: Vec<_> = calls.iter().map(|call| (call.tool_id.as_str(), call.status)).collect();
        calls.sort_unstable_by_key(|(tool, _)| *tool); // the clock stands still, so they have no order
        assert_eq!(calls, [("deliver", CallStatus::Finished), ("find_files", CallStatus::Finished)]);
        let kinds: Vec<String> = ledger
            .audit_tail(99)
            .await
            .expect("audit")
            .into_iter()
            .map(|entry: AuditEntry| entry.kind)
            .collect();
        assert_eq!(
            kinds,
            [
                "event.received",
                "policies.activated",
                "policies.activated",
                "admission.decided",
                "task.opened",
                "call.started",
                "call.finished",
                "call.started",
                "call.finished",
                "event.sent",
                "task.ended"
            ]
        );
        assert!(ledger.verify_audit().await.expect("verify").is_consistent());
    }
}

/// What a person wrote stands only in tables that are declared to hold it.
#[tokio::test]
async fn nothing_personal_stands_in_a_row_that_cannot_be_erased() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        world.file("canary-secret/x.rs", "canary-secret");
        world.run("search for \"canary-secret\"").await.expect("a report");
        let line = r#"{"adapter":"mail","source_id":"1","sender":"canary-secret@x","content":"canary-secret","container_id":"canary-secret"}"#;
        world.app.events().ingest(line).await.expect("ledger").expect("event");
        let mut erasable = 0;
        for table in TABLES {
            let query = ledger::query::Query { table, filters: Vec::new(), order: None, limit: None };
            for row in world.store().await.select(&query).await.expect("select") {
                let holds = |cell: &Value| match cell {
                    Value::Text(text) => text.contains("canary-secret"),
                    Value::Bytes(bytes) => bytes.windows(13).any(|window| window == b"canary-secret"),
                    Value::Null | Value::Int(_) | Value::Real(_) | Value::Time(_) => false,
                };
                if row.iter().any(holds) {
                    assert!(table.is_personal(), "{kept:?}: {} holds what a person wrote", table.name);
                    erasable += 1;
                }
            }
        }
        assert!(erasable > 3, "the test itself must see the canary where it may be");
    }
}

#[tokio::test]
async fn what_the_reflexes_do_not_understand_is_said_and_kept() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        let report = world.run("paint the house green").await.expect("a report");
        let problem = report.problem().expect("a problem");
        assert_eq!((problem.code, problem.code.exit()), (Code::NEEDS_MODEL, 4));
        assert_eq!(problem.what, "I need a model for that, and there is none");
        assert_eq!(report.status, Status::Stopped);
        assert_eq!(world.app.tasks().list(9).await.expect("tasks").len(), 1);
    }
}

#[tokio::test]
async fn a_folder_that_is_not_there_stops_the_task_and_never_looks_done() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        let report = world.run("how many files are in nowhere").await.expect("a report");
        let problem = report.problem().expect("a problem");
        assert_eq!((problem.code, report.status), (Code::STOPPED, Status::Stopped));
        assert_eq!(problem.what, "stopped: `nowhere` does not exist in the workspace");
    }
}

#[tokio::test]
async fn an_empty_or_endless_request_writes_nothing() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        assert_eq!(code(world.run("  \n ").await), Code::EMPTY_REQUEST);
        assert_eq!(code(world.run(&"x".repeat(65_537)).await), Code::REQUEST_TOO_LONG);
        assert_eq!(world.app.events().list(9).await.expect("events").len(), 0);
    }
}

/// Nobody outside is let in, and the decision with its reasons is on record.
#[tokio::test]
async fn an_event_from_outside_is_kept_and_not_admitted() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        let line = r#"{"adapter":"mail","source_id":"7","sender":"eve@x.example","content":"how many files are here?"}"#;
        let receipt = world.app.events().ingest(line).await.expect("ledger").expect("event");
        assert_eq!(code(world.resume(Some(&receipt.id.to_string())).await), Code::NOT_ADMITTED);
        let why = world.app.record().why(&receipt.id.to_string()).await.expect("why");
        assert!(why.because.iter().any(|branch| branch.text == "deny: unknown, trust untrusted"), "{why:?}");
        assert_eq!(world.seen(), [""; 0]);
        assert_eq!(
            ledger_of(&world).await.calls_of(domain::id::TaskId::from_bits(0)).await.expect("calls"),
            []
        );
    }
}

#[tokio::test]
async fn two_questions_about_different_files_are_two_subtasks_at_once() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        let report = world
            .run("how many Rust files are here, and how many markdown files are here?")
            .await
            .expect("a report");
        assert_eq!(report.problem(), None);
        assert_eq!(world.app.tasks().show(&report.short).await.expect("task").plan.len(), 2);
        let barriers = world.app.instance().barriers();
        assert!((4..=5).contains(&barriers), "both calls start together, and end as they do: {barriers}");
    }
}

#[tokio::test]
async fn a_forged_tail_is_named_for_ever_and_the_work_goes_on() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        world.run(REFERENCE).await.expect("a report");
        let ledger = ledger_of(&world).await;
        let head =
            ledger.first(Select::<ledger::records::AuditHead>::all()).await.expect("head").expect("a head");
        let mut forged = ledger::Batch::new(domain::id::BatchId::from_bits(9), head_time());
        forged.put(&ledger::records::AuditHead { mac: domain::Digest::ZERO, ..head });
        ledger.commit(forged).await.expect("whoever owns the database can do this");
        let refused = world.run(REFERENCE).await.expect_err("nobody can tell whether it was halted");
        assert_eq!(refused.code, Code::AUTHORITY);
        world.app.instance().reset_authority(How::Really).await.expect("the owner decides what counts");
        world.app.instance().resume_all().await.expect("and lifts the halt");
        world.run(REFERENCE).await.expect("the work goes on");
        assert!(world.app.instance().healed(), "and the owner is told");
        assert_eq!(world.seen().len(), 2);
        for _ in 0..2 {
            let report = world.app.record().verify(&Check::default()).await.expect("verify");
            assert_eq!(
                report.faults,
                [format!("entry {} records that the chain was damaged there", head.seq + 1)]
            );
            assert_eq!(report.problem().map(|problem| problem.code), Some(Code::AUDIT_BROKEN));
        }
    }
}

fn head_time() -> domain::Time {
    domain::Time::from_micros(0)
}

/// Nobody can be shown anything here.
struct Closed;

impl app::Surface for Closed {
    fn show(&self, _: domain::id::TaskId, _: &domain::task::FinalResult) -> Result<(), String> {
        Err("nobody is there".into())
    }
}

#[tokio::test]
async fn a_result_that_could_not_be_handed_over_is_not_done() {
    for kept in Kept::each() {
        let world = furnished(kept).await;
        let request = app::RunRequest { surface: Arc::new(Closed), ..world.request(REFERENCE) };
        let report = world.app.tasks().run(request).await.expect("a report");
        assert_eq!(report.status, Status::Stopped);
        assert_eq!(report.problem().map(|problem| problem.code), Some(Code::OUTPUT));
        let kept_result =
            world.app.tasks().show(&report.short).await.expect("task").result.expect("a result");
        assert!(kept_result.text.starts_with("2 Rust files"), "the result itself is not lost");
        let out = world
            .app
            .events()
            .list(9)
            .await
            .expect("events")
            .into_iter()
            .filter(|event| event.direction == Direction::Out);
        assert_eq!(out.count(), 0, "what was not delivered did not go out");
    }
}

#[tokio::test]
async fn a_workspace_that_is_gone_is_noticed_before_anything_is_written() {
    let world = furnished(Kept::InMemory).await;
    let request = app::RunRequest { workspace: world.path().join("gone"), ..world.request(REFERENCE) };
    assert_eq!(code(world.app.tasks().run(request).await), Code::WORKSPACE);
    assert_eq!(world.app.events().list(9).await.expect("events").len(), 0);
}
