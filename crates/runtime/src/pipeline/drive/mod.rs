//! Drive: the engine says what happens next, and this makes it happen, durably.
//!
//! Each round: answer what needs nobody outside (reflexes, the broker's decisions), commit everything that came of
//! it in one batch, and only then run the calls that the batch authorised. INVARIANT (durable-first): no effect
//! becomes visible before the batch that authorised it is durable.

mod people;
mod recover;
mod validation;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use broker::budget::{Reservation, Standing};
use broker::grant::Granted;
use broker::{Answer, Asked, Asking, Broker, Context, Decision, Finished, Late, Pending, Prepared};
use domain::ask::{Action, Ask, Reply};
use domain::call::Call;
use domain::event::Direction;
use domain::id::{CallId, IdentityId};
use domain::task::{FinalResult, Status};
use domain::{Stop, Time, Trust};
use engine::task::{DELIVER, Effect, Input, Opening, Ruling, Step, Task};
use ledger::records::{Blob, Event, Halt, Lease, Salt};
use ledger::table::Record as _;
use ledger::value::Seq;
use ledger::{Batch, CommitError, Entry, Receipt, Refusal};
use llm::Provider;
use policy::vpol::Vpol;
use serde_json::json;

use super::approve::{APPROVALS, GRANTS};
use super::authority::{Authority, Brought, Rights};
use super::{Desk, Driving, Trail, journal};
use crate::app::Patience;
use crate::problem::{Code, Problem};

use people::granted;
pub(crate) use people::question;

/// Told of every step once it is durable, never before.
pub type Watch = Arc<dyn Fn(&Step) + Send + Sync>;

/// How often a lease is renewed before it would run out.
const BEATS_PER_LEASE: u32 = 3;

/// How often a driver looks whether everything is to stop, while calls run.
const HALT_LOOK: Duration = Duration::from_millis(250);

/// The epoch of whoever drives a task first.
pub(crate) const FIRST_EPOCH: u64 = 1;

/// The right to drive a task.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) epoch: u64,
    pub(crate) claim: Claim,
}

#[derive(Clone, Debug)]
pub(crate) enum Claim {
    /// This process has it already.
    Ours,
    /// It is free, as it was seen: nobody had it, or whoever had it is gone. If that changes before the first batch,
    /// the batch is refused.
    Free(Option<Lease>),
}

impl Held {
    /// The right that follows on what was seen.
    pub(crate) fn after(seen: Option<Lease>) -> Self {
        Self { epoch: seen.as_ref().map_or(0, |lease| lease.epoch) + 1, claim: Claim::Free(seen) }
    }
}

/// What decides and what answers, as the house has it at one moment.
pub(crate) struct Basis {
    /// Whoever answers what the machine asks.
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) authority: Authority,
    /// How far the policy of this moment lets the chain go.
    pub(crate) trust: Trust,
    pub(crate) tools: Vec<String>,
    pub(crate) rights: Rights,
    /// The validation policy that such a chain would be given now.
    pub(crate) vpol: Vpol,
}

/// Where the basis comes from. It is asked again whenever a person has answered: tools, settings and policies are those
/// of now, however long that took.
#[async_trait]
pub(crate) trait Ground: Sync {
    async fn basis(&self) -> Result<Basis, Problem>;
}

/// What a driver needs besides the task itself.
pub(crate) struct Setting<'a> {
    pub(crate) desk: Desk,
    pub(crate) ground: &'a dyn Ground,
    pub(crate) basis: Basis,
    /// The validation policy that the chain was given; nothing if nobody knows it any more.
    pub(crate) frozen: Option<Vpol>,
    /// Set when this process is to end.
    pub(crate) stop: Stop,
    pub(crate) watch: Watch,
    pub(crate) patience: Patience,
    pub(crate) holder: String,
    pub(crate) held: Held,
    pub(crate) event: Event,
    pub(crate) salt: Salt,
    /// The agent, as somebody who answers.
    pub(crate) agent: IdentityId,
    /// Says within this process that the task is being driven, as long as it is.
    #[expect(dead_code, reason = "it counts by being there")]
    pub(crate) driving: Driving,
}

