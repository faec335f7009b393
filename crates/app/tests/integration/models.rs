//! Asking a model is a call: it is decided about, what it may cost is reserved before it starts, and settled after.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use app::approvals::Act;
use app::tasks::Report;
use app::{Code, Problem};
use app::{ModelOptions, WaitMode};
use domain::Stop;
use domain::approval::Lasting;
use domain::ask::{Unanswered, Usage};
use domain::probe::Silent;
use domain::task::{Cause, Directive, FinalResult, Status};
use ledger::query::Select;
use ledger::records::{AgentTask, Budget, CallStatus, ToolCall};
use ledger::table::Record;
use llm::{Called, Completing, Completion, Listen, Model, Piece, Prompt, Quote, Role};
use serde_json::{Value, json};
use testkit::{Kept, World};

/// Beyond the reflexes.
const REQUEST: &str = "please tidy my thoughts about the Rust files";
/// What an ask costs, and what it may cost at the most.
const PRICE: u64 = 1_000;
const MOST: u64 = 10_000;
/// Perceive, plan, two moves, and the judge of what came of them.
const ASKS: u64 = 5;
const YES: Act = Act::Approve { lasting: Lasting::Once, typed: None, good_for: None };

/// What became of the asks of a model.
#[derive(Debug, Default)]
struct Seen {
    asked: AtomicU64,
    at_once: AtomicU64,
    most_at_once: AtomicU64,
}

/// A model outside. It counts the Rust files, in so many subtasks beside each other.
struct Quoted {
    subtasks: usize,
    seen: Arc<Seen>,
    may_not_be_told: Option<&'static str>,
    silent_as: Option<Role>,
    takes: Duration,
    /// The first subtask deletes a file, for which the owner is asked; the asks of the others take this long.
    deletes: Option<Duration>,
}

impl Quoted {
    fn new(subtasks: usize) -> Self {
        let takes = Duration::from_millis(20);
        Self { subtasks, seen: Arc::default(), may_not_be_told: None, silent_as: None, takes, deletes: None }
    }

    fn reply(&self, prompt: &Prompt) -> Completion {
        let says = |value: Value| Completion { text: value.to_string(), ..Completion::default() };
        let calls = |tool: &str, args: Value| Completion {
            calls: vec![Called { tool: tool.into(), args }],
            ..Completion::default()
        };
        let criterion = "they are counted";
        match prompt.place.role {
            Role::Perceiver => {
                says(json!({ "task": { "task_class": "count_files", "intent": "count the Rust files" } }))
            }
            Role::Planner => {
                let subtask = |n: usize| json!({ "intent": format!("count them, way {n}"), "success_criteria": [{ "text": criterion }] });
                says(json!({ "subtasks": (0..self.subtasks).map(subtask).collect::<Vec<_>>() }))
            }
            Role::Executor
                if self.deletes.is_some() && (prompt.place.subtask, prompt.place.moves) == (Some(0), 0) =>
            {
                calls("delete_file", json!({ "path": "a.rs" }))
            }
            Role::Executor if prompt.place.moves == 0 => {
                let limit = prompt.place.subtask.unwrap() + 1;
                calls("find_files", json!({ "extensions": ["rs"], "limit": limit }))
            }
            Role::Executor => calls(llm::FINISH, json!({ "output": "one Rust file", "status": "completed" })),
            Role::Validator | Role::MetaValidator => {
                let verdict = json!({ "verdict": "pass", "evidence": "seen" });
                says(json!({ "verdicts": [verdict] }))
            }
        }
    }
}

impl Model for Quoted {
    fn name(&self) -> String {
        "test/model".into()
    }

    fn quote(&self, _prompt: &Prompt) -> Option<Quote> {
        let (models, passed_over) = match self.may_not_be_told {
            None => (vec![self.name()], Vec::new()),
            Some(why) => (Vec::new(), vec![(self.name(), why.into())]),
        };
        Some(Quote { models, outside: true, passed_over, bytes: 100, tokens: 50, money: MOST })
    }

