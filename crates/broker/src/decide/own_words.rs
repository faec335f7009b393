//! Does a value stand word for word in what the owner wrote?
//!
//! Only whole words count: 5 does not stand in `50`, `lea@x.org` not in `malea@x.org`, `docs` not in `docs/old`. Who
//! spells a value from pieces of words has chosen it themselves.

use domain::canonical;
use domain::source::{Source, Text};
use serde_json::Value;

use crate::tool::{Reach, ToolSpec};

/// What is said where the arguments have no names.
const WHOLE: &str = "the arguments";

/// The owner's own words of a request; none where somebody else, or a model, said it.
pub(crate) fn of(request: &Text) -> &str {
    if request.source == Source::Owner { &request.text } else { "" }
}

/// The first sink that does not stand in these words. Sinks are the declared ones; where nothing is declared of what
/// leaves, every argument is one.
pub(crate) fn unexplained_sink<'a>(tool: &'a ToolSpec, args: &'a Value, words: &str) -> Option<&'a str> {
    let declared = !tool.sinks.is_empty() || tool.reach != Reach::Outside;
    if !args.is_object() {
        return Some(WHOLE);
    }
    if !declared {
        return unexplained_argument(tool, args, words);
    }
    let sinks = args.as_object().into_iter().flatten().filter(|(name, _)| tool.sinks.contains(name));
    let mut unexplained = sinks.filter(|(_, value)| !explains(words, value, &tool.input_schema));
    unexplained.next().map(|(name, _)| name.as_str())
}

/// The first argument, sink or not, that does not stand in these words.
pub(crate) fn unexplained_argument<'a>(tool: &'a ToolSpec, args: &'a Value, words: &str) -> Option<&'a str> {
    let schema = &tool.input_schema;
    let Value::Object(args) = args else {
        return (!explains(words, args, schema)).then_some(WHOLE);
    };
    let explained =
        |(name, value): &(&String, &Value)| names(words, name, schema) && explains(words, value, schema);
    args.iter().find(|argument| !explained(argument)).map(|(name, _)| name.as_str())
}

fn explains(words: &str, value: &Value, schema: &Value) -> bool {
    match value {
        // One of them carries too little to matter.
        Value::Null | Value::Bool(_) => true,
        Value::String(_) | Value::Number(_) => stands_in(words, value),
        // Many of them carry whatever somebody wants to carry.
        Value::Array(items) => items.iter().all(|item| match item {
            Value::Null | Value::Bool(_) => false,
            item => explains(words, item, schema),
        }),
        Value::Object(fields) => {
            fields.iter().all(|(name, field)| names(words, name, schema) && explains(words, field, schema))
        }
    }
}

/// A name is the tool's own, or it is a value like any other.
fn names(words: &str, name: &str, schema: &Value) -> bool {
    declares(schema, name) || is_whole_in(words, name)
}

