//! A reply while it comes in, whatever the dialect: text, calls in fragments, what was counted, and how it ended.

use llm::{Called, Completion, Piece};
use serde_json::Value;

use crate::Trouble;

/// The most a reply may have, what the model says to itself and the arguments of its calls included.
const DRAFT_BYTES: usize = llm::REPLY_BYTES * 4;

/// The most calls that a reply may make. It is to make one.
const CALLS: usize = 128;

/// What a server counted for one try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Everything that went in.
    pub tokens_in: u64,
    /// Of those, what was read from the provider's cache.
    pub cached: u64,
    /// Of those, what was put into it; some charge more for that.
    pub kept: u64,
    pub tokens_out: u64,
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Done,
    /// To call.
    Calls,
    /// It may not write more.
    Limit,
    /// What went in and what came out are together more than it holds.
    Full,
    /// Somebody stopped it, with these words or none.
    Filter(String),
    /// By its own name.
    Unknown(String),
}

#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) text: String,
    calls: Vec<Slot>,
    pub(super) counts: Counts,
    pub(super) end: Option<End>,
    /// The end marker was seen.
    pub(super) over: bool,
    /// What it said instead of an answer.
    refusal: String,
    size: usize,
}

/// A call as far as it is known.
#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    /// In fragments.
    text: String,
    extent: Extent,
    /// In one piece.
    whole: Option<Value>,
}

/// A part of a call, as servers send it: any of these may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) args: Option<&'a Value>,
    /// Where it stands among several that came at once, if it did.
    pub(super) place: Option<usize>,
}

