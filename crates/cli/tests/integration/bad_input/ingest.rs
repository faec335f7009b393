//! Bad lines on the standard input of `events ingest`.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::process::Outcome;
use crate::world::{World, event, events};

fn ingest(world: &World, lines: impl Into<Vec<u8>>) -> Outcome {
    world.regent(&["events", "ingest"]).stdin(lines).run()
}

/// The contents on record, oldest first.
fn contents(world: &World) -> Vec<String> {
    let listed = world.regent(&["events", "list", "--json", "--limit", "10000"]).run().succeeds();
    listed.json().iter().map(|event| event["content"].as_str().expect("content").to_owned()).collect()
}

/// Takes in a good line, a bad one and a good one; the answer to the bad one.
fn answer_to(bad: &[u8]) -> Value {
    let world = World::new();
    let mut lines = event("first", "before").into_bytes();
    lines.extend_from_slice(bad);
    lines.push(b'\n');
    lines.extend(event("last", "after").into_bytes());
    let outcome =
        ingest(&world, lines).fails(1, "R1003").says(&["1 of 3 lines", "all other lines were taken in"]);
    let answers = outcome.json();
    assert_eq!(answers.len(), 3, "one answer per line\n{outcome}");
    assert_eq!((&answers[0]["key"], &answers[0]["new"]), (&json!("demo:first"), &json!(true)), "{outcome}");
    assert_eq!((&answers[2]["key"], &answers[2]["new"]), (&json!("demo:last"), &json!(true)), "{outcome}");
    assert_eq!(answers[1]["line"], 2, "{outcome}");
    assert!(answers[1]["error"].as_str().is_some_and(|error| !error.is_empty()), "{outcome}");
    assert_eq!(contents(&world), ["before", "after"], "what was acknowledged is there, and nothing else");
    world.regent(&["audit", "verify"]).run().succeeds();
    answers[1].clone()
}

#[test]
fn a_malformed_line_among_good_ones_is_answered_and_passed_over() {
    for bad in ["nonsense", "{", "\"text\"", "null", "{}", "[]"] {
        answer_to(bad.as_bytes());
    }
}

#[test]
fn an_object_without_content_is_told_what_is_missing() {
    let answer = answer_to(br#"{"adapter":"demo","source_id":"x","sender":"lea"}"#);
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("`content`")), "{answer}");
}

#[test]
fn a_list_is_no_event_even_with_as_many_values_as_an_event_has() {
    answer_to(br#"["demo","x",null,null,"dm",null,"lea","hello",null,null,null]"#);
}

#[test]
fn a_line_that_is_no_text_is_answered_with_the_place() {
    let answer = answer_to(b"{\"adapter\":\"\xff\"}");
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("UTF-8")), "{answer}");
}

#[test]
fn names_of_the_program_itself_are_reserved() {
    let cases = [
        r#"{"adapter":"cli","source_id":"1","sender":"uid:0","content":"x"}"#,
        r#"{"adapter":"demo","platform":"terminal","source_id":"1","sender":"uid:0","content":"x"}"#,
        r#"{"adapter":"timer","source_id":"1","sender":"s","content":"x"}"#,
        r#"{"adapter":"demo","platform":"system","source_id":"1","sender":"s","content":"x"}"#,
    ];
    for line in cases {
        let answer = answer_to(line.as_bytes());
        assert!(answer["error"].as_str().is_some_and(|error| error.contains("reserved")), "{answer}");
    }
}

#[test]
fn names_that_cannot_be_part_of_a_key_are_refused() {
    let cases = [
        r#"{"adapter":"a:b","source_id":"1","sender":"s","content":"x"}"#,
        r#"{"adapter":"","source_id":"1","sender":"s","content":"x"}"#,
        r#"{"adapter":"demo","source_id":"","sender":"s","content":"x"}"#,
        r#"{"adapter":"demo","source_id":"1","sender":"a\u001b[31m","content":"x"}"#,
        r#"{"adapter":"demo","account":"a b","source_id":"1","sender":"s","content":"x"}"#,
        r#"{"adapter":"demo","source_id":"1","sender":"s","content":"x","occurred_at":"yesterday"}"#,
        r#"{"adapter":"demo","source_id":"1","sender":"s","content":"x","container_kind":"cave"}"#,
    ];
    for line in cases {
        answer_to(line.as_bytes());
    }
}

#[test]
fn empty_lines_are_passed_over_and_counted() {
    let world = World::new();
    let outcome = ingest(&world, format!("\n  \n{}nonsense\n\n", event("1", "one"))).fails(1, "R1003");
    let answers = outcome.json();
    assert_eq!((answers.len(), &answers[1]["line"]), (2, &json!(4)), "{outcome}");
}

#[test]
fn no_lines_at_all_are_fine() {
    let world = World::new();
    for nothing in ["", "\n\n"] {
        assert_eq!(ingest(&world, nothing).succeeds().stdout, "");
    }
}

#[test]
fn the_last_line_needs_no_end() {
    let world = World::new();
    let outcome = ingest(&world, event("1", "no end").trim_end()).succeeds();
    assert_eq!(outcome.json()[0]["new"], true);
    assert_eq!(contents(&world), ["no end"]);
}

