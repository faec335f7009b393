//! Running an authorised call, and what is recorded of it afterwards.

use std::sync::Arc;

use domain::call::{Call, Failure, Outcome};
use domain::probe::{Point, Probe};
use domain::source::Text;
use domain::{Clock, Time, Trust};
use ledger::Batch;
use ledger::records::{CallStatus, ToolCall};
use policy::vpol::Vpol;
use serde_json::json;

use crate::decide::{Decision, Facts, decide};
use crate::door::{Authorized, Context, entry, personal_digest};
use crate::tool::Registry;

/// The door itself: the tools there are, and the one place from which they are called.
#[derive(Clone)]
pub struct Broker {
    registry: Registry,
    clock: Arc<dyn Clock>,
    probe: Arc<dyn Probe>,
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broker").field("registry", &self.registry).finish_non_exhaustive()
    }
}

/// A call that has run, until its records are in a batch.
#[derive(Debug)]
pub struct Finished {
    pub call: Call,
    pub outcome: Outcome,
    row: ToolCall,
    at: Time,
}

impl Broker {
    #[must_use]
    pub fn new(registry: Registry, clock: Arc<dyn Clock>, probe: Arc<dyn Probe>) -> Self {
        Self { registry, clock, probe }
    }

    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Asks every layer about a call, with the facts that the registry adds.
    #[must_use]
    pub fn authorize(&self, call: &Call, asker: &Asker<'_>) -> Decision {
        let handler = self.registry.handler(&call.tool);
        let form = handler.map_or(Ok(()), |handler| handler.accepts(&call.args));
        let vpol = Vpol::by_id(call.tags.vpol);
        decide(&Facts {
            call,
            tool: self.registry.spec(&call.tool),
            form: form.as_ref().map(|&()| ()).map_err(String::as_str),
            principal: asker.principal,
            trust: asker.trust,
            allowed: asker.allowed,
            vpol: vpol.as_ref(),
            request: asker.request,
        })
    }

    /// Runs the call. A handler that hangs is left behind at its time limit, one that panics ends its own call;
    /// either way there is an outcome to record.
    pub async fn execute(&self, authorized: Authorized<Call>) -> Finished {
        let (call, row, not_after) =
            (authorized.call().clone(), authorized.row.clone(), authorized.not_after);
        let (tool, id) = (call.tool.to_string(), call.id.to_string());
        let outcome = match self.registry.handler(&call.tool).cloned() {
            None => Err(Failure::logical(format!("there is no tool `{tool}`"))),
            Some(_) if self.clock.now() > not_after => {
                Err(Failure::environmental("the authorisation ran out before the call could start"))
            }
            Some(handler) => {
                let limit = handler.spec().timeout;
                self.probe.reached(Point::Running { tool: &tool, call: &id });
                #[expect(
                    clippy::disallowed_methods,
                    reason = "the one place that calls a handler; a task of its own keeps a panic in"
                )]
                let running = tokio::spawn(async move { handler.call(authorized).await });
                let outcome = match tokio::time::timeout(limit, running).await {
                    Ok(Ok(outcome)) => outcome,
                    Ok(Err(_panicked)) => {
                        Err(Failure::logical(format!("`{tool}` broke down; this is a bug in it")))
                    }
                    Err(_elapsed) => Err(Failure::environmental(format!(
                        "`{tool}` took longer than {} s",
                        limit.as_secs()
                    ))),
                };
                self.probe.reached(Point::Ran { tool: &tool, call: &id });
                outcome
            }
        };
        Finished { call, outcome, row, at: self.clock.now() }
    }
}

/// On whose behalf a call is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    pub principal: &'a domain::principal::Principal,
    pub trust: Trust,
    pub allowed: &'a [String],
    pub request: &'a Text,
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
        Self { call, outcome: Err(Failure::environmental(why)), row, at }
    }

    /// Puts what came of the call into the batch.
    pub fn enter(&self, context: Context<'_>, batch: &mut Batch) {
        let (status, kind) = match (&self.outcome, self.row.status) {
            (_, CallStatus::Unknown) => (CallStatus::Unknown, "call.unknown"),
            (Ok(_), _) => (CallStatus::Finished, "call.finished"),
            (Err(_), _) => (CallStatus::Failed, "call.failed"),
        };
        let output = personal_digest(&self.outcome, context.salt);
        let duration = self.at.since(self.row.timestamp);
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let row =
            ToolCall { status, output: Some(output), duration_ms: Some(duration_ms), ..self.row.clone() };
        let detail =
            json!({ "tool": row.tool_id, "task": row.task_id, "output": output, "duration_ms": duration_ms });
        batch.put(&row).audit(entry(&row, kind, context.trust, self.at, detail));
    }
}
