//! The bus is the committed journal: nothing is on it that is not durable.
//!
//! What must miss nothing takes a [`Tap`]: it reads the journal by sequence number, from whichever process a step
//! came. Displays take a [`Display`]: they are told by this process, right after the commit, and whoever is slow
//! misses some and is told how many. No publisher ever waits.

use std::sync::Arc;
use std::time::Duration;

use domain::Time;
use domain::id::TaskId;
use engine::task::Step;
use ledger::Ledger;
use serde::Serialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::pipeline;
use crate::problem::{Code, Problem};

/// Steps that a display may be behind before it misses some.
const BEHIND: usize = 256;
/// Steps that a tap reads at once.
const PAGE: u32 = 256;
/// How often a tap looks for steps of other processes.
const LOOK: Duration = Duration::from_millis(250);

/// A step that is durable.
#[derive(Clone, Debug)]
pub struct Posted {
    pub task: TaskId,
    pub step: Arc<Step>,
}

#[derive(Clone, Debug)]
pub struct Bus {
    displays: broadcast::Sender<Posted>,
}

impl Default for Bus {
    fn default() -> Self {
        Self { displays: broadcast::Sender::new(BEHIND) }
    }
}

impl Bus {
    /// Called once the step is durable, never before.
    pub(crate) fn publish(&self, task: TaskId, step: Step) {
        // Nobody listening is no failure.
        drop(self.displays.send(Posted { task, step: Arc::new(step) }));
    }

    #[must_use]
    pub fn display(&self) -> Display {
        Display { steps: self.displays.subscribe(), missed: 0 }
    }

    /// Everything after this sequence number; 0 is the beginning.
    #[must_use]
    pub(crate) fn tap(&self, ledger: Arc<Ledger>, after: i64) -> Tap {
        Tap { ledger, after, woken: self.displays.subscribe() }
    }
}

/// For somebody who watches. Lossy.
#[derive(Debug)]
pub struct Display {
    steps: broadcast::Receiver<Posted>,
    missed: u64,
}

/// What a display gets to see.
#[derive(Clone, Debug)]
pub enum Shown {
    Step(Posted),
    /// So many steps went by while nobody looked; the journal has them.
    Missed(u64),
}

impl Display {
    /// Nothing when the program ends.
    pub async fn next(&mut self) -> Option<Shown> {
        match self.steps.recv().await {
            Ok(posted) => Some(Shown::Step(posted)),
            Err(RecvError::Lagged(missed)) => {
                self.missed += missed;
                Some(Shown::Missed(missed))
            }
            Err(RecvError::Closed) => None,
        }
    }

    /// How many it has missed in all.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.missed
    }
}

/// For somebody who must miss nothing.
#[derive(Debug)]
pub struct Tap {
    ledger: Arc<Ledger>,
    after: i64,
    /// Only wakes: what is there is read from the ledger.
    woken: broadcast::Receiver<Posted>,
}

/// A step as a tap finds it.
#[derive(Clone, Debug)]
pub struct Tapped {
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

impl Tapped {
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

impl Tap {
    /// The next steps, in the order they were committed; waits until there are some.
    ///
    /// # Errors
    /// If the ledger cannot be read. Nothing is lost: the next call goes on from the same place.
    pub async fn next(&mut self) -> Result<Vec<Tapped>, Problem> {
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
    /// As [`Tap::next`].
    pub async fn now(&mut self) -> Result<Vec<Tapped>, Problem> {
        let mut found = Vec::new();
        let mut last = self.after;
        for row in self.ledger.steps_after(self.after, PAGE).await? {
            last = row.seq.0.unwrap_or(last);
            let step = match pipeline::step_of(&self.ledger, &row).await {
                // A reader of the steps behind it would wait for ever.
                Err(problem) if problem.code == Code::DATABASE_DAMAGED => None,
                step => step?,
            };
            found.push(Tapped { seq: last, task: row.task, step });
        }
        self.after = last;
        Ok(found)
    }
}
