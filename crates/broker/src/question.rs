//! What a person is shown before they say yes: whole, and as it was when they were asked.

use domain::call::{Call, Chooser, ToolId};
use domain::change::Change;
use domain::{Digest, Tier, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decide::Word;
use crate::grant::Terms;
use crate::tool::Reach;

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
    /// What would change, as it was looked at.
    #[serde(default)]
    pub change: Option<Change>,
    #[serde(default)]
    pub diff: Option<String>,
    /// When what is there was changed the last time.
    #[serde(default)]
    pub modified: Option<Time>,
    /// Whether `regent undo` could take it back.
    pub undo: bool,
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
    /// It stands word for word in the owner's request.
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
    #[must_use]
    pub const fn tool(&self) -> &ToolId {
        &self.call.tool
    }

    #[must_use]
    pub const fn args(&self) -> &Value {
        &self.call.args
    }

    /// What would happen, in one line: the tool, and what decides.
    #[must_use]
    pub fn summary(&self) -> String {
        let values: Vec<&str> = self.sinks.iter().map(|sink| sink.value.as_str()).collect();
        format!("{} {}", self.call.tool, values.join(" ")).trim_end().to_owned()
    }
}

impl Typed {
    const LONGEST: usize = 40;
    const END: usize = 12;

    pub(crate) fn of(sink: &Sink) -> Self {
        let after = sink.value.rsplit_once('@').map_or(sink.value.as_str(), |(_, after)| after);
        let long = after.chars().count() > Self::LONGEST;
        let skipped = if long { after.chars().count() - Self::END } else { 0 };
        Self { sink: sink.name.clone(), expected: after.chars().skip(skipped).collect() }
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
