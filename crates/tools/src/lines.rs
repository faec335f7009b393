//! Some lines of a file, by their place in it, without holding the file in memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

use domain::Stop;
use domain::call::Failure;
use domain::limits::{MATCHING_LINES, READ_BYTES};
use memchr::{memchr, memchr_iter, memrchr_iter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::search::{self, CHUNK};
use crate::stopping::{Heeding, Stopped};
use crate::text;

/// Which lines; the first one is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    First(u64),
    Last(u64),
    Between(u64, u64),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Shown {
    /// The first line is 1. Null if the file was read from its end.
    pub(crate) line: Option<u64>,
    /// The whole line without its line end.
    pub(crate) text: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) shown: Vec<Shown>,
    /// How many lines there are, if the file was read to its end.
    pub(crate) lines: Option<u64>,
    /// Whether a line was too long to be shown whole.
    pub(crate) cut: bool,
    pub(crate) valid_utf8: bool,
}

impl Which {
    /// # Errors
    /// If there is no such place in any file, or it is too much.
    pub(crate) fn check(self) -> Result<(), Failure> {
        let refuse = |problem: String| Err(Failure::logical(problem));
        match self {
            Self::First(0) => refuse("`first` is 0; ask for at least one line".into()),
            Self::Last(0) => refuse("`last` is 0; ask for at least one line".into()),
            Self::Between(0, _) => refuse("`from` is 0; the first line is 1".into()),
            Self::Between(from, to) if from > to => {
                refuse(format!("`from` is {from} and `to` is {to}; the first line comes first"))
            }
            _ if self.many() > MATCHING_LINES as u64 => {
                refuse(format!("{} lines are asked for, but at most {MATCHING_LINES} are shown", self.many()))
            }
            _ => Ok(()),
        }
    }

    fn many(self) -> u64 {
        match self {
            Self::First(many) | Self::Last(many) => many,
            Self::Between(from, to) => (to - from).saturating_add(1),
        }
    }

    /// All lines together have no more than [`READ_BYTES`].
    fn longest(self) -> usize {
        READ_BYTES / usize::try_from(self.many()).unwrap_or(usize::MAX).max(1)
    }

    pub(crate) fn of(self, file: File, stop: &Stop) -> io::Result<Taken> {
        let longest = self.longest();
        match self {
            Self::First(many) => take(Heeding { reader: file, stop }, 1..=many, longest),
            Self::Between(from, to) => take(Heeding { reader: file, stop }, from..=to, longest),
            Self::Last(many) => last(file, many, longest, CHUNK, stop),
        }
    }
}

/// Reads as far as the last line that is wanted.
fn take(mut reader: impl Read, wanted: std::ops::RangeInclusive<u64>, longest: usize) -> io::Result<Taken> {
    let mut taking =
        Taking { wanted, longest, line: 1, begun: false, text: Vec::new(), taken: Taken::default() };
    taking.taken.valid_utf8 = true;
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = search::fill(&mut reader, &mut buffer)?;
        let rest = taking.piece(buffer.get(..read).unwrap_or_default());
        if rest > 0 {
            return Ok(taking.taken);
        }
        if read < buffer.len() {
            return Ok(taking.end());
        }
    }
}

struct Taking {
    wanted: std::ops::RangeInclusive<u64>,
    longest: usize,
    /// The one that comes next, or has begun.
    line: u64,
    begun: bool,
    text: Vec<u8>,
    taken: Taken,
}

