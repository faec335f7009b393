//! What a person is shown before they say yes: whole, and as it was when they were asked.

use std::collections::BTreeMap;

use domain::call::{Call, Chooser, ToolId};
use domain::canonical;
use domain::change::{Change, Changes};
use domain::id::GrantId;
use domain::source::Text;
use domain::{Digest, Tier, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::decide::{Answer, Decision, Word, own_words};
use crate::decision_inputs::DecisionInputs;
use crate::grant::Terms;
use crate::looked::{Looked, Sight};
use crate::tool::{Reach, ToolSpec};
use crate::validation::Policies;

/// All that decides about a call, as data. Nothing in it is shortened or made pretty; whoever shows it escapes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub call: Call,
    /// What the tool says of itself; ours, or the words of whoever registered it.
    pub description: String,
    pub tier: Tier,
    pub reach: Reach,
    /// What decides where something goes, what is touched, how much: to be shown first, and complete.
    pub sinks: Vec<Sink>,
    /// What the layers said that want a person.
    pub asked: Vec<Word>,
    /// What would change, name by name, as it was looked at.
    #[serde(flatten, with = "names")]
    pub names: Vec<Name>,
    #[serde(default)]
    pub diff: Option<String>,
    /// Whether `diff` shows the whole change.
    #[serde(default = "whole")]
    pub diff_whole: bool,
    #[serde(default)]
    pub lines_added: u64,
    #[serde(default)]
    pub lines_removed: u64,
    /// What the agent says that it is for. Its words, to be shown in quotes.
    pub wanted: String,
    /// What has to be typed to say yes, where a plain yes is not enough.
    #[serde(default)]
    pub typed: Option<Typed>,
    /// What an answer could grant beyond this one call.
    #[serde(default)]
    pub offer: Option<Terms>,
    /// The decision that led to it, with all that it was made from.
    pub decision: Digest,
}

const fn whole() -> bool {
    true
}

/// One name that would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    #[serde(flatten)]
    pub change: Change,
    /// When what is there was changed the last time.
    pub modified: Option<Time>,
    /// Whether `regent undo` could take it back.
    pub undo: bool,
}

/// What of a call `regent undo` could take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    All,
    /// So many of so many files.
    Some(usize, usize),
    Nothing,
}

/// One argument that decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sink {
    pub name: String,
    /// Its value, complete: a text as it is, anything else as canonical JSON.
    pub value: String,
    pub named_by: NamedBy,
}

/// Who could have meant a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedBy {
    /// It is written word for word in the owner's request.
    Request,
    /// The owner typed the call.
    Owner,
    /// A rule of the program, from the request's words.
    Rule,
    /// A model chose it, and nobody knows from what.
    Model,
}

/// A value that has to be typed: nobody types an address that they have not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    pub sink: String,
    /// The part of it that is asked for: what follows the `@`, or the end of it.
    pub expected: String,
}

impl Question {
    pub(crate) fn about(
        facts: &DecisionInputs,
        decision: &Decision,
        tool: &ToolSpec,
        policies: Policies<'_>,
        request: &Text,
        looked: Option<&Looked>,
    ) -> Self {
        let call = facts.call.clone();
        let sinks = sinks(&call, tool, own_words::of(request));
        let unexplained = sinks.iter().find(|sink| sink.named_by == NamedBy::Model);
        let diff = looked.and_then(|looked| looked.diff.as_ref());
        let leaves = matches!(tool.reach, Reach::Outside | Reach::House);
        Self {
            description: tool.description.clone(),
            tier: facts.tier.max(tool.tier),
            reach: tool.reach,
            asked: decision.words.iter().filter(|word| word.answer == Answer::Review).cloned().collect(),
            names: looked.into_iter().flat_map(|looked| &looked.names).map(Name::of).collect(),
            diff: diff.map(|diff| diff.text.clone()),
            diff_whole: diff.is_none_or(|diff| diff.whole),
            lines_added: diff.map_or(0, |diff| diff.lines_added),
            lines_removed: diff.map_or(0, |diff| diff.lines_removed),
            wanted: String::new(),
            typed: unexplained.filter(|_| leaves).map(Typed::of),
            offer: offer(facts, tool, policies, request, &sinks),
            decision: Digest::ZERO,
            sinks,
            call,
        }
    }

