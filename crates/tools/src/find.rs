//! `find_files`: files by folder, extension, name or content.

use std::path::Path;

use domain::call::Failure;
use globset::GlobSet;
use serde::{Deserialize, Serialize};

use crate::found::{self, Found, Order};
use crate::pattern;
use crate::search::Needle;
use crate::walk::{self, Question};
use crate::workspace::Workspace;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
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
    #[serde(default)]
    pub(crate) order: Order,
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
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<Found, Failure> {
    found::check_limit(args.limit)?;
    args.extensions.iter().try_for_each(|extension| check_extension(extension))?;
    let name = args.name.as_deref().map(name_glob).transpose()?;
    let contains = args.contains.as_deref().map(|text| Needle::new(text, "contains")).transpose()?;
    let question = Question {
        workspace,
        under: workspace.folder(&args.under)?,
        max_depth: None,
        wanted: |path: &Path| has_extension(path, &args.extensions) && has_name(path, name.as_ref()),
        contains: contains.as_ref(),
        order: args.order,
        limit: args.limit,
    };
    Ok(walk::find(&question))
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
    use domain::call::Failure;
    use serde_json::{Value, from_value, json, to_value};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    fn find(tree: &Tree, args: Value) -> Found {
        run(tree.workspace(), &from_value(args).unwrap()).unwrap()
    }

    fn paths(tree: &Tree, args: Value) -> Vec<String> {
        find(tree, args).files.into_iter().map(|file| file.path).collect()
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
            let found = run(&workspace, &Args { under: under.into(), ..Args::default() }).unwrap();
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
            assert_eq!((counted, read), ((1, 1), (false, 2)), "the file and the folder");
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
            let result = run(tree.workspace(), &from_value(args.clone()).unwrap());
            assert_eq!(result, Err(Failure::logical(message)), "{args}");
        }
        let missing = run(tree.workspace(), &Args { under: "docs".into(), ..Args::default() });
        assert_eq!(missing, Err(Failure::environmental("`docs` does not exist in the workspace")));
    }
}
