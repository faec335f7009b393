//! `glob`: files by a pattern over their path.

use domain::Stop;
use domain::call::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confined::Kind;
use crate::found::{self, Found, Order};
use crate::gather::{self, Question};
use crate::names;
use crate::pattern;
use crate::places::Places;
use crate::tally::{Asked, Tally};
use crate::wanted::Wanted;
use crate::workspace::Workspace;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Relative to the workspace; `**` stands for any number of folders.
    pub(crate) pattern: String,
    /// Which files come first in the list.
    #[serde(default)]
    pub(crate) order: Order,
    /// How many files are listed. All are counted.
    #[serde(default = "found::default_limit")]
    pub(crate) limit: usize,
}

/// A pattern whose folder does not exist matches nothing, which is an answer and no failure.
///
/// # Errors
/// If an argument makes no sense, or the pattern leads out of the workspace.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Found, Failure> {
    found::check_limit(args.limit)?;
    names::check_plain(&args.pattern)?;
    let parts: Vec<&str> = args.pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let glob = pattern::compile(&parts.join("/"))?;
    let Args { order, limit, .. } = *args;
    if order.needs_matches() || order.needs_lines() || order.needs_words() {
        return Err(Failure::logical("an `order` by content is for `find_files`; a pattern is about paths"));
    }
    let asked = Asked { order, limit, sizes: true, ..Asked::default() };
    let folders = literal_folders(&parts);
    let literal = if folders.is_empty() { ".".into() } else { folders.join("/") };
    let Some((under, Kind::Folder)) = workspace.look_up(&literal)? else {
        return Ok(Tally::new(asked).into_found());
    };
    // As deep as the pattern has parts, if none of its parts can stand for more than one folder.
    let stretches = |part: &&str| part.contains("**") || part.contains('{');
    let levels = if parts.iter().any(stretches) { usize::MAX } else { parts.len() - folders.len() };
    let places = Places::new(vec![under]).deep(levels);
    let wanted = Wanted { paths: Some(glob), ..Wanted::default() };
    gather::find(&Question { workspace, stop, places, wanted, study: None, asked })
}

/// The folders that the pattern begins with, up to the first one that stands for several.
fn literal_folders<'a>(parts: &[&'a str]) -> Vec<&'a str> {
    let is_literal = |part: &&&str| !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
    let folders = parts.split_last().map_or(parts, |(_name, folders)| folders);
    folders.iter().take_while(is_literal).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::{Args, run};
    use crate::found::Found;
    use crate::testing::Tree;
    use domain::Stop;
    use domain::call::Failure;
    use serde_json::{from_value, json, to_value};
    use std::os::unix::fs::symlink;

    fn glob(tree: &Tree, pattern: &str) -> Result<Found, Failure> {
        run(tree.workspace(), &from_value(json!({ "pattern": pattern })).unwrap(), &Stop::default())
    }

    fn tree() -> Tree {
        let tree = Tree::new(&[
            (".gitignore", "ignored/\n*.log\n"),
            (".github/ci.yml", ""),
            ("Cargo.toml", ""),
            ("a/b/c", ""),
            ("ignored/x.rs", ""),
            ("src/bin/deep/tool.rs", ""),
            ("src/bin/tool.rs", ""),
            ("src/main.log", ""),
            ("src/main.rs", ""),
            ("src/sp ace[1].rs", ""),
        ]);
        symlink("src", tree.path("link")).unwrap();
        symlink("/etc", tree.path("out")).unwrap();
        tree
    }

    #[test]
    fn patterns_and_what_they_match() {
        let all_rs = vec!["src/bin/deep/tool.rs", "src/bin/tool.rs", "src/main.rs", "src/sp ace[1].rs"];
        let table = [
            ("**/*.rs", all_rs.clone()),
            ("src/**/*.rs", all_rs.clone()),
            ("./src//**/*.rs", all_rs.clone()),
            ("src/**", all_rs),
            ("*.rs", vec![]),
            ("*", vec!["Cargo.toml"]),
            ("src/*.rs", vec!["src/main.rs", "src/sp ace[1].rs"]),
            ("src/*/*.rs", vec!["src/bin/tool.rs"]),
            ("src/**/deep/*", vec!["src/bin/deep/tool.rs"]),
            ("**/deep/**/tool.rs", vec!["src/bin/deep/tool.rs"]),
            ("src/{main,bin/tool}.rs", vec!["src/bin/tool.rs", "src/main.rs"]),
            ("src/bin/tool.rs", vec!["src/bin/tool.rs"]),
            ("SRC/main.rs", vec![]),
            ("src/main.???", vec![]),
            ("src/m[a-b]in.rs", vec!["src/main.rs"]),
            ("src/sp ace\\[1].rs", vec!["src/sp ace[1].rs"]),
            ("a?b/c", vec![]), // neither of the two stands for a `/`
            ("a[!x]b/c", vec![]),
            ("**/*.log", vec![]),
            ("**/*.yml", vec![]),
            ("ignored/*", vec!["ignored/x.rs"]), // named, so it is meant
            (".github/*.yml", vec![".github/ci.yml"]),
            ("nowhere/**", vec![]),
            ("Cargo.toml/*", vec![]),
            ("link/*", vec![]), // links are not followed
            ("src", vec![]),    // a folder is no file
        ];
        for (pattern, expected) in table {
            let found = glob(&tree(), pattern).unwrap();
            let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
            assert_eq!(paths, expected, "{pattern}");
            assert_eq!((found.count, found.complete), (expected.len() as u64, true), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_make_no_sense_are_refused() {
        let long = "{".repeat(2_000);
        let nested = format!("{}a{}", "{".repeat(500), "}".repeat(500));
        let table = [
            ("", "the path is empty; write `.` for the workspace itself"),
            (".", "the pattern is empty; write it like `*.rs`"),
            ("../*", "`../*` leads out of the workspace"),
            ("src/../*", "`src/../*` contains `..`; write the path without it"),
            ("/etc/*", "`/etc/*` is absolute; write it relative to the workspace"),
            ("a\0*", "`a\\0*` contains a control character"),
            (
                "{a,b",
                "`{a,b` is no glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)",
            ),
            ("out/*", "`out` leads out of the workspace"),
            (&long, "the pattern has 2000 bytes; 1024 are allowed"),
        ];
        for (pattern, message) in table {
            assert_eq!(glob(&tree(), pattern), Err(Failure::logical(message)), "{pattern}");
        }
        assert!(glob(&tree(), &nested).is_err(), "too deep to be compiled, and no panic");
    }

    #[test]
    fn the_order_and_the_limit_are_those_of_find_files() {
        let tree = Tree::new(&[("a", "1"), ("b", "22"), ("c", "22")]);
        let args: Args = from_value(json!({ "pattern": "*", "order": "largest", "limit": 1 })).unwrap();
        let found = run(tree.workspace(), &args, &Stop::default()).unwrap();
        assert_eq!((found.count, found.bytes, found.files.len()), (3, Some(5), 1));
        assert_eq!(found.files[0].path, "b");
        assert_eq!(to_value(&args).unwrap(), json!({ "pattern": "*", "order": "largest", "limit": 1 }));
        assert!(from_value::<Args>(json!({ "pattern": "*", "under": "." })).is_err());
        assert!(run(tree.workspace(), &Args { limit: 1001, ..args }, &Stop::default()).is_err());
    }
}
