//! What a change did to a text: one hunk between what stayed the same at both ends.
//!
//! This is not the shortest diff, but an honest one: applied to the old text it gives the new one.

use broker::Difference;
use domain::limits::DIFF_BYTES;
use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};
use schemars::JsonSchema;
use serde::Serialize;

use crate::search::line_ends;

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Diff {
    /// A unified diff with one hunk. Empty if nothing changed or the file is new.
    pub(crate) diff: String,
    /// Whether `diff` shows the whole change.
    pub(crate) diff_whole: bool,
    /// Lines of the new text in the hunk.
    pub(crate) lines_added: u64,
    /// Lines of the old text that are gone.
    pub(crate) lines_removed: u64,
}

impl Diff {
    /// There was nothing before.
    pub(crate) fn of_new(content: &[u8]) -> Self {
        Self { lines_added: count_lines(content), diff_whole: true, ..Self::default() }
    }

    /// Nothing where there is nothing to compare with.
    pub(crate) fn for_a_person(self) -> Option<Difference> {
        let Self { diff: text, diff_whole: whole, lines_added, lines_removed } = self;
        (!text.is_empty()).then_some(Difference { text, whole, lines_added, lines_removed })
    }

    pub(crate) fn between(path: &str, old: &[u8], new: &[u8]) -> Self {
        let Some(Parts { before, removed, added, after }) = Parts::of(old, new) else {
            return Self { diff_whole: true, ..Self::default() };
        };
        let (above, below) = (last_lines(before, CONTEXT), first_lines(after, CONTEXT));
        let start = count_lines(before) - count_lines(above);
        let around = count_lines(above) + count_lines(below);
        let (lines_added, lines_removed) = (count_lines(added), count_lines(removed));
        let range = |count: u64| format!("{},{count}", start + u64::from(count > 0));
        let (was, is) = (range(around + lines_removed), range(around + lines_added));
        let mut diff = Self { diff: String::new(), diff_whole: true, lines_added, lines_removed };
        diff.push(&format!("--- a/{path}\n+++ b/{path}\n@@ -{was} +{is} @@\n"));
        for (sign, part) in [(' ', above), ('-', removed), ('+', added), (' ', below)] {
            for line in part.split_inclusive(|&byte| byte == b'\n') {
                diff.push_line(sign, line);
                if !diff.diff_whole {
                    return diff;
                }
            }
        }
        diff
    }

    fn push_line(&mut self, sign: char, line: &[u8]) {
        let (text, end) = match line.strip_suffix(b"\n") {
            Some(text) => (text, "\n"),
            None => (line, "\n\\ No newline at end of file\n"),
        };
        self.push(&format!("{sign}{}{end}", String::from_utf8_lossy(text)));
    }

    /// Whole lines, as long as they fit.
    fn push(&mut self, text: &str) {
        self.diff_whole &= self.diff.len() + text.len() <= DIFF_BYTES;
        if self.diff_whole {
            self.diff.push_str(text);
        }
    }
}

/// Two texts in whole lines: what they have in common at both ends, and what is between.
struct Parts<'a> {
    before: &'a [u8],
    removed: &'a [u8],
    added: &'a [u8],
    after: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Nothing if the texts are the same. No list of lines is made, however many there are.
    fn of(old: &'a [u8], new: &'a [u8]) -> Option<Self> {
        if old == new {
            return None;
        }
        let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let same = memrchr(b'\n', old.get(..same)?).map_or(0, |end| end + 1);
        let (before, old) = old.split_at_checked(same)?;
        let (_, new) = new.split_at_checked(same)?;
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        // What is the same at the end counts from where a line begins in both.
        let begins = |text: &[u8]| text.len() == tail || text.get(text.len() - tail - 1) == Some(&b'\n');
        let shared = old.get(old.len() - tail..)?;
        let skipped = if begins(old) && begins(new) {
            0
        } else {
            memchr(b'\n', shared).map_or(shared.len(), |end| end + 1)
        };
        let (removed, after) = old.split_at_checked(old.len() - tail + skipped)?;
        let (added, _) = new.split_at_checked(new.len() - tail + skipped)?;
        Some(Self { before, removed, added, after })
    }
}

