//! How a task ends that was not simply done: good enough, out of budget, diverging, cancelled; and what is handed over.

use std::sync::Arc;
use std::time::Duration;

use app::Code;
use app::approvals::Act;
use domain::approval::Lasting;
use domain::ask::{Action, Reply, Want};
use domain::criterion::{Check, Criterion};
use domain::probe::Silent;
use domain::source::Text;
use domain::task::{Cause, Directive, Plan, Status, Subtask};
use ledger::records::CallStatus;
use serde_json::json;
use testkit::scripted::{call, understood};
use testkit::{Kept, Scripted, Thinker, World};

use crate::the_loop::words::script;
use crate::the_loop::{Script, count_is, counted, find, journal, subtask, write};

/// Three of four criteria are met: D = 0.25 ≤ δ. It is delivered, and says what is not met; exit 5.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_close_enough_is_delivered_with_what_is_unmet() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("docs/a.md", "one");
        let script = Script {
            plan: |_| {
                let known =
                    |text: &str| Criterion::checked(text, Check::NotEmpty { pointer: "/files".into() });
                let mut criteria = ["one", "two", "three"].map(known).to_vec();
                criteria.push(Criterion::checked("there are five", count_is(5)));
                Ok(Plan::of(vec![Subtask::new(Text::model("count"), criteria)]))
            },
            act: |at| if at.last.is_some() { Action::done("1 file") } else { find("docs") },
        };
        let asked = script.play(&mut world);
        let report = world.run("count docs").await.unwrap();
        let result = report.result.clone().unwrap();
        assert_eq!((report.status, result.directive), (Status::Done, Directive::Success), "{kept:?}");
        assert_eq!(
            result.unmet().map(|verdict| verdict.criterion.as_str()).collect::<Vec<_>>(),
            ["there are five"]
        );
        assert_eq!(report.problem().unwrap().code, Code::UNMET);
        assert_eq!(report.problem().unwrap().code.exit(), 5);
        assert_eq!(result.measured.unwrap().loss.d, 0.25);
        assert_eq!(counted(&asked, "executor"), 6, "two corrections before that");
        assert_eq!(world.seen(), ["1 file"]);
    }
}

/// Ω reaches θ with the fourth plan: 0.6 · 4/3 = 0.8. What an earlier round achieved is handed over all the same.
#[tokio::test(flavor = "multi_thread")]
async fn out_of_replans_it_is_abandoned_with_what_there_is() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("docs/a.md", "one");
        let script = Script {
            plan: |round| {
                let mut plan = vec![subtask("find what is gone", count_is(1))];
                if round == 0 {
                    plan.push(subtask("count docs", count_is(1)));
                }
                Ok(Plan::of(plan))
            },
            act: |at| match (at.subtask, at.last) {
                (0, Some(_)) => Action::failed("it is not there"),
                (0, None) => find(["gone0", "gone1", "gone2", "gone3"][at.round as usize]),
                (_, Some(_)) => Action::done("docs has 1 file"),
                (_, None) => find("docs"),
            },
        };
        let asked = script.play(&mut world);
        let report = world.run("count docs, gone0, gone1, gone2, gone3").await.unwrap();
        let result = report.result.clone().unwrap();
        assert_eq!((report.status, result.directive), (Status::Stopped, Directive::Abandon), "{kept:?}");
        assert_eq!(report.problem().unwrap().code.exit(), 1);
        assert_eq!(counted(&asked, "planner"), 4, "three replans at the most");
        assert_eq!(result.text, "docs has 1 file");
        assert_eq!(result.tried.len(), 4, "{:?}", result.tried);
        assert_eq!(result.next, ["make `gone3` available, and ask again"]);
        assert!(result.measured.unwrap().loss.omega >= 0.8 - 1e-9);
    }
}

