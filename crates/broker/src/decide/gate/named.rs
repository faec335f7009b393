//! The gate's own answer to whether the owner's request names a value.
//!
//! It shares no code with [`own_words`](super::super::own_words), which the provenance layer asks: a mistake in one of
//! them lets nothing through on its own. It trims marks more freely than the layer does, so that it never denies what
//! the layer lets pass; a piece of a word, path, address or number is refused by both.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::tool::{Reach, ToolSpec};

/// Marks that may be before a value, and those that may follow it.
const BEFORE: &str = "\"'`([{<\u{201c}\u{201e}\u{2018}\u{ab}\u{2039}\u{300c}\u{300e}\u{ff08}";
const AFTER: &str = "\"'`)]}>\u{201c}\u{201d}\u{2019}\u{bb}\u{203a}\u{300d}\u{300f}\u{ff09}.,;:!?\u{2026}/\
    \u{3001}\u{3002}\u{ff01}\u{ff0c}\u{ff1a}\u{ff1b}\u{ff1f}";
const CURRENCIES: [char; 4] = ['$', '\u{20ac}', '\u{a3}', '\u{a5}'];

/// The first argument that decides and that the request does not name. Where a tool that leaves the machine declares
/// none, every argument decides.
pub(super) fn unnamed_sink<'a>(tool: &ToolSpec, args: &'a Value, request: &str) -> Option<&'a str> {
    let Value::Object(fields) = args else { return Some("the arguments") };
    let all = tool.sinks.is_empty() && tool.reach == Reach::Outside;
    let request = Request::read(request, &tool.input_schema);
    let unnamed = |(name, value): &(&String, &Value)| {
        let decides = all || tool.sinks.contains(name);
        decides && !(request.has_name(name) && request.has(value))
    };
    fields.iter().find(unnamed).map(|(name, _)| name.as_str())
}

struct Request {
    words: Vec<String>,
    /// The schema as text: an argument's name that is written in it is not the model's.
    schema: String,
}

impl Request {
    fn read(request: &str, schema: &Value) -> Self {
        let words = request.nfc().collect::<String>();
        Self { words: words.split_whitespace().map(str::to_owned).collect(), schema: schema.to_string() }
    }

    fn has_name(&self, name: &str) -> bool {
        self.schema.contains(&Value::from(name).to_string()) || self.has_text(name)
    }

    fn has(&self, value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) => true,
            Value::String(text) => self.has_text(text),
            Value::Number(number) => number.as_f64().is_some_and(|number| self.has_number(number)),
            // A list of flags could spell anything.
            Value::Array(items) => {
                items.iter().all(|item| !item.is_null() && !item.is_boolean() && self.has(item))
            }
            Value::Object(fields) => {
                fields.iter().all(|(name, field)| self.has_name(name) && self.has(field))
            }
        }
    }

    fn has_number(&self, number: f64) -> bool {
        let bare = |word: &str| {
            let word = word.trim_start_matches(is_in(BEFORE)).trim_end_matches(is_in(AFTER));
            word.trim_matches(CURRENCIES).parse::<f64>()
        };
        let is_it = |found: f64| (found - number).abs() < f64::MIN_POSITIVE;
        self.words.iter().any(|word| bare(word).is_ok_and(is_it))
    }

    fn has_text(&self, text: &str) -> bool {
        let here = text.strip_prefix("./").unwrap_or(text);
        let folder = here.strip_suffix('/').unwrap_or(here);
        [text, here, folder].into_iter().any(|text| self.has_words(text))
    }

    fn has_words(&self, text: &str) -> bool {
        let text = text.nfc().collect::<String>();
        let wanted: Vec<&str> = text.split_whitespace().collect();
        match wanted.as_slice() {
            [] => false,
            _ if text.trim() != text => false,
            [only] => self.words.iter().any(|word| {
                let word = if only.parse::<f64>().is_ok() { &word.replace(CURRENCIES, "") } else { word };
                let mut places = word.match_indices(only);
                places.any(|(at, found)| is_marked(word.get(..at), word.get(at + found.len()..)))
            }),
            [first, middle @ .., last] => self.words.windows(wanted.len()).any(|words| {
                let [begin, between @ .., end] = words else { return false };
                is_marked(begin.strip_suffix(first), Some(""))
                    && between.iter().eq(middle.iter())
                    && is_marked(Some(""), end.strip_prefix(last))
            }),
        }
    }
}

/// Whether there is nothing but marks on both sides.
fn is_marked(before: Option<&str>, after: Option<&str>) -> bool {
    before.is_some_and(|before| before.chars().all(is_in(BEFORE)))
        && after.is_some_and(|after| after.chars().all(is_in(AFTER)))
}

fn is_in(marks: &'static str) -> impl Fn(char) -> bool {
    |mark| marks.contains(mark)
}