/// One task being driven by this process.
pub(crate) struct Driver<'a> {
    setting: Setting<'a>,
    broker: Broker,
    task: Task,
    started_at: Time,
    trail: Trail,
    /// When the lease runs out, as far as it is durable, and how often it was renewed.
    leased_until: Time,
    beats: u64,
    batch: Batch,
    /// Effects that nobody has looked at yet.
    waiting: VecDeque<Effect>,
    /// Calls whose records are in the batch.
    pending: Vec<Pending>,
    /// Steps that are in the batch and not durable yet.
    unseen: Vec<Step>,
    /// What is used of the budgets, read once per round.
    standing: Option<Standing>,
    /// What calls held of their budgets when they were asked for the last time.
    carried: BTreeMap<CallId, Reservation>,
    /// Set when everything is to stop.
    halt: Stop,
    /// What calls came to, until that is durable.
    fresh: Vec<Finished>,
}

/// What became of the calls of one round.
struct Ran {
    finished: Vec<Finished>,
    /// Whether a call could not start because its authorisation had run out.
    late: bool,
}

/// What a driven task came to.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Status,
    pub(crate) result: Option<FinalResult>,
    /// Whether anything was left to do.
    pub(crate) worked: bool,
}

impl<'a> Driver<'a> {
    /// A new task. `batch` already holds the admission that lets it in.
    pub(crate) fn open(setting: Setting<'a>, opening: Opening, mut batch: Batch) -> Result<Self, Problem> {
        let now = setting.desk.now();
        batch.audit(entry(&opening, "task.opened", now, json!({ "event": setting.event.id })));
        let (task, step) = Task::open(opening, now);
        let mut driver = Self::new(setting, task, batch, now)?;
        driver.journal(step)?;
        Ok(driver)
    }

    /// A task that another process left behind. Its epoch rises, so whatever the other one still tries is refused.
    pub(crate) async fn take_over(setting: Setting<'a>, task: Task) -> Result<Self, Problem> {
        let now = setting.desk.now();
        let mut batch = setting.desk.batch();
        batch.audit(entry(task.opening(), "task.taken_over", now, json!({ "epoch": setting.held.epoch })));
        let started_at = task.opened_at();
        let steps = setting.desk.ledger.steps(task.id()).await?;
        let mut driver = Self::new(setting, task, batch, started_at)?;
        driver.trail = Trail::of(steps.iter().map(|step| step.body));
        driver.feed(Input::TakenOver)?;
        driver.settle_unknown().await?;
        Ok(driver)
    }

    fn new(setting: Setting<'a>, task: Task, mut batch: Batch, started_at: Time) -> Result<Self, Problem> {
        let broker = setting.basis.authority.broker(&setting.desk);
        let subject = task.id().to_string();
        match &setting.held.claim {
            Claim::Free(seen) => batch.expect_lease(subject, seen.clone()),
            Claim::Ours => batch.fence(subject, setting.held.epoch),
        };
        // If whoever it belongs to is erased meanwhile, nothing more of theirs is written.
        batch.expect_present::<Salt>("person", &setting.salt.person);
        let (waiting, pending, unseen) = (VecDeque::new(), Vec::new(), Vec::new());
        let (trail, leased_until, beats) = (Trail::of([]), started_at, 0);
        Ok(Self {
            setting,
            broker,
            task,
            started_at,
            trail,
            leased_until,
            beats,
            batch,
            waiting,
            pending,
            unseen,
            standing: None,
            carried: BTreeMap::new(),
            halt: Stop::default(),
            fresh: Vec::new(),
        })
    }

