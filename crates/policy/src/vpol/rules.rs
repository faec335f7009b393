//! What a validation policy wants of the calls that it governs.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use domain::budget::Unit;
use serde::{Deserialize, Serialize};

use crate::acl::when::When;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// How many governed calls may start in a while, counted over all chains under this policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// What one chain may use; where the settings say less, that counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub budget: BTreeMap<Unit, u64>,
    /// Outside of these nothing governed runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<When>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Requirement>,
}

impl Rules {
    pub const NONE: Self = Self { rate: None, budget: BTreeMap::new(), hours: None, requires: Vec::new() };

    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}

/// So many in a while: `20/h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate {
    pub calls: u32,
    pub per: Per,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    Minute,
    Hour,
    Day,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rate like `5/min`, `20/h` or `100/day`, from 1 to {MOST}")]
pub struct NotARate(String);

/// The highest rate: more than anybody could count.
const MOST: u32 = 1_000_000;

impl Per {
    pub const ALL: [Self; 3] = [Self::Minute, Self::Hour, Self::Day];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minute => "min",
            Self::Hour => "h",
            Self::Day => "day",
        }
    }

    /// It slides: a day is the last 24 hours, not the calendar's.
    #[must_use]
    pub const fn window(self) -> Duration {
        Duration::from_secs(match self {
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Day => 86_400,
        })
    }
}

impl FromStr for Rate {
    type Err = NotARate;

    fn from_str(text: &str) -> Result<Self, NotARate> {
        let wrong = || NotARate(text.chars().take(40).flat_map(char::escape_debug).collect());
        let (calls, per) = text.split_once('/').ok_or_else(wrong)?;
        let per = Per::ALL.into_iter().find(|known| known.name() == per).ok_or_else(wrong)?;
        let plain = !calls.is_empty() && calls.bytes().all(|c| c.is_ascii_digit()) && !calls.starts_with('0');
        let calls = calls.parse().ok().filter(|calls| plain && *calls <= MOST);
        Ok(Self { calls: calls.ok_or_else(wrong)?, per })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.calls, self.per.name())
    }
}

/// What has to be true of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Requirement {
    /// The owner says yes to it, each time.
    Approval,
    /// Somebody sits at it.
    Attended,
    /// What it changes can be taken back.
    Reversible,
    /// Whoever the chain speaks for has this role, or is the owner.
    Role(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is nothing that can be required")]
pub struct NotARequirement(String);

impl Requirement {
    /// What people are told about.
    pub const WORDS: [&str; 4] = ["approval", "attended", "reversible", "role:…"];
}

impl FromStr for Requirement {
    type Err = NotARequirement;

    fn from_str(text: &str) -> Result<Self, NotARequirement> {
        match (text, text.strip_prefix("role:")) {
            ("approval", _) => Ok(Self::Approval),
            ("attended", _) => Ok(Self::Attended),
            ("reversible", _) => Ok(Self::Reversible),
            (_, Some(role)) if !role.is_empty() && role.trim() == role => Ok(Self::Role(role.to_owned())),
            _ => Err(NotARequirement(text.chars().take(40).flat_map(char::escape_debug).collect())),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approval => f.write_str("approval"),
            Self::Attended => f.write_str("attended"),
            Self::Reversible => f.write_str("reversible"),
            Self::Role(role) => write!(f, "role:{role}"),
        }
    }
}

impl TryFrom<String> for Rate {
    type Error = NotARate;

    fn try_from(text: String) -> Result<Self, NotARate> {
        text.parse()
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

impl TryFrom<String> for Requirement {
    type Error = NotARequirement;

    fn try_from(text: String) -> Result<Self, NotARequirement> {
        text.parse()
    }
}

impl From<Requirement> for String {
    fn from(requirement: Requirement) -> Self {
        requirement.to_string()
    }
}
