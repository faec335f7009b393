//! Deleting, copying and renaming: what is found is changed as a whole, or nothing is.

use domain::limits;
use serde_json::{Value, json};

use super::records::{all, file, found, with};
use super::{Asked, End, done, failed};

/// The calls after the search, and the end.
fn after(request: &str, record: Value) -> (Vec<(String, Value)>, End) {
    let (mut calls, end) = Asked::UTC.worked(request, 0, &[Ok(record)]);
    assert_eq!(calls.remove(0).0, "find_files", "{request}");
    (calls, end)
}

fn called(tool: &str, args: Value) -> (Vec<(String, Value)>, End) {
    (vec![(tool.to_owned(), args)], End::Open)
}

fn stopped(end: End) -> (Vec<(String, Value)>, End) {
    (vec![], end)
}

#[test]
fn what_is_to_be_changed_is_searched_for_without_a_limit_but_the_tools() {
    let table = [
        ("delete all .tmp files", json!({ "under": ".", "extensions": ["tmp"] })),
        ("delete *.tmp", json!({ "under": ".", "name": "*.tmp" })),
        ("delete src/a.txt", json!({ "under": "src", "direct": true, "name": "a.txt" })),
        ("delete a.txt in src", json!({ "under": "src", "name": "a.txt" })),
        ("delete the empty files in src", json!({ "under": "src", "empty": true })),
        ("delete files larger than 1 MB", json!({ "under": ".", "larger_than": 1_000_000 })),
        ("delete files not containing TODO", json!({ "under": ".", "lacks": "TODO" })),
        (
            "delete all rust files except main.rs",
            json!({ "under": ".", "extensions": ["rs"], "not_name": ["main.rs"] }),
        ),
        ("copy the files from src to docs", json!({ "under": "src" })),
        ("rename all .txt files to .md", json!({ "under": ".", "extensions": ["txt"] })),
    ];
    for (request, args) in table {
        let args = with(args, json!({ "order": "name", "limit": limits::FOUND_FILES }));
        let (calls, end) = Asked::UTC.worked(request, 0, &[]);
        assert_eq!((calls, end), called("find_files", args), "{request}");
    }
}

/// Never all files in place of those that match.
#[test]
fn files_of_a_pattern_with_folders_are_found_by_it() {
    let glob = |pattern: &str| {
        ("glob".to_owned(), json!({ "pattern": pattern, "order": "name", "limit": limits::FOUND_FILES }))
    };
    let outcomes = [Ok(all(&["build/a.o"]))];
    let (calls, end) = Asked::UTC.worked("delete build/*.o", 0, &outcomes);
    let delete = ("delete_files".to_owned(), json!({ "paths": ["build/a.o"] }));
    assert_eq!((calls, end), (vec![glob("build/*.o"), delete], End::Open));
    let (calls, end) = Asked::UTC.worked("copy build/*.o to old/", 0, &outcomes);
    let copy = ("copy_files".to_owned(), json!({ "copies": [{ "from": "build/a.o", "to": "old/a.o" }] }));
    assert_eq!((calls, end), (vec![glob("build/*.o"), copy], End::Open));
}

#[test]
fn all_that_is_found_is_deleted_in_one_call() {
    let request = "delete all .tmp files";
    assert_eq!(after(request, all(&["a.tmp"])), called("delete_files", json!({ "paths": ["a.tmp"] })));
    let three = all(&["a.tmp", "b/c.tmp", "d e.tmp"]);
    let paths = json!({ "paths": ["a.tmp", "b/c.tmp", "d e.tmp"] });
    assert_eq!(after(request, three), called("delete_files", paths));
    assert_eq!(after(request, all(&[])), stopped(done("There is nothing to delete: no .tmp files.")));
}

#[test]
fn only_as_many_as_were_asked_for_are_changed() {
    let oldest = found(5000, &[file("a"), file("b"), file("c"), file("d")]);
    let paths = json!({ "paths": ["a", "b", "c"] });
    assert_eq!(after("delete the oldest 3 files in logs", oldest), called("delete_files", paths));
    let newest = all(&["x/b", "a"]);
    let one = json!({ "moves": [{ "from": "x/b", "to": "old/b" }] });
    assert_eq!(after("move the newest file to old/", newest), called("move_files", one));
}

#[test]
fn nothing_is_changed_unless_all_of_it_is_known_by_name() {
    let requests = [
        "delete all .tmp files",
        "copy all .tmp files to old/",
        "move all .tmp files to old/",
        "rename all .tmp files to .bak",
    ];
    let odd = with(file("a\u{fffd}.tmp"), json!({ "utf8": false }));
    let table = [
        (
            found(1001, &[file("a.tmp"), file("b.tmp")]),
            "these are 1001 files, more than I change at once (1000); nothing was changed",
        ),
        (
            with(all(&["a.tmp"]), json!({ "complete": false, "unreadable": 1 })),
            "not every folder could be read, so nothing was changed",
        ),
        (
            found(2, &[file("b.tmp"), odd]),
            "the name of `a\u{fffd}.tmp` is not UTF-8, so I cannot name it to a tool; nothing was changed",
        ),
    ];
    for (record, why) in table {
        for request in requests {
            assert_eq!(after(request, record.clone()), stopped(failed(why)), "{request}");
        }
    }
}

