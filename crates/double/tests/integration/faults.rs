//! That every fault is really on the wire, in every dialect: seen by a client that reads bytes.

use std::time::{Duration, Instant};

use crate::common::{Ended, Seen, Waits, ask};
use double::{Dialect, Double, Fault, Reaction, Said, Script};
use serde_json::{Value, json};

/// The answer to one request, in this dialect, with this fault.
fn seen(dialect: Dialect, stream: bool, said: Said, fault: Option<Fault>) -> Seen {
    let waits = match fault {
        Some(Fault::HangAfterHeaders) => Waits::Until(0),
        Some(Fault::HangAt(length)) => Waits::Until(length),
        _ => Waits::Long,
    };
    let faults = fault.into_iter().collect();
    let double = Double::start(Script::new().otherwise(Reaction { said, faults }));
    ask(&double.url, dialect, stream, waits).unwrap_or_else(|| panic!("no answer in {dialect:?}"))
}

fn said() -> Said {
    Said::text("Grüß dich, Welt: a few words more.").thinking("I look.", "c2lnbmVk")
}

fn calling() -> Said {
    Said::call("weather", json!({"city": "Ulm", "days": 3, "note": "x"}))
        .and_call("time_of", json!({"zone": "Europe/Berlin"}))
}

fn each(check: impl Fn(Dialect, bool)) {
    for dialect in Dialect::ALL {
        for stream in [false, true] {
            check(dialect, stream);
        }
    }
}

#[test]
fn without_a_fault_everything_comes() {
    each(|dialect, stream| {
        let seen = seen(dialect, stream, said(), None);
        assert_eq!((seen.status, seen.ended), (200, Ended::Whole), "{dialect:?}");
        assert_eq!(
            seen.header("transfer-encoding").is_some(),
            stream,
            "{dialect:?}: only a stream has no length"
        );
        assert!(stream || seen.text().contains("Grüß dich"), "{dialect:?}");
    });
}

#[test]
fn a_body_that_is_cut_has_so_many_bytes_and_no_end() {
    each(|dialect, stream| {
        let all = seen(dialect, stream, said(), None).bytes();
        for length in [0, 1, 100, all.len() - 1] {
            let cut = seen(dialect, stream, said(), Some(Fault::CutAt(length)));
            assert_eq!((cut.status, cut.ended), (200, Ended::Cut), "{dialect:?} {stream} {length}");
            assert_eq!(cut.bytes(), all[..length], "{dialect:?} {stream} {length}");
        }
    });
}

#[test]
fn what_hangs_is_open_and_silent() {
    each(|dialect, stream| {
        let all = seen(dialect, stream, said(), None).bytes();
        let after = seen(dialect, stream, said(), Some(Fault::HangAfterHeaders));
        assert_eq!((after.status, after.ended, after.bytes()), (200, Ended::Hung, Vec::new()), "{dialect:?}");
        let middle = seen(dialect, stream, said(), Some(Fault::HangAt(50)));
        assert_eq!((middle.ended, middle.bytes()), (Ended::Hung, all[..50].to_vec()), "{dialect:?}");

        let double = Double::start(Script::new().otherwise(Fault::HangBeforeHeaders));
        assert!(ask(&double.url, dialect, stream, Waits::Briefly).is_none(), "{dialect:?}");
    });
}

