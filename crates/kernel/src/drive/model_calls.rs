//! Asks that leave this process. Each is a call: authority decides about it, its budgets are reserved with its record, and
//! it begins when that is durable.

use std::sync::Arc;

use broker::budget::{Reservation, Standing};
use broker::{Context, Finished, Prepared};
use domain::ask::{Ask, Silence, Subject, Unanswered, Usage};
use domain::call::{Call, Chooser};
use domain::id::CallId;
use ledger::records::{CallStatus, Halt, ToolCall};
use ledger::table::Record as _;
use ledger::{CommitError, Refusal};
use llm::{Heard, Later, Quote};

use super::TaskDriver;
use super::in_flight::ModelCall;
use super::rule::Placement;
use crate::ask_model::{self, ASK_MODEL};
use domain::problem::Problem;

impl TaskDriver<'_> {
    /// Puts an ask before the broker. One that may not be put is not answered, and the reply says why; nobody waits for a
    /// person's word on a thought.
    ///
    /// Says whether it has to wait: what it would need is held by others that are under way, and some of it may come back.
    pub(super) async fn ask_outside(
        &mut self,
        ask: &Ask,
        quote: Quote,
        later: Later,
    ) -> Result<Placement, Problem> {
        let (subject, now) = (ask.subject(), self.run.services.now());
        let id = self.late_asks.remove(&subject).unwrap_or_else(|| self.run.services.id());
        let call = self.call_of(id, ask_model::args(ask, quote))?;
        let (ruled, mut standing, before) = self.decide(&call, now).await?;
        let (opening, exhausted) = (self.task.opening(), ruled.exhausted());
        if exhausted && self.flight.is_under_way() {
            if before.is_some() {
                self.late_asks.insert(subject, id);
            }
            self.put_off(id, standing, before);
            return Ok(Placement::Waits);
        }
        let context = Context { agent: &opening.agent, trust: opening.trust, salt: self.run.salt() };
        match Prepared::new(ruled, context, now) {
            Ok(prepared) => {
                let pending = prepared.enter(before.as_ref(), &mut standing, &mut self.batch);
                self.standing = Some(standing);
                let models = Arc::clone(&self.authority.models);
                self.flight.ask_outside(ModelCall { subject, models }, pending, later);
                Ok(Placement::Done)
            }
            Err(refused) => {
                let (decision, kind) =
                    (refused.decision(), if exhausted { Silence::Exhausted } else { Silence::Refused });
                let why = [vec![decision.to_string()], decision.instead()].concat().join("; ");
                refused.enter(before.as_ref(), &mut self.batch);
                self.standing = Some(standing);
                self.replied(subject, Err(Unanswered::new(kind, why)), None)?;
                Ok(Placement::Done)
            }
        }
    }

    fn call_of(&self, id: CallId, args: serde_json::Value) -> Result<Call, Problem> {
        Ok(Call {
            id,
            tool: ASK_MODEL.parse().map_err(Problem::internal)?,
            args,
            task: self.task.id(),
            subtask: None,
            chosen_by: Chooser::Rule,
            tags: self.task.opening().tags,
        })
    }

    /// What came of an ask that is over: which it was, and the reply. Nothing where it was broken off because everything is to
    /// stop: it is still open, and is put again by whoever goes on.
    pub(super) fn heard_outside(&mut self, finished: &Finished) -> Option<(Subject, Heard)> {
        let ModelCall { subject, models } = self.flight.quoted.remove(&finished.call.id)?;
        let stopping = self.halt.is_asked() || self.run.kernel.stop.is_asked();
        match models.take(finished.call.id) {
            Some(heard) => Some((subject, heard)),
            None if stopping => None,
            None => {
                let why = finished.outcome.as_ref().err().map_or("nothing came", |failure| &failure.message);
                let reply = Err(Unanswered::unreachable(why));
                Some((subject, Heard { reply, usage: Usage::default() }))
            }
        }
    }

    /// Asks that the process before us had put: nobody knows what they came to, so they count as what they held. What they
    /// asked is asked again.
    pub(super) async fn settle_asks(&mut self) -> Result<(), Problem> {
        let rows = self.run.services.ledger.calls_of(self.task.id()).await?;
        let open = |row: &ToolCall| row.status == CallStatus::Started && row.tool_id.as_str() == ASK_MODEL;
        for row in rows.into_iter().filter(open) {
            let call = self.call_of(row.id, serde_json::Value::Null)?;
            self.finish(&Finished::unknown(call, row, self.run.services.now()))?;
        }
        Ok(())
    }

    /// For a rehearsal, of which nothing is kept but what it cost.
    pub(super) async fn ask_for_a_plan(&mut self) -> Result<Option<(Subject, Heard)>, Problem> {
        let Some(pending) =
            self.flight.pending.iter().find(|pending| self.flight.quoted.contains_key(&pending.row().id))
        else {
            return Ok(None);
        };
        let (id, held) = (pending.row().id, Reservation::read(pending.row().reserved.as_deref()));
        let (Some(quoted), Some(later)) = (self.flight.quoted.remove(&id), self.flight.later_of(id)) else {
            return Ok(None);
        };
        self.flight.forget_plans();
        let services = self.run.services;
        // What was entered is for a task that will not be: only what it holds is kept.
        self.batch = services.batch();
        self.standing = None;
        let mut batch = services.batch();
        held.enter(None, &mut Standing::default(), &mut batch);
        batch.expect_absent::<Halt>("name", &Halt::ALL.to_owned());
        services.ledger.commit(batch).await.map_err(|error| match error {
            CommitError::Refused(Refusal::Present { table, .. }) if table == Halt::TABLE.name => {
                super::halted()
            }
            error => error.into(),
        })?;
        let (began, most) = (services.now(), services.timing.model);
        let Ok(heard) = tokio::time::timeout(most, later).await else {
            return Ok(Some((quoted.subject, ask_model::give_up(most))));
        };
        let mut batch = services.batch();
        held.settle(services.now().since(began), Some(ask_model::used(&heard.usage)), &mut batch);
        services.ledger.commit(batch).await?;
        Ok(Some((quoted.subject, heard)))
    }
}
