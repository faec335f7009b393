//! JSON Schema (draft 2020-12), compiled once per tool and only when it is first needed.
//!
//! Schemas may come from outside: nothing is fetched, and patterns are matched in linear time.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

/// How many mistakes a message names.
const NAMED: usize = 3;
/// How much of one mistake it shows: a message may quote the value.
const SHOWN: usize = 300;

#[derive(Debug)]
pub(crate) struct Schema(Validator);

impl Schema {
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        bounded(schema)?;
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES))
            .build(schema)
            .map(Self)
            .map_err(|error| format!("it is no JSON Schema: {}", shortened(&error.to_string())))
    }

    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        if self.0.is_valid(value) {
            return Ok(());
        }
        let mut errors = self.0.iter_errors(value);
        let named: Vec<String> = errors
            .by_ref()
            .take(NAMED)
            .map(|error| {
                let place = error.instance_path().to_string();
                let message = shortened(&error.to_string());
                if place.is_empty() { message } else { format!("{message} (at `{place}`)") }
            })
            .collect();
        let more = errors.count();
        let more = if more == 0 { String::new() } else { format!("; {more} more") };
        Err(format!("{}{more}", named.join("; ")))
    }
}

/// How large a schema may be once every reference in it is written out: checking takes about that many steps, and cannot
/// be interrupted.
const STEPS: u64 = 20_000;
const PATTERNS: u64 = 50;
const PATTERN_BYTES: usize = 1 << 20;
const DEEPEST: usize = 100;

/// Refuses what would take too long to check. A schema may come from outside.
fn bounded(schema: &Value) -> Result<(), String> {
    let mut size = Size { root: schema, steps: 0, patterns: 0 };
    size.count(schema, &mut Vec::new())?;
    match () {
        () if size.steps > STEPS => {
            Err(format!("it is too large: more than {STEPS} parts, with its references"))
        }
        () if size.patterns > PATTERNS => Err(format!("it has more than {PATTERNS} patterns")),
        () => Ok(()),
    }
}

struct Size<'a> {
    root: &'a Value,
    steps: u64,
    patterns: u64,
}

impl<'a> Size<'a> {
    /// `open` are the references that are being followed: one that leads back is refused where it could be taken twice
    /// for one value, so it is refused altogether.
    fn count(&mut self, part: &'a Value, open: &mut Vec<&'a str>) -> Result<(), String> {
        self.steps += 1;
        if self.steps > STEPS {
            return Ok(());
        }
        if open.len() > DEEPEST {
            return Err("its references are nested too deeply".into());
        }
        match part {
            Value::Object(parts) => {
                self.patterns += u64::from(parts.contains_key("pattern"));
                let named = parts.get("patternProperties").and_then(Value::as_object);
                self.patterns += named.map_or(0, |named| named.len() as u64);
                if let Some(to) = parts.get("$ref").or_else(|| parts.get("$dynamicRef")) {
                    self.follow(to, open)?;
                }
                parts.values().try_for_each(|part| self.count(part, open))
            }
            Value::Array(parts) => parts.iter().try_for_each(|part| self.count(part, open)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn follow(&mut self, to: &'a Value, open: &mut Vec<&'a str>) -> Result<(), String> {
        let to = to.as_str().unwrap_or_default();
        let Some(pointer) = to.strip_prefix('#') else {
            return Err(format!("the reference `{to}` leads elsewhere; nothing is fetched"));
        };
        if open.contains(&to) {
            return Err(format!("the reference `{to}` leads back to itself"));
        }
        let target = self.root.pointer(pointer);
        let target = target.ok_or_else(|| format!("the reference `{to}` leads nowhere"))?;
        open.push(to);
        let counted = self.count(target, open);
        open.pop();
        counted
    }
}

fn shortened(text: &str) -> String {
    if text.chars().nth(SHOWN).is_none() {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::Schema;
    use serde_json::json;

    #[test]
    fn mistakes_are_named_with_their_place() {
        let schema = json!({
            "type": "object",
            "properties": { "path": { "type": "string" }, "limit": { "type": "integer", "minimum": 1 } },
            "required": ["path"],
            "additionalProperties": false,
        });
        let schema = Schema::compile(&schema).unwrap();
        let table = [
            (json!({ "path": "a" }), Ok(())),
            (json!({}), Err("\"path\" is a required property")),
            (json!({ "path": 7 }), Err("7 is not of type \"string\" (at `/path`)")),
            (json!({ "path": "a", "limit": 0 }), Err("0 is less than the minimum of 1 (at `/limit`)")),
            (
                json!({ "path": "a", "pth": "b" }),
                Err("Additional properties are not allowed ('pth' was unexpected)"),
            ),
            (json!("a"), Err("\"a\" is not of type \"object\"")),
        ];
        for (value, expected) in table {
            assert_eq!(schema.check(&value), expected.map_err(str::to_owned), "{value}");
        }
    }

    #[test]
    fn nothing_is_fetched_and_a_slow_pattern_is_refused() {
        let remote = json!({ "$ref": "https://example.org/schema.json" });
        assert!(Schema::compile(&remote).is_err());
        // A look-ahead needs an engine that can be made to run for ever.
        assert!(Schema::compile(&json!({ "type": "string", "pattern": "^(?=a)(a+)+$" })).is_err());
        assert!(Schema::compile(&json!({ "type": "strng" })).is_err());
    }

    /// Each of these took from 10 seconds to minutes before they were bounded.
    #[test]
    fn what_would_take_for_ever_to_check_is_refused() {
        let doubling = |word: &str| {
            let mut defs = serde_json::Map::new();
            for n in 0..30 {
                let next = json!({ "$ref": format!("#/$defs/a{}", n + 1) });
                defs.insert(format!("a{n}"), json!({ word: [next.clone(), next] }));
            }
            defs.insert("a30".into(), json!({ "type": "string" }));
            json!({ "$ref": "#/$defs/a0", "$defs": defs })
        };
        let patterns: Vec<_> = (0..60).map(|n| json!({ "pattern": format!("a{n}") })).collect();
        let table = [
            (doubling("anyOf"), "too large"),
            (doubling("allOf"), "too large"),
            (json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] }), "leads back to itself"),
            (json!({ "allOf": patterns }), "patterns"),
            (json!({ "$ref": "#/$defs/none" }), "leads nowhere"),
        ];
        for (schema, why) in table {
            let refused = Schema::compile(&schema).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
