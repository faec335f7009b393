//! Why something happened: from the effect back to its origin, with all three tags, the policy and the proof.

mod proof;
mod render;
mod render_recheck;
mod trace;
mod trinity;

use broker::Decided;
use domain::criterion::Basis;
use domain::event::Direction;
use domain::id::{CallId, OriginId, ReasonId, VpolId};
use domain::{Digest, Time, approval};
use ledger::records::{Access, AgentTask, CallStatus, Event, Reason, ToolCall};
use ledger::{Body, Found};
use policy::admit::Admitted;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Record;
use super::recheck::Rechecked;
use kernel::TaskResult;
use kernel::{Code, Problem};

pub use proof::Proof;
pub use render::render_why;
pub use trace::{OriginTrace, TraceOrigin};
pub use trinity::{OriginLine, PolicyLine, ReasonLine};

/// The chain behind one thing.
#[derive(Clone, Debug, Serialize)]
pub struct Why {
    pub id: String,
    pub headline: String,
    pub because: Vec<Branch>,
    /// The O-Tag.
    pub origin: Option<OriginLine>,
    /// The R-Tags, from the nearest to the first.
    pub reasons: Vec<ReasonLine>,
    /// The V-Pol; nothing where nobody has decided yet.
    pub policy: Option<PolicyLine>,
    /// The decision as it is kept, with what it was made from and by which rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<serde_json::Value>,
    pub proof: Proof,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recheck: Option<Rechecked>,
}

/// One answer, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branch {
    pub label: &'static str,
    pub text: String,
    /// What the answer names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The same, as short as it can be typed.
    #[serde(skip)]
    pub short: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Branch>,
}

impl Branch {
    fn leaf(label: &'static str, text: impl Into<String>) -> Self {
        Self { label, text: text.into(), id: None, short: String::new(), because: Vec::new() }
    }

    fn over(mut self, because: Vec<Self>) -> Self {
        self.because = because;
        self
    }
}

/// The tags of what is asked about.
struct Trinity {
    origin: OriginId,
    reason: Option<ReasonId>,
    vpol: Option<VpolId>,
}

/// What is particular about one kind of thing; the rest of the answer is the same for all.
struct Told {
    id: String,
    headline: String,
    because: Vec<Branch>,
    decision: Option<serde_json::Value>,
    trinity: Trinity,
    /// Whose audit entries prove it; none: everything that followed from the origin.
    subjects: Vec<String>,
}