/// A last line without its end is one too.
fn count_lines(text: &[u8]) -> u64 {
    line_ends(text) + u64::from(text.last().is_some_and(|&byte| byte != b'\n'))
}

/// `text` ends with a line end or is empty.
fn last_lines(text: &[u8], count: usize) -> &[u8] {
    let start = memrchr_iter(b'\n', text).nth(count).map_or(0, |end| end + 1);
    text.get(start..).unwrap_or_default()
}

fn first_lines(text: &[u8], count: usize) -> &[u8] {
    let end = memchr_iter(b'\n', text).nth(count - 1).map_or(text.len(), |end| end + 1);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Diff;
    use domain::limits::DIFF_BYTES;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    #[test]
    fn one_hunk_between_what_stayed_the_same() {
        let table = [
            ("", "", "", (0, 0)),
            ("a\n", "a\n", "", (0, 0)),
            ("", "a\n", "@@ -0,0 +1,1 @@\n+a\n", (1, 0)),
            ("a\n", "", "@@ -1,1 +0,0 @@\n-a\n", (0, 1)),
            ("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", (1, 1)),
            (
                "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                "1\n2\n3\n4\nx\n5\n6\n7\n8\n9\n",
                "@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+x\n 5\n 6\n 7\n",
                (1, 0),
            ),
            ("a\na\n", "a\na\na\n", "@@ -1,2 +1,3 @@\n a\n a\n+a\n", (1, 0)),
            (
                "a\nb",
                "a\nc",
                "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
                (1, 1),
            ),
            ("a\nb\n", "b\n", "@@ -1,2 +1,1 @@\n-a\n b\n", (0, 1)),
            ("xb\n", "b\n", "@@ -1,1 +1,1 @@\n-xb\n+b\n", (1, 1)),
            ("a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n", (1, 1)),
            ("1\n2\n3\n4\n5\n", "1\n2\n3\n4\n", "@@ -2,4 +2,3 @@\n 2\n 3\n 4\n-5\n", (0, 1)),
            ("a\r\n", "a\n", "@@ -1,1 +1,1 @@\n-a\r\n+a\n", (1, 1)),
        ];
        for (old, new, hunk, (lines_added, lines_removed)) in table {
            let head = if hunk.is_empty() { "" } else { "--- a/f\n+++ b/f\n" };
            let expected =
                Diff { diff: format!("{head}{hunk}"), diff_whole: true, lines_added, lines_removed };
            assert_eq!(Diff::between("f", old.as_bytes(), new.as_bytes()), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn a_long_diff_is_cut_between_lines_and_says_so() {
        let (old, new) = ("a\n".repeat(DIFF_BYTES), "b\n".repeat(DIFF_BYTES));
        let diff = Diff::between("f", old.as_bytes(), new.as_bytes());
        assert!(diff.diff.len() <= DIFF_BYTES && diff.diff.ends_with("-a\n"));
        let count = DIFF_BYTES as u64;
        assert_eq!((diff.diff_whole, diff.lines_added, diff.lines_removed), (false, count, count));
    }

    proptest! {
        /// The hunk applied to the old text gives the new one.
        #[test]
        fn what_is_shown_is_what_happened(old in "[ab\n]{0,20}", new in "[ab\n]{0,20}") {
            let diff = Diff::between("f", old.as_bytes(), new.as_bytes());
            let sides = |sign: char| {
                let mut text = String::new();
                let mut taken = false;
                for line in diff.diff.lines().skip(3) {
                    if line.starts_with('\\') {
                        if taken { text.pop(); }
                        continue;
                    }
                    taken = line.starts_with([sign, ' ']);
                    if taken {
                        text.extend(line.chars().skip(1));
                        text.push('\n');
                    }
                }
                text
            };
            let (was, is) = (sides('-'), sides('+'));
            prop_assert_eq!(diff.diff.is_empty(), old == new);
            prop_assert!(old.contains(&was) && new.contains(&is));
            prop_assert!(diff.diff.is_empty() || old.replacen(&was, "", 1).len() == new.replacen(&is, "", 1).len());
        }
    }
}
