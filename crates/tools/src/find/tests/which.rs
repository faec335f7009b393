//! Which files: each argument, and some together.

use super::{WITH_IGNORED, find, paths};
use crate::found::Counts;
use crate::testing::{CHANGED, Tree, time};
use nix::sys::stat::Mode;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

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