/// Two rounds in a row get worse: more of the plan fails each time.
#[tokio::test(flavor = "multi_thread")]
async fn what_diverges_is_abandoned_by_law_2_before_the_budget_is_used_up() {
    let mut world = World::new(Kept::InMemory).await;
    world.file("docs/a.md", "one");
    let script = Script {
        plan: |_| Ok(Plan::of((0..8).map(|n| subtask(&format!("part {n}"), count_is(1))).collect())),
        act: |at| match at.last {
            Some(Ok(_)) => Action::done("1"),
            Some(Err(_)) => Action::failed("it is not there"),
            None if at.subtask < [3, 6, 8, 8][at.round as usize] => {
                find(&format!("gone{}", at.subtask + at.round * 8))
            }
            None => find("docs"),
        },
    };
    let asked = script.play(&mut world);
    let gone: Vec<String> = (0..40).map(|n| format!("gone{n}")).collect();
    let report = world.run(&format!("count docs, {}", gone.join(", "))).await.unwrap();
    assert_eq!(report.result.clone().unwrap().directive, Directive::Abandon);
    assert_eq!(counted(&asked, "planner"), 3, "{:?}", report.result.unwrap().tried);
}

/// It took far too long, and everything is met: a finished task is not abandoned for being slow.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_met_is_accepted_after_the_budget_is_spent() {
    let mut world = World::new(Kept::InMemory).await;
    world.file("docs/a.md", "one");
    let clock = Arc::clone(&world.clock);
    world.think(Arc::new(Thinker::new(move |ask| {
        clock.turn(Duration::from_secs(600));
        Ok(match &ask.want {
            Want::Perceive { request, .. } => Reply::Perceived(understood(request)),
            Want::Plan { .. } => Reply::Planned(Plan::of(vec![subtask("count docs", count_is(1))])),
            Want::Act { evidence, .. } if evidence.is_empty() => Reply::Acted(find("docs")),
            _ => Reply::Acted(Action::done("1")),
        })
    })));
    let report = world.run("count docs").await.unwrap();
    let result = report.result.unwrap();
    assert_eq!((report.status, result.directive), (Status::Done, Directive::Accept));
    assert_eq!(result.measured.unwrap().loss.omega, 1.0);
}

/// Somebody cancels while a call runs in another process: that one stops, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_cancelled_from_another_process() {
    for kept in [Kept::InSqlite, Kept::InPostgres] {
        let mut world = World::new(kept).await;
        world.file("docs/a.md", "one");
        // The second move takes for ever: somebody has to put an end to it.
        world.think(Arc::new(script(&[json!({ "role": "executor", "moves": 1, "hang": true })])));
        let other = world.another(Arc::new(Silent));
        let cancel = async {
            loop {
                tokio::time::sleep(Duration::from_millis(100)).await;
                let tasks = other.tasks().list(1).await.unwrap();
                if let Some(task) = tasks.first().filter(|task| task.steps >= 6) {
                    return other.tasks().cancel(&task.task.to_string()).await.unwrap();
                }
            }
        };
        let (report, cancelled) = tokio::join!(world.run("count docs"), cancel);
        let report = report.unwrap();
        assert_eq!(cancelled.result.as_ref().unwrap().cause, Some(Cause::Cancelled), "{kept:?}");
        assert_eq!(report.result.as_ref().unwrap().cause, Some(Cause::Cancelled), "{kept:?}");
        assert_eq!(report.problem().unwrap().code, Code::CANCELLED);
        assert_eq!(cancelled.status, Status::Stopped);
        let again = world.app.tasks().cancel(&report.short).await.unwrap_err();
        assert_eq!(again.code, Code::NOTHING_TO_CANCEL);
        assert_eq!(world.seen(), Vec::<String>::new(), "nothing is handed over as if it were done");
    }
}

