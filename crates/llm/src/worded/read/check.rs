//! A check that a planner wrote. `{"file_exists":{"path":"a.md"}}` is how checks are written here; many models write
//! `{"kind":"file_exists","path":"a.md"}` whatever they are told, so that is read too.

use domain::criterion::Check;
use serde_json::{Map, Value, json};

use super::named;

/// Every check there is, by its name.
pub(crate) const KNOWN: [&str; 13] = [
    "exit_code",
    "file_exists",
    "file_absent",
    "file_contains",
    "file_count",
    "json_path",
    "regex",
    "number_in_range",
    "not_empty",
    "tool_called",
    "all_of",
    "any_of",
    "not",
];

/// # Errors
/// Which check cannot be used, and why.
pub(super) fn read(value: &Value) -> Result<Check, String> {
    let (name, body) = parted(value).ok_or_else(|| {
        format!("the check {} is not written like {{\"file_exists\":{{\"path\":\"a.md\"}}}}", named(value))
    })?;
    match (name, body) {
        (name, _) if !KNOWN.contains(&name) => {
            Err(format!("there is no check `{name}`; there are {}", KNOWN.join(", ")))
        }
        ("all_of", body) => Ok(Check::AllOf(several(name, &body)?)),
        ("any_of", body) => Ok(Check::AnyOf(several(name, &body)?)),
        ("not", body) => Ok(Check::Not(Box::new(read(within(&body, "check"))?))),
        (name, body) => {
            let whole = json!({ name: body });
            serde_json::from_value(whole).map_err(|error| format!("the check `{name}`: {error}"))
        }
    }
}

fn several(name: &str, body: &Value) -> Result<Vec<Check>, String> {
    let Value::Array(checks) = within(body, "checks") else {
        return Err(format!("the check `{name}` wants a list of checks"));
    };
    checks.iter().map(read).collect()
}

/// What is under this name, where the body says so; else the body itself.
fn within<'a>(body: &'a Value, name: &str) -> &'a Value {
    body.get(name).unwrap_or(body)
}

/// The name of a check, and the rest of it.
fn parted(value: &Value) -> Option<(&str, Value)> {
    let map = value.as_object()?;
    if let Some(Value::String(kind)) = map.get("kind") {
        let rest: Map<String, Value> = map
            .iter()
            .filter(|(key, _)| *key != "kind")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        return Some((kind, Value::Object(rest)));
    }
    let mut fields = map.iter();
    match (fields.next(), fields.next()) {
        (Some((name, body)), None) => Some((name, body.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, read};
    use domain::criterion::Check;
    use serde_json::{Value, json};

    /// One of each; the compiler says when there is another one.
    fn name(check: &Check) -> &'static str {
        match check {
            Check::ToolCalled { .. } => "tool_called",
            Check::JsonPath { .. } => "json_path",
            Check::NumberInRange { .. } => "number_in_range",
            Check::NotEmpty { .. } => "not_empty",
            Check::ExitCode { .. } => "exit_code",
            Check::FileExists { .. } => "file_exists",
            Check::FileAbsent { .. } => "file_absent",
            Check::FileContains { .. } => "file_contains",
            Check::FileCount { .. } => "file_count",
            Check::Regex { .. } => "regex",
            Check::AllOf(_) => "all_of",
            Check::AnyOf(_) => "any_of",
            Check::Not(_) => "not",
        }
    }

    #[test]
    fn both_ways_of_writing_each_check_are_read() {
        let exists = json!({ "file_exists": { "path": "a" } });
        let bodies = [
            json!({ "code": 0 }),
            json!({ "path": "a" }),
            json!({ "path": "a" }),
            json!({ "path": "a", "text": "b" }),
            json!({ "min": 1 }),
            json!({ "pointer": "/a", "equals": [1] }),
            json!({ "pattern": "^a" }),
            json!({ "pointer": "/a", "min": 0, "max": null }),
            json!({ "pointer": "/a" }),
            json!({ "tool": "glob" }),
            json!({ "checks": [exists] }),
            json!({ "checks": [] }),
            json!({ "check": { "kind": "not_empty", "pointer": "" } }),
        ];
        for (known, body) in KNOWN.into_iter().zip(bodies) {
            let mut kind = body.clone();
            kind["kind"] = json!(known);
            let ours = read(&json!({ known: body })).unwrap();
            assert_eq!((name(&ours), read(&kind)), (known, Ok(ours.clone())));
            assert_eq!(read(&serde_json::to_value(&ours).unwrap()), Ok(ours), "as it is written here");
        }
    }

    #[test]
    fn a_check_that_cannot_be_used_is_named() {
        let table: [(Value, &str); 6] = [
            (json!({ "is_nice": {} }), "there is no check `is_nice`; there are exit_code, file_exists,"),
            (json!({ "kind": "is_nice" }), "there is no check `is_nice`"),
            (json!({ "file_exists": {} }), "the check `file_exists`: missing field `path`"),
            (json!({ "all_of": [{ "nope": 1 }] }), "there is no check `nope`"),
            (json!({ "any_of": 1 }), "the check `any_of` wants a list of checks"),
            (json!("not_empty"), "the check `\"not_empty\"` is not written like {\"file_exists\""),
        ];
        for (value, expected) in table {
            let why = read(&value).unwrap_err();
            assert!(why.starts_with(expected), "{why}");
        }
    }
}
