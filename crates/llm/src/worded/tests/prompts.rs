//! What each role is shown, compared with the files in `prompts/shown`. A change to a prompt is a change to these files:
//! the failing test prints the new text.

use super::super::{Form, form, lenient, role_text, samples};
use super::worded;
use crate::model::{Place, Role};
use serde_json::{Value, json};

const SHOWN: [(&str, &str); 8] = [
    ("perceiver", include_str!("../prompts/shown/perceiver.txt")),
    ("perceiver_clarified", include_str!("../prompts/shown/perceiver_clarified.txt")),
    ("planner", include_str!("../prompts/shown/planner.txt")),
    ("planner_again", include_str!("../prompts/shown/planner_again.txt")),
    ("executor", include_str!("../prompts/shown/executor.txt")),
    ("executor_corrected", include_str!("../prompts/shown/executor_corrected.txt")),
    ("validator", include_str!("../prompts/shown/validator.txt")),
    ("meta_validator", include_str!("../prompts/shown/meta_validator.txt")),
];

#[test]
fn every_role_is_shown_what_the_files_say() {
    let worded = worded(Ok(String::new()));
    let mut differ = String::new();
    for ((name, ask), (shown, expected)) in samples::all().iter().zip(SHOWN) {
        let user = worded.prompt(ask).user;
        assert_eq!(*name, shown);
        if user != expected {
            differ.push_str(&format!("\n<<< prompts/shown/{name}.txt\n{user}>>>\n"));
        }
    }
    assert!(differ.is_empty(), "prompts changed; if this is what is meant, put it into the files:{differ}");
}

#[test]
fn what_does_not_vary_is_the_system_part_and_only_two_roles_see_the_tools() {
    let worded = worded(Ok(String::new()));
    for (name, ask) in samples::all() {
        let prompt = worded.prompt(&ask);
        let tools = "\n## Tools\n\n### find_files\nFinds files by name, kind and size.\n\
                     Arguments: {\"properties\":{\"under\":{}}}\n\n### read_file\nReads one file.\n\
                     Arguments: {\"required\":[\"path\"]}\n";
        let told = matches!(prompt.place.role, Role::Planner | Role::Executor);
        let expected = [role_text(prompt.place.role), if told { tools } else { "" }].concat();
        assert_eq!(prompt.system, expected, "{name}");
    }
}

#[test]
fn every_role_says_how_to_reply_with_examples_that_can_be_read() {
    for (name, ask) in samples::all() {
        let role = Place::of(&ask).role;
        let examples: Vec<&str> = form(role).lines().filter(|line| line.starts_with('{')).collect();
        assert!(!examples.is_empty(), "{name}");
        for example in examples {
            let read = Form::of(&ask).read(example);
            assert!(read.is_ok(), "{name}: {example}: {read:?}");
        }
    }
}

#[test]
fn every_check_that_a_planner_is_told_of_can_be_read() {
    let checks = lenient::find(role_text(Role::Planner)).unwrap();
    let checks = checks.into_iter().filter(|value| value.get("subtasks").is_none());
    let checks: Vec<_> = checks.take_while(|value| value.get("question").is_none()).collect();
    assert_eq!(checks.len(), 10, "all but all_of, any_of and not, which are shown without a body");
    for check in checks {
        let plan = json!({ "subtasks": [{ "intent": "a", "criteria": [{ "text": "b", "check": check }] }] });
        let read = Form::Planner.read(&plan.to_string());
        assert!(read.is_ok(), "{check}: {read:?}");
    }
}

#[test]
fn a_schema_allows_the_examples_fields() {
    let worded = worded(Ok(String::new()));
    for (name, ask) in samples::all() {
        let schema = worded.prompt(&ask).schema;
        let role = Place::of(&ask).role;
        let ways = schema.get("anyOf").and_then(|ways| ways.as_array().cloned()).unwrap_or(vec![schema]);
        for example in form(role).lines().filter(|line| line.starts_with('{')) {
            let example: Value = serde_json::from_str(example).unwrap();
            let keys: Vec<&String> = example.as_object().unwrap().keys().collect();
            let fits = |way: &Value| {
                keys.iter().all(|key| way["properties"].get(key.as_str()).is_some())
                    && way["required"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .all(|need| example.get(need.as_str().unwrap()).is_some())
            };
            assert!(ways.iter().any(fits), "{name}: {example}");
        }
    }
}

#[test]
fn who_can_call_is_told_of_the_tools_once_and_in_no_words() {
    let worded = worded(Ok(String::new()));
    for (name, ask) in samples::all() {
        let prompt = worded.prompt(&ask);
        let Some(calling) = prompt.calling else {
            assert_ne!(prompt.place.role, Role::Executor, "{name}");
            continue;
        };
        assert_eq!(prompt.place.role, Role::Executor, "{name}");
        let names: Vec<&str> = calling.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["find_files", "read_file", crate::FINISH], "{name}");
        assert!(calling.system.starts_with("# You are the executor\n"), "{name}");
        assert!(!calling.system.contains("## Tools") && !calling.system.contains("JSON object"), "{name}");
        let form = "\n## Reply\n\nCall exactly one tool and write nothing else.";
        assert!(calling.system.contains(form), "{}", calling.system);
    }
}

#[test]
fn a_call_is_read_like_a_written_one_and_two_at_once_are_sent_back() {
    let (_, ask) = samples::all().remove(4);
    let called = |tool: &str, args: Value| crate::Called { tool: tool.into(), args };
    let read = |calls: Vec<crate::Called>| super::super::read(&Form::of(&ask), "", calls, &|_| ());
    let one = called("find_files", json!({ "under": "docs" }));
    assert_eq!(
        read(vec![one.clone()]),
        Form::of(&ask).read(r#"{"tool":"find_files","args":{"under":"docs"}}"#)
    );
    let done = json!({ "output": "none", "status": "failed" });
    assert_eq!(read(vec![called(crate::FINISH, done.clone())]), Form::of(&ask).read(&done.to_string()));
    let two = read(vec![one.clone(), one]).unwrap_err();
    assert!(two.why.starts_with("it calls 2 tools at once"), "{two}");
}
