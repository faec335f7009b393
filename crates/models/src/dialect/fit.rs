//! A schema as each dialect takes it. What cannot be said in a dialect is not sent: the reply is then asked for in words,
//! and read as strictly as ever.

use serde_json::{Map, Value, json};

use crate::Dialect;

/// The field that a reply is put into where a schema must be an object at its root and ours is a choice.
const WRAP: &str = "reply";

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fitted {
    pub(super) schema: Value,
    /// The reply comes inside of `{"reply": …}`.
    pub(super) wrapped: bool,
}

/// None where the dialect cannot be held to this schema.
///
/// - OpenAI wants an object at the root, and in strict mode every field needed and no open object; ours have neither, so
///   strict is off and the root is wrapped.
/// - Anthropic closes every object, so an open one (a check's arguments) could only be empty: such a schema is not sent.
///   It takes no bounds on numbers, texts and lists.
/// - Gemini wants the type of an enum.
/// - Ollama makes a grammar of it as it is.
pub(super) fn reply(schema: &Value, dialect: Dialect) -> Option<Fitted> {
    let fitted = match dialect {
        Dialect::Ollama => return Some(Fitted { schema: schema.clone(), wrapped: false }),
        Dialect::Chat | Dialect::Responses => schema.clone(),
        Dialect::Anthropic if has_open_object(schema) => return None,
        Dialect::Anthropic => edit(schema, &|fields| {
            for bound in BOUNDS {
                fields.shift_remove(bound);
            }
        }),
        Dialect::Gemini => edit(schema, &type_of_enum),
    };
    let wrapped = fitted.get("type").and_then(Value::as_str) != Some("object");
    let schema = if wrapped {
        json!({ "type": "object", "properties": { WRAP: fitted }, "required": [WRAP], "additionalProperties": false })
    } else {
        fitted
    };
    Some(Fitted { schema, wrapped })
}

/// Of a function's arguments: always an object, and without what only validators need.
pub(super) fn arguments(schema: &Value) -> Value {
    let mut schema = edit(schema, &|fields| {
        fields.shift_remove("$schema");
        // `uint32` and the like are nobody's format.
        if fields.get("format").and_then(Value::as_str).is_some_and(|format| format.contains("int")) {
            fields.shift_remove("format");
        }
    });
    if let Some(fields) = schema.as_object_mut() {
        fields.entry("type").or_insert_with(|| "object".into());
        fields.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// Takes the reply out of its wrapping. Who did not wrap it is understood as well.
pub(super) fn unwrap(text: String) -> String {
    let inner = serde_json::from_str::<Map<String, Value>>(&text).ok().filter(|fields| fields.len() == 1);
    match inner.and_then(|mut fields| fields.shift_remove(WRAP)) {
        Some(inner @ Value::Object(_)) => inner.to_string(),
        _ => text,
    }
}

const BOUNDS: [&str; 9] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "pattern",
];

fn type_of_enum(fields: &mut Map<String, Value>) {
    if fields.contains_key("type") {
        return;
    }
    let Some(values) = fields.get("enum").and_then(Value::as_array) else { return };
    let texts: Vec<Value> = values.iter().filter(|value| value.is_string()).cloned().collect();
    let nulls = values.iter().filter(|value| value.is_null()).count();
    if texts.len() + nulls < values.len() {
        return;
    }
    if nulls > 0 {
        fields.shift_remove("enum");
        fields.insert("anyOf".into(), json!([{ "type": "string", "enum": texts }, { "type": "null" }]));
    } else {
        fields.insert("type".into(), "string".into());
    }
}

/// An object with fields that the schema does not name.
fn has_open_object(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_object = match fields.get("type") {
                Some(Value::String(name)) => name == "object",
                Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
                _ => false,
            };
            let closed = fields.contains_key("properties")
                && fields.get("additionalProperties") == Some(&Value::Bool(false));
            is_object && !closed || fields.values().any(has_open_object)
        }
        Value::Array(values) => values.iter().any(has_open_object),
        _ => false,
    }
}

