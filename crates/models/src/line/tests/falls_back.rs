//! Tries, waits, and who is asked next.

use std::sync::atomic::Ordering;

use domain::ask::{Silence, Usage};

use super::server::{self, Act};
use super::{SAID, World, at, other, pace, patient, play};
use crate::Dialect::{Anthropic, Chat, Gemini, Ollama, Responses};
use crate::dialect::samples;

#[tokio::test]
async fn who_is_asked_to_wait_waits_and_asks_again() {
    for (status, header) in
        [(429, "retry-after: 0\r\n"), (429, "retry-after-ms: 5\r\n"), (503, ""), (500, ""), (529, "")]
    {
        let good = server::stream(&samples::says(Chat));
        let (url, seen) = play(vec![server::status(status, header, "later"), good]).await;
        let world = World::new(patient());
        let reply = world.ask(vec![at(Chat, &url)], samples::prompt(false)).await.unwrap();
        assert_eq!((reply.text.as_str(), seen.count()), (SAID, 2), "{status}");
        assert_eq!(world.heard().first().map(String::as_str), Some("(again)"));
    }
}

#[tokio::test]
async fn four_tries_and_then_the_next() {
    let (bad, tried) = play(vec![server::status(500, "", "broken"); 9]).await;
    let (good, _) = play(vec![server::stream(&samples::says(Anthropic))]).await;
    let world = World::new(patient());
    let reply =
        world.ask(vec![at(Chat, &bad), other(Anthropic, &good)], samples::prompt(false)).await.unwrap();
    assert_eq!((reply.usage.model.as_str(), tried.count()), ("other/m-1", 4));
    assert_eq!(reply.usage.tokens_in, 100, "a failure that nobody counted costs nothing");
}

#[tokio::test]
async fn who_wants_too_long_a_wait_is_left_at_once() {
    let (bad, tried) = play(vec![server::status(429, "retry-after: 61\r\n", ""); 9]).await;
    let (good, _) = play(vec![server::stream(&samples::says(Chat))]).await;
    let world = World::new(patient());
    world.ask(vec![at(Chat, &bad), other(Chat, &good)], samples::prompt(false)).await.unwrap();
    assert_eq!(tried.count(), 1);
}

#[tokio::test]
async fn a_reply_that_was_cut_is_asked_for_once_more() {
    let whole = samples::says(Anthropic);
    let (half, _) = whole.as_bytes().split_at(whole.find(", 四").unwrap());
    let cut = server::begin(&[half], Act::Close);
    let (url, seen) = play(vec![cut.clone(), server::stream(&whole)]).await;
    let world = World::new(patient());
    let reply = world.ask(vec![at(Anthropic, &url)], samples::prompt(false)).await.unwrap();
    assert_eq!(world.heard().concat(), format!("(thought){{\"answer\":\"vier(again)(thought){SAID}"));
    assert_eq!(
        (reply.text.as_str(), reply.usage.tokens_in, reply.usage.tokens_out),
        (SAID, 200, 15 + 5),
        "both are counted, and of the one that was cut what was heard"
    );
    assert_eq!(seen.count(), 2);

    // Two that may have been paid for are all that was quoted, however many could still be asked.
    let (url, seen) = play(vec![cut.clone(), cut]).await;
    let (spare, unasked) = play(vec![server::stream(&whole)]).await;
    let silence = world
        .ask(vec![at(Anthropic, &url), other(Anthropic, &spare)], samples::prompt(false))
        .await
        .unwrap_err();
    assert_eq!(silence.kind, Silence::Unreachable);
    assert_eq!(silence.why, "the reply of `anthropic/m-1` was cut off before its end: try again");
    assert_eq!((seen.count(), unasked.count()), (2, 0));
}

#[tokio::test]
async fn what_failed_and_was_counted_is_told_too() {
    let whole = samples::says(Anthropic);
    let (half, _) = whole.as_bytes().split_at(whole.find(", 四").unwrap());
    let cut = server::begin(&[half], Act::Close);
    let (url, _) = play(vec![cut.clone(), cut]).await;
    let world = World::new(patient());
    let line = world.line(vec![at(Anthropic, &url)]);
    let reply = llm::Model::complete(&line, samples::prompt(false), world.listen()).await;
    // It had counted one token before it said anything: what was heard is more.
    let out = ("hm{\"answer\":\"vier".len() as u64).div_ceil(4);
    let price = 2 * (35 * 3 + 21 + 15 * out);
    let expected = Usage {
        model: "anthropic/m-1".into(),
        tokens_in: 200,
        tokens_out: 2 * out,
        cached: 140,
        latency_ms: 0,
        price,
    };
    assert_eq!(reply.unwrap_err().usage, expected);
}

#[tokio::test]
async fn what_may_be_on_the_bill_and_was_not_counted_is_estimated_below_the_quote() {
    let huge = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(9999));
    let cases = [
        ("no byte", vec![Act::Hang], 1, 0),
        ("hung up", vec![Act::Close], 2, 0),
        ("headers only", server::begin(&[], Act::Close), 2, 0),
        ("more than it may write", server::begin(&[huge.as_bytes()], Act::Close), 2, 1000),
        ("failed", server::status(500, "", ""), 0, 0),
    ];
    for (name, acts, tries, out) in cases {
        let (url, seen) = play(vec![acts; 4]).await;
        let world = World::new(pace());
        let line = world.line(vec![at(Chat, &url)]);
        let quote = llm::Model::quote(&line, &samples::prompt(false)).unwrap();
        let reply = llm::Model::complete(&line, samples::prompt(false), world.listen()).await;
        let usage = reply.unwrap_err().usage;
        let sent = super::body(&seen.all().remove(0)).to_string().len() as u64;
        let expected = (tries * sent.div_ceil(4), tries * out);
        assert_eq!((usage.tokens_in, usage.tokens_out), expected, "{name}");
        assert_eq!(usage.price, 3 * expected.0 + 15 * expected.1, "{name}");
        assert!(usage.tokens_in + usage.tokens_out <= quote.tokens && usage.price <= quote.money, "{name}");
    }
}

