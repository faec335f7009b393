//! A key in any disguise, in any field, cut anywhere: it is in nothing that is kept or shown, and cannot be read out of it again.

use std::cell::RefCell;

use llm::{Completion, Piece};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use proptest::sample::Index;
use serde_json::{Value, json};

use super::matcher::KeyMatcher;
use super::{Key, StreamRedactor};
use crate::dialect::{Manner, Reader, request, samples};
use crate::frames::Frame;
use crate::said::Said;
use crate::{Dialect, Endpoint};

/// How one layer of a disguise is written; the number chooses among its forms, character by character.
#[derive(Clone, Copy, Debug)]
enum Disguise {
    Unseen,
    Blanks,
    Json,
    Percent,
    Html,
    Rust,
}

const UNSEEN: [char; 8] =
    ['\u{200b}', '\u{ad}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{fe0f}', '\u{e0061}', '\u{7f}'];

impl Disguise {
    /// Whether it could not be read again if this stayed as it is.
    const fn must_write(self, c: char) -> bool {
        match self {
            Self::Unseen | Self::Blanks => false,
            Self::Json | Self::Rust => c == '\\',
            Self::Percent => c == '%',
            Self::Html => c == '&',
        }
    }
}

fn disguised(text: &str, disguise: Disguise, chance: &[u8]) -> String {
    let mut written = String::new();
    for (c, at) in text.chars().zip(chance.iter().cycle()) {
        let (code, odd) = (u32::from(c), at % 3);
        match disguise {
            _ if odd == 0 && !disguise.must_write(c) => written.push(c),
            Disguise::Unseen => written.extend([c, UNSEEN[usize::from(*at) % UNSEEN.len()]]),
            Disguise::Blanks => written.extend([c, if odd == 1 { ' ' } else { '\n' }]),
            // As JSON writes it, where it writes it so.
            Disguise::Json if code <= 0xffff => written.push_str(&format!("\\u{code:04x}")),
            Disguise::Percent if c.is_ascii() && odd == 1 => written.push_str(&format!("%{code:02X}")),
            Disguise::Percent if c.is_ascii() => written.push_str(&format!("%{code:02x}")),
            Disguise::Html if odd == 1 => written.push_str(&format!("&#{code};")),
            Disguise::Html => written.push_str(&format!("&#x{code:X};")),
            Disguise::Rust => written.push_str(&format!("\\u{{{code:x}}}")),
            Disguise::Json | Disguise::Percent => written.push(c),
        }
    }
    written
}

/// The key as other bytes.
#[derive(Clone, Copy, Debug)]
enum Coding {
    Plain,
    Hex,
    HexPairs,
    Base64,
    Base64Url,
}

fn coded(before: &str, key: &str, coding: Coding) -> String {
    let hex = |between: &str| key.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(between);
    match coding {
        Coding::Plain => format!("{before}{key}"),
        Coding::Hex => hex("").to_uppercase(),
        Coding::HexPairs => hex(":"),
        Coding::Base64 => base64(format!("{before}{key}").as_bytes(), b"+/"),
        Coding::Base64Url => base64(format!("{before}{key}").as_bytes(), b"-_"),
    }
}

