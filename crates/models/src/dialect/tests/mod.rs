//! All dialects: the same asked, the same heard, wherever the bytes are cut.

mod ends;
mod requests;

use std::cell::RefCell;

use llm::{Called, Completion, Piece};
use proptest::prelude::*;
use serde_json::json;

use super::{Counts, Manner, Reader, request, samples};
use crate::frames::Frames;
use crate::{Dialect, Trouble};

/// What is heard, the reply, and what was counted.
type Read = (Vec<String>, Result<Completion, Trouble>, Counts);

fn read(dialect: Dialect, calling: bool, chunks: &[&[u8]]) -> Read {
    let endpoint = samples::endpoint(dialect);
    let mut reader =
        Reader::new(&endpoint, &request(&endpoint, &samples::prompt(calling), Manner::of(&endpoint)));
    let heard = RefCell::new(Vec::new());
    let hear = |piece: Piece<'_>| {
        let (kind, text) = match piece {
            Piece::Text(text) => ("text", text),
            Piece::Thought(text) => ("thought", text),
            Piece::Call(text) => ("call", text),
            Piece::Again => ("again", ""),
        };
        heard.borrow_mut().push(format!("{kind} {text}"));
    };
    let mut frames = Frames::new(dialect.framing());
    let fed = chunks.iter().try_for_each(|chunk| frames.feed(chunk, &mut |frame| reader.read(&frame, &hear)));
    let fed = fed.and_then(|()| match frames.end()? {
        Some(frame) => reader.read(&frame, &hear),
        None => Ok(()),
    });
    reader.end();
    let counts = reader.counts();
    let reply = fed.and_then(|()| reader.finish());
    (heard.into_inner(), reply, counts)
}

fn reply(dialect: Dialect, calling: bool, stream: &str) -> Result<Completion, Trouble> {
    read(dialect, calling, &[stream.as_bytes()]).1
}

fn called() -> Completion {
    let call = Called { tool: "read_file".into(), args: json!({ "path": "ü.txt" }) };
    Completion { text: "so".into(), calls: vec![call], ..Completion::default() }
}

#[test]
fn a_text_is_heard_as_it_comes_and_counted() {
    for dialect in Dialect::ALL {
        let (heard, reply, counts) = read(dialect, false, &[samples::says(dialect).as_bytes()]);
        let expected = Completion { text: "{\"answer\":\"vier, 四 🌍\"}".into(), ..Completion::default() };
        assert_eq!(reply, Ok(expected), "{dialect:?}");
        assert_eq!(heard, ["thought hm", "text {\"answer\":\"vier", "text , 四 🌍\"}"], "{dialect:?}");
        let cached = if dialect == Dialect::Ollama { 0 } else { 70 };
        let kept = if dialect == Dialect::Anthropic { 20 } else { 0 };
        assert_eq!(counts, Counts { tokens_in: 100, cached, kept, tokens_out: 15 }, "{dialect:?}");
    }
}

#[test]
fn a_call_is_heard_as_it_comes_and_counted() {
    for dialect in Dialect::ALL {
        let (heard, reply, counts) = read(dialect, true, &[samples::calls(dialect).as_bytes()]);
        assert_eq!(reply, Ok(called()), "{dialect:?}");
        let heard: String = heard.iter().filter_map(|piece| piece.strip_prefix("call ")).collect();
        assert_eq!(heard.replace(": ", ":"), "{\"path\":\"ü.txt\"}", "{dialect:?}");
        assert_eq!(counts, Counts { tokens_in: 100, cached: 0, kept: 0, tokens_out: 15 }, "{dialect:?}");
    }
}

/// A wrapped reply comes out of its wrapping.
#[test]
fn a_wrapped_reply_is_unwrapped() {
    let stream = samples::says(Dialect::Chat)
        .replace("{\\\"answer\\\":\\\"vier", "{\\\"reply\\\":{\\\"answer\\\":\\\"vier")
        .replace("🌍\\\"}", "🌍\\\"}}");
    let text = reply(Dialect::Chat, false, &stream).unwrap().text;
    assert_eq!(text, "{\"answer\":\"vier, 四 🌍\"}");
}

#[test]
fn a_stream_cut_in_two_at_any_byte_is_read_the_same() {
    for dialect in Dialect::ALL {
        for (calling, stream) in [(false, samples::says(dialect)), (true, samples::calls(dialect))] {
            let bytes = stream.as_bytes();
            let whole = read(dialect, calling, &[bytes]);
            for cut in 0..=bytes.len() {
                let (one, two) = bytes.split_at(cut);
                assert_eq!(read(dialect, calling, &[one, two]), whole, "{dialect:?} at {cut}");
            }
            let windows = stream.replace('\n', "\r\n");
            let each: Vec<&[u8]> = windows.as_bytes().chunks(1).collect();
            assert_eq!(read(dialect, calling, &each), whole, "{dialect:?}");
        }
    }
}

/// But for the newlines that end the last frame, nothing may be missing; where a dialect says why it stopped before it says
/// that it did, nothing up to there.
#[test]
fn a_stream_that_ends_too_early_is_never_a_reply() {
    for dialect in Dialect::ALL {
        for (calling, stream) in [(false, samples::says(dialect)), (true, samples::calls(dialect))] {
            let bytes = stream.as_bytes();
            let (_, whole, _) = read(dialect, calling, &[bytes]);
            let needed = match dialect {
                Dialect::Anthropic => stream.rfind("\"stop_reason\":\"").unwrap(),
                Dialect::Chat => stream.rfind("\"finish_reason\":\"").unwrap(),
                Dialect::Responses | Dialect::Gemini | Dialect::Ollama => stream.trim_end().len(),
            };
            for end in 0..bytes.len() {
                let (_, reply, _) = read(dialect, calling, &[bytes.get(..end).unwrap()]);
                let cut = matches!(reply, Err(Trouble::Cut { .. }));
                assert!(cut || end >= needed && reply == whole, "{dialect:?} at {end}: {reply:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_stream_in_any_pieces_is_read_the_same(sizes in proptest::collection::vec(1_usize..40, 1..200), which in 0_usize..5, calling: bool) {
        let dialect = Dialect::ALL[which];
        let stream = if calling { samples::calls(dialect) } else { samples::says(dialect) };
        let (mut rest, mut chunks) = (stream.as_bytes(), Vec::new());
        for size in sizes {
            let (chunk, more) = rest.split_at(size.min(rest.len()));
            chunks.push(chunk);
            rest = more;
        }
        chunks.push(rest);
        prop_assert_eq!(read(dialect, calling, &chunks), read(dialect, calling, &[stream.as_bytes()]));
    }

    /// Whatever a broken server does to its bytes, there is an answer or an error, and no panic.
    #[test]
    fn a_stream_with_spoilt_bytes_does_no_harm(spoilt in proptest::collection::vec((0_usize..3000, any::<u8>()), 1..6), which in 0_usize..5, calling: bool) {
        let dialect = Dialect::ALL[which];
        let mut bytes = if calling { samples::calls(dialect) } else { samples::says(dialect) }.into_bytes();
        for (at, byte) in spoilt {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        let (_, reply, _) = read(dialect, calling, &[&bytes]);
        if let Ok(completion) = reply {
            prop_assert!(completion.calls.iter().all(|call| call.args.is_object()));
        }
    }
}
