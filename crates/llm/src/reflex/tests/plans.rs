//! One subtask per job, and criteria that the tools' records can meet.

use domain::Text;
use domain::ask::{Action, Perception, Reply, Want};
use domain::call::ToolId;
use domain::criterion::{Check, Criterion};
use domain::source::Source;
use domain::task::{Constraints, Plan, Subtask, TaskSpec};
use serde_json::{Value, json};

use super::records::{
    calculated, columns, copied, deleted, file, found, groups, hashed, read, renamed, stats, with, written,
};
use super::wordings::accepted;
use super::{Asked, taken};

fn plan(request: &str) -> Plan {
    Asked::UTC.planned(&Asked::UTC.understood(request))
}

#[test]
fn the_reference_request_is_one_subtask_with_its_criteria() {
    let request = "how many Rust files are here, and which is the largest?";
    let intent = "count the Rust files and name the largest";
    let spec = TaskSpec {
        task_class: "count_and_largest_files".into(),
        intent: Text::model(intent),
        constraints: Constraints { scope: None, deadline: None },
        raw_input: Text::new(request, Source::Owner),
    };
    assert_eq!(Asked::UTC.understood(request), spec);
    let equals = |pointer: &str, equals: Value| Check::JsonPath { pointer: pointer.into(), equals };
    let named = Check::NotEmpty { pointer: "/files/0/path".into() };
    let criteria = vec![
        Criterion::checked("find_files ran", Check::ToolCalled { tool: "find_files".parse().unwrap() }),
        Criterion::checked("every folder could be read", equals("/complete", json!(true))),
        Criterion::checked(
            "the number of files is known",
            Check::NumberInRange { pointer: "/count".into(), min: Some(0.0), max: None },
        ),
        Criterion::checked(
            "the largest is named, if there is any",
            Check::AnyOf(vec![equals("/count", json!(0)), named]),
        ),
    ];
    assert_eq!(plan(request), Plan::of(vec![Subtask::new(Text::model(intent), criteria)]));
}

#[test]
fn classes_and_scopes_are_the_same_in_any_wording() {
    let table = [
        ("count the .toml files under crates", "count_files", Some("crates")),
        ("list crates/**/*.toml", "list_files", Some("crates/**/*.toml")),
        ("show me the 5 largest files", "largest_files", None),
        ("search for regent in README.md", "search_text", Some("README.md")),
        ("how many rows does data/s.csv have", "count_rows_table", Some("data/s.csv")),
        ("what is 2 + 2", "calculate_numbers", None),
        ("how many folders are in src", "count_folders", Some("src")),
        ("list files in src and docs", "list_files", None),
        ("copy a.txt to b.txt and delete a.txt", "copy_and_delete_files", Some("a.txt")),
        ("list python files in src and rust files in crates", "list_files", None),
    ];
    for (request, class, scope) in table {
        let spec = Asked::UTC.understood(request);
        assert_eq!(
            (spec.task_class.as_str(), spec.constraints.scope.as_deref()),
            (class, scope),
            "{request}"
        );
    }
}

#[test]
fn each_kind_of_job_has_its_criteria() {
    let files = "find_files ran; every folder could be read; the number of files is known";
    let searched = "every file could be searched";
    let table = [
        ("count files", files.to_owned()),
        ("list rust files", format!("{files}; the files are named, if there are any")),
        ("are there any rust files", files.to_owned()),
        ("count files by type", files.to_owned()),
        ("how big is src", format!("{files}; the size is known")),
        ("count lines in a.md", format!("{files}; the lines were counted")),
        ("how many words are in a.md", format!("{files}; the words were counted")),
        ("count the lines with TODO in src", format!("{files}; the matches were counted")),
        ("which files contain x", format!("{files}; {searched}; the files are named, if there are any")),
        ("search for TODO", format!("{files}; {searched}; the matches are shown, if there are any")),
        (
            "list src/*.rs",
            "glob ran; every folder could be read; the number of files is known; the files are named, if there are any".into(),
        ),
        ("show the first 3 lines of docs/a.md", "read_file ran; the lines were read".into()),
        ("show the first 3 lines of a.md", "find_files ran; read_file ran; the lines were read".into()),
        ("sha256 of a/b.txt", "hash ran; the hash is known".into()),
        ("average price in d/s.csv", "table_stats ran; there are numbers in the column".into()),
        ("how many rows does d/s.csv have", "table_columns ran; the number of rows is known".into()),
        ("how many rows of d/s.csv per region", "table_groups ran; the groups are known".into()),
        ("what is 2 + 2", "calc ran; there is a result".into()),
        ("delete a.txt", "find_files ran; delete_files ran".into()),
        ("delete .tmp files", "find_files ran; the files are deleted, if there are any".into()),
        ("copy a.txt to b.txt", "find_files ran; copy_files ran; something was done".into()),
        ("rename a.txt to b.txt", "find_files ran; move_files ran; something was done".into()),
        ("list rust files and write the list to l.txt", "find_files ran; write_file ran; l.txt is written".into()),
    ];
    for (request, expected) in table {
        let plan = plan(request);
        let criteria = plan.subtasks.iter().flat_map(|subtask| &subtask.success_criteria);
        let texts: Vec<_> = criteria.map(|criterion| criterion.text.as_str()).collect();
        assert_eq!(texts.join("; "), expected, "{request}");
    }
}

