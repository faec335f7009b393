mod odd;
mod which;

use super::{Args, OneOrMore, run};
use crate::found::Found;
use crate::testing::{CHANGED, Tree};
use crate::workspace::Workspace;
use domain::Stop;
use domain::call::Failure;
use serde_json::{Value, from_value, json, to_value};

impl Default for Args {
    fn default() -> Self {
        from_value(json!({})).unwrap()
    }
}

fn find(tree: &Tree, args: Value) -> Found {
    run(tree.workspace(), &from_value(args).unwrap(), &Stop::default()).unwrap()
}

fn paths(tree: &Tree, args: Value) -> Vec<String> {
    find(tree, args).files.into_iter().map(|file| file.path).collect()
}

/// What is looked at is the folder that was opened, wherever it is now; but whoever asked may mean the other one.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test puts another folder in the place of the workspace")]
fn what_is_found_in_a_workspace_that_was_replaced_is_not_complete() {
    let tree = Tree::new(&[("work/a", ""), ("other/b", "")]);
    let workspace = Workspace::new(tree.path("work")).unwrap();
    let both = || {
        let found = run(&workspace, &Args::default(), &Stop::default()).unwrap();
        let args = from_value(json!({ "pattern": "*" })).unwrap();
        let globbed = crate::glob::run(&workspace, &args, &Stop::default()).unwrap();
        [found, globbed].map(|found| (found.count, found.complete))
    };
    let swap = |from: &str, to: &str| std::fs::rename(tree.path(from), tree.path(to)).unwrap();
    assert_eq!(both(), [(1, true); 2]);
    swap("work", "gone");
    swap("other", "work");
    assert_eq!(both(), [(1, false); 2]);
    swap("work", "other");
    swap("gone", "work");
    assert_eq!(both(), [(1, true); 2]);
}

#[test]
fn the_record_as_the_planner_sees_it() {
    let tree = Tree::new(&[("src/main.rs", "fn main() {\n    todo!()\n}\n"), ("notes.txt", "todo")]);
    let modified = "2023-11-14T22:13:20.000000Z";
    let args = json!({
        "under": "src", "contains": "todo", "extensions": ["rs"], "measure": ["lines", "occurrences"],
        "group_by": "folder",
    });
    let expected = json!({
        "count": 1,
        "bytes": 26,
        "matching_lines": 1,
        "lines": 3,
        "words": null,
        "occurrences": 1,
        "files": [{
            "path": "src/main.rs",
            "utf8": true,
            "bytes": 26,
            "modified": modified,
            "matching_lines": 1,
            "lines": 3,
            "words": null,
            "occurrences": 1,
            "matches": [{ "line": 2, "text": "    todo!()" }],
        }],
        "truncated_matches": false,
        "groups": [{ "value": "src", "count": 1, "bytes": 26 }],
        "more_groups": 0,
        "complete": true,
        "unreadable": 0,
        "left_out": "hidden files, ignored files and links",
        "binary_skipped": 0,
    });
    let found = find(&tree, args);
    assert_eq!(to_value(&found).unwrap(), expected);
    assert_eq!(from_value::<Found>(expected).unwrap(), found);

    let without_content = to_value(find(&tree, json!({ "name": "notes.*" }))).unwrap();
    let file = json!({
        "path": "notes.txt", "utf8": true, "bytes": 4, "modified": modified, "matching_lines": null,
        "lines": null, "words": null, "occurrences": null, "matches": [],
    });
    assert_eq!(without_content["files"], json!([file]));
}

