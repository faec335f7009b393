//! Why something happened: from the effect back to its origin, with the policy and the proof.

use broker::Decision;
use domain::Digest;
use domain::id::{EventId, OriginId, ReasonId, VpolId};
use ledger::Found;
use ledger::records::{AgentTask, CallStatus, Event, Reason, ToolCall};
use policy::admit::Admission;
use serde::Serialize;

use super::App;
use super::audit::{AuditLine, line};
use super::tasks::Told;
use crate::pipeline;
use crate::problem::{Code, Problem};

/// The chain behind one thing.
#[derive(Clone, Debug, Serialize)]
pub struct Why {
    pub id: String,
    pub headline: String,
    pub because: Vec<Branch>,
    pub proof: Proof,
}

/// One answer, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branch {
    pub label: &'static str,
    pub text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Branch>,
}

impl Branch {
    fn leaf(label: &'static str, text: impl Into<String>) -> Self {
        Self { label, text: text.into(), because: Vec::new() }
    }
}

/// The audit entries of this chain, and whether they lead to the sealed tip.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    pub consistent: bool,
    pub text: String,
    pub entries: Vec<AuditLine>,
}

impl App {
    /// # Errors
    /// If nothing is called like this, or the ledger cannot be read.
    pub async fn why(&self, id: &str) -> Result<Why, Problem> {
        match self.find(id).await? {
            Found::Call(call) => self.why_call(&call).await,
            Found::Task(task) => self.why_task(&task).await,
            Found::Event(event) => self.why_event(&event).await,
            Found::Reason(reason) => self.why_reason(&reason).await,
            Found::Entity(_) | Found::Identity(_) => Err(Problem::new(
                Code::NO_SUCH_ID,
                format!("`{id}` is somebody, not something that happened"),
            )),
            Found::Nothing | Found::Several(_) => {
                Err(Problem::new(Code::NO_SUCH_ID, format!("nothing here is called `{id}`")))
            }
        }
    }

    async fn why_call(&self, call: &ToolCall) -> Result<Why, Problem> {
        let decision = self.decision(&call.decision).await?;
        let allowed = match (&decision, call.status) {
            (Some(decision), CallStatus::Refused) => Branch::leaf("refused", decision.to_string()),
            (Some(decision), _) => Branch {
                label: "allowed by",
                text: format!("all {} layers", decision.words.len()),
                because: layers(decision),
            },
            (None, _) => Branch::leaf("allowed by", "the decision was erased"),
        };
        let because =
            vec![allowed, self.policy(call.vpol_id).await?, self.wanted_by(call.r_tag, call.o_tag).await?];
        let took = call.duration_ms.map_or_else(String::new, |ms| format!(", {ms} ms"));
        let headline =
            format!("{} {}, {}{took}", call.tool_id, call.status.name(), self.clock(call.timestamp));
        Ok(Why {
            id: call.id.to_string(),
            headline,
            because,
            proof: self.proof(call.o_tag, &call.id.to_string()).await?,
        })
    }

    async fn why_task(&self, task: &AgentTask) -> Result<Why, Problem> {
        let ledger = self.ledger().await?;
        let mut because = Vec::new();
        let result = self.task_result(task).await?;
        if matches!(result, Told::Erased) {
            because.push(Branch::leaf("ended", "(erased)"));
        }
        if let Told::Result(result) = result {
            let unmet = result.unmet().count();
            let met = result.verdicts.len() - unmet;
            let checks = result.verdicts.iter().map(|verdict| {
                let label = if verdict.passed { "met" } else { "not met" };
                Branch::leaf(label, format!("{} ({})", verdict.criterion, verdict.evidence))
            });
            let text = match &result.reason {
                Some(reason) => format!("{}: {reason}", result.directive),
                None => format!("{}: {met} of {} checks met", result.directive, result.verdicts.len()),
            };
            because.push(Branch { label: "ended", text, because: checks.collect() });
        }
        for call in ledger.calls_of(task.task_id).await? {
            because.push(Branch::leaf(
                "call",
                format!("{} {} {}", self.short(call.id).await?, call.tool_id, call.status.name()),
            ));
        }
        if let Some(vpol) = task.vpol_id {
            because.push(self.policy(vpol).await?);
        }
        because.push(self.origin(task.o_tag).await?);
        let headline = format!("task {}, begun {}", task.status, self.clock(task.created_at));
        Ok(Why {
            id: task.task_id.to_string(),
            headline,
            because,
            proof: self.proof(task.o_tag, &task.task_id.to_string()).await?,
        })
    }

    async fn why_event(&self, event: &Event) -> Result<Why, Problem> {
        let ledger = self.ledger().await?;
        let mut because = Vec::new();
        match ledger.admission_of(event.id).await? {
            None if event.answers.is_some() => {}
            None => because.push(Branch::leaf("admission", "not decided yet")),
            Some(access) => {
                let admission: Option<Admission> = self.decoded(&access.decision).await?;
                let reasons = admission.map(|admission| admission.reasons).unwrap_or_default();
                let reasons = reasons.iter().map(|why| Branch::leaf("because", why.to_string())).collect();
                let text = format!("{}: {}, trust {}", access.effect, access.principal, access.trust);
                because.push(Branch { label: "admission", text, because: reasons });
                because.push(self.policy(access.vpol_id).await?);
            }
        }
        if let Some(task) = ledger.task(pipeline::task_of(event)).await? {
            because.push(Branch::leaf(
                "led to",
                format!("{} ({})", self.short(task.task_id).await?, task.status),
            ));
        }
        if let Some(answers) = event.answers {
            because.push(Branch::leaf("answers", self.short(answers).await?));
        }
        because.push(self.origin(event.origin_id).await?);
        let headline =
            format!("event {}, {} {}", event.direction, event.platform, self.clock(event.received_at));
        Ok(Why {
            id: event.id.to_string(),
            headline,
            because,
            proof: self.proof(event.origin_id, &event.id.to_string()).await?,
        })
    }

