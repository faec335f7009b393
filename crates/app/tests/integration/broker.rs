//! The door as the product uses it: what a task may use up, what ends it, what stops everything, and what the agent is
//! told when the answer is no. On every store.

use std::sync::{Arc, Mutex, mpsc};

use app::{App, Code, Problem, Surface};
use domain::ask::Action;
use domain::call::{Evidence, FailureClass};
use domain::id::TaskId;
use domain::probe::{Point, Probe, Silent};
use domain::task::{Directive, FinalResult, Status};
use ledger::Store;
use ledger::memory::MemoryStore;
use ledger::mutant::{Guard, Mutant};
use ledger::query::Select;
use ledger::records::{AuditEntry, Budget, CallStatus, Tool, ToolCall};
use ledger::table::Record;
use serde_json::{Value, json};
use testkit::scripted::call;
use testkit::{Kept, Scripted, Together, World};

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.unwrap();
    rows.into_iter().map(|row| T::from_row(row).unwrap()).collect()
}

async fn calls(world: &World) -> Vec<(String, CallStatus)> {
    let calls = rows::<ToolCall>(world).await.into_iter();
    calls
        .filter(|call| call.tool_id.as_str() != "deliver")
        .map(|call| (call.tool_id.to_string(), call.status))
        .collect()
}

async fn kinds(world: &World) -> Vec<String> {
    rows::<AuditEntry>(world).await.into_iter().map(|entry| entry.kind).collect()
}

fn code(report: Result<app::tasks::Report, Problem>) -> Option<Code> {
    match report {
        Ok(report) => report.problem().map(|problem| problem.code),
        Err(problem) => Some(problem.code),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_ends_the_run() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("a.rs", "fn a() {}");
        world.think(Arc::new(Scripted::new(|_| call("find_files", json!({ "under": "." })))));
        let report = world.run("look at everything").await.unwrap();
        assert_eq!(report.status, Status::Stopped);
        assert_eq!(code(Ok(report.clone())), Some(Code::LOOPED));
        let reason = report.result.unwrap().reason.unwrap();
        assert_eq!(reason, "find_files was called 3 times in a row, with the same result");
        assert_eq!(calls(&world).await.len(), 3, "{kept:?}");
    }
}

/// The attempt is told why, and what would be allowed instead; it goes on with that.
#[tokio::test(flavor = "multi_thread")]
async fn a_denial_teaches_and_the_attempt_goes_on() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("old.txt", "keep me");
        let seen: Arc<Mutex<Vec<Evidence>>> = Arc::default();
        let notes = Arc::clone(&seen);
        world.think(Arc::new(Scripted::new(move |evidence| {
            *notes.lock().unwrap() = evidence.to_vec();
            match evidence.len() {
                0 => call("audit_clear", json!({})),
                1 => call("write_file", json!({ "pth": "new.txt" })),
                2 => call("no_such_tool", json!({})),
                3 => call("read_file", json!({ "path": "old.txt" })),
                _ => Action::done("read it instead"),
            }
        })));
        let report = world.run("tidy up old.txt").await.unwrap();
        assert_eq!(report.result.unwrap().directive, Directive::Accept);
        let seen = seen.lock().unwrap().clone();
        let told: Vec<(FailureClass, bool)> = seen
            .iter()
            .filter_map(|one| one.outcome.as_ref().err())
            .map(|failure| (failure.class, !failure.message.is_empty() && !failure.instead.is_empty()))
            .collect();
        assert_eq!(told, [(FailureClass::Refused, true); 3], "{seen:?}");
        let instead = &seen[1].outcome.as_ref().unwrap_err().instead;
        assert!(
            instead.iter().any(|what| what.contains("`path`") && what.contains("`content`")),
            "{instead:?}"
        );
        let statuses: Vec<CallStatus> = calls(&world).await.into_iter().map(|(_, status)| status).collect();
        let refused = statuses.iter().filter(|status| **status == CallStatus::Refused).count();
        assert_eq!((statuses.len(), refused), (4, 3), "{kept:?}");
        assert!(world.path().join("old.txt").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_has_used_up_its_budget_ends_with_what_it_has() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("a.rs", "fn a() {}");
        world.set("[budget.task]\ncalls = 2");
        world.think(Arc::new(Scripted::calling(&[
            ("find_files", json!({ "under": "." })),
            ("read_file", json!({ "path": "a.rs" })),
            ("glob", json!({ "pattern": "**/*" })),
        ])));
        let report = world.run("look at everything").await.unwrap();
        let problem = report.problem().unwrap();
        assert_eq!(problem.code, Code::BUDGET);
        assert!(
            problem.what.contains("2 calls of 2") && problem.what.contains("budget.task.calls"),
            "{problem}"
        );
        let statuses: Vec<CallStatus> = calls(&world).await.into_iter().map(|(_, status)| status).collect();
        let ran = statuses.iter().filter(|status| **status == CallStatus::Finished).count();
        assert_eq!((statuses.len(), ran), (3, 2), "{kept:?}");
        let used: Vec<(String, u64)> =
            rows::<Budget>(&world).await.into_iter().map(|row| (row.unit, row.used)).collect();
        assert_eq!(used, [("calls".to_owned(), 2)], "{kept:?}");
    }
}

