//! What a validation policy says about one call. A denial is looked for first, then whether a person is to be asked.

use domain::{DataClass, Tier};
use serde::{Deserialize, Serialize};

use super::rules::{Rate, Requirement, Rules};
use super::{Mode, Vpol};
use crate::acl::case::Moment;

/// One call, as far as a validation policy asks about it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub tool: &'a str,
    pub tier: Tier,
    pub data_class: Option<DataClass>,
    /// Whether it only hands the result of the work to whoever asked for it.
    pub hands_back: bool,
    pub is_owner: bool,
    /// Of whoever the chain speaks for, without `role:`.
    pub roles: &'a [String],
    pub circumstances: Circumstances,
}

/// What rules ask about, besides the call itself. Kept with the decision; what is not known is no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Circumstances {
    /// What the clock on the wall shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<Moment>,
    /// Governed calls that were started before this one, in the window of the policy's rate.
    pub started: u32,
    /// Whether somebody sits at the chain.
    pub attended: bool,
    /// Whether what the call changes can be taken back.
    pub reversible: bool,
}

impl Circumstances {
    /// Nothing was asked about.
    #[must_use]
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Ordered: a later one is stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Execute,
    /// A person looks first; a grant answers in their place.
    Intercept,
    /// The owner is asked, whatever was granted.
    Ask,
    Deny,
}

impl Answer {
    pub const ALL: [Self; 4] = [Self::Execute, Self::Intercept, Self::Ask, Self::Deny];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::Intercept => "intercept",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What it says, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The call is none of those that it is about.
    NotGoverned,
    LetsPass,
    Intercepts,
    AsksAbove,
    AsksEachTime,
    /// With the moment at which it would be allowed.
    OutsideHours(Option<Moment>),
    TooOften(Rate),
    NobodyAttends,
    NotReversible,
    WithoutRole(String),
}

impl Word {
    #[must_use]
    pub const fn answer(&self) -> Answer {
        match self {
            Self::NotGoverned | Self::LetsPass => Answer::Execute,
            Self::Intercepts => Answer::Intercept,
            Self::AsksAbove | Self::AsksEachTime => Answer::Ask,
            Self::OutsideHours(_)
            | Self::TooOften(_)
            | Self::NobodyAttends
            | Self::NotReversible
            | Self::WithoutRole(_) => Answer::Deny,
        }
    }

    /// The word in a sentence.
    #[must_use]
    pub fn reason(&self, of: &Vpol) -> String {
        let Vpol { name, mode, up_to, rules, .. } = of;
        match self {
            Self::NotGoverned => format!("{name} is not about this call"),
            Self::LetsPass => format!("{name} ({}) lets it pass", mode.name()),
            Self::Intercepts => format!("{name} intercepts above {up_to}"),
            Self::AsksAbove => format!("{name} wants the owner asked above {up_to}"),
            Self::AsksEachTime => format!("{name} wants the owner asked about every such call"),
            Self::OutsideHours(_) => {
                let hours = rules.hours.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{name} allows it only at these hours: {hours}")
            }
            Self::TooOften(rate) => format!("{name} allows {rate}, and that many were started"),
            Self::NobodyAttends => format!("{name} wants somebody to sit at it, and nobody does"),
            Self::NotReversible => format!("{name} allows only what can be taken back"),
            Self::WithoutRole(role) => format!("{name} needs the role `{role}`"),
        }
    }

    /// What would be allowed instead, where it denies.
    #[must_use]
    pub fn instead(&self) -> Option<String> {
        Some(match self {
            Self::NotGoverned | Self::LetsPass | Self::Intercepts | Self::AsksAbove | Self::AsksEachTime => {
                return None;
            }
            Self::OutsideHours(Some(from)) => format!("it is allowed from {from} on"),
            Self::OutsideHours(None) => "the same within those hours".to_owned(),
            Self::TooOften(Rate { per, .. }) => format!("the same later, within the next {}", per.name()),
            Self::NobodyAttends => "the same, asked for at a terminal".to_owned(),
            Self::NotReversible => "a call whose change `regent undo` can take back".to_owned(),
            Self::WithoutRole(_) => "somebody who has that role can ask".to_owned(),
        })
    }
}

impl Vpol {
    /// INVARIANT (vpol-only-restricts): a stricter mode, a lower `up_to`, one rule or requirement more, or less that it
    /// does not govern never gives a weaker answer.
    #[must_use]
    pub fn judge(&self, call: &Asked<'_>) -> Word {
        if !self.governs.cover(call) {
            return Word::NotGoverned;
        }
        let rules = if call.hands_back { &Rules::NONE } else { &self.rules };
        if let Some(no) = denies(rules, call) {
            return no;
        }
        if rules.requires.contains(&Requirement::Approval) {
            return Word::AsksEachTime;
        }
        match (self.reviews(call.tier), self.mode) {
            (false, _) => Word::LetsPass,
            (true, Mode::Strict) => Word::AsksAbove,
            (true, _) => Word::Intercepts,
        }
    }
}

fn denies(rules: &Rules, call: &Asked<'_>) -> Option<Word> {
    let Circumstances { local, started, .. } = call.circumstances;
    if let Some(hours) = &rules.hours
        && !local.is_some_and(|now| hours.holds(now.minute_of_week()))
    {
        return Some(Word::OutsideHours(local.and_then(|now| hours.opens(now))));
    }
    if let Some(lacking) = rules.requires.iter().find_map(|required| lacks(required, call)) {
        return Some(lacking);
    }
    rules.rate.filter(|rate| started >= rate.calls).map(Word::TooOften)
}

fn lacks(required: &Requirement, call: &Asked<'_>) -> Option<Word> {
    let Circumstances { attended, reversible, .. } = call.circumstances;
    match required {
        Requirement::Attended if !attended => Some(Word::NobodyAttends),
        // What only reads leaves nothing to take back.
        Requirement::Reversible if !reversible && call.tier > Tier::ReadOnly => Some(Word::NotReversible),
        Requirement::Role(role) if !call.is_owner && !call.roles.contains(role) => {
            Some(Word::WithoutRole(role.clone()))
        }
        Requirement::Approval | Requirement::Attended | Requirement::Reversible | Requirement::Role(_) => {
            None
        }
    }
}
