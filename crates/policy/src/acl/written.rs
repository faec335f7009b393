//! A policy as a person would write it: what [`load()`](super::load()) reads back as the same policy.

use serde_json::{Map, Value};

use super::policy::Policy;

/// In the order in which the documents show them.
const FIELDS: [&str; 10] = [
    "name",
    "match",
    "effect",
    "permissions",
    "session",
    "modifiers",
    "priority",
    "ceiling",
    "enabled",
    "pairing",
];

/// The YAML of one policy, as an entry of a file. What it leaves to the default is left out.
#[must_use]
pub fn written(policy: &Policy) -> String {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(policy) else { return String::new() };
    for (field, default) in [("ceiling", false), ("enabled", true)] {
        if fields.get(field) == Some(&Value::Bool(default)) {
            fields.remove(field);
        }
    }
    let mut text = String::new();
    for field in FIELDS {
        let Some(value) = fields.remove(field).and_then(|value| kept(field, value)) else { continue };
        let begin = if text.is_empty() { "- " } else { "  " };
        text.push_str(&format!("{begin}{field}:"));
        match value {
            Value::Object(map) if !map.is_empty() => {
                text.push('\n');
                for (key, value) in map {
                    text.push_str(&format!("    {key}: {}\n", flow(&value)));
                }
            }
            value => text.push_str(&format!(" {}\n", flow(&value))),
        }
    }
    text
}

/// Nothing of what says nothing. A list of no credentials does say something.
fn kept(field: &str, value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(map) => {
            let map: Map<String, Value> =
                map.into_iter().filter_map(|(key, value)| Some((key.clone(), kept(&key, value)?))).collect();
            (!map.is_empty() || field == "match").then_some(Value::Object(map))
        }
        Value::Array(list) if list.is_empty() && field != "credentials" => None,
        value => Some(value),
    }
}

fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(list) => format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let fields: Vec<String> =
                map.iter().map(|(key, value)| format!("{key}: {}", flow(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        plain => plain.to_string(),
    }
}

/// Bare where nobody could take it for something else, else in quotes. JSON's escapes are YAML's.
fn scalar(text: &str) -> String {
    let bare = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        && !["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
            .contains(&text.to_lowercase().as_str());
    if bare { text.to_owned() } else { Value::String(text.to_owned()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::written;
    use crate::acl::load::{Origin, Source, load};
    use crate::acl::shipped;

    #[test]
    fn what_is_written_is_read_back_as_the_same() {
        let own = "- name: odd\n  match:\n    principal: { id: \"true\", tags: [\"a: b\", \"\\u00e9\\\\\"], webhook: true }\n    conditions:\n      - { time: [weekdays, \"23:00-08:00\"], account: \"07\" }\n      - { event_type: \"null\" }\n  effect: allow\n  permissions: { tools: \"*\", credentials: [], data: none }\n  session: { persona: atlas, key: \"x:{platform}\" }\n  modifiers: { trust: standard, delay_response: false, queue_mode: collect }\n  priority: 0\n  enabled: false\n- name: everybody\n  match: {}\n  effect: deny\n  priority: 7\n  pairing: once\n";
        let odd = Source { file: "odd.yaml", text: own, origin: Origin::Own };
        let sources: Vec<Source<'_>> = shipped::FILES.into_iter().chain([odd]).collect();
        let set = load(&sources).expect("no mistake").set;
        for policy in set.iter() {
            let text = written(policy);
            let again = load(&[Source { file: "again.yaml", text: &text, origin: Origin::Own }]);
            let again = again.unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"));
            assert_eq!(again.set.iter().collect::<Vec<_>>(), [policy], "{text}");
        }
        let owner = written(set.get("owner-full-access").expect("it ships"));
        assert!(owner.starts_with("- name: owner-full-access\n  match:\n"), "{owner}");
    }
}
