//! Odd worlds: names, links, pipes, rules, and what is not ours to read.

use super::{find, paths};
use crate::find::{Args, run};
use crate::found::{Counts, File, Found, LeftOut};
use crate::testing::{CHANGED, Tree, time};
use domain::Stop;
use domain::call::Failure;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, from_value, json};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

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
