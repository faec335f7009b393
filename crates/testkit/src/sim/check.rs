//! What must be true after every step, looked up in the bare store, past every fault.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::call::Outcome;
use domain::id::{EventId, NodeId, TaskId};
use domain::probe::Silent;
use domain::task::{FinalResult, Status};
use domain::{Digest, Time};
use engine::task::{Input, Step, Task};
use ledger::chain::Walk;
use ledger::records::{
    Access, AgentTask, AuditEntry, AuditHead, CallStatus, Event, Lease, TaskStep, ToolCall,
};
use ledger::table::Record;
use ledger::{Ledger, Op, Refusal, Seal, Select, Store, StoreError};
use runtime::app::{Receipt, Report};
use tokio::runtime::{Builder, Runtime};

use super::flaky::Write;
use super::{Broken, requests};

type Checked = Result<(), Broken>;

/// Somebody who sees everything, and remembers what was promised.
#[derive(Debug)]
pub(super) struct Observer {
    runtime: Runtime,
    ledger: Ledger,
    walk: Walk,
    entries: Vec<Digest>,
    /// How often the audit says that a call was started.
    started: BTreeMap<String, usize>,
    /// How often it ran.
    ran: BTreeMap<String, usize>,
    settled: BTreeSet<String>,
    acknowledged: BTreeMap<String, EventId>,
    called_new: BTreeSet<String>,
    leases: BTreeMap<String, Seen>,
    decided: BTreeMap<EventId, usize>,
    /// As far as each journal was folded, and what it came to.
    folded: BTreeMap<TaskId, Folded>,
    /// The clock was turned so far ahead that an authorisation can have run out.
    jumped: bool,
}

/// A lease as it was last seen.
#[derive(Debug)]
struct Seen {
    lease: Lease,
    ran_out: bool,
}

#[derive(Clone, Debug)]
struct Folded {
    steps: u64,
    status: Status,
    result: Option<FinalResult>,
    /// A call of it came too late to be started.
    late: bool,
}

pub(super) fn seal() -> Seal {
    Seal::new(NodeId::from_bits(1), [7; 32])
}

