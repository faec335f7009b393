//! Drive: the engine says what happens next, and this makes it happen, durably.
//!
//! Again and again: answer what needs nobody outside (reflexes, the broker's decisions), commit everything that came of
//! it in one batch, and only then begin the calls that the batch authorised and the asks that it wants; then wait until
//! something comes back. INVARIANT (durable-first): no effect becomes visible before the batch that authorised it is
//! durable.

mod approvals;
mod dry_run;
mod in_flight;
mod model_calls;
mod recover;
mod rule;
mod validation;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use broker::budget::{Reservation, Standing};
use broker::{Broker, Context, Finished, Late};
use domain::ask::{Action, Ask, Reply, Subject, Unanswered, Usage};
use domain::call::Call;
use domain::event::Direction;
use domain::id::{CallId, IdentityId};
use domain::recall::Recalled;
use domain::source::Text;
use domain::task::{FinalResult, Status};
use domain::{Stop, Time};
use engine::task::{DELIVER, Effect, Input, Opening, Step, Task};
use ledger::chain::Trail;
use ledger::records::{Blob, Event, Halt, Lease, Salt};
use ledger::table::Record as _;
use ledger::value::Seq;
use ledger::{AuditEvent, Batch, CommitError, Entry, Receipt, Refusal};
use llm::{Answer as Answered, Heard};
use policy::acl::Permissions;
use policy::vpol::Vpol;

use crate::approvals::{APPROVALS, GRANTS};
use crate::ask_model::ASK_MODEL;
use crate::journal;
use crate::lease::ActiveTask;
use crate::run::{AuthoritySnapshot, ProviderKind, RunContext, read_instructions};
use domain::problem::{Code, Problem};

pub use dry_run::{DryRun, PlannedCall, PlannedSubtask};
use in_flight::{Arrivals, InFlight};
use recover::Rerun;
use rule::Placement;
pub use rule::ruling;

/// How often a lease is renewed before it would run out.
const BEATS_PER_LEASE: u32 = 3;

/// How often a driver looks whether everything is to stop, while calls run.
const HALT_LOOK: Duration = Duration::from_millis(250);

/// What was fixed for a chain when it began: a run never gets beyond it.
pub(crate) struct ChainLimits {
    /// The validation policy that the chain was given; `None` if it is not known any more.
    pub(crate) frozen: Option<Vpol>,
    pub(crate) permissions: Permissions,
    pub(crate) provider: ProviderKind,
}

/// One task being driven by this process.
pub(crate) struct TaskDriver<'a> {
    run: RunContext<'a>,
    limits: ChainLimits,
    authority: AuthoritySnapshot,
    broker: Broker,
    /// The identity that the answer is sent under.
    agent: IdentityId,
    /// The name of this process, as its leases say it.
    holder: String,
    #[expect(dead_code, reason = "as long as it lives, the task counts as driven by this process")]
    active: ActiveTask,
    task: Task,
    started_at: Time,
    trail: Trail,
    /// When the lease runs out, as far as it is durable, and how often it was renewed.
    leased_until: Time,
    beats: u64,
    batch: Batch,
    /// Effects that nobody has looked at yet.
    waiting: VecDeque<Effect>,
    flight: InFlight,
    /// Steps that are in the batch and not durable yet.
    unseen: Vec<Step>,
    /// What is used of the budgets, read once per round.
    standing: Option<Standing>,
    /// What calls held of their budgets when they were asked for the last time.
    carried: BTreeMap<CallId, Reservation>,
    /// Set when everything is to stop.
    halt: Stop,
    /// What calls came to, and what was answered by those that are asks, until that is durable.
    fresh: Vec<(Finished, Option<(Subject, Heard)>)>,
    /// Asks that could not start in time, and the calls they are: asked again, each is the same call.
    late_asks: BTreeMap<Subject, CallId>,
}

/// What a driven task came to.
#[derive(Debug)]
pub struct DriveOutcome {
    pub status: Status,
    pub result: Option<FinalResult>,
    /// What it asks back, while nobody has answered.
    pub question: Option<String>,
    /// Whether anything was left to do.
    pub worked: bool,
}