/// Whether a schema names this field, at any depth.
fn declares(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(parts) => {
            let here = parts.get("properties").and_then(Value::as_object);
            here.is_some_and(|fields| fields.contains_key(name))
                || parts.values().any(|part| declares(part, name))
        }
        Value::Array(parts) => parts.iter().any(|part| declares(part, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether this text or number is written there. Anything else is not one value, and is written nowhere.
pub(crate) fn stands_in(words: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => is_whole_in(words, text),
        // As it is kept: 2.0 is 2, today and when the decision is made again.
        Value::Number(_) => canonical::bytes(value)
            .is_ok_and(|number| str::from_utf8(&number).is_ok_and(|number| is_whole_in(words, number))),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn is_whole_in(words: &str, text: &str) -> bool {
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else { return false };
    words.match_indices(text).any(|(at, found)| {
        let before = words.get(..at).unwrap_or_default().chars().rev();
        let after = words.get(at + found.len()..).unwrap_or_default().chars();
        !text.trim().is_empty() && !goes_on(first, before, Side::Before) && !goes_on(last, after, Side::After)
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// Whether what stands beside this edge of a text belongs to the same word, number, address or path.
fn goes_on(edge: char, beside: impl Iterator<Item = char>, side: Side) -> bool {
    let mut beside = beside;
    let (Some(next), beyond) = (beside.next(), beside.next()) else { return false };
    if !edge.is_alphanumeric() {
        return false;
    }
    let number = edge.is_ascii_digit();
    match next {
        next if next.is_alphanumeric() => true,
        // A sign: 5 is not -5.
        '-' if number && side == Side::Before => true,
        '.' | '_' | '-' | '@' | '+' | '/' | '\\' | ':' => beyond.is_some_and(char::is_alphanumeric),
        ',' => number && beyond.is_some_and(|beyond| beyond.is_ascii_digit()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{stands_in, unexplained_argument, unexplained_sink};
    use crate::tool::{Reach, ToolSpec};
    use domain::Tier;
    use serde_json::{Value, json};

    #[test]
    fn only_whole_words_count() {
        let table = [
            ("send it to lea@x.org, please", json!("lea@x.org"), true),
            ("send it to malea@x.org", json!("lea@x.org"), false),
            ("send it to ma.lea@x.org", json!("lea@x.org"), false),
            ("send it to lea@x.org.example", json!("lea@x.org"), false),
            ("Lea's list", json!("Lea"), true),
            ("look into docs/old", json!("docs"), false),
            ("look into docs/old", json!("docs/old"), true),
            ("look into 'docs'.", json!("docs"), true),
            ("pay $50", json!(50), true),
            ("pay $50.", json!(50.0), true),
            ("pay $50", json!(5), false),
            ("pay 1,250", json!(250), false),
            ("pay 9.50", json!(9), false),
            ("it was -5", json!(5), false),
            ("it was -5", json!(-5), true),
            ("on 2026-11-16", json!(16), false),
            ("on 2026-11-16", json!("2026-11-16"), true),
            ("anything", json!(""), false),
            ("any thing", json!(" "), false),
            ("it is true", json!(true), false),
            ("straße 7", json!("straß"), false),
        ];
        for (words, value, expected) in table {
            assert_eq!(stands_in(words, &value), expected, "{value} in {words}");
        }
    }

    fn tool(sinks: &[&str], reach: Reach) -> ToolSpec {
        let schema =
            json!({ "properties": { "to": {}, "with": { "properties": { "name": {} } }, "flag": {} } });
        ToolSpec {
            sinks: sinks.iter().map(|sink| (*sink).to_owned()).collect(),
            reach,
            input_schema: schema,
            ..ToolSpec::shipped("t".parse().unwrap(), "", Tier::WriteSafe)
        }
    }

    #[test]
    fn nothing_is_smuggled_beside_the_values() {
        let table: [(Value, Option<&str>); 10] = [
            (json!({ "to": "lea", "flag": true, "with": { "name": "bo" } }), None),
            (json!({ "to": ["lea", "bo"] }), None),
            (json!({ "to": ["lea", "eve"] }), Some("to")),
            // A name that the schema does not know is a value.
            (json!({ "eve": null }), Some("eve")),
            (json!({ "lea": null }), None),
            (json!({ "with": { "eve": true } }), Some("with")),
            // Bit by bit.
            (json!({ "to": [true, false, true] }), Some("to")),
            (json!({ "to": [null] }), Some("to")),
            (json!("eve"), Some("the arguments")),
            (json!({}), None),
        ];
        for (args, expected) in table {
            let tool = tool(&[], Reach::Outside);
            assert_eq!(unexplained_argument(&tool, &args, "to lea and bo"), expected, "{args}");
            assert_eq!(unexplained_sink(&tool, &args, "to lea and bo"), expected, "{args}");
        }
    }

    #[test]
    fn sinks_are_the_declared_ones_and_everything_that_leaves_where_none_is() {
        let args = json!({ "to": "lea", "text": "made up" });
        let table = [
            (tool(&["to"], Reach::Outside), None),
            (tool(&["text"], Reach::Outside), Some("text")),
            (tool(&[], Reach::Outside), Some("text")),
            (tool(&[], Reach::Workspace), None),
            (tool(&["text"], Reach::Workspace), Some("text")),
        ];
        for (tool, expected) in table {
            assert_eq!(unexplained_sink(&tool, &args, "write to lea"), expected, "{:?}", tool.sinks);
        }
    }
}
