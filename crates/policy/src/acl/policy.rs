//! What one policy says. The same form in YAML, in JSON and here; [`super::load()`] reads it from YAML with all mistakes at
//! once, serde reads back what the ledger kept.

use domain::Trust;
use domain::event::ContainerKind;
use serde::{Deserialize, Serialize};

use super::case::Mark;
use super::credentials::Credentials;
use super::key::Key;
use super::when::When;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Kebab-case, and like no other in the set.
    pub name: String,
    #[serde(rename = "match")]
    pub matching: Matching,
    /// Only a ceiling may leave it out: it then caps what others allow, and admits nobody itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effect: Option<Effect>,
    #[serde(default)]
    pub permissions: Rights,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<Session>,
    #[serde(default)]
    pub modifiers: Modifiers,
    /// 0 to 100; the highest is heard first.
    pub priority: u8,
    /// Nothing beyond its own tools, credentials and data gets through, whatever others allow.
    #[serde(default)]
    pub ceiling: bool,
    #[serde(default = "on")]
    pub enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pairing: Option<Pairing>,
}

const fn on() -> bool {
    true
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Allow,
    Deny,
    Ask,
}

impl Effect {
    pub const ALL: [Self; 3] = [Self::Allow, Self::Deny, Self::Ask];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}

/// Whom and where it is about. Nothing given matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matching {
    /// All given fields must match.
    #[serde(default)]
    pub principal: Whom,
    /// Any entry may match; none means anywhere.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Whom {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub is_owner: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub relationship: Option<String>,
    /// All of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unknown: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub system: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub webhook: Option<Mark>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<Mark>,
}

/// All given fields must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub platform: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub container_kind: Option<ContainerKind>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guild: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<When>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hook_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event_type: Option<String>,
}

/// How far it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rights {
    #[serde(default)]
    pub tools: Tools,
    /// Not given is not the same as none: an empty list lets no credential through.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub credentials: Option<Credentials>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data: Option<DataLevel>,
}

/// Globs over tool ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tools {
    #[serde(default)]
    pub allow: Vec<String>,
    /// `*` closes the policy: nothing but its own `allow` gets through. Other globs deny what they match.
    #[serde(default)]
    pub deny: Vec<String>,
}

/// Everything, in lists of globs and of credentials.
pub const ALL: &str = "*";

/// Ordered: a later one reaches more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataLevel {
    #[default]
    None,
    Restricted,
    Full,
}

impl DataLevel {
    pub const ALL: [Self; 3] = [Self::None, Self::Restricted, Self::Full];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Restricted => "restricted",
            Self::Full => "full",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub persona: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<Key>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modifiers {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_mode: Option<QueueMode>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delay_response: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trust: Option<Trust>,
}

impl Modifiers {
    /// What stands here counts before what the other says.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            queue_mode: self.queue_mode.or(other.queue_mode),
            delay_response: self.delay_response.or(other.delay_response),
            trust: self.trust.or(other.trust),
        }
    }

    /// The trust that is left of `given`. A policy lowers trust and never raises it.
    #[must_use]
    pub fn lower(self, given: Trust) -> Trust {
        self.trust.map_or(given, |trust| trust.min(given))
    }
}

/// What happens to a message that arrives while an answer is in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueMode {
    Steer,
    Followup,
    Collect,
    Interrupt,
}

impl QueueMode {
    pub const ALL: [Self; 4] = [Self::Steer, Self::Followup, Self::Collect, Self::Interrupt];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steer => "steer",
            Self::Followup => "followup",
            Self::Collect => "collect",
            Self::Interrupt => "interrupt",
        }
    }
}

/// Whether the owner is asked who a denied sender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// One approval per sender.
    Once,
}