/// By the book, unlike what it is compared with.
fn base64(bytes: &[u8], last: &[u8; 2]) -> String {
    let signs: Vec<u8> = (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(*last).collect();
    let mut written = String::new();
    for group in bytes.chunks(3) {
        let three = [group[0], group.get(1).copied().unwrap_or(0), group.get(2).copied().unwrap_or(0)];
        let value = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for place in 0..4 {
            let sign = signs[(value >> (18 - 6 * place) & 63) as usize];
            written.push(if place <= group.len() { char::from(sign) } else { '=' });
        }
    }
    written
}

/// No provider has the marks of escapes in its keys; one that had would be found as it is, and not behind every escape.
fn keys() -> impl Strategy<Value = String> {
    prop_oneof!["sk-[A-Za-z0-9_-]{16,40}", "[!-$'-\\[\\]-~]{12,60}", Just("key-of-the-double".to_owned())]
}

#[derive(Clone, Debug)]
struct Hidden {
    key: String,
    text: String,
}

fn hidden() -> impl Strategy<Value = Hidden> {
    let disguise = prop_oneof![
        Just(Disguise::Unseen),
        Just(Disguise::Blanks),
        Just(Disguise::Json),
        Just(Disguise::Percent),
        Just(Disguise::Html),
        Just(Disguise::Rust),
    ];
    let coding = prop_oneof![
        Just(Coding::Plain),
        Just(Coding::Hex),
        Just(Coding::HexPairs),
        Just(Coding::Base64),
        Just(Coding::Base64Url),
    ];
    let layers = prop::collection::vec((disguise, prop::collection::vec(any::<u8>(), 1..9)), 0..3);
    (keys(), "[ -~]{0,12}", coding, layers, "[a-z ]{0,20}", "[a-z ]{0,20}").prop_map(
        |(key, before, coding, layers, left, right)| {
            let text = coded(&before, &key, coding);
            // A text that is written into another one is cut by nothing: blanks come last.
            let text =
                layers.iter().fold(text, |text, (disguise, chance)| disguised(&text, *disguise, chance));
            Hidden { key, text: format!("{left} {text} {right}") }
        },
    )
}

/// Nothing that finds the key finds it in this: not as it is, and not behind anything that it knows.
fn is_clean(key: &str, text: &str) {
    assert!(!text.contains(key), "{text}");
    let found = KeyMatcher::new(key).find(text);
    assert!(found.is_empty(), "{text}: {found:?}");
    let bare: String =
        text.chars().filter(|c| !domain::unseen::is_unseen(*c) && !c.is_whitespace()).collect();
    assert!(!bare.contains(key), "{text}");
}

fn endpoint(dialect: Dialect, key: &str) -> Endpoint {
    Endpoint { key: Some(Key::new(key.to_owned())), ..samples::endpoint(dialect) }
}

/// What is kept, and what was shown while it came in.
fn read(key: &str, frames: Vec<Value>) -> (Result<Completion, String>, String) {
    let endpoint = endpoint(Dialect::Chat, key);
    let outgoing = request(&endpoint, &samples::prompt(false), Manner::of(&endpoint));
    let mut reader = Reader::new(&endpoint, &outgoing);
    let shown = RefCell::new(String::new());
    let hear = |piece: Piece<'_>| match piece {
        Piece::Text(text) | Piece::Thought(text) | Piece::Call(text) => shown.borrow_mut().push_str(text),
        Piece::Again => {}
    };
    for frame in frames {
        let frame = Frame { event: String::new(), data: frame.to_string() };
        if let Err(trouble) = reader.read(&frame, &hear) {
            return (Err(format!("{trouble:?}")), shown.into_inner());
        }
    }
    reader.end();
    (reader.finish().map_err(|trouble| format!("{trouble:?}")), shown.into_inner())
}

fn chunk(delta: Value) -> Value {
    json!({ "choices": [{ "delta": delta }] })
}

fn stop(reason: &str) -> Value {
    json!({ "choices": [{ "delta": {}, "finish_reason": reason }] })
}

/// The text in so many parts.
fn parts<'a>(text: &'a str, cuts: &[Index]) -> Vec<&'a str> {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.get(&places)).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| text.get(pair[0]..pair[1]).unwrap()).collect()
}

