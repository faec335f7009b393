//! May this call run? Every layer is asked, the strictest answer counts, and each one's word is recorded.
//!
//! A pure function over facts: the same facts give the same decision, now and when somebody asks why. A layer
//! whose part is not built yet fails safe and says so: it lets pass what only reads, and asks for a person
//! where a model could have been talked into something.

use std::fmt;

use domain::call::{Call, Chooser};
use domain::canonical;
use domain::principal::Principal;
use domain::source::{Source, Text};
use domain::{Tier, Trust};
use policy::tier::{Caller, Verdict};
use policy::vpol::Vpol;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::{Level, ToolSpec};

/// The number of this code and of what it asks in `policy`. A test (`the_deciding_code_is_what_its_number_says`) fails
/// when that changes; raise the number if anything can be decided differently.
pub const RULES: u32 = 1;

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
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub layer: Layer,
    pub answer: Answer,
    pub reason: String,
}

/// What was decided, and what every layer said. INVARIANT (strictest): the answer is the strictest word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub answer: Answer,
    pub words: Vec<Word>,
}

impl Decision {
    fn of(words: Vec<Word>) -> Self {
        let answer = words.iter().map(|word| word.answer).max().unwrap_or(Answer::Deny);
        Self { answer, words }
    }

    /// The first of the strictest words: what a person is told.
    #[must_use]
    pub fn deciding(&self) -> Option<&Word> {
        self.words.iter().find(|word| word.answer == self.answer)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.deciding().map_or("no layer was asked", |word| word.reason.as_str());
        f.write_str(reason)
    }
}

/// Everything the layers may look at.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub call: &'a Call,
    pub tool: Option<&'a ToolSpec>,
    /// What the tool itself says of the arguments' form.
    pub form: Result<(), &'a str>,
    pub principal: &'a Principal,
    pub trust: Trust,
    /// Globs over tool ids that the admission allows.
    pub allowed: &'a [String],
    pub vpol: Option<&'a Vpol>,
    /// What the chain began with.
    pub request: &'a Text,
}

#[must_use]
pub fn decide(facts: &Facts<'_>) -> Decision {
    let Some(tool) = facts.tool else {
        let reason = format!("there is no tool `{}`", facts.call.tool);
        return Decision::of(vec![Word { layer: Layer::Registered, answer: Answer::Deny, reason }]);
    };
    type Ask = fn(&Facts<'_>, &ToolSpec) -> (Answer, String);
    const LAYERS: [(Layer, Ask); 10] = [
        (Layer::Registered, registered),
        (Layer::Schema, schema),
        (Layer::Access, access),
        (Layer::Trust, trust),
        (Layer::Tier, tier),
        (Layer::Vpol, vpol),
        (Layer::PrimeDirectives, prime_directives),
        (Layer::Provenance, provenance),
        (Layer::Plan, plan),
        (Layer::Level, level),
    ];
    let words = LAYERS.iter().map(|(layer, ask)| {
        let (answer, reason) = ask(facts, tool);
        Word { layer: *layer, answer, reason }
    });
    Decision::of(words.collect())
}

fn registered(_: &Facts<'_>, tool: &ToolSpec) -> (Answer, String) {
    (Answer::Execute, format!("{} is a built-in tool", tool.id))
}

fn schema(facts: &Facts<'_>, _: &ToolSpec) -> (Answer, String) {
    match facts.form {
        Ok(()) => (Answer::Execute, "the arguments have the form the tool takes".into()),
        Err(why) => (Answer::Deny, format!("the arguments do not fit the tool: {why}")),
    }
}

fn access(facts: &Facts<'_>, tool: &ToolSpec) -> (Answer, String) {
    match facts.allowed.iter().find(|glob| matches(glob, tool.id.as_str())) {
        Some(glob) => (Answer::Execute, format!("the admission allows `{glob}`")),
        None => (Answer::Deny, format!("the admission does not allow {}", tool.id)),
    }
}

/// A glob over tool ids: `*` stands for any run of characters.
fn matches(glob: &str, id: &str) -> bool {
    match glob.split_once('*') {
        None => glob == id,
        Some((before, after)) => id.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| matches(after, rest.get(at..).unwrap_or("")))
        }),
    }
}

