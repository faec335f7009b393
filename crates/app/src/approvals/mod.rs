//! What waits for a person, and what they say about it.

mod access_request_page;
mod answer;
mod approve;
mod code;
mod codes;
mod durations;
mod escalate;
mod list;
mod modify;
mod page;
mod pending;
mod reject;
mod reply;
mod show;
mod view;

use std::sync::Arc;
use std::time::Duration;

use broker::question::{Question, Typed};
use broker::{Decided, DecisionInputs};
use domain::approval::{Lasting, Status};
use domain::id::{ApprovalId, TaskId};
use domain::limits::{APPROVAL_TOKEN, LIST_ENTRIES, NESTED_LEVELS};
use domain::{Digest, Time, canonical};
use ledger::records::{Approval, ApprovalCode, Blob, Salt};
use ledger::{Batch, CommitError, Found, Refusal};
use serde::Serialize;
use serde_json::Value;

use kernel::approvals::{self, APPROVALS, ApprovalAnswer};
use kernel::{Code, Problem};
use kernel::{Services, Unshown};

use crate::App;
use crate::operation::{OperationEntry, OperationGroup};
use codes::{CODES, no_such_code};

pub use answer::ApprovalOutcome;
pub use approve::ApproveRequests;
pub use code::CreateReplyCode;
pub use durations::{ApprovalLifetime, ApprovalValidity};
pub use escalate::EscalateRequest;
pub use list::ListApprovals;
pub use modify::ModifyRequest;
pub use pending::{ApprovalItem, PendingList};
pub use present::approval::{ApprovalView, Coverage};
pub use reject::RejectRequest;
pub use reply::ReplyWithCode;
pub use show::{ApprovalDetails, ShowApproval};

pub const GROUP: OperationGroup = OperationGroup::new(
    "approvals",
    "What waits for your word",
    &["regent approvals list", "regent approvals approve a-m3xd"],
    &[
        OperationEntry::of::<ListApprovals>(),
        OperationEntry::of::<ShowApproval>(),
        OperationEntry::of::<ApproveRequests>(),
        OperationEntry::of::<RejectRequest>(),
        OperationEntry::of::<ModifyRequest>(),
        OperationEntry::of::<EscalateRequest>(),
        OperationEntry::of::<CreateReplyCode>(),
        OperationEntry::of::<ReplyWithCode>(),
    ],
);

/// What somebody does with a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Approve {
        lasting: Lasting,
        /// What they typed of the value, where a plain yes is not enough.
        typed: Option<String>,
        /// How long the call may take to rely on it; nothing: [`APPROVAL_TOKEN`].
        good_for: Option<Duration>,
    },
    Reject {
        reason: String,
    },
    Modify {
        args: Value,
        typed: Option<String>,
    },
    Escalate,
}

/// What has to be replied from a channel.
#[derive(Clone, Debug, Serialize)]
pub struct CodeView {
    pub approval: ApprovalId,
    pub number: u64,
    /// Shown once, and not kept.
    pub code: String,
    pub until: Time,
}

/// The one who answers at a terminal. Other approvers come with the access policies.
const OWNER: &str = "owner";

/// The approval requests of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Approvals<'a> {
    pub(crate) app: &'a App,
}