#[test]
fn arguments_that_are_left_out_have_their_default_and_unknown_ones_are_refused() {
    assert_eq!(to_value(Args::default()).unwrap(), json!({ "under": ".", "order": "name", "limit": 1000 }));
    let bad = [
        json!({ "path": "." }),
        json!({ "order": "prettiest" }),
        json!({ "limit": -1 }),
        json!({ "under": [1] }),
        json!({ "what": "links" }),
        json!({ "modified_from": "yesterday" }),
        json!({ "larger_than": -1 }),
        json!({ "measure": ["bytes"] }),
        json!({ "group_by": "name" }),
    ];
    for bad in bad {
        assert!(from_value::<Args>(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn files_are_chosen_by_extension_and_name() {
    let tree = Tree::new(&[
        ("a.rs", ""),
        ("B.RS", ""),
        ("c.toml", ""),
        ("rs", ""),
        ("x/d.rs.bak", ""),
        ("x/e.tar.gz", ""),
    ]);
    let table = [
        (json!({}), vec!["B.RS", "a.rs", "c.toml", "rs", "x/d.rs.bak", "x/e.tar.gz"]),
        (json!({ "extensions": ["rs"] }), vec!["B.RS", "a.rs"]),
        (json!({ "extensions": ["rs", "gz"] }), vec!["B.RS", "a.rs", "x/e.tar.gz"]),
        (json!({ "extensions": ["md"] }), vec![]),
        (json!({ "name": "*.rs" }), vec!["a.rs"]),
        (json!({ "name": "*.{rs,toml}" }), vec!["a.rs", "c.toml"]),
        (json!({ "name": "?.*" }), vec!["B.RS", "a.rs", "c.toml", "x/d.rs.bak", "x/e.tar.gz"]),
        (json!({ "name": "rs" }), vec!["rs"]),
        (json!({ "name": "*.*", "extensions": ["toml"] }), vec!["c.toml"]),
        (json!({ "under": "x" }), vec!["x/d.rs.bak", "x/e.tar.gz"]),
        (json!({ "under": "./x/", "extensions": ["rs"] }), vec![]),
    ];
    for (args, expected) in table {
        assert_eq!(paths(&tree, args.clone()), expected, "{args}");
    }
}

#[test]
fn a_limit_shortens_the_list_and_not_the_count() {
    let tree = Tree::new(&[("a", "1"), ("b", "333"), ("c", "22"), ("d", "333")]);
    tree.change("a", CHANGED + 1);
    tree.change("d", CHANGED - 1);
    let table =
        [("name", ["a", "b", "c", "d"]), ("largest", ["b", "d", "c", "a"]), ("newest", ["a", "b", "c", "d"])];
    for (order, expected) in table {
        for limit in 0..=4 {
            let found = find(&tree, json!({ "order": order, "limit": limit }));
            let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
            assert_eq!(paths, expected[..limit], "{order}");
            assert_eq!((found.count, found.bytes, found.complete), (4, Some(9), true));
        }
    }
}

const WITH_IGNORED: [(&str, &str); 9] = [
    (".gitignore", "*.log\n/target/\n"),
    (".ignore", "secret\n!keep.log\n"),
    (".hidden/a", ""),
    ("a", ""),
    ("b.log", ""),
    ("keep.log", ""),
    ("secret", ""),
    ("src/c.log", ""),
    ("target/d", ""),
];

#[test]
fn hidden_and_ignored_files_are_left_out_with_and_without_git() {
    let tree = Tree::new(&WITH_IGNORED);
    assert_eq!(paths(&tree, json!({})), ["a", "keep.log"]);
    tree.write(".git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(paths(&tree, json!({})), ["a", "keep.log"]);
}

#[test]
fn the_ignore_files_above_a_folder_count_up_to_the_workspace() {
    let tree = Tree::new(&[
        (".gitignore", "a\n"),
        ("work/.gitignore", "b\n/src/c\n"),
        ("work/src/a", ""),
        ("work/src/b", ""),
        ("work/src/c", ""),
        ("work/src/deep/c", ""),
        ("work/src/deep/.gitignore", "d\n"),
        ("work/src/deep/d", ""),
        ("work/src2/e", ""),
    ]);
    let workspace = Workspace::new(tree.path("work")).unwrap();
    let table = [
        (".", vec!["src/a", "src/deep/c", "src2/e"]),
        ("src", vec!["src/a", "src/deep/c"]),
        ("src/deep", vec!["src/deep/c"]),
    ];
    for (under, expected) in table {
        let found = run(
            &workspace,
            &Args { under: OneOrMore::One(under.into()), ..Args::default() },
            &Stop::default(),
        )
        .unwrap();
        let paths: Vec<_> = found.files.into_iter().map(|file| file.path).collect();
        assert_eq!(paths, expected, "{under}");
    }
}

#[test]
fn a_hidden_or_ignored_folder_can_be_looked_into_by_naming_it() {
    let tree = Tree::new(&WITH_IGNORED);
    for (under, expected) in [(".hidden", ".hidden/a"), ("target", "target/d")] {
        assert_eq!(paths(&tree, json!({ "under": under })), [expected]);
    }
}

#[test]
fn content_is_looked_for_in_text_only() {
    let tree = Tree::new(&[
        ("binary", &b"needle\0"[..]),
        ("empty", b""),
        ("latin1", b"caf\xe9 needle"),
        ("other", b"Needle"),
        ("text.md", b"one\r\n\t needle needle\r\nneedle\r\n"),
    ]);
    let found = find(&tree, json!({ "contains": "needle" }));
    let seen: Vec<_> = found
        .files
        .iter()
        .map(|file| {
            let first = &file.matches[0];
            (file.path.as_str(), file.counts.matching_lines.unwrap(), first.line, first.text.as_str())
        })
        .collect();
    assert_eq!(seen, [("latin1", 1, 1, "caf\u{fffd} needle"), ("text.md", 2, 2, "\t needle needle")]);
    assert_eq!((found.count, found.bytes, found.binary_skipped, found.complete), (2, Some(41), 1, true));
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let tree = Tree::new(&[("a.txt", "")]);
    let table = [
        (json!({ "under": "" }), "the path is empty; write `.` for the workspace itself"),
        (json!({ "under": "../x" }), "`../x` leads out of the workspace"),
        (json!({ "under": "/etc" }), "`/etc` is absolute; write it relative to the workspace"),
        (json!({ "under": "a.txt" }), "`a.txt` is not a folder"),
        (json!({ "extensions": [".rs"] }), "`.rs` is no extension; write it like `rs`"),
        (json!({ "extensions": ["rs", ""] }), "`` is no extension; write it like `rs`"),
        (json!({ "name": "" }), "the pattern is empty; write it like `*.rs`"),
        (
            json!({ "name": "src/*.rs" }),
            "`src/*.rs` is for file names, which have no `/`; use `glob` for paths",
        ),
        (json!({ "name": "[a" }), "`[a` is no glob: unclosed character class; missing ']'"),
        (json!({ "name": "a\n" }), "`a\\n` contains a control character"),
        (json!({ "contains": "" }), "`contains` is empty; there is nothing to look for"),
        (json!({ "contains": "a\nb" }), "`contains` spans lines; it is looked for line by line"),
        (json!({ "limit": 1001 }), "`limit` is 1001, but at most 1000 files are listed"),
        (json!({ "under": [] }), "`under` names no folder; leave it out for the whole workspace"),
        (json!({ "under": [".", "../x"] }), "`../x` leads out of the workspace"),
        (json!({ "outside": ["a.txt"] }), "`a.txt` is not a folder"),
        (json!({ "outside": ["."] }), "`.` is both to be looked into and to be left alone"),
        (json!({ "not_extensions": ["*.rs"] }), "`*.rs` is no extension; write it like `rs`"),
        (json!({ "name": [] }), "`name` names nothing; leave it out if it does not matter"),
        (json!({ "name": ["a", "["] }), "`[` is no glob: unclosed character class; missing ']'"),
        (json!({ "not_name": ["../a"] }), "`../a` leads out of the workspace"),
        (json!({ "not_name": ["/a"] }), "`/a` is absolute; write it relative to the workspace"),
        (json!({ "lacks": "" }), "`lacks` is empty; there is nothing to look for"),
        (
            json!({ "contains": "a", "lines_without": "b" }),
            "`contains` and `lines_without` cannot go together; lines match one way",
        ),
        (json!({ "whole_word": true }), "`whole_word` is about a text that is looked for, and there is none"),
        (json!({ "any_case": true }), "`any_case` is about a text that is looked for, and there is none"),
        (
            json!({ "measure": ["occurrences"], "lines_without": "a" }),
            "`occurrences` are those of `contains`, which is missing",
        ),
        (
            json!({ "order": "most_matches", "lacks": "a" }),
            "an `order` by matches needs `contains` or `lines_without`",
        ),
        (
            json!({ "count_only": true, "group_by": "folder" }),
            "`count_only` lists and measures nothing; leave out `group_by`, `measure` and `order`, or leave it out",
        ),
        (
            json!({ "what": "folders", "larger_than": 1 }),
            "folders have no size of their own; leave out `larger_than` and `smaller_than`",
        ),
        (
            json!({ "what": "folders", "contains": "x" }),
            "folders have no content; look for files, or leave out what is asked about their lines",
        ),
        (
            json!({ "what": "folders", "order": "most_lines" }),
            "folders have no content; look for files, or leave out what is asked about their lines",
        ),
    ];
    for (args, message) in table {
        let result = run(tree.workspace(), &from_value(args.clone()).unwrap(), &Stop::default());
        assert_eq!(result, Err(Failure::logical(message)), "{args}");
    }
    let missing = run(
        tree.workspace(),
        &Args { under: OneOrMore::One("docs".into()), ..Args::default() },
        &Stop::default(),
    );
    assert_eq!(missing, Err(Failure::environmental("`docs` does not exist in the workspace")));
}

#[test]
fn without_openat2_the_same_is_found() {
    let tree = Tree::new(&WITH_IGNORED);
    tree.write("x/y/z", "needle");
    let careful = tree.workspace().clone().without_openat2();
    for args in [json!({}), json!({ "contains": "needle" }), json!({ "under": "x/y" })] {
        let args: Args = from_value(args).unwrap();
        let found = run(&careful, &args, &Stop::default());
        assert_eq!(found, run(tree.workspace(), &args, &Stop::default()));
        assert!(found.is_ok_and(|found| found.count > 0 && found.complete));
    }
}

#[test]
fn a_stop_ends_the_search() {
    let tree = Tree::new(&[("a", "x")]);
    let stop = Stop::default();
    stop.now();
    for args in [json!({}), json!({ "contains": "x" })] {
        let stopped = run(tree.workspace(), &from_value(args).unwrap(), &stop);
        assert_eq!(stopped, Err(Failure::interrupted("stopped")));
    }
}
