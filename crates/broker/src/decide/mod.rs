//! May this call run? Every layer is asked, the strictest answer counts, and each one's word is recorded.
//!
//! A pure function over facts: the same facts give the same decision, now and when somebody asks why. A layer
//! whose part is not built yet fails safe and says so: it lets pass what only reads here, and asks for a person
//! where a model could have been talked into something.
//!
//! INVARIANT (layers-only-restrict): a layer more, or a fact that is stricter, never allows more. A person's yes
//! turns `review` into `execute` and never anything else; so does a grant, where the layer that asks takes one.

mod gate;
mod layers;
pub(crate) mod own_words;

use std::fmt;

use domain::call::Chooser;
use domain::constitution::Rule;
pub use domain::glob::matches;
use domain::id::{ApprovalId, GrantId};
use domain::source::Text;
use domain::{Digest, Tier};
pub use policy::acl::{Credentials, DataLevel};
use serde::{Deserialize, Serialize};

use crate::decision_inputs::DecisionInputs;
use crate::grant::{self, Enough, Granted};
use crate::tool::ToolSpec;
use crate::validation::Policies;

pub use gate::Governed;

/// The number of this code and of what it asks in `policy`. A test (`the_deciding_code_is_what_its_number_says`) fails
/// when that changes; raise the number if anything can be decided differently.
pub const RULES: u32 = 7;

/// Ordered: a later one is stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Execute,
    Review,
    Deny,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    Registered,
    Schema,
    Access,
    Trust,
    Tier,
    Vpol,
    PrimeDirectives,
    Provenance,
    Plan,
    Level,
    /// None of the ten: the look at what they said, which speaks only where a rule is violated.
    Constitution,
}

impl Layer {
    /// The layer that asks what a rule asks.
    pub(crate) const fn beside(rule: Rule) -> Self {
        match rule {
            Rule::CreatorPrimacy | Rule::AuditImmutable => Self::Tier,
            Rule::ContentIsNotCommand => Self::Provenance,
            Rule::LoopbackOnly | Rule::LeastPrivilege => Self::Access,
            Rule::TrustRequired => Self::Trust,
        }
    }
}

/// What one layer says. A `no` says what would be allowed instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub layer: Layer,
    pub answer: Answer,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// What was decided, and what every layer said. INVARIANT (strictest): the answer is the strictest word, where a
/// review that a person has answered with yes counts as none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub answer: Answer,
    pub words: Vec<Word>,
    /// Whether the owner has said yes to this very call.
    #[serde(default)]
    pub confirmed: bool,
    /// The grant that answered for a person, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantId>,
    /// Rules of the constitution that the call violates; their words come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violated: Vec<Rule>,
}

/// A person's yes to one exact call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leave {
    pub approval: ApprovalId,
    /// The fingerprint of the call that it is for.
    pub to: Digest,
}

impl Decision {
    fn of(words: Vec<Word>, confirmed: bool, grant: Option<GrantId>) -> Self {
        let strictest = words.iter().map(|word| word.answer).max().unwrap_or(Answer::Deny);
        let answer = if confirmed && strictest == Answer::Review { Answer::Execute } else { strictest };
        Self { answer, words, confirmed, grant, violated: Vec::new() }
    }

    /// The first of the strictest words: what a person is told. Where they have said yes, it is what they were asked.
    #[must_use]
    pub fn deciding(&self) -> Option<&Word> {
        let answered = self.confirmed && self.answer == Answer::Execute;
        let answered = answered.then(|| self.words.iter().find(|word| word.answer == Answer::Review));
        answered.flatten().or_else(|| self.words.iter().find(|word| word.answer == self.answer))
    }

    /// What would be allowed instead, by the layers that said no.
    #[must_use]
    pub fn instead(&self) -> Vec<String> {
        let strict = self.words.iter().filter(|word| word.answer == self.answer);
        strict.filter_map(|word| word.instead.clone()).collect()
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.deciding().map_or("no layer was asked", |word| word.reason.as_str());
        f.write_str(reason)
    }
}

/// Everything that the layers may look at: the inputs of a decision, and the bodies that they name.
#[derive(Clone, Copy, Debug)]
pub struct DecisionView<'a> {
    pub inputs: &'a DecisionInputs,
    pub tool: Option<&'a ToolSpec>,
    /// The policies of the call: the one that was frozen for the chain, and the one of now where that is another.
    pub policies: Policies<'a>,
    /// What the chain began with.
    pub request: &'a Text,
}

impl DecisionView<'_> {
    /// The owner's own hand, without an agent in between.
    fn directly(&self) -> bool {
        self.inputs.principal.is_owner() && matches!(self.inputs.call.chosen_by, Chooser::Owner { .. })
    }

    fn confirmed(&self) -> bool {
        let by_hand = self.inputs.principal.is_owner()
            && self.inputs.call.chosen_by == Chooser::Owner { confirmed: true };
        by_hand || self.inputs.leave.is_some_and(|leave| Some(leave.to) == self.inputs.fingerprint)
    }

    /// The grant that is worth most for this call.
    fn grant(&self, tool: &ToolSpec) -> Option<(&Granted, Enough)> {
        let caller = grant::Caller {
            labels: &self.inputs.labels,
            agent: &self.inputs.agent,
            session: &self.inputs.session,
        };
        let worth =
            |granted| Granted::worth(granted, &self.inputs.call, tool, caller).map(|worth| (granted, worth));
        self.inputs.grants.iter().filter_map(worth).max_by_key(|(_, worth)| *worth)
    }

    /// The call's own tier, and never less than the tool's.
    fn tier(&self, tool: &ToolSpec) -> Tier {
        self.inputs.tier.max(tool.tier)
    }
}

/// What the layers say, as far as the constitution lets it stand.
#[must_use]
pub fn governed(facts: &DecisionView<'_>) -> Governed {
    gate::govern(facts, decide(facts))
}

/// What the layers say.
#[must_use]
pub fn decide(facts: &DecisionView<'_>) -> Decision {
    decide_by(&layers::ALL, facts)
}

fn decide_by(asked: &[(Layer, layers::Ask)], facts: &DecisionView<'_>) -> Decision {
    let Some(tool) = facts.tool else {
        let word = Word {
            layer: Layer::Registered,
            answer: Answer::Deny,
            reason: format!("there is no tool `{}`", facts.inputs.call.tool),
            instead: Some("one of the tools that are there: `regent tools list`".into()),
        };
        return Decision::of(vec![word], false, None);
    };
    let grant = facts.grant(tool);
    let mut used = None;
    let words = asked.iter().map(|(layer, ask)| {
        let layers::Said { answer, reason, instead, enough, granted } = ask(facts, tool);
        used = used.or(granted);
        match grant {
            Some((granted, worth)) if answer == Answer::Review && worth >= enough => {
                used = Some(granted.id);
                let reason = format!("{reason}; granted by {}", granted.id);
                Word { layer: *layer, answer: Answer::Execute, reason, instead: None }
            }
            _ => Word { layer: *layer, answer, reason, instead },
        }
    });
    let words = words.collect();
    Decision::of(words, facts.confirmed(), used)
}

#[cfg(test)]
mod tests;
