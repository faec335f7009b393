//! `find_files`: files by folder, extension, name or content.

use std::path::Path;

use domain::Stop;
use domain::call::Failure;
use globset::GlobSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::found::{self, Found, Order};
use crate::pattern;
use crate::search::Needle;
use crate::walk::{self, Question};
use crate::workspace::Workspace;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The folder to look in, relative to the workspace; `.` is all of it.
    #[serde(default = "whole_workspace")]
    pub(crate) under: String,
    /// Without the dot, in any case. Any of them will do; none means that it does not matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<String>,
    /// A glob that the file's name matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// A text that a line of the file contains, exactly as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) contains: Option<String>,
    /// Which files come first in the list.
    #[serde(default)]
    pub(crate) order: Order,
    /// How many files are listed. All are counted.
    #[serde(default = "found::default_limit")]
    pub(crate) limit: usize,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            under: whole_workspace(),
            extensions: Vec::new(),
            name: None,
            contains: None,
            order: Order::default(),
            limit: found::default_limit(),
        }
    }
}

fn whole_workspace() -> String {
    ".".into()
}

/// # Errors
/// If an argument makes no sense, or there is no folder `under` in the workspace.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Found, Failure> {
    found::check_limit(args.limit)?;
    args.extensions.iter().try_for_each(|extension| check_extension(extension))?;
    let name = args.name.as_deref().map(name_glob).transpose()?;
    let contains = args.contains.as_deref().map(|text| Needle::new(text, "contains")).transpose()?;
    let question = Question {
        workspace,
        stop,
        under: workspace.folder(&args.under)?,
        max_depth: None,
        wanted: |path: &Path| has_extension(path, &args.extensions) && has_name(path, name.as_ref()),
        contains: contains.as_ref(),
        order: args.order,
        limit: args.limit,
    };
    walk::find(&question)
}

fn check_extension(extension: &str) -> Result<(), Failure> {
    if extension.is_empty() || extension.contains(['.', '/']) || extension.chars().any(char::is_control) {
        let escaped = extension.escape_debug();
        return Err(Failure::logical(format!("`{escaped}` is no extension; write it like `rs`")));
    }
    Ok(())
}

fn name_glob(pattern: &str) -> Result<GlobSet, Failure> {
    if pattern.contains('/') {
        let problem = "is for file names, which have no `/`; use `glob` for paths";
        return Err(Failure::logical(format!("`{}` {problem}", pattern.escape_debug())));
    }
    pattern::compile(pattern)
}

fn has_extension(path: &Path, extensions: &[String]) -> bool {
    let Some(extension) = path.extension() else {
        return extensions.is_empty();
    };
    extensions.is_empty() || extensions.iter().any(|wanted| extension.eq_ignore_ascii_case(wanted))
}

fn has_name(path: &Path, glob: Option<&GlobSet>) -> bool {
    glob.is_none_or(|glob| path.file_name().is_some_and(|name| glob.is_match(name)))
}

#[cfg(test)]
mod tests {
    use super::{Args, run};
    use crate::found::{File, Found, LeftOut};
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

    fn find(tree: &Tree, args: Value) -> Found {
        run(tree.workspace(), &from_value(args).unwrap(), &Stop::default()).unwrap()
    }

    fn paths(tree: &Tree, args: Value) -> Vec<String> {
        find(tree, args).files.into_iter().map(|file| file.path).collect()
    }

    /// The walk goes by names, so it sees the other folder and finds its files absent from the one that is open.
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test puts another folder in the place of the workspace"
    )]
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
        assert_eq!(both(), [(0, false); 2]);
        swap("work", "other");
        swap("gone", "work");
        assert_eq!(both(), [(1, true); 2]);
    }

    #[test]
    fn the_record_as_the_planner_sees_it() {
        let tree = Tree::new(&[("src/main.rs", "fn main() {\n    todo!()\n}\n"), ("notes.txt", "todo")]);
        let modified = "2023-11-14T22:13:20.000000Z";
        let args = json!({ "under": "src", "contains": "todo", "extensions": ["rs"] });
        let expected = json!({
            "count": 1,
            "bytes": 26,
            "files": [{
                "path": "src/main.rs",
                "bytes": 26,
                "modified": modified,
                "matching_lines": 1,
                "first_match": { "line": 2, "text": "todo!()" },
            }],
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
            "path": "notes.txt", "bytes": 4, "modified": modified, "matching_lines": null, "first_match": null,
        });
        assert_eq!(without_content["files"], json!([file]));
    }

    #[test]
    fn arguments_that_are_left_out_have_their_default_and_unknown_ones_are_refused() {
        assert_eq!(from_value::<Args>(json!({})).unwrap(), Args::default());
        assert_eq!(
            to_value(Args::default()).unwrap(),
            json!({ "under": ".", "order": "name", "limit": 1000 })
        );
        for bad in [json!({ "path": "." }), json!({ "order": "oldest" }), json!({ "limit": -1 })] {
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
        let table = [
            ("name", ["a", "b", "c", "d"]),
            ("largest", ["b", "d", "c", "a"]),
            ("newest", ["a", "b", "c", "d"]),
        ];
        for (order, expected) in table {
            for limit in 0..=4 {
                let found = find(&tree, json!({ "order": order, "limit": limit }));
                let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
                assert_eq!(paths, expected[..limit], "{order}");
                assert_eq!((found.count, found.bytes, found.complete), (4, 9, true));
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
            let found =
                run(&workspace, &Args { under: under.into(), ..Args::default() }, &Stop::default()).unwrap();
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
            assert_eq!((counted, read), ((2, 2), (false, 1)), "all but what is in the folder");
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
                let first = file.first_match.as_ref().unwrap();
                (file.path.as_str(), file.matching_lines.unwrap(), first.line, first.text.as_str())
            })
            .collect();
        assert_eq!(seen, [("latin1", 1, 1, "caf\u{fffd} needle"), ("text.md", 2, 2, "needle needle")]);
        assert_eq!((found.count, found.bytes, found.binary_skipped, found.complete), (2, 41, 1, true));
    }

    #[test]
    fn names_that_are_not_utf8_or_have_line_ends_are_shown_and_break_nothing() {
        let tree = Tree::new::<&str>(&[]);
        for name in [&b"caf\xe9.txt"[..], b"two\nlines.txt", b"-rf $(reboot) `x`.txt"] {
            tree.write(OsStr::from_bytes(name), "needle");
        }
        let file = |path: &str| File {
            path: path.into(),
            bytes: 6,
            modified: time(CHANGED),
            matching_lines: None,
            first_match: None,
        };
        let expected = Found {
            count: 3,
            bytes: 18,
            files: vec![file("-rf $(reboot) `x`.txt"), file("caf\u{fffd}.txt"), file("two\nlines.txt")],
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
        ];
        for (args, message) in table {
            let result = run(tree.workspace(), &from_value(args.clone()).unwrap(), &Stop::default());
            assert_eq!(result, Err(Failure::logical(message)), "{args}");
        }
        let missing =
            run(tree.workspace(), &Args { under: "docs".into(), ..Args::default() }, &Stop::default());
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
}