pub(super) type Hear<'a> = &'a dyn Fn(Piece<'_>);

impl Draft {
    /// How many bytes came, whatever they were for.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    pub(super) const fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Whether a call with arguments is known by this number, or by this id where there is none.
    pub(super) fn has_call(&self, index: Option<u64>, id: &str) -> bool {
        let same = |slot: &&Slot| if index.is_some() { slot.index == index } else { slot.id == id };
        self.calls.iter().find(same).is_some_and(|slot| !slot.text.is_empty() || slot.whole.is_some())
    }

    /// Nothing was refused so far.
    pub(super) const fn is_willing(&self) -> bool {
        self.refusal.is_empty()
    }

    /// For a server whose calls come whole: a number that no other call has.
    pub(super) fn next_index(&self) -> u64 {
        self.calls.len().try_into().unwrap_or(u64::MAX)
    }

    pub(super) fn add_text(&mut self, text: &str, hear: Hear<'_>) -> Result<(), Trouble> {
        self.grow(text.len())?;
        if !text.is_empty() {
            self.text.push_str(text);
            hear(Piece::Text(text));
        }
        Ok(())
    }

    /// What it says to itself is told and not kept.
    pub(super) fn add_thought(&mut self, text: &str, hear: Hear<'_>) -> Result<(), Trouble> {
        self.grow(text.len())?;
        if !text.is_empty() {
            hear(Piece::Thought(text));
        }
        Ok(())
    }

    pub(super) fn add_refusal(&mut self, text: &str) -> Result<(), Trouble> {
        self.grow(text.len())?;
        self.refusal.push_str(text);
        Ok(())
    }

    /// Several calls stay apart and none is lost, also where a server numbers none of them, or all of them the same.
    pub(super) fn add_call(&mut self, fragment: Fragment<'_>, hear: Hear<'_>) -> Result<(), Trouble> {
        let at = match self.find(&fragment) {
            Some(at) => at,
            None if fragment.name.is_empty() && self.calls.is_empty() && fragment.id.is_empty() => {
                return Err(Trouble::malformed("a call has arguments and no name"));
            }
            None if self.calls.len() >= CALLS => {
                return Err(Trouble::malformed(format!("it calls more than {CALLS} tools at once")));
            }
            None => {
                self.calls.push(Slot { index: fragment.index, ..Slot::default() });
                self.calls.len() - 1
            }
        };
        let args = match fragment.args {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(Ok(text.as_str())),
            Some(whole) => Some(Err(whole)),
        };
        let size =
            args.as_ref().map_or(0, |args| args.map_or_else(|whole| whole.to_string().len(), str::len));
        self.grow(size + fragment.name.len() + fragment.id.len())?;
        let Some(slot) = self.calls.get_mut(at) else { return Ok(()) };
        if slot.name.is_empty() {
            fragment.name.clone_into(&mut slot.name);
        }
        if slot.id.is_empty() {
            fragment.id.clone_into(&mut slot.id);
        }
        match args {
            Some(Ok(text)) if !text.is_empty() => {
                slot.push(text);
                hear(Piece::Call(text));
            }
            Some(Err(whole)) => {
                // An empty object at the beginning only says that arguments follow.
                if whole.as_object().is_none_or(|fields| !fields.is_empty()) {
                    hear(Piece::Call(&whole.to_string()));
                }
                slot.whole = Some(whole.clone());
            }
            _ => {}
        }
        Ok(())
    }

    /// Which call a fragment belongs to; none means that it begins another.
    fn find(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let is_of = |slot: &Slot| {
            let other_id = !fragment.id.is_empty() && !slot.id.is_empty() && fragment.id != slot.id;
            let other_name = !fragment.name.is_empty() && !slot.name.is_empty() && fragment.name != slot.name;
            let named_again = !fragment.name.is_empty() && !slot.name.is_empty();
            let goes_on =
                fragment.args.is_none() || fragment.args.is_some_and(|args| args.as_str() == Some(""));
            !other_id && !other_name && (!named_again || goes_on || !slot.is_whole())
        };
        let last = |wanted: &dyn Fn(&Slot) -> bool| self.calls.iter().rposition(wanted);
        let found = if fragment.index.is_some() {
            last(&|slot| slot.index == fragment.index)
        } else if !fragment.id.is_empty() {
            last(&|slot| slot.id == fragment.id)
        } else if !fragment.name.is_empty() && fragment.place.is_some() {
            None
        } else if let Some(place) = fragment.place {
            (place < self.calls.len()).then_some(place)
        } else {
            self.calls.len().checked_sub(1)
        };
        found.filter(|at| self.calls.get(*at).is_some_and(is_of))
    }

    fn grow(&mut self, bytes: usize) -> Result<(), Trouble> {
        self.size = self.size.saturating_add(bytes);
        if self.size > DRAFT_BYTES { Err(Trouble::TooLong { bytes: DRAFT_BYTES }) } else { Ok(()) }
    }

    /// The reply, if it is all there.
    pub(super) fn finish(self, limit: u32) -> Result<Completion, Trouble> {
        if !self.over {
            return Err(Trouble::Cut { begun: self.size > 0 });
        }
        if !self.refusal.trim().is_empty() {
            return Err(Trouble::Declined { said: self.refusal });
        }
        match self.end {
            Some(End::Filter(said)) => return Err(Trouble::Declined { said }),
            Some(End::Full) => return Err(Trouble::Full { said: String::new() }),
            Some(End::Limit) => return Err(Trouble::Truncated { tokens: limit }),
            Some(End::Unknown(why)) => {
                return Err(Trouble::malformed(format!(
                    "it stopped for a reason that nobody knows, `{why}`"
                )));
            }
            Some(End::Calls) if self.calls.is_empty() => {
                return Err(Trouble::malformed("it stopped to call a tool and called none"));
            }
            Some(End::Calls | End::Done) => {}
            None => return Err(Trouble::malformed("it ended without saying why")),
        }
        if self.calls.is_empty() && self.text.trim().is_empty() {
            return Err(Trouble::malformed("it said nothing"));
        }
        let calls = self.calls.into_iter().map(Slot::call).collect::<Result<_, _>>()?;
        Ok(Completion { text: self.text, calls, ..Completion::default() })
    }
}

/// How far an object has come that is written in fragments. Each byte is looked at once, however many fragments there are.
#[derive(Clone, Copy, Debug, Default)]
enum Extent {
    #[default]
    NotBegun,
    Open {
        depth: usize,
        in_text: bool,
        escaped: bool,
    },
    /// It is closed. Whether it is an object is only asked then, once.
    Closed {
        object: bool,
    },
    /// It is none, or something follows it.
    Never,
}

impl Extent {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (extent @ (Self::NotBegun | Self::Closed { .. }), b' ' | b'\t' | b'\n' | b'\r') => extent,
            (Self::NotBegun, b'{') => Self::Open { depth: 1, in_text: false, escaped: false },
            (Self::Open { depth, in_text: true, escaped: true }, _) => {
                Self::Open { depth, in_text: true, escaped: false }
            }
            (Self::Open { depth, in_text: true, .. }, b'\\') => {
                Self::Open { depth, in_text: true, escaped: true }
            }
            (Self::Open { depth, in_text, .. }, b'"') => {
                Self::Open { depth, in_text: !in_text, escaped: false }
            }
            (Self::Open { depth, in_text: false, .. }, b'{' | b'[') => {
                Self::Open { depth: depth + 1, in_text: false, escaped: false }
            }
            (Self::Open { depth: 1, in_text: false, .. }, b'}' | b']') => Self::Closed { object: false },
            (Self::Open { depth, in_text: false, .. }, b'}' | b']') => {
                Self::Open { depth: depth - 1, in_text: false, escaped: false }
            }
            (open @ Self::Open { .. }, _) => open,
            (Self::NotBegun | Self::Closed { .. } | Self::Never, _) => Self::Never,
        }
    }
}

