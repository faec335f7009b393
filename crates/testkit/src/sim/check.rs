//! What must be true after every step, looked up in the bare store, past every fault.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use app::App;
use app::record::Again;
use app::record::Receipt;
use app::tasks::Report;
use domain::event::Direction;
use domain::id::{EventId, NodeId, TaskId};
use domain::limits::LEASE;
use domain::probe::Silent;
use domain::task::{FinalResult, Status};
use domain::{Clock as _, Digest};
use engine::task::{Step, Task};
use ledger::chain::{EntryChecker, Link, Standing, Walk};
use ledger::records::{
    Access, AgentTask, AuditEntry, AuditHead, CallStatus, Event, Lease, TaskStep, ToolCall,
};
use ledger::table::Record;
use ledger::value::Seq;
use ledger::{AuditEventKind, Ledger, Op, Refusal, Seal, Select, Store, StoreError};
use tokio::runtime::{Builder, Runtime};

use super::flaky::Write;
use super::process::Alive;
use super::{Broken, Known, requests};
use crate::ManualClock;

type Checked = Result<(), Broken>;

/// Somebody who sees everything, and remembers what was promised.
#[derive(Debug)]
pub(super) struct Observer {
    runtime: Runtime,
    ledger: Ledger,
    alive: Alive,
    clock: Arc<ManualClock>,
    walk: Walk,
    entries: Vec<Digest>,
    /// How often the audit says that a call was started.
    started: BTreeMap<String, usize>,
    /// How often it ran.
    ran: BTreeMap<String, usize>,
    settled: BTreeSet<String>,
    /// Every event by its key, and the last that was seen.
    keys: BTreeMap<String, EventId>,
    last_event: i64,
    acknowledged: BTreeMap<String, EventId>,
    called_new: BTreeSet<String>,
    leases: BTreeMap<String, Seen>,
    /// What is wrong and known to be, since somebody asked.
    pub(super) found: Vec<(Known, Broken)>,
    pub(super) taken_over: u64,
    pub(super) from_the_living: u64,
    /// As far as each journal was folded, and what it came to.
    folded: BTreeMap<TaskId, Folded>,
    last_step: i64,
}

/// A lease as it was last seen.
#[derive(Debug)]
struct Seen {
    lease: Lease,
    ran_out: bool,
}

#[derive(Debug)]
struct Folded {
    task: Task,
    /// The last step's.
    epoch: u64,
}

pub(super) fn seal() -> Seal {
    Seal::for_tests(NodeId::from_bits(1), [7; 32])
}

impl Observer {
    pub(super) fn new(store: Arc<dyn Store>, alive: Alive, clock: Arc<ManualClock>) -> Self {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let ledger = {
            let _entered = runtime.enter();
            Ledger::start(store, seal(), Arc::new(Silent))
        };
        Self {
            runtime,
            ledger,
            alive,
            clock,
            walk: Walk::default(),
            entries: Vec::new(),
            started: BTreeMap::new(),
            ran: BTreeMap::new(),
            settled: BTreeSet::new(),
            keys: BTreeMap::new(),
            last_event: 0,
            acknowledged: BTreeMap::new(),
            called_new: BTreeSet::new(),
            leases: BTreeMap::new(),
            found: Vec::new(),
            taken_over: 0,
            from_the_living: 0,
            folded: BTreeMap::new(),
            last_step: 0,
        }
    }

    fn all<T: Record>(&self) -> Result<Vec<T>, Broken> {
        self.ask(self.ledger.select(Select::<T>::all()))
    }

    fn ask<T>(&self, answer: impl Future<Output = Result<T, StoreError>>) -> Result<T, Broken> {
        self.runtime.block_on(answer).map_err(|error| Broken::new("readable", error.to_string()))
    }

    /// The clock was turned.
    pub(super) fn turned(&mut self) {
        let now = self.clock.now();
        for seen in self.leases.values_mut() {
            seen.ran_out |= !seen.lease.is_running(now, LEASE);
        }
    }

    /// The ids of what can be named: tasks that are not over, and events.
    pub(super) fn names(&self) -> Result<Vec<String>, Broken> {
        let tasks = self.all::<AgentTask>()?;
        let events = self.all::<Event>()?;
        let tasks = tasks.iter().flat_map(|task| vec![task.task_id.to_string(); weight(task.status)]);
        Ok(tasks.chain(events.iter().map(|event| event.id.to_string())).collect())
    }

    pub(super) fn unfinished(&self) -> Result<Vec<TaskId>, Broken> {
        let tasks = self.all::<AgentTask>()?;
        Ok(tasks.iter().filter(|task| !task.status.is_over()).map(|task| task.task_id).collect())
    }

