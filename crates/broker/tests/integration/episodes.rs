//! Episodes, as the filter `authorize` reads and answers them: `episodes.jsonl` is the table.

use broker::episode::{Episode, Seen};
use domain::Trust;
use domain::id::CallId;
use domain::source::{Source, Text};
use serde::Deserialize;
use serde_json::{Deserializer, Value, json};

#[derive(Deserialize)]
struct Case {
    episode: Value,
    answer: Value,
}

fn played(line: &str) -> Result<Value, String> {
    let answered = Episode::read(line).and_then(Episode::play).map_err(|bad| bad.to_string())?;
    Ok(serde_json::to_value(answered).unwrap())
}

#[test]
fn every_episode_of_the_table_is_answered_as_it_says() {
    let table = Deserializer::from_str(include_str!("episodes.jsonl")).into_iter::<Case>();
    let mut count = 0;
    for case in table {
        let Case { episode, answer } = case.unwrap();
        assert_eq!(played(&episode.to_string()), Ok(answer));
        count += 1;
    }
    assert_eq!(count, 20);
}

/// The fields of an answer stand in the order of the specification.
#[test]
fn an_answer_as_it_is_written() {
    let line = r#"{"steps": [{"args": {"b": 1, "a": "x"}, "tool": "t"}], "tools": [], "request": "x", "id": {"n": [1]}}"#;
    let answered = Episode::read(line).unwrap().play().unwrap();
    assert_eq!(
        serde_json::to_string(&answered).unwrap(),
        r#"{"id":{"n":[1]},"steps":[{"tool":"t","decision":"deny","layer":"registered","reason":"there is no tool `t`","provenance":{"a":"owner","b":"model"}}]}"#
    );
}

#[test]
fn a_result_is_seen_if_its_call_ran_or_a_person_said_yes() {
    let step =
        |tool: &str, result: Value, human: &str| json!({ "tool": tool, "result": result, "human": human });
    let closed = json!({ "readOnlyHint": true, "openWorldHint": false });
    let episode = json!({
        "id": 1, "request": "x",
        "tools": [{ "name": "Reads", "annotations": closed, "output_trust": "verified" }, { "name": "writes" }],
        "steps": [
            step("Reads", json!("one"), "refuse"),
            step("writes", json!("two"), "refuse"),
            step("writes", json!({ "n": 3 }), "approve"),
            step("nothing", json!("four"), "approve"),
            step("Reads", Value::Null, "approve"),
        ],
    });
    let answered = Episode::read(&episode.to_string()).unwrap().play().unwrap();
    let seen = |text: &str, call, trust| {
        let source = Source::Tool { call: CallId::from_bits(call), field: String::new() };
        Seen { text: Text::new(text, source), trust }
    };
    assert_eq!(answered.seen, [seen("one", 1, Trust::Verified), seen(r#"{"n":3}"#, 3, Trust::Untrusted)]);
}

#[test]
fn a_line_that_is_no_episode_is_told_why() {
    let with = |name: &str, value: Value| {
        let mut episode = json!({ "id": 1, "request": "x", "tools": [], "steps": [] });
        episode.as_object_mut().unwrap().insert(name.into(), value);
        episode.to_string()
    };
    let principal = "a principal is owner, known, unknown or system, or {\"kind\": …, \"trust\": …}";
    let table = [
        ("nonsense".to_owned(), "not JSON: column 2 makes no sense".to_owned()),
        ("{\"id\":".to_owned(), "not JSON: column 6 makes no sense".to_owned()),
        ("{}".to_owned(), "not an episode: missing field `id`".to_owned()),
        (
            "[]".to_owned(),
            "not an episode: invalid length 0, expected struct Episode with 5 elements".to_owned(),
        ),
        (
            with("request", json!(7)),
            "not an episode: invalid type: integer `7`, expected a string".to_owned(),
        ),
        (with("principal", json!("root")), format!("not an episode: {principal}")),
        (with("principal", json!({ "trust": "system" })), format!("not an episode: {principal}")),
        (
            with("tools", json!([{ "name": "t", "level": 5 }])),
            "not an episode: `level` is 0 to 4, not 5".to_owned(),
        ),
        (
            with("tools", json!([{ "name": "t", "tier": "harmless" }])),
            "not an episode: unknown variant `harmless`, expected one of `read_only`, `write_safe`, \
             `write_destructive`, `admin`"
                .to_owned(),
        ),
        (
            with("steps", json!([{ "tool": "t", "human": "perhaps" }])),
            "not an episode: unknown variant `perhaps`, expected `approve` or `refuse`".to_owned(),
        ),
        (
            with("tools", json!([{ "name": "t" }, { "name": "t" }])),
            "`t` and `t` name the same tool".to_owned(),
        ),
        (
            with("tools", json!([{ "name": "file:read" }, { "name": "read_file" }])),
            "`file:read` and `read_file` name the same tool".to_owned(),
        ),
    ];
    for (line, expected) in table {
        assert_eq!(played(&line), Err(expected), "{line}");
    }
}

/// A name that is no id is the tool's own here, and nobody else's.
#[test]
fn names_that_are_no_ids_are_kept_apart() {
    let names = ["Send Mail", "send mail", "SEND-MAIL", "send_mail", "é", &"x".repeat(100)];
    let tools: Vec<Value> = names.iter().map(|name| json!({ "name": name, "tier": "read_only" })).collect();
    let steps: Vec<Value> = names.iter().map(|name| json!({ "tool": name })).collect();
    let answer =
        played(&json!({ "id": 1, "request": "", "tools": tools, "steps": steps }).to_string()).unwrap();
    let decisions: Vec<_> =
        answer["steps"].as_array().unwrap().iter().map(|step| step["decision"].clone()).collect();
    assert_eq!(decisions, ["execute"; 6]);
}
