//! What a policy is asked about: who speaks, where, and when. All of it is given, and none of it is the text of a message.

use std::fmt;

use domain::event::ContainerKind;
use jiff::civil::{DateTime, Weekday};
use serde::{Deserialize, Serialize};

use super::when::{DAY, DAYS, WEEK};

/// What is not known stays empty, and matches no policy that asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    pub principal: Who,
    pub event: Scene,
    pub now: Option<Moment>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Who {
    pub is_owner: Option<bool>,
    pub relationship: Option<String>,
    pub tags: Vec<String>,
    pub id: Option<String>,
    pub name: Option<String>,
    pub unknown: Option<bool>,
    pub system: Option<bool>,
    pub webhook: Option<Mark>,
    pub agent: Option<Mark>,
}

impl Who {
    /// Somebody about whom everything is said, as a no.
    #[must_use]
    pub fn nobody() -> Self {
        Self {
            is_owner: Some(false),
            unknown: Some(false),
            system: Some(false),
            webhook: Some(Mark::Is(false)),
            agent: Some(Mark::Is(false)),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn owner(id: impl Into<String>) -> Self {
        Self { is_owner: Some(true), id: Some(id.into()), ..Self::nobody() }
    }

    #[must_use]
    pub fn known(id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..Self::nobody() }
    }

    #[must_use]
    pub fn unknown() -> Self {
        Self { unknown: Some(true), ..Self::nobody() }
    }

    #[must_use]
    pub fn system() -> Self {
        Self { system: Some(true), ..Self::nobody() }
    }

    #[must_use]
    pub fn webhook(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { webhook: Some(Mark::Named(name.clone())), name: Some(name), ..Self::nobody() }
    }

    #[must_use]
    pub fn agent(id: impl Into<String>) -> Self {
        let id = id.into();
        Self { agent: Some(Mark::Named(id.clone())), id: Some(id), ..Self::nobody() }
    }
}

/// Whether somebody is a webhook or an agent, and which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Mark {
    Is(bool),
    Named(String),
}

impl Mark {
    /// Whether this, asked by a policy, is true of somebody: `true` is any of them, a name only that one.
    #[must_use]
    pub fn covers(&self, had: &Self) -> bool {
        match (self, had) {
            (Self::Is(true), Self::Named(_)) => true,
            (asked, had) => asked == had,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scene {
    pub platform: Option<String>,
    pub container_kind: Option<ContainerKind>,
    pub container_id: Option<String>,
    pub account: Option<String>,
    pub guild: Option<String>,
    pub hook_id: Option<String>,
    pub event_type: Option<String>,
}

/// A moment as the clock on the wall and the calendar beside it show it: minutes of the week, from Monday 00:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Moment(u16);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no minute of a week")]
pub struct NotAMoment(u16);

impl Moment {
    #[must_use]
    pub fn of(local: DateTime) -> Self {
        let [hour, minute] = [local.hour(), local.minute()].map(|part| u16::from(part.unsigned_abs()));
        Self(start_of(local.weekday()) + hour * 60 + minute)
    }

    /// Nothing if the clock has no such minute.
    #[must_use]
    pub fn new(weekday: Weekday, hour: u16, minute: u16) -> Option<Self> {
        (hour < 24 && minute < 60).then(|| Self(start_of(weekday) + hour * 60 + minute))
    }

    #[must_use]
    pub const fn minute_of_week(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (day, minute) = (self.0 / DAY, self.0 % DAY);
        let day = DAYS.get(usize::from(day)).copied().unwrap_or_default();
        write!(f, "{day} {:02}:{:02}", minute / 60, minute % 60)
    }
}

fn start_of(weekday: Weekday) -> u16 {
    u16::from(weekday.to_monday_zero_offset().unsigned_abs()) * DAY
}

impl TryFrom<u16> for Moment {
    type Error = NotAMoment;

    fn try_from(minute: u16) -> Result<Self, NotAMoment> {
        if minute < WEEK { Ok(Self(minute)) } else { Err(NotAMoment(minute)) }
    }
}

impl From<Moment> for u16 {
    fn from(moment: Moment) -> Self {
        moment.0
    }
}