    /// A batch whose fence does not hold is refused, and by the fence: its driver must be told that it was overtaken.
    pub(super) fn wrote(write: &Write) -> Checked {
        let fenced = matches!(write.outcome, Err(Refusal::Fenced { .. }));
        match write.held {
            Some(held) if held == fenced => {
                let what = format!("the fences held: {held}; the store said {:?}", write.outcome);
                Err(Broken::new("fence", what))
            }
            _ => Ok(()),
        }
    }

    /// A handler is about to run. Nothing was written since.
    pub(super) fn running(&mut self, process: &str, tool: &str, call: &str) -> Checked {
        let ran = self.ran.entry(call.to_owned()).or_default();
        *ran += 1;
        let (ran, started) = (*ran, self.started.get(call).copied().unwrap_or(0));
        if ran > started {
            let what = format!("{tool} {call} runs for the {ran}. time, and {started} starts are durable");
            return Err(Broken::new("durable-first", what));
        }
        if !self.settled.contains(call) {
            return Ok(());
        }
        let broken = Broken::new("runs-twice", format!("{tool} {call} runs after its end was durable"));
        if self.drives(process, call)? {
            return Err(broken);
        }
        self.found.push((Known::Overtaken, broken));
        Ok(())
    }

    /// Whether this process has the lease on the task that this is a call of.
    fn drives(&self, process: &str, call: &str) -> Result<bool, Broken> {
        let row = self.ask(self.ledger.first(Select::<ToolCall>::by("id", &call.to_owned())))?;
        let lease = row.and_then(|row| self.leases.get(&row.task_id.to_string()));
        Ok(lease.is_some_and(|seen| seen.lease.holder == process))
    }

    /// An adapter was told that its event is kept.
    pub(super) fn acknowledge(&mut self, receipt: &Receipt) -> Checked {
        let Receipt { key, id, new } = receipt;
        let before = self.acknowledged.insert(key.clone(), *id);
        if before.is_some_and(|before| before != *id) {
            let what = format!("{key} was acknowledged as {before:?}, now as {id}");
            return Err(Broken::new("acknowledged", what));
        }
        if *new && !self.called_new.insert(key.clone()) {
            return Err(Broken::new("acknowledged", format!("{key} was called new twice")));
        }
        self.events()
    }

    /// Somebody was told how a task ended.
    pub(super) fn reported(&self, report: &Report) -> Checked {
        let board = self.ask(self.ledger.task(report.task))?;
        let board = board.map(|board| board.status);
        if board != Some(report.status) || !report.status.is_over() {
            let what =
                format!("{} was reported as {:?}, the board says {board:?}", report.task, report.status);
            return Err(Broken::new("reported", what));
        }
        self.right(report.task, report.status, report.result.as_ref())
    }

    /// Somebody was shown an answer.
    pub(super) fn shown(&self, task: TaskId, result: &FinalResult) -> Checked {
        let status = if result.text.is_empty() { Status::Stopped } else { Status::Done };
        self.right(task, status, Some(result))
    }

    /// Everything that has to do with what is kept.
    pub(super) fn kept(&mut self) -> Checked {
        self.events()?;
        self.audit()?;
        self.admissions()?;
        self.leases()?;
        self.calls()?;
        self.journals()
    }

    /// Acknowledged is there, once, under the same id; no key is there twice.
    fn events(&mut self) -> Checked {
        let last = self.last_event;
        for event in self.ask(self.ledger.select(since::<Event>(last)))? {
            self.last_event = self.last_event.max(event.seq.0.unwrap_or(0));
            if let Some(other) = self.keys.insert(event.key.clone(), event.id) {
                let what = format!("{} is the key of {other} and of {}", event.key, event.id);
                return Err(Broken::new("keys-unique", what));
            }
        }
        for (key, id) in &self.acknowledged {
            if self.keys.get(key) != Some(id) {
                let what = format!("{key} was acknowledged as {id}, kept is {:?}", self.keys.get(key));
                return Err(Broken::new("acknowledged", what));
            }
        }
        Ok(())
    }

    /// One decision per event when it comes, and one more when the question about it has ended.
    fn admissions(&mut self) -> Checked {
        let mut events = BTreeMap::<(EventId, u64), usize>::new();
        for access in self.all::<Access>()? {
            *events.entry((access.event_id, access.n)).or_default() += 1;
        }
        match events.iter().find(|(_, n)| **n > 1) {
            Some(((event, _), n)) => {
                Err(Broken::new("one-admission", format!("{event} was decided about {n} times")))
            }
            None => Ok(()),
        }
    }