/// Two subtasks: one wants to write what the request does not name, and waits for the owner; the other takes its time.
fn one_waits_and_one_sleeps(ms: u64) -> Thinker {
    Thinker::new(move |ask| {
        let done = |tool: &str| Check::ToolCalled { tool: tool.parse().unwrap() };
        Ok(match &ask.want {
            Want::Perceive { request, .. } => Reply::Perceived(understood(request)),
            Want::Plan { .. } => Reply::Planned(Plan::of(vec![
                subtask("write", done("write_file")),
                subtask("sleep", done("sleep")),
            ])),
            Want::Act { evidence, .. } if !evidence.is_empty() => Reply::Acted(Action::done("done")),
            Want::Act { number: 0, .. } => Reply::Acted(write("new.txt", "x")),
            _ => Reply::Acted(call("sleep", json!({ "ms": ms }))),
        })
    })
}

/// Whoever is answered goes on, however long others are at it.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_heard_while_another_call_runs() {
    for kept in [Kept::InSqlite, Kept::InPostgres] {
        let mut world = World::new(kept).await;
        world.think(Arc::new(one_waits_and_one_sleeps(3_000)));
        let other = world.another(Arc::new(Silent));
        let file = world.path().join("new.txt");
        let approve = async {
            loop {
                tokio::time::sleep(Duration::from_millis(50)).await;
                if let Some(view) = other.approvals().list().await.unwrap().pop() {
                    let yes = Act::Approve { lasting: Lasting::Once, typed: None, good_for: None };
                    return other.approvals().resolve(&view.short, yes, "terminal").await.unwrap();
                }
            }
        };
        let (report, _) = tokio::join!(world.run("make something"), approve);
        assert_eq!(report.unwrap().status, Status::Done, "{kept:?}");
        assert!(file.exists());
        let inputs = journal(&world).await;
        let answered = inputs.iter().position(|input| *input == "answered").unwrap();
        let returned: Vec<usize> =
            (0..).zip(&inputs).filter(|(_, i)| **i == "returned").map(|(n, _)| n).collect();
        assert!(returned.len() == 3 && returned.iter().all(|at| *at > answered), "{kept:?}: {inputs:?}");
    }
}

/// Nobody is asked about a task any more that somebody put an end to.
#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_task_that_waits_withdraws_its_question() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.think(Arc::new(one_waits_and_one_sleeps(1)));
        let report = world.run("make something").await.unwrap();
        assert_eq!((report.status, report.waiting.len()), (Status::Waiting, 1), "{kept:?}");
        let cancelled = world.app.tasks().cancel(&report.short).await.unwrap();
        assert_eq!(cancelled.result.unwrap().cause, Some(Cause::Cancelled), "{kept:?}");
        assert_eq!(world.app.approvals().list().await.unwrap().len(), 0, "{kept:?}");
        assert!(!world.path().join("new.txt").exists());
    }
}

/// A circle ends the task while another call runs: that one is stopped and on record before the task is over, once.
#[tokio::test(flavor = "multi_thread")]
async fn what_still_runs_when_a_task_ends_is_stopped_and_on_record_first() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("docs/a.md", "one");
        world.think(Arc::new(Scripted::beside(2, |subtask, _| match subtask {
            0 => find("docs"),
            _ => call("sleep", json!({ "ms": 60_000 })),
        })));
        let report = world.run("look, and sleep").await.unwrap();
        assert_eq!(report.result.as_ref().unwrap().cause, Some(Cause::Loop), "{kept:?}");
        let view = world.app.tasks().show(&report.short).await.unwrap();
        let slept = view.calls.iter().find(|line| line.tool.as_str() == "sleep").unwrap();
        assert_eq!(slept.status, CallStatus::Failed, "{kept:?}: it was stopped, and it only reads");
        let last: Vec<&str> = view.journal.iter().rev().take(3).map(|step| step.input).collect();
        assert_eq!(last, ["returned", "ruled", "returned"], "{kept:?}: the delivery comes last");
        let why = world.app.record().recheck(&report.short).await.unwrap();
        assert!(why.recheck.as_ref().unwrap().holds, "{kept:?}: {:?}", why.recheck);
        let ended = world
            .app
            .record()
            .list_audit(100)
            .await
            .unwrap()
            .into_iter()
            .filter(|line| line.kind == "task.ended");
        assert_eq!(ended.count(), 1, "{kept:?}");
    }
}