    /// What alike questions have in common: the tool, what this kind of call can do, which layers asked, and the names
    /// and kinds of its arguments.
    #[must_use]
    pub fn shape(&self) -> Digest {
        let layers: Vec<_> = self.asked.iter().map(|word| word.layer).collect();
        let shape = json!({
            "tool": self.call.tool, "tier": self.tier, "layers": layers, "args": skeleton(&self.call.args),
        });
        // Words of ours and names of arguments: there is nothing in it that has no canonical form.
        canonical::bytes(&shape).map_or(Digest::ZERO, |bytes| Digest::of(&bytes))
    }

    #[must_use]
    pub const fn tool(&self) -> &ToolId {
        &self.call.tool
    }

    #[must_use]
    pub const fn args(&self) -> &Value {
        &self.call.args
    }

    /// What `regent undo` could take back of it. What is moved is one file, under whatever name.
    #[must_use]
    pub fn undo(&self) -> Undo {
        let files = || self.names.iter().filter(|name| name.change.moved_from.is_none());
        match (files().filter(|name| name.undo).count(), files().count()) {
            (0, _) => Undo::Nothing,
            (some, all) if some == all => Undo::All,
            (some, all) => Undo::Some(some, all),
        }
    }

    /// What would happen, in one line: the tool, and what decides.
    #[must_use]
    pub fn summary(&self) -> String {
        let values: Vec<&str> = self.sinks.iter().map(|sink| sink.value.as_str()).collect();
        format!("{} {}", self.call.tool, values.join(" ")).trim_end().to_owned()
    }
}

impl Name {
    fn of(sight: &Sight) -> Self {
        let Sight { change, modified, .. } = sight;
        Self { change: change.clone(), modified: *modified, undo: sight.can_be_undone() }
    }
}

/// Where a call could change one name only, three fields stood in the place of the names.
mod names {
    use super::{Changes, Name};
    use domain::Time;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize)]
    struct Now<'a> {
        names: &'a [Name],
        /// Whether all of it can be taken back.
        undo: bool,
    }

    #[derive(Deserialize)]
    struct Kept {
        names: Option<Vec<Name>>,
        change: Option<Changes>,
        modified: Option<Time>,
        #[serde(default)]
        undo: bool,
    }

    pub(super) fn serialize<S: Serializer>(names: &[Name], serializer: S) -> Result<S::Ok, S::Error> {
        let undo = !names.is_empty() && names.iter().all(|name| name.undo);
        Now { names, undo }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Name>, D::Error> {
        let Kept { names, change, modified, undo } = Kept::deserialize(deserializer)?;
        let before = || change.into_iter().flatten().map(|change| Name { change, modified, undo }).collect();
        Ok(names.unwrap_or_else(before))
    }
}

impl Typed {
    const LONGEST: usize = 40;
    const END: usize = 12;

    pub(crate) fn of(sink: &Sink) -> Self {
        let part = Self::what_decides(&sink.value);
        let long = part.chars().count() > Self::LONGEST;
        let skipped = if long { part.chars().count() - Self::END } else { 0 };
        Self { sink: sink.name.clone(), expected: part.chars().skip(skipped).collect() }
    }

    /// Where a value leads: the host of an address that is one, and the whole of anything else. An `@` further on is
    /// somebody's text.
    fn what_decides(value: &str) -> &str {
        if let Some((_, rest)) = value.split_once("://") {
            let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            return if host.is_empty() { value } else { host };
        }
        let address = |c: char| c.is_alphanumeric() || "@._+-".contains(c);
        match value.split_once('@') {
            Some((_, host)) if !host.is_empty() && !host.contains('@') && value.chars().all(address) => host,
            _ => value,
        }
    }
}

impl From<Chooser> for NamedBy {
    fn from(chooser: Chooser) -> Self {
        match chooser {
            Chooser::Rule => Self::Rule,
            Chooser::Model => Self::Model,
            Chooser::Owner { .. } => Self::Owner,
        }
    }
}