impl Taking {
    /// How many bytes were of no use, because all lines were there before them.
    fn piece(&mut self, piece: &[u8]) -> usize {
        let mut rest = piece;
        while !rest.is_empty() && self.line <= *self.wanted.end() {
            if self.line < *self.wanted.start() {
                rest = self.skip(rest);
                continue;
            }
            let end = memchr(b'\n', rest);
            let (line, after) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, &[]));
            // One byte more than is shown, so that a line end can be told from a cut.
            let room = (self.longest + 1).saturating_sub(self.text.len());
            self.taken.cut |= line.len() > room;
            self.text.extend_from_slice(line.get(..room).unwrap_or(line));
            self.begun = true;
            if end.is_some() {
                self.end_line();
            }
            rest = after.get(1..).unwrap_or_default();
        }
        rest.len()
    }

    /// As many lines as are not wanted.
    fn skip<'a>(&mut self, piece: &'a [u8]) -> &'a [u8] {
        let unwanted = usize::try_from(self.wanted.start() - self.line).unwrap_or(usize::MAX);
        let mut ends = memchr_iter(b'\n', piece);
        if let Some(end) = ends.nth(unwanted - 1) {
            (self.line, self.begun) = (*self.wanted.start(), false);
            return piece.get(end + 1..).unwrap_or_default();
        }
        self.line += search::line_ends(piece);
        self.begun = piece.last().is_some_and(|&byte| byte != b'\n');
        &[]
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.text);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.len() > self.longest {
            self.taken.cut = true;
            line.truncate(self.longest);
            line.truncate(text::whole_chars(&line).len());
        }
        self.taken.valid_utf8 &= std::str::from_utf8(&line).is_ok();
        let text = String::from_utf8_lossy(&line).into_owned();
        self.taken.shown.push(Shown { line: Some(self.line), text });
        (self.line, self.begun) = (self.line + 1, false);
    }

    /// A last line without a line end is one too.
    fn end(mut self) -> Taken {
        if self.begun && self.wanted.contains(&self.line) {
            self.end_line();
        } else if self.begun {
            self.line += 1;
        }
        self.taken.lines = Some(self.line - 1);
        self.taken
    }
}

/// Goes back from the end until there are enough lines, then forward.
fn last(mut file: File, many: u64, longest: usize, chunk: usize, stop: &Stop) -> io::Result<Taken> {
    let size = file.seek(SeekFrom::End(0))?;
    let start = start_of_last(&file, size, many, chunk, stop)?;
    file.seek(SeekFrom::Start(start))?;
    let reader = Heeding { reader: file.take(size - start), stop };
    let mut taken = take(reader, 1..=many, longest)?;
    // What was not read may have any number of lines.
    if start > 0 {
        taken.lines = None;
        taken.shown.iter_mut().for_each(|shown| shown.line = None);
    }
    Ok(taken)
}

