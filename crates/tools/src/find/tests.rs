use super::{Args, OneOrMore, run};
use crate::found::{Counts, File, Found, LeftOut};
use crate::testing::{CHANGED, Tree, time};
use crate::workspace::Workspace;
use domain::Stop;
use domain::call::Failure;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, from_value, json, to_value};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

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
fn links_are_not_followed_and_do_not_count() {
    let tree = Tree::new(&[("src/a", "")]);
    symlink("..", tree.path("src/loop")).unwrap();
    symlink("/etc", tree.path("out")).unwrap();
    symlink("/etc/passwd", tree.path("passwd")).unwrap();
    symlink("src/a", tree.path("link")).unwrap();
    symlink("nowhere", tree.path("dangling")).unwrap();
    symlink("src", tree.path("folder")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "something that is no file")]
    let _socket = UnixListener::bind(tree.path("socket")).unwrap();
    let found = find(&tree, json!({}));
    assert_eq!((found.count, found.complete), (1, true));
    assert_eq!(paths(&tree, json!({ "under": "folder" })), ["src/a"], "a named link is where it leads");
}

/// Tests may run as root, whom no permission stops. A path that is too long for the kernel stops
/// everybody, and goes the same way through the code as a permission that is missing.
#[test]
fn what_cannot_be_read_makes_the_answer_incomplete() {
    let tree = Tree::new(&[("a.txt", "x")]);
    tree.write_too_deep("f.txt", "folder/g.txt");
    for args in [json!({}), json!({ "extensions": ["txt"] }), json!({ "contains": "x" })] {
        let found = find(&tree, args);
        let (counted, read) = ((found.count, found.bytes), (found.complete, found.unreadable));
        // The file is opened from its folder, which is not too deep; the other folder cannot be entered.
        assert_eq!((counted, read), ((2, Some(2)), (false, 1)), "all but what is in the folder");
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
fn names_that_are_not_utf8_or_have_line_ends_are_shown_and_break_nothing() {
    let tree = Tree::new::<&str>(&[]);
    for name in [&b"caf\xe9.txt"[..], b"two\nlines.txt", b"-rf $(reboot) `x`.txt"] {
        tree.write(OsStr::from_bytes(name), "needle");
    }
    let file = |path: &str| File {
        path: path.into(),
        utf8: !path.contains('\u{fffd}'),
        bytes: 6,
        modified: time(CHANGED),
        counts: Counts::default(),
        matches: Vec::new(),
    };
    let expected = Found {
        count: 3,
        bytes: Some(18),
        matching_lines: None,
        lines: None,
        words: None,
        occurrences: None,
        files: vec![file("-rf $(reboot) `x`.txt"), file("caf\u{fffd}.txt"), file("two\nlines.txt")],
        truncated_matches: false,
        groups: None,
        more_groups: 0,
        complete: true,
        unreadable: 0,
        left_out: LeftOut::HiddenIgnoredAndLinks,
        binary_skipped: 0,
    };
    assert_eq!(find(&tree, json!({ "name": "*.txt", "extensions": ["txt"] })), expected);
    assert_eq!(find(&tree, json!({ "contains": "needle" })).count, 3);
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
        (json!({ "whole_word": true, "lacks": "a" }), "`whole_word` is about `contains`, which is missing"),
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
fn a_folder_whose_ignore_file_is_a_trap_is_said_to_be_unread() {
    let tree = Tree::new(&[("a", ""), ("rules", "b\n"), ("good/b", ""), ("good/c", "")]);
    for folder in ["pipe", "device", "out", "huge"] {
        tree.write(format!("{folder}/file"), "");
    }
    symlink("../rules", tree.path("good/.ignore")).unwrap();
    mkfifo(&tree.path("pipe/.gitignore"), Mode::S_IRWXU).unwrap();
    symlink("/dev/zero", tree.path("device/.gitignore")).unwrap();
    symlink("/etc/passwd", tree.path("out/.ignore")).unwrap();
    tree.write("huge/.ignore", "x".repeat(1024 * 1024 + 1));
    let found = find(&tree, json!({}));
    let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((paths, found.unreadable, found.complete), (vec!["a", "good/c", "rules"], 4, false));

    symlink("/dev/zero", tree.path(".gitignore")).unwrap();
    let refused = run(tree.workspace(), &Args::default(), &Stop::default()).unwrap_err();
    let problem = "`.` cannot be searched: its ignore files are no ordinary files in the workspace";
    assert_eq!(refused, Failure::environmental(problem));
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

#[test]
fn names_and_extensions_that_are_not_wanted() {
    let tree = Tree::new(&[
        ("a.rs", ""),
        ("b.RS", ""),
        ("c.md", ""),
        ("x/a.rs", ""),
        ("x/test_a.rs", ""),
        ("Makefile", ""),
    ]);
    let table = [
        (json!({ "not_extensions": ["rs"] }), vec!["Makefile", "c.md"]),
        (json!({ "not_extensions": ["rs", "md"] }), vec!["Makefile"]),
        (
            json!({ "extensions": ["rs", "md"], "not_extensions": ["md"] }),
            vec!["a.rs", "b.RS", "x/a.rs", "x/test_a.rs"],
        ),
        (json!({ "name": ["*.md", "Make*"] }), vec!["Makefile", "c.md"]),
        (json!({ "not_name": ["test_*", "*.md"] }), vec!["Makefile", "a.rs", "b.RS", "x/a.rs"]),
        (json!({ "not_name": ["./a.rs"] }), vec!["Makefile", "b.RS", "c.md", "x/a.rs", "x/test_a.rs"]),
        (json!({ "not_name": ["x/a.rs"] }), vec!["Makefile", "a.rs", "b.RS", "c.md", "x/test_a.rs"]),
        (
            json!({ "not_name": ["x/*.rs"] }),
            vec!["Makefile", "a.rs", "b.RS", "c.md", "x/a.rs", "x/test_a.rs"],
        ),
        (json!({ "name": "*.rs", "not_name": ["a.rs"] }), vec!["x/test_a.rs"]),
    ];
    for (args, expected) in table {
        assert_eq!(paths(&tree, args.clone()), expected, "{args}");
    }
}

#[test]
fn several_folders_are_one_set_of_files() {
    let tree = Tree::new(&[
        ("a/1", ""),
        ("a/b/2", ""),
        ("a/b/c/3", ""),
        ("d/4", ""),
        ("e", ""),
        (".hidden/5", ""),
        (".hidden/.gitignore", "7"),
        (".hidden/sub/6", ""),
        (".hidden/sub/7", ""),
        (".gitignore", "build/\n*.o"),
        ("build/out/8", ""),
        ("build/out/8.o", ""),
    ]);
    let table = [
        (json!({ "under": ["a", "d"] }), vec!["a/1", "a/b/2", "a/b/c/3", "d/4"]),
        (json!({ "under": ["a", "a/b", "./a/"] }), vec!["a/1", "a/b/2", "a/b/c/3"]),
        (json!({ "under": ["."], "outside": ["a"] }), vec!["d/4", "e"]),
        (json!({ "outside": ["a/b"] }), vec!["a/1", "d/4", "e"]),
        (json!({ "under": [".", "a/b/c"], "outside": ["a"] }), vec!["a/b/c/3", "d/4", "e"]),
        (json!({ "direct": true }), vec!["e"]),
        (json!({ "direct": true, "under": ["a", "a/b/c"] }), vec!["a/1", "a/b/c/3"]),
        (json!({ "under": [".", ".hidden/sub"], "outside": ["a"] }), vec![".hidden/sub/6", "d/4", "e"]),
        (json!({ "under": [".hidden", ".hidden/sub"] }), vec![".hidden/5", ".hidden/sub/6"]),
        (json!({ "under": "build/out" }), vec!["build/out/8", "build/out/8.o"]), // named, so it is meant
        (json!({ "under": ["d", "build"] }), vec!["build/out/8", "build/out/8.o", "d/4"]),
    ];
    for (args, expected) in table {
        let found = find(&tree, args.clone());
        let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            (paths, found.count, found.complete),
            (expected.clone(), expected.len() as u64, true),
            "{args}"
        );
    }
}

#[test]
fn files_are_chosen_by_size_and_age() {
    let tree = Tree::new(&[("a0", ""), ("b1", "1"), ("c2", "22"), ("d3", "333")]);
    for (name, later) in [("a0", 0), ("b1", 10), ("c2", 20), ("d3", 30)] {
        tree.change(name, CHANGED + later);
    }
    let at = |later: u64| time(CHANGED + later);
    let table = [
        (json!({ "larger_than": 1 }), vec!["c2", "d3"]),
        (json!({ "smaller_than": 2 }), vec!["a0", "b1"]),
        (json!({ "larger_than": 0, "smaller_than": 3 }), vec!["b1", "c2"]),
        (json!({ "larger_than": 3 }), vec![]),
        (json!({ "empty": true }), vec!["a0"]),
        (json!({ "empty": false }), vec!["b1", "c2", "d3"]),
        (json!({ "modified_from": at(10) }), vec!["b1", "c2", "d3"]),
        (json!({ "modified_before": at(10) }), vec!["a0"]),
        (json!({ "modified_from": at(10), "modified_before": at(30) }), vec!["b1", "c2"]),
        (json!({ "modified_from": "2023-11-15T00:13:31+02:00" }), vec!["c2", "d3"]),
        (json!({ "order": "smallest", "larger_than": 0 }), vec!["b1", "c2", "d3"]),
        (json!({ "order": "oldest", "modified_from": at(5) }), vec!["b1", "c2", "d3"]),
        (json!({ "larger_than": 1, "contains": "3" }), vec!["d3"]),
    ];
    for (args, expected) in table {
        assert_eq!(paths(&tree, args.clone()), expected, "{args}");
    }
}

#[test]
fn files_are_chosen_by_what_they_contain_and_lack() {
    let tree = Tree::new(&[
        ("a", &b"use std;\nTODO: id\n"[..]),
        ("b", b"todo\nidea\n"),
        ("c", b"nothing\n"),
        ("d", b""),
        ("e", b"todo\n"),
        ("z", b"todo\0"),
    ]);
    let table = [
        (json!({ "contains": "todo" }), vec!["b", "e"], 1),
        (json!({ "contains": "todo", "any_case": true }), vec!["a", "b", "e"], 1),
        (json!({ "lacks": "todo" }), vec!["a", "c", "d"], 1),
        (json!({ "lacks": "todo", "any_case": true }), vec!["c", "d"], 1),
        (json!({ "contains": "todo", "lacks": "idea" }), vec!["e"], 1),
        (json!({ "contains": "id" }), vec!["a", "b"], 1),
        (json!({ "contains": "id", "whole_word": true }), vec!["a"], 1),
        (json!({ "contains": "ID", "whole_word": true, "any_case": true }), vec!["a"], 1),
        (json!({ "lines_without": "todo" }), vec!["a", "b", "c"], 1), // `e` has no other line, `d` none at all
        (json!({ "lines_without": "TODO", "any_case": true, "lacks": "nothing" }), vec!["a", "b"], 1),
        (json!({ "lacks": "todo", "name": "?", "not_name": ["z"] }), vec!["a", "c", "d"], 0),
    ];
    for (args, expected, binary) in table {
        let found = find(&tree, args.clone());
        let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((paths, found.binary_skipped), (expected, binary), "{args}");
    }
}

#[test]
fn lines_words_and_occurrences_are_measured() {
    let tree = Tree::new(&[
        ("a", &b"one two\nthree\n"[..]),
        ("b", b"  two two\ttwo\r\n\n"),
        ("c", b"no line end"),
        ("d", b""),
        ("e", b"\0 no text\n"),
    ]);
    let counts = |args: Value| {
        let found = find(&tree, args);
        let each: Vec<_> = found
            .files
            .iter()
            .map(|file| {
                let Counts { matching_lines, lines, words, occurrences } = file.counts;
                (file.path.clone(), [matching_lines, lines, words, occurrences])
            })
            .collect();
        (
            each,
            [found.matching_lines, found.lines, found.words, found.occurrences],
            found.count,
            found.binary_skipped,
        )
    };
    let row = |path: &str, numbers: [Option<u64>; 4]| (path.to_string(), numbers);
    let all = json!({ "measure": ["lines", "words"] });
    let expected = vec![
        row("a", [None, Some(2), Some(3), None]),
        row("b", [None, Some(2), Some(3), None]),
        row("c", [None, Some(1), Some(3), None]),
        row("d", [None, Some(0), Some(0), None]),
        row("e", [None; 4]), // found, but nobody counts the lines of what is no text
    ];
    assert_eq!(counts(all), (expected, [None, Some(5), Some(9), None], 5, 1));

    let often = json!({ "contains": "two", "measure": ["occurrences"], "order": "most_matches" });
    let expected = vec![row("a", [Some(1), None, None, Some(1)]), row("b", [Some(1), None, None, Some(3)])];
    assert_eq!(counts(often), (expected, [Some(2), None, None, Some(4)], 2, 1));

    // An order by what is not measured measures it; a limit shortens the list and not the totals.
    let longest = json!({ "order": "most_lines", "limit": 1 });
    let expected = vec![row("a", [None, Some(2), None, None])];
    assert_eq!(counts(longest), (expected, [None, Some(5), None, None], 5, 1));
    assert_eq!(paths(&tree, json!({ "order": "most_words" })), ["a", "b", "c", "d", "e"]);
    assert_eq!(paths(&tree, json!({ "order": "fewest_lines" })), ["d", "c", "a", "b", "e"]);
    assert_eq!(paths(&tree, json!({ "order": "fewest_matches", "lines_without": "three" })), ["a", "c", "b"]);
}

#[test]
fn as_many_matching_lines_are_shown_as_were_asked_for() {
    let tree = Tree::new(&[("a", "x1\n\nx2\nx3"), ("b", &"x\n".repeat(3_000))]);
    let shown = |args: Value| {
        let found = find(&tree, args);
        let lines: Vec<Vec<u64>> =
            found.files.iter().map(|file| file.matches.iter().map(|found| found.line).collect()).collect();
        (lines, found.truncated_matches)
    };
    assert_eq!(shown(json!({ "contains": "x" })), (vec![vec![1], vec![1]], false));
    assert_eq!(shown(json!({ "contains": "x", "show_matches": 0 })), (vec![vec![], vec![]], false));
    assert_eq!(shown(json!({ "contains": "x", "show_matches": 2 })), (vec![vec![1, 3], vec![1, 2]], false));
    let (lines, truncated) = shown(json!({ "contains": "x", "show_matches": 5_000 }));
    assert_eq!((lines[0].clone(), lines[1].len(), truncated), (vec![1, 3, 4], 997, true));
    assert_eq!(shown(json!({ "lines_without": "x", "show_matches": 9 })), (vec![vec![2]], false));
    let text = find(&tree, json!({ "contains": "2", "show_matches": 9 })).files[0].matches[0].text.clone();
    assert_eq!(text, "x2");
}

#[test]
fn folders_are_found_too() {
    let tree = Tree::new(&[
        ("a/b/file", ""),
        ("a/empty.d/.keep", ""),
        (".hidden/x/file", ""),
        (".gitignore", "/ignored/\n"),
        ("ignored/y/file", ""),
        ("file", ""),
    ]);
    nix::unistd::mkdir(&tree.path("a/really"), Mode::S_IRWXU).unwrap();
    symlink("a", tree.path("link")).unwrap();
    let table = [
        (json!({}), vec!["a", "a/b", "a/empty.d", "a/really"]),
        (json!({ "direct": true }), vec!["a"]),
        (json!({ "under": "a" }), vec!["a/b", "a/empty.d", "a/really"]),
        (json!({ "under": ["a", ".hidden"] }), vec![".hidden/x", "a/b", "a/empty.d", "a/really"]),
        (json!({ "name": "*e*", "not_extensions": ["d"] }), vec!["a/really"]),
        (json!({ "outside": ["a/b"] }), vec!["a", "a/b", "a/empty.d", "a/really"]), // it is not looked into
        (json!({ "empty": true }), vec!["a/really"]), // hidden things are something
        (json!({ "empty": false }), vec!["a", "a/b", "a/empty.d"]),
        (json!({ "modified_before": time(CHANGED) }), vec![]),
        (json!({ "modified_from": time(CHANGED), "name": "b" }), vec!["a/b"]),
    ];
    for (mut args, expected) in table {
        args["what"] = "folders".into();
        let found = find(&tree, args.clone());
        let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((paths, found.bytes, found.complete), (expected, Some(0), true), "{args}");
        assert!(found.files.iter().all(|file| file.bytes == 0 && file.modified > time(CHANGED)));
    }
    let grouped = find(&tree, json!({ "what": "folders", "group_by": "folder" })).groups.unwrap();
    let grouped: Vec<_> = grouped.iter().map(|group| (group.value.as_str(), group.count)).collect();
    assert_eq!(grouped, [("a", 3), (".", 1)]);
}

#[test]
fn a_forbidden_folder_is_not_there() {
    let tree = Tree::new(&[("a/file", ""), ("house/data/file", "")]);
    let workspace = tree.workspace().clone().without(&[tree.path("house")]);
    let found = |args: Value| {
        let found = run(&workspace, &from_value(args).unwrap(), &Stop::default()).unwrap();
        let paths: Vec<_> = found.files.into_iter().map(|file| file.path).collect();
        (paths, found.complete)
    };
    assert_eq!(found(json!({})), (vec!["a/file".into()], true));
    assert_eq!(found(json!({ "what": "folders" })), (vec!["a".into()], true));
    assert_eq!(found(json!({ "what": "folders", "empty": false })), (vec!["a".into()], true));
    for under in ["house", "house/data"] {
        let args = from_value(json!({ "under": under })).unwrap();
        let refused = run(&workspace, &args, &Stop::default());
        assert_eq!(refused, Err(Failure::logical(format!("`{under}` is closed to tools"))));
    }
}

/// As git has it: the nearest rule decides, `.ignore` before `.gitignore`, later lines before earlier ones; and a rule
/// can ask for what is hidden.
#[test]
fn the_nearest_rule_decides() {
    let tree = Tree::new(&[
        (".gitignore", "*.log\n!keep.log\n/top\n[bad\n!.shown\n"),
        (".shown/a", ""),
        ("top", ""),
        ("x/top", ""),
        ("x/.gitignore", "!b.log\nkeep.log\n"),
        ("x/b.log", ""),
        ("x/keep.log", ""),
        ("x/y/b.log", ""),
        ("x/y/.ignore", "b.log"),
        ("x/z/.gitignore", "b.log"),
        ("x/z/.ignore", "\u{feff}!b.log\r\n"),
        ("x/z/b.log", ""),
        ("x/z/c.log", ""),
    ]);
    assert_eq!(paths(&tree, json!({})), [".shown/a", "x/b.log", "x/top", "x/z/b.log"]);
}

/// Whoever writes a name can write anything into it but `/` and NUL.
#[test]
fn odd_names_are_names() {
    let tree = Tree::new::<&str>(&[]);
    let names: [&[u8]; 9] = [
        b" two  blanks ",
        b"two\nlines.txt",
        b"tab\tand \x1b[31mred\x07",
        "\u{202e}txt.exe".as_bytes(),
        "שלום עולם.txt".as_bytes(),
        "👩‍👩‍👧 family.md".as_bytes(),
        b"caf\xe9.txt",
        b"caf\xe8.txt",
        b"-rf",
    ];
    for name in names {
        tree.write(Path::new("d").join(OsStr::from_bytes(name)), "needle\n");
        tree.write(Path::new("folders").join(OsStr::from_bytes(name)).join("f"), "");
    }
    let found = find(
        &tree,
        json!({ "under": "d", "contains": "needle", "measure": ["lines"], "group_by": "extension" }),
    );
    assert_eq!((found.count, found.bytes, found.lines, found.complete), (9, Some(63), Some(9), true));
    let paths: Vec<_> = found.files.iter().map(|file| file.path.as_bytes()).collect();
    for name in names {
        let shown = format!("d/{}", String::from_utf8_lossy(name));
        assert!(paths.contains(&shown.as_bytes()), "{shown:?}");
    }
    // Two files that look the same here are two, and nobody can name either.
    let unnamed: Vec<_> =
        found.files.iter().filter(|file| !file.utf8).map(|file| file.path.as_str()).collect();
    assert_eq!(unnamed, ["d/caf\u{fffd}.txt", "d/caf\u{fffd}.txt"]);
    let groups: Vec<_> =
        found.groups.iter().flatten().map(|group| (group.value.as_str(), group.count)).collect();
    assert_eq!(groups, [("txt", 4), ("", 3), ("exe", 1), ("md", 1)]);
    assert_eq!(find(&tree, json!({ "under": "folders", "what": "folders" })).count, 9);
    assert_eq!(
        find(&tree, json!({ "under": "folders", "group_by": "folder" })).groups.map(|groups| groups.len()),
        Some(8)
    );
    for (args, count) in [
        (json!({ "under": "d/ two  blanks " }), None),
        (json!({ "under": "folders/ two  blanks " }), Some(1)),
        (json!({ "under": "folders/שלום עולם.txt" }), Some(1)),
        (json!({ "name": "👩‍👩‍👧*" }), Some(1)),
        (json!({ "name": "caf?.txt" }), Some(2)), // what is no character matches as one byte
        (json!({ "not_name": ["d/-rf"], "under": "d" }), Some(8)),
    ] {
        let found = run(tree.workspace(), &from_value(args.clone()).unwrap(), &Stop::default());
        assert_eq!(found.ok().map(|found| found.count), count, "{args}");
    }
}

#[test]
fn what_is_no_file_and_no_folder_is_passed_over_and_never_waited_for() {
    let tree = Tree::new(&[("a/file", "x\n")]);
    mkfifo(&tree.path("a/pipe"), Mode::S_IRWXU).unwrap();
    symlink("loop", tree.path("a/loop")).unwrap();
    symlink("two", tree.path("one")).unwrap();
    symlink("one", tree.path("two")).unwrap();
    symlink("nowhere", tree.path("a/broken")).unwrap();
    symlink("/dev/zero", tree.path("a/device")).unwrap();
    symlink("..", tree.path("a/up")).unwrap();
    for args in [
        json!({}),
        json!({ "contains": "x" }),
        json!({ "lacks": "y" }),
        json!({ "measure": ["words"] }),
        json!({ "empty": false }),
    ] {
        let found = find(&tree, args.clone());
        assert_eq!((found.count, found.complete), (1, true), "{args}");
    }
    assert_eq!(find(&tree, json!({ "what": "folders" })).count, 1);
    let table = [
        ("a/loop", "`a/loop` cannot be read: filesystem loop or indirection limit (e.g. symlink loop)"),
        ("one", "`one` cannot be read: filesystem loop or indirection limit (e.g. symlink loop)"),
        ("a/broken", "`a/broken` does not exist in the workspace"),
    ];
    for (under, message) in table {
        let args = from_value(json!({ "under": under })).unwrap();
        let refused = run(tree.workspace(), &args, &Stop::default());
        assert_eq!(refused, Err(Failure::environmental(message)));
    }
    assert_eq!(find(&tree, json!({ "under": "a/up" })).count, 1, "a named link is where it leads");
}

/// Somebody who may not look into everything is told how much of it.
#[cfg(target_os = "linux")]
#[test]
fn what_is_not_ours_to_read_is_counted_and_said() {
    use crate::testing::{SOMEBODY, as_user};
    use nix::sys::stat::{FchmodatFlags, fchmodat};
    let tree = Tree::new(&[
        ("open/a", "x\n"),
        ("open/secret", "x\n"),
        ("closed/b", "x\n"),
        ("listed/c", "x\n"),
        ("passed/d", "x\n"),
        ("rules/.gitignore", "e\n"),
        ("rules/e", ""),
    ]);
    let chmod = |path: &str, mode: u32| {
        let mode = Mode::from_bits_truncate(mode);
        fchmodat(nix::fcntl::AT_FDCWD, &tree.path(path), mode, FchmodatFlags::FollowSymlink).unwrap();
    };
    let modes = [
        (".", 0o755),
        ("open", 0o755),
        ("open/secret", 0o600),
        ("closed", 0o700),
        ("listed", 0o744),
        ("passed", 0o711),
        ("rules/.gitignore", 0o600),
    ];
    modes.into_iter().for_each(|(path, mode)| chmod(path, mode));
    as_user(SOMEBODY, || {
        let seen = |args: Value| {
            let found = find(&tree, args);
            let paths: Vec<_> = found.files.into_iter().map(|file| (file.path, file.counts.lines)).collect();
            (paths, found.unreadable, found.complete)
        };
        let file = |path: &str, lines: Option<u64>| (path.to_string(), lines);
        // `closed` and `passed` cannot be listed, and whether there are rules in `listed` and what those in `rules` say
        // cannot be known.
        let names = vec![file("open/a", None), file("open/secret", None)];
        assert_eq!(seen(json!({})), (names, 4, false));
        // The content decides, so what cannot be read is not found.
        let names = vec![file("open/a", None)];
        assert_eq!(seen(json!({ "contains": "x" })), (names, 5, false));
        // The content only adds to it, so it is.
        let names = vec![file("open/a", Some(1)), file("open/secret", None)];
        assert_eq!(seen(json!({ "measure": ["lines"] })), (names, 5, false));
        assert_eq!(seen(json!({ "under": "closed" })), (vec![], 1, false));
        let (folders, unreadable, _) = seen(json!({ "what": "folders" }));
        assert_eq!((folders.len(), unreadable), (5, 4));
        let (folders, unreadable, _) = seen(json!({ "what": "folders", "empty": false, "direct": true }));
        assert_eq!((folders.len(), unreadable), (2, 3)); // nor whether these are empty
    });
}

/// Whatever else is asked, a count is the count of the same question with everything.
#[test]
fn only_counting_counts_the_same() {
    let tree = Tree::new(&WITH_IGNORED);
    tree.write("x/y/big.log.txt", "needle\n");
    tree.write("x/y/empty.txt", "");
    let questions = [
        json!({}),
        json!({ "extensions": ["txt"] }),
        json!({ "name": "*.log*", "under": ["x", "."] }),
        json!({ "empty": true }),
        json!({ "contains": "needle" }),
        json!({ "lacks": "needle", "direct": true }),
        json!({ "what": "folders" }),
        json!({ "modified_from": time(CHANGED) }),
    ];
    for args in questions {
        let whole = find(&tree, args.clone());
        let mut only = args.clone();
        only["count_only"] = true.into();
        let counted = find(&tree, only);
        assert_eq!((counted.count, counted.complete), (whole.count, true), "{args}");
        assert_eq!((counted.bytes, counted.files), (None, Vec::new()), "{args}");
    }
}
