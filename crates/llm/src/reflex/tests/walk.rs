//! From the request to the answer, with whole values.

use super::{acted, answered, moved, output, perceived, planned, understood};
use domain::Text;
use domain::ask::{Action, Perception, Reply, Want};
use domain::call::{Chooser, Failure};
use domain::criterion::{Check, Criterion};
use domain::source::Source;
use domain::task::{Constraints, Plan, Subtask, TaskSpec};
use serde_json::{Value, json};

const REFERENCE: &str = "how many Rust files are here, and which is the largest?";

fn spec(task_class: &str, intent: &str, scope: Option<&str>, request: &str) -> TaskSpec {
    TaskSpec {
        task_class: task_class.into(),
        intent: Text::model(intent),
        constraints: Constraints { scope: scope.map(Into::into), deadline: None },
        raw_input: Text::new(request, Source::Owner),
    }
}

fn equals(pointer: &str, value: Value) -> Check {
    Check::JsonPath { pointer: pointer.into(), equals: value }
}

#[test]
fn the_reference_request_from_the_first_ask_to_the_answer() {
    let spec = spec("count_and_largest_files", "count the Rust files and name the largest", None, REFERENCE);
    assert_eq!(understood(REFERENCE), spec);

    let count = "/count".to_owned();
    let named = Check::NotEmpty { pointer: "/files/0/path".into() };
    let criteria = vec![
        Criterion::checked("find_files ran", Check::ToolCalled { tool: "find_files".parse().unwrap() }),
        Criterion::checked("every folder could be read", equals("/complete", json!(true))),
        Criterion::checked(
            "the number of files is known",
            Check::NumberInRange { pointer: count, min: Some(0.0), max: None },
        ),
        Criterion::checked(
            "the largest is named, if there is any",
            Check::AnyOf(vec![equals("/count", json!(0)), named]),
        ),
    ];
    let subtask = Subtask::new(Text::model("count the Rust files and name the largest"), criteria);
    assert_eq!(planned(&spec), Plan::of(vec![subtask]));

    let call = Action::Call {
        tool: "find_files".parse().unwrap(),
        args: json!({ "under": ".", "extensions": ["rs"], "order": "largest", "limit": 1 }),
        chosen_by: Chooser::Rule,
    };
    assert_eq!(acted(&spec, 0, &[]), call);

    let largest = json!({
        "path": "crates/x/src/y.rs", "bytes": 18_204, "modified": "2026-11-15T08:30:00Z",
        "matching_lines": null, "matches": [],
    });
    let record = json!({
        "count": 57, "bytes": 300_000, "files": [largest], "complete": true, "unreadable": 0,
        "left_out": "hidden files, ignored files and links", "binary_skipped": 0,
    });
    assert_eq!(
        output(&spec, 0, Ok(record)),
        "57 Rust files; the largest is crates/x/src/y.rs (18.2 kB).\nSubfolders included; hidden files, ignored files and links left out."
    );
}

#[test]
fn what_a_request_is_taken_for() {
    let table = [
        (
            "count the .toml files under crates",
            "count_files",
            "count the .toml files under crates",
            Some("crates"),
        ),
        (
            "list crates/**/*.toml",
            "list_files",
            "list the files matching `crates/**/*.toml`",
            Some("crates/**/*.toml"),
        ),
        ("show me the 5 largest files", "largest_files", "name the 5 largest files", None),
        ("newest file in docs", "newest_files", "name the newest file under docs", Some("docs")),
        (
            "which rust files contain unsafe?",
            "search_text",
            "list the Rust files that contain `unsafe`",
            None,
        ),
        ("search for regent in README.md", "search_text", "search README.md for `regent`", Some("README.md")),
        (
            "which files mention TODO, and how many are there",
            "count_and_search_text",
            "count and list the files that contain `TODO`",
            None,
        ),
        (
            "how many Rust files are here and which is the newest markdown file?",
            "count_and_newest_files",
            "count the Rust files; name the newest Markdown file",
            None,
        ),
        (
            "how many files in docs mention x, and what are the 2 newest",
            "count_and_newest_files",
            "count the files under docs that contain `x` and name the 2 newest",
            Some("docs"),
        ),
    ];
    for (request, class, intent, scope) in table {
        assert_eq!(understood(request), spec(class, intent, scope, request), "{request}");
    }
}