#[test]
fn the_same_key_twice_is_the_same_event() {
    let world = World::new();
    let lines = event("1", "hello").repeat(2);
    let answers = ingest(&world, lines).succeeds().json();
    assert_eq!((&answers[0]["new"], &answers[1]["new"]), (&json!(true), &json!(false)));
    assert_eq!(answers[0]["id"], answers[1]["id"]);
    let later = ingest(&world, event("1", "hello")).succeeds().json();
    assert_eq!(
        (&later[0]["new"], &later[0]["id"]),
        (&json!(false), &answers[0]["id"]),
        "in another process too"
    );
    assert_eq!(contents(&world), ["hello"]);
    let other = ingest(&world, event("1", "hello, again")).fails(1, "R1003").json();
    let why = other[0]["error"].as_str().expect("why");
    assert!(why.contains("was taken in before, as e-") && why.contains("`source_id` of its own"), "{why}");
    assert_eq!(contents(&world), ["hello"], "the first is kept");
}

/// `{adapter}:{account}:{source_id}`, without the account where there is none: a colon in the source's own id must
/// not make one event look like another's.
#[test]
fn two_different_events_never_share_a_key() {
    let world = World::new();
    let lines = [
        r#"{"adapter":"demo","account":"b","source_id":"c","sender":"s","content":"one"}"#,
        r#"{"adapter":"demo","source_id":"b:c","sender":"s","content":"two"}"#,
    ];
    let outcome = ingest(&world, lines.join("\n"));
    let lost = outcome.json().iter().filter(|answer| answer["new"] == false).count();
    assert_eq!(lost, 0, "the second was taken for the first and is lost\n{outcome}");
}

#[test]
fn text_that_a_terminal_would_act_on_is_kept_and_shown_as_data() {
    let world = World::new();
    let text = "\u{1b}[2J\r\u{202e}evil\u{0}";
    ingest(&world, event("1", text)).succeeds();
    assert_eq!(contents(&world), [text]);
    let listed = world.regent(&["events", "list"]).run().succeeds().stdout;
    assert!(!listed.contains(['\u{1b}', '\r', '\u{202e}', '\0']), "{listed:?}");
    assert!(listed.contains("\\u{1b}[2J"), "{listed:?}");
}

#[test]
fn a_line_of_a_hundred_megabytes_is_answered_without_being_held() {
    const CHUNK: usize = 64 * 1024;
    const LINE: usize = 100 * 1024 * 1024;
    const MOST_KB: u64 = 64 * 1024;
    let world = World::new();
    let mut running = world.regent(&["events", "ingest"]).start();
    let mut stdin = running.take_stdin();
    let writer = std::thread::spawn(move || {
        let chunk = vec![b'x'; CHUNK];
        for _ in 0..LINE / CHUNK {
            stdin.write_all(&chunk).expect("write");
        }
        write!(stdin, "\n{}", event("1", "after it")).expect("write");
        stdin // open until the test has looked
    });
    let refused: Value = serde_json::from_str(&running.line()).expect("an answer to the long line");
    assert_eq!(refused["line"], 1, "{refused}");
    assert!(
        refused["error"].as_str().is_some_and(|error| error.contains("longer than 1048576")),
        "{refused}"
    );
    let taken: Value = serde_json::from_str(&running.line()).expect("an answer to the next");
    assert_eq!((&taken["key"], &taken["new"]), (&json!("demo:1"), &json!(true)));
    let peak = running.status("VmHWM:").expect("still running");
    let peak: u64 = peak.trim_end_matches(" kB").parse().expect("a number of kB");
    assert!(peak < MOST_KB, "it held {peak} kB");
    drop(writer.join().expect("writer"));
    running.finish().fails(1, "R1003").says(&["1 of 2 lines"]);
    assert_eq!(contents(&world), ["after it"]);
}

#[test]
fn a_line_of_exactly_the_limit_is_taken_and_one_byte_more_is_not() {
    const LIMIT: usize = 1024 * 1024;
    let world = World::new();
    let frame = event("1", "").trim_end().len();
    let fits = event("1", &"x".repeat(LIMIT - frame));
    let too_long = event("2", &"x".repeat(LIMIT - frame + 1));
    let outcome = ingest(&world, format!("{fits}{too_long}")).fails(1, "R1003");
    let answers = outcome.json();
    assert_eq!((&answers[0]["new"], &answers[1]["line"]), (&json!(true), &json!(2)));
}

#[test]
fn each_answer_comes_as_soon_as_its_event_is_durable() {
    let world = World::new();
    let mut running = world.regent(&["events", "ingest"]).start();
    let mut stdin = running.take_stdin();
    for n in 1..=3_u32 {
        stdin.write_all(events([n]).as_bytes()).expect("write");
        let answer: Value = serde_json::from_str(&running.line()).expect("an answer");
        assert_eq!(answer["key"], format!("demo:{n}"));
        // Another process sees it while the first still waits for more.
        assert_eq!(contents(&world).len(), usize::try_from(n).expect("small"));
    }
    drop(stdin);
    running.finish().succeeds();
}

#[test]
fn input_that_cannot_be_read_is_not_blamed_on_the_output() {
    let world = World::new();
    let outcome = world.regent(&["events", "ingest"]).run_from(world.folder());
    assert_eq!(outcome.exit, Some(4), "{outcome}");
    assert!(outcome.stderr.contains("standard input"), "{outcome}");
}