/// The arguments that decide: those that the tool declares, or all of them where it declares none.
fn sinks(call: &Call, tool: &ToolSpec, words: &str) -> Vec<Sink> {
    let Some(args) = call.args.as_object() else {
        let named_by = NamedBy::from(call.chosen_by);
        return vec![Sink { name: String::new(), value: shown(&call.args), named_by }];
    };
    let sink = |(name, value): (&String, &Value)| {
        let alone = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        let explained = own_words::unexplained_argument(tool, &alone, words).is_none();
        let named_by = match NamedBy::from(call.chosen_by) {
            NamedBy::Model if explained => NamedBy::Request,
            by => by,
        };
        Sink { name: name.clone(), value: shown(value), named_by }
    };
    if tool.sinks.is_empty() {
        return args.iter().map(sink).collect();
    }
    tool.sinks.iter().filter_map(|name| args.get_key_value(name)).map(sink).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What an answer could grant: this tool, for this agent, in the same place or with the same values. Only if it would
/// have answered this very question, which no grant does for what destroys, leaves or changes the house.
fn offer(
    facts: &DecisionInputs,
    tool: &ToolSpec,
    policies: Policies<'_>,
    request: &Text,
    sinks: &[Sink],
) -> Option<Terms> {
    if matches!(facts.call.chosen_by, Chooser::Owner { .. }) || facts.tier.max(tool.tier) > Tier::WriteSafe {
        return None;
    }
    let pin = |sink: &Sink| {
        let folder = sink.value.rsplit_once('/').filter(|_| tool.reach == Reach::Workspace);
        folder.map_or_else(|| sink.value.clone(), |(folder, _)| format!("{folder}/*"))
    };
    let pins: BTreeMap<String, String> = sinks.iter().map(|sink| (sink.name.clone(), pin(sink))).collect();
    // A star that somebody else wrote is not a pattern of ours, and a grant that names no value would be for all calls.
    let wild = pins.is_empty() || sinks.iter().any(|sink| sink.value.contains('*'));
    let terms = Terms {
        tool: facts.call.tool.clone(),
        nature: tool.nature(),
        principal: facts.principal.to_string(),
        agent: facts.agent.clone(),
        session: None,
        pins,
        by_hand: false,
        reason: String::new(),
    };
    let granted = facts.granted(GrantId::from_bits(0), terms.clone());
    let answers = granted.decide(Some(tool), policies, &request.text).answer == Answer::Execute;
    (answers && !wild).then_some(terms)
}

fn skeleton(value: &Value) -> Value {
    match value {
        Value::Null => json!("null"),
        Value::Bool(_) => json!("bool"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("text"),
        Value::Array(items) => items.first().map_or_else(|| json!([]), |first| json!([skeleton(first)])),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, field)| (name.clone(), skeleton(field))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Name, NamedBy, Sink, Typed, names};
    use domain::change::Standing;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Asked {
        #[serde(flatten, with = "names")]
        names: Vec<Name>,
    }

    fn asked(kept: Value) -> Asked {
        serde_json::from_value(kept).unwrap()
    }

    /// Questions stay open over an upgrade.
    #[test]
    fn a_question_of_an_older_house_is_about_one_name() {
        let gone = json!({ "path": "f", "from": { "link": { "to": "x" } }, "to": "nothing" });
        let change = Change::new("f".into(), Standing::Link { to: "x".into() }, Standing::Nothing);
        let before = asked(json!({ "change": gone, "modified": null, "undo": true }));
        assert_eq!(before, Asked { names: vec![Name { change, modified: None, undo: true }] });
        assert_eq!(asked(serde_json::to_value(&before).unwrap()), before);
        let unknown = asked(json!({ "change": null, "modified": null, "undo": false }));
        assert_eq!(unknown, Asked { names: vec![] });
        assert_eq!(serde_json::to_value(&unknown).unwrap(), json!({ "names": [], "undo": false }));
    }

    /// Nobody types a harmless end that somebody else has put there.
    #[test]
    fn what_is_typed_is_what_decides() {
        let table = [
            ("billing@aurora.example", "aurora.example"),
            ("https://evil.example/c?x=@aurora.example", "evil.example"),
            ("https://aurora.example@evil.example/pay", "evil.example"),
            ("https://evil.example\\@aurora.example", "evil.example"),
            ("a@evil.example,lea@home.example", "a@evil.example,lea@home.example"),
            ("Lea <lea@home.example>", "Lea <lea@home.example>"),
            ("lea@", "lea@"),
            ("://", "://"),
            ("notes/today.md", "notes/today.md"),
            (&"a".repeat(50), "aaaaaaaaaaaa"),
        ];
        for (value, expected) in table {
            let sink = Sink { name: "to".into(), value: value.into(), named_by: NamedBy::Model };
            assert_eq!(Typed::of(&sink).expected, expected, "{value}");
        }
    }
}