impl Record<'_> {
    /// # Errors
    /// If nothing is called like this, it has no chain, or the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "record.why", skip_all)]
    pub async fn why(self, id: &str) -> Result<Why, Problem> {
        let told = match self.app.kernel.find(id).await? {
            Found::Call(call) => self.why_call(&call).await?,
            Found::Task(task) => self.why_task(&task).await?,
            Found::Event(event) if event.direction == Direction::Out => self.why_answer(&event).await?,
            Found::Event(event) => self.why_event(&event).await?,
            Found::Reason(reason) => self.why_reason(&reason).await?,
            Found::Admission(access) => self.why_admission(&access).await?,
            Found::Origin(origin) => {
                let event = self.app.kernel.ledger().await?.event(origin.source_ref).await?;
                let gone = || Problem::new(Code::DATABASE_DAMAGED, "the event of this origin is gone");
                self.why_event(&event.ok_or_else(gone)?).await?
            }
            Found::Approval(asked) => {
                let call = self.app.kernel.ledger().await?.call(asked.call_id).await?;
                let gone = || Problem::new(Code::DATABASE_DAMAGED, "the call of this approval is gone");
                self.why_call(&call.ok_or_else(gone)?).await?
            }
            Found::Knock(knock) => {
                let waiting = self.app.kernel.ledger().await?.admissions_behind(knock.id).await?;
                let gone = || Problem::new(Code::DATABASE_DAMAGED, "nothing stands behind this question");
                self.why_admission(waiting.first().ok_or_else(gone)?).await?
            }
            Found::Grant(_) => {
                let what = format!("`{id}` is a grant: it is what calls rely on");
                return Err(Problem::new(Code::NO_CHAIN, what).remedy("regent grants audit"));
            }
            Found::Policy(_) => {
                let what = format!("`{id}` is a validation policy: it is what decisions are made under");
                return Err(Problem::new(Code::NO_CHAIN, what).remedy("regent tasks list"));
            }
            Found::Entity(_) | Found::Identity(_) => {
                let what = format!("`{id}` is somebody, not something that happened");
                return Err(Problem::new(Code::NO_CHAIN, what).remedy("regent events list"));
            }
            Found::Nothing | Found::Several(_) => {
                return Err(Problem::new(Code::NO_SUCH_ID, format!("nothing here is called `{id}`")));
            }
        };
        self.told(told).await
    }

    /// The same, with every decision of the chain made again.
    ///
    /// # Errors
    /// As [`App::why`]; that something differs is a result.
    #[tracing::instrument(level = "info", name = "record.recheck", skip_all)]
    pub async fn recheck(self, id: &str) -> Result<Why, Problem> {
        let mut why = self.why(id).await?;
        let event = why.origin.as_ref().map(|origin| origin.event);
        let gone = || Problem::new(Code::DATABASE_DAMAGED, "the origin of this chain is gone");
        why.recheck = Some(self.recheck_chain(event.ok_or_else(gone)?).await?);
        Ok(why)
    }

    /// The trinity and the proof, around what is particular; the origin is the last of all reasons.
    async fn told(self, told: Told) -> Result<Why, Problem> {
        let Told { id, headline, mut because, decision, trinity, mut subjects } = told;
        let all = subjects.is_empty();
        let reasons = self.reasons(trinity.reason).await?;
        let origin = self.app.kernel.ledger().await?.origin(trinity.origin).await?;
        if let Some(origin) = &origin {
            subjects.push(origin.source_ref.to_string());
        }
        let policy = match trinity.vpol {
            Some(vpol) => {
                because.push(self.policy(vpol).await?);
                self.policy_line(vpol).await?
            }
            None => None,
        };
        because.push(self.wanted_by(&reasons, trinity.origin).await?);
        let mut entries = self.app.kernel.ledger().await?.audit_from(trinity.origin).await?;
        entries.retain(|entry| all || subjects.contains(&entry.subject));
        let proof = self.proof(entries).await?;
        let origin = origin.map(|origin| OriginLine {
            id: origin.id,
            kind: origin.origin_type,
            event: origin.source_ref,
            at: origin.timestamp,
        });
        Ok(Why { id, headline, because, origin, reasons, policy, decision, proof, recheck: None })
    }

    async fn why_call(self, call: &ToolCall) -> Result<Told, Problem> {
        let decided: Read<Decided> = self.read(&call.decision).await?;
        let allowed = match (&decided, call.status) {
            (Read::There(decided, _), CallStatus::Refused) => {
                Branch::leaf("refused", format!("{}{}", decided.decision, rules(decided)))
                    .over(layers(decided))
            }
            (Read::There(decided, _), _) => {
                let label = if call.status == CallStatus::Waiting { "asked by" } else { "allowed by" };
                let text = format!("all {} layers{}", decided.decision.words.len(), rules(decided));
                Branch::leaf(label, text).over(layers(decided))
            }
            (Read::Gone, _) => Branch::leaf("allowed by", "the decision was erased"),
            (Read::Changed, _) => {
                Branch::leaf("allowed by", "the decision was CHANGED: it is not what was recorded")
            }
        };
        let mut because = self.answered_by(call, decided.there()).await?;
        because.push(allowed);
        let took = call.duration_ms.map_or_else(String::new, |ms| format!(", {ms} ms"));
        Ok(Told {
            id: call.id.to_string(),
            headline: format!(
                "{} {}, {}{took}",
                call.tool_id,
                call.status.name(),
                self.clock(call.timestamp)
            ),
            because,
            decision: decided.value(),
            trinity: Trinity { origin: call.o_tag, reason: Some(call.r_tag), vpol: Some(call.vpol_id) },
            subjects: vec![call.id.to_string(), call.task_id.to_string()],
        })
    }

    /// What people said about a call: whoever was asked, how they answered, and whether that counted.
    async fn answered_by(self, call: &ToolCall, decided: Option<&Decided>) -> Result<Vec<Branch>, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let leave = decided.and_then(|decided| decided.inputs.as_ref()?.leave);
        let mut branches = Vec::new();
        for asked in ledger.approvals_of(call.task_id).await? {
            // A call that was written instead has the answer to another one.
            if asked.call_id != call.id && leave.map(|leave| leave.approval) != Some(asked.id) {
                continue;
            }
            let (by, via) = (asked.resolved_by.as_deref(), asked.resolved_via.as_deref());
            let said = match asked.answer.filter(|_| asked.status == approval::Status::Rejected) {
                Some(said) => self.words(&said).await?.map(|said| format!(": \"{said}\"")),
                None => None,
            };
            let fate = match asked.fate {
                Some(approval::Fate::Used) => ": this call, once",
                Some(approval::Fate::Void) => "; void: it does not count any more",
                None => "",
            };
            let text = match (asked.status, by) {
                (approval::Status::Expired, _) => "nobody in time; that is neither yes nor no".to_owned(),
                (status, Some(by)) => {
                    let at = asked.resolved_at.map_or_else(String::new, |at| format!(", {}", self.clock(at)));
                    let (via, said) = (via.unwrap_or("elsewhere"), said.unwrap_or_default());
                    format!("{by}, {via}{at}, {}{said}{fate}", status.name())
                }
                (status, None) => format!("nobody yet: {}, with {}", status.name(), asked.authority),
            };
            branches.push(self.named(Branch::leaf("answered by", text), asked.id).await?);
        }
        Ok(branches)
    }

    async fn why_task(self, task: &AgentTask) -> Result<Told, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let mut because = Vec::new();
        because.extend(self.ended(task).await?);
        for call in ledger.calls_of(task.task_id).await? {
            let text = format!("{} {}", call.tool_id, call.status.name());
            because.push(self.named(Branch::leaf("call", text), call.id).await?);
        }
        let admission = ledger.admission_of(task.payload).await?;
        Ok(Told {
            id: task.task_id.to_string(),
            headline: format!("task {}, begun {}", task.status, self.clock(task.created_at)),
            because,
            decision: None,
            trinity: Trinity {
                origin: task.o_tag,
                reason: admission.map(|admission| admission.reason_id),
                vpol: task.vpol_id,
            },
            subjects: Vec::new(),
        })
    }

    /// How a task ended, as far as its journal can be read.
    async fn ended(self, task: &AgentTask) -> Result<Option<Branch>, Problem> {
        let unread = |what: &str| {
            let directive = task.directive.map_or_else(|| task.status.to_string(), |d| d.to_string());
            Ok(Some(Branch::leaf("ended", format!("{directive}; {what}"))))
        };
        let result = match self.app.kernel.task_result(task).await {
            Ok(TaskResult::Result(result)) => result,
            Ok(TaskResult::NothingYet) => return Ok(None),
            Ok(TaskResult::Erased) => return unread("its journal was erased"),
            Ok(TaskResult::Unreadable(why)) => return unread(&why),
            Err(problem) if problem.code == Code::DATABASE_DAMAGED => return unread(&problem.what),
            Err(problem) => return Err(problem),
        };
        let checks = result.verdicts.iter().map(|verdict| {
            let by = match verdict.basis {
                Some(Basis::Call(number)) => format!("call {number}: "),
                Some(Basis::Judge | Basis::Claim) | None => String::new(),
            };
            Branch::leaf(verdict.name(), format!("{} ({by}{})", verdict.criterion, verdict.evidence))
        });
        let text = match &result.reason {
            Some(reason) => format!("{}: {reason}", result.directive),
            None => format!("{}: {}", result.directive, result.counted()),
        };
        Ok(Some(Branch::leaf("ended", text).over(checks.collect())))
    }

    async fn why_event(self, event: &Event) -> Result<Told, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let access = ledger.admission_of(event.id).await?;
        let (mut because, mut decision) = (Vec::new(), None);
        match &access {
            None => because.push(Branch::leaf("admission", "not decided yet")),
            Some(access) => {
                let (branch, value) = self.admission(access).await?;
                because.push(branch);
                decision = value;
            }
        }
        if let Some(task) = ledger.task(kernel::task_of(event)).await? {
            because.push(
                self.named(Branch::leaf("led to", format!("task {}", task.status)), task.task_id).await?,
            );
        }
        Ok(Told {
            id: event.id.to_string(),
            headline: self.event_headline(event),
            because,
            decision,
            trinity: Trinity {
                origin: event.origin_id,
                reason: access.as_ref().map(|access| access.reason_id),
                vpol: access.as_ref().map(|access| access.vpol_id),
            },
            subjects: vec![event.id.to_string()],
        })
    }

    /// What went out: which call handed it over, and what it answers.
    async fn why_answer(self, event: &Event) -> Result<Told, Problem> {
        let id: Option<CallId> = event.key.rsplit(':').next().and_then(|id| id.parse().ok());
        let call = match id {
            Some(id) => self.app.kernel.ledger().await?.call(id).await?,
            None => None,
        };
        let mut subjects = vec![event.id.to_string()];
        let mut because = Vec::new();
        if let Some(call) = &call {
            let text = format!("{} {}", call.tool_id, call.status.name());
            because.push(self.named(Branch::leaf("sent by", text), call.id).await?);
            subjects.extend([call.id.to_string(), call.task_id.to_string()]);
        }
        if let Some(answers) = event.answers {
            because.push(self.named(Branch::leaf("answers", "event in"), answers).await?);
        }
        Ok(Told {
            id: event.id.to_string(),
            headline: self.event_headline(event),
            because,
            decision: None,
            trinity: Trinity {
                origin: event.origin_id,
                reason: call.as_ref().map(|call| call.r_tag),
                vpol: call.as_ref().map(|call| call.vpol_id),
            },
            subjects,
        })
    }

    async fn why_admission(self, access: &Access) -> Result<Told, Problem> {
        let (branch, decision) = self.admission(access).await?;
        let event = self.app.kernel.ledger().await?.event(access.event_id).await?;
        let gone = || Problem::new(Code::DATABASE_DAMAGED, "the event of this admission is gone");
        let origin = event.ok_or_else(gone)?.origin_id;
        Ok(Told {
            id: access.id.to_string(),
            headline: format!("admission, {}", self.clock(access.at)),
            because: vec![branch, self.named(Branch::leaf("about", "event in"), access.event_id).await?],
            decision,
            trinity: Trinity { origin, reason: Some(access.reason_id), vpol: Some(access.vpol_id) },
            subjects: vec![access.event_id.to_string()],
        })
    }

    async fn why_reason(self, reason: &Reason) -> Result<Told, Problem> {
        Ok(Told {
            id: reason.id.to_string(),
            headline: format!("{} decided, {}", reason.r_tag, self.clock(reason.at)),
            because: Vec::new(),
            decision: None,
            trinity: Trinity { origin: reason.o_tag, reason: Some(reason.id), vpol: Some(reason.vpol_id) },
            subjects: vec![reason.chain_id.clone()],
        })
    }

    async fn admission(self, access: &Access) -> Result<(Branch, Option<serde_json::Value>), Problem> {
        let admitted: Read<Admitted> = self.read(&access.decision).await?;
        let because = match &admitted {
            Read::There(admitted, _) => {
                let reasons = admitted.decision.reasons.iter();
                reasons.map(|why| Branch::leaf("because", why.to_string())).collect()
            }
            Read::Gone => vec![Branch::leaf("because", "(erased)")],
            Read::Changed => vec![Branch::leaf("because", "(CHANGED: it is not what was recorded)")],
        };
        let text = format!("{}: {}, trust {}", access.effect, access.principal, access.trust);
        let branch = self.named(Branch::leaf("admission", text).over(because), access.id).await?;
        Ok((branch, admitted.value()))
    }

    /// A branch that names something.
    async fn named(self, branch: Branch, id: impl ToString) -> Result<Branch, Problem> {
        let id = id.to_string();
        let short = self.app.kernel.short(&id).await?;
        Ok(Branch { id: Some(id), short, ..branch })
    }

    /// A text, for display. Nothing if it was erased; that it was changed is said in its place.
    async fn words(self, digest: &Digest) -> Result<Option<String>, Problem> {
        Ok(match self.app.kernel.ledger().await?.kept(digest).await? {
            Body::Whole { content, .. } => Some(String::from_utf8_lossy(&content).into_owned()),
            Body::Gone => None,
            Body::Changed => Some("(CHANGED: it is not what was recorded)".into()),
        })
    }

    async fn read<T: DeserializeOwned>(self, digest: &Digest) -> Result<Read<T>, Problem> {
        let content = match self.app.kernel.ledger().await?.kept(digest).await? {
            Body::Whole { content, .. } => content,
            Body::Gone => return Ok(Read::Gone),
            Body::Changed => return Ok(Read::Changed),
        };
        let unreadable = |error: serde_json::Error| Problem::new(Code::DATABASE_DAMAGED, error.to_string());
        let value = serde_json::from_slice(&content).map_err(unreadable)?;
        Ok(Read::There(serde_json::from_slice(&content).map_err(unreadable)?, value))
    }

    fn event_headline(self, event: &Event) -> String {
        format!("event {}, {} {}", event.direction, event.platform, self.clock(event.received_at))
    }

    fn clock(self, time: Time) -> String {
        time.clock_time(self.app.kernel.zone())
    }
}