fn caller(facts: &Facts<'_>) -> Caller {
    // Every call so far is an agent's; the owner's own hand comes with `tools call`.
    Caller { trust: facts.trust, known: facts.principal.entity().is_some(), owner_directly: false }
}

fn spoken(verdict: Verdict, otherwise: &str) -> (Answer, String) {
    match verdict {
        Verdict::Execute => (Answer::Execute, otherwise.into()),
        Verdict::Review(why) => (Answer::Review, why.to_string()),
        Verdict::Deny(why) => (Answer::Deny, why.to_string()),
    }
}

fn trust(facts: &Facts<'_>, tool: &ToolSpec) -> (Answer, String) {
    let enough = format!("trust {} is enough for {}", facts.trust, tool.tier);
    spoken(policy::tier::trust(caller(facts), tool.tier), &enough)
}

fn tier(facts: &Facts<'_>, tool: &ToolSpec) -> (Answer, String) {
    spoken(policy::tier::tier(caller(facts), tool.tier), &format!("{} asks nobody", tool.tier))
}

fn vpol(facts: &Facts<'_>, tool: &ToolSpec) -> (Answer, String) {
    match facts.vpol {
        None => (Answer::Deny, "the chain names no validation policy that is known".into()),
        Some(vpol) if vpol.reviews(tool.tier) => {
            (Answer::Review, format!("{} intercepts what is above {}", vpol.name, vpol.up_to))
        }
        Some(vpol) => (Answer::Execute, format!("{} ({}) lets it pass", vpol.name, vpol.mode.name())),
    }
}

/// Not built yet, so nothing that writes or leaves is let through unseen, except the owner's own answer.
fn prime_directives(facts: &Facts<'_>, tool: &ToolSpec) -> (Answer, String) {
    if tool.tier == Tier::ReadOnly {
        (Answer::Execute, "it only reads; no directives are built yet".into())
    } else if tool.to_origin && facts.principal.is_owner() {
        (Answer::Execute, "it answers the owner at their own terminal".into())
    } else {
        (Answer::Review, "no directives are built yet, so a person looks at what writes".into())
    }
}

/// Not built yet: a sink that does not stand word for word in the owner's request is reviewed whenever a
/// model chose it.
fn provenance(facts: &Facts<'_>, tool: &ToolSpec) -> (Answer, String) {
    if facts.call.chosen_by == Chooser::Rule {
        return (Answer::Execute, "a rule of the program chose it from the request's own words".into());
    }
    let owners_words = if facts.request.source == Source::Owner { facts.request.text.as_str() } else { "" };
    let sinks = tool.sinks.iter().filter_map(|sink| facts.call.args.get(sink).map(|value| (sink, value)));
    let mut unexplained = sinks.filter(|(_, value)| !stands_in(value, owners_words)).map(|(sink, _)| sink);
    match unexplained.next() {
        None => (Answer::Execute, "every sink stands word for word in the owner's request".into()),
        Some(sink) => {
            (Answer::Review, format!("a model chose `{sink}`, and the owner's request does not name it"))
        }
    }
}

fn stands_in(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => !text.is_empty() && words.contains(text.as_str()),
        Value::Null | Value::Bool(_) => true,
        // As it is kept: 2.0 is 2, today and when the decision is made again.
        Value::Number(_) => canonical::bytes(value)
            .is_ok_and(|number| str::from_utf8(&number).is_ok_and(|number| words.contains(number))),
        Value::Array(items) => items.iter().all(|item| stands_in(item, words)),
        Value::Object(fields) => fields.values().all(|field| stands_in(field, words)),
    }
}

fn plan(_: &Facts<'_>, _: &ToolSpec) -> (Answer, String) {
    (Answer::Execute, "the plan forbids nothing".into())
}

fn level(_: &Facts<'_>, tool: &ToolSpec) -> (Answer, String) {
    let number = tool.level as u8;
    match tool.level {
        Level::ReviewAll | Level::Sampled => {
            (Answer::Review, format!("level {number}: a person looks before it runs"))
        }
        Level::ReviewedAfter | Level::SpotChecked | Level::Autonomous => {
            (Answer::Execute, format!("level {number}: it has earned running unasked"))
        }
    }
}

#[cfg(test)]
mod tests;