impl Slot {
    fn push(&mut self, fragment: &str) {
        self.text.push_str(fragment);
        let was_closed = matches!(self.extent, Extent::Closed { .. });
        self.extent = fragment.bytes().fold(self.extent, Extent::after);
        if !was_closed && let Extent::Closed { object } = &mut self.extent {
            *object = serde_json::from_str::<serde_json::Map<String, Value>>(&self.text).is_ok();
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self.extent, Extent::Closed { object: true })
            || self.text.is_empty() && self.whole.as_ref().is_some_and(|args| !is_empty_object(args))
    }

    fn call(self) -> Result<Called, Trouble> {
        let Self { name: tool, text, whole, .. } = self;
        if tool.is_empty() {
            return Err(Trouble::malformed("a call names no tool"));
        }
        let no_object =
            |what: &str| Trouble::malformed(format!("the arguments of `{tool}` are {what}, not an object"));
        let args = match whole {
            // Fragments after a whole object would contradict it; after an empty one they are the arguments.
            Some(args) if text.trim().is_empty() => args,
            Some(args) if !is_empty_object(&args) => return Err(no_object("given twice")),
            _ if text.trim().is_empty() => Value::Object(serde_json::Map::new()),
            _ => serde_json::from_str(&text).map_err(|why| no_object(&format!("not JSON ({why})")))?,
        };
        // Some write the object as a string into the string.
        let args = match &args {
            Value::String(inner) => serde_json::from_str(inner).map_err(|_no_json| no_object("a text"))?,
            _ => args,
        };
        match args {
            Value::Object(_) => Ok(Called { tool, args }),
            Value::Null => Err(no_object("null")),
            Value::Bool(_) => Err(no_object("a truth value")),
            Value::Number(_) => Err(no_object("a number")),
            Value::String(_) => Err(no_object("a text")),
            Value::Array(_) => Err(no_object("a list")),
        }
    }
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

#[cfg(test)]
mod tests {
    use super::{Draft, End, Fragment};
    use crate::Trouble;
    use llm::Called;
    use serde_json::{Value, json};

