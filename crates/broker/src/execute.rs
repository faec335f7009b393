//! Running an authorised call, and what is recorded of it afterwards.

use std::sync::Arc;
use std::time::Duration;

use domain::call::{Call, Failure, Outcome};
use domain::canonical::{self, NotCanonical};
use domain::limits::{FAILURE_BYTES, NESTED_LEVELS, STOPPING};
use domain::probe::Point;
use domain::{Stop, Time};
use ledger::records::{Blob, CallStatus, ToolCall};
use ledger::value::Ratio;
use ledger::{AuditEvent, Batch};
use serde_json::Value;

use crate::broker::Broker;
use crate::budget::Reservation;
use crate::door::{Authorized, Context, entry};
use crate::registry::Entry;
use crate::returned::{Artifact, Returned, Used};
use crate::secrets::Secrets;
use crate::tool::Reach;

/// A call that has run, until its records are in a batch.
#[derive(Debug)]
pub struct Finished {
    pub call: Call,
    pub outcome: Outcome,
    artifacts: Vec<Artifact>,
    used: Option<Used>,
    rating: Option<Ratio>,
    row: ToolCall,
    at: Time,
    again: bool,
}

/// A call that could not start: its authorisation had run out, or everything is to stop.
#[derive(Debug, PartialEq)]
pub struct Late {
    pub call: Call,
    /// What it holds of its budgets.
    pub reserved: Reservation,
}

/// How often a running call is asked whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);

/// What came of a run, before anything is known of its worth.
struct Ran {
    returned: Returned,
    status: CallStatus,
    rating: Option<Ratio>,
}

impl Ran {
    fn failed(failure: Failure, status: CallStatus, rating: Option<Ratio>) -> Self {
        Self { returned: failure.into(), status, rating }
    }
}

/// Whether a call that failed while everything was to stop is simply asked for again: an answer that was not shown. What
/// came of any other is on record before the halt is lifted.
fn may_go_on(tool: &Entry, ran: &Ran, halt: &Stop) -> bool {
    halt.is_asked() && ran.returned.outcome.is_err() && tool.spec.reach == Reach::Origin
}

impl Broker {
    /// Runs the call, unless everything is to stop (`halt`); once it runs, it is also stopped where nobody needs its result
    /// any more (`enough`). A handler that hangs is left behind at its time limit, one that
    /// panics ends its own call, one that floods or returns what its schema forbids has failed; whatever it does, there is
    /// an outcome to record.
    ///
    /// # Errors
    /// If it could not start: the authorisation had run out, or everything is to stop. It has not run, and has to be
    /// asked for again.
    #[tracing::instrument(
        level = "info",
        name = "call",
        skip_all,
        fields(tool = %authorized.call().tool, call = %authorized.call().id)
    )]
    pub async fn execute(
        &self,
        authorized: Authorized<Call>,
        halt: &Stop,
        enough: &Stop,
    ) -> Result<Finished, Box<Late>> {
        let (call, row, not_after) =
            (authorized.call().clone(), authorized.row.clone(), authorized.not_after);
        // A clock that was set back says nothing about how long ago it was.
        let late = || {
            let now = self.clock().now();
            now >= not_after || now < row.timestamp || halt.is_asked()
        };
        let not_started = |call: Call, row: &ToolCall| {
            Err(Box::new(Late { call, reserved: Reservation::read(row.reserved.as_deref()) }))
        };
        if late() {
            return not_started(call, &row);
        }
        let mut again = false;
        let ran = match self.registry().entry(&call.tool).cloned() {
            None => {
                let failure = Failure::logical(format!("there is no tool `{}`", call.tool));
                Ran::failed(failure, CallStatus::Failed, None)
            }
            Some(tool) => {
                let (name, id) = (call.tool.as_str(), call.id.to_string());
                self.probe().reached(Point::Running { tool: name, call: &id });
                // Whoever was stopped at this very point looks again: nothing lies between this and the handler.
                if late() {
                    return not_started(call, &row);
                }
                let ran = run(&tool, authorized, self.secrets(), [halt, enough]).await;
                self.probe().reached(Point::Ran { tool: name, call: &id });
                again = may_go_on(&tool, &ran, halt);
                ran
            }
        };
        let Ran { returned: Returned { outcome, artifacts, used }, status, rating } = ran;
        if let Err(failure) = &outcome {
            // What a tool says may hold content: the line names the class, the record has the rest.
            tracing::warn!(class = ?failure.class, status = status.name(), "the call failed");
            tracing::debug!(message = failure.message, "why the call failed");
        }
        let row = ToolCall { status, ..row };
        Ok(Finished { call, outcome, artifacts, used, rating, row, at: self.clock().now(), again })
    }
}

