//! The three tags of a chain, for display: where it came from, why, and under which authority.

use domain::id::{EventId, OriginId, ReasonId, VpolId};
use domain::{Digest, Time};
use serde::Serialize;

use super::{Branch, Read};
use crate::record::Record;
use crate::tasks::said;
use kernel::Problem;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OriginLine {
    pub id: OriginId,
    pub kind: String,
    pub event: EventId,
    pub at: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReasonLine {
    pub id: ReasonId,
    pub kind: String,
    pub parent: Option<ReasonId>,
    pub agent: String,
    /// In words; nothing if they were erased.
    pub thought: Option<String>,
    pub at: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyLine {
    pub id: VpolId,
    pub name: String,
    pub mode: String,
    /// The digest of what it says, and what it says.
    pub rules: Digest,
    pub text: Option<serde_json::Value>,
}

/// How many reasons are followed at the most.
const DEEPEST: usize = 64;

impl Record<'_> {
    /// A reason and its parents.
    pub(super) async fn reasons(self, nearest: Option<ReasonId>) -> Result<Vec<ReasonLine>, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let (mut chain, mut next) = (Vec::new(), nearest);
        while let Some(reason) = next.filter(|_| chain.len() < DEEPEST) {
            let Some(reason) = ledger.reason(reason).await? else { break };
            next = reason.parent_id;
            chain.push(ReasonLine {
                id: reason.id,
                kind: reason.r_tag,
                parent: reason.parent_id,
                agent: reason.agent_id,
                thought: self.words(&reason.thought).await?,
                at: reason.at,
            });
        }
        Ok(chain)
    }

    /// The reasons as a branch, from the nearest to the first, and then the origin.
    pub(super) async fn wanted_by(self, reasons: &[ReasonLine], origin: OriginId) -> Result<Branch, Problem> {
        let mut branch = self.origin(origin).await?;
        for reason in reasons.iter().rev() {
            let label = match reason.kind.as_str() {
                "admit" => "decided",
                "plan" => "planned",
                _ => "wanted by",
            };
            let text = reason.thought.clone().unwrap_or_else(|| "(erased)".into());
            branch = self.named(Branch::leaf(label, text).over(vec![branch]), reason.id).await?;
        }
        Ok(branch)
    }

    async fn origin(self, id: OriginId) -> Result<Branch, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let event = match ledger.origin(id).await? {
            Some(origin) => ledger.event(origin.source_ref).await?,
            None => None,
        };
        let Some(event) = event else { return self.named(Branch::leaf("origin", "unknown"), id).await };
        let words = match self.words(&event.body).await? {
            Some(words) if event.adapter == domain::event::CLI => said(&words),
            Some(words) => words,
            None => "(erased)".into(),
        };
        let whose = match ledger.shown_identity(event.sender).await? {
            Some(identity) if identity.platform == domain::event::TERMINAL => "your words".to_owned(),
            Some(identity) if !identity.is_erased() => format!("words of {}", identity.identifier),
            Some(_) | None => "words of somebody erased".to_owned(),
        };
        let text = format!("{whose}, {}, {}: {words:?}", self.clock(event.occurred_at), event.platform);
        self.named(Branch::leaf("origin", text), id).await
    }

    pub(super) async fn policy(self, id: VpolId) -> Result<Branch, Problem> {
        let known = self.app.kernel.ledger().await?.vpol(id).await?;
        let text = known.map_or_else(
            || "unknown".into(),
            |vpol| format!("{} ({}), rules {:.8}", vpol.name, vpol.enforcement_mode, vpol.rules.to_string()),
        );
        self.named(Branch::leaf("policy", text), id).await
    }

    pub(super) async fn policy_line(self, id: VpolId) -> Result<Option<PolicyLine>, Problem> {
        let Some(vpol) = self.app.kernel.ledger().await?.vpol(id).await? else { return Ok(None) };
        let rules: Read<serde_json::Value> = self.read(&vpol.rules).await?;
        Ok(Some(PolicyLine {
            id,
            name: vpol.name,
            mode: vpol.enforcement_mode,
            rules: vpol.rules,
            text: rules.value(),
        }))
    }
}
