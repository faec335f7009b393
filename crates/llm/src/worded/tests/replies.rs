//! What is written in the documented form, and in the ways around it that are plain enough.

use super::super::{Form, samples};
use domain::ask::{Action, Claim, Judgement, NotPlanned, Opinion, Perception, Reply};
use domain::call::{Chooser, FailureClass};
use domain::criterion::{Check, Criterion, Mode};
use domain::task::{Constraints, Hint, Plan, Subtask, TaskSpec};
use domain::{Source, Text};
use serde_json::json;

fn request() -> Text {
    Text::new("Which film is the largest?", Source::Owner)
}

fn perceived(text: &str) -> Perception {
    match (Form::Perceiver { request: request() }).read(text) {
        Ok(Reply::Perceived(perception)) => perception,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_task_keeps_the_request_as_it_was_written() {
    let spec = |scope: Option<&str>| {
        Perception::Task(Box::new(TaskSpec {
            task_class: "largest_film".into(),
            intent: Text::model("Find it"),
            constraints: Constraints { scope: scope.map(Into::into), deadline: None },
            raw_input: request(),
        }))
    };
    let table = [
        (r#"{"task":{"task_class":"largest_film","intent":"Find it"}}"#, spec(None)),
        (
            r#"{"task":{"task_class":"Largest film","intent":" Find it ","scope":"~/M","deadline":null,"raw_input":"x"}}"#,
            spec(Some("~/M")),
        ),
        (r#"{"task_id":"largest_film","intent":"Find it","constraints":{"scope":"~/M"}}"#, spec(Some("~/M"))),
        (
            r#"{"task":{"task_class":"largest_film","intent":"Find it"},"answer":null,"question":""}"#,
            spec(None),
        ),
        (r#"{"answer":"Hello!"}"#, Perception::Direct { answer: "Hello!".into() }),
        (r#"{"question":"Which?"}"#, Perception::Clarify { question: "Which?".into() }),
        (
            "Sure! {\"note\":1} {\"answer\":\"a\"} {\"answer\":\"b\"}",
            Perception::Direct { answer: "a".into() },
        ),
    ];
    for (text, expected) in table {
        assert_eq!(perceived(text), expected, "{text}");
    }
}

#[test]
fn a_plan_is_read_whole_and_its_ids_are_not() {
    let text = r#"```json
    {"task_criteria":["all films are listed"],
     "subtasks":[
      {"subtask_id":"b3","intent":"List films","context":"mkv only","success_criteria":["three are listed",
        {"text":"glob ran","check":{"kind":"tool_called","tool":"glob"}},
        {"text":"nice","mode":"plausible","check":null}],"tool_hints":["glob",{"tool":"shell","target":"~"}]},
      {"intent":"Sort","context":["by size",""],"criteria":{"text":"sorted","mode":"verifiable"},"depends_on":["0", 7],"sequence":2},
     ]}
    ```"#;
    let plausible = |text: &str| Criterion { text: text.into(), mode: Mode::Plausible, check: None };
    let glob = || "glob".parse().unwrap();
    let hint = |tool: &str, target: Option<&str>| Hint {
        tool: tool.parse().unwrap(),
        target: target.map(Into::into),
    };
    let first = Subtask {
        context: vec![Text::model("mkv only")],
        tool_hints: vec![hint("glob", None), hint("shell", Some("~"))],
        ..Subtask::new(
            Text::model("List films"),
            vec![
                plausible("three are listed"),
                Criterion::checked("glob ran", Check::ToolCalled { tool: glob() }),
                plausible("nice"),
            ],
        )
    };
    let sorted = Criterion { mode: Mode::Verifiable, ..plausible("sorted") };
    // There is no subtask 7: that is for the engine to say.
    let second = Subtask {
        context: vec![Text::model("by size")],
        depends_on: vec![0, 7],
        sequence: Some(2),
        ..Subtask::new(Text::model("Sort"), vec![sorted])
    };
    let plan = Plan { subtasks: vec![first, second], task_criteria: vec![plausible("all films are listed")] };
    assert_eq!(Form::Planner.read(text), Ok(Reply::Planned(plan)));
}

#[test]
fn a_planner_may_have_no_plan() {
    let not = |reply| Ok(Reply::NotPlanned(reply));
    let table = [
        (r#"{"question":"Which?"}"#, not(NotPlanned::Clarify { question: "Which?".into() })),
        (r#"{"impossible":"no mail here"}"#, not(NotPlanned::Impossible { why: "no mail here".into() })),
        (r#"{"subtasks":[]}"#, Ok(Reply::Planned(Plan::of(vec![])))),
        (
            r#"[{"intent":"a","success_criteria":[]}]"#,
            Ok(Reply::Planned(Plan::of(vec![Subtask::new(Text::model("a"), vec![])]))),
        ),
    ];
    for (text, expected) in table {
        assert_eq!(Form::Planner.read(text), expected, "{text}");
    }
}

#[test]
fn a_call_is_the_models_whoever_it_is_for() {
    let call = |args| {
        let tool = "find_files".parse().unwrap();
        Ok(Reply::Acted(Action::Call { tool, args, chosen_by: Chooser::Model }))
    };
    let finish = |output: &str, status| Ok(Reply::Acted(Action::Finish { output: output.into(), status }));
    let table = [
        (r#"{"tool":"find_files","args":{"under":"."}}"#, call(json!({ "under": "." }))),
        (r#"{"tool":"find_files","args":"{\"under\":\".\"}"}"#, call(json!({ "under": "." }))),
        (r#"{"tool":"find_files","arguments":{"under":"."},"output":null}"#, call(json!({ "under": "." }))),
        (r#"{"tool":"find_files","output":""}"#, call(json!({}))),
        (r#"{"tool":"find_files","chosen_by":"rule"}"#, call(json!({}))),
        ("<think>{\"tool\":\"shell\"}</think>{\"tool\":\"find_files\",\"args\":\"\"}", call(json!({}))),
        (r#"{"tool":"find_files"}{"output":"3 files"}"#, call(json!({}))),
        (r#"{"output":"3 files"}"#, finish("3 files", Claim::Completed)),
        (r#"{"output":"","status":"failed"}"#, finish("", Claim::Failed)),
        (r#"{"output":{"files":3},"status":"Uncertain"}"#, finish(r#"{"files":3}"#, Claim::Uncertain)),
    ];
    for (text, expected) in table {
        assert_eq!(Form::Executor.read(text), expected, "{text}");
    }
}

#[test]
fn verdicts_are_read_in_their_order() {
    let judged = |verdict, failure_class, evidence: &str| Judgement {
        verdict,
        failure_class,
        evidence: evidence.into(),
    };
    let environmental = Some(FailureClass::Environmental);
    let table = [
        (
            r#"{"verdicts":[{"verdict":"pass","evidence":"a"},{"verdict":"FAIL","failure_class":"environmental","evidence":"b"},{"verdict":"unclear"}]}"#,
            vec![
                judged(Opinion::Pass, None, "a"),
                judged(Opinion::Fail, environmental, "b"),
                judged(Opinion::Unclear, None, ""),
            ],
        ),
        (r#"[{"criterion":"x","verdict":"met","evidence":"a"}]"#, vec![judged(Opinion::Pass, None, "a")]),
        (r#"{"verdict":"failed","evidence":"b"}"#, vec![judged(Opinion::Fail, None, "b")]),
        (
            r#"{"verdict":"pass","failure_class":"none","evidence":"b"}"#,
            vec![judged(Opinion::Pass, None, "b")],
        ),
        (r#"{"verdicts":[]}"#, vec![]),
    ];
    for (text, expected) in table {
        assert_eq!(Form::Judge.read(text), Ok(Reply::Judged(expected)), "{text}");
    }
}

#[test]
fn the_form_is_that_of_the_ask() {
    let forms: Vec<String> = samples::all()
        .iter()
        .map(|(_, ask)| {
            format!("{:?}", Form::of(ask)).chars().take_while(char::is_ascii_alphabetic).collect()
        })
        .collect();
    assert_eq!(
        forms,
        ["Perceiver", "Perceiver", "Planner", "Planner", "Executor", "Executor", "Judge", "Judge"]
    );
}