    /// Until the task is over. If this future is dropped, everything that is durable stays, and `resume` goes on.
    pub(crate) async fn drive(mut self) -> Result<Ended, Problem> {
        loop {
            if !self.task.waiting().is_empty() {
                Box::pin(self.hear()).await?;
            }
            while let Some(effect) = self.waiting.pop_front() {
                match effect {
                    // A task that has its result does nothing more but hand it over.
                    Effect::Ask(_) if self.task.result().is_some() => {}
                    Effect::Call(call) if call.subtask.is_some() && self.task.result().is_some() => {}
                    Effect::Ask(ask) => self.answer(&ask)?,
                    Effect::Call(call) => Box::pin(self.rule(call)).await?,
                }
            }
            if self.task.result().is_some() && !self.task.waiting().is_empty() {
                Box::pin(self.stop_asking()).await?;
            }
            self.standing = None;
            let receipt = match self.commit().await {
                Ok(receipt) => receipt,
                // What would have been started is not; what calls had come to is kept all the same.
                Err(problem) if matches!(problem.code, Code::HALTED | Code::BUDGET | Code::OVERTAKEN) => {
                    self.keep_what_came().await?;
                    return Err(problem);
                }
                Err(problem) => return Err(problem),
            };
            self.fresh.clear();
            if self.pending.is_empty() {
                if self.task.status() == Status::Waiting && Box::pin(self.wait()).await? {
                    continue;
                }
                return Ok(Ended {
                    status: self.task.status(),
                    result: self.task.result().cloned(),
                    worked: true,
                });
            }
            let Ran { finished, late } = self.run(&receipt).await?;
            self.fresh.extend(finished.into_iter().filter(|finished| !finished.goes_on()));
            for finished in std::mem::take(&mut self.fresh) {
                self.finish(&finished)?;
                self.fresh.push(finished);
            }
            if self.halt.is_asked() || self.setting.stop.is_asked() {
                // What came of the calls is kept; what would follow waits until somebody lifts the halt.
                self.commit().await?;
                return Err(self.halted().await);
            }
            if late && self.task.status() == Status::Running {
                // This process was stopped for a while. Whatever is open is asked for again, as after a take-over; if
                // somebody else has taken the task over, the next batch is refused.
                self.waiting.clear();
                self.feed(Input::TakenOver)?;
            }
        }
    }

    async fn halted(&self) -> Problem {
        let task = self.task.id().to_string();
        let short = self.setting.desk.ledger.short(&task).await.unwrap_or(task);
        halted().remedy(format!("regent resume {short}"))
    }

    /// The reflexes answer in place. A model that is asked over a network will be a call like any other.
    fn answer(&mut self, ask: &Ask) -> Result<(), Problem> {
        let mut reply = self.setting.basis.provider.answer(ask);
        // Whoever chose it: the value of a secret is in no journal.
        if let Reply::Acted(Action::Call { args, .. }) = &mut reply {
            self.setting.basis.authority.secrets.hide(args);
        }
        self.feed(match (ask, reply) {
            (_, Reply::Perceived(perception)) => Input::Perceived(perception),
            (_, Reply::Planned(plan)) => Input::Planned(plan),
            (Ask::Act { number, .. }, Reply::Acted(action)) => Input::Acted { subtask: *number, action },
            (_, Reply::Acted(_)) => {
                return Err(Problem::new(Code::INTERNAL, "the provider answered another question"));
            }
        })
    }

    /// Asks the broker, and enters what it says.
    async fn rule(&mut self, call: Call) -> Result<(), Problem> {
        let Setting { basis: Basis { authority, rights, .. }, desk, salt, .. } = &self.setting;
        let now = desk.now();
        let accounts = authority.accounts(self.task.opening(), now);
        let mut standing = match self.standing.take() {
            Some(standing) => standing,
            None => authority.standing(&desk.ledger, &accounts, self.policies()).await?,
        };
        let (id, before) = (call.id, self.carried.remove(&call.id));
        if let Some(before) = &before {
            standing.lift(before);
        }
        // What cannot be looked at is decided as it is; its tool then does nothing, and says why.
        let looked = self.broker.look(&call.tool, &call.args).await.unwrap_or_default();
        let leave = self.leave(&call).await?;
        let validation = self.validation(&call, now).await?;
        let opening = self.task.opening();
        let ask = |call: Call, grants: &[Granted]| {
            let (accounts, standing) = (&accounts, &standing);
            let (looked, leave) = (looked.as_ref(), leave.as_ref());
            let brought = Brought { rights, accounts, standing, validation, looked, leave, grants };
            let ruled = authority.ask(&self.broker, call, opening, salt, brought);
            ruled.map_err(Problem::internal)
        };
        let mut ruled = ask(call.clone(), &[])?;
        if ruled.decision().answer != Answer::Execute {
            // Only who would not go on by itself looks for what a person has granted.
            let grants = granted(desk, &call.tool, now).await?;
            if !grants.is_empty() {
                ruled = ask(call.clone(), &grants)?;
            }
        }
        let exhausted = ruled.exhausted();
        let context = Context { agent: &opening.agent, trust: opening.trust, salt };
        let asking = Asking {
            id: desk.id(),
            authority: authority.chain.first().cloned().unwrap_or_default(),
            open_for: authority.open_for,
            wanted: self.wanted(&call),
        };
        let ruled = match Asked::new(ruled, asking, context, now) {
            Ok(asked) => {
                let asked = asked.enter(before.as_ref(), salt, &mut self.batch).map_err(Problem::internal)?;
                self.standing = Some(standing);
                return self.feed(Input::Ruled { call: id, ruling: Ruling::Review { approval: asked.id } });
            }
            Err(ruled) => *ruled,
        };
        let ruling = match Prepared::new(ruled, context, now) {
            Ok(prepared) => {
                self.pending.push(prepared.enter(before.as_ref(), &mut standing, &mut self.batch));
                Ruling::Execute
            }
            Err(refused) => {
                let ruling = ruling(refused.decision(), exhausted);
                refused.enter(before.as_ref(), &mut self.batch);
                ruling
            }
        };
        self.standing = Some(standing);
        self.feed(Input::Ruled { call: id, ruling })
    }