/// Its reason to stop is no end marker: without the end of its bytes nobody knows whether more would have come.
#[tokio::test]
async fn a_reply_of_gemini_ends_with_its_bytes() {
    let whole = samples::says(Gemini);
    let cut = server::begin(&[whole.as_bytes()], Act::Close);
    let (url, seen) = play(vec![cut, server::stream(&whole)]).await;
    let reply = World::new(patient()).ask(vec![at(Gemini, &url)], samples::prompt(false)).await.unwrap();
    assert_eq!((reply.text.as_str(), seen.count()), (SAID, 2));
}

/// Everybody else says so: what becomes of the connection then does not matter.
#[tokio::test]
async fn a_reply_that_said_its_end_is_whole_whatever_the_connection_does() {
    for dialect in [Anthropic, Chat, Responses, Ollama] {
        for end in [Act::Close, Act::Hang] {
            let (url, seen) = play(vec![server::begin(&[samples::says(dialect).as_bytes()], end)]).await;
            let reply =
                World::new(patient()).ask(vec![at(dialect, &url)], samples::prompt(false)).await.unwrap();
            assert_eq!((reply.text.as_str(), seen.count()), (SAID, 1), "{dialect:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_passed_by() {
    let (bad, _) = play(vec![vec![Act::Hang]; 9]).await;
    let (good, _) = play(vec![server::stream(&samples::says(Chat))]).await;
    let world = World::new(pace());
    let reply = world.ask(vec![at(Chat, &bad), other(Chat, &good)], samples::prompt(false)).await.unwrap();
    assert_eq!(reply.usage.model, "other/m-1");
}

#[tokio::test]
async fn a_refusal_stands() {
    let refusal = "data: {\"choices\":[{\"delta\":{\"refusal\":\"I will not\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (url, seen) = play(vec![server::stream(refusal)]).await;
    let (spare, unasked) = play(vec![server::stream(&samples::says(Chat))]).await;
    let world = World::new(patient());
    let silence =
        world.ask(vec![at(Chat, &url), other(Chat, &spare)], samples::prompt(false)).await.unwrap_err();
    assert_eq!(
        (silence.kind, silence.why.as_str()),
        (Silence::Declined, "`chat/m-1` declines to answer this (\"I will not\")")
    );
    assert_eq!((seen.count(), unasked.count()), (1, 0));
}

#[tokio::test]
async fn what_the_owner_can_do_something_about_is_said_first() {
    let (busy, _) = play(vec![server::status(503, "", ""); 9]).await;
    let (wrong, _) = play(vec![server::status(401, "", "")]).await;
    let (broken, _) = play(vec![server::status(500, "", ""); 9]).await;
    let world = World::new(patient());
    let endpoints = vec![at(Chat, &busy), other(Chat, &wrong), at(Anthropic, &broken)];
    let silence = world.ask(endpoints, samples::prompt(false)).await.unwrap_err();
    assert_eq!(
        silence.why,
        "`other` refuses the key: put a valid one into SAMPLE_API_KEY, or choose another with `regent model set`; 2 other models were tried"
    );
}

#[tokio::test]
async fn a_server_that_fails_again_and_again_is_left_alone_and_tried_after_a_while() {
    let mut script = vec![server::status(500, "", ""); 20];
    script.push(server::stream(&samples::says(Chat)));
    let (url, seen) = play(script).await;
    let world = World::new(patient());
    let ask = || world.ask(vec![at(Chat, &url)], samples::prompt(false));
    for _ in 0..5 {
        assert_eq!(ask().await.unwrap_err().why, "`chat` failed with status 500: try again later");
    }
    for _ in 0..2 {
        assert_eq!(
            ask().await.unwrap_err().why,
            "`chat/m-1` failed several times in a row and is left alone for a moment"
        );
    }
    assert_eq!(seen.count(), 20);
    world.clock.turn(30);
    assert_eq!(ask().await.unwrap().text, SAID);
    assert_eq!((seen.count(), seen.connections.load(Ordering::SeqCst)), (21, 1));
}

/// Many at once that are each turned away once are one busy moment, not a server that fails.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "asks that are out at the same time")]
async fn several_at_once_that_are_each_turned_away_once_all_get_their_answer() {
    let busy = server::status(529, "retry-after-ms: 50\r\n", "");
    let good = server::stream(&samples::says(Chat));
    let script = [vec![busy; 8], vec![good; 8]].concat();
    let (url, seen) = play(script).await;
    let world = World::new(patient());
    let line = world.line(vec![at(Chat, &url)]);
    let asks: Vec<_> = (0..8)
        .map(|_| tokio::spawn(llm::Model::complete(&line, samples::prompt(false), world.listen())))
        .collect();
    for ask in asks {
        assert_eq!(ask.await.unwrap().unwrap().text, SAID);
    }
    assert_eq!(seen.count(), 16);
}
