//! A leave for calls to come: which tool, for whom, and with which values.
//!
//! A grant answers a review that would otherwise be put to a person, and never anything else: what is denied stays
//! denied. One that pins every sink to a value is worth more than one with patterns (see [`Enough`]).

use std::collections::BTreeMap;

use domain::call::{Call, ToolId};
use domain::id::GrantId;
use domain::{Digest, canonical};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decide::matches;
use crate::tool::ToolSpec;

/// What somebody granted, in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub tool: ToolId,
    /// What the tool was when it was granted: another one of the same name is not meant.
    pub nature: Digest,
    /// Whose chains: as a principal prints itself (`owner`, `known:p-…`), or `relationship:…`, or `tag:…`.
    pub principal: String,
    /// A glob over agents.
    pub agent: String,
    /// Nothing: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What arguments have to be. Every sink of the tool needs one; `*` stands for any run of characters.
    pub pins: BTreeMap<String, String>,
    /// Whether the owner wrote it themselves, and not as the answer to a question.
    pub by_hand: bool,
    #[serde(default)]
    pub reason: String,
}

/// A grant that holds at this moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    pub id: GrantId,
    pub terms: Terms,
}

impl Granted {
    pub(crate) fn worth(&self, call: &Call, tool: &ToolSpec, caller: Caller<'_>) -> Option<Enough> {
        self.terms.worth(call, tool, caller)
    }
}

/// What a layer that wants a person looks for in a grant. Ordered: a later one is harder to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Enough {
    /// Any that covers the call.
    Covered,
    /// One that the owner wrote by hand, with every sink pinned to a value.
    Pinned,
    /// No grant answers it.
    Never,
}

/// Who calls, as far as a grant asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) labels: &'a [String],
    pub(crate) agent: &'a str,
    pub(crate) session: &'a str,
}

impl Terms {
    /// How much this grant is worth for a call; nothing if it does not cover it.
    pub(crate) fn worth(&self, call: &Call, tool: &ToolSpec, caller: Caller<'_>) -> Option<Enough> {
        let for_them = self.tool == call.tool
            && self.nature == tool.nature()
            && caller.labels.contains(&self.principal)
            && matches(&self.agent, caller.agent)
            && self.session.as_deref().is_none_or(|session| session == caller.session);
        let args = call.args.as_object()?;
        // What is not an argument by name is not something that a pin can speak of.
        let declared = !tool.sinks.is_empty();
        let sink = |name: &String| !declared || tool.sinks.contains(name);
        let unpinned = args.keys().any(|name| sink(name) && !self.pins.contains_key(name));
        let fits = |(name, pin): (&String, &String)| args.get(name).is_some_and(|value| fits(pin, value));
        if !for_them || unpinned || !self.pins.iter().all(fits) {
            return None;
        }
        // One that names no value at all pins nothing.
        let exact = !self.pins.is_empty() && self.pins.values().all(|pin| !pin.contains('*'));
        Some(if exact && self.by_hand { Enough::Pinned } else { Enough::Covered })
    }
}

/// Whether a value is what a pin says. A pattern never reaches a value that could lead elsewhere than it reads.
fn fits(pin: &str, value: &Value) -> bool {
    match value {
        Value::String(text) if pin.contains('*') => is_plain(text) && matches(pin, text),
        Value::String(text) => pin == text,
        Value::Number(_) | Value::Bool(_) | Value::Null => {
            canonical::bytes(value).is_ok_and(|bytes| bytes == pin.as_bytes())
        }
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| fits(pin, item)),
        Value::Object(_) => false,
    }
}

/// Whether a text reads as the place that it names: no way up, no way round, nothing unseen.
fn is_plain(text: &str) -> bool {
    let part = |part: &str| !matches!(part, "" | "." | "..");
    text.split('/').all(part) && !text.contains('\\') && !text.chars().any(domain::is_unseen)
}

#[cfg(test)]
mod tests {
    use super::fits;
    use serde_json::{Value, json};

    #[test]
    fn a_pattern_never_reaches_what_could_lead_elsewhere() {
        let table: [(&str, Value, bool); 24] = [
            ("reports/*", json!("reports/a.md"), true),
            ("reports/*", json!("reports/deep/a.md"), true),
            ("reports/*", json!("reports/"), false),
            ("reports/*", json!("reports"), false),
            ("reports/*", json!("reports/../a.md"), false),
            ("reports/*", json!("reports/./a.md"), false),
            ("reports/*", json!("reports//a.md"), false),
            ("reports/*", json!("other/reports/a.md"), false),
            ("reports/*", json!("reports\\..\\a.md"), false),
            ("reports/*", json!("reports/a\u{202e}md"), false),
            ("reports/*", json!("reports/a\nb"), false),
            ("*", json!("/etc/passwd"), false),
            ("*", json!(".."), false),
            ("*@home.example", json!("lea@home.example"), true),
            ("*@home.example", json!("lea@home.example.evil.example"), false),
            ("a.md", json!("a.md"), true),
            ("a.md", json!("A.md"), false),
            ("a.md", json!("a.md "), false),
            ("5", json!(5), true),
            ("5", json!(5.0), true),
            ("5", json!(50), false),
            ("a", json!(["a", "a"]), true),
            ("a", json!(["a", "b"]), false),
            ("*", json!({ "path": "a" }), false),
        ];
        for (pin, value, expected) in table {
            assert_eq!(fits(pin, &value), expected, "{pin} {value}");
        }
        assert!(!fits("*", &json!([])), "nothing is no value");
    }
}
