//! Is a value written word for word in the owner's request?
//!
//! Only whole tokens count: words, paths, addresses and numbers between blanks. `50` does not name 5, `malea@x.org` not
//! `lea@x.org`, `docs/old` not `docs`, `home.profile` not `.profile`. A value that is made from a piece of a token was
//! chosen by the model. Text is compared in Unicode's composed form (NFC).

use std::ops::Range;

use domain::canonical;
use domain::source::{Source, Text};
use serde_json::{Number, Value};
use unicode_normalization::UnicodeNormalization;

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
        Value::String(_) | Value::Number(_) => names_value(words, value),
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
    declares(schema, name) || names_text(words, name)
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

/// Whether this text or number is written there. Any other value is not one token.
pub(crate) fn names_value(words: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => names_text(words, text),
        Value::Number(_) => names_number(words, value),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Whether a text is written there as one token or several: with the marks around it, or without those at both ends.
fn names_text(words: &str, text: &str) -> bool {
    let words: String = words.nfc().collect();
    let (whole, bare): (Vec<_>, Vec<_>) = tokens(&words).map(|token| (token.whole, token.bare)).unzip();
    let is_there = |text: &str| {
        let text: String = text.nfc().collect();
        let spans = [&whole, &bare];
        !text.is_empty()
            && text == text.trim()
            && spans.iter().any(|spans| is_from_start_to_end(&words, &text, spans))
    };
    is_there(text) || is_there(as_named(text))
}

/// `./a.txt` is `a.txt`, and `docs/` is `docs`.
fn as_named(text: &str) -> &str {
    let text = text.strip_prefix("./").unwrap_or(text);
    text.strip_suffix('/').filter(|folder| folder.ends_with(char::is_alphanumeric)).unwrap_or(text)
}

/// Whether a text begins where one of these spans begins, and ends where one of them ends.
fn is_from_start_to_end(words: &str, text: &str, spans: &[Range<usize>]) -> bool {
    let ends_one = |end: usize| spans.iter().any(|span| span.end == end);
    let begins = |span: &&Range<usize>| words.get(span.start..).is_some_and(|rest| rest.starts_with(text));
    spans.iter().filter(begins).any(|span| ends_one(span.start + text.len()))
}

/// Whether a token is this number. Both are compared as they are kept: 2.0 is 2, and 9.50 is 9.5.
fn names_number(words: &str, number: &Value) -> bool {
    let Ok(number) = canonical::bytes(number) else { return false };
    let is_it = |token: Token| {
        let token = words.get(token.bare).and_then(|bare| serde_json::from_str::<Number>(bare).ok());
        token.and_then(|token| canonical::bytes(&token).ok()).is_some_and(|token| token == number)
    };
    tokens(words).any(is_it)
}

/// What is between two blanks: a word, a path, an address, a number.
struct Token {
    whole: Range<usize>,
    /// Without the marks of the sentence around it.
    bare: Range<usize>,
}

fn tokens(words: &str) -> impl Iterator<Item = Token> {
    let mut next = 0;
    words.split_inclusive(char::is_whitespace).map(move |token| {
        let start = next;
        next += token.len();
        let token = token.trim_end();
        let bare = bare(token);
        Token { whole: start..start + token.len(), bare: start + bare.start..start + bare.end }
    })
}

/// With those that are written in Chinese and Japanese.
const SENTENCE_MARKS: [char; 14] = [
    '.', ',', ';', ':', '!', '?', '\u{2026}', '\u{3001}', '\u{3002}', '\u{ff01}', '\u{ff0c}', '\u{ff1a}',
    '\u{ff1b}', '\u{ff1f}',
];
const PAIRS: [(char, char); 15] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('<', '>'),
    ('\u{201c}', '\u{201d}'),
    ('\u{2018}', '\u{2019}'),
    ('\u{201e}', '\u{201c}'),
    ('\u{ab}', '\u{bb}'),
    ('\u{2039}', '\u{203a}'),
    ('\u{300c}', '\u{300d}'),
    ('\u{300e}', '\u{300f}'),
    ('\u{ff08}', '\u{ff09}'),
];
const CURRENCIES: [char; 4] = ['$', '\u{20ac}', '\u{a3}', '\u{a5}'];

