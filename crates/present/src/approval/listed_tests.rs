//! Questions about several files: every one of them, whole, behind a number of ours.

use broker::question::{Name, NamedBy};
use domain::change::{Change, Standing};
use serde_json::json;

use super::sample::{question, sink, view};
use super::tests::{BARE, HOSTILE, acts, file, folded, gone, shown};
use super::{ApprovalView, is_title_complete, measure_columns};
use crate::{Folding, inline};

fn delete_several() -> ApprovalView {
    let names = [
        ("invoices/Aurora-2026-08 (1).pdf", 213_412, "2026-09-02T09:00:00Z"),
        ("invoices/Aurora-2026-09 (1).pdf", 208_600, "2026-10-03T09:00:00Z"),
        ("invoices/Aurora-2026-09 copy.pdf", 208_600, "2026-10-03T09:00:00Z"),
    ];
    let args = json!({ "paths": names.map(|(path, ..)| path) });
    let sinks = vec![sink("paths", &args["paths"].to_string(), NamedBy::Rule)];
    let mut question = question("delete_files", args, sinks);
    question.names = names.map(|(path, bytes, modified)| gone(path, bytes, modified)).to_vec();
    question.wanted = "Byte for byte the same as the originals, which stay.".into();
    view(question)
}

/// What decides is never folded: every path, with size and date.
#[test]
fn a_deletion_of_several_files_shows_each() {
    let expected = "\
? a-m3xd  delete 3 files                      step 4 of t-k7q2, open until 14:48
    paths, 3 files:
     1  invoices/Aurora-2026-08 (1).pdf       214 kB    2 Sep 2026
     2  invoices/Aurora-2026-09 (1).pdf       209 kB    3 Oct 2026
     3  invoices/Aurora-2026-09 copy.pdf      209 kB    3 Oct 2026
  named by     a rule, from your words
  why asked    deleting always needs you
  undo: yes, regent undo t-k7q2
  agent says   \"Byte for byte the same as the originals, which stay.\"";
    assert_eq!(folded(&delete_several(), 80), expected);
    assert!(!is_title_complete(&delete_several(), 80), "a count is not what decides");
    let narrow = folded(&delete_several(), 40);
    let rows =
        "     1  31 characters:\n    | invoices/Aurora-2026-08 (1).pdf\n        214 kB    2 Sep 2026\n";
    assert!(narrow.contains(rows), "{narrow}");
}

#[test]
fn what_could_not_be_put_back_is_said_of_each_before_the_answer() {
    let mut partly = delete_several();
    partly.question.as_mut().unwrap().names[1].undo = false;
    let text = folded(&partly, 80);
    assert!(
        text.contains("(1).pdf       209 kB    3 Oct 2026\n        cannot be put back\n     3  "),
        "{text}"
    );
    assert!(text.contains("\n  undo: for 2 of 3, regent undo t-k7q2\n"), "{text}");
    for name in &mut partly.question.as_mut().unwrap().names {
        name.undo = false;
    }
    let text = folded(&partly, 80);
    assert!(text.contains("\n  undo: no\n") && !text.contains("cannot be put back"), "{text}");
}

#[test]
fn a_move_says_from_where_to_where() {
    let args =
        json!({ "moves": [{ "from": "./todo.txt", "to": "tasks.txt" }, { "from": "a", "to": "old/" }] });
    let sinks = vec![sink("moves", &args["moves"].to_string(), NamedBy::Owner)];
    let mut question = question("move_files", args, sinks);
    let made = |path: &str, from: &str, folders: &[&str]| {
        let change = Change::new(path.into(), Standing::Nothing, file(5));
        let folders = folders.iter().map(ToString::to_string).collect();
        Name {
            change: Change { moved_from: Some(from.into()), folders, ..change },
            modified: None,
            undo: true,
        }
    };
    question.names = vec![
        made("tasks.txt", "todo.txt", &[]),
        gone("todo.txt", 5, "2026-09-02T09:00:00Z"),
        made("old/a", "a", &["old"]),
        Name { undo: false, ..gone("a", 5, "2026-10-03T09:00:00Z") },
    ];
    let expected = "\
? a-m3xd  move 2 files                        step 4 of t-k7q2, open until 14:48
    moves, 2 files:
     1  ./todo.txt     5 bytes    2 Sep 2026
    to  tasks.txt
     2  a              5 bytes    3 Oct 2026
    to  old/a
        cannot be put back
  named by     you, who typed it
  folders      makes the folders old
  why asked    deleting always needs you
  undo: for 1 of 2, regent undo t-k7q2";
    assert_eq!(folded(&view(question), 80), expected);
}

/// A path that would like to be something else stands behind a number, whole, and is pointed out.
#[test]
fn hostile_paths_in_a_list_stay_behind_their_numbers() {
    for value in HOSTILE {
        for width in [40, 80] {
            let args = json!({ "moves": [{ "from": value, "to": value }, { "from": "b", "to": "c" }] });
            let sinks = vec![sink("moves", &args["moves"].to_string(), NamedBy::Model)];
            let mut question = question("move_files", args, sinks);
            question.names = vec![gone(value, 5, "2026-09-02T09:00:00Z")];
            let lines = shown(&view(question), width, BARE, Folding::FirstLines("v shows all"));
            assert!(lines.iter().all(|line| !acts(line) && measure_columns(line) <= width), "{lines:?}");
            let together = lines.iter().map(|line| line.strip_prefix("    | ").unwrap_or(line));
            assert!(together.collect::<String>().contains(&inline(value)), "{lines:?}");
            let ours = |line: &&String| line.starts_with("  named by") || line.starts_with("  undo:");
            assert_eq!(lines.iter().filter(ours).count(), 1, "{lines:?}");
        }
    }
    let listed = |path: &str| {
        let args = json!({ "paths": [path, "b"] });
        folded(&view(question("delete_files", args, vec![sink("paths", "", NamedBy::Model)])), 80)
    };
    assert!(listed(HOSTILE[5]).contains("! looks odd    it has characters that nobody sees"));
    assert!(listed("a      1 kB   1 Jan 2026").contains("6 blanks in a row"));
}

/// A thousand of them are a thousand rows.
#[test]
fn a_long_list_is_never_folded() {
    let paths: Vec<String> = (0..1_000).map(|n| format!("f{n}.tmp")).collect();
    let args = json!({ "paths": paths });
    let view = view(question("delete_files", args, vec![sink("paths", "", NamedBy::Rule)]));
    let text = folded(&view, 80);
    assert!(paths.iter().all(|path| text.lines().any(|line| line.ends_with(&format!("  {path}")))), "{text}");
    assert!(text.starts_with("? a-m3xd  delete 1000 files ") && !text.contains("v shows all"), "{text}");
}
