//! What the double understood of a request, whatever the dialect.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::denied::Denied;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Messages, of Anthropic.
    Anthropic,
    /// Chat Completions, of OpenAI and of all who took it over.
    Chat,
    /// Responses, of OpenAI.
    Responses,
    /// generateContent, of Google.
    Gemini,
    /// The chat of Ollama's own API.
    Ollama,
}

impl Dialect {
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::Chat, Self::Responses, Self::Gemini, Self::Ollama];
}

/// One request, answered or not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asked {
    pub dialect: Dialect,
    pub method: String,
    /// With what follows the question mark.
    pub path: String,
    pub model: String,
    pub system: String,
    /// The texts of all messages that are not the model's own, one per line.
    pub user: String,
    pub tools: Vec<Tool>,
    /// Of the reply, where one was asked for.
    pub schema: Option<Value>,
    pub stream: bool,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// Null where it was no JSON.
    pub body: Value,
    /// Why it got no answer: not what the script did to it, but what was wrong with it.
    pub denied: Option<Denied>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// What follows `Bearer` in the header for it.
    pub(crate) fn bearer(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ")
    }

    /// The value of a parameter behind the question mark.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name)).map(|(_, v)| v)
    }

    /// Whether the prompt says this.
    #[must_use]
    pub fn says(&self, text: &str) -> bool {
        self.system.contains(text) || self.user.contains(text)
    }

    /// How many tokens the prompt would be: four bytes each, which is near enough for a limit that tests set.
    pub(crate) fn tokens(&self) -> u64 {
        let bytes = self.system.len() + self.user.len();
        u64::try_from(bytes / 4).unwrap_or(u64::MAX)
    }

    pub(crate) fn add_system(&mut self, text: &str) {
        add_line(&mut self.system, text);
    }

    pub(crate) fn add_user(&mut self, text: &str) {
        add_line(&mut self.user, text);
    }
}

fn add_line(to: &mut String, text: &str) {
    if !to.is_empty() && !text.is_empty() {
        to.push('\n');
    }
    to.push_str(text);
}