/// The same change to a schema and to every schema in it; the names of fields are no schema.
fn edit(schema: &Value, change: &dyn Fn(&mut Map<String, Value>)) -> Value {
    match schema {
        Value::Object(fields) => {
            let inner = |(name, value): (&String, &Value)| {
                let value = match (name.as_str(), value) {
                    ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(named)) => {
                        named.iter().map(|(name, schema)| (name.clone(), edit(schema, change))).collect()
                    }
                    ("enum" | "const" | "default" | "examples" | "required", _) => value.clone(),
                    _ => edit(value, change),
                };
                (name.clone(), value)
            };
            let mut fields: Map<String, Value> = fields.iter().map(inner).collect();
            change(&mut fields);
            Value::Object(fields)
        }
        Value::Array(values) => values.iter().map(|value| edit(value, change)).collect(),
        _ => schema.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fitted, arguments, reply, unwrap};
    use crate::Dialect;
    use serde_json::{Value, json};

    fn closed(properties: Value) -> Value {
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    #[test]
    fn each_dialect_gets_what_it_takes() {
        let choice = json!({ "anyOf": [closed(json!({ "a": { "type": "integer", "minimum": 0 } })), closed(json!({ "b": { "enum": ["x", null] } }))] });
        let wrapped = |schema: Value| {
            let schema = json!({ "type": "object", "properties": { "reply": schema }, "required": ["reply"], "additionalProperties": false });
            Some(Fitted { schema, wrapped: true })
        };
        let unbound = json!({ "anyOf": [closed(json!({ "a": { "type": "integer" } })), closed(json!({ "b": { "enum": ["x", null] } }))] });
        let typed = json!({ "anyOf": [closed(json!({ "a": { "type": "integer", "minimum": 0 } })), closed(json!({ "b": { "anyOf": [{ "type": "string", "enum": ["x"] }, { "type": "null" }] } }))] });
        assert_eq!(reply(&choice, Dialect::Chat), wrapped(choice.clone()));
        assert_eq!(reply(&choice, Dialect::Responses), wrapped(choice.clone()));
        assert_eq!(reply(&choice, Dialect::Anthropic), wrapped(unbound));
        assert_eq!(reply(&choice, Dialect::Gemini), wrapped(typed));
        assert_eq!(reply(&choice, Dialect::Ollama), Some(Fitted { schema: choice, wrapped: false }));
        let object = closed(json!({ "minimum": { "type": "string" } }));
        for dialect in Dialect::ALL {
            assert_eq!(
                reply(&object, dialect),
                Some(Fitted { schema: object.clone(), wrapped: false }),
                "{dialect:?}"
            );
        }
    }

    #[test]
    fn anthropic_is_not_held_to_an_open_object() {
        for open in [
            json!({ "type": "object" }),
            json!({ "type": ["object", "null"] }),
            json!({ "type": "object", "properties": {} }),
        ] {
            let schema = closed(json!({ "args": open }));
            assert_eq!(reply(&schema, Dialect::Anthropic), None, "{schema}");
        }
    }

    #[test]
    fn arguments_are_an_object() {
        let derived = json!({ "$schema": "x", "title": "T", "type": "object", "properties": { "n": { "type": "integer", "format": "uint32" }, "at": { "type": "string", "format": "date-time" } } });
        let fitted = json!({ "title": "T", "type": "object", "properties": { "n": { "type": "integer" }, "at": { "type": "string", "format": "date-time" } } });
        assert_eq!(arguments(&derived), fitted);
        assert_eq!(arguments(&json!({})), json!({ "type": "object", "properties": {} }));
    }

    #[test]
    fn a_wrapped_reply_is_unwrapped_and_any_other_left_alone() {
        let cases = [
            (r#"{"reply": {"answer": "4"}}"#, r#"{"answer":"4"}"#),
            (r#"{"answer": "4"}"#, r#"{"answer": "4"}"#),
            (r#"{"reply": "4"}"#, r#"{"reply": "4"}"#),
            (r#"{"reply": {}, "more": 1}"#, r#"{"reply": {}, "more": 1}"#),
            ("words", "words"),
        ];
        for (text, expected) in cases {
            assert_eq!(unwrap(text.into()), expected);
        }
    }
}
