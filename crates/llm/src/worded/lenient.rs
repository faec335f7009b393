//! Finds the JSON in what a model wrote. Models think aloud, put fences and labels around, explain before and after, write
//! two objects, forget a comma too many; what they mean is still plain, so it is not worth another call.
//!
//! Everything that is no JSON is skipped: prose, fences and labels need no rule of their own. What stands in a thinking
//! block is never taken for the reply, because a draft of a call is not a call.
//!
//! INVARIANT (whole-reply): nothing within JSON that is cut off or cannot be read is taken for the reply. An output that
//! quotes a call must not become that call.
//!
//! It reads each text a bounded number of times and never calls itself. Start reading at [`find`].

use serde_json::Value;

/// What is read again because of brackets that close nothing: this many times the text, before the rest is given up.
const EFFORT: usize = 8;
/// Short texts may be read more often.
const LEAST_EFFORT: usize = 1 << 16;
/// Values that one reply may hold; those after are not looked at.
const CANDIDATES: usize = 256;

/// Every JSON object or list in the text, in order, without those in thinking blocks.
///
/// # Errors
/// If there is none: why, so that a model can act on it.
pub(super) fn find(text: &str) -> Result<Vec<Value>, String> {
    let mut search = Search { text, found: Vec::new(), trouble: None, effort: 0 };
    search.run();
    if !search.found.is_empty() {
        return Ok(search.found);
    }
    Err(match search.trouble {
        Some(trouble) => trouble,
        None if text.chars().all(is_blank) => "the reply is empty".into(),
        None => "the reply holds no JSON object".into(),
    })
}

struct Search<'a> {
    text: &'a str,
    found: Vec<Value>,
    /// What was wrong with the first thing that looked like JSON.
    trouble: Option<String>,
    effort: usize,
}

impl Search<'_> {
    fn run(&mut self) {
        let most = LEAST_EFFORT.max(self.text.len().saturating_mul(EFFORT));
        let mut at = 0;
        while let Some(mark) = self.next_mark(at) {
            if self.found.len() >= CANDIDATES || self.effort > most {
                return;
            }
            at = match self.tag(mark) {
                Some(Tag::Opens(after)) => match closing(self.rest(after)) {
                    Some(length) => after + length,
                    None => {
                        self.trouble.get_or_insert_with(|| {
                            "the reply ends within its thinking; write the JSON object after it".into()
                        });
                        return;
                    }
                },
                // It was opened before the reply began, so all before it was thinking.
                Some(Tag::Closes(after)) => {
                    (self.found, self.trouble) = (Vec::new(), None);
                    after
                }
                None if self.byte(mark) == Some(b'<') => mark + 1,
                None => match self.value(mark) {
                    Some(length) => mark + length,
                    None => return,
                },
            };
        }
    }

    /// What begins here, if it is JSON; how far to go on, or nothing if the rest belongs to something that is cut off.
    fn value(&mut self, at: usize) -> Option<usize> {
        let rest = self.rest(at);
        let is_prose = !looks_like_json(rest);
        let Some(length) = balanced(rest) else {
            self.effort += rest.len();
            self.trouble.get_or_insert_with(|| "the JSON is cut off: it is opened and not closed".into());
            return is_prose.then_some(1);
        };
        let span = rest.get(..length).unwrap_or_default();
        match serde_json::from_str(span).or_else(|_| serde_json::from_str(&mended(span))) {
            Ok(value) => self.found.push(value),
            Err(error) => {
                self.effort += length;
                self.trouble.get_or_insert_with(|| format!("the JSON cannot be read: {error}"));
                if is_prose {
                    return Some(1);
                }
            }
        }
        Some(length)
    }

    fn next_mark(&self, from: usize) -> Option<usize> {
        self.rest(from).find(['{', '[', '<']).map(|found| from + found)
    }

    fn rest(&self, from: usize) -> &str {
        self.text.get(from..).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn tag(&self, at: usize) -> Option<Tag> {
        let inside = self.rest(at).strip_prefix('<')?;
        let (closes, name) = inside.strip_prefix('/').map_or((false, inside), |name| (true, name));
        let length = tag_name(name)?;
        let after = at + 1 + usize::from(closes) + length;
        Some(if closes { Tag::Closes(after) } else { Tag::Opens(after) })
    }
}

/// A mark around thinking, and where it is over.
enum Tag {
    Opens(usize),
    Closes(usize),
}