/// Where the last lines begin.
fn start_of_last(file: &File, size: u64, many: u64, chunk: usize, stop: &Stop) -> io::Result<u64> {
    let mut buffer = vec![0; chunk];
    let (mut end, mut left) = (size, many);
    while end > 0 {
        if stop.is_asked() {
            return Err(io::Error::other(Stopped));
        }
        let start = end.saturating_sub(chunk as u64);
        let piece = buffer.get_mut(..usize::try_from(end - start).unwrap_or(chunk)).unwrap_or_default();
        file.read_exact_at(piece, start)?;
        for at in memrchr_iter(b'\n', piece).map(|at| start + at as u64) {
            // The line end of the last line begins no other one.
            if at + 1 == size {
                continue;
            }
            left -= 1;
            if left == 0 {
                return Ok(at + 1);
            }
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::{Shown, Which, last, take};
    use domain::Stop;
    use domain::call::Failure;
    use std::io::Write;

    fn texts(shown: &[Shown]) -> Vec<(Option<u64>, &str)> {
        shown.iter().map(|shown| (shown.line, shown.text.as_str())).collect()
    }

    #[test]
    fn lines_by_their_number() {
        type Expected<'a> = (&'a [(u64, &'a str)], Option<u64>);
        let table: [(&[u8], u64, u64, Expected<'_>); 13] = [
            (b"", 1, 2, (&[], Some(0))),
            (b"a", 1, 2, (&[(1, "a")], Some(1))),
            (b"a\n", 1, 2, (&[(1, "a")], Some(1))),
            (b"a\nb", 1, 2, (&[(1, "a"), (2, "b")], Some(2))),
            (b"a\nb\n", 1, 2, (&[(1, "a"), (2, "b")], Some(2))),
            (b"a\nb\nc", 1, 2, (&[(1, "a"), (2, "b")], None)),
            (b"a\r\n b\t\r\nc", 1, 3, (&[(1, "a"), (2, " b\t"), (3, "c")], Some(3))),
            (b"\n\n\n", 2, 3, (&[(2, ""), (3, "")], Some(3))),
            (b"a\nb\nc\nd\n", 3, 3, (&[(3, "c")], None)),
            (b"a\nb\nc\nd\n", 4, 9, (&[(4, "d")], Some(4))),
            (b"a\nb", 3, 9, (&[], Some(2))),
            (b"a\nb\n", 7, 9, (&[], Some(2))),
            (b"a\nb\nc", 3, 3, (&[(3, "c")], Some(3))),
        ];
        for (content, from, to, (shown, lines)) in table {
            let taken = take(content, from..=to, 100).unwrap();
            let expected: Vec<_> = shown.iter().map(|(line, text)| (Some(*line), *text)).collect();
            let case = String::from_utf8_lossy(content);
            assert_eq!((texts(&taken.shown), taken.lines, taken.cut), (expected, lines, false), "{case:?}");
        }
    }

    #[test]
    fn the_last_lines_are_found_from_the_end_whatever_the_pieces() {
        type Expected<'a> = (&'a [&'a str], bool);
        let table: [(&str, u64, Expected<'_>); 9] = [
            ("", 3, (&[], true)),
            ("a", 3, (&["a"], true)),
            ("a\nb\n", 2, (&["a", "b"], true)),
            ("a\nb\n", 1, (&["b"], false)),
            ("a\nb", 1, (&["b"], false)),
            ("\n\n\n", 2, (&["", ""], false)),
            ("one\r\ntwo\r\nthree\r\n", 2, (&["two", "three"], false)),
            ("one\ntwo\nthree", 9, (&["one", "two", "three"], true)),
            ("a\n\n", 1, (&[""], false)),
        ];
        for (content, many, (shown, whole)) in table {
            for chunk in [1, 2, 3, 5, 100] {
                let mut file = tempfile::tempfile().unwrap();
                file.write_all(content.as_bytes()).unwrap();
                let taken = last(file, many, 100, chunk, &Stop::default()).unwrap();
                let seen: Vec<_> = taken.shown.iter().map(|shown| shown.text.as_str()).collect();
                assert_eq!((seen, taken.lines.is_some()), (shown.to_vec(), whole), "{content:?} {chunk}");
                assert!(taken.shown.iter().all(|shown| shown.line.is_some() == whole), "{content:?}");
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_two_characters_and_this_is_said() {
        let table: [(&[u8], &str, bool); 6] = [
            (b"abcd", "abcd", false),
            (b"abcd\r\n", "abcd", false),
            (b"abcde", "abcd", true),
            ("aäää".as_bytes(), "aä", true),
            (b"abcdefgh\nx", "abcd", true),
            (b"abcd\n", "abcd", false),
        ];
        for (content, text, cut) in table {
            let taken = take(content, 1..=1, 4).unwrap();
            assert_eq!((texts(&taken.shown), taken.cut), (vec![(Some(1), text)], cut), "{content:?}");
        }
        assert!(!take(&b"caf\xe9"[..], 1..=1, 9).unwrap().valid_utf8);
    }

    #[test]
    fn places_that_no_file_has_are_refused() {
        let table = [
            (Which::First(0), "`first` is 0; ask for at least one line"),
            (Which::Last(0), "`last` is 0; ask for at least one line"),
            (Which::Between(0, 3), "`from` is 0; the first line is 1"),
            (Which::Between(3, 2), "`from` is 3 and `to` is 2; the first line comes first"),
            (Which::First(1_001), "1001 lines are asked for, but at most 1000 are shown"),
            (
                Which::Between(5, u64::MAX),
                "18446744073709551611 lines are asked for, but at most 1000 are shown",
            ),
        ];
        for (which, message) in table {
            assert_eq!(which.check(), Err(Failure::logical(message)));
        }
        for which in [Which::First(1_000), Which::Last(1), Which::Between(u64::MAX - 9, u64::MAX)] {
            assert_eq!(which.check(), Ok(()));
        }
    }
}