/// How a handler that did not return ended.
enum Broke {
    TooLong(Duration),
    Halted,
    NotNeeded,
    Panicked,
}

async fn run(tool: &Entry, authorized: Authorized<Call>, secrets: &Secrets, stops: [&Stop; 2]) -> Ran {
    let mut args = tool.whole(&authorized.call().args);
    // Only what the registration fixed is filled in: a placeholder that a caller wrote is text.
    for (name, fixed) in &tool.fixed {
        let mut filled = fixed.clone();
        if let Err(failure) = secrets.fill(&mut filled) {
            return Ran::failed(failure, CallStatus::Failed, None);
        }
        if let Some(argument) = args.get_mut(name) {
            *argument = filled;
        }
    }
    let timeout = authorized.at_most.map_or(tool.spec.timeout, |most| most.min(tool.spec.timeout));
    match called(tool, authorized.with_args(args), timeout, stops).await {
        Ok(returned) => judged(tool, returned, secrets),
        // It may have done some of its work, or may still be at it.
        Err(broke) => {
            let id = &tool.spec.id;
            let (why, rating) = match broke {
                Broke::TooLong(limit) => (format!("`{id}` took longer than {limit:?}"), None),
                Broke::Halted => (format!("`{id}` was stopped by a halt while it ran"), None),
                Broke::NotNeeded => (format!("`{id}` was stopped: the task was over"), None),
                Broke::Panicked => (format!("`{id}` broke down; this is a bug in it"), within(false)),
            };
            let again = tool.spec.may_run_again();
            let status = if again { CallStatus::Failed } else { CallStatus::Unknown };
            Ran::failed(Failure::interrupted(why), status, rating)
        }
    }
}

/// The one place that calls a handler.
async fn called(
    tool: &Entry,
    authorized: Authorized<Call>,
    timeout: Duration,
    [halt, enough]: [&Stop; 2],
) -> Result<Returned, Broke> {
    let (handler, stop) = (Arc::clone(&tool.handler), authorized.stop().clone());
    #[expect(clippy::disallowed_methods, reason = "a task of its own keeps a panic in")]
    let running = tokio::spawn(async move { handler.call(authorized).await });
    let mut running = Left { handler: running, stop: stop.clone() };
    let broke = tokio::select! {
        done = &mut running.handler => return done.map_err(|_panicked| Broke::Panicked),
        () = tokio::time::sleep(timeout) => Broke::TooLong(timeout),
        () = asked(halt) => Broke::Halted,
        () = asked(enough) => Broke::NotNeeded,
    };
    stop.now();
    // Whoever listens gets a moment to end with a clear answer.
    match tokio::time::timeout(STOPPING, &mut running.handler).await {
        Ok(done) => done.map_err(|_panicked| Broke::Panicked),
        Err(_elapsed) => Err(broke),
    }
}

/// A handler that nobody waits for any more is told so.
struct Left {
    handler: tokio::task::JoinHandle<Returned>,
    stop: Stop,
}

impl Drop for Left {
    fn drop(&mut self) {
        self.stop.now();
        self.handler.abort();
    }
}

async fn asked(halt: &Stop) {
    while !halt.is_asked() {
        tokio::time::sleep(LOOK).await;
    }
}