#[test]
fn what_is_called_for_each_subtask() {
    let table = [
        (
            "how many files are there",
            vec![("find_files", json!({ "under": ".", "order": "name", "limit": 1 }))],
        ),
        (
            "list *.rs in crates/domain",
            vec![(
                "find_files",
                json!({ "under": "crates/domain", "name": "*.rs", "order": "name", "limit": 100 }),
            )],
        ),
        (
            "list crates/**/*.toml",
            vec![("glob", json!({ "pattern": "crates/**/*.toml", "order": "name", "limit": 100 }))],
        ),
        (
            "which markdown files mention Regent",
            vec![(
                "find_files",
                json!({ "under": ".", "extensions": ["md", "markdown"], "contains": "Regent", "order": "name", "limit": 100 }),
            )],
        ),
        (
            "search for regent in README.md",
            vec![("read_file", json!({ "path": "README.md", "containing": "regent" }))],
        ),
        (
            "which is the largest and which are the 3 newest python files",
            vec![
                ("find_files", json!({ "under": ".", "extensions": ["py"], "order": "largest", "limit": 1 })),
                ("find_files", json!({ "under": ".", "extensions": ["py"], "order": "newest", "limit": 3 })),
            ],
        ),
    ];
    for (request, calls) in table {
        let spec = understood(request);
        assert_eq!(planned(&spec).subtasks.len(), calls.len(), "{request}");
        for (number, (tool, args)) in (0..).zip(calls) {
            let tool = tool.parse().unwrap();
            let call = Action::Call { tool, args, chosen_by: Chooser::Rule };
            assert_eq!(acted(&spec, number, &[]), call, "{request}");
        }
    }
}

#[test]
fn what_must_hold_of_each_kind_of_answer() {
    let table = [
        ("count files", "find_files ran; every folder could be read; the number of files is known"),
        (
            "list src/*.rs",
            "glob ran; every folder could be read; the number of files is known; the files are named, if there are any",
        ),
        (
            "search for TODO",
            "find_files ran; every folder could be read; the number of files is known; \
             every file could be searched; the matches are shown, if there are any",
        ),
        (
            "search for TODO in a.md",
            "read_file ran; the whole file was read; \
             the number of matching lines is known; the matches are shown, if there are any",
        ),
    ];
    for (request, expected) in table {
        let plan = planned(&understood(request));
        let criteria = plan.subtasks.iter().flat_map(|subtask| &subtask.success_criteria);
        let texts: Vec<_> = criteria.map(|criterion| criterion.text.as_str()).collect();
        assert_eq!(texts.join("; "), expected, "{request}");
    }
}

#[test]
fn a_failed_call_is_no_success() {
    let failed = Err(Failure::environmental("there is no folder `docs`"));
    assert_eq!(
        output(&understood("count files in docs"), 0, failed),
        "There is no answer: find_files failed, there is no folder `docs`."
    );
}

#[test]
fn a_record_of_another_shape_is_no_answer() {
    let text = output(&understood("count files"), 0, Ok(json!({ "files": [] })));
    assert_eq!(text, "There is no answer: the tool's record is not as agreed, missing field `count`.");
}

#[test]
fn the_source_of_the_request_is_kept() {
    let request = Text::new("count files", Source::System);
    let want = Want::Perceive { request: request.clone(), history: vec![], clarified: None };
    let Reply::Perceived(Perception::Task(task)) = answered(want) else { panic!("not understood") };
    assert_eq!(task.raw_input, request);
}

#[test]
fn a_request_that_was_never_understood_is_neither_planned_nor_acted_on() {
    let spec = spec("count_files", "", None, "delete everything");
    assert!(matches!(perceived("delete everything"), Perception::Beyond { .. }));
    assert_eq!(planned(&spec), Plan::of(vec![]));
    let act = |spec, number| moved(spec, number, Subtask::new(Text::model(""), vec![]), vec![]);
    let finish = |output: &str| Action::done(output);
    assert_eq!(
        act(spec, 0),
        finish("I do not understand this request: the word `delete` is not one I know.")
    );
    let another = finish("Nothing was done: `` is no subtask of this request.");
    assert_eq!(act(understood("count files"), 0), another);
    assert_eq!(act(understood("count files"), u32::MAX), another);
}
