//! Drive: the engine says what happens next, and this makes it happen, durably.
//!
//! Each round: answer what needs nobody outside (reflexes, the broker's decisions), commit everything that came of
//! it in one batch, and only then run the calls that the batch authorised. INVARIANT (durable-first): no effect
//! becomes visible before the batch that authorised it is durable.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use broker::{Asker, Broker, Context, Finished, Late, Pending, Prepared, Registry};
use domain::Time;
use domain::ask::{Ask, Reply};
use domain::call::Call;
use domain::event::Direction;
use domain::id::IdentityId;
use domain::task::{FinalResult, Status};
use engine::task::{DELIVER, Effect, Input, Opening, Ruling, Step, Task};
use ledger::records::{Blob, CallStatus, Event, Lease, Salt};
use ledger::value::Seq;
use ledger::{Batch, Entry, Receipt};
use llm::Reflex;
use serde_json::json;

use super::deliver::Deliver;
use super::{Desk, Driving, Surface, Trail, journal};
use crate::problem::{Code, Problem};

/// Told of every step once it is durable, never before.
pub type Watch = Arc<dyn Fn(&Step) + Send + Sync>;

/// How often a lease is renewed before it would run out.
const BEATS_PER_LEASE: u32 = 3;

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

/// What a driver needs besides the task itself.
pub(crate) struct Setting {
    pub(crate) desk: Desk,
    pub(crate) surface: Arc<dyn Surface>,
    pub(crate) watch: Watch,
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
pub(crate) struct Driver {
    setting: Setting,
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

impl Driver {
    /// A new task. `batch` already holds the admission that lets it in.
    pub(crate) fn open(setting: Setting, opening: Opening, mut batch: Batch) -> Result<Self, Problem> {
        let now = setting.desk.now();
        batch.audit(entry(&opening, "task.opened", now, json!({ "event": setting.event.id })));
        let (task, step) = Task::open(opening, now);
        let mut driver = Self::new(setting, task, batch, now)?;
        driver.journal(step)?;
        Ok(driver)
    }

    /// A task that another process left behind. Its epoch rises, so whatever the other one still tries is refused.
    pub(crate) async fn take_over(setting: Setting, task: Task) -> Result<Self, Problem> {
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

    fn new(setting: Setting, task: Task, mut batch: Batch, started_at: Time) -> Result<Self, Problem> {
        let registry = registry(&task, &setting.surface)?;
        let broker = Broker::new(registry, Arc::clone(&setting.desk.clock), Arc::clone(&setting.desk.probe));
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
        })
    }

    /// Until the task is over. If this future is dropped, everything that is durable stays, and `resume` goes on.
    pub(crate) async fn drive(mut self) -> Result<Ended, Problem> {
        loop {
            while let Some(effect) = self.waiting.pop_front() {
                match effect {
                    Effect::Ask(ask) => self.answer(&ask)?,
                    Effect::Call(call) => self.rule(call)?,
                }
            }
            let receipt = self.commit().await?;
            if self.pending.is_empty() {
                return Ok(Ended {
                    status: self.task.status(),
                    result: self.task.result().cloned(),
                    worked: true,
                });
            }
            let Ran { finished, late } = self.run(&receipt).await?;
            for finished in finished {
                self.finish(&finished)?;
            }
            if late && self.task.status() == Status::Running {
                // This process was stopped for a while. Whatever is open is asked for again, as after a take-over; if
                // somebody else has taken the task over, the next batch is refused.
                self.waiting.clear();
                self.feed(Input::TakenOver)?;
            }
        }
    }

    /// The reflexes answer in place. A model that is asked over a network will be a call like any other.
    fn answer(&mut self, ask: &Ask) -> Result<(), Problem> {
        let reply = Reflex.answer(ask);
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
    fn rule(&mut self, call: Call) -> Result<(), Problem> {
        let opening = self.task.opening();
        let asker = Asker {
            principal: &opening.principal,
            trust: opening.trust,
            allowed: &opening.tools,
            request: &opening.request,
            salt: &self.setting.salt,
        };
        let id = call.id;
        let ruled = self.broker.authorize(call, &asker).map_err(Problem::internal)?;
        let context = Context { agent: &opening.agent, trust: opening.trust, salt: &self.setting.salt };
        let ruling = match Prepared::new(ruled, context, self.setting.desk.now()) {
            Ok(prepared) => {
                self.pending.push(prepared.enter(&mut self.batch));
                Ruling::Execute
            }
            Err(refused) => {
                let why = refused.why().to_owned();
                refused.enter(&mut self.batch);
                Ruling::Refused { why }
            }
        };
        self.feed(Input::Ruled { call: id, ruling })
    }

    /// Runs what the receipt covers, and says now and then that this driver is still there.
    async fn run(&mut self, receipt: &Receipt) -> Result<Ran, Problem> {
        let mut running = tokio::task::JoinSet::new();
        for pending in self.pending.drain(..) {
            let authorized = pending.authorize(receipt, self.leased_until).map_err(Problem::internal)?;
            let broker = self.broker.clone();
            running.spawn(async move { broker.execute(authorized).await });
        }
        let (mut finished, mut late) = (Vec::new(), false);
        loop {
            let pause = self.setting.desk.pace.lease / BEATS_PER_LEASE;
            match tokio::time::timeout(pause, running.join_next()).await {
                Ok(None) => break,
                Ok(Some(Ok(Ok(done)))) => finished.push(done),
                Ok(Some(Ok(Err(Late(_))))) => late = true,
                Ok(Some(Err(broken))) => return Err(Problem::internal(broken)),
                // If the ledger is away for a moment, the calls go on; the batch of what they came to decides.
                Err(_elapsed) => match self.beat().await {
                    Err(problem) if problem.code == Code::DRIVEN_ELSEWHERE => return Err(problem),
                    Ok(()) | Err(_) => {}
                },
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
        if self.task.status() != Status::Running {
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
        let receipt = self.setting.desk.ledger.commit(std::mem::replace(&mut self.batch, next)).await?;
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

    /// Calls that the process before us had started and that must not be run twice: their fate is unknown, and
    /// that is what the task is told. What only reads, or does the same twice, is simply asked for again.
    async fn settle_unknown(&mut self) -> Result<(), Problem> {
        for effect in std::mem::take(&mut self.waiting) {
            let Effect::Call(call) = &effect else {
                self.waiting.push_back(effect);
                continue;
            };
            let harmless =
                self.broker.registry().spec(&call.tool).is_none_or(broker::ToolSpec::may_run_again);
            let row = self.setting.desk.ledger.call(call.id).await?;
            match row.filter(|row| !harmless && row.status == CallStatus::Started) {
                None => self.waiting.push_back(effect),
                Some(row) => self.finish(&Finished::unknown(call.clone(), row, self.setting.desk.now()))?,
            }
        }
        Ok(())
    }
}

/// The tools of this task: files of its workspace, and the way back to whoever asked.
fn registry(task: &Task, surface: &Arc<dyn Surface>) -> Result<Registry, Problem> {
    let path = PathBuf::from(&task.opening().workspace);
    let workspace = tools::Workspace::new(path).map_err(|failure| {
        Problem::new(Code::WORKSPACE, format!("the workspace cannot be used: {}", failure.message))
            .safe("nothing was done")
    })?;
    let files = tools::files(&Arc::new(workspace));
    let deliver = Deliver::new(Arc::clone(surface))
        .ok_or_else(|| Problem::new(Code::INTERNAL, "there is no way to deliver"))?;
    Ok(files.with(Arc::new(deliver)))
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