proptest! {
    #[test]
    fn a_key_in_any_disguise_is_found(hidden in hidden()) {
        let Hidden { key, text } = hidden;
        is_clean(&key, &KeyMatcher::new(&key).hide(&text));
    }

    #[test]
    fn a_text_without_a_key_stays_as_it_is(key in keys(), text in any::<String>(), more in "[ -~]{0,80}") {
        let matcher = KeyMatcher::new(&key);
        assert_eq!(matcher.hide(&text), text);
        if !more.contains(&key) {
            assert_eq!(matcher.hide(&more), more);
        }
    }

    #[test]
    fn a_key_that_comes_in_pieces_is_not_shown(hidden in hidden(), cuts in prop::collection::vec(any::<Index>(), 0..12)) {
        let Hidden { key, text } = hidden;
        let shown = RefCell::new(String::new());
        let hear = |piece: Piece<'_>| match piece {
            Piece::Text(text) | Piece::Thought(text) => shown.borrow_mut().push_str(text),
            Piece::Call(_) | Piece::Again => {}
        };
        let mut redactor = StreamRedactor::new(Some(&Key::new(key.clone())));
        for (at, part) in parts(&text, &cuts).into_iter().enumerate() {
            let piece = if at % 2 == 0 { Piece::Text(part) } else { Piece::Thought(part) };
            redactor.hear(piece, &hear);
            is_clean(&key, &shown.borrow());
        }
        redactor.end(&hear);
        is_clean(&key, &shown.borrow());
    }

    #[test]
    fn what_is_no_key_is_shown_whole_however_it_is_cut(text in any::<String>(), cuts in prop::collection::vec(any::<Index>(), 0..12)) {
        let shown = RefCell::new(String::new());
        let hear = |piece: Piece<'_>| if let Piece::Text(text) = piece { shown.borrow_mut().push_str(text) };
        let mut redactor = StreamRedactor::new(Some(&Key::new("sk-canary-7f3e1b9c2d".into())));
        parts(&text, &cuts).into_iter().for_each(|part| redactor.hear(Piece::Text(part), &hear));
        redactor.end(&hear);
        assert_eq!(shown.into_inner(), text);
    }

    /// Through the reader: text, thoughts, names and arguments of calls, why it stopped, refusals, errors.
    #[test]
    fn a_key_is_in_no_field_of_a_reply(hidden in hidden(), cuts in prop::collection::vec(any::<Index>(), 0..6), field in 0..8) {
        let Hidden { key, text } = hidden;
        let parts = parts(&text, &cuts);
        let each = |delta: &dyn Fn(&str) -> Value, end: &str| -> Vec<Value> {
            parts.iter().map(|part| chunk(delta(part))).chain([stop(end)]).collect()
        };
        let call = |name: &str, args: Value| {
            let function = json!({ "name": name, "arguments": args.to_string() });
            vec![chunk(json!({ "tool_calls": [{ "index": 0, "id": name, "function": function }] })), stop("tool_calls")]
        };
        let frames = match field {
            0 => each(&|part| json!({ "content": part }), "stop"),
            1 => each(&|part| json!({ "reasoning_content": part, "content": "x" }), "stop"),
            2 => each(&|part| json!({ "refusal": part }), "stop"),
            3 => call("write_file", json!({ "a": [{ "b": text }], text.as_str(): 1 })),
            4 => call(&text, json!({})),
            5 => vec![chunk(json!({ "content": "x" })), stop(&text)],
            6 => vec![json!({ "error": { "message": text, "type": text, "code": text } })],
            _ => vec![chunk(json!({ "content": json!({ "output": text }).to_string() })), stop("stop")],
        };
        let (kept, shown) = read(&key, frames);
        match kept {
            Ok(Completion { text, calls, .. }) => {
                is_clean(&key, &text);
                calls.iter().for_each(|call| is_clean(&key, &format!("{} {}", call.tool, call.args)));
            }
            Err(why) => is_clean(&key, &why),
        }
        is_clean(&key, &shown);
    }

    #[test]
    fn a_key_is_in_no_error(hidden in hidden(), form in 0..3, status in 400_u16..600) {
        let Hidden { key, text } = hidden;
        let body = match form {
            0 => text.clone(),
            1 => json!({ "error": { "message": text } }).to_string(),
            _ => json!({ "error": { "details": [{ text.as_str(): text }] } }).to_string(),
        };
        let said = Said::body(status, &body, Some(&Key::new(key.clone())));
        is_clean(&key, &said.message);
        is_clean(&key, &format!("{:?}", said.trouble(None)));
    }
}

#[test]
fn each_way_to_write_a_key() {
    let key = "sk-canary-7f3e1b9c2d";
    let matcher = KeyMatcher::new(key);
    let table = [
        key.to_owned(),
        "\\u0073\\u006b-canary-7f3e1b9c2d".to_owned(),
        "\\\\u0073\\\\u006b-canary-7f3e1b9c2d".to_owned(),
        "sk-can\u{200b}ary-7f\u{ad}3e1b9c2d".to_owned(),
        "sk-canary-\n7f3e1b9c2d".to_owned(),
        "%73%6B%2Dcanary-7f3e1b9c2d".to_owned(),
        "%2573%256b-canary-7f3e1b9c2d".to_owned(),
        "&#115;&#x6b;-canary-7f3e1b9c2d".to_owned(),
        "73 6b 2d 63 61 6e 61 72 79 2d 37 66 33 65 31 62 39 63 32 64".to_owned(),
        "73:6B:2D:63:61:6E:61:72:79:2D:37:66:33:65:31:62:39:63:32:64".to_owned(),
    ];
    for text in table {
        assert_eq!(matcher.hide(&format!("it is {text}.")), "it is (key).", "{text}");
    }
    let numbers =
        "0x73,0x6B,0x2D,0x63,0x61,0x6E,0x61,0x72,0x79,0x2D,0x37,0x66,0x33,0x65,0x31,0x62,0x39,0x63,0x32,0x64";
    assert_eq!(matcher.hide(numbers), "0x(key)");
    for before in ["", "a", "ab", "Bearer "] {
        let text = base64(format!("{before}{key}").as_bytes(), b"+/");
        assert!(matcher.hide(&text).contains("(key)"), "{text}");
    }
    let almost = "sk-canary-7f3e1b9c2 c2stY2FuYXJ5 736b2d63616e617279";
    assert_eq!(matcher.hide(almost), almost, "a part of it is not the key");
}