    /// `[index, id, name, arguments]`, any of them null; a list of such lists is what came at once.
    fn calls(rows: &Value) -> Result<Vec<Called>, Trouble> {
        let mut draft = Draft { over: true, end: Some(End::Calls), ..Draft::default() };
        for row in rows.as_array().unwrap() {
            let at_once = row.as_array().unwrap();
            let several = at_once.len() > 1;
            for (place, part) in at_once.iter().enumerate() {
                let text = |at: usize| part[at].as_str().unwrap_or_default();
                let fragment = Fragment {
                    index: part[0].as_u64(),
                    id: text(1),
                    name: text(2),
                    args: Some(&part[3]),
                    place: several.then_some(place),
                };
                draft.add_call(fragment, &|_| ())?;
            }
        }
        draft.finish(1).map(|completion| completion.calls)
    }

    #[test]
    fn calls_stay_apart_and_none_is_lost() {
        let (a, b) = (("read", json!({ "p": 1 })), ("write", json!({ "p": 2 })));
        let again = ("read", json!({ "p": 2 }));
        let cases = [
            (
                "as documented",
                json!([[[0, "c1", "read", ""]], [[0, null, null, "{\"p\""]], [[0, null, null, ":1}"]]]),
                vec![&a],
            ),
            (
                "two, interleaved",
                json!([
                    [[0, "c1", "read", ""]],
                    [[1, "c2", "write", ""]],
                    [[0, null, null, "{\"p\""]],
                    [[1, null, null, "{\"p\":"]],
                    [[0, null, null, ":1}"]],
                    [[1, null, null, "2}"]]
                ]),
                vec![&a, &b],
            ),
            (
                "two at once, without index",
                json!([[[null, "c1", "read", "{\"p\":1}"], [null, "c2", "write", "{\"p\":2}"]]]),
                vec![&a, &b],
            ),
            (
                "two at once, nothing but names",
                json!([[[null, null, "read", "{\"p\":1}"], [null, null, "read", "{\"p\":2}"]]]),
                vec![&a, &again],
            ),
            (
                "one after the other, without index",
                json!([[[null, "c1", "read", "{\"p\":1}"]], [[null, "c2", "write", "{\"p\":2}"]]]),
                vec![&a, &b],
            ),
            (
                "the same id twice",
                json!([[[null, "c", "read", "{\"p\":1}"]], [[null, "c", "read", "{\"p\":2}"]]]),
                vec![&a, &again],
            ),
            (
                "the same index twice",
                json!([[[0, "c1", "read", "{\"p\":1}"]], [[0, "c2", "read", "{\"p\":2}"]]]),
                vec![&a, &again],
            ),
            (
                "the same index, no ids",
                json!([[[0, "", "read", "{\"p\":1}"]], [[0, "", "write", "{\"p\":2}"]]]),
                vec![&a, &b],
            ),
            (
                "the same index and name, no ids",
                json!([[[0, null, "read", "{\"p\":1}"]], [[0, null, "read", "{\"p\":2}"]]]),
                vec![&a, &again],
            ),
            (
                "fragments without index",
                json!([
                    [[null, "c1", "read", "{\"p\""]],
                    [[null, null, null, ":1}"]],
                    [[null, "c2", "write", "{\"p\":"]],
                    [[null, null, null, "2}"]]
                ]),
                vec![&a, &b],
            ),
            (
                "fragments of several without index",
                json!([
                    [[null, "c1", "read", ""], [null, "c2", "write", ""]],
                    [[null, null, null, "{\"p\":1}"], [null, null, null, "{\"p\":2}"]]
                ]),
                vec![&a, &b],
            ),
            (
                "name and id in every fragment",
                json!([[[0, "c1", "read", "{\"p\""]], [[0, "c1", "read", ":1}"]], [[0, "c1", "read", ""]]]),
                vec![&a],
            ),
            (
                "an object",
                json!([[[null, null, "read", { "p": 1 }]], [[null, null, "write", { "p": 2 }]]]),
                vec![&a, &b],
            ),
            (
                "an object, the same name",
                json!([[[0, null, "read", { "p": 1 }]], [[0, null, "read", { "p": 2 }]]]),
                vec![&a, &again],
            ),
            (
                "an empty object, then fragments",
                json!([[[0, "c1", "read", {}]], [[0, null, null, "{\"p\":1}"]]]),
                vec![&a],
            ),
            ("a string in the string", json!([[[0, "c1", "read", "\"{\\\"p\\\":1}\""]]]), vec![&a]),
        ];
        for (name, rows, expected) in cases {
            let expected =
                expected.iter().map(|(tool, args)| Called { tool: (*tool).into(), args: args.clone() });
            assert_eq!(calls(&rows), Ok(expected.collect::<Vec<_>>()), "{name}");
        }
        let none = Called { tool: "read".into(), args: json!({}) };
        assert_eq!(
            calls(&json!([[[0, "c1", "read", ""]]])),
            Ok(vec![none]),
            "no arguments are an empty object"
        );
    }

