//! What a task waits for people for: questions are asked, answers are heard, and time runs out.

use std::collections::BTreeMap;
use std::time::Duration;

use broker::grant::{Granted, Terms};
use broker::{Context, Finished};
use domain::Time;
use domain::approval::{Answer, Status};
use domain::call::{Call, ToolId};
use domain::id::{ApprovalId, CallId};
use engine::task::Input;
use ledger::Ledger;
use ledger::records::{Approval, Grant};
use serde_json::Value;

use super::{BEATS_PER_LEASE, ChainLimits, HALT_LOOK, TaskDriver};
use crate::approvals::{self, ApprovalAnswer};
use crate::run::WaitMode;
use crate::services::Services;
use domain::problem::{Code, Problem};

impl TaskDriver<'_> {
    /// What the agent says that a call is for.
    pub(super) fn wanted(&self, call: &Call) -> String {
        let node = call.subtask.and_then(|subtask| self.task.plan()?.subtasks.get(subtask as usize));
        node.map_or_else(String::new, |node| node.intent.text.clone())
    }

    /// The yes that a call brings along, if it was asked about.
    pub(super) async fn leave(&self, call: &Call) -> Result<Option<Approval>, Problem> {
        match self.task.allowed(call.id) {
            // One whose time is over is not brought along: the call is asked about again.
            Some(id) => {
                let (ledger, now) = (&self.run.services.ledger, self.run.services.now());
                Ok(ledger.verified_approval(id).await?.filter(|token| !token.is_stale(now)))
            }
            None => Ok(None),
        }
    }

    /// Hears what people have said meanwhile; says whether there was anything.
    pub(super) async fn hear(&mut self) -> Result<bool, Problem> {
        let waiting: BTreeMap<CallId, ApprovalId> = self.task.waiting().clone();
        let mut heard = false;
        for (call, id) in waiting {
            let services = &self.run.services;
            let Some(asked) = services.ledger.verified_approval(id).await? else { continue };
            let asked = approvals::expired(services, asked).await?;
            let Some(answer) = answer(&services.ledger, &asked).await? else { continue };
            heard = true;
            if answer != Answer::Approved {
                self.not_run(call, &answer).await?;
            }
            self.feed(Input::Answered { call, answer })?;
        }
        if heard {
            self.renew().await?;
        }
        Ok(heard)
    }

    /// What was answered is decided about under the policy of now, and with the tools of now.
    async fn renew(&mut self) -> Result<(), Problem> {
        let admission = self.run.admit_now().await?;
        let ChainLimits { permissions, provider, .. } = &self.limits;
        let authority = self.run.snapshot(admission, permissions, Some(*provider)).await?;
        self.task.narrow(authority.trust, &authority.tools);
        self.broker = authority.broker(self.run.services);
        self.authority = authority;
        Ok(())
    }

    /// A task that has its result needs no answer any more.
    pub(super) async fn stop_asking(&mut self) -> Result<(), Problem> {
        for (call, id) in self.task.waiting().clone() {
            if let Some(asked) =
                self.run.services.ledger.approval(id).await?.filter(|asked| asked.status.is_open())
            {
                approvals::answer(
                    &asked,
                    &ApprovalAnswer::not_needed(),
                    self.run.services.now(),
                    &mut self.batch,
                );
            }
            self.not_run(call, &Answer::Expired).await?;
            self.feed(Input::Answered { call, answer: Answer::Expired })?;
        }
        Ok(())
    }

    /// The call that was asked about did not run, and will not.
    async fn not_run(&mut self, call: CallId, answer: &Answer) -> Result<(), Problem> {
        let Some(row) = self.run.services.ledger.call(call).await? else { return Ok(()) };
        let opening = self.task.opening();
        let context = Context { agent: &opening.agent, trust: opening.trust, salt: self.run.salt() };
        let rejected = matches!(answer, Answer::Rejected { .. });
        Finished::refuse(row, rejected, context, self.run.services.now(), &mut self.batch);
        Ok(())
    }

    /// Stays until somebody has said something; says whether anybody did. Whoever has no patience leaves at once.
    pub(super) async fn wait(&mut self) -> Result<bool, Problem> {
        let WaitMode::Stay(leave) = self.run.request.wait.clone() else { return self.hear().await };
        let mut silent = Duration::ZERO;
        loop {
            if self.hear().await? {
                return Ok(true);
            }
            if leave.is_asked() || self.run.kernel.stop.is_asked() {
                return Ok(false);
            }
            if self.run.services.ledger.halted().await?.is_some() {
                return Err(self.halted().await);
            }
            tokio::time::sleep(HALT_LOOK).await;
            silent += HALT_LOOK;
            if silent >= self.run.services.timing.lease / BEATS_PER_LEASE {
                silent = Duration::ZERO;
                match self.beat().await {
                    Err(problem) if problem.code == Code::DRIVEN_ELSEWHERE => return Err(problem),
                    Ok(()) | Err(_) => {} // the next batch decides
                }
            }
        }
    }
}

/// What was said about a question; nothing as long as it is open.
async fn answer(ledger: &Ledger, asked: &Approval) -> Result<Option<Answer>, Problem> {
    let said = match &asked.answer {
        Some(said) => ledger.body(said).await?.unwrap_or_default(),
        None => Vec::new(),
    };
    Ok(match asked.status {
        Status::Pending | Status::Escalated => None,
        // A yes that lets no call run is none: nobody writes such a row.
        Status::Approved | Status::Modified if asked.leave.is_none() => None,
        Status::Approved => Some(Answer::Approved),
        Status::Rejected => Some(Answer::Rejected { reason: String::from_utf8_lossy(&said).into_owned() }),
        Status::Expired => Some(Answer::Expired),
        Status::Modified => {
            let gone = || Problem::new(Code::ERASED, "the arguments that somebody wrote instead were erased");
            let args: Value = serde_json::from_slice(&said).map_err(|_unreadable| gone())?;
            Some(Answer::Modified { args })
        }
    })
}

/// The grants for a tool that hold at this moment.
pub(super) async fn granted(services: &Services, tool: &ToolId, now: Time) -> Result<Vec<Granted>, Problem> {
    let holds = |grant: &Grant| grant.revoked_at.is_none() && !grant.is_expired(now);
    let mut granted = Vec::new();
    for grant in services.ledger.grants_for(tool).await?.into_iter().filter(holds) {
        // What cannot be read grants nothing.
        let Some(terms) = services.ledger.body(&grant.terms).await? else { continue };
        let Ok(terms) = serde_json::from_slice::<Terms>(&terms) else { continue };
        granted.push(Granted { id: grant.id, terms });
    }
    Ok(granted)
}