impl<'a> TaskDriver<'a> {
    /// A new task. `batch` already holds the admission that lets it in.
    pub(crate) fn open(
        run: RunContext<'a>,
        authority: AuthoritySnapshot,
        limits: ChainLimits,
        opening: Opening,
        mut batch: Batch,
    ) -> Result<Self, Problem> {
        let now = run.now();
        let opened = AuditEvent::TaskOpened { task: opening.task, event: run.event.id };
        batch.audit(entry(&opened, &opening, now));
        let (task, step) = Task::open(opening, now);
        let mut driver = Self::new(run, authority, limits, task, batch, now)?;
        driver.journal(step)?;
        Ok(driver)
    }

    /// A task that another process left behind. Its epoch rises, so whatever that process still tries is refused.
    pub(crate) async fn take_over(
        run: RunContext<'a>,
        authority: AuthoritySnapshot,
        limits: ChainLimits,
        task: Task,
    ) -> Result<Self, Problem> {
        run.services.ledger.verify_work(run.event, task.id()).await?;
        let mut driver = Self::take(run, authority, limits, task).await?;
        driver.settle_unknown(Rerun::IfHarmless).await?;
        Ok(driver)
    }

    async fn take(
        run: RunContext<'a>,
        authority: AuthoritySnapshot,
        limits: ChainLimits,
        task: Task,
    ) -> Result<Self, Problem> {
        let mut batch = run.services.batch();
        let taken_over = AuditEvent::TaskTakenOver { task: task.id(), epoch: run.lease.epoch };
        batch.audit(entry(&taken_over, task.opening(), run.now()));
        let started_at = task.opened_at();
        let steps = run.services.ledger.steps(task.id()).await?;
        let mut driver = Self::new(run, authority, limits, task, batch, started_at)?;
        driver.trail = Trail::of(steps.iter().map(|step| step.body));
        driver.feed(Input::TakenOver)?;
        Ok(driver)
    }

    /// A task that is cancelled, whichever process had it. What ran there has an unknown outcome.
    pub(crate) async fn cancel_left(
        run: RunContext<'a>,
        authority: AuthoritySnapshot,
        limits: ChainLimits,
        task: Task,
        by: &str,
    ) -> Result<Self, Problem> {
        let mut driver = Self::take(run, authority, limits, task).await?;
        driver.settle_unknown(Rerun::Never).await?;
        driver.cancel(by)?;
        Ok(driver)
    }

    fn new(
        run: RunContext<'a>,
        authority: AuthoritySnapshot,
        limits: ChainLimits,
        task: Task,
        mut batch: Batch,
        started_at: Time,
    ) -> Result<Self, Problem> {
        let broker = authority.broker(run.services);
        run.lease.expect(task.id().to_string(), &mut batch);
        // If whoever it belongs to is erased meanwhile, nothing more of theirs is written.
        batch.expect_present::<Salt>("person", &run.salt().person);
        let (waiting, unseen) = (VecDeque::new(), Vec::new());
        let (trail, leased_until, beats) = (Trail::of([]), started_at, 0);
        Ok(Self {
            agent: run.agent()?,
            holder: run.kernel.host().holder(),
            active: run.kernel.active.begin(task.id()),
            run,
            limits,
            authority,
            broker,
            task,
            started_at,
            trail,
            leased_until,
            beats,
            batch,
            waiting,
            flight: InFlight::default(),
            unseen,
            standing: None,
            carried: BTreeMap::new(),
            halt: Stop::default(),
            fresh: Vec::new(),
            late_asks: BTreeMap::new(),
        })
    }