impl Approvals<'_> {
    /// The calls that wait for a person, next to expire first, as many as one list has.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "approvals.list", skip_all)]
    pub async fn list(self) -> Result<Vec<ApprovalView>, Problem> {
        self.open(&self.app.kernel.services().await?, LIST_ENTRIES).await
    }

    pub(super) async fn open(self, services: &Services, limit: u32) -> Result<Vec<ApprovalView>, Problem> {
        approvals::expire(services, LIST_ENTRIES).await?;
        let mut views = Vec::new();
        for asked in services.ledger.open_approvals(services.now(), limit).await? {
            views.push(self.view(services, asked).await?);
        }
        Ok(views)
    }

    /// # Errors
    /// If there is no such question, or the ledger fails.
    #[tracing::instrument(level = "info", name = "approvals.show", skip_all)]
    pub async fn show(self, id: &str) -> Result<ApprovalView, Problem> {
        let services = self.app.kernel.services().await?;
        let asked = approvals::expired(&services, self.asked(id).await?).await?;
        self.whole_view(&services, asked).await
    }

    /// The open questions of one task, oldest first.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "approvals.open_of_task", skip_all)]
    pub async fn open_of_task(self, task: TaskId) -> Result<Vec<ApprovalView>, Problem> {
        let services = self.app.kernel.services().await?;
        let mut views = Vec::new();
        for asked in services.ledger.approvals_of(task).await? {
            if asked.is_open(services.now()) {
                views.push(self.view(&services, asked).await?);
            }
        }
        Ok(views)
    }

    /// Answers a question. Of several who answer at once one wins; the others are told who, and how.
    ///
    /// # Errors
    /// If there is no such question, it is not open any more, the answer does not fit it, or the ledger fails.
    #[tracing::instrument(level = "info", name = "approvals.resolve", skip_all)]
    pub async fn resolve(self, id: &str, act: Act, via: &'static str) -> Result<ApprovalView, Problem> {
        Box::pin(self.resolve_by(id, act, via, None)).await
    }

    /// The same, with the code that lets somebody answer from elsewhere: it has to be good in the very same moment.
    pub(super) async fn resolve_by(
        self,
        id: &str,
        act: Act,
        via: &'static str,
        code: Option<&ApprovalCode>,
    ) -> Result<ApprovalView, Problem> {
        let services = self.app.kernel.services().await?;
        loop {
            let asked = approvals::expired(&services, self.asked(id).await?).await?;
            // What is answered is what this instance has asked.
            let asked = services.ledger.verified_approval(asked.id).await?.unwrap_or(asked);
            if !asked.status.is_open() {
                return Err(self.answered(&asked).await?);
            }
            let over = services.ledger.task(asked.task_id).await?.is_some_and(|task| task.status.is_over());
            if over {
                let what = format!(
                    "{} is over, so nothing waits for an answer",
                    self.app.kernel.short(asked.task_id).await?
                );
                return Err(Problem::new(Code::ANSWERED, what).safe("nothing was done"));
            }
            let mut batch = services.batch();
            if let Some(code) = code {
                batch.expect_present::<ApprovalCode>("stamp", &code.stamp);
            }
            let answered = self.act(&services, &asked, act.clone(), via, &mut batch).await?;
            match services.ledger.commit(batch).await {
                Ok(_) => return self.view(&services, answered).await,
                // Somebody answered, or passed it on: then it is still open, and looked at again.
                Err(CommitError::Refused(Refusal::Gone { table: APPROVALS, .. })) => {}
                Err(CommitError::Refused(Refusal::Gone { table: CODES, .. })) => return Err(no_such_code()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What an act comes to; nothing of it is written yet.
    async fn act(
        self,
        services: &Services,
        asked: &Approval,
        act: Act,
        via: &'static str,
        batch: &mut Batch,
    ) -> Result<Approval, Problem> {
        let now = services.now();
        let verdict = |status| ApprovalAnswer {
            status,
            leave: None,
            said: None,
            by: OWNER,
            via,
            grant: None,
            good_for: APPROVAL_TOKEN,
        };
        let erased = || Problem::new(Code::ERASED, "what was asked was erased, so nobody can answer it");
        let question = approvals::read_question(&services.ledger, asked).await?.ok_or_else(erased)?;
        let salt = self.salt_of_chain(services, asked).await?;
        // If whoever it belongs to is erased meanwhile, nothing more of theirs is written.
        batch.expect_present::<Salt>("person", &salt.person);
        Ok(match act {
            Act::Approve { lasting, typed, good_for } => {
                has_typed(question.typed.as_ref(), typed.as_deref())?;
                let grant = match lasting {
                    Lasting::Once => None,
                    lasting => {
                        let terms = question.offer.ok_or_else(not_offered)?;
                        let (id, until) = (services.id(), approvals::lasts(lasting, now));
                        approvals::grant(id, &terms, until, Some(asked.id), &salt, now, batch)?;
                        Some(id)
                    }
                };
                let leave = Some(asked.fingerprint);
                let good_for = good_for.unwrap_or(APPROVAL_TOKEN);
                let approved = ApprovalAnswer { leave, grant, good_for, ..verdict(Status::Approved) };
                approvals::answer(asked, &approved, now, batch)
            }
            Act::Reject { reason } => {
                self.no_secret(|secrets| secrets.found_in_text(&reason).map(str::to_owned))?;
                let said = (!reason.is_empty()).then(|| Blob::personal(reason.into_bytes(), &salt));
                approvals::answer(asked, &ApprovalAnswer { said, ..verdict(Status::Rejected) }, now, batch)
            }
            Act::Modify { args, typed } => {
                self.no_secret(|secrets| secrets.found_in(&args).map(str::to_owned))?;
                if question.typed.as_ref().is_some_and(|value| same(question.args(), &args, &value.sink)) {
                    has_typed(question.typed.as_ref(), typed.as_deref())?;
                }
                let body = canonical::bytes_within(&args, NESTED_LEVELS)
                    .map_err(|error| unfit(asked, error.why()))?;
                let leave = Some(self.modified(services, asked, &question, args, &salt).await?);
                let said = Some(Blob::personal(body, &salt));
                approvals::answer(
                    asked,
                    &ApprovalAnswer { leave, said, ..verdict(Status::Modified) },
                    now,
                    batch,
                )
            }
            Act::Escalate => {
                let chain = self.app.settings.approval_chain();
                let at = chain.iter().position(|name| *name == asked.authority);
                let Some(next) = at.and_then(|at| chain.get(at + 1)) else {
                    let what = format!("nobody is above `{}`", asked.authority);
                    return Err(Problem::new(Code::BAD_ANSWER, what)
                        .safe("it is still open")
                        .remedy("regent explain R2021"));
                };
                approvals::escalate(asked, next, self.app.settings.approval_time(), now, batch)
            }
        })
    }

    /// The fingerprint of the same call with other arguments, as it will be asked about again.
    async fn modified(
        self,
        services: &Services,
        asked: &Approval,
        question: &Question,
        args: Value,
        salt: &Salt,
    ) -> Result<Digest, Problem> {
        let event = self.event_of(services, asked).await?;
        let (_, workspace) = self.app.kernel.request_of(services, &event).await?;
        let tool_set = self.app.kernel.shipped_tools_in(&workspace, Arc::new(Unshown)).await?;
        tool_set.registry.accepts(&asked.tool_id, &args).map_err(|why| unfit(asked, &why))?;
        let (_, inputs) = self.inputs(services, question.decision).await?;
        let mut inputs = inputs;
        inputs.call.args = args;
        let call = &inputs.call;
        let looked = self
            .app
            .kernel
            .broker(tool_set.registry.clone())?
            .look(&call.tool, &call.args)
            .await
            .unwrap_or_default();
        inputs.changes = looked.map(|looked| looked.changes());
        inputs.tool = tool_set.registry.digest(&asked.tool_id);
        inputs.fingerprint(salt).map_err(Problem::internal)
    }

    /// What a decision was made from, with the text of the request.
    async fn inputs(
        self,
        services: &Services,
        decision: Digest,
    ) -> Result<(String, DecisionInputs), Problem> {
        let gone = || Problem::new(Code::ERASED, "what the question was made from was erased");
        let body = services.ledger.body(&decision).await?.ok_or_else(gone)?;
        let decided: Decided = serde_json::from_slice(&body).map_err(|error| {
            Problem::new(Code::DATABASE_DAMAGED, format!("a decision is unreadable: {error}"))
        })?;
        let inputs = decided.inputs.ok_or_else(gone)?;
        let request = services.ledger.text(&inputs.request).await?.ok_or_else(gone)?;
        Ok((request, inputs))
    }

    async fn event_of(
        self,
        services: &Services,
        asked: &Approval,
    ) -> Result<ledger::records::Event, Problem> {
        let gone = || Problem::new(Code::DATABASE_DAMAGED, "the task's event is gone");
        let task = services.ledger.task(asked.task_id).await?.ok_or_else(gone)?;
        services.ledger.event(task.payload).await?.ok_or_else(gone)
    }

    async fn salt_of_chain(self, services: &Services, asked: &Approval) -> Result<Salt, Problem> {
        let event = self.event_of(services, asked).await?;
        Ok(self.app.kernel.parties_of(services, &event).await?.sender.salt)
    }

    fn no_secret(
        self,
        found: impl FnOnce(&broker::secrets::Secrets) -> Option<String>,
    ) -> Result<(), Problem> {
        match found(&self.app.host.secrets()?) {
            None => Ok(()),
            Some(name) => {
                let what = format!("the value of the secret `{name}` stands in what you wrote");
                Err(Problem::new(Code::SECRETS, what).safe("it is still open").remedy("regent explain R4030"))
            }
        }
    }

    async fn asked(self, id: &str) -> Result<Approval, Problem> {
        match self.app.kernel.find(id).await? {
            Found::Approval(asked) => Ok(*asked),
            _ => Err(Problem::new(Code::NO_SUCH_ID, format!("`{id}` is no approval"))
                .remedy("regent approvals list")),
        }
    }

    /// Somebody was quicker, or nobody was: who, how and when.
    async fn answered(self, asked: &Approval) -> Result<Problem, Problem> {
        let short = self.app.kernel.short(asked.id).await?;
        let when = asked
            .resolved_at
            .map_or_else(String::new, |at| format!(", {}", at.date_time(self.app.kernel.zone())));
        let who = asked.resolved_by.as_deref().unwrap_or("somebody");
        let via = asked.resolved_via.as_deref().unwrap_or("elsewhere");
        let what = match asked.status {
            Status::Expired => format!("{short} has expired{when}; that is neither yes nor no"),
            status => format!("{short} was {} by {who}, {via}{when}", status.name()),
        };
        Ok(Problem::new(Code::ANSWERED, what)
            .safe("nothing was done")
            .remedy(format!("regent approvals show {short}")))
    }
}

fn not_offered() -> Problem {
    Problem::new(Code::BAD_ANSWER, "this can be approved once only: nothing can be granted beyond this call")
        .safe("it is still open")
        .remedy("regent explain R2021")
}

fn unfit(asked: &Approval, why: &str) -> Problem {
    Problem::new(Code::BAD_ARGUMENTS, format!("the arguments do not fit {}: {why}", asked.tool_id))
        .safe("it is still open")
        .remedy(format!("regent tools show {}", asked.tool_id))
}

/// Whether what had to be typed was.
fn has_typed(expected: Option<&Typed>, typed: Option<&str>) -> Result<(), Problem> {
    match expected {
        Some(value) if typed != Some(value.expected.as_str()) => {
            let what = format!(
                "`{}` comes from nobody knows where: to say yes, type the end of it as it is shown",
                value.sink
            );
            Err(Problem::new(Code::BAD_ANSWER, what).safe("it is still open").remedy("regent explain R2021"))
        }
        None if typed.is_some() => {
            let what = "nothing has to be typed for this one: leave the value out";
            Err(Problem::new(Code::BAD_ANSWER, what).safe("it is still open").remedy("regent explain R2021"))
        }
        _ => Ok(()),
    }
}

fn same(one: &Value, other: &Value, name: &str) -> bool {
    one.get(name) == other.get(name)
}