/// A body as what it means, and as it stands there.
enum Read<T> {
    There(T, serde_json::Value),
    Gone,
    Changed,
}

impl<T> Read<T> {
    const fn there(&self) -> Option<&T> {
        match self {
            Self::There(read, _) => Some(read),
            Self::Gone | Self::Changed => None,
        }
    }

    fn value(self) -> Option<serde_json::Value> {
        match self {
            Self::There(_, value) => Some(value),
            Self::Gone | Self::Changed => None,
        }
    }
}

/// Which code decided, where that was kept.
fn rules(decided: &Decided) -> String {
    decided.by.as_ref().map_or_else(String::new, |by| format!(", rules {} of {}", by.rules, by.program))
}

fn layers(decided: &Decided) -> Vec<Branch> {
    let name = |word: &broker::Word| match word.layer {
        broker::Layer::Registered => "registered",
        broker::Layer::Schema => "schema",
        broker::Layer::Access => "access",
        broker::Layer::Trust => "trust",
        broker::Layer::Tier => "tier",
        broker::Layer::Vpol => "vpol",
        broker::Layer::PrimeDirectives => "directives",
        broker::Layer::Provenance => "provenance",
        broker::Layer::Plan => "plan",
        broker::Layer::Level => "level",
        broker::Layer::Constitution => "constitution",
    };
    decided.decision.words.iter().map(|word| Branch::leaf(name(word), word.reason.clone())).collect()
}
