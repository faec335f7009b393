//! Servers that leave out the end of a reply, or do not come to it.

use std::time::Duration;

use domain::ask::Silence;
use double::{Double, Fault, Reaction, Said, Script};

use super::server::{self, Act};
use super::{SAID, World, at, pace, patient, play};
use crate::Dialect::{Anthropic, Chat, Gemini, Ollama, Responses};
use crate::dialect::samples;
use crate::{Dialect, Endpoint, Key};

/// What comes of a reply with this fault, whose connection ends as it should.
async fn double(dialect: Dialect, fault: Fault) -> Result<String, String> {
    let reaction = Reaction::from(Said::text("{\"answer\":\"vier\"}")).with(fault);
    let double = Double::start(Script::new().otherwise(reaction));
    let path = if matches!(dialect, Chat | Responses) { "/v1" } else { "" };
    let endpoint = Endpoint {
        model: "double-large".into(),
        key: Some(Key::new(double::KEY.into())),
        ..at(dialect, &format!("{}{path}", double.url))
    };
    let reply = World::new(patient()).ask(vec![endpoint], samples::prompt(false)).await;
    reply.map(|reply| reply.text).map_err(|silence| silence.why)
}

#[tokio::test]
async fn an_end_marker_may_be_missing_where_the_reason_to_stop_is_told() {
    for dialect in Dialect::ALL {
        let reply = double(dialect, Fault::NoEnd).await;
        match dialect {
            Anthropic | Chat => assert_eq!(reply.as_deref(), Ok("{\"answer\":\"vier\"}"), "{dialect:?}"),
            // Their end marker is their reason to stop.
            Responses | Gemini | Ollama => {
                assert!(reply.unwrap_err().contains("was cut off before its end"), "{dialect:?}");
            }
        }
        let reply = double(dialect, Fault::NoFinish).await;
        assert!(reply.unwrap_err().contains("was cut off before its end"), "{dialect:?}");
    }
}

#[tokio::test]
async fn an_end_marker_needs_no_empty_line_behind_it() {
    for dialect in Dialect::ALL {
        let whole = samples::says(dialect);
        let (url, seen) = play(vec![server::stream(whole.trim_end())]).await;
        let reply = World::new(patient()).ask(vec![at(dialect, &url)], samples::prompt(false)).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage.tokens_out, seen.count()), (SAID, 15, 1), "{dialect:?}");
    }
}

#[tokio::test]
async fn a_reason_to_stop_is_no_end_where_the_connection_breaks() {
    for (dialect, marker) in [(Chat, "data: [DONE]"), (Anthropic, "event: message_stop")] {
        let whole = samples::says(dialect);
        let (most, _) = whole.split_once(marker).unwrap();
        let cut = server::begin(&[most.as_bytes()], Act::Close);
        let (url, seen) = play(vec![cut, server::stream(&whole)]).await;
        let reply = World::new(patient()).ask(vec![at(dialect, &url)], samples::prompt(false)).await.unwrap();
        assert_eq!((reply.text.as_str(), seen.count()), (SAID, 2), "{dialect:?}");
    }
}

/// It has no other marker: whoever keeps the connection open would be waited for, and the reply lost.
#[tokio::test]
async fn gemini_is_not_waited_for_long_once_it_said_why_it_stopped() {
    let whole = samples::says(Gemini);
    let (url, seen) = play(vec![server::begin(&[whole.as_bytes()], Act::Hang)]).await;
    let reply = World::new(pace()).ask(vec![at(Gemini, &url)], samples::prompt(false)).await.unwrap();
    assert_eq!((reply.text.as_str(), seen.count()), (SAID, 1));

    // More had begun to come.
    let half = server::begin(&[whole.as_bytes(), b"data: {\"candidates\""], Act::Hang);
    let (url, _) = play(vec![half; 2]).await;
    let silence = World::new(pace()).ask(vec![at(Gemini, &url)], samples::prompt(false)).await.unwrap_err();
    assert_eq!(silence.kind, Silence::Unreachable);
}

/// Whoever reasons may say nothing for minutes, with the headers sent and an event that says nothing.
#[tokio::test]
async fn silence_before_the_first_word_is_borne_longer_than_in_the_middle() {
    let pace = crate::Pace { between_bytes: pace().between_bytes, ..patient() };
    let empty = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n";
    let mut acts = server::begin(&[empty.as_bytes()], Act::Pause(pace.between_bytes * 3));
    acts.extend(server::rest(&samples::says(Chat)));
    let (url, seen) = play(vec![acts]).await;
    let reply = World::new(pace).ask(vec![at(Chat, &url)], samples::prompt(false)).await.unwrap();
    assert_eq!((reply.text.as_str(), seen.count()), (SAID, 1));
    assert!(crate::Pace::default().first_byte.as_secs() >= 180);
}

/// So many times, with a moment between each.
fn drip(bytes: &str, times: usize) -> Vec<Act> {
    let drop = [server::part(bytes), Act::Pause(Duration::from_millis(20))];
    std::iter::repeat_n(drop, times).flatten().collect()
}

/// Each part comes in time, and all of them never end: the limit is for the whole reply.
#[tokio::test]
async fn a_reply_that_drips_for_ever_is_given_up() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    for part in [text, ": still there\n\n", ":"] {
        let pace = crate::Pace { whole: Duration::from_millis(400), ..pace() };
        let acts = [server::begin(&[], Act::Pause(Duration::ZERO)), drip(part, 500)].concat();
        let (url, seen) = play(vec![acts]).await;
        let begun = tokio::time::Instant::now();
        let silence = World::new(pace).ask(vec![at(Chat, &url)], samples::prompt(false)).await.unwrap_err();
        assert!(silence.why.contains("was not done after"), "{part}: {}", silence.why);
        assert!(begun.elapsed() < Duration::from_secs(5) && seen.count() == 1, "{part}");
    }
}

/// It has said everything: what drips after it is not waited for, and does not cost the reply.
#[tokio::test]
async fn a_reply_that_is_there_is_taken_whatever_drips_after_it() {
    for dialect in Dialect::ALL {
        let whole = samples::says(dialect);
        let after = if dialect == Ollama { "\n" } else { ": still there\n\n" };
        let acts =
            [server::begin(&[whole.as_bytes()], Act::Pause(Duration::ZERO)), drip(after, 500)].concat();
        let (url, _) = play(vec![acts]).await;
        let begun = tokio::time::Instant::now();
        let reply = World::new(pace()).ask(vec![at(dialect, &url)], samples::prompt(false)).await.unwrap();
        assert_eq!(reply.text, SAID, "{dialect:?}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{dialect:?}: {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn an_error_that_drips_is_read_as_far_as_it_came() {
    let head = Act::Send(b"HTTP/1.1 401 X\r\ncontent-length: 60000\r\n\r\n{".to_vec());
    let drops = std::iter::repeat_n([Act::Send(b" ".to_vec()), Act::Pause(Duration::from_millis(20))], 500);
    let acts = std::iter::once(head).chain(drops.flatten()).collect();
    let (url, _) = play(vec![acts]).await;
    let begun = tokio::time::Instant::now();
    let silence = World::new(pace()).ask(vec![at(Chat, &url)], samples::prompt(false)).await.unwrap_err();
    assert!(silence.why.contains("refuses the key"), "{}", silence.why);
    assert!(begun.elapsed() < Duration::from_secs(5));
}
