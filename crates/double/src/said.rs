//! What a model says, before it is put into any dialect.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One reply. Nothing in it is an empty one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Said {
    pub text: String,
    pub thought: Option<Thought>,
    pub calls: Vec<Call>,
    /// That it will not, and why. Where a dialect has no word for it, it is plain text.
    pub refusal: Option<String>,
    /// What it said was held back.
    pub filtered: bool,
    /// It ran into the limit of tokens: the text ends where it ends, the arguments of the last call in their middle.
    pub cut_off: bool,
    pub usage: Usage,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thought {
    pub text: String,
    /// In Base64, which one vendor decodes.
    pub signature: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub name: String,
    pub args: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// All that went in, from the cache or not.
    #[serde(rename = "in")]
    pub input: u64,
    pub cached: u64,
    /// All that came out, thoughts included.
    pub out: u64,
    /// How much of that was thought.
    pub thought: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 12, cached: 0, out: 5, thought: 0 }
    }
}

impl Said {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    #[must_use]
    pub fn call(name: &str, args: Value) -> Self {
        Self::default().and_call(name, args)
    }

    #[must_use]
    pub fn and_call(mut self, name: &str, args: Value) -> Self {
        self.calls.push(Call { name: name.to_owned(), args });
        self
    }

    #[must_use]
    pub fn thinking(mut self, text: &str, signature: &str) -> Self {
        self.thought = Some(Thought { text: text.to_owned(), signature: signature.to_owned() });
        self
    }

    #[must_use]
    pub fn refusing(why: &str) -> Self {
        Self { refusal: Some(why.to_owned()), ..Self::default() }
    }

    #[must_use]
    pub fn using(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}