    /// The chain goes on from where it was.
    fn audit(&mut self) -> Checked {
        let broken = |fault: &dyn std::fmt::Display| Broken::new("audit", fault.to_string());
        let stream = seal().stream();
        let new = Select::<AuditEntry>::by("stream", &stream).filter("seq", Op::Gt, &self.walk.seq());
        for entry in self.ask(self.ledger.select(new.ascending("seq")))? {
            let row = entry.row();
            let cells: Vec<_> = row.iter().map(ledger::value::Value::look).collect();
            let link = Link::of(&cells).ok_or_else(|| broken(&"a row is no entry"))?;
            let check = EntryChecker::default().check(&link);
            self.walk.step(&link, check).map_err(|fault| broken(&fault))?;
            self.entries.push(entry.hash);
            if entry.kind == AuditEventKind::CallStarted.name() {
                *self.started.entry(entry.subject).or_default() += 1;
            }
        }
        let head = self.ask(self.ledger.first(Select::<AuditHead>::by("stream", &stream)))?;
        let end = (self.walk.seq(), self.walk.hash());
        match head {
            None if end.0 == 0 => Ok(()),
            Some(head) if (head.seq, head.hash) != end => {
                Err(broken(&"the head does not name the last entry"))
            }
            Some(head) if matches!(seal().standing(&head), Ok(Standing::Ours)) => Ok(()),
            _ => Err(broken(&"the head is not sealed by this house")),
        }
    }

    /// From genesis to the tip, and no entry and no event has changed since it was first seen.
    pub(super) fn for_ever(&self) -> Checked {
        let verified = self.ask(self.ledger.verify_audit())?;
        if !verified.is_consistent() {
            return Err(Broken::new("audit", format!("{verified:?}")));
        }
        let entries = self.ask(self.ledger.select(Select::<AuditEntry>::all().ascending("seq")))?;
        let hashes: Vec<Digest> = entries.iter().map(|entry| entry.hash).collect();
        if hashes != self.entries {
            return Err(Broken::new("audit-grows", "an entry has changed"));
        }
        let keys: BTreeMap<String, EventId> =
            self.all::<Event>()?.into_iter().map(|event| (event.key, event.id)).collect();
        if keys == self.keys { Ok(()) } else { Err(Broken::new("acknowledged", "an event has changed")) }
    }

    /// Epochs rise by one, and nobody takes from a living process whose time is not over.
    fn leases(&mut self) -> Checked {
        let now = self.clock.now();
        for lease in self.all::<Lease>()? {
            let ran_out = !lease.is_running(now, LEASE);
            let Some(seen) = self.leases.get(&lease.subject) else {
                self.leases.insert(lease.subject.clone(), Seen { lease, ran_out });
                continue;
            };
            let before = &seen.lease;
            if *before == lease {
                continue;
            }
            let same_holder = before.holder == lease.holder;
            let fits = lease.epoch == before.epoch + 1 || (lease.epoch == before.epoch && same_holder);
            if !fits {
                return Err(Broken::new("epoch", format!("from {before:?} to {lease:?}")));
            }
            let lives = self.alive.lock().unwrap_or_else(PoisonError::into_inner).contains(&before.holder);
            if !same_holder && lives && !seen.ran_out {
                let what = format!("from {before:?} to {lease:?}");
                return Err(Broken::new("taken-from-the-living", what));
            }
            let changed_hands = lease.epoch > before.epoch;
            self.taken_over += u64::from(changed_hands);
            self.from_the_living += u64::from(changed_hands && lives);
            self.leases.insert(lease.subject.clone(), Seen { lease, ran_out });
        }
        Ok(())
    }

    /// What has ended stays ended.
    fn calls(&mut self) -> Checked {
        for call in self.all::<ToolCall>()? {
            let id = call.id.to_string();
            if call.status != CallStatus::Started {
                self.settled.insert(id);
            } else if self.settled.contains(&id) {
                return Err(Broken::new("runs-twice", format!("{id} had ended and was started again")));
            }
        }
        Ok(())
    }

    /// Every journal folds, without a gap, under epochs that never fall; and the board says what it comes to.
    fn journals(&mut self) -> Checked {
        let last = self.last_step;
        for row in self.ask(self.ledger.select(since::<TaskStep>(last)))? {
            self.last_step = self.last_step.max(row.seq.0.unwrap_or(0));
            let broken = |what: String| Broken::new("journal", format!("{} {}: {what}", row.task, row.n));
            let body = self.ask(self.ledger.body(&row.body))?;
            let body = body.ok_or_else(|| broken("its body is gone".into()))?;
            let step: Step = serde_json::from_slice(&body).map_err(|error| broken(error.to_string()))?;
            let before =
                self.folded.get(&row.task).map_or((0, 0), |folded| (folded.task.steps(), folded.epoch));
            if row.n != before.0 || step.n != row.n || row.epoch < before.1 {
                return Err(broken(format!(
                    "epoch {}, after {} steps and epoch {}",
                    row.epoch, before.0, before.1
                )));
            }
            let (input, at) = (step.input, step.at);
            match self.folded.get_mut(&row.task) {
                None => {
                    let task = Task::fold([(input, at)]).map_err(|error| broken(error.to_string()))?;
                    self.folded.insert(row.task, Folded { task, epoch: row.epoch });
                }
                Some(folded) => {
                    folded.task.handle(input, at).map_err(|error| broken(error.to_string()))?;
                    folded.epoch = row.epoch;
                }
            }
        }
        self.board()
    }