/// The length of `think>` or `thinking>`, in any case.
fn tag_name(text: &str) -> Option<usize> {
    ["think>", "thinking>"]
        .into_iter()
        .find(|name| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
        .map(str::len)
}

/// How far it is to the end of a thinking block, its closing mark included.
fn closing(text: &str) -> Option<usize> {
    text.match_indices("</").find_map(|(at, mark)| {
        let name = at + mark.len();
        tag_name(text.get(name..)?).map(|length| name + length)
    })
}

/// Whether a bracket is followed by what only follows it in JSON.
fn looks_like_json(text: &str) -> bool {
    let mut chars = text.chars().filter(|c| !is_blank(*c));
    match (chars.next(), chars.next()) {
        (Some('{'), Some(next)) => next == '"',
        (Some('['), Some(next)) => matches!(next, '"' | '{' | '['),
        _ => false,
    }
}

/// How long what begins with a bracket is, to the bracket that closes it. Brackets in strings do not count.
fn balanced(text: &str) -> Option<usize> {
    let (mut depth, mut strings) = (0_usize, Strings::default());
    for (at, byte) in text.bytes().enumerate() {
        if strings.holds(byte) {
            continue;
        }
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The same without commas before a closing bracket and unseen characters between values, and with line breaks in strings
/// written as JSON wants them. What is in a string stays as it is otherwise.
fn mended(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    // Blanks after a comma wait until it is known whether the comma stays.
    let (mut strings, mut comma) = (Strings::default(), false);
    for c in text.chars() {
        // Beyond ASCII nothing means anything to JSON, so any such character is as good as another.
        if strings.holds(u8::try_from(c).unwrap_or(u8::MAX)) {
            if std::mem::take(&mut comma) {
                mended.push(',');
            }
            match c {
                '\n' => mended.push_str("\\n"),
                '\r' => mended.push_str("\\r"),
                '\t' => mended.push_str("\\t"),
                c => mended.push(c),
            }
        } else if c == ',' && !comma {
            comma = true;
        } else if !is_blank(c) {
            if std::mem::take(&mut comma) && !matches!(c, '}' | ']') {
                mended.push(',');
            }
            mended.push(c);
        }
    }
    mended
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || domain::is_unseen(c)
}

/// Knows which bytes are in a JSON string, quotation marks included. Only ASCII matters to it.
#[derive(Clone, Copy, Debug, Default)]
struct Strings {
    open: bool,
    escaped: bool,
}

impl Strings {
    fn holds(&mut self, byte: u8) -> bool {
        let was_open = self.open;
        match (was_open, self.escaped, byte) {
            (true, true, _) => self.escaped = false,
            (true, false, b'\\') => self.escaped = true,
            (_, false, b'"') => self.open = !was_open,
            _ => {}
        }
        was_open || self.open
    }
}

#[cfg(test)]
mod tests {
    use super::{EFFORT, Search, find};
    use proptest::prelude::{any, proptest};
    use serde_json::{Value, json};

    #[test]
    fn what_is_found_in_what_is_written() {
        let a = || json!({ "a": 1 });
        let table: [(&str, Vec<Value>); 27] = [
            (r#"{"a":1}"#, vec![a()]),
            ("\u{feff}\u{200b} {\"a\":1}\u{200b}", vec![a()]),
            ("{\u{200b}\"a\"\u{feff}:\u{a0}1}", vec![a()]),
            ("```json\n{\"a\":1}\n```", vec![a()]),
            ("```\n{\"a\":1}\n```\n", vec![a()]),
            ("JSON: {\"a\":1}", vec![a()]),
            ("Output:\n\n{\"a\":1}\nI hope this helps!", vec![a()]),
            ("Here you are \u{1f980}: {\"a\":1}. It's done.", vec![a()]),
            (r#"{"a":1}{"b":2}"#, vec![a(), json!({ "b": 2 })]),
            ("{\"a\":1}\n\nor\n\n[2]", vec![a(), json!([2])]),
            ("<think>{\"b\":2}, no</think>{\"a\":1}", vec![a()]),
            ("<Thinking>\nhm {\n</Thinking>\n{\"a\":1}", vec![a()]),
            ("so {\"b\":2} it is</think>\n{\"a\":1}", vec![a()]),
            ("{\"a\":1}<think>was that right?</think>", vec![a()]),
            (
                r#"{"a":"<think> and </think> are words"}"#,
                vec![json!({ "a": "<think> and </think> are words" })],
            ),
            ("{\"a\":1,}", vec![a()]),
            ("{\"a\":[1, 2 , ], \"b\":{},\n}", vec![json!({ "a": [1, 2], "b": {} })]),
            ("{\"a\":\"one,}\",}", vec![json!({ "a": "one,}" })]),
            ("{\"a\":\"one\ntwo\tthree\"}", vec![json!({ "a": "one\ntwo\tthree" })]),
            ("{\"a\":\"kept\u{200b}\",}", vec![json!({ "a": "kept\u{200b}" })]),
            (r#"{"a":"\"}{"}"#, vec![json!({ "a": "\"}{" })]),
            ("the set {x} and {\"a\":1}", vec![a()]),
            ("{so {\"a\":1} it is}", vec![a()]),
            ("{\"b\": oh {\"c\":3}} {\"a\":1}", vec![a()]),
            ("an open { and then {\"a\":1}", vec![a()]),
            ("if a < b then <b> {\"a\":1} </b>", vec![a()]),
            ("{\"a\":\"日本語\",}", vec![json!({ "a": "日本語" })]),
        ];
        for (text, expected) in table {
            assert_eq!(find(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn why_nothing_is_found() {
        let table = [
            ("", "the reply is empty"),
            (" \n\u{feff}", "the reply is empty"),
            ("I cannot do that.", "the reply holds no JSON object"),
            ("\"a text\"", "the reply holds no JSON object"),
            ("{\"a\":1", "the JSON is cut off: it is opened and not closed"),
            ("{\"a\":{\"b\":1},", "the JSON is cut off: it is opened and not closed"),
            ("[{\"a\":1},", "the JSON is cut off: it is opened and not closed"),
            (
                "{\"a\":\"he said \"b\" {\"c\":1}\"}",
                "the JSON cannot be read: expected `,` or `}` at line 1 column 16",
            ),
            ("{\"a\":\"1}", "the JSON is cut off: it is opened and not closed"),
            ("{\"a\":[1}", "the JSON is cut off: it is opened and not closed"),
            ("<think>{\"a\":1}", "the reply ends within its thinking; write the JSON object after it"),
            ("{a:1}", "the JSON cannot be read: key must be a string at line 1 column 2"),
            ("{\"a\":1,,}", "the JSON cannot be read: key must be a string at line 1 column 8"),
        ];
        for (text, expected) in table {
            assert_eq!(find(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_nested_deeply_is_an_error_and_no_overflow() {
        const DEEP: usize = 100_000;
        let open = "[".repeat(DEEP);
        assert_eq!(find(&open), Err("the JSON is cut off: it is opened and not closed".to_owned()));
        let why = find(&format!("{open}{}", "]".repeat(DEEP))).unwrap_err();
        assert!(why.starts_with("the JSON cannot be read: recursion limit exceeded"), "{why}");
        let objects = format!("{}1{}", "{\"a\":".repeat(DEEP), "}".repeat(DEEP));
        assert!(find(&objects).unwrap_err().contains("recursion limit"));
    }

    /// Brackets that close nothing, each of which could make it read the rest again.
    /// What is read again is counted, because a clock depends on the machine.
    #[test]
    fn a_text_full_of_brackets_is_read_a_bounded_number_of_times() {
        let mut given_up = 0;
        for unit in ["{", "[", "{\"", "{\"a\":[", "{]", "<think", "</think>", "[]", "{\\\"", "{ ", "[1,}"] {
            let text = unit.repeat((1 << 18) / unit.len());
            let mut search = Search { text: &text, found: Vec::new(), trouble: None, effort: 0 };
            search.run();
            let most = EFFORT * text.len();
            assert!(
                search.effort <= most + text.len(),
                "`{unit}`: {} bytes of {}",
                search.effort,
                text.len()
            );
            given_up += usize::from(search.effort > most);
        }
        assert!(given_up > 0, "no text needed the bound: it shows nothing");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>()) {
            let _either = find(&text);
        }

        #[test]
        fn marks_in_any_order_are_read_without_a_panic(text in r#"([{}\[\]",:\\<>/ ]|think>|é|1|a){0,60}"#) {
            let _either = find(&text);
        }

        #[test]
        fn what_stands_around_an_object_does_not_matter(
            before in r"[^{}\[\]<>]{0,40}",
            after in r"[^{}\[\]<>]{0,40}",
            text in any::<String>(),
        ) {
            let value = json!({ "text": text });
            assert_eq!(find(&format!("{before}{value}{after}")), Ok(vec![value]));
        }
    }
}
