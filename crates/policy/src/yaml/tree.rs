//! YAML as a tree in which every scalar, list and map knows where it stands. serde alone would stop at the first mistake;
//! this reads everything that is well-formed, and the checks walk over it.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{AliasLimits, DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Options, Spanned};

use super::desk::shown;
use super::limits::{ALIASES, DEPTH, NODES};
use super::mistake::{Place, Wrong};

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Place,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Nothing,
    Flag(bool),
    Number(i64),
    /// A number that is no small whole one.
    OtherNumber,
    Text(String),
    List(Vec<Node>),
    /// As written: a field may stand there twice.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// What it is, for a sentence about what it should have been.
    pub(crate) const fn kind(&self) -> &'static str {
        match self.value {
            Value::Nothing => "empty",
            Value::Flag(_) => "`true` or `false`",
            Value::Number(_) | Value::OtherNumber => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// The tree of one file, or the one mistake that keeps it from being read.
pub(crate) fn read(text: &str) -> Result<Node, (Place, Wrong, Option<String>)> {
    serde_saphyr::from_str_with_options::<Node>(text, options()).map_err(|error| explain(&error))
}

fn options() -> Options {
    let mut aliases = AliasLimits::default();
    aliases.max_total_replayed_events = NODES;
    aliases.max_replay_stack_depth = DEPTH;
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: NODES,
            max_events: 4 * NODES,
            max_depth: DEPTH,
            flow_nesting_limit: 4 * DEPTH, // the scanner looks ahead of what is counted as depth
            max_aliases: ALIASES,
            max_anchors: ALIASES,
            max_recorded_anchor_events: 4 * NODES,
            max_documents: 2, // the second is refused, and not counted
        },
        alias_limits: aliases,
        // Both are mistakes, and ours to report with all the others.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

fn explain(error: &Error) -> (Place, Wrong, Option<String>) {
    let at = error.location().map_or(Place::START, |at| Place { line: at.line(), column: at.column() });
    let mut inner = error.without_snippet();
    while let Error::AliasError { error, .. } = inner {
        inner = error.without_snippet();
    }
    let (wrong, help) = match inner {
        Error::Budget { .. } => {
            let help =
                format!("{NODES} nodes, {DEPTH} levels and {ALIASES} aliases are the most for one file");
            (Wrong::TooMuch, help)
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => {
            (Wrong::AliasBomb, "write out what they stand for".to_owned())
        }
        Error::MultipleDocuments { .. } => {
            (Wrong::SecondDocument, "leave out the `---`, or make it a file of its own".to_owned())
        }
        Error::UnsupportedTag { .. } => (Wrong::Tagged, "leave the tag out".to_owned()),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            (Wrong::AliasBomb, "an alias cannot stand for itself".to_owned())
        }
        other => match said(other) {
            // The scanner has a limit of its own, and no kind of error for it.
            said if said.contains("recursion limit") => {
                (Wrong::TooMuch, format!("{DEPTH} levels are the most for one file"))
            }
            said => return (at, Wrong::NotYaml(said), None),
        },
    };
    (at, wrong, Some(help))
}

/// The first line of what the parser says, without the place, which stands before it already.
fn said(error: &Error) -> String {
    let whole = error.to_string();
    let first = whole.lines().next().unwrap_or_default();
    let (place, rest) = first.split_once(": ").unwrap_or_default();
    let sentence = if place.starts_with("error: line ") || place.contains("line ") { rest } else { first };
    shown(sentence.split(" at line ").next().unwrap_or(sentence))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, referenced, .. } = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { at: Place { line: referenced.line(), column: referenced.column() }, value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar, a list or a map")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::OtherNumber, Value::Number))
    }

    fn visit_i128<E>(self, _: i128) -> Result<Value, E> {
        Ok(Value::OtherNumber)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Value, E> {
        Ok(Value::OtherNumber)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::OtherNumber)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> Result<Value, E> {
        Err(E::custom("there is no place for binary data here"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
            if nodes.len() > NODES {
                return Err(A::Error::custom("a list is too long"));
            }
        }
        Ok(Value::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
            if fields.len() > NODES {
                return Err(A::Error::custom("a map is too long"));
            }
        }
        Ok(Value::Map(fields))
    }
}
