//! Secrets: put into a call at the boundary, and looked for in everything that comes back.
//!
//! A tool's configuration names one as `{{secret:github}}`. The model, the prompt, the ledger and the logs see the
//! name; only the handler gets the value. What a caller writes is never filled in: a placeholder in an argument is text.

use std::collections::BTreeMap;
use std::fmt;

use domain::call::Failure;
use serde_json::Value;

use crate::returned::{Artifact, Returned};

/// The least length of a value. A shorter one would be found in everything, and is no secret.
pub const SHORTEST: usize = 8;

const OPEN: &str = "{{secret:";
const CLOSE: &str = "}}";

/// What the house keeps secret, by name.
#[derive(Clone, Default)]
pub struct Secrets(BTreeMap<String, String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Secrets {
    /// # Errors
    /// If the value is too short to be one.
    pub fn insert(&mut self, name: &str, value: &str) -> Result<(), String> {
        if value.len() < SHORTEST {
            return Err(format!("the secret `{name}` has fewer than {SHORTEST} characters"));
        }
        self.0.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// The first secret whose value stands in a text.
    #[must_use]
    pub fn found_in_text(&self, text: &str) -> Option<&str> {
        self.0.iter().find(|(_, secret)| text.contains(secret.as_str())).map(|(name, _)| name.as_str())
    }

    /// The first secret whose value stands somewhere in this.
    #[must_use]
    pub fn found_in(&self, value: &Value) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        let holds = |text: &str| self.0.iter().find(|(_, secret)| text.contains(secret.as_str()));
        first(value, &holds).map(|(name, _)| name.as_str())
    }

    /// Puts names in the place of values, wherever they stand.
    pub(crate) fn redact(&self, returned: Returned) -> Returned {
        if self.0.is_empty() {
            return returned;
        }
        let Returned { outcome, artifacts, used } = returned;
        let outcome = match outcome {
            Ok(mut record) => {
                self.hide(&mut record);
                Ok(record)
            }
            Err(failure) => {
                let instead = failure.instead.into_iter().map(|text| self.hidden(text)).collect();
                Err(Failure { message: self.hidden(failure.message), instead, ..failure })
            }
        };
        let hide = |artifact: Artifact| Artifact { name: self.hidden(artifact.name), ..artifact };
        Returned { outcome, artifacts: artifacts.into_iter().map(hide).collect(), used }
    }

    /// The same in one value.
    pub fn hide(&self, value: &mut Value) {
        each(value, &|text| self.redacted(text));
    }

    /// The same in one text.
    pub(crate) fn hidden(&self, text: String) -> String {
        self.redacted(&text).unwrap_or(text)
    }

    fn redacted(&self, text: &str) -> Option<String> {
        let mut found: Vec<_> = self.0.iter().filter(|(_, secret)| text.contains(secret.as_str())).collect();
        if found.is_empty() {
            return None;
        }
        // One may stand in another: the longest goes first, or its rest would be left.
        found.sort_by_key(|(_, secret)| std::cmp::Reverse(secret.len()));
        let hide = |text: String, (name, secret): &(&String, &String)| {
            text.replace(secret.as_str(), &format!("[secret:{name}]"))
        };
        Some(found.iter().fold(text.to_owned(), hide))
    }

    /// Fills in what a configuration names.
    pub(crate) fn fill(&self, config: &mut Value) -> Result<(), Failure> {
        if let Some(name) = named(config).into_iter().find(|name| !self.0.contains_key(name)) {
            let what = format!("the secret `{name}` that the tool needs is not there");
            return Err(Failure::environmental(what));
        }
        each(config, &|text| {
            let names = names_in(text);
            let fill = |text: String, name: &String| match self.0.get(name) {
                Some(value) => text.replace(&format!("{OPEN}{name}{CLOSE}"), value),
                None => text,
            };
            (!names.is_empty()).then(|| names.iter().fold(text.to_owned(), fill))
        });
        Ok(())
    }
}

/// The secrets that a configuration names.
pub(crate) fn named(config: &Value) -> Vec<String> {
    match config {
        Value::String(text) => names_in(text),
        Value::Array(items) => items.iter().flat_map(named).collect(),
        Value::Object(fields) => fields.values().flat_map(named).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn names_in(text: &str) -> Vec<String> {
    let after = text.split(OPEN).skip(1);
    after.filter_map(|rest| rest.split_once(CLOSE).map(|(name, _)| name.to_owned())).collect()
}

/// The first text of a value, names of fields included, of which this says something.
fn first<T>(value: &Value, of: &impl Fn(&str) -> Option<T>) -> Option<T> {
    match value {
        Value::String(text) => of(text),
        Value::Array(items) => items.iter().find_map(|item| first(item, of)),
        Value::Object(fields) => {
            fields.iter().find_map(|(name, field)| of(name).or_else(|| first(field, of)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Changes every text of a value, names of fields included, where this gives another.
fn each(value: &mut Value, change: &impl Fn(&str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(changed) = change(text) {
                *text = changed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| each(field, change));
            if fields.keys().any(|name| change(name).is_some()) {
                let renamed = std::mem::take(fields).into_iter();
                *fields = renamed.map(|(name, field)| (change(&name).unwrap_or(name), field)).collect();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{Secrets, named};
    use domain::call::{Failure, Outcome};
    use serde_json::json;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.insert("github", "ghp_0123456789").unwrap();
        secrets.insert("mail", "correct horse").unwrap();
        secrets
    }

    #[test]
    fn a_configuration_names_what_it_needs_and_only_that_is_filled_in() {
        let mut config = json!({ "headers": ["Bearer {{secret:github}}"], "n": 1, "odd": "{{secret:mail" });
        assert_eq!(named(&config), ["github"]);
        secrets().fill(&mut config).unwrap();
        assert_eq!(config, json!({ "headers": ["Bearer ghp_0123456789"], "n": 1, "odd": "{{secret:mail" }));
        let missing = secrets().fill(&mut json!("{{secret:bank}}"));
        assert_eq!(
            missing,
            Err(Failure::environmental("the secret `bank` that the tool needs is not there"))
        );
    }

    #[test]
    fn a_value_is_found_wherever_it_stands_and_never_comes_back() {
        let secrets = secrets();
        let leaking = json!({ "a": [{ "b": "x ghp_0123456789 y" }], "correct horse": 1 });
        assert_eq!(secrets.found_in(&leaking), Some("github"));
        assert_eq!(secrets.found_in(&json!({ "correct horse": 1 })), Some("mail"));
        assert_eq!(secrets.found_in(&json!({ "a": "ghp_" })), None);
        let redact = |outcome: Outcome| secrets.redact(outcome.into()).outcome;
        let shown = redact(Ok(leaking)).unwrap();
        assert_eq!(shown, json!({ "a": [{ "b": "x [secret:github] y" }], "[secret:mail]": 1 }));
        let failed = redact(Err(Failure::logical("401 for ghp_0123456789")));
        assert_eq!(failed, Err(Failure::logical("401 for [secret:github]")));
    }

    #[test]
    fn what_is_too_short_is_no_secret_and_nothing_is_printed() {
        assert!(Secrets::default().insert("pin", "1234567").is_err());
        assert_eq!(format!("{:?}", secrets()), r#"{"github", "mail"}"#);
    }
}
