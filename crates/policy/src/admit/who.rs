//! Who speaks, and how far they are trusted: from what the house knows, never from the message.

use domain::event::{SYSTEM, WEBHOOK};
use domain::id::{EntityId, EventId};
use domain::principal::Principal;
use domain::{Digest, Trust};
use serde::{Deserialize, Serialize};

use crate::acl::case::{Case, Mark, Moment, Scene, Who};
use crate::vpol::{Chain, Picked, VpolSet};

/// What is known about an event, none of it from the message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What it is about: no two decisions are kept as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<EventId>,
    pub adapter: String,
    /// Whoever stands behind the sender's address, if anybody knows.
    pub entity: Option<EntityFacts>,
    /// Whether the owner has made sure that nobody else speaks under this address.
    #[serde(default)]
    pub verified: bool,
    /// The address, or whoever stood behind it, was erased.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lost: bool,
    /// Of an agent: how far whoever started it is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited: Option<Trust>,
    #[serde(default)]
    pub scene: Scene,
    /// On the clock on the owner's wall.
    #[serde(default)]
    pub at: Option<Moment>,
    /// Whether somebody sits at it.
    #[serde(default)]
    pub attended: bool,
    /// What came of asking the owner about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// The policies that decided, as they are kept.
    #[serde(default)]
    pub policies: Option<Digest>,
    #[serde(default)]
    pub vpols: Option<Digest>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityFacts {
    pub id: EntityId,
    pub is_owner: bool,
    /// Set by the owner; it lowers what the kind of principal would give, or raises it.
    pub trust: Option<Trust>,
    #[serde(default)]
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relationship: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// What comes of asking the owner about a message, where a policy wants that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    SaidYes,
    SaidNo,
    NoAnswer,
    /// They are not asked: so many messages of this sender wait already.
    TooManyWait,
    /// They are not asked: they were, not long ago.
    NotAgain,
}

/// What somebody is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Person,
    Persona,
    Agent,
    Webhook,
    System,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Facts {
    /// An address counts as the owner's only if they have made sure that nobody else can use it.
    #[must_use]
    pub fn principal(&self) -> Principal {
        let hook = || Principal::Webhook { name: self.hook().to_owned() };
        match &self.entity {
            _ if self.lost => Principal::Unknown,
            Some(EntityFacts { kind: Kind::Webhook, .. }) => hook(),
            // One that the owner has not registered is unknown, whatever it calls itself.
            _ if self.adapter == WEBHOOK => Principal::Unknown,
            Some(EntityFacts { kind: Kind::System, .. }) => Principal::System,
            Some(EntityFacts { kind: Kind::Agent, id, .. }) => Principal::Agent { id: id.to_string() },
            Some(EntityFacts { id, is_owner: true, .. }) if self.verified => Principal::Owner { entity: *id },
            Some(EntityFacts { id, .. }) => Principal::Known { entity: *id },
            None if self.scene.platform.as_deref() == Some(SYSTEM) => Principal::System,
            None => Principal::Unknown,
        }
    }

    /// The name of the webhook that it came by: our own word for it.
    fn hook(&self) -> &str {
        self.scene.hook_id.as_deref().filter(|name| !name.is_empty()).unwrap_or(WEBHOOK)
    }

    /// What the owner set for somebody counts before the default, and never makes them the owner or the house. Nothing: it
    /// cannot be known, and so they are not trusted.
    #[must_use]
    pub fn trust(&self) -> Option<Trust> {
        let principal = self.principal();
        let set = self.entity.as_ref().and_then(|entity| entity.trust);
        match &principal {
            _ if self.lost => None,
            // It works for somebody, and is trusted no further than they are.
            Principal::Agent { .. } => {
                let inherited = self.inherited?;
                Some(set.map_or(inherited, |set| set.min(inherited)))
            }
            Principal::Owner { .. } | Principal::System => {
                let own = default_trust(&principal);
                Some(set.map_or(own, |set| set.min(own)))
            }
            Principal::Known { .. } if set.is_none() && self.verified => Some(Trust::Verified),
            Principal::Known { .. } | Principal::Webhook { .. } | Principal::Unknown => {
                Some(set.unwrap_or_else(|| default_trust(&principal)).min(Trust::Verified))
            }
        }
    }

    /// The same, as policies are asked.
    #[must_use]
    pub fn case(&self) -> Case {
        let principal = self.principal();
        let mut who = match &principal {
            Principal::Owner { entity } => Who::owner(entity.to_string()),
            Principal::Known { entity } => Who::known(entity.to_string()),
            Principal::Unknown => Who::unknown(),
            Principal::System => Who::system(),
            Principal::Webhook { name } => Who::webhook(name.clone()),
            Principal::Agent { id } => Who::agent(id.clone()),
        };
        if let Some(entity) = self.entity.as_ref().filter(|_| !self.lost) {
            who.relationship.clone_from(&entity.relationship);
            who.tags.clone_from(&entity.tags);
            if !matches!(who.webhook, Some(Mark::Named(_))) {
                who.name.clone_from(&entity.name);
            }
        }
        Case { principal: who, event: self.scene.clone(), now: self.at }
    }

    /// The validation policy that a chain comes under which starts with it. There are no buckets of chains yet.
    pub(super) fn pick(&self, agent: &str, vpols: &VpolSet) -> Picked {
        let (principal, attended) = (self.case().principal, self.attended);
        vpols.pick(&Chain { principal, agent: agent.to_owned(), bucket: None, attended })
    }

    /// By which names a grant can mean them: who they are, what they are to the owner, what the owner says of them.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        let mut labels = vec![self.principal().to_string()];
        if let Some(entity) = self.entity.as_ref().filter(|_| !self.lost) {
            labels.extend(entity.relationship.iter().map(|word| format!("relationship:{word}")));
            labels.extend(entity.tags.iter().map(|tag| format!("tag:{tag}")));
        }
        labels
    }

    /// The roles that the owner has given them: their tags `role:*`.
    #[must_use]
    pub fn roles(&self) -> Vec<String> {
        let tags = self.entity.iter().filter(|_| !self.lost).flat_map(|entity| &entity.tags);
        tags.filter_map(|tag| tag.strip_prefix("role:")).map(str::to_owned).collect()
    }
}

/// How far each kind of principal is trusted unless somebody says otherwise (03 §1 of the specification).
#[must_use]
pub const fn default_trust(principal: &Principal) -> Trust {
    match principal {
        Principal::System => Trust::System,
        Principal::Owner { .. } => Trust::Operator,
        Principal::Known { .. } => Trust::Standard,
        Principal::Unknown | Principal::Webhook { .. } | Principal::Agent { .. } => Trust::Untrusted,
    }
}