    /// What is written in fragments is an object exactly when all of it can be read as one.
    #[test]
    fn an_object_in_fragments_is_whole_when_it_can_be_read() {
        let texts = [
            "{}",
            " {} ",
            "{\"a\":\"}\"}",
            "{\"a\":\"\\\"}",
            "{\"a\":\"\\\\\"}",
            "{]",
            "{\"a\":[1,{}]}",
            "{} {}",
            "{}x",
            "[1]",
            "1",
            "",
            "\"a\"",
            "{\"a\":1",
            "{a}",
            "{\"é\":\"日\"}",
        ];
        for text in texts {
            for parts in [1, 2, 3, text.len().max(1)] {
                let mut slot = super::Slot::default();
                let chars: Vec<char> = text.chars().collect();
                for part in chars.chunks(chars.len().div_ceil(parts).max(1)) {
                    slot.push(&part.iter().collect::<String>());
                }
                let object = serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok();
                assert_eq!(slot.is_whole(), object, "{text}");
            }
        }
    }

    /// The work is counted in time here: by the square of their number these would take minutes.
    #[test]
    fn many_calls_and_many_fragments_cost_no_more_than_their_bytes() {
        let mut draft = Draft::default();
        let mut begun = 0;
        let trouble = (0..100_000_u64).find_map(|index| {
            begun = index;
            let args = json!("{}");
            draft
                .add_call(
                    Fragment { index: Some(index), name: "read", args: Some(&args), ..Fragment::default() },
                    &|_| (),
                )
                .err()
        });
        let what = "it calls more than 128 tools at once".into();
        assert_eq!((trouble, begun), (Some(Trouble::Malformed { what }), 128));
        // A name in every fragment makes it ask each time whether the arguments are whole.
        let mut draft = Draft { over: true, end: Some(End::Calls), ..Draft::default() };
        let fragments =
            std::iter::once("{\"p\":\"").chain(std::iter::repeat_n("}}}}}}}}}}", 100_000)).chain(["\"}"]);
        for text in fragments {
            let args = json!(text);
            draft
                .add_call(
                    Fragment { index: Some(0), name: "read", args: Some(&args), ..Fragment::default() },
                    &|_| (),
                )
                .unwrap();
        }
        assert_eq!(draft.finish(1).unwrap().calls.len(), 1);
    }

    #[test]
    fn what_is_no_call_is_said() {
        let cases = [
            ("half of the arguments", json!([[[0, "c1", "read", "{\"p\""]]]), "not JSON"),
            ("a list", json!([[[0, "c1", "read", "[1]"]]]), "a list, not an object"),
            ("a text", json!([[[0, "c1", "read", "\"hello\""]]]), "a text, not an object"),
            ("a number", json!([[[0, "c1", "read", 7]]]), "a number, not an object"),
            ("no name", json!([[[0, "c1", null, "{}"]]]), "names no tool"),
            ("nothing but arguments", json!([[[0, null, null, "{}"]]]), "no name"),
            (
                "twice",
                json!([[[0, "c1", "read", { "p": 1 }]], [[0, null, null, "{\"p\":2}"]]]),
                "given twice",
            ),
            ("none at all", json!([]), "called none"),
        ];
        for (name, rows, expected) in cases {
            match calls(&rows) {
                Err(Trouble::Malformed { what }) => assert!(what.contains(expected), "{name}: {what}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}