    async fn why_reason(&self, reason: &Reason) -> Result<Why, Problem> {
        let because =
            vec![self.policy(reason.vpol_id).await?, self.wanted_by(reason.id, reason.o_tag).await?];
        let headline = format!("{} decided, {}", reason.r_tag, self.clock(reason.at));
        Ok(Why {
            id: reason.id.to_string(),
            headline,
            because,
            proof: self.proof(reason.o_tag, &reason.chain_id).await?,
        })
    }

    /// The reasons, from the nearest to the first, and then the origin.
    async fn wanted_by(&self, reason: ReasonId, origin: OriginId) -> Result<Branch, Problem> {
        const DEEPEST: usize = 64;
        let ledger = self.ledger().await?;
        let mut chain = Vec::new();
        let mut next = Some(reason);
        while let Some(reason) = next.filter(|_| chain.len() < DEEPEST) {
            let Some(reason) = ledger.reason(reason).await? else { break };
            let thought = ledger.text(&reason.thought).await?.unwrap_or_else(|| "(erased)".into());
            chain.push((reason.r_tag.clone(), thought));
            next = reason.parent_id;
        }
        let mut branch = self.origin(origin).await?;
        for (r_tag, thought) in chain.into_iter().rev() {
            let label = match r_tag.as_str() {
                "admit" => "let in",
                "plan" => "planned",
                _ => "wanted by",
            };
            branch = Branch { label, text: thought, because: vec![branch] };
        }
        Ok(branch)
    }

    async fn origin(&self, origin: OriginId) -> Result<Branch, Problem> {
        let ledger = self.ledger().await?;
        let Some(origin) = ledger.origin(origin).await? else { return Ok(Branch::leaf("origin", "unknown")) };
        let event: EventId = origin.source_ref;
        let Some(event) = ledger.event(event).await? else { return Ok(Branch::leaf("origin", "unknown")) };
        let words = ledger.text(&event.body).await?.unwrap_or_else(|| "(erased)".into());
        let whose = match ledger.identity(event.sender).await? {
            Some(identity) if identity.platform == domain::event::TERMINAL => "your words".to_owned(),
            Some(identity) if !identity.is_erased() => format!("words of {}", identity.identifier),
            Some(_) | None => "words of somebody erased".to_owned(),
        };
        let text = format!("{whose}, {}, {}: {words:?}", self.clock(event.occurred_at), event.platform);
        Ok(Branch::leaf("origin", text))
    }

    async fn policy(&self, vpol: VpolId) -> Result<Branch, Problem> {
        let known = self.ledger().await?.vpol(vpol).await?;
        let text = known
            .map_or_else(|| "unknown".into(), |vpol| format!("{} ({})", vpol.name, vpol.enforcement_mode));
        Ok(Branch::leaf("policy", text))
    }

    async fn proof(&self, origin: OriginId, subject: &str) -> Result<Proof, Problem> {
        let ledger = self.ledger().await?;
        let entries = ledger.audit_of(origin, subject).await?;
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return Ok(Proof {
                consistent: false,
                text: "no audit entry names this".into(),
                entries: Vec::new(),
            });
        };
        let verdict = ledger.verify_from(first).await?;
        let range = if first.seq == last.seq {
            format!("audit {}", first.seq)
        } else {
            format!("audit {} to {}", first.seq, last.seq)
        };
        let text = match verdict.faults.first() {
            Some(fault) => format!("{range} BROKEN: {fault}"),
            None if verdict.signed >= last.seq => {
                let signed = ledger.signed_by(last.stream, last.seq).await?;
                let signed = signed.map_or_else(String::new, |epoch| format!(", checkpoint {epoch} signed"));
                format!("{range} consistent{signed}")
            }
            None => format!("{range} consistent, sealed; no checkpoint has signed it yet"),
        };
        Ok(Proof {
            consistent: verdict.faults.is_empty(),
            text,
            entries: entries.into_iter().map(line).collect(),
        })
    }

    async fn decision(&self, digest: &Digest) -> Result<Option<Decision>, Problem> {
        self.decoded(digest).await
    }

    async fn decoded<T: serde::de::DeserializeOwned>(&self, digest: &Digest) -> Result<Option<T>, Problem> {
        let bytes = self.ledger().await?.body(digest).await?;
        let unreadable = |error: serde_json::Error| Problem::new(Code::DATABASE_DAMAGED, error.to_string());
        bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(unreadable)).transpose()
    }

    fn clock(&self, time: domain::Time) -> String {
        time.clock_time(&self.parts.zone)
    }
}

fn layers(decision: &Decision) -> Vec<Branch> {
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
    };
    decision.words.iter().map(|word| Branch::leaf(name(word), word.reason.clone())).collect()
}