/// There may be another of the same name where nobody could look.
#[test]
fn a_bare_name_is_changed_only_if_it_is_known_which_file_it_is() {
    let partly = with(all(&["x/a.txt"]), json!({ "complete": false, "unreadable": 1 }));
    let odd = found(1, &[with(file("\u{fffd}/a.txt"), json!({ "utf8": false }))]);
    let not_utf8 =
        "the name of `\u{fffd}/a.txt` is not UTF-8, so I cannot name it to a tool; nothing was changed";
    for request in ["delete a.txt", "copy a.txt to old/", "rename a.txt to b.txt"] {
        let incomplete = failed("not every folder could be read, so nothing was changed");
        assert_eq!(after(request, partly.clone()), stopped(incomplete), "{request}");
        assert_eq!(after(request, odd.clone()), stopped(failed(not_utf8)), "{request}");
    }
}

#[test]
fn nothing_to_copy_or_rename_is_a_failure() {
    for request in
        ["copy all .tmp files to old/", "move all .tmp files to old/", "rename all .tmp files to .bak"]
    {
        assert_eq!(after(request, all(&[])), stopped(failed("there are no .tmp files")), "{request}");
    }
}

#[test]
fn copies_are_made_where_it_is_said() {
    let table = [
        ("copy a.txt to b.txt", "docs/a.txt", "b.txt"),
        ("copy docs/a.txt to b.txt", "docs/a.txt", "b.txt"),
        ("copy docs/a.txt to docs/b.txt", "docs/a.txt", "docs/b.txt"),
        ("copy a.txt to backup/", "docs/a.txt", "backup/a.txt"),
        ("copy a.txt into a folder called backup", "docs/a.txt", "backup/a.txt"),
        ("copy a.txt to \"my docs/\"", "docs/a.txt", "my docs/a.txt"),
        ("make a copy of a.txt called b.txt", "docs/a.txt", "b.txt"),
        ("copy the largest file to backup/", "docs/a.txt", "backup/a.txt"),
    ];
    for (request, from, to) in table {
        let args = json!({ "copies": [{ "from": from, "to": to }] });
        assert_eq!(after(request, all(&[from])), called("copy_files", args), "{request}");
    }
}

#[test]
fn a_renamed_file_stays_in_its_folder_and_a_moved_one_goes_where_it_is_said() {
    let table = [
        ("rename a.txt to b.txt", "a.txt", "b.txt"),
        ("rename a.txt to b.txt", "docs/a.txt", "docs/b.txt"),
        ("rename docs/a.txt to b.txt", "docs/a.txt", "docs/b.txt"),
        ("rename docs/a.txt to old/b.txt", "docs/a.txt", "old/b.txt"),
        ("move a.txt to archive/", "docs/a.txt", "archive/a.txt"),
        ("move a.txt to archive/b.txt", "docs/a.txt", "archive/b.txt"),
    ];
    for (request, from, to) in table {
        let args = json!({ "moves": [{ "from": from, "to": to }] });
        assert_eq!(after(request, all(&[from])), called("move_files", args), "{request}");
    }
}

#[test]
fn another_extension_replaces_only_what_is_behind_the_last_dot() {
    let record = all(&["a.txt", "docs/b.c.txt", "docs.d/e.txt"]);
    let args = json!({ "moves": [
        { "from": "a.txt", "to": "a.md" },
        { "from": "docs/b.c.txt", "to": "docs/b.c.md" },
        { "from": "docs.d/e.txt", "to": "docs.d/e.md" },
    ] });
    assert_eq!(after("rename all .txt files to .md", record), called("move_files", args));
}

#[test]
fn no_two_files_may_meet_in_one_place() {
    let table = [
        ("copy all .txt files to out/", all(&["a/x.txt", "b/x.txt"]), "out/x.txt"),
        ("move all .txt files to out/", all(&["a/x.txt", "b/x.txt"]), "out/x.txt"),
        ("rename all images to .png", all(&["a/x.jpg", "a/x.png"]), "a/x.png"),
    ];
    for (request, record, target) in table {
        let why = format!("two of the files would both become `{target}`; nothing was changed");
        assert_eq!(after(request, record), stopped(failed(&why)), "{request}");
    }
}

#[test]
fn each_of_several_named_files_is_a_subtask_of_its_own() {
    for (number, path) in [(0, "a.txt"), (1, "b.txt"), (2, "c.txt")] {
        let request = "delete a.txt, b.txt and c.txt";
        let (calls, end) = Asked::UTC.worked(request, number, &[Ok(all(&[path]))]);
        assert_eq!(calls.last(), Some(&("delete_files".to_owned(), json!({ "paths": [path] }))));
        assert_eq!(end, End::Open);
    }
}
