//! What is under way outside: calls of tools, and asks of models. Each is begun once the batch that wanted it is durable,
//! and all of them run side by side; what comes back is heard as it comes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use broker::{Finished, Late, Pending};
use domain::Stop;
use domain::ask::Subject;
use domain::id::CallId;
use domain::limits::{PARALLEL_ASKS, PARALLEL_CALLS};
use ledger::{Receipt, StoreError};
use llm::{Heard, Later};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::{BEATS_PER_LEASE, HALT_LOOK, TaskDriver};
use crate::ask_model::{self, AskModel};
use domain::problem::{Code, Problem};

/// How long what came back waits for what may come right after it.
const GATHER: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(super) struct InFlight {
    calls: JoinSet<Result<Finished, Box<Late>>>,
    asks: JoinSet<(Subject, Heard)>,
    /// Calls whose records are in the batch, and asks that it wants.
    pub(super) pending: Vec<Pending>,
    asking: AskQueue,
    /// Asks that are calls.
    pub(super) quoted: BTreeMap<CallId, ModelCall>,
    /// What they ask, until they take off.
    outside: PendingAsks,
    /// Set when nobody needs the results of calls any more that run.
    enough: Stop,
    /// Whether a call could not start because its authorisation had run out.
    pub(super) late: bool,
}

/// Whoever is asked need not be shared between threads, but a driver is: the lock is never contended, because only who
/// has the driver to themselves gets at it.
#[derive(Default)]
struct AskQueue(Mutex<VecDeque<(Subject, Later)>>);

impl AskQueue {
    fn all(&mut self) -> &mut VecDeque<(Subject, Later)> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An ask that is a call: which, and where its reply will be.
pub(super) struct ModelCall {
    pub(super) subject: Subject,
    pub(super) models: Arc<AskModel>,
}

/// As above.
#[derive(Default)]
struct PendingAsks(Mutex<BTreeMap<CallId, Later>>);

/// What has come back.
#[derive(Default)]
pub(super) struct Arrivals {
    pub(super) finished: Vec<Finished>,
    pub(super) late: Vec<Late>,
    pub(super) heard: Vec<(Subject, Heard)>,
}

impl Arrivals {
    fn call(&mut self, came: Result<Finished, Box<Late>>) {
        match came {
            Ok(finished) => self.finished.push(finished),
            Err(late) => self.late.push(*late),
        }
    }

    /// In the order of their ids, not of their speed: what came back together leaves equal journals.
    fn sorted(mut self) -> Self {
        self.finished.sort_by_key(|finished| finished.call.id);
        self.late.sort_by_key(|late| late.call.id);
        self.heard.sort_by_key(|(subject, _)| *subject);
        self
    }
}

impl InFlight {
    pub(super) fn ask(&mut self, subject: Subject, later: Later) {
        self.asking.all().push_back((subject, later));
    }

    /// The call is in the batch; what it asks waits until that is durable.
    pub(super) fn ask_outside(&mut self, quoted: ModelCall, pending: Pending, later: Later) {
        let call = pending.row().id;
        self.quoted.insert(call, quoted);
        self.outside.0.get_mut().unwrap_or_else(PoisonError::into_inner).insert(call, later);
        self.pending.push(pending);
    }

    /// What this call asks.
    pub(super) fn later_of(&mut self, call: CallId) -> Option<Later> {
        self.outside.0.get_mut().unwrap_or_else(PoisonError::into_inner).remove(&call)
    }

    pub(super) fn has_room_for_a_call(&self) -> bool {
        (self.calls.len() + self.pending.len()).saturating_sub(self.quoted.len()) < PARALLEL_CALLS
    }

    pub(super) fn has_room_for_an_ask(&self) -> bool {
        self.quoted.len() < PARALLEL_ASKS
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty() || !self.pending.is_empty()
    }

    /// Whether something that holds a share of a budget is under way or about to be.
    pub(super) fn is_under_way(&self) -> bool {
        !self.calls.is_empty() || !self.pending.is_empty()
    }

    pub(super) fn has_asks_under_way(&self) -> bool {
        !self.quoted.is_empty()
    }

    /// Whether nothing is under way, and nothing is about to be.
    pub(super) fn is_empty(&mut self) -> bool {
        let begun = !self.calls.is_empty() || !self.asks.is_empty();
        !begun && self.pending.is_empty() && self.asking.all().is_empty()
    }

    /// The task has its result: nobody listens to models any more, and what runs is told to stop.
    pub(super) fn is_enough(&mut self) {
        self.asking.all().clear();
        self.asks.abort_all();
        self.enough.now();
    }

    /// Those who would be asked.
    pub(super) fn into_asks(mut self) -> VecDeque<(Subject, Later)> {
        std::mem::take(self.asking.all())
    }