/// What a handler returned, as far as it may be: no secret in it, not too much of it, and in the form it promised.
fn judged(tool: &Entry, returned: Returned, secrets: &Secrets) -> Ran {
    let Returned { outcome, artifacts, used } = secrets.redact(returned);
    let record = match outcome {
        Ok(record) => record,
        Err(failure) => {
            let message = shortened(failure.message);
            let outcome = Err(Failure { message, ..failure });
            return Ran {
                returned: Returned { outcome, artifacts, used },
                status: CallStatus::Failed,
                rating: None,
            };
        }
    };
    let (id, most) = (&tool.spec.id, tool.spec.output_bytes);
    let wrong = if exceeds(&record, most) {
        Err(format!("`{id}` returned more than {most} bytes; it has run, and its result is not kept"))
    } else if let Err(error) = canonical::bytes_within(&record, NESTED_LEVELS) {
        let why = error.why();
        Err(format!("`{id}` returned what cannot be kept; it has run, and its result is not kept: {why}"))
    } else {
        let wrong = |why| format!("`{id}` returned what its schema forbids; it has run: {why}");
        tool.returns(&record).map_err(wrong)
    };
    let rating = within(wrong.is_ok());
    let status = if wrong.is_ok() { CallStatus::Finished } else { CallStatus::Failed };
    let outcome = wrong.map(|()| record).map_err(|why| Failure::logical(shortened(why)));
    Ran { returned: Returned { outcome, artifacts, used }, status, rating }
}

/// The part of a rating that is known at once: was the output what it should be?
fn within(expected: bool) -> Option<Ratio> {
    Ratio::new(if expected { 1.0 } else { 0.0 }).ok()
}

/// Of the parts that are known.
fn mean(one: Option<Ratio>, other: Option<Ratio>) -> Option<Ratio> {
    match (one, other) {
        (Some(one), Some(other)) => Ratio::new(f64::midpoint(one.get(), other.get())).ok(),
        (known, None) | (None, known) => known,
    }
}

fn shortened(message: String) -> String {
    if message.len() <= FAILURE_BYTES {
        return message;
    }
    let mut end = FAILURE_BYTES;
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", message.get(..end).unwrap_or_default())
}

/// Whether a value is longer than this, without writing it down.
fn exceeds(value: &Value, most: usize) -> bool {
    struct Room(usize);
    impl std::io::Write for Room {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::FileTooLarge)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Room(most), value).is_err()
}

impl Finished {
    /// A call that was started before a crash and whose fate nobody knows.
    #[must_use]
    pub fn unknown(call: Call, row: ToolCall, at: Time) -> Self {
        let why = format!(
            "`{}` was started and its process ended: it may have run, and it is not tried again",
            call.tool
        );
        let row = ToolCall { status: CallStatus::Unknown, ..row };
        let outcome = Err(Failure::interrupted(why));
        Self { call, outcome, artifacts: Vec::new(), used: None, rating: None, row, at, again: false }
    }

    /// Puts into the batch that a call which waited for a person did not run. A no is held against it; silence, or other
    /// arguments, are not.
    pub fn refuse(row: ToolCall, rejected: bool, context: Context<'_>, at: Time, batch: &mut Batch) {
        let alignment_rating = if rejected { within(false) } else { None };
        let row = ToolCall { status: CallStatus::Refused, alignment_rating, timestamp: at, ..row };
        let refused = entry(&AuditEvent::CallRefused(&row), &row, context.trust, at);
        batch.put(&row).audit(refused.with("rejected", rejected));
    }

    #[must_use]
    pub const fn status(&self) -> CallStatus {
        self.row.status
    }

    /// Whether it was stopped, did no harm, and can be asked for again: then nothing is to be recorded of it yet.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        self.again
    }

    /// Puts what came of the call into the batch, and settles its budgets.
    ///
    /// # Errors
    /// If the outcome has no canonical form.
    pub fn enter(&self, context: Context<'_>, batch: &mut Batch) -> Result<(), NotCanonical> {
        let status = self.row.status;
        let output = Blob::personal(canonical::bytes(&self.outcome)?, context.salt).hash;
        let took = self.at.since(self.row.timestamp);
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let mut artifacts = None;
        if !self.artifacts.is_empty() {
            let list = Blob::personal(canonical::bytes(&self.artifacts)?, context.salt);
            artifacts = Some(list.hash);
            batch.put(&list);
        }
        let rating = mean(self.row.alignment_rating, self.rating);
        let row = ToolCall {
            status,
            output: Some(output),
            duration_ms: Some(duration_ms),
            artifacts,
            alignment_rating: rating,
            ..self.row.clone()
        };
        // Nobody knows what an unknown one used: then it is all that it held.
        if status != CallStatus::Unknown {
            Reservation::read(self.row.reserved.as_deref()).settle(took, self.used, batch);
        }
        batch.put(&row).audit(entry(&AuditEvent::of_call(&row), &row, context.trust, self.at));
        Ok(())
    }
}