impl Observer {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let ledger = {
            let _entered = runtime.enter();
            Ledger::start(store, seal(), Arc::new(Silent))
        };
        Self {
            runtime,
            ledger,
            walk: Walk::FROM_GENESIS,
            entries: Vec::new(),
            started: BTreeMap::new(),
            ran: BTreeMap::new(),
            settled: BTreeSet::new(),
            acknowledged: BTreeMap::new(),
            called_new: BTreeSet::new(),
            leases: BTreeMap::new(),
            decided: BTreeMap::new(),
            folded: BTreeMap::new(),
            jumped: false,
        }
    }

    fn all<T: Record>(&self) -> Result<Vec<T>, Broken> {
        self.ask(self.ledger.select(Select::<T>::all()))
    }

    fn ask<T>(&self, answer: impl Future<Output = Result<T, StoreError>>) -> Result<T, Broken> {
        self.runtime.block_on(answer).map_err(|error| Broken::new("readable", error.to_string()))
    }

    /// The clock was turned ahead.
    pub(super) fn turned(&mut self, now: Time) {
        self.jumped = true;
        for seen in self.leases.values_mut() {
            seen.ran_out |= now >= seen.lease.until;
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
    pub(super) fn running(&mut self, tool: &str, call: &str) -> Checked {
        let ran = self.ran.entry(call.to_owned()).or_default();
        *ran += 1;
        let (ran, started) = (*ran, self.started.get(call).copied().unwrap_or(0));
        if ran > started {
            let what = format!("{tool} {call} runs for the {ran}. time, and {started} starts are durable");
            return Err(Broken::new("durable-first", what));
        }
        if self.settled.contains(call) {
            return Err(Broken::new("runs-twice", format!("{tool} {call} runs after its end was durable")));
        }
        Ok(())
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
        self.leases()?;
        self.calls()?;
        self.journals()
    }

    /// Acknowledged is there, once, under the same id; nothing is there twice.
    fn events(&self) -> Checked {
        let mut keys = BTreeMap::new();
        for event in self.all::<Event>()? {
            if let Some(other) = keys.insert(event.key.clone(), event.id) {
                let what = format!("{} is the key of {other} and of {}", event.key, event.id);
                return Err(Broken::new("keys-unique", what));
            }
        }
        for (key, id) in &self.acknowledged {
            if keys.get(key) != Some(id) {
                let what = format!("{key} was acknowledged as {id}, kept is {:?}", keys.get(key));
                return Err(Broken::new("acknowledged", what));
            }
        }
        Ok(())
    }

    /// One decision per event; an event that there is another one about now.
    pub(super) fn admissions(&mut self) -> Result<Option<Broken>, Broken> {
        let mut events = BTreeMap::<EventId, usize>::new();
        for access in self.all::<Access>()? {
            *events.entry(access.event_id).or_default() += 1;
        }
        let more = events.iter().find(|(event, n)| **n > 1 && self.decided.get(*event) != Some(*n));
        let more = more.map(|(event, n)| format!("{event} was decided about {n} times"));
        self.decided = events;
        Ok(more.map(|what| Broken::new("one-admission", what)))
    }

    /// The chain goes on from where it was.
    fn audit(&mut self) -> Checked {
        let broken = |fault: &dyn std::fmt::Display| Broken::new("audit", fault.to_string());
        let stream = seal().stream();
        let new = Select::<AuditEntry>::by("stream", &stream).filter("seq", Op::Gt, &self.walk.seq());
        for entry in self.ask(self.ledger.select(new.ascending("seq")))? {
            self.walk.step(&entry).map_err(|fault| broken(&fault))?;
            self.entries.push(entry.hash);
            if entry.kind == "call.started" {
                *self.started.entry(entry.subject).or_default() += 1;
            }
        }
        let head = self.ask(self.ledger.first(Select::<AuditHead>::by("stream", &stream)))?;
        self.walk.end(head.as_ref(), &seal()).map_err(|fault| broken(&fault))
    }

    /// From genesis to the tip, and not an entry has changed since it was first seen.
    pub(super) fn whole_audit(&self) -> Checked {
        let verified = self.ask(self.ledger.verify_audit())?;
        if !verified.is_consistent() {
            return Err(Broken::new("audit", format!("{verified:?}")));
        }
        let entries = self.ask(self.ledger.select(Select::<AuditEntry>::all().ascending("seq")))?;
        let hashes: Vec<Digest> = entries.iter().map(|entry| entry.hash).collect();
        if hashes == self.entries { Ok(()) } else { Err(Broken::new("audit-grows", "an entry has changed")) }
    }

    /// Epochs rise by one, and nobody takes from a living process whose time is not over.
    fn leases(&mut self) -> Checked {
        for lease in self.all::<Lease>()? {
            let Some(seen) = self.leases.get(&lease.subject) else {
                let subject = lease.subject.clone();
                self.leases.insert(subject, Seen { lease, ran_out: false });
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
            self.leases.insert(lease.subject.clone(), Seen { lease, ran_out: false });
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

    /// Every journal folds, and the board says what it comes to.
    fn journals(&mut self) -> Checked {
        let mut journals: BTreeMap<TaskId, Vec<TaskStep>> = BTreeMap::new();
        for step in self.all::<TaskStep>()? {
            journals.entry(step.task).or_default().push(step);
        }
        for task in self.all::<AgentTask>()? {
            let mut rows = journals.remove(&task.task_id).unwrap_or_default();
            rows.sort_by_key(|row| row.n);
            let broken = |what: String| Broken::new("journal", format!("{}: {what}", task.task_id));
            for (n, row) in rows.iter().enumerate() {
                let before = n.checked_sub(1).and_then(|before| rows.get(before));
                if row.n != n as u64 || before.is_some_and(|before| before.epoch > row.epoch) {
                    return Err(broken(format!("after {before:?} comes {row:?}")));
                }
            }
            let board = (task.steps, task.status);
            let found = match rows.len() as u64 {
                0 => (0, Status::Queued),
                n => match self.folded.get(&task.task_id).filter(|folded| folded.steps == n) {
                    Some(folded) => (folded.steps, folded.status),
                    None => {
                        let folded = self.fold(&rows)?;
                        let found = (folded.steps, folded.status);
                        self.folded.insert(task.task_id, folded);
                        found
                    }
                },
            };
            if board != found {
                let what = format!("the board says {board:?}, the journal {found:?}");
                return Err(Broken::new("board", format!("{}: {what}", task.task_id)));
            }
        }
        match journals.keys().next() {
            None => Ok(()),
            Some(stray) => Err(Broken::new("board", format!("{stray} has steps and is not on the board"))),
        }
    }

    fn fold(&self, rows: &[TaskStep]) -> Result<Folded, Broken> {
        let broken = |what: String| Broken::new("journal", what);
        let mut steps = Vec::with_capacity(rows.len());
        for row in rows {
            let body = self.ask(self.ledger.body(&row.body))?;
            let body = body.ok_or_else(|| broken(format!("the body of {row:?} is gone")))?;
            let step: Step = serde_json::from_slice(&body).map_err(|error| broken(error.to_string()))?;
            steps.push(step);
        }
        let late = steps
            .iter()
            .any(|step| matches!(&step.input, Input::Returned { outcome, .. } if ran_out(outcome)));
        let task = Task::fold(steps.into_iter().map(|step| (step.input, step.at)));
        let task = task.map_err(|error| broken(error.to_string()))?;
        Ok(Folded { steps: task.steps(), status: task.status(), result: task.result().cloned(), late })
    }

    /// Every task is over, and has come to the right answer.
    pub(super) fn finished(&self) -> Checked {
        for task in self.all::<AgentTask>()? {
            let folded = self.folded.get(&task.task_id);
            let over = folded.filter(|folded| folded.status.is_over());
            let Some(over) = over else {
                return Err(Broken::new("finished", format!("{} is {:?}", task.task_id, task.status)));
            };
            self.right(task.task_id, over.status, over.result.as_ref())?;
        }
        Ok(())
    }

    fn right(&self, task: TaskId, status: Status, result: Option<&FinalResult>) -> Checked {
        let wrong = |what: &str| Broken::new("answer", format!("{task}: {what}"));
        let late = self.jumped && self.folded.get(&task).is_some_and(|folded| folded.late);
        let row = self.ask(self.ledger.task(task))?.ok_or_else(|| wrong("is not on the board"))?;
        let event = self.ask(self.ledger.event(row.payload))?.ok_or_else(|| wrong("its event is gone"))?;
        let asked = self.ask(self.ledger.text(&event.body))?.unwrap_or_default();
        let right = requests::answer(&asked).ok_or_else(|| wrong("nobody asked for it"))?;
        let text = result.map_or("", |result| result.text.as_str());
        if late || (status, text) == right {
            return Ok(());
        }
        let reason = result.and_then(|result| result.reason.as_deref());
        Err(wrong(&format!("`{asked}` came to {status:?}, `{text}`, {reason:?}")))
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

/// How often a task is among the names that are drawn from.
const fn weight(status: Status) -> usize {
    if status.is_over() { 1 } else { 4 }
}

fn ran_out(outcome: &Outcome) -> bool {
    outcome.as_ref().is_err_and(|failure| failure.message.contains("the authorisation ran out"))
}