    fn complete(&self, prompt: Prompt, listen: Listen) -> Completing {
        let (completion, seen) = (self.reply(&prompt), Arc::clone(&self.seen));
        let silent = self.silent_as == Some(prompt.place.role);
        let acts = prompt.place.role == Role::Executor && prompt.place.subtask != Some(0);
        let takes = self.deletes.filter(|_| acts).unwrap_or(self.takes);
        Box::pin(async move {
            seen.asked.fetch_add(1, Ordering::SeqCst);
            let now = seen.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            seen.most_at_once.fetch_max(now, Ordering::SeqCst);
            listen(Piece::Text("…"));
            tokio::time::sleep(takes).await;
            seen.at_once.fetch_sub(1, Ordering::SeqCst);
            if silent {
                return Err(Unanswered::unreachable("`test` refuses the key").into());
            }
            let (tokens_in, tokens_out, price) = (30, 10, PRICE);
            let usage =
                Usage { model: "test/model".into(), tokens_in, tokens_out, price, ..Usage::default() };
            Ok(Completion { usage, ..completion })
        })
    }
}

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.unwrap();
    rows.into_iter().map(|row| T::from_row(row).unwrap()).collect()
}

async fn asks(world: &World) -> Vec<CallStatus> {
    let rows = rows::<ToolCall>(world).await.into_iter();
    rows.filter(|row| row.tool_id.as_str() == "ask_model").map(|row| row.status).collect()
}

async fn used(world: &World, account: &str, unit: &str) -> u64 {
    let rows = rows::<Budget>(world).await.into_iter();
    rows.filter(|row| row.account.starts_with(account) && row.unit == unit).map(|row| row.used).sum()
}

async fn thinking(settings: &str, model: Quoted) -> (World, Arc<Seen>) {
    let mut world = World::new(Kept::InMemory).await;
    world.file("a.rs", "fn a() {}").file("b.rs", "fn b() {}");
    if !settings.is_empty() {
        world.set(settings);
    }
    let seen = Arc::clone(&model.seen);
    world.think_with(Arc::new(model));
    (world, seen)
}