    /// Until the task is over. If this future is dropped, everything that is durable stays, and `resume` goes on.
    #[tracing::instrument(level = "info", name = "task", skip_all, fields(task = %self.task.id()))]
    pub(crate) async fn drive(mut self) -> Result<DriveOutcome, Problem> {
        loop {
            if !self.task.waiting().is_empty() {
                Box::pin(self.hear()).await?;
            }
            Box::pin(self.work_off()).await?;
            if self.task.result().is_some() {
                self.flight.is_enough();
                if !self.task.waiting().is_empty() {
                    Box::pin(self.stop_asking()).await?;
                }
            }
            self.standing = None;
            let receipt = match self.commit().await {
                Ok(receipt) => receipt,
                // What would have been started is not; what calls had come to is kept all the same.
                Err(problem) if matches!(problem.code, Code::HALTED | Code::BUDGET | Code::OVERTAKEN) => {
                    if problem.code == Code::HALTED {
                        self.halt.now();
                    }
                    let landed = self.land_all().await?;
                    for finished in landed.finished {
                        let heard = self.heard_outside(&finished);
                        self.fresh.push((finished, heard));
                    }
                    self.keep_what_came().await?;
                    return Err(problem);
                }
                Err(problem) => return Err(problem),
            };
            self.fresh.clear();
            self.take_off(&receipt)?;
            if self.flight.is_empty() && !self.flight.late {
                let asks_back = self.task.question().is_some();
                if !asks_back && self.task.status() == Status::Waiting && Box::pin(self.wait()).await? {
                    continue;
                }
                return Ok(self.ended());
            }
            let landed = self.land().await?;
            self.take_in(landed)?;
            if self.halt.is_asked() || self.run.kernel.stop.is_asked() {
                // What came of the calls is kept; what would follow waits until somebody lifts the halt.
                self.halt.now();
                let landed = self.land_all().await?;
                self.take_in(landed)?;
                self.commit().await?;
                return Err(self.halted().await);
            }
            if self.flight.late && self.flight.is_empty() {
                // This process was stopped for a while. Whatever is open is asked for again, as after a take-over; if
                // somebody else has taken the task over, the next batch is refused.
                self.flight.late = false;
                if self.task.status() == Status::Running {
                    self.waiting.clear();
                    self.feed(Input::TakenOver)?;
                }
            }
        }
    }

    fn ended(&self) -> DriveOutcome {
        DriveOutcome {
            status: self.task.status(),
            result: self.task.result().cloned(),
            question: self.task.question().map(Into::into),
            worked: true,
        }
    }

    /// What the machine wants, as far as it takes nobody outside: reflexes answer, authority decides. What takes
    /// somebody is begun when this is durable; what there is no room for waits for its turn.
    async fn work_off(&mut self) -> Result<(), Problem> {
        let mut no_room = VecDeque::new();
        while let Some(effect) = self.waiting.pop_front() {
            let over = self.task.result().is_some();
            match effect {
                // A task that has its result does nothing more but hand it over.
                Effect::Ask(_) | Effect::Recall(_) if over => {}
                Effect::Call(call) if call.subtask.is_some() && over => {}
                // There is no memory yet.
                Effect::Recall(_) => self.feed(Input::Recalled(Recalled::default()))?,
                Effect::Ask(ask) if !self.flight.has_room_for_an_ask() => no_room.push_back(Effect::Ask(ask)),
                Effect::Ask(ask) => match self.answer(&ask).await? {
                    Placement::Done => {}
                    Placement::Waits => no_room.push_back(Effect::Ask(ask)),
                },
                Effect::Call(call) if call.subtask.is_some() && !self.flight.has_room_for_a_call() => {
                    no_room.push_back(Effect::Call(call));
                }
                // A task is over when its answer is: what still runs has been told to stop, and comes first.
                Effect::Call(call) if call.subtask.is_none() && self.flight.has_calls() => {
                    no_room.push_back(Effect::Call(call));
                }
                Effect::Call(call) => {
                    if Box::pin(self.rule(call.clone())).await? == Placement::Waits {
                        no_room.push_back(Effect::Call(call));
                    }
                }
            }
        }
        self.waiting = no_room;
        Ok(())
    }

    /// What came back is fed to the machine.
    fn take_in(&mut self, landed: Arrivals) -> Result<(), Problem> {
        for Late { call, reserved } in landed.late {
            self.carried.insert(call.id, reserved);
            self.late_asks.extend(self.flight.quoted.remove(&call.id).map(|ask| (ask.subject, call.id)));
            self.flight.late = true;
        }
        for finished in landed.finished.into_iter().filter(|finished| !finished.goes_on()) {
            self.finish(&finished)?;
            let heard = self.heard_outside(&finished);
            self.fresh.push((finished, heard.clone()));
            if let Some((subject, heard)) = heard {
                self.heard(subject, heard)?;
            }
        }
        for (subject, heard) in landed.heard {
            self.heard(subject, heard)?;
        }
        Ok(())
    }

