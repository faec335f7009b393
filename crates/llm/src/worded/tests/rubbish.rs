//! What cannot be used, and the reason that the model is given.

use super::super::{Form, REPLY_BYTES};
use domain::Text;
use domain::ask::{Silence, Unanswered};

fn why(form: &Form, text: &str) -> String {
    match form.read(text) {
        Err(Unanswered { kind: Silence::Unusable, why }) => why,
        other => panic!("{form:?}: {text}: {other:?}"),
    }
}

fn perceiver() -> Form {
    Form::Perceiver { request: Text::model("x") }
}

#[test]
fn rubbish_of_every_kind_is_unusable_for_every_role() {
    let roles = [
        (perceiver(), "wanted is one JSON object with `task`, `answer` or `question`"),
        (Form::Planner, "wanted is one JSON object with `subtasks`, `question` or `impossible`"),
        (Form::Executor, "wanted is one JSON object with `tool` and `args`, or with `output`"),
        (Form::Judge, "wanted is one JSON object with `verdicts`"),
    ];
    let rubbish = [
        ("", "the reply is empty"),
        ("I am sorry, I cannot help with that.", "the reply holds no JSON object"),
        ("true", "the reply holds no JSON object"),
        ("{\"task\":{\"intent\":\"cut o", "the JSON is cut off: it is opened and not closed"),
        ("{'tool': 'x'}", "the JSON cannot be read: key must be a string at line 1 column 2"),
        ("{\"thought\":\"hm\"}", "it is another object"),
        ("{}", "it is another object"),
        ("[]", "it is a list"),
        ("[1,2]", "it is a list"),
        ("[{\"thought\":\"hm\"}]", "it is a list"),
        ("<think>I should call a tool", "the reply ends within its thinking; write the JSON object after it"),
        (
            "<think>{\"answer\":\"a\",\"tool\":\"b\",\"verdicts\":[]}</think>",
            "the reply holds no JSON object",
        ),
    ];
    for (form, wanted) in roles {
        for (text, expected) in rubbish {
            assert_eq!(why(&form, text), format!("{expected}; {wanted}"), "{form:?}");
        }
    }
}

#[test]
fn what_is_meant_and_wrong_is_named() {
    let table = [
        (perceiver(), r#"{"task":{"task_class":"x"}}"#, "`intent` of `task` is missing or empty"),
        (perceiver(), r#"{"task":"count"}"#, "`task` is `\"count\"`, not an object"),
        (perceiver(), r#"{"task":{"intent":["a"]}}"#, "`intent` of `task` is `[\"a\"]`, not a text"),
        (
            perceiver(),
            r#"{"answer":"a","question":"b"}"#,
            "it has both `answer` and `question`; write one of them",
        ),
        (perceiver(), r#"{"answer":" "}"#, "`answer` is missing or empty"),
        (Form::Planner, r#"{"subtasks":["a"]}"#, "subtask 0 is `\"a\"`, not an object"),
        (
            Form::Planner,
            r#"{"subtasks":[{"success_criteria":["a"]}]}"#,
            "`intent` of subtask 0 is missing or empty",
        ),
        (
            Form::Planner,
            r#"{"subtasks":[{"intent":"a","depends_on":[-1]}]}"#,
            "`depends_on` of subtask 0 holds `-1`, not the number of a subtask, counted from 0",
        ),
        (
            Form::Planner,
            r#"{"subtasks":[{"intent":"a","success_criteria":[{"text":"b","mode":"sure"}]}]}"#,
            "`mode` of criterion 1 of subtask 0 is `sure`, not verifiable or plausible",
        ),
        (
            Form::Planner,
            r#"{"subtasks":[{"intent":"a","success_criteria":["b",{"text":"c","check":{"file_exists":{}}}]}]}"#,
            "criterion 2 of subtask 0: the check `file_exists`: missing field `path`",
        ),
        (
            Form::Planner,
            r#"{"subtasks":[{"intent":"a","success_criteria":[""]}]}"#,
            "criterion 1 of subtask 0 is empty",
        ),
        (
            Form::Planner,
            r#"{"subtasks":[{"intent":"a","tool_hints":["No Tool"]}]}"#,
            "a tool hint of subtask 0: `No Tool` is no tool id: 1 to 64 of a-z, 0-9, _ and - are allowed",
        ),
        (
            Form::Executor,
            r#"{"tool":"Find files","args":{}}"#,
            "`Find files` is no tool id: 1 to 64 of a-z, 0-9, _ and - are allowed",
        ),
        (Form::Executor, r#"{"tool":{"name":"x"}}"#, "`tool` is `{\"name\":\"x\"}`, not a text"),
        (Form::Executor, r#"{"tool":"x","args":[1]}"#, "`args` is `[1]`, not an object"),
        (Form::Executor, r#"{"tool":"x","args":"ls -l"}"#, "`args` is `\"ls -l\"`, not an object"),
        (
            Form::Executor,
            r#"{"tool":"x","output":"y"}"#,
            "it has both `tool` and `output`; write one of them",
        ),
        (
            Form::Executor,
            r#"{"output":"x","status":"done"}"#,
            "`status` is `done`, not completed, uncertain or failed",
        ),
        (Form::Judge, r#"{"verdicts":["pass"]}"#, "verdict 1 is `\"pass\"`, not an object"),
        (Form::Judge, r#"{"verdicts":[{"verdict":"pass"}]}"#, "verdict 1 is a pass without `evidence`"),
        (
            Form::Judge,
            r#"{"verdicts":[{"verdict":"maybe"}]}"#,
            "`verdict` of verdict 1 is `maybe`, not pass, fail or unclear",
        ),
        (
            Form::Judge,
            r#"{"verdicts":[{"verdict":"fail","failure_class":"moral"}]}"#,
            "`failure_class` of verdict 1 is `moral`, not logical or environmental",
        ),
        // The one that was meant is named, not the one that stands first.
        (Form::Judge, r#"{"a":1} {"verdicts":[{}]} {"b":2}"#, "`verdict` of verdict 1 is missing or empty"),
    ];
    for (form, text, expected) in table {
        assert_eq!(why(&form, text), expected, "{text}");
    }
    let unknown = r#"{"subtasks":[{"intent":"a","success_criteria":[{"text":"b","check":{"is_nice":{}}}]}]}"#;
    let reason = why(&Form::Planner, unknown);
    assert!(
        reason.starts_with("criterion 1 of subtask 0: there is no check `is_nice`; there are "),
        "{reason}"
    );
}

#[test]
fn a_long_reply_is_not_looked_at_whatever_is_in_it() {
    const LONG: usize = 10_000_000;
    let text = format!("{{\"answer\":\"a\"}}{}", " ".repeat(LONG - 14));
    assert_eq!(why(&perceiver(), &text), format!("the reply has {LONG} bytes, more than {REPLY_BYTES}"));
    let fits = text.get(..REPLY_BYTES).unwrap();
    assert!(perceiver().read(fits).is_ok());
}

#[test]
fn a_reason_does_not_repeat_a_long_value() {
    let reason = why(&Form::Executor, &format!(r#"{{"tool":"x","args":"{}"}}"#, "é".repeat(5000)));
    assert_eq!(reason, format!("`args` is `\"{}…`, not an object", "é".repeat(59)));
}
