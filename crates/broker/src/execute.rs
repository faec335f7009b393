//! Running an authorised call, and what is recorded of it afterwards.

use std::sync::Arc;

use domain::call::{Call, Failure, Outcome};
use domain::canonical::{self, NotCanonical};
use domain::probe::{Point, Probe};
use domain::source::Text;
use domain::{Clock, Time, Trust};
use ledger::Batch;
use ledger::records::{Blob, CallStatus, Salt, ToolCall};
use policy::vpol::Vpol;
use serde_json::json;

use crate::door::{Authorized, Context, Ruled, entry};
use crate::kept::MadeFrom;
use crate::tool::{Handler, Registry};

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

/// A call whose authorisation ran out before it could start.
#[derive(Debug, PartialEq)]
pub struct Late(pub Call);

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
    ///
    /// # Errors
    /// If the arguments have no canonical form, so that nothing could be recorded of them.
    pub fn authorize(&self, call: Call, asker: &Asker<'_>) -> Result<Ruled, NotCanonical> {
        let handler = self.registry.handler(&call.tool);
        let form = handler.map_or(Ok(()), |handler| handler.accepts(&call.args));
        let vpol = Vpol::by_id(call.tags.vpol);
        let spec = self.registry.spec(&call.tool);
        let tool = spec.map(canonical::bytes).transpose()?.map(Blob::public);
        let request = Blob::personal(asker.request.text.clone().into_bytes(), asker.salt);
        let made_from = MadeFrom {
            call,
            tool: tool.as_ref().map(|tool| tool.hash),
            form,
            principal: asker.principal.clone(),
            trust: asker.trust,
            allowed: asker.allowed.to_vec(),
            vpol: vpol.as_ref().map(Vpol::id),
            request: request.hash,
            source: asker.request.source.clone(),
        };
        let decision = made_from.decide(spec, vpol.as_ref(), &asker.request.text);
        Ruled::new(decision, made_from, tool.into_iter().chain([request]).collect(), asker.salt)
    }

    /// Runs the call. A handler that hangs is left behind at its time limit, one that panics ends its own call;
    /// either way there is an outcome to record.
    ///
    /// # Errors
    /// If the authorisation ran out before the call could start. It has not run, and has to be asked for again.
    pub async fn execute(&self, authorized: Authorized<Call>) -> Result<Finished, Late> {
        let (call, row, not_after) =
            (authorized.call().clone(), authorized.row.clone(), authorized.not_after);
        // A clock that was set back says nothing about how long ago it was.
        let late = || {
            let now = self.clock.now();
            now >= not_after || now < row.timestamp
        };
        if late() {
            return Err(Late(call));
        }
        let (outcome, status) = match self.registry.handler(&call.tool).cloned() {
            None => (Err(Failure::logical(format!("there is no tool `{}`", call.tool))), CallStatus::Failed),
            Some(handler) => {
                self.probe.reached(Point::Running { tool: call.tool.as_str(), call: &call.id.to_string() });
                // Whoever was stopped at this very point looks again: nothing lies between this and the handler.
                if late() {
                    return Err(Late(call));
                }
                self.run(handler, authorized, &call).await
            }
        };
        Ok(Finished { call, outcome, row: ToolCall { status, ..row }, at: self.clock.now() })
    }

    async fn run(
        &self,
        handler: Arc<dyn Handler>,
        authorized: Authorized<Call>,
        call: &Call,
    ) -> (Outcome, CallStatus) {
        let (tool, id, spec) = (call.tool.to_string(), call.id.to_string(), handler.spec().clone());
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that calls a handler; a task of its own keeps a panic in"
        )]
        let running = tokio::spawn(async move { handler.call(authorized).await });
        let (outcome, status) = match tokio::time::timeout(spec.timeout, running).await {
            Ok(Ok(Ok(record))) => (Ok(record), CallStatus::Finished),
            Ok(Ok(Err(failure))) => (Err(failure), CallStatus::Failed),
            // It may have done some of its work, or may still be at it.
            unclear => {
                let why = match unclear {
                    Err(_elapsed) => format!("`{tool}` took longer than {} s", spec.timeout.as_secs()),
                    Ok(_panicked) => format!("`{tool}` broke down; this is a bug in it"),
                };
                let status = if spec.may_run_again() { CallStatus::Failed } else { CallStatus::Unknown };
                (Err(Failure::environmental(why)), status)
            }
        };
        self.probe.reached(Point::Ran { tool: &tool, call: &id });
        (outcome, status)
    }
}

/// On whose behalf a call is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    pub principal: &'a domain::principal::Principal,
    pub trust: Trust,
    pub allowed: &'a [String],
    pub request: &'a Text,
    /// Of the person whose words the chain carries.
    pub salt: &'a Salt,
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
    ///
    /// # Errors
    /// If the outcome has no canonical form.
    pub fn enter(&self, context: Context<'_>, batch: &mut Batch) -> Result<(), NotCanonical> {
        let status = self.row.status;
        let kind = format!("call.{}", status.name());
        let output = Blob::personal(canonical::bytes(&self.outcome)?, context.salt).hash;
        let duration = self.at.since(self.row.timestamp);
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let row =
            ToolCall { status, output: Some(output), duration_ms: Some(duration_ms), ..self.row.clone() };
        let detail =
            json!({ "tool": row.tool_id, "task": row.task_id, "output": output, "duration_ms": duration_ms });
        batch.put(&row).audit(entry(&row, &kind, context.trust, self.at, detail));
        Ok(())
    }
}
