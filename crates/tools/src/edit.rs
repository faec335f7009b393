//! `edit_file`: one text in a file replaced by another.

use broker::{Looked, Sight};
use domain::call::Failure;
use domain::change::{self, Content, Standing};
use domain::{Digest, Stop};
use memchr::memmem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::diff::Diff;
use crate::expected::Expected;
use crate::leftovers;
use crate::names::check_changeable;
use crate::search;
use crate::staged::Change;
use crate::standing::{self, Old};
use crate::stopping;
use crate::workspace::{self, Place, Workspace};
use crate::write::{check_size, read_old};

/// Lines that are named if a text occurs more than once.
const NAMED_LINES: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Relative to the workspace.
    pub(crate) path: String,
    /// The text to replace, exactly as it is in the file, white space included. It has to occur once.
    pub(crate) old: String,
    /// What comes in its place; may be empty.
    pub(crate) new: String,
    /// Whether to replace it wherever it occurs.
    #[serde(default)]
    pub(crate) all: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Edited {
    /// Relative to the workspace.
    pub(crate) path: String,
    /// Of the file as it is now.
    pub(crate) bytes: u64,
    /// SHA-256 of the file as it is now.
    #[schemars(with = "String")]
    pub(crate) digest: Digest,
    /// In how many places.
    pub(crate) replaced: u64,
    #[serde(flatten)]
    pub(crate) diff: Diff,
}

/// What this call would change. Nothing is changed by looking.
///
/// # Errors
/// As [`run`].
pub(crate) fn look(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Looked, Failure> {
    let made = Made::of(workspace, args, stop)?;
    let mode = made.change(args, None).mode()?;
    let to = Standing::File(standing::of_content(made.new.as_bytes(), mode));
    let sight = Sight {
        change: change::Change::new(made.shown, made.old.standing(), to),
        modified: Some(made.old.seen.modified_at()),
        content: Some(made.old.content),
    };
    Ok(Looked { diff: made.diff.for_a_person(), ..sight.into() })
}

/// # Errors
/// If the text is not there or not unique, the file is no text, somebody else changed it meanwhile, or the disk
/// refuses. Then the file is as it was.
pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    expected: Expected<'_>,
    stop: &Stop,
) -> Result<Edited, Failure> {
    let made = Made::of(workspace, args, stop)?;
    expected.check(&args.path, &made.shown, &made.old.standing())?;
    stopping::check(stop)?;
    leftovers::tidy(&made.place, &args.path, false)?;
    stopping::check(stop)?;
    made.change(args, expected.file(&args.path, &made.shown)?).make(stop)?;
    Ok(Edited {
        path: made.shown,
        bytes: made.new.len() as u64,
        digest: Digest::of(made.new.as_bytes()),
        replaced: made.replaced as u64,
        diff: made.diff,
    })
}

/// What a call makes of the file that is there.
struct Made<'a> {
    place: Place<'a>,
    /// As people see the path.
    shown: String,
    old: Old,
    new: String,
    replaced: usize,
    diff: Diff,
}

impl<'a> Made<'a> {
    fn of(workspace: &Workspace, args: &'a Args, stop: &Stop) -> Result<Self, Failure> {
        check_changeable(&args.path)?;
        check_texts(args)?;
        let place = workspace.place(&args.path)?;
        let old = read_old(&place, &args.path, stop)?;
        let Ok(text) = str::from_utf8(&old.content) else {
            return Err(Failure::logical(format!("`{}` is no UTF-8 text", args.path)));
        };
        let (new, replaced) = replace(text, args, stop)?;
        let shown = workspace::shown(&args.path);
        let diff = Diff::between(&shown, &old.content, new.as_bytes());
        Ok(Self { place, shown, old, new, replaced, diff })
    }

    fn change<'b>(&'b self, args: &'b Args, expected: Option<&'b Content>) -> Change<'b> {
        Change {
            place: &self.place,
            path: &args.path,
            content: Bytes::Given(self.new.as_bytes()),
            old: Some(self.old.seen),
            rights: None,
            expected,
        }
    }
}

fn check_texts(args: &Args) -> Result<(), Failure> {
    if args.old.is_empty() {
        return Err(Failure::logical("`old` is empty; use `write_file` for a new file"));
    }
    if args.old == args.new {
        return Err(Failure::logical("`old` and `new` are the same; there is nothing to change"));
    }
    check_size(args.new.len())
}

/// The new text, and in how many places it is new. A large file takes its time, so a stop is heard in between.
fn replace(text: &str, args: &Args, stop: &Stop) -> Result<(String, usize), Failure> {
    stopping::check(stop)?;
    let replaced = count(text, args)?;
    check_size(text.len() - replaced * args.old.len() + replaced * args.new.len())?;
    stopping::check(stop)?;
    let new = text.replace(&args.old, &args.new);
    stopping::check(stop)?;
    Ok((new, replaced))
}