    fn board(&self) -> Checked {
        let board = self.all::<AgentTask>()?;
        for row in &board {
            let said = (row.steps, row.status);
            let folded = self.folded.get(&row.task_id);
            let found =
                folded.map_or((0, Status::Queued), |folded| (folded.task.steps(), folded.task.status()));
            if said != found {
                let what = format!("{}: the board says {said:?}, the journal {found:?}", row.task_id);
                return Err(Broken::new("board", what));
            }
        }
        let stray = self.folded.keys().find(|task| board.iter().all(|row| row.task_id != **task));
        stray.map_or(Ok(()), |task| Err(Broken::new("board", format!("{task} has steps and is not there"))))
    }

    /// Every task is over, and has come to the right answer.
    pub(super) fn finished(&mut self) -> Checked {
        for row in self.all::<AgentTask>()? {
            let folded = self.folded.get(&row.task_id).filter(|folded| folded.task.status().is_over());
            let Some(Folded { task, .. }) = folded else {
                return Err(Broken::new("finished", format!("{} is {:?}", row.task_id, row.status)));
            };
            self.right(row.task_id, task.status(), task.result())?;
        }
        Ok(())
    }

    /// Every chain comes out the same when its decisions are made again from what was recorded.
    pub(super) fn explicable(&self, app: &App) -> Checked {
        let broken = |what: String| Broken::new("explicable", what);
        for event in self.all::<Event>()?.into_iter().filter(|event| event.direction == Direction::In) {
            let why = self.runtime.block_on(app.record().recheck(&event.id.to_string()));
            let recheck = why.map_err(|problem| broken(problem.to_string()))?.recheck;
            let lines = recheck.map(|recheck| recheck.lines).unwrap_or_default();
            if lines.is_empty() || lines.iter().any(|line| line.again != Again::Same) {
                return Err(broken(format!("{}: {lines:?}", event.id)));
            }
        }
        Ok(())
    }

    fn right(&self, task: TaskId, status: Status, result: Option<&FinalResult>) -> Checked {
        self.compare(task, status, result)?.map_or(Ok(()), Err)
    }

    /// What is wrong with an answer.
    fn compare(
        &self,
        task: TaskId,
        status: Status,
        result: Option<&FinalResult>,
    ) -> Result<Option<Broken>, Broken> {
        let wrong = |what: &str| Broken::new("answer", format!("{task}: {what}"));
        let row = self.ask(self.ledger.task(task))?.ok_or_else(|| wrong("is not on the board"))?;
        let event = self.ask(self.ledger.event(row.payload))?.ok_or_else(|| wrong("its event is gone"))?;
        let asked = self.ask(self.ledger.text(&event.body))?.unwrap_or_default();
        let right = requests::answer(&asked).ok_or_else(|| wrong("nobody asked for it"))?;
        let text = result.map_or("", |result| result.text.as_str());
        let reason = result.and_then(|result| result.reason.as_deref());
        let what = format!("`{asked}` came to {status:?}, `{text}`, {reason:?}");
        Ok(((status, text) != right).then(|| wrong(&what)))
    }

    /// In a few words, without what differs between two machines: to compare two runs.
    pub(super) fn shape(&self) -> Result<Vec<String>, Broken> {
        let mut shape = Vec::new();
        for event in self.all::<Event>()? {
            shape.push(format!("{} {} {}", event.id, event.key, event.received_at));
        }
        for step in self.all::<TaskStep>()? {
            shape.push(format!("{} {} {} {}", step.task, step.n, step.epoch, step.at));
        }
        for entry in self.all::<AuditEntry>()? {
            shape.push(format!("{} {} {} {}", entry.seq, entry.at, entry.kind, entry.subject));
        }
        Ok(shape)
    }
}

/// What was written after this.
fn since<T: Record>(seq: i64) -> Select<T> {
    Select::all().filter("seq", Op::Gt, &Seq(Some(seq))).ascending("seq")
}

/// How often a task is among the names that are drawn from.
const fn weight(status: Status) -> usize {
    if status.is_over() { 1 } else { 4 }
}