    /// Forgets what was not begun.
    pub(super) fn forget_plans(&mut self) {
        for pending in self.pending.drain(..) {
            self.quoted.remove(&pending.row().id);
        }
        self.outside = PendingAsks::default();
        self.asking.all().clear();
    }
}

impl TaskDriver<'_> {
    /// Begins what the receipt covers.
    pub(super) fn take_off(&mut self, receipt: &Receipt) -> Result<(), Problem> {
        for pending in std::mem::take(&mut self.flight.pending) {
            let needed_anyway = pending.row().tool_id.as_str() == engine::task::DELIVER;
            if let Some(later) = self.flight.later_of(pending.row().id) {
                let models = &self.authority.models;
                models.put(pending.row().id, self.run.services.timing.model, later);
            }
            let authorized = pending.authorize(receipt, self.leased_until).map_err(Problem::internal)?;
            let (broker, halt) = (self.broker.clone(), self.halt.clone());
            let enough = if needed_anyway { Stop::default() } else { self.flight.enough.clone() };
            let call = async move { broker.execute(authorized, &halt, &enough).await };
            self.flight.calls.spawn(call.in_current_span());
        }
        let most = self.run.services.timing.model;
        while self.flight.asks.len() < PARALLEL_ASKS {
            let Some((subject, later)) = self.flight.asking.all().pop_front() else { break };
            self.flight.asks.spawn(async move { (subject, hear_within(most, later).await) });
        }
        Ok(())
    }

    /// Waits until something comes back, or somebody has answered, and takes along what came with it. Says now and then
    /// that this driver is still there, and looks whether everything is to stop.
    pub(super) async fn land(&mut self) -> Result<Arrivals, Problem> {
        let mut silent = Duration::ZERO;
        let beat = self.run.services.timing.lease / BEATS_PER_LEASE;
        let pause = beat.min(HALT_LOOK);
        loop {
            let mut landed = Arrivals::default();
            let came = tokio::select! {
                Some(call) = self.flight.calls.join_next() => {
                    landed.call(call.map_err(Problem::internal)?);
                    true
                }
                Some(ask) = self.flight.asks.join_next() => {
                    // One that was called off has nothing to say.
                    landed.heard.extend(ask.ok());
                    true
                }
                () = tokio::time::sleep(pause) => false,
                else => return Ok(landed),
            };
            if came {
                self.take_along(&mut landed).await?;
                return Ok(landed.sorted());
            }
            silent += pause;
            if silent >= beat {
                silent = Duration::ZERO;
                match self.beat().await {
                    Err(problem) if problem.code == Code::DRIVEN_ELSEWHERE => return Err(problem),
                    // If the ledger is away for a moment, the calls go on; the batch of what they came to decides.
                    Ok(()) | Err(_) => {}
                }
            }
            self.look_around().await?;
            // Who is answered goes on, however long others are at it.
            if !self.task.waiting().is_empty() && Box::pin(self.hear()).await? {
                return Ok(landed);
            }
        }
    }

    /// Whatever else is there within a moment, which is less than another barrier would take; where everything goes in
    /// step, all of it.
    async fn take_along(&mut self, landed: &mut Arrivals) -> Result<(), Problem> {
        let moment = if self.run.services.timing.in_step { Duration::MAX } else { GATHER };
        while let Ok(Some(call)) = tokio::time::timeout(moment, self.flight.calls.join_next()).await {
            landed.call(call.map_err(Problem::internal)?);
        }
        while let Some(ask) = self.flight.asks.try_join_next() {
            landed.heard.extend(ask.ok());
        }
        Ok(())
    }

    /// Everything that runs comes to its end; nobody is asked any more.
    pub(super) async fn land_all(&mut self) -> Result<Arrivals, Problem> {
        self.flight.forget_plans();
        self.flight.asks.abort_all();
        let mut landed = Arrivals::default();
        while let Some(call) = self.flight.calls.join_next().await {
            landed.call(call.map_err(Problem::internal)?);
        }
        Ok(landed.sorted())
    }

    /// Whether everything is to stop, or somebody else has the task.
    async fn look_around(&mut self) -> Result<(), Problem> {
        let ledger = &self.run.services.ledger;
        // If nobody can tell because another program has changed it, what runs is stopped, too.
        let halted = matches!(ledger.halted().await, Ok(Some(_)) | Err(StoreError::Unverified(_)));
        if self.run.kernel.stop.is_asked() || halted {
            self.halt.now();
        }
        match ledger.lease(&self.task.id().to_string()).await {
            Ok(Some(lease)) if lease.epoch > self.run.lease.epoch => {
                self.halt.now();
                let _stopped = self.land_all().await?;
                Err(super::taken_away())
            }
            _ => Ok(()),
        }
    }
}

pub(super) async fn hear_within(most: Duration, later: Later) -> Heard {
    tokio::time::timeout(most, later).await.unwrap_or_else(|_elapsed| ask_model::give_up(most))
}