    /// Somebody says that it is to stop, and what is open is not waited for.
    pub(crate) fn cancel(&mut self, by: &str) -> Result<(), Problem> {
        if self.task.result().is_none() {
            self.waiting.clear();
            self.feed(Input::Cancelled { by: by.to_owned() })?;
        }
        Ok(())
    }

    /// What a person said to the question back.
    pub(crate) fn clarify(&mut self, answer: Text) -> Result<(), Problem> {
        self.feed(Input::Clarified(answer))
    }

    async fn halted(&self) -> Problem {
        let task = self.task.id().to_string();
        let short = self.run.services.ledger.short(&task).await.unwrap_or(task);
        halted().remedy(format!("regent resume {short}"))
    }

    /// Who needs nobody answers in place; whoever does is asked once this is durable.
    async fn answer(&mut self, ask: &Ask) -> Result<Placement, Problem> {
        if self.limits.provider == ProviderKind::Steered {
            // Read before every prompt: what the owner changes counts at once.
            self.authority.instructions.set(read_instructions(self.run.services).await?);
        }
        match self.authority.provider.ask(ask) {
            Answered::Now(reply) => self.replied(ask.subject(), Ok(reply), None).map(|()| Placement::Done),
            Answered::Later(later) => {
                self.flight.ask(ask.subject(), later);
                Ok(Placement::Done)
            }
            Answered::Quoted(quote, later) => Box::pin(self.ask_outside(ask, quote, later)).await,
        }
    }

    /// A model has answered, or not. If the task was ended meanwhile, nobody asks any more.
    fn heard(&mut self, subject: Subject, heard: Heard) -> Result<(), Problem> {
        if self.task.result().is_some() {
            return Ok(());
        }
        self.replied(subject, heard.reply, Some(heard.usage))
    }

    fn replied(
        &mut self,
        subject: Subject,
        reply: Result<Reply, Unanswered>,
        usage: Option<Usage>,
    ) -> Result<(), Problem> {
        let input = match (subject, reply) {
            (Subject::Perceive, Ok(Reply::Perceived(perception))) => Input::Perceived(perception),
            (Subject::Plan, Ok(Reply::Planned(plan))) => Input::Planned(plan),
            (Subject::Plan, Ok(Reply::NotPlanned(why))) => Input::NotPlanned(why),
            (Subject::Act(subtask), Ok(Reply::Acted(mut action))) => {
                // Whoever chose it: the value of a secret is in no journal.
                if let Action::Call { args, .. } = &mut action {
                    self.authority.secrets.hide(args);
                }
                Input::Acted { subtask, action }
            }
            (Subject::Judge(of), Ok(Reply::Judged(judgements))) => Input::Judged { of, judgements },
            (ask, Err(why)) => Input::Unanswered { ask, why },
            (ask, Ok(_)) => {
                Input::Unanswered { ask, why: Unanswered::unusable("it answers another question") }
            }
        };
        let input = match journal::survives(&input) {
            Ok(()) => input,
            Err(why) => {
                let why = Unanswered::unusable(format!("the reply cannot be kept: {why}"));
                Input::Unanswered { ask: subject, why }
            }
        };
        let mut step = self.task.handle(input, self.run.services.now()).map_err(Problem::internal)?;
        step.usage = usage.map(Usage::clamped);
        self.journal(step)
    }

    async fn beat(&mut self) -> Result<(), Problem> {
        let mut batch = self.run.services.batch();
        let lease = self.lease(self.run.services.now());
        batch.fence(self.task.id().to_string(), self.run.lease.epoch).put(&lease);
        self.run.services.ledger.commit(batch).await?;
        self.leased_until = lease.until;
        Ok(())
    }