/// In how many places it will be replaced.
fn count(text: &str, args: &Args) -> Result<usize, Failure> {
    let finder = memmem::Finder::new(&args.old);
    let count = finder.find_iter(text.as_bytes()).count();
    let Some(first) = finder.find(text.as_bytes()) else { return Err(not_found(text, args)) };
    // `aa` is in `aaa` once if one looks on behind it, and still it is not clear which one is meant.
    let overlapping = text.as_bytes().get(first + 1..).and_then(|rest| finder.find(rest));
    if args.all || (count == 1 && overlapping.is_none()) {
        return Ok(count);
    }
    let places = finder.find_iter(text.as_bytes()).take(NAMED_LINES);
    let mut at: Vec<u64> = places.map(|place| line_of(text, place)).collect();
    if let (1, Some(second)) = (count, overlapping) {
        at.push(line_of(text, first + 1 + second));
    }
    let (times, lines) = (count.max(2), listed(&at, count > NAMED_LINES));
    let advice = "take more of what stands around it into `old`, or say `all`";
    Err(Failure::logical(format!("`old` is {times} times in `{}`, on {lines}; {advice}", args.path)))
}

fn line_of(text: &str, place: usize) -> u64 {
    search::line_ends(text.as_bytes().get(..place).unwrap_or_default()) + 1
}

fn listed(lines: &[u64], more: bool) -> String {
    let numbers: Vec<String> = lines.iter().map(u64::to_string).collect();
    format!("lines {}{}", numbers.join(", "), if more { " and more" } else { "" })
}

fn not_found(text: &str, args: &Args) -> Failure {
    let like = |fold: Fold| fold.find(text, &args.old).map(|line| (fold, line));
    let Some((fold, line)) = [Fold::Space, Fold::Case, Fold::Both].into_iter().find_map(like) else {
        return Failure::logical(format!(
            "`old` is not in `{}`; read the file and copy it exactly",
            args.path
        ));
    };
    let how = match fold {
        Fold::Space => "white space",
        Fold::Case => "upper and lower case",
        Fold::Both => "white space and case",
    };
    let advice = "copy it exactly";
    Failure::logical(format!(
        "`old` is not in `{}`, but with other {how} on line {line}; {advice}",
        args.path
    ))
}

/// What is not held against a text when we look for what was probably meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Space,
    Case,
    Both,
}

impl Fold {
    /// The line where it begins.
    fn find(self, text: &str, old: &str) -> Option<u64> {
        let wanted: String = self.folded(old.trim()).map(|(c, _)| c).collect();
        let folded: String = self.folded(text).map(|(c, _)| c).collect();
        let place = memmem::find(folded.as_bytes(), wanted.as_bytes()).filter(|_| !wanted.is_empty())?;
        let ends = self.folded(text).scan(0, |end, (c, line)| {
            *end += c.len_utf8();
            Some((*end, line))
        });
        ends.into_iter().find(|(end, _)| *end > place).map(|(_, line)| line)
    }