#[test]
fn a_double_that_hangs_is_stopped_all_the_same() {
    let double = Double::start(Script::new().otherwise(Fault::HangAt(10)));
    let hung = ask(&double.url, Dialect::Chat, true, Waits::Until(10)).map(|seen| seen.ended);
    assert_eq!(hung, Some(Ended::Hung));
    let url = double.url.clone();
    drop(double);
    let address = url.strip_prefix("http://").expect("an address").to_owned();
    assert!(std::net::TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn pieces_are_on_the_wire_in_the_sizes_given() {
    for dialect in Dialect::ALL {
        let all = seen(dialect, true, said(), None).bytes();
        for sizes in [vec![1], vec![3, 5], vec![100_000]] {
            let seen = seen(dialect, true, said(), Some(Fault::Pieces(sizes.clone())));
            assert_eq!(seen.bytes(), all, "{dialect:?} {sizes:?}");
            let lengths: Vec<usize> = seen.chunks.iter().map(Vec::len).collect();
            let (last, before) = lengths.split_last().expect("pieces");
            let wanted: Vec<usize> = sizes.iter().copied().cycle().take(before.len()).collect();
            assert_eq!(before, wanted, "{dialect:?} {sizes:?}");
            assert!(*last <= sizes.iter().copied().max().unwrap_or_default(), "{dialect:?} {sizes:?}");
        }
        // One byte at a time parts a letter of two bytes, and CR from LF.
        let split = seen(dialect, true, said(), Some(Fault::Pieces(vec![1])));
        assert!(split.chunks.iter().any(|chunk| std::str::from_utf8(chunk).is_err()), "{dialect:?}");
        let crlf = dialect == Dialect::Gemini;
        assert_eq!(split.chunks.iter().any(|chunk| chunk == b"\r"), crlf, "{dialect:?}");
    }
}

#[test]
fn each_event_is_a_piece_of_its_own_and_a_drip_takes_its_time() {
    for dialect in Dialect::ALL {
        let plain = seen(dialect, true, said(), None);
        assert!(plain.chunks.len() > 3, "{dialect:?}: {}", plain.chunks.len());
        let pauses = u32::try_from(plain.chunks.len()).expect("not many");
        let started = Instant::now();
        let dripped = seen(dialect, true, said(), Some(Fault::Drip(10)));
        assert!(
            started.elapsed() >= Duration::from_millis(10) * pauses,
            "{dialect:?}: {:?}",
            started.elapsed()
        );
        assert_eq!(dripped.bytes(), plain.bytes(), "{dialect:?}");
    }
}

/// What must be at the end of a stream, what says why it ended, and neither of them where the fault is that.
#[test]
fn an_end_that_is_missing_is_missing() {
    for (dialect, end, finish) in [
        (Dialect::Anthropic, "message_stop", "\"stop_reason\":\"end_turn\""),
        (Dialect::Chat, "[DONE]", "\"finish_reason\":\"stop\""),
        (Dialect::Responses, "response.completed", "response.completed"),
        (Dialect::Gemini, "\"finishReason\":\"STOP\"", "\"finishReason\":\"STOP\""),
        (Dialect::Ollama, "\"done\":true", "\"done_reason\":\"stop\""),
    ] {
        let has = |fault| {
            let seen = seen(dialect, true, said(), fault);
            assert_eq!(seen.ended, Ended::Whole, "{dialect:?}: the connection itself ends well");
            (seen.text().contains(end), seen.text().contains(finish))
        };
        let says_why = matches!(dialect, Dialect::Anthropic | Dialect::Chat);
        assert_eq!(has(None), (true, true), "{dialect:?}");
        assert_eq!(has(Some(Fault::NoEnd)), (false, says_why), "{dialect:?}");
        assert_eq!(has(Some(Fault::NoFinish)), (false, false), "{dialect:?}");
    }
}

/// What a stream says of its calls, in pieces or whole: index, id, arguments of each piece in their order.
fn call_pieces(dialect: Dialect, events: &[Value]) -> Vec<(Option<Value>, Option<Value>, Value)> {
    let at = |value: &Value, place: &str| value.pointer(place).cloned();
    let piece = |event: &Value| -> Vec<(Option<Value>, Option<Value>, Value)> {
        match dialect {
            Dialect::Anthropic if event["content_block"]["type"] == "tool_use" => {
                vec![(at(event, "/index"), at(event, "/content_block/id"), Value::Null)]
            }
            Dialect::Anthropic if event["delta"]["type"] == "input_json_delta" => {
                vec![(at(event, "/index"), None, event["delta"]["partial_json"].clone())]
            }
            Dialect::Chat => {
                let calls = event.pointer("/choices/0/delta/tool_calls").and_then(Value::as_array);
                let calls = calls.into_iter().flatten();
                calls
                    .map(|call| (at(call, "/index"), at(call, "/id"), call["function"]["arguments"].clone()))
                    .collect()
            }
            Dialect::Responses if event["type"] == "response.output_item.added" => {
                vec![(at(event, "/output_index"), at(event, "/item/call_id"), Value::Null)]
            }
            Dialect::Responses if event["type"] == "response.function_call_arguments.delta" => {
                vec![(at(event, "/output_index"), None, event["delta"].clone())]
            }
            Dialect::Gemini => {
                let parts = event.pointer("/candidates/0/content/parts").and_then(Value::as_array);
                let calls = parts.into_iter().flatten().filter_map(|part| part.get("functionCall"));
                calls.map(|call| (None, at(call, "/id"), call["args"].clone())).collect()
            }
            Dialect::Ollama => {
                let calls =
                    event.pointer("/message/tool_calls").and_then(Value::as_array).into_iter().flatten();
                calls
                    .map(|call| {
                        (at(call, "/function/index"), at(call, "/id"), call["function"]["arguments"].clone())
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
    };
    events.iter().flat_map(piece).collect()
}

#[test]
fn calls_have_the_fault_they_shall_have() {
    for dialect in Dialect::ALL {
        let pieces = |fault| call_pieces(dialect, &seen(dialect, true, calling(), fault).events());
        let in_strings = matches!(dialect, Dialect::Anthropic | Dialect::Chat | Dialect::Responses);

        let plain = pieces(None);
        let ids: Vec<&Value> = plain.iter().filter_map(|(_, id, _)| id.as_ref()).collect();
        assert_eq!(ids.len(), 2, "{dialect:?}: {plain:?}");
        assert_ne!(ids[0], ids[1], "{dialect:?}");
        assert_eq!(
            plain.iter().all(|(index, ..)| index.is_some()),
            dialect != Dialect::Gemini,
            "{dialect:?}"
        );
        assert_eq!(plain.iter().all(|(.., args)| args.is_object()), !in_strings, "{dialect:?}: {plain:?}");
        assert!(!in_strings || plain.len() > 6, "{dialect:?}: arguments come in fragments: {plain:?}");

        assert!(
            pieces(Some(Fault::CallsWithoutIndex)).iter().all(|(index, ..)| index.is_none()),
            "{dialect:?}"
        );
        assert!(pieces(Some(Fault::CallsWithoutIds)).iter().all(|(_, id, _)| id.is_none()), "{dialect:?}");
        let same: Vec<Value> =
            pieces(Some(Fault::CallsWithSameIds)).into_iter().filter_map(|(_, id, _)| id).collect();
        assert_eq!((same.len(), &same[0]), (2, &same[1]), "{dialect:?}");

        let texts = |pieces: &[(Option<Value>, Option<Value>, Value)]| -> Vec<String> {
            pieces
                .iter()
                .filter_map(|(.., args)| args.as_str())
                .filter(|args| !args.is_empty())
                .map(str::to_owned)
                .collect()
        };
        if in_strings {
            let whole = texts(&pieces(Some(Fault::ArgumentsWhole)));
            assert_eq!(whole.len(), 2, "{dialect:?}: {whole:?}");
            assert_eq!(serde_json::from_str::<Value>(&whole[0]).expect("JSON"), calling().calls[0].args);
            assert!(
                texts(&pieces(Some(Fault::ArgumentsInPieces(1))))
                    .iter()
                    .all(|piece| piece.chars().count() == 1)
            );
            let objects = pieces(Some(Fault::ArgumentsAsObject));
            assert_eq!(
                objects.iter().filter(|(.., args)| args.is_object()).count(),
                2,
                "{dialect:?}: {objects:?}"
            );
        } else {
            let strings = texts(&pieces(Some(Fault::ArgumentsAsString)));
            assert_eq!(
                serde_json::from_str::<Value>(&strings[0]).expect("JSON"),
                calling().calls[0].args,
                "{dialect:?}"
            );
        }
        if in_strings {
            let turns: Vec<Value> =
                pieces(Some(Fault::CallsInterleaved)).into_iter().filter_map(|(index, ..)| index).collect();
            let changes = turns.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(changes > 3, "{dialect:?}: {turns:?}");
        } else {
            let alone = seen(dialect, true, calling(), Some(Fault::CallsInterleaved)).events();
            let events =
                alone.iter().filter(|event| !call_pieces(dialect, std::slice::from_ref(event)).is_empty());
            assert_eq!(events.count(), 2, "{dialect:?}: one event per call");
        }
    }
}

#[test]
fn calls_that_are_not_streamed_have_the_fault_as_well() {
    for dialect in Dialect::ALL {
        let text = |fault| seen(dialect, false, calling(), fault).text();
        let id = match dialect {
            Dialect::Anthropic => "\"id\":\"toolu_",
            Dialect::Gemini => "\"id\":\"double",
            _ => "\"id\":\"",
        };
        let count = |fault| text(fault).matches(id).count();
        assert!(count(Some(Fault::CallsWithoutIds)) < count(None), "{dialect:?}");
        let object = "\"city\":\"Ulm\"";
        let as_object = text(Some(Fault::ArgumentsAsObject)).contains(object);
        let as_string = !text(Some(Fault::ArgumentsAsString)).contains(object);
        assert!(as_object && as_string, "{dialect:?}");
    }
}

#[test]
fn a_stream_has_what_does_not_belong_there() {
    let has = |dialect, fault: Fault, what: &str| {
        let seen = seen(dialect, true, said(), Some(fault.clone()));
        assert!(seen.text().contains(what), "{dialect:?} {fault:?}: no {what:?} in {}", seen.text());
        assert_eq!(seen.ended, Ended::Whole, "{dialect:?} {fault:?}");
    };
    for (dialect, error) in [
        (
            Dialect::Anthropic,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"",
        ),
        (Dialect::Chat, "data: {\"error\":{\"message\""),
        (Dialect::Responses, "event: response.failed"),
        (Dialect::Gemini, "data: {\"error\":{\"code\":503"),
        (Dialect::Ollama, "{\"error\":\"an error"),
    ] {
        has(dialect, Fault::ErrorInStream, error);
        let failed = seen(dialect, false, said(), Some(Fault::ErrorInStream));
        assert_eq!(failed.status, 500, "{dialect:?}: what is not streamed fails as a whole");
        has(dialect, Fault::GarbageInStream, "{\"half\": \u{fffd}");
        has(dialect, Fault::UnknownEvents, "weather");
        has(dialect, Fault::Bom, "\u{feff}");
        let keep_alive = if dialect == Dialect::Ollama { "\n\n" } else { ": keep-alive" };
        has(dialect, Fault::KeepAlive, keep_alive);
        let other_end = if dialect == Dialect::Gemini { "}\n\n" } else { "}\r\n" };
        has(dialect, Fault::Crlf, other_end);
    }
    has(Dialect::Anthropic, Fault::KeepAlive, "event: ping");
    each(|dialect, stream| {
        assert!(
            seen(dialect, stream, said(), Some(Fault::Bom)).bytes().starts_with(b"\xef\xbb\xbf"),
            "{dialect:?}"
        );
        let model = match dialect {
            Dialect::Gemini => "modelVersion",
            _ => "model",
        };
        let without = seen(dialect, stream, said(), Some(Fault::Without(model.into())));
        assert!(!without.text().contains(&format!("\"{model}\":")), "{dialect:?}");
    });
}

#[test]
fn a_megabyte_is_a_megabyte() {
    each(|dialect, stream| {
        let seen = seen(dialect, stream, Said::default(), Some(Fault::Large(1_000_000)));
        assert!(
            seen.bytes().len() > 1_000_000 && seen.ended == Ended::Whole,
            "{dialect:?}: {}",
            seen.bytes().len()
        );
    });
}

#[test]
fn replies_without_words_are_still_replies() {
    each(|dialect, stream| {
        let empty = seen(dialect, stream, Said::default(), None);
        assert_eq!((empty.status, empty.ended), (200, Ended::Whole), "{dialect:?}");
        assert!(!empty.bytes().is_empty(), "{dialect:?}");
        let nothing = seen(dialect, stream, said(), Some(Fault::EmptyBody));
        assert_eq!(
            (nothing.status, nothing.bytes(), nothing.ended),
            (200, Vec::new(), Ended::Whole),
            "{dialect:?}"
        );
    });
}

#[test]
fn what_is_held_back_or_cut_off_is_said_in_the_dialects_words() {
    let refused = Said::refusing("I will not.");
    let filtered = Said { filtered: true, ..Said::default() };
    let cut_off = Said { cut_off: true, ..calling() };
    for (dialect, refusal, filter, limit) in [
        (
            Dialect::Anthropic,
            "\"stop_reason\":\"refusal\"",
            "content filtering policy",
            "\"stop_reason\":\"max_tokens\"",
        ),
        (
            Dialect::Chat,
            "\"refusal\":\"I will",
            "\"finish_reason\":\"content_filter\"",
            "\"finish_reason\":\"length\"",
        ),
        (
            Dialect::Responses,
            "\"type\":\"refusal\"",
            "\"reason\":\"content_filter\"",
            "\"reason\":\"max_output_tokens\"",
        ),
        (
            Dialect::Gemini,
            "\"blockReason\":\"PROHIBITED_CONTENT\"",
            "\"finishReason\":\"SAFETY\"",
            "\"finishReason\":\"MAX_TOKENS\"",
        ),
        (Dialect::Ollama, "I will", "\"done_reason\":\"stop\"", "\"done_reason\":\"length\""),
    ] {
        for stream in [false, true] {
            for (said, wanted) in [(&refused, refusal), (&filtered, filter), (&cut_off, limit)] {
                let seen = seen(dialect, stream, said.clone(), None);
                assert!(seen.text().contains(wanted), "{dialect:?} {stream}: no {wanted} in {}", seen.text());
            }
        }
    }
    // What was cut off in the middle of its arguments is no JSON.
    let whole = seen(Dialect::Chat, false, Said { cut_off: true, ..calling() }, None).json();
    let arguments =
        whole.pointer("/choices/0/message/tool_calls/1/function/arguments").and_then(Value::as_str);
    assert!(serde_json::from_str::<Value>(arguments.expect("arguments")).is_err());
}

#[test]
fn answers_that_are_none_of_the_vendors() {
    each(|dialect, stream| {
        let there = "http://elsewhere.example/v1/messages";
        let sent_on = seen(dialect, stream, said(), Some(Fault::Redirect(there.into())));
        assert_eq!((sent_on.status, sent_on.header("location")), (307, Some(there)), "{dialect:?}");
        let garbage = seen(dialect, stream, said(), Some(Fault::Garbage));
        assert!(garbage.status == 200 && String::from_utf8(garbage.bytes()).is_err(), "{dialect:?}");
        let zipped = seen(dialect, stream, said(), Some(Fault::Gzip));
        assert_eq!(zipped.header("content-encoding"), Some("gzip"), "{dialect:?}");
        assert!(zipped.bytes().starts_with(b"\x1f\x8b\x08"), "{dialect:?}");
    });
}

#[test]
fn faults_go_together() {
    let reaction = Reaction::from(calling())
        .with(Fault::CallsInterleaved)
        .with(Fault::KeepAlive)
        .with(Fault::Pieces(vec![7]))
        .with(Fault::CutAt(200));
    let double = Double::start(Script::new().otherwise(reaction));
    let seen = ask(&double.url, Dialect::Anthropic, true, Waits::Long).expect("an answer");
    assert_eq!((seen.bytes().len(), seen.ended), (200, Ended::Cut));
    assert!(seen.text().starts_with(": keep-alive"));
    assert!(seen.chunks.iter().all(|chunk| chunk.len() <= 7));
}