/// Where a token is without sentence marks at its end, without quotes and brackets around it, and without a currency at
/// an amount. A full stop before it is never taken away, because `.profile` is not `profile`; a bracket that is closed
/// inside the token is part of a name, as in `[id].tsx`.
fn bare(token: &str) -> Range<usize> {
    let mut bare = token;
    let mut start = 0;
    loop {
        let before = bare.len();
        // Two full stops after a slash are the folder above.
        bare = if bare.ends_with("/..") { bare } else { bare.trim_end_matches(SENTENCE_MARKS) };
        for (open, close) in PAIRS {
            let without = without_pair(bare, open, close);
            start += if bare.starts_with(open) && without != bare { open.len_utf8() } else { 0 };
            bare = without;
        }
        if bare.len() == before {
            break;
        }
    }
    // `docs/` is the folder `docs`.
    let folder = bare.strip_suffix('/').filter(|folder| folder.ends_with(char::is_alphanumeric));
    bare = folder.unwrap_or(bare);
    let (before, after) = (bare.strip_prefix(CURRENCIES), bare.strip_suffix(CURRENCIES));
    let is_amount = |amount: &&str| amount.parse::<f64>().is_ok();
    if let Some(amount) = before.filter(is_amount) {
        start += bare.len() - amount.len();
        bare = amount;
    } else if let Some(amount) = after.filter(is_amount) {
        bare = amount;
    }
    start..start + bare.len()
}

/// Without a quotation that is around it, or that begins or ends with it.
fn without_pair(token: &str, open: char, close: char) -> &str {
    let opened = token.strip_prefix(open);
    if let Some(inside) = opened.and_then(|rest| rest.strip_suffix(close)) {
        return inside;
    }
    let begins = opened.filter(|rest| !rest.contains(close));
    let ends = || token.strip_suffix(close).filter(|rest| !rest.contains(open));
    begins.or_else(ends).unwrap_or(token)
}

#[cfg(test)]
mod tests {
    use super::{names_value, unexplained_argument, unexplained_sink};
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
            ("Lea's list", json!("Lea"), false),
            ("Lea's list", json!("Lea's"), true),
            ("look into docs/old", json!("docs"), false),
            ("look into docs/old", json!("docs/old"), true),
            ("look into 'docs'.", json!("docs"), true),
            ("pay $50", json!(50), true),
            ("pay $50.", json!(50.0), true),
            ("pay $50", json!(5), false),
            ("pay 1,250", json!(250), false),
            ("pay 9.50", json!(9), false),
            ("pay 9.50", json!(9.5), true),
            ("pay 50\u{20ac}, now", json!(50), true),
            ("with $HOME", json!("HOME"), false),
            ("it was -5", json!(5), false),
            ("it was -5", json!(-5), true),
            ("on 2026-11-16", json!(16), false),
            ("on 2026-11-16", json!("2026-11-16"), true),
            ("anything", json!(""), false),
            ("any thing", json!(" "), false),
            ("it is true", json!(true), false),
            ("straße 7", json!("straß"), false),
            ("how does home.profile differ", json!(".profile"), false),
            ("what is in .profile?", json!(".profile"), true),
            ("what is in .profile?", json!("profile"), false),
            ("compare config.env with it", json!(".env"), false),
            ("look into docs/old", json!("docs/"), false),
            ("put it into docs/.", json!("docs"), true),
            ("read my_notes.txt", json!("_notes.txt"), false),
            ("read cafe\u{301}.txt", json!("cafe"), false),
            ("read cafe\u{301}.txt", json!("caf\u{e9}.txt"), true),
            ("write to Lea <lea@x.org>", json!("lea@x.org"), true),
            ("change [id].tsx", json!("id].tsx"), false),
            ("change [id].tsx", json!("[id].tsx"), true),
            ("delete *.txt", json!(".txt"), false),
            ("say \"hello world\" to them", json!("hello world"), true),
            ("say \"hello world\" to them", json!("\"hello world"), false),
            ("say hello  world", json!("hello world"), false),
            ("(see a.txt)", json!("a.txt"), true),
            ("a.txt,b.txt", json!("a.txt"), false),
            ("look into docs/..", json!("docs"), false),
            ("read $1.txt", json!("1.txt"), false),
            ("read a1$ too", json!("a1"), false),
            ("read a.txt  now", json!("a.txt "), false),
            ("read a.txt", json!("./a.txt"), true),
            ("into docs", json!("docs/"), true),
            ("\u{300c}a.txt\u{300d}\u{3002}", json!("a.txt"), true),
        ];
        for (words, value, expected) in table {
            assert_eq!(names_value(words, &value), expected, "{value} in {words}");
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