    fn finish(&mut self, finished: &Finished) -> Result<(), Problem> {
        let opening = self.task.opening();
        let context = Context { agent: &opening.agent, trust: opening.trust, salt: self.run.salt() };
        let entered = finished.enter(context, &mut self.batch);
        entered.map_err(Problem::internal)?;
        match finished.call.tool.as_str() {
            DELIVER if finished.outcome.is_ok() => self.sent(&finished.call),
            // What it answers is for whoever asked; the machine has not asked for a call.
            ASK_MODEL => return Ok(()),
            _ => {}
        }
        self.feed(Input::Returned { call: finished.call.id, outcome: finished.outcome.clone() })
    }

    /// The loop closes: the answer is an event again.
    fn sent(&mut self, call: &Call) {
        let now = self.run.services.now();
        let result = self.task.result();
        let text = result.map_or("", |result| result.text.as_str());
        let body = Blob::personal(text.as_bytes().to_vec(), self.run.salt());
        let key = format!("{}:{}", self.run.event.adapter, call.id);
        let event = Event {
            seq: Seq(None),
            id: Event::id_of(&key),
            key,
            sender: self.agent,
            direction: Direction::Out,
            body: body.hash,
            content_type: "text/plain".into(),
            metadata: None,
            occurred_at: now,
            received_at: now,
            answers: Some(self.run.event.id),
            ..self.run.event.clone()
        };
        let sent = entry(&AuditEvent::EventSent(&event), self.task.opening(), now).with("call", call.id);
        self.batch.put(&body).put(&event).audit(sent);
    }

    fn feed(&mut self, input: Input) -> Result<(), Problem> {
        let step = self.task.handle(input, self.run.services.now()).map_err(Problem::internal)?;
        self.journal(step)
    }

    fn journal(&mut self, step: Step) -> Result<(), Problem> {
        let body = journal::enter(
            &step,
            self.task.opening(),
            self.run.lease.epoch,
            self.run.salt(),
            &mut self.batch,
        )?;
        self.trail = self.trail.and(body);
        self.waiting.extend(step.effects.iter().cloned());
        self.unseen.push(step);
        Ok(())
    }

    /// Makes the round durable. Only then is anybody told, and only then may anything run.
    async fn commit(&mut self) -> Result<Receipt, Problem> {
        let now = self.run.services.now();
        let projection = journal::projection(&self.task, self.run.event, self.trail, self.started_at, now);
        let lease = self.lease(now);
        self.batch.put(&projection).put(&lease);
        if self.task.status().is_over() {
            let ended = entry(&AuditEvent::TaskEnded(&projection), self.task.opening(), now);
            self.batch.audit(ended.with("journal", self.trail.digest()));
        }
        let mut next = self.run.services.batch();
        next.fence(self.task.id().to_string(), self.run.lease.epoch);
        next.expect_present::<Salt>("person", &self.run.salt().person);
        let receipt = self.run.services.ledger.commit(std::mem::replace(&mut self.batch, next)).await;
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
        tracing::debug!(steps = self.unseen.len(), "a round is durable");
        for step in self.unseen.drain(..) {
            self.run.services.bus.publish(self.task.id(), step);
        }
        Ok(receipt)
    }

    /// Renewed with every batch, and while calls run.
    fn lease(&mut self, now: Time) -> Lease {
        self.beats += 1;
        Lease {
            subject: self.task.id().to_string(),
            epoch: self.run.lease.epoch,
            holder: self.holder.clone(),
            until: now.plus(self.run.services.timing.lease),
            beats: self.beats,
        }
    }
}

const HALTS: &str = Halt::TABLE.name;

fn overtaken() -> Problem {
    Problem::new(Code::OVERTAKEN, "what a call relied on was used or withdrawn meanwhile")
        .safe("nothing was started")
        .remedy("regent tasks list")
}

fn taken_away() -> Problem {
    Problem::new(Code::DRIVEN_ELSEWHERE, "another process has taken this task over")
        .safe("what ran here was stopped")
        .remedy("regent tasks list")
}

fn halted() -> Problem {
    Problem::new(Code::HALTED, "everything was halted")
        .safe("what was done is saved, and nothing was started after the halt")
        .remedy("regent resume-all")
}

fn entry(event: &AuditEvent<'_>, opening: &Opening, at: Time) -> Entry {
    event.entry(format!("agent:{}", opening.agent), at).trusting(opening.trust).tagged(opening.tags)
}
