//! The bus is the committed journal: nothing is on it that is not durable.
//!
//! A reader that must miss nothing takes a [`JournalTap`]: it reads the journal by sequence number, whichever process
//! wrote a step. A display takes a [`StepFeed`]: this process publishes a step right after the commit. A slow display
//! misses steps and learns how many; the journal has them. No publisher ever waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::Time;
use domain::id::TaskId;
use engine::task::Step;
use ledger::Ledger;
use llm::Piece;
use serde::Serialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::journal;
use domain::problem::{Code, Problem};

/// Steps that a display may be behind before it misses some.
const BEHIND: usize = 256;
/// Steps that a tap reads at once.
const PAGE: u32 = 256;
/// How often a tap looks for steps of other processes.
const LOOK: Duration = Duration::from_millis(250);

/// A step that is durable.
#[derive(Clone, Debug)]
pub struct PublishedStep {
    pub task: TaskId,
    pub step: Arc<Step>,
}

/// A part of a model's reply, while it comes in. After [`ModelDelta::Restart`], what came before counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelDelta {
    Text(String),
    /// What the model says to itself.
    Thought(String),
    /// Of the arguments of a call.
    Call(String),
    /// The same ask is put again, to this model or another.
    Restart,
}

impl From<Piece<'_>> for ModelDelta {
    fn from(piece: Piece<'_>) -> Self {
        match piece {
            Piece::Text(text) => Self::Text(text.to_owned()),
            Piece::Thought(text) => Self::Thought(text.to_owned()),
            Piece::Call(text) => Self::Call(text.to_owned()),
            Piece::Again => Self::Restart,
        }
    }
}

/// A delta, and how many steps were published before it.
#[derive(Clone, Debug)]
struct PublishedDelta {
    task: TaskId,
    delta: ModelDelta,
    after: u64,
}

#[derive(Clone, Debug)]
pub struct Bus {
    steps: broadcast::Sender<PublishedStep>,
    /// Apart from the steps, so that a long reply pushes no step out.
    deltas: broadcast::Sender<PublishedDelta>,
    published: Arc<AtomicU64>,
}

impl Default for Bus {
    fn default() -> Self {
        Self {
            steps: broadcast::Sender::new(BEHIND),
            deltas: broadcast::Sender::new(BEHIND),
            published: Arc::default(),
        }
    }
}

impl Bus {
    /// Publishes a step once it is durable, never before.
    pub(crate) fn publish(&self, task: TaskId, step: Step) {
        self.published.fetch_add(1, Ordering::AcqRel);
        // Without a subscriber there is nothing to do.
        drop(self.steps.send(PublishedStep { task, step: Arc::new(step) }));
    }

    /// Publishes what a model says while it says it. Nothing follows from it: the reply is a step.
    pub(crate) fn publish_delta(&self, task: TaskId, piece: Piece<'_>) {
        if self.deltas.receiver_count() > 0 {
            let after = self.published.load(Ordering::Acquire);
            drop(self.deltas.send(PublishedDelta { task, delta: piece.into(), after }));
        }
    }

    #[must_use]
    pub fn steps(&self) -> StepFeed {
        let (steps, deltas) = (self.steps.subscribe(), self.deltas.subscribe());
        StepFeed { steps, deltas, passed: self.published.load(Ordering::Acquire), missed: 0 }
    }

    /// Everything after this sequence number; 0 is the beginning.
    #[must_use]
    pub(crate) fn tap(&self, ledger: Arc<Ledger>, after: i64) -> JournalTap {
        JournalTap { ledger, after, woken: self.steps.subscribe() }
    }
}

/// For a display. A slow one misses steps and learns how many; the journal has them.
#[derive(Debug)]
pub struct StepFeed {
    steps: broadcast::Receiver<PublishedStep>,
    deltas: broadcast::Receiver<PublishedDelta>,
    /// Steps that were published up to the last one that this feed returned or missed.
    passed: u64,
    missed: u64,
}

/// What a display gets to see.
#[derive(Clone, Debug)]
pub enum DisplayEvent {
    Step(PublishedStep),
    Delta(TaskId, ModelDelta),
    /// So many steps went by unseen.
    Missed(u64),
}