fn result(report: Result<Report, Problem>) -> FinalResult {
    report.unwrap().result.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_beyond_the_reflexes_is_thought_about_and_every_ask_is_a_call() {
    let (world, seen) = thinking("", Quoted::new(1)).await;
    let report = world.run(REQUEST).await.unwrap();
    assert_eq!(report.status, Status::Done);
    assert_eq!(report.result.unwrap().directive, Directive::Accept);
    assert_eq!(seen.asked.load(Ordering::SeqCst), ASKS);
    assert_eq!(asks(&world).await, [CallStatus::Finished; 5]);
    assert_eq!(used(&world, "day:", "money").await, ASKS * PRICE);
    // An action is a call of the budget, a thought is none; nor is handing the answer over.
    assert_eq!(used(&world, "task:", "calls").await, 1);
    let cost: u64 = report.cost.iter().map(|role| role.price).sum();
    assert_eq!(cost, ASKS * PRICE);
    let again = world.app.record().recheck(&report.short).await.unwrap().recheck.unwrap();
    assert!(again.holds, "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_reflexes_understand_asks_nobody_unless_that_is_wanted() {
    let (world, seen) = thinking("", Quoted::new(1)).await;
    let request = "how many Rust files are here?";
    assert_eq!(result(world.run(request).await).text.lines().next(), Some("2 Rust files."));
    assert_eq!(seen.asked.load(Ordering::SeqCst), 0);
    let options = ModelOptions { reflex: false, ..ModelOptions::default() };
    let request = app::RunRequest { options, ..world.request(request) };
    assert_eq!(result(world.app.tasks().run(request).await).directive, Directive::Accept);
    assert_eq!(seen.asked.load(Ordering::SeqCst), ASKS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stops_the_run_before_the_ask_that_could_exceed_it() {
    // Each holds 10,000 and takes 1,000: the third one, with 2,000 used, could end at 12,000.
    let (world, seen) = thinking("[budget.day]\nmoney = \"0.011\"", Quoted::new(1)).await;
    let result = result(world.run(REQUEST).await);
    assert_eq!((result.directive, result.cause), (Directive::Abandon, Some(Cause::Exhausted)), "{result:?}");
    let why = result.reason.unwrap();
    assert!(why.contains("the budget of this day is used up"), "{why}");
    assert!(why.contains("`budget.day.money` in the settings"), "{why}");
    assert_eq!(seen.asked.load(Ordering::SeqCst), 2);
    assert_eq!(asks(&world).await, [CallStatus::Finished, CallStatus::Finished, CallStatus::Refused]);
    assert_eq!(used(&world, "day:", "money").await, 2 * PRICE);
}

#[tokio::test(flavor = "multi_thread")]
async fn asks_beside_each_other_hold_their_shares_and_wait_for_those_of_others() {
    // What all asks take is 14,000, and each holds 10,000: within 29,999 at most two hold theirs at a time, and the others wait
    // until some of it comes back.
    let (world, seen) = thinking("[budget.day]\nmoney = \"0.029999\"", Quoted::new(4)).await;
    let result = result(world.run(REQUEST).await);
    assert_eq!(result.directive, Directive::Accept, "{result:?}");
    assert_eq!(seen.most_at_once.load(Ordering::SeqCst), 2, "{seen:?}");
    assert_eq!(used(&world, "day:", "money").await, 14 * PRICE);
    let free = thinking("", Quoted::new(4)).await;
    assert_eq!(self::result(free.0.run(REQUEST).await).directive, Directive::Accept);
    assert!(free.1.most_at_once.load(Ordering::SeqCst) > 2, "else the test shows nothing: {:?}", free.1);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_little_time_left_they_take_turns() {
    let (mut world, seen) = thinking("[budget.task]\ntime = \"10m\"", Quoted::new(3)).await;
    // Otherwise a call that returns late gives back time while an ask runs, and a second ask may start with that.
    world.in_step();
    assert_eq!(result(world.run(REQUEST).await).directive, Directive::Accept);
    assert_eq!(seen.most_at_once.load(Ordering::SeqCst), 1, "each holds what is left of the time");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_beside_each_other_share_what_is_left_of_a_day() {
    let (mut world, seen) = thinking("[budget.day]\nmoney = \"0.02\"", Quoted::new(1)).await;
    let other = world.another(Arc::new(Silent));
    let (one, two) = tokio::join!(world.run(REQUEST), other.tasks().run(world.request(REQUEST)));
    let used = used(&world, "day:", "money").await;
    assert_eq!(used, PRICE * seen.asked.load(Ordering::SeqCst));
    assert!(used <= 20_000 && seen.most_at_once.load(Ordering::SeqCst) <= 2, "{one:?} {two:?}");
}

/// Runs until the first word of a model is heard, and no further.
async fn until_heard(world: &World) {
    let heard = first_delta(world.app.tasks().feed());
    tokio::select! { _ = world.app.tasks().run(world.request(REQUEST)) => panic!("it ended"), () = heard => {} }
}

/// Waits until a model says something.
async fn first_delta(mut feed: app::StepFeed) {
    while !matches!(feed.next().await, Some(app::DisplayEvent::Delta(..))) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_halt_leaves_what_is_being_thought_about_to_be_gone_on_with() {
    let slow = Quoted { takes: Duration::from_secs(60), ..Quoted::new(1) };
    let (mut world, _) = thinking("", slow).await;
    let (request, heard) = (world.request(REQUEST), first_delta(world.app.tasks().feed()));
    let halt = async {
        heard.await;
        world.app.instance().halt().await.unwrap();
    };
    let (ended, ()) = tokio::join!(world.app.tasks().run(request), halt);
    assert_eq!(ended.unwrap_err().code, Code::HALTED);
    let task = rows::<ToolCall>(&world).await.first().unwrap().task_id.to_string();
    world.app.instance().resume_all().await.unwrap();
    world.think_with(Arc::new(Quoted::new(1)));
    assert_eq!(result(world.resume(Some(&task)).await).directive, Directive::Accept);
    assert_eq!(
        used(&world, "day:", "money").await,
        MOST + ASKS * PRICE,
        "nobody knows what the first has cost"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_cancelled_whether_or_not_there_is_a_model() {
    let (mut world, _) = thinking("", Quoted::new(1)).await;
    until_heard(&world).await;
    let task = rows::<ToolCall>(&world).await.first().unwrap().task_id.to_string();
    world.think_with_nobody();
    let problem = world.resume(Some(&task)).await.unwrap_err();
    assert_eq!(problem.code, Code::NEEDS_MODEL, "{problem:?}");
    world.app.tasks().cancel(&task).await.unwrap();
    assert_eq!(rows::<AgentTask>(&world).await.first().unwrap().status, Status::Stopped);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_about_calls_says_nothing_about_thoughts() {
    let (world, seen) = thinking("", Quoted::new(1)).await;
    let policy = |rules: &str| {
        format!("- {{ name: careful, applies_to: {{}}, mode: monitor, priority: 100, rules: {{ {rules} }} }}")
    };
    // One call an hour is enough for the one call that it makes; the second task is refused that, and thinks all the same.
    world.vpol("careful.yaml", &policy("rate: 1/h"));
    assert_eq!(result(world.run(REQUEST).await).directive, Directive::Accept);
    assert_ne!(result(world.run(REQUEST).await).directive, Directive::Accept);
    assert!(asks(&world).await.iter().all(|status| *status == CallStatus::Finished));
    assert!(seen.asked.load(Ordering::SeqCst) > ASKS + 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_model_may_be_told_is_told_to_none() {
    let model = Quoted { may_not_be_told: Some("it may get logistics, not clinical"), ..Quoted::new(1) };
    let (world, seen) = thinking("", model).await;
    let why = result(world.run(REQUEST).await).reason.unwrap();
    assert!(
        why.contains("no model may be told this: test/model: it may get logistics, not clinical"),
        "{why}"
    );
    assert_eq!((seen.asked.load(Ordering::SeqCst), asks(&world).await), (0, vec![CallStatus::Refused]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_can_switch_thinking_off_and_nobody_else_can_call_it() {
    let (world, seen) = thinking("", Quoted::new(1)).await;
    let called = world.call("ask_model", json!({}), true).await;
    assert!(called.is_err() || called.unwrap().result.unwrap().directive == Directive::Abandon);
    world.app.tools().switch("ask_model", false).await.unwrap();
    let why = result(world.run(REQUEST).await).reason.unwrap();
    assert!(why.contains("ask_model is switched off"), "{why}");
    assert_eq!(seen.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_not_answer_ends_the_task_with_its_own_words() {
    let model = Quoted { silent_as: Some(Role::Planner), ..Quoted::new(1) };
    let (world, _) = thinking("", model).await;
    let result = result(world.run(REQUEST).await);
    assert_eq!((result.directive, result.cause), (Directive::Abandon, Some(Cause::NoAnswer)), "{result:?}");
    assert!(result.reason.unwrap().contains("`test` refuses the key"));
    assert_eq!(asks(&world).await, [CallStatus::Finished, CallStatus::Failed]);
    assert_eq!(used(&world, "day:", "money").await, PRICE, "nothing was used by the one that failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_of_a_process_that_died_counts_as_all_that_it_held_and_is_asked_again() {
    let (mut world, seen) = thinking("", Quoted::new(1)).await;
    until_heard(&world).await;
    world.restart();
    let task = rows::<ToolCall>(&world).await.first().unwrap().task_id;
    let resumed = world.resume(Some(&task.to_string())).await;
    assert_eq!(result(resumed).directive, Directive::Accept);
    let found = asks(&world).await;
    let count = |status: CallStatus| found.iter().filter(|found| **found == status).count();
    assert_eq!((count(CallStatus::Unknown), count(CallStatus::Finished), found.len()), (1, 5, 6));
    assert_eq!(used(&world, "day:", "money").await, MOST + ASKS * PRICE);
    assert_eq!(seen.asked.load(Ordering::SeqCst), ASKS + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_is_paid_for_and_nothing_else_is_kept_of_it() {
    let (world, seen) = thinking("", Quoted::new(2)).await;
    let rehearsal = world.app.tasks().plan(&world.request(REQUEST)).await.unwrap();
    assert_eq!(rehearsal.subtasks.len(), 2);
    assert_eq!(seen.asked.load(Ordering::SeqCst), 2);
    assert_eq!(used(&world, "day:", "money").await, 2 * PRICE);
    assert!(rows::<ToolCall>(&world).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_thought_while_the_owner_answers_is_not_lost() {
    let slow = Quoted { deletes: Some(Duration::from_millis(700)), ..Quoted::new(2) };
    let (mut world, seen) = thinking("", slow).await;
    let wait = WaitMode::Stay(Stop::default());
    let request = app::RunRequest { wait, ..world.request("please tidy a.rs and my thoughts") };
    let app = world.another(Arc::new(Silent));
    let running = tokio::spawn(async move { app.tasks().run(request).await });
    let asked = loop {
        match world.app.approvals().list().await.unwrap().pop() {
            Some(view) if seen.at_once.load(Ordering::SeqCst) > 0 => break view,
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    world.app.approvals().resolve(&asked.short, YES, "terminal").await.unwrap();
    let result = result(running.await.unwrap());
    assert_eq!(result.directive, Directive::Accept, "{result:?}");
    assert!(asks(&world).await.iter().all(|status| *status == CallStatus::Finished));
    assert!(!world.path().join("a.rs").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_that_is_given_up_counts_as_all_that_it_held() {
    let slow = Quoted { takes: Duration::from_secs(60), ..Quoted::new(1) };
    let (mut world, _) = thinking("", slow).await;
    world.impatient(Duration::from_millis(50));
    let result = result(world.run(REQUEST).await);
    assert_eq!(result.cause, Some(Cause::NoAnswer), "{result:?}");
    assert!(result.reason.unwrap().contains("nothing came within 0.05 s"));
    assert_eq!(used(&world, "day:", "money").await, MOST, "nobody knows what it has cost");
}