    /// Runs what the receipt covers, says now and then that this driver is still there, and looks whether everything is
    /// to stop.
    async fn run(&mut self, receipt: &Receipt) -> Result<Ran, Problem> {
        let mut running = tokio::task::JoinSet::new();
        for pending in self.pending.drain(..) {
            let authorized = pending.authorize(receipt, self.leased_until).map_err(Problem::internal)?;
            let (broker, halt) = (self.broker.clone(), self.halt.clone());
            running.spawn(async move { broker.execute(authorized, &halt).await });
        }
        let (mut finished, mut late) = (Vec::new(), false);
        let mut silent = Duration::ZERO;
        loop {
            let beat = self.setting.desk.pace.lease / BEATS_PER_LEASE;
            let pause = beat.min(HALT_LOOK);
            match tokio::time::timeout(pause, running.join_next()).await {
                Ok(None) => break,
                Ok(Some(Ok(Ok(done)))) => finished.push(done),
                Ok(Some(Ok(Err(not_started)))) => {
                    let Late { call, reserved } = *not_started;
                    self.carried.insert(call.id, reserved);
                    late = true;
                }
                Ok(Some(Err(broken))) => return Err(Problem::internal(broken)),
                // If the ledger is away for a moment, the calls go on; the batch of what they came to decides.
                Err(_elapsed) => {
                    silent += pause;
                    if silent >= beat {
                        silent = Duration::ZERO;
                        match self.beat().await {
                            Err(problem) if problem.code == Code::DRIVEN_ELSEWHERE => return Err(problem),
                            Ok(()) | Err(_) => {}
                        }
                    }
                    let halted = self.setting.desk.ledger.halted().await;
                    if self.setting.stop.is_asked() || matches!(halted, Ok(Some(_))) {
                        self.halt.now();
                    }
                }
            }
        }
        // In the order of their ids, not of their speed: equal runs leave equal journals.
        finished.sort_by_key(|finished| finished.call.id);
        Ok(Ran { finished, late })
    }

    async fn beat(&mut self) -> Result<(), Problem> {
        let mut batch = self.setting.desk.batch();
        let lease = self.lease(self.setting.desk.now());
        batch.fence(self.task.id().to_string(), self.setting.held.epoch).put(&lease);
        self.setting.desk.ledger.commit(batch).await?;
        self.leased_until = lease.until;
        Ok(())
    }

    fn finish(&mut self, finished: &Finished) -> Result<(), Problem> {
        let opening = self.task.opening();
        let context = Context { agent: &opening.agent, trust: opening.trust, salt: &self.setting.salt };
        let entered = finished.enter(context, &mut self.batch);
        entered.map_err(Problem::internal)?;
        if finished.call.tool.as_str() == DELIVER && finished.outcome.is_ok() {
            self.sent(&finished.call);
        }
        self.feed(Input::Returned { call: finished.call.id, outcome: finished.outcome.clone() })
    }

    /// The loop closes: the answer is an event again.
    fn sent(&mut self, call: &Call) {
        let now = self.setting.desk.now();
        let result = self.task.result();
        let text = result.map_or("", |result| result.text.as_str());
        let body = Blob::personal(text.as_bytes().to_vec(), &self.setting.salt);
        let key = format!("{}:{}", self.setting.event.adapter, call.id);
        let event = Event {
            seq: Seq(None),
            id: Event::id_of(&key),
            key,
            sender: self.setting.agent,
            direction: Direction::Out,
            body: body.hash,
            content_type: "text/plain".into(),
            metadata: None,
            occurred_at: now,
            received_at: now,
            answers: Some(self.setting.event.id),
            ..self.setting.event.clone()
        };
        let detail = json!({ "answers": self.setting.event.id, "body": event.body, "call": call.id });
        let mut entry = entry(self.task.opening(), "event.sent", now, detail);
        entry.subject = event.id.to_string();
        self.batch.put(&body).put(&event).audit(entry);
    }

