//! Who is this, may they, and how far: the one decision every event gets.

mod kept;
mod who;

use std::fmt;

use domain::Trust;
use domain::principal::Principal;
use serde::{Deserialize, Serialize};

pub use kept::Admitted;
pub use who::{Asked, EntityFacts, Facts, Kind, default_trust};

use crate::acl::key::{NoKey, without_a_policy};
use crate::acl::policy::{Modifiers, Pairing};
use crate::acl::{self, Effect, Permissions, PolicySet};
use crate::vpol::{Picked, VpolSet};

/// The explained record of one admission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    pub effect: Effect,
    pub principal: Principal,
    pub trust: Trust,
    /// The policies that matched, the highest priority first.
    #[serde(default)]
    pub matched: Vec<String>,
    /// Globs over tool ids: all that some policy allows. How far it really goes say the permissions.
    pub tools: Vec<String>,
    #[serde(default = "Permissions::none")]
    pub permissions: Permissions,
    pub persona: String,
    /// Where it is answered, under the agent; nothing unless it is let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default)]
    pub modifiers: Modifiers,
    /// Whether the owner is to be asked who this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairing: Option<Pairing>,
    /// The name of the validation policy that is frozen for the chain.
    pub vpol: String,
    /// The policy itself, and why it is that. Nothing in older houses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picked: Option<Picked>,
    /// What it was decided from.
    pub facts: Facts,
    pub reasons: Vec<Why>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// What older houses say: there was one rule, and no policies.
    OwnerAtTheirTerminal,
    NoPolicyAdmits,
    UnknownSender,
    /// The constitution's rule 5.
    NoTrust,
    Policies(acl::Why),
    NoSession(NoKey),
    Asked(Asked),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnerAtTheirTerminal => {
                f.write_str("the owner, at the terminal of the user who owns this house")
            }
            Self::NoPolicyAdmits => f.write_str("no policy admits this sender, so the answer is no"),
            Self::UnknownSender => f.write_str("nobody knows whose address this is"),
            Self::NoTrust => f.write_str("nobody can say how far this sender is trusted, so they are not"),
            Self::Policies(why) => why.fmt(f),
            Self::NoSession(NoKey::Without(variable)) => {
                write!(f, "it has no session: `{}` is not known here", variable.name())
            }
            Self::NoSession(_) => f.write_str("it has no session in which it could be answered"),
            Self::Asked(asked) => f.write_str(match asked {
                Asked::SaidYes => "the owner was asked about it, and said yes",
                Asked::SaidNo => "the owner was asked about it, and said no",
                Asked::NoAnswer => "the owner was asked about it, and has not answered in time",
                Asked::TooManyWait => "too many messages of this sender wait for the owner already",
                Asked::NotAgain => "the owner has been asked about this sender already",
            }),
        }
    }
}

/// The agent that does the owner's work.
pub const MAIN: &str = "main";

/// Decides by these policies. INVARIANT (trust-required): without trust that was decided outside the message nobody is let
/// in, whatever a policy says.
#[must_use]
pub fn admit(facts: Facts, policies: &PolicySet, vpols: &VpolSet) -> Admission {
    let (principal, case) = (facts.principal(), facts.case());
    let Some(trust) = facts.trust() else {
        return Admission::denied(facts, principal, vpols);
    };
    let yes = facts.asked == Some(Asked::SaidYes);
    let access = if yes { policies.decide_approved(&case) } else { policies.decide(&case) };
    let mut reasons = Vec::new();
    reasons.extend((principal == Principal::Unknown).then_some(Why::UnknownSender));
    reasons.push(Why::Policies(access.why));
    reasons.extend(facts.asked.map(Why::Asked));
    let (mut effect, mut permissions, mut session) = (access.effect, access.permissions, None);
    // They have said no, or will not be asked: whatever a policy of now allows, this message stays outside.
    if facts.asked.is_some_and(|asked| asked != Asked::SaidYes) {
        (effect, permissions) = (Effect::Deny, Permissions::none());
    }
    let placed = access.session.as_ref();
    let persona = placed.and_then(|placed| placed.persona.clone()).unwrap_or_else(|| MAIN.into());
    if effect == Effect::Allow {
        match placed.and_then(|placed| placed.key.clone()).map_or_else(|| without_a_policy(&case), Ok) {
            Ok(key) => session = Some(format!("agent:{persona}:{key}")),
            Err(why) => {
                (effect, permissions) = (Effect::Deny, Permissions::none());
                reasons.push(Why::NoSession(why));
            }
        }
    }
    let picked = facts.pick(&persona, vpols);
    Admission {
        effect,
        trust: access.modifiers.lower(trust),
        principal,
        matched: access.matched.iter().map(ToString::to_string).collect(),
        tools: permissions.allowed(),
        permissions,
        persona,
        session,
        modifiers: access.modifiers,
        pairing: access.pairing.filter(|_| facts.asked.is_none()),
        vpol: picked.vpol.name.clone().into_owned(),
        picked: Some(picked),
        facts,
        reasons,
    }
}

impl Admission {
    /// Nobody can say how far they are trusted.
    fn denied(facts: Facts, principal: Principal, vpols: &VpolSet) -> Self {
        let picked = facts.pick(MAIN, vpols);
        Self {
            effect: Effect::Deny,
            principal,
            trust: Trust::Hostile,
            matched: Vec::new(),
            tools: Vec::new(),
            permissions: Permissions::none(),
            persona: MAIN.into(),
            session: None,
            modifiers: Modifiers::default(),
            pairing: None,
            vpol: picked.vpol.name.clone().into_owned(),
            picked: Some(picked),
            facts,
            reasons: vec![Why::NoTrust],
        }
    }
}

#[cfg(test)]
mod tests;
