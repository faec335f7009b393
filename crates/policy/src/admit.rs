//! Who is this, may they, and how far: the one decision every event gets.

use std::fmt;

use domain::id::EntityId;
use domain::principal::Principal;
use domain::{By, Digest, Trust, event};
use serde::{Deserialize, Serialize};

use crate::vpol::Vpol;

/// What is known about the sender, none of it from the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub adapter: String,
    /// The person behind the sender's address, if anybody knows.
    pub entity: Option<EntityFacts>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityFacts {
    pub id: EntityId,
    pub is_owner: bool,
    /// Set by the owner; it lowers what the kind of principal would give, or raises it.
    pub trust: Option<Trust>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Allow,
    Deny,
}

/// The explained record of one admission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    pub effect: Effect,
    pub principal: Principal,
    pub trust: Trust,
    /// Globs over tool ids.
    pub tools: Vec<String>,
    pub persona: String,
    /// The authority that is frozen for the chain.
    pub vpol: String,
    /// What that was picked from, as a body of its own; nothing where it was not picked from a set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picked: Option<Digest>,
    /// What it was decided from.
    pub facts: Facts,
    pub reasons: Vec<Why>,
}

/// An admission as it is kept. What it was made from stands in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
pub struct Admitted {
    pub decision: Admission,
    /// Nothing where it was kept before this was.
    pub by: Option<By>,
}

impl Admitted {
    #[must_use]
    pub fn now(decision: Admission) -> Self {
        Self { decision, by: Some(By::this(crate::RULES)) }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Whole { decision: Admission, by: By },
    Bare(Admission),
}

impl From<Kept> for Admitted {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Whole { decision, by } => Self { decision, by: Some(by) },
            Kept::Bare(decision) => Self { decision, by: None },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    OwnerAtTheirTerminal,
    UnknownSender,
    NoPolicyAdmits,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OwnerAtTheirTerminal => "the owner, at the terminal of the user who owns this house",
            Self::UnknownSender => "nobody knows whose address this is",
            Self::NoPolicyAdmits => "no policy admits this sender, so the answer is no",
        })
    }
}

/// The agent that does the owner's work.
pub const MAIN: &str = "main";

#[must_use]
pub fn admit(facts: Facts) -> Admission {
    let principal = principal(&facts);
    let trust = trust(&principal, facts.entity.as_ref());
    let (effect, vpol, reasons) = match principal {
        Principal::Owner { .. } if facts.adapter == event::CLI => {
            (Effect::Allow, Vpol::DEFAULT_OWNER, vec![Why::OwnerAtTheirTerminal])
        }
        Principal::Unknown => {
            (Effect::Deny, Vpol::DEFAULT_OTHERS, vec![Why::UnknownSender, Why::NoPolicyAdmits])
        }
        Principal::Owner { .. } | Principal::Known { .. } | Principal::System => {
            (Effect::Deny, Vpol::DEFAULT_OTHERS, vec![Why::NoPolicyAdmits])
        }
    };
    let tools = if effect == Effect::Allow { vec!["*".into()] } else { Vec::new() };
    Admission {
        effect,
        principal,
        trust,
        tools,
        persona: MAIN.into(),
        vpol: vpol.name.into_owned(),
        picked: None,
        facts,
        reasons,
    }
}

fn principal(facts: &Facts) -> Principal {
    match &facts.entity {
        Some(EntityFacts { id, is_owner: true, .. }) => Principal::Owner { entity: *id },
        Some(EntityFacts { id, .. }) => Principal::Known { entity: *id },
        None => Principal::Unknown,
    }
}

/// How far each kind of principal is trusted unless somebody says otherwise (03 §1 of the specification).
#[must_use]
pub const fn default_trust(principal: &Principal) -> Trust {
    match principal {
        Principal::System => Trust::System,
        Principal::Owner { .. } => Trust::Operator,
        Principal::Known { .. } => Trust::Standard,
        Principal::Unknown => Trust::Untrusted,
    }
}

/// What the owner set for the entity counts before the default.
fn trust(principal: &Principal, entity: Option<&EntityFacts>) -> Trust {
    entity.and_then(|entity| entity.trust).unwrap_or_else(|| default_trust(principal))
}

#[cfg(test)]
mod tests {
    use super::{Admitted, Effect, EntityFacts, Facts, Why, admit};
    use domain::id::EntityId;
    use domain::{Trust, canonical};

    fn facts(adapter: &str, is_owner: Option<bool>, trust: Option<Trust>) -> Facts {
        let entity = is_owner.map(|is_owner| EntityFacts { id: EntityId::from_bits(1), is_owner, trust });
        Facts { adapter: adapter.into(), entity }
    }

    #[test]
    fn deny_comes_first_and_only_the_owner_at_the_terminal_is_let_in() {
        let table = [
            ("nobody knows them", facts("mail", None, None), Effect::Deny, Trust::Untrusted),
            ("unknown, at the terminal", facts("cli", None, None), Effect::Deny, Trust::Untrusted),
            ("known, by mail", facts("mail", Some(false), None), Effect::Deny, Trust::Standard),
            (
                "hostile, by mail",
                facts("mail", Some(false), Some(Trust::Hostile)),
                Effect::Deny,
                Trust::Hostile,
            ),
            ("the owner, by mail", facts("mail", Some(true), None), Effect::Deny, Trust::Operator),
            ("the owner, at the terminal", facts("cli", Some(true), None), Effect::Allow, Trust::Operator),
        ];
        for (name, facts, effect, trust) in table {
            let admission = admit(facts);
            assert_eq!((admission.effect, admission.trust), (effect, trust), "{name}");
            assert_eq!(admission.tools.is_empty(), effect == Effect::Deny, "{name}");
        }
    }

    /// Houses that are older than `by` keep the bare admission.
    #[test]
    fn an_admission_is_read_as_it_was_kept_then_and_now() {
        let admission = admit(facts("cli", Some(true), None));
        let bare = canonical::bytes(&admission).unwrap();
        let old: Admitted = serde_json::from_slice(&bare).unwrap();
        assert_eq!(old, Admitted { decision: admission.clone(), by: None });
        let kept = Admitted::now(admission);
        let read: Admitted = serde_json::from_slice(&canonical::bytes(&kept).unwrap()).unwrap();
        assert_eq!(read, kept);
    }

    #[test]
    fn a_denial_says_why_and_names_its_authority() {
        let admission = admit(facts("mail", None, None));
        assert_eq!(admission.reasons, [Why::UnknownSender, Why::NoPolicyAdmits]);
        assert_eq!(admission.vpol, "default-others");
    }
}