/// How many ask for the last of a budget at once.
const RIVALS: usize = 4;

/// As many processes ask for the last call of the day at the same moment. How many of them got it, and how many were
/// told that it is used up?
async fn last_of_the_day(store: Arc<dyn Store>) -> (usize, usize) {
    let mut world = World::on(Together::new(store, Budget::TABLE.name, RIVALS));
    world.file("a.rs", "fn a() {}");
    world.set("[budget.day]\ncalls = 1");
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..RIVALS {
        let (app, request) =
            (world.another(Arc::new(Silent)), world.request("how many Rust files are here?"));
        running.spawn(async move { code(app.tasks().run(request).await) });
    }
    let codes = running.join_all().await;
    let ran = calls(&world).await.into_iter().filter(|(_, status)| *status == CallStatus::Finished).count();
    let told = codes.iter().filter(|code| **code == Some(Code::BUDGET)).count();
    assert_eq!(ran + told, RIVALS, "{codes:?}");
    (ran, told)
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_calls_cannot_both_spend_the_last_of_a_budget() {
    for kept in Kept::ALL {
        let world = World::new(kept).await;
        assert_eq!(last_of_the_day(world.store().await).await, (1, RIVALS - 1), "{kept:?}");
    }
}

/// The same, in a build that does not look at the limit when it writes: the test above notices.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_reservation_the_last_of_a_budget_is_spent_more_than_once() {
    let mutant = Mutant::new(Arc::new(MemoryStore::default()), Guard::Reservation);
    assert_eq!(last_of_the_day(Arc::new(mutant)).await, (RIVALS, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_reserved_and_not_used_goes_back() {
    let mut world = World::new(Kept::InMemory).await;
    world.file("a.rs", "fn a() {}");
    world.set("[budget.day]\ntime = \"1h\"\ncalls = 10");
    assert_eq!(code(world.run("how many Rust files are here?").await), None);
    let used: Vec<(String, u64)> = rows::<Budget>(&world)
        .await
        .into_iter()
        .filter(|row| row.account.starts_with("day:"))
        .map(|row| (row.unit, row.used))
        .collect();
    // The clock stands still, so the call took nothing of the 120 s that were held for it.
    assert_eq!(used, [("calls".to_owned(), 1), ("time".to_owned(), 0)]);
}

async fn halted_before_it_starts(world: &mut World) -> Option<Code> {
    world.file("a.rs", "fn a() {}");
    world.app.instance().halt().await.unwrap();
    code(world.run("how many Rust files are here?").await)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_starts_while_everything_is_halted_and_a_restart_changes_nothing() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        assert_eq!(halted_before_it_starts(&mut world).await, Some(Code::HALTED), "{kept:?}");
        assert!(world.app.instance().halt().await.unwrap().already);
        world.restart();
        assert_eq!(code(world.resume(None).await), Some(Code::HALTED), "{kept:?}");
        assert_eq!(code(world.call("hash", json!({ "text": "x" }), true).await), Some(Code::HALTED));
        assert_eq!((calls(&world).await, world.seen()), (vec![], vec![]), "{kept:?}");

        let lifted = world.app.instance().resume_all().await.unwrap();
        assert_eq!((lifted.since.is_some(), lifted.unfinished.len()), (true, 2), "{kept:?}");
        assert_eq!(world.app.instance().resume_all().await.unwrap().since, None);
        for task in lifted.unfinished {
            assert_eq!(code(world.resume(Some(&task.task.to_string())).await), None, "{kept:?}");
        }
        assert_eq!(world.seen().len(), 2, "{kept:?}");
        let kinds = kinds(&world).await;
        for kind in ["house.halted", "house.resumed"] {
            assert_eq!(kinds.iter().filter(|known| *known == kind).count(), 1, "{kind} {kept:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_condition_a_call_starts_although_everything_is_halted() {
    let store: Arc<dyn Store> = Arc::new(Mutant::new(Arc::new(MemoryStore::default()), Guard::Halt));
    assert_eq!(halted_before_it_starts(&mut World::on(store)).await, None, "the mutant was not caught");
}

/// A person who does not look until the test says so.
struct Slow {
    looks: Mutex<mpsc::Receiver<()>>,
    began: mpsc::Sender<()>,
}

impl Surface for Slow {
    fn show(&self, _: TaskId, _: &FinalResult) -> Result<(), String> {
        self.began.send(()).unwrap();
        self.looks.lock().unwrap().recv().map_err(|_closed| "gone".to_owned())
    }
}

/// If nothing stopped it, this test would not end.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_call_is_stopped_by_a_halt_and_gone_on_with_afterwards() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("a.rs", "fn a() {}");
        let (look, looks) = mpsc::channel();
        let (began, has_begun) = mpsc::channel();
        let surface = Arc::new(Slow { looks: Mutex::new(looks), began });
        let request = app::RunRequest { surface, ..world.request("how many Rust files are here?") };
        let other = world.another(Arc::new(Silent));
        let running = tokio::spawn(async move { other.tasks().run(request).await });
        tokio::task::spawn_blocking(move || has_begun.recv().unwrap()).await.unwrap();
        world.app.instance().halt().await.unwrap();
        assert_eq!(code(running.await.unwrap()), Some(Code::HALTED), "{kept:?}");
        drop(look);
        assert_eq!(world.app.instance().resume_all().await.unwrap().unfinished.len(), 1);
        world.restart();
        let report = world.resume(None).await.unwrap();
        assert_eq!((report.status, world.seen().len()), (Status::Done, 1), "{kept:?}");
    }
}

fn notes(more: &Value) -> String {
    let mut all = json!({
        "tool_id": "notes_read",
        "description": "reads the notes",
        "handler_config": { "function": "file:read", "fixed": { "path": "NOTES.md" } },
    });
    let more = more.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(more);
    all.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registered_tool_starts_at_level_0_and_can_be_changed_and_taken_out() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("NOTES.md", "buy milk\n");
        let line = world.app.tools().register(&notes(&json!({}))).await.unwrap();
        assert_eq!((line.level, line.shipped), (0, false));
        let view = world.app.tools().show("notion:read").await.unwrap();
        assert_eq!((view.spec.tier, view.aliases), (domain::Tier::ReadOnly, vec!["notion:read"]));
        assert_eq!(view.spec.input_schema.pointer("/properties/path"), None, "it is fixed");

        // The owner's own hand needs no leave; an agent's call is looked at until the tool has earned more.
        assert_eq!(code(world.call("notes_read", json!({}), false).await), None, "{kept:?}");
        assert!(world.seen()[0].contains("buy milk"));
        let script = || Arc::new(Scripted::calling(&[("notes_read", json!({}))]));
        world.think(script());
        assert_eq!(code(world.run("what is in my notes?").await), Some(Code::WAITING), "{kept:?}");
        world.app.tools().set_level("notes_read", 3).await.unwrap();
        assert_eq!(code(world.run("what is in my notes?").await), None, "{kept:?}");
        let overridden = json!({ "path": "a.rs" });
        assert_eq!(code(world.call("notes_read", overridden, true).await), Some(Code::BAD_ARGUMENTS));

        // A change puts it back.
        let changed =
            world.app.tools().register(&notes(&json!({ "description": "other words" }))).await.unwrap();
        assert_eq!(changed.level, 0);
        assert_eq!(rows::<Tool>(&world).await.len(), 1);
        world.app.tools().remove("notes_read").await.unwrap();
        assert_eq!(world.app.tools().show("notes_read").await.unwrap_err().code, Code::NO_SUCH_TOOL);
        assert_eq!(world.app.tools().remove("notes_read").await.unwrap_err().code, Code::NO_SUCH_TOOL);
        let kinds: Vec<String> =
            kinds(&world).await.into_iter().filter(|kind| kind.starts_with("tool.")).collect();
        assert_eq!(kinds, ["tool.registered", "tool.level_set", "tool.changed", "tool.removed"], "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_that_claims_too_little_or_cannot_work_is_refused() {
    let world = World::new(Kept::InMemory).await;
    let table = [
        (json!({ "tool_id": "read_file" }), "ships with the program"),
        (json!({ "tool_id": "Notes Read" }), "no tool id"),
        (json!({ "colour": "red" }), "unknown field `colour`"),
        (json!({ "handler_type": "http" }), "come with the sandbox"),
        (json!({ "handler_config": { "function": "teleport" } }), "there is no function `teleport`"),
        (
            json!({ "handler_config": { "function": "delete_file" }, "tier": "read_only" }),
            "cannot be lower than write_destructive",
        ),
        (json!({ "handler_config": { "function": "write_file" }, "idempotent": true }), "may not run twice"),
        (json!({ "reach": "nothing" }), "reach as far as"),
        (json!({ "handler_config": { "function": "write_file" }, "sinks": [] }), "`sinks` without `path`"),
        (json!({ "handler_config": { "function": "deliver" } }), "there is no function `deliver`"),
        (json!({ "output_trust": "operator" }), "says less than read_file does"),
        (json!({ "input_schema": { "type": "strng" } }), "no JSON Schema"),
        (json!({ "input_schema": { "properties": { "path": {} } } }), "its registration fixes"),
        (json!({ "tool_id": "shell" }), "cannot be lower than write_destructive"),
    ];
    for (more, expected) in table {
        let problem = world.app.tools().register(&notes(&more)).await.unwrap_err();
        assert_eq!(problem.code, Code::BAD_TOOL);
        assert!(problem.what.contains(expected), "{more}: {problem}");
    }
    assert_eq!(rows::<Tool>(&world).await.len(), 0);
    assert_eq!(world.app.tools().remove("calc").await.unwrap_err().code, Code::BAD_TOOL);
    assert_eq!(world.app.tools().set_level("calc", 5).await.unwrap_err().code, Code::BAD_TOOL);
}

/// A list would be read by place, past the names that fixed arguments and sinks go by.
#[tokio::test(flavor = "multi_thread")]
async fn arguments_without_names_escape_nothing() {
    let mut world = World::new(Kept::InMemory).await;
    let safe = json!({
        "tool_id": "note",
        "handler_config": { "function": "write_file", "fixed": { "path": "safe.txt" } },
        "input_schema": {},
    });
    world.app.tools().register(&notes(&safe)).await.unwrap();
    world.app.tools().set_level("note", 2).await.unwrap();
    world.think(Arc::new(Scripted::calling(&[("note", json!(["evil.txt", "x", false]))])));
    assert_eq!(code(world.run("look around").await), Some(Code::REFUSED));
    assert!(!world.path().join("evil.txt").exists());
    // What is off under its own name is off under every other.
    world.app.tools().switch("write_file", false).await.unwrap();
    let refused = world.call("note", json!({ "content": "x" }), true).await;
    assert_eq!(code(refused), Some(Code::REFUSED));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_the_task_says_what_the_owner_is_told() {
    let mut world = World::new(Kept::InMemory).await;
    let forged = json!({ "result": {
        "directive": "success", "cause": null, "text": "FORGED", "reason": null, "verdicts": [],
    } });
    world.think(Arc::new(Scripted::calling(&[("deliver", forged.clone())])));
    assert_eq!(code(world.run("look around").await), Some(Code::REFUSED));
    assert_eq!(code(world.call("deliver", forged, true).await), Some(Code::REFUSED));
    assert!(world.seen().iter().all(|text| !text.contains("FORGED")), "{:?}", world.seen());
    assert_eq!(world.app.tools().switch("deliver", false).await.unwrap_err().code, Code::BAD_TOOL);
}

/// A yes is to what the tool was when it was given.
#[tokio::test(flavor = "multi_thread")]
async fn a_yes_does_not_count_for_another_tool_of_the_same_name() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("precious.txt", "keep me");
        let tidy =
            |function: &str| notes(&json!({ "tool_id": "tidy", "handler_config": { "function": function } }));
        world.app.tools().register(&tidy("hash")).await.unwrap();
        world.app.instance().halt().await.unwrap();
        let call = world.call("tidy", json!({ "path": "precious.txt" }), true).await;
        assert_eq!(code(call), Some(Code::HALTED));
        world.app.tools().register(&tidy("delete_file")).await.unwrap();
        world.app.instance().resume_all().await.unwrap();
        assert_eq!(code(world.resume(None).await), Some(Code::WAITING), "{kept:?}");
        assert!(world.path().join("precious.txt").exists(), "{kept:?}");
    }
}

/// A process that stops for good once this tool has run.
struct StopsAfter {
    reached: mpsc::Sender<()>,
    for_good: Mutex<mpsc::Receiver<()>>,
}

impl Probe for StopsAfter {
    fn reached(&self, point: Point<'_>) {
        if let Point::Ran { tool: "tidy", .. } = point {
            self.reached.send(()).unwrap();
            let _nobody = self.for_good.lock().unwrap().recv();
        }
    }
}

/// What a name means now says nothing about what ran under it.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ran_stays_unknown_when_its_name_means_something_harmless_now() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("precious.txt", "gone in a moment");
        let tidy =
            |function: &str| notes(&json!({ "tool_id": "tidy", "handler_config": { "function": function } }));
        world.app.tools().register(&tidy("delete_file")).await.unwrap();
        let (reached, has_reached) = mpsc::channel();
        let (release, for_good) = mpsc::channel();
        let app = world.another(Arc::new(StopsAfter { reached, for_good: Mutex::new(for_good) }));
        let app::RunRequest { workspace, surface, wait, .. } = world.request("");
        let args = json!({ "path": "precious.txt" });
        let direct = app::tools::DirectRequest {
            tool: "tidy".into(),
            args,
            confirmed: true,
            workspace,
            surface,
            wait: wait.clone(),
        };
        let dead = tokio::spawn(async move { app.tools().call(direct).await });
        tokio::task::spawn_blocking(move || has_reached.recv().unwrap()).await.unwrap();
        world.restart();
        world.app.tools().register(&tidy("read_file")).await.unwrap();
        let report = world.resume(None).await.unwrap();
        assert!(report.problem().unwrap().what.contains("it may have run"), "{kept:?}");
        assert_eq!(calls(&world).await, [("tidy".to_owned(), CallStatus::Unknown)], "{kept:?}");
        drop(release);
        assert_eq!(code(dead.await.unwrap()), Some(Code::DRIVEN_ELSEWHERE), "{kept:?}");
    }
}

/// Halts everything, from another process, as soon as the call has run and before anything of it is durable.
struct HaltsAfter {
    other: Mutex<Option<(App, tokio::runtime::Handle)>>,
}

impl Probe for HaltsAfter {
    fn reached(&self, point: Point<'_>) {
        if let Point::Ran { tool: "write_file", .. } = point
            && let Some((app, handle)) = self.other.lock().unwrap().take()
        {
            std::thread::spawn(move || handle.block_on(app.instance().halt()).unwrap()).join().unwrap();
        }
    }
}

/// A call that has run is not forgotten for the sake of the next one, which may not start.
#[tokio::test(flavor = "multi_thread")]
async fn a_halt_right_after_a_call_keeps_what_came_of_it() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        let other = world.another(Arc::new(Silent));
        let other = Mutex::new(Some((other, tokio::runtime::Handle::current())));
        world.restart_probed(Arc::new(HaltsAfter { other }));
        let call = world.call("write_file", json!({ "path": "a.txt", "content": "x" }), false).await;
        assert_eq!(code(call), Some(Code::HALTED), "{kept:?}");
        assert_eq!(calls(&world).await, [("write_file".to_owned(), CallStatus::Finished)], "{kept:?}");
        world.app.instance().resume_all().await.unwrap();
        world.restart();
        assert_eq!(code(world.resume(None).await), None, "{kept:?}");
        assert_eq!(calls(&world).await, [("write_file".to_owned(), CallStatus::Finished)], "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_switched_off_is_denied_to_everybody_until_it_is_on_again() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("a.rs", "fn a() {}");
        world.app.tools().switch("find_files", false).await.unwrap();
        let refused = world.run("how many Rust files are here?").await.unwrap().problem().unwrap();
        assert_eq!(refused.code, Code::REFUSED);
        assert!(refused.what.contains("switched off") && refused.what.contains("tools enable"), "{refused}");
        assert_eq!(code(world.call("find_files", json!({}), true).await), Some(Code::REFUSED));
        world.app.tools().switch("find_files", true).await.unwrap();
        assert_eq!(code(world.run("how many Rust files are here?").await), None, "{kept:?}");
    }
}