impl StepFeed {
    /// Waits for the next event; `None` when the program ends. A delta that was published before the last returned step
    /// is left out: the step says the same, as a whole.
    pub async fn next(&mut self) -> Option<DisplayEvent> {
        loop {
            tokio::select! {
                biased;
                step = self.steps.recv() => match step {
                    Ok(step) => return Some(self.pass(step)),
                    Err(RecvError::Lagged(missed)) => return Some(self.miss(missed)),
                    Err(RecvError::Closed) => return None,
                },
                delta = self.deltas.recv() => match delta {
                    Ok(PublishedDelta { after, .. }) if after < self.passed => {}
                    Ok(PublishedDelta { task, delta, .. }) => return Some(DisplayEvent::Delta(task, delta)),
                    // A part of a reply that is missing is not made up for.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }

    /// The next event that is there already.
    pub fn try_next(&mut self) -> Option<DisplayEvent> {
        match self.steps.try_recv() {
            Ok(step) => return Some(self.pass(step)),
            Err(TryRecvError::Lagged(missed)) => return Some(self.miss(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => {}
        }
        loop {
            match self.deltas.try_recv() {
                Ok(PublishedDelta { after, .. }) if after < self.passed => {}
                Ok(PublishedDelta { task, delta, .. }) => return Some(DisplayEvent::Delta(task, delta)),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
    }

    fn pass(&mut self, step: PublishedStep) -> DisplayEvent {
        self.passed += 1;
        DisplayEvent::Step(step)
    }

    fn miss(&mut self, missed: u64) -> DisplayEvent {
        self.passed += missed;
        self.missed += missed;
        DisplayEvent::Missed(missed)
    }

    /// How many steps it has missed in all.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.missed
    }
}

/// For somebody who must miss nothing.
#[derive(Debug)]
pub struct JournalTap {
    ledger: Arc<Ledger>,
    after: i64,
    /// Only wakes: what is there is read from the ledger.
    woken: broadcast::Receiver<PublishedStep>,
}

/// A step as a tap finds it.
#[derive(Clone, Debug)]
pub struct TappedStep {
    pub seq: i64,
    pub task: TaskId,
    /// Nothing if its content was erased or cannot be read.
    pub step: Option<Step>,
}

/// A step as a line.
#[derive(Clone, Debug, Serialize)]
pub struct TappedLine {
    pub seq: i64,
    pub task: TaskId,
    pub n: Option<u64>,
    pub at: Option<Time>,
    pub input: Option<&'static str>,
}

impl TappedStep {
    #[must_use]
    pub fn line(&self) -> TappedLine {
        let step = self.step.as_ref();
        TappedLine {
            seq: self.seq,
            task: self.task,
            n: step.map(|step| step.n),
            at: step.map(|step| step.at),
            input: step.map(|step| step.input.name()),
        }
    }
}

impl JournalTap {
    /// The next steps, in the order they were committed; waits until there are some.
    ///
    /// # Errors
    /// If the ledger cannot be read. Nothing is lost: the next call goes on from the same place.
    pub async fn next(&mut self) -> Result<Vec<TappedStep>, Problem> {
        loop {
            let found = self.now().await?;
            if !found.is_empty() {
                return Ok(found);
            }
            // A wake-up that is missed costs a moment, never a step.
            drop(tokio::time::timeout(LOOK, self.woken.recv()).await);
        }
    }

    /// The steps that are there now, possibly none.
    ///
    /// # Errors
    /// As [`JournalTap::next`].
    pub async fn now(&mut self) -> Result<Vec<TappedStep>, Problem> {
        let mut found = Vec::new();
        let mut last = self.after;
        for row in self.ledger.steps_after(self.after, PAGE).await? {
            last = row.seq.0.unwrap_or(last);
            let step = match journal::step_of(&self.ledger, &row).await {
                // A reader of the steps behind it would wait for ever.
                Err(problem) if problem.code == Code::DATABASE_DAMAGED => None,
                step => step?,
            };
            found.push(TappedStep { seq: last, task: row.task, step });
        }
        self.after = last;
        Ok(found)
    }
}
