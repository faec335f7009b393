//! A call is put before the broker, and what it says is entered.

use broker::budget::{Reservation, Standing};
use broker::grant::Granted;
use broker::{Answer, Asked, Asking, CallContext, Context, Decision, Prepared, Ruled};
use domain::Time;
use domain::call::Call;
use domain::id::CallId;
use engine::task::{Input, Ruling};

use super::TaskDriver;
use super::approvals::granted;
use domain::problem::Problem;

/// What became of something that was to be put before the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    Done,
    /// Others hold what it needs.
    Waits,
}

impl TaskDriver<'_> {
    /// Asks every layer about a call. What it held of its budgets when it was asked for the last time comes along.
    pub(super) async fn decide(
        &mut self,
        call: &Call,
        now: Time,
    ) -> Result<(Ruled, Standing, Option<Reservation>), Problem> {
        let (authority, services) = (&self.authority, self.run.services);
        let accounts = self.run.accounts(self.task.opening(), now);
        let mut standing = match self.standing.take() {
            Some(standing) => standing,
            None => {
                let found = authority.budget_usage(&services.ledger, &accounts, self.policies()).await?;
                found.after(&self.batch)
            }
        };
        let before = self.carried.remove(&call.id);
        if let Some(before) = &before {
            standing.lift(before);
        }
        // What cannot be looked at is decided as it is; its tool then does nothing, and says why.
        let looked = self.broker.look(&call.tool, &call.args).await.unwrap_or_default();
        let leave = self.leave(call).await?;
        let validation = self.validation(call, now).await?;
        let (opening, switches) = (self.task.opening(), self.run.kernel.host().switches());
        let ask = |call: Call, grants: &[Granted]| {
            // What the plan must not use is not held against delivering the answer.
            let must_not = call.subtask.map(|_| self.task.must_not()).filter(|must_not| !must_not.is_empty());
            let context = CallContext {
                agent: &opening.agent,
                principal: &opening.principal,
                trust: opening.trust,
                roles: &authority.roles,
                labels: &authority.labels,
                permissions: &authority.permissions,
                request: &opening.request,
                salt: self.run.salt(),
                switches: &switches,
                limits: &authority.limits,
                accounts: &accounts,
                standing: &standing,
                validation,
                grants,
                looked: looked.as_ref(),
                leave: leave.as_ref(),
                must_not,
            };
            let ruled = self.broker.authorize(call, &context);
            ruled.map_err(Problem::internal)
        };
        let mut ruled = ask(call.clone(), &[])?;
        if ruled.decision().answer != Answer::Execute {
            // Only who would not go on by itself looks for what a person has granted.
            let grants = granted(services, &call.tool, now).await?;
            if !grants.is_empty() {
                ruled = ask(call.clone(), &grants)?;
            }
        }
        Ok((ruled, standing, before))
    }

    /// Asks the broker, and enters what it says; or waits, where others hold what it needs and may give it back.
    pub(super) async fn rule(&mut self, call: Call) -> Result<Placement, Problem> {
        let (id, now) = (call.id, self.run.services.now());
        let (ruled, mut standing, before) = self.decide(&call, now).await?;
        if ruled.exhausted() && call.subtask.is_some() && self.flight.has_asks_under_way() {
            self.put_off(id, standing, before);
            return Ok(Placement::Waits);
        }
        let (authority, services, salt) = (&self.authority, self.run.services, self.run.salt());
        let opening = self.task.opening();
        let exhausted = ruled.exhausted();
        let context = Context { agent: &opening.agent, trust: opening.trust, salt };
        let asking = Asking {
            id: services.id(),
            authority: authority.approver.clone(),
            open_for: authority.approval_time,
            wanted: self.wanted(&call),
        };
        let ruled = match Asked::new(ruled, asking, context, now) {
            Ok(asked) => {
                let asked = asked.enter(before.as_ref(), salt, &mut self.batch).map_err(Problem::internal)?;
                self.standing = Some(standing);
                self.feed(Input::Ruled { call: id, ruling: Ruling::Review { approval: asked.id } })?;
                return Ok(Placement::Done);
            }
            Err(ruled) => *ruled,
        };
        let ruling = match Prepared::new(ruled, context, now) {
            Ok(prepared) => {
                self.flight.pending.push(prepared.enter(before.as_ref(), &mut standing, &mut self.batch));
                Ruling::Execute
            }
            Err(refused) => {
                let ruling = ruling(refused.decision(), exhausted);
                refused.enter(before.as_ref(), &mut self.batch);
                ruling
            }
        };
        self.standing = Some(standing);
        self.feed(Input::Ruled { call: id, ruling })?;
        Ok(Placement::Done)
    }

    /// Puts things back as they were before it was asked for.
    pub(super) fn put_off(&mut self, call: CallId, mut standing: Standing, before: Option<Reservation>) {
        if let Some(before) = before {
            standing.hold(&before);
            self.carried.insert(call, before);
        }
        self.standing = Some(standing);
    }
}

/// What the machine is told of a decision.
#[must_use]
pub fn ruling(decision: &Decision, exhausted: bool) -> Ruling {
    let (why, instead, violated) = (decision.to_string(), decision.instead(), decision.violated.clone());
    match decision.answer {
        Answer::Execute => Ruling::Execute,
        Answer::Review | Answer::Deny if exhausted && violated.is_empty() => {
            Ruling::Exhausted { why: [vec![why], instead].concat().join("; ") }
        }
        Answer::Review | Answer::Deny => Ruling::Denied { why, instead, violated },
    }
}