/// Which calls a handler was about to run.
#[derive(Default)]
struct Ran(Mutex<Vec<String>>);

impl Probe for Ran {
    fn reached(&self, point: Point<'_>) {
        if let Point::Running { tool, call } = point
            && !tool.starts_with("duty")
        {
            self.0.lock().unwrap().push(call.to_owned());
        }
    }
}

/// Whatever the surface, what ran is what the door let through: one row each, with the decision of every layer, its
/// trinity, and an entry for its start and its end.
#[tokio::test(flavor = "multi_thread")]
async fn every_surface_comes_through_the_door() {
    for kept in Kept::each() {
        let ran = Arc::new(Ran::default());
        let probe: Arc<dyn Probe> = Arc::<Ran>::clone(&ran);
        let mut world = World::probed(kept, probe).await;
        world.file("a.rs", "fn a() {}");
        assert_eq!(code(world.run("how many Rust files are here?").await), None, "run");
        assert_eq!(
            code(world.call("write_file", json!({ "path": "b.rs", "content": "x" }), false).await),
            None,
            "call"
        );
        world.app.instance().halt().await.unwrap();
        assert_eq!(code(world.run("how many Rust files are here?").await), Some(Code::HALTED));
        world.app.instance().resume_all().await.unwrap();
        world.restart_probed(Arc::<Ran>::clone(&ran));
        assert_eq!(code(world.resume(None).await), None, "resume");
        world.app.instance().tick().await.unwrap();

        let mut ran: Vec<String> = ran.0.lock().unwrap().clone();
        ran.sort();
        let rows = rows::<ToolCall>(&world).await;
        let mut recorded: Vec<String> = rows.iter().map(|row| row.id.to_string()).collect();
        recorded.sort();
        assert_eq!((ran.len(), &ran), (6, &recorded), "{kept:?}");
        assert!(rows.iter().all(|row| row.status == CallStatus::Finished));
        let audit = self::rows::<AuditEntry>(&world).await;
        for row in &rows {
            let of_call = audit.iter().filter(|entry| entry.subject == row.id.to_string());
            let kinds: Vec<&str> = of_call.map(|entry| entry.kind.as_str()).collect();
            assert_eq!(kinds, ["call.started", "call.finished"], "{kept:?} {}", row.tool_id);
        }
        let written = rows.iter().find(|row| row.tool_id.as_str() == "write_file").unwrap();
        assert!(written.artifacts.is_some() && written.alignment_rating.is_some());
    }
}
