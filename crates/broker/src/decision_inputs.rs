//! A decision as it is kept: with all that it was made from, so that it can be made again without the registry, the
//! policies or the database of that day.

use domain::call::Call;
use domain::canonical::{self, NotCanonical};
use domain::change::Changes;
use domain::id::{GrantId, VpolId};
use domain::principal::Principal;
use domain::source::{Source, Text};
use domain::task::MustNot;
use domain::{By, Digest, Tier, Trust};
use ledger::records::{Blob, Salt};
use policy::acl::Permissions;
use policy::vpol::Circumstances;
use serde::{Deserialize, Serialize};

use crate::access::Switch;
use crate::budget::Exhausted;
use crate::decide::{Decision, DecisionView, Governed, Leave, governed};
use crate::grant::{Granted, Terms};
use crate::tool::ToolSpec;
use crate::validation::{OfNow, Policies};

/// The facts of one decision. What is large or shared is named by its digest and kept as a body of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionInputs {
    pub call: Call,
    /// What the registry knew of the tool; nothing if there was no such tool.
    pub tool: Option<Digest>,
    #[serde(default)]
    pub switch: Switch,
    /// What the tool's schema, and the tool itself, said of the arguments' form.
    pub form: Result<(), String>,
    /// What this very call could do.
    #[serde(default = "least")]
    pub tier: Tier,
    #[serde(default)]
    pub agent: String,
    pub principal: Principal,
    pub trust: Trust,
    #[serde(default)]
    pub roles: Vec<String>,
    /// By which names a grant can mean the principal.
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(flatten, with = "permitted")]
    pub permissions: Permissions,
    #[serde(default)]
    pub needs: Vec<String>,
    /// Its rules are a body of their own; nothing if nobody knew a policy of this id.
    pub vpol: Option<VpolId>,
    /// What such a chain would have come under at that moment, where that was another policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_now: Option<OfNow>,
    /// What the rules of the policies asked about; nothing where they have none.
    #[serde(default, skip_serializing_if = "Circumstances::are_none")]
    pub circumstances: Circumstances,
    #[serde(default)]
    pub exhausted: Option<Exhausted>,
    #[serde(default)]
    pub leaks: Option<String>,
    /// What the chain began with, and whose words that were.
    pub request: Digest,
    pub source: Source,
    #[serde(default)]
    pub session: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Granted>,
    /// What it would change, as it was looked at.
    #[serde(default, rename = "change", skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Which folder it acts in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave: Option<Leave>,
    #[serde(default, skip_serializing_if = "MustNot::is_empty")]
    pub must_not: MustNot,
}

impl DecisionInputs {
    /// The decision that follows from these facts, with the bodies that they name. It is made this way the first time
    /// too: what is kept is what it was made from.
    #[must_use]
    pub fn decide(&self, tool: Option<&ToolSpec>, policies: Policies<'_>, request: &str) -> Governed {
        let request = &Text::new(request, self.source.clone());
        governed(&DecisionView { inputs: self, tool, policies, request })
    }

    /// What this very call is told from every other by: the tool as it is known, the arguments, what they would change,
    /// in which folder, and for whom. One byte of difference is another call.
    ///
    /// # Errors
    /// If the arguments have no canonical form.
    pub fn fingerprint(&self, salt: &Salt) -> Result<Digest, NotCanonical> {
        let parts = serde_json::json!({
            "tool": self.call.tool, "known": self.tool, "args": self.call.args, "change": self.changes,
            "place": self.place, "principal": self.principal, "agent": self.agent, "session": self.session,
        });
        Ok(Blob::personal(canonical::bytes(&parts)?, salt).hash)
    }

    /// The same call, had this been granted then, and had nobody been asked.
    #[must_use]
    pub fn granted(&self, id: GrantId, terms: Terms) -> Self {
        let mut granted = self.clone();
        granted.leave = None;
        granted.grants.push(Granted { id, terms });
        granted
    }
}

/// Older houses kept three lists in the place of the permissions.
mod permitted {
    use policy::acl::{Credentials, DataLevel, Permissions};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize)]
    struct Now<'a> {
        permissions: &'a Permissions,
    }

    #[derive(Deserialize)]
    struct Kept {
        permissions: Option<Permissions>,
        #[serde(default)]
        allowed: Vec<String>,
        #[serde(default)]
        credentials: Vec<String>,
        #[serde(default)]
        data: DataLevel,
    }

    pub(super) fn serialize<S: Serializer>(
        permissions: &Permissions,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Now { permissions }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Permissions, D::Error> {
        let Kept { permissions, allowed, credentials, data } = Kept::deserialize(deserializer)?;
        let before =
            || Permissions::allowing("admission", allowed, Credentials::from_iter(credentials), data);
        Ok(permissions.unwrap_or_else(before))
    }
}

const fn least() -> Tier {
    Tier::ReadOnly
}

/// What stands in the body that a call's row names as its decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "KeptDecision")]
pub struct Decided {
    pub decision: Decision,
    /// Nothing in either where the decision was kept before these were.
    #[serde(rename = "made_from")]
    pub inputs: Option<DecisionInputs>,
    pub by: Option<By>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum KeptDecision {
    Whole {
        decision: Decision,
        #[serde(rename = "made_from")]
        inputs: Box<DecisionInputs>,
        by: By,
    },
    Bare(Decision),
}

impl From<KeptDecision> for Decided {
    fn from(kept: KeptDecision) -> Self {
        match kept {
            KeptDecision::Whole { decision, inputs, by } => {
                Self { decision, inputs: Some(*inputs), by: Some(by) }
            }
            KeptDecision::Bare(decision) => Self { decision, inputs: None, by: None },
        }
    }
}