    fn feed(&mut self, input: Input) -> Result<(), Problem> {
        let step = self.task.handle(input, self.setting.desk.now()).map_err(Problem::internal)?;
        self.journal(step)
    }

    fn journal(&mut self, step: Step) -> Result<(), Problem> {
        let body = journal::enter(
            &step,
            self.task.opening(),
            self.setting.held.epoch,
            &self.setting.salt,
            &mut self.batch,
        )?;
        self.trail = self.trail.and(body);
        self.waiting.extend(step.effects.iter().cloned());
        self.unseen.push(step);
        Ok(())
    }

    /// Makes the round durable. Only then is anybody told, and only then may anything run.
    async fn commit(&mut self) -> Result<Receipt, Problem> {
        let now = self.setting.desk.now();
        let projection = journal::projection(&self.task, &self.setting.event, self.started_at, now);
        let lease = self.lease(now);
        self.batch.put(&projection).put(&lease);
        if self.task.status().is_over() {
            let directive = self.task.result().map(|result| result.directive);
            let detail = json!({
                "status": self.task.status(), "directive": directive, "steps": self.task.steps(),
                "journal": self.trail.digest(),
            });
            self.batch.audit(entry(self.task.opening(), "task.ended", now, detail));
        }
        let mut next = self.setting.desk.batch();
        next.fence(self.task.id().to_string(), self.setting.held.epoch);
        next.expect_present::<Salt>("person", &self.setting.salt.person);
        let receipt = self.setting.desk.ledger.commit(std::mem::replace(&mut self.batch, next)).await;
        let receipt = receipt.map_err(|error| match error {
            CommitError::Refused(Refusal::Present { table: HALTS, .. }) => halted(),
            CommitError::Refused(Refusal::Gone { table: APPROVALS | GRANTS, .. }) => overtaken(),
            error => error.into(),
        });
        let receipt = match receipt {
            Err(problem) if problem.code == Code::HALTED => return Err(self.halted().await),
            receipt => receipt?,
        };
        self.leased_until = lease.until;
        for step in self.unseen.drain(..) {
            (self.setting.watch)(&step);
            self.setting.desk.bus.publish(self.task.id(), step);
        }
        Ok(receipt)
    }

    /// Renewed with every batch, and while calls run.
    fn lease(&mut self, now: Time) -> Lease {
        self.beats += 1;
        let Setting { holder, held, desk, .. } = &self.setting;
        Lease {
            subject: self.task.id().to_string(),
            epoch: held.epoch,
            holder: holder.clone(),
            until: now.plus(desk.pace.lease),
            beats: self.beats,
        }
    }
}

/// What the machine is told of a decision.
pub(crate) fn ruling(decision: &Decision, exhausted: bool) -> Ruling {
    let (why, instead, violated) = (decision.to_string(), decision.instead(), decision.violated.clone());
    match decision.answer {
        Answer::Execute => Ruling::Execute,
        Answer::Review | Answer::Deny if exhausted && violated.is_empty() => {
            Ruling::Exhausted { why: [vec![why], instead].concat().join("; ") }
        }
        Answer::Review | Answer::Deny => Ruling::Denied { why, instead, violated },
    }
}

const HALTS: &str = Halt::TABLE.name;

fn overtaken() -> Problem {
    Problem::new(Code::OVERTAKEN, "what a call relied on was used or withdrawn meanwhile")
        .safe("nothing was started")
        .remedy("regent tasks list")
}

fn halted() -> Problem {
    Problem::new(Code::HALTED, "everything was halted")
        .safe("what was done is saved, and nothing was started after the halt")
        .remedy("regent resume-all")
}

fn entry(opening: &Opening, kind: &str, at: Time, detail: serde_json::Value) -> Entry {
    Entry {
        at,
        kind: kind.into(),
        actor: format!("agent:{}", opening.agent),
        subject: opening.task.to_string(),
        trust: Some(opening.trust),
        origin_id: Some(opening.tags.origin),
        reason_id: Some(opening.tags.reason),
        vpol_id: Some(opening.tags.vpol),
        detail,
    }
}