#[test]
fn what_changes_files_is_done_in_the_order_it_was_said_in() {
    let depends = |request: &str| -> Vec<Vec<u32>> {
        plan(request).subtasks.into_iter().map(|subtask| subtask.depends_on).collect()
    };
    let free: Vec<Vec<u32>> = vec![vec![], vec![]];
    assert_eq!(depends("list rust files and python files"), free);
    let row = [
        "copy a.txt to b.txt, then rename b.txt to c.txt",
        "find all .bak files and delete them",
        "delete a.txt and list rust files",
        "copy a.txt to b.txt and count the files in src and save the result to n.txt",
    ];
    for request in row {
        assert_eq!(depends(request), vec![vec![], vec![0]], "{request}");
    }
    assert_eq!(depends("delete a.txt, b.txt and c.txt"), vec![vec![], vec![0], vec![1]]);
}

/// What the last call of a job returns, in full.
fn sample(tool: &str) -> Value {
    let counted = json!({ "lines": 9, "words": 9, "occurrences": 9, "matching_lines": 9 });
    let hit = with(file("a.rs"), json!({ "matching_lines": 1, "matches": [{ "line": 1, "text": "x" }] }));
    match tool {
        "find_files" | "glob" => with(found(1, &[hit]), counted),
        "read_file" => read("a.md", "x", &[(1, "x")]),
        "hash" => hashed(),
        "write_file" => written("a"),
        "delete_files" => deleted(&["a"]),
        "copy_files" => copied(&[("a", "b")]),
        "move_files" => renamed(&[("a", "b")]),
        "table_stats" => stats(1, 1),
        "table_groups" => groups(1, 0, &[("North", 1)]),
        "table_columns" => columns(),
        "calc" => calculated("4", true),
        other => panic!("no such tool: {other}"),
    }
}

fn checks(check: &Check, of: &mut impl FnMut(&Check)) {
    match check {
        Check::AllOf(all) | Check::AnyOf(all) => all.iter().for_each(|check| checks(check, of)),
        one => of(one),
    }
}

#[test]
fn every_criterion_is_about_a_record_that_the_tool_returns() {
    for (request, _) in accepted() {
        for subtask in plan(request).subtasks {
            let (mut tools, mut pointers): (Vec<ToolId>, Vec<String>) = (vec![], vec![]);
            for criterion in &subtask.success_criteria {
                checks(criterion.check.as_ref().unwrap(), &mut |check| match check {
                    Check::ToolCalled { tool } => tools.push(tool.clone()),
                    Check::JsonPath { pointer, .. }
                    | Check::NumberInRange { pointer, .. }
                    | Check::NotEmpty { pointer } => pointers.push(pointer.clone()),
                    Check::FileExists { path } => assert!(!path.is_empty(), "{request}"),
                    other => panic!("{request}: {other:?}"),
                });
            }
            let record = sample(tools.last().unwrap().as_str());
            for pointer in pointers {
                assert!(
                    record.pointer(&pointer).is_some_and(|value| !value.is_null()),
                    "{request}: {pointer}"
                );
            }
        }
    }
}

#[test]
fn every_subtask_begins_with_a_call_of_a_tool_that_it_has_to_run() {
    for (request, _) in accepted() {
        let spec = Asked::UTC.understood(request);
        for (number, subtask) in (0..).zip(Asked::UTC.planned(&spec).subtasks) {
            let first = subtask.success_criteria.first().and_then(|criterion| criterion.check.clone());
            let Action::Call { tool, .. } = Asked::UTC.moved(&spec, number, subtask, vec![]) else {
                panic!("{request} calls nothing");
            };
            assert_eq!(first, Some(Check::ToolCalled { tool }), "{request}");
        }
    }
}

#[test]
fn intents_within_one_plan_differ() {
    for (request, _) in accepted() {
        let mut intents: Vec<_> =
            plan(request).subtasks.into_iter().map(|subtask| subtask.intent.text).collect();
        let before = intents.len();
        intents.sort();
        intents.dedup();
        assert_eq!(intents.len(), before, "{request}");
    }
}

#[test]
fn the_source_of_the_request_is_kept() {
    let request = Text::new("count files", Source::System);
    let want = Want::Perceive { request: request.clone(), history: vec![], clarified: None };
    let Reply::Perceived(Perception::Task(task)) = Asked::UTC.answered(want) else {
        panic!("not understood")
    };
    assert_eq!(task.raw_input, request);
}

#[test]
fn what_was_never_understood_is_neither_planned_nor_acted_on() {
    let spec = TaskSpec {
        raw_input: Text::new("delete src", Source::Owner),
        ..Asked::UTC.understood("count files")
    };
    let why = taken("delete src").unwrap_err();
    assert_eq!(Asked::UTC.planned(&spec), Plan::of(vec![]));
    let act = |spec: &TaskSpec, number, intent: &str| {
        Asked::UTC.moved(spec, number, Subtask::new(Text::model(intent), vec![]), vec![])
    };
    let not = Action::failed(format!("I do not understand this request: {why}."));
    assert_eq!(act(&spec, 0, "delete the files"), not);
    let small_talk = TaskSpec { raw_input: Text::new("hello", Source::Owner), ..spec };
    assert_eq!(act(&small_talk, 0, ""), Action::failed("There is nothing to do."));
}

#[test]
fn a_subtask_of_another_plan_is_not_worked_on() {
    let spec = Asked::UTC.understood("count files");
    let another = Action::failed("Nothing was done: `delete the files` is no subtask of this request.");
    for number in [0, 1, u32::MAX] {
        let subtask = Subtask::new(Text::model("delete the files"), vec![]);
        assert_eq!(Asked::UTC.moved(&spec, number, subtask, vec![]), another);
    }
}