    /// The characters with their line; any white space is one blank.
    fn folded(self, text: &str) -> impl Iterator<Item = (char, u64)> {
        let (space, case) = (self != Self::Case, self != Self::Space);
        let mut line = 1;
        let mut was_blank = false;
        text.chars().filter_map(move |c| {
            let here = line;
            line += u64::from(c == '\n');
            let blank = space && c.is_whitespace();
            let skipped = blank && was_blank;
            was_blank = blank;
            let lower = || if case { c.to_lowercase().next().unwrap_or(c) } else { c };
            (!skipped).then(|| (if blank { ' ' } else { lower() }, here))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, Edited, replace, run};
    use crate::diff::Diff;
    use crate::expected::Expected;
    use crate::testing::Tree;
    use domain::call::Failure;
    use domain::{Digest, Stop};
    use serde_json::{Value, from_value, json, to_value};

    fn edit(tree: &Tree, args: Value) -> Result<Edited, Failure> {
        run(tree.workspace(), &from_value(args).unwrap(), Expected::default(), &Stop::default())
    }

    #[test]
    fn the_record_as_a_model_sees_it() {
        let tree = Tree::new(&[("a/b.txt", "one\ntwo\nthree\n")]);
        let record = edit(&tree, json!({ "path": "./a/b.txt", "old": "two", "new": "2" })).unwrap();
        let expected = json!({
            "path": "a/b.txt",
            "bytes": 12,
            "digest": Digest::of(b"one\n2\nthree\n").to_string(),
            "replaced": 1,
            "diff": "--- a/a/b.txt\n+++ b/a/b.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
            "diff_whole": true,
            "lines_added": 1,
            "lines_removed": 1,
        });
        assert_eq!(to_value(&record).unwrap(), expected);
        assert_eq!(tree.content("a/b.txt"), b"one\n2\nthree\n");
    }

    #[test]
    fn a_stop_is_heard_when_the_file_is_read_already() {
        let args = Args { path: "f".into(), old: "a".into(), new: "b".into(), all: false };
        let stop = Stop::default();
        assert_eq!(replace("a", &args, &stop), Ok(("b".into(), 1)));
        stop.now();
        assert_eq!(replace("a", &args, &stop), Err(Failure::interrupted("stopped")));
    }

    /// Each round the stop comes a little later.
    #[test]
    fn whenever_a_stop_comes_the_file_is_the_old_one_or_the_edit_is_done() {
        let old = "a\n".repeat(100_000);
        let args = Args { path: "f".into(), old: "a".into(), new: "b".into(), all: true };
        for round in 0..40 {
            let tree = Tree::new(&[("f", &old)]);
            let stop = Stop::default();
            let result = std::thread::scope(|scope| {
                scope.spawn(|| {
                    (0..round * 500).for_each(|_| std::thread::yield_now());
                    stop.now();
                });
                run(tree.workspace(), &args, Expected::default(), &stop)
            });
            let content = match result {
                Ok(_) => old.replace('a', "b"),
                Err(failure) => {
                    assert_eq!(failure, Failure::interrupted("stopped"), "round {round}");
                    old.clone()
                }
            };
            assert!(tree.content("f") == content.as_bytes(), "round {round}");
            assert_eq!(tree.names("."), ["f"]);
        }
    }

    #[test]
    fn what_is_replaced_and_how_often() {
        let table = [
            ("a b a", "b", "", false, "a  a", 1),
            ("a b a", "a", "x", true, "x b x", 2),
            ("aaaa", "aa", "b", true, "bb", 2),
            ("ä\r\nö", "\r\n", "\n", false, "ä\nö", 1),
            ("a", "a", "aa", true, "aa", 1),
            ("\0\0", "\0\0", "x", false, "x", 1),
        ];
        for (content, old, new, all, expected, replaced) in table {
            let tree = Tree::new(&[("f", content)]);
            let record = edit(&tree, json!({ "path": "f", "old": old, "new": new, "all": all })).unwrap();
            assert_eq!((record.replaced, record.bytes), (replaced, expected.len() as u64), "{content:?}");
            assert_eq!(record.diff, Diff::between("f", content.as_bytes(), expected.as_bytes()));
            assert_eq!(tree.content("f"), expected.as_bytes());
        }
    }

    #[test]
    fn refusals_teach_and_change_nothing() {
        let table = [
            ("a\nb", "c", "`old` is not in `f`; read the file and copy it exactly"),
            (
                "x\n  let  a =\t1;",
                "let a = 1;",
                "`old` is not in `f`, but with other white space on line 2; copy it exactly",
            ),
            (
                "x\r\ny\r\n",
                "x\ny\n",
                "`old` is not in `f`, but with other white space on line 1; copy it exactly",
            ),
            (
                "\n\nHello",
                "hello",
                "`old` is not in `f`, but with other upper and lower case on line 3; copy it exactly",
            ),
            (
                "Ä  b",
                "ä b",
                "`old` is not in `f`, but with other white space and case on line 1; copy it exactly",
            ),
            (
                "a\na\nb\na",
                "a",
                "`old` is 3 times in `f`, on lines 1, 2, 4; take more of what stands around it into `old`, or say `all`",
            ),
            (
                "aaa",
                "aa",
                "`old` is 2 times in `f`, on lines 1, 1; take more of what stands around it into `old`, or say `all`",
            ),
            (
                "a\na\na\na\na\na",
                "a",
                "`old` is 6 times in `f`, on lines 1, 2, 3, 4, 5 and more; take more of what stands around it into \
                 `old`, or say `all`",
            ),
            ("a", "", "`old` is empty; use `write_file` for a new file"),
            ("a", "new", "`old` and `new` are the same; there is nothing to change"),
        ];
        for (content, old, message) in table {
            let tree = Tree::new(&[("f", content)]);
            let result = edit(&tree, json!({ "path": "f", "old": old, "new": "new" }));
            assert_eq!(result, Err(Failure::logical(message)), "{content:?}");
            assert_eq!(tree.content("f"), content.as_bytes());
        }
        let tree = Tree::new(&[("f", &b"\xff a"[..])]);
        let binary = edit(&tree, json!({ "path": "f", "old": "a", "new": "b" }));
        assert_eq!(binary, Err(Failure::logical("`f` is no UTF-8 text")));
        assert!(from_value::<Args>(json!({ "path": "f", "old": "a", "new": "b", "regex": true })).is_err());
    }
}
