//! What stands in a file, found out without holding it in memory: lines, words, and the lines that contain a text.
//!
//! The file goes through one buffer. Whole lines are searched at once, because `memmem` is fastest on
//! long stretches; a line that is longer than the buffer is followed from piece to piece, with as many
//! bytes kept from the last piece as a match across the border needs. Start reading at [`scan`].

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use crate::found::Match;
use crate::needle::{CONTEXT, Needle};
use crate::text::{self, LINE_HEAD};

/// How much of a file is in memory at a time.
pub(crate) const CHUNK: usize = 128 * 1024;
/// Where a NUL byte says that a file is no text.
const BINARY_HEAD: usize = 8 * 1024;
const _: () = assert!(CHUNK >= BINARY_HEAD, "the first piece decides whether a file is text");

/// What is asked about the content of a file.
#[derive(Debug, Default)]
pub(crate) struct Study<'a> {
    /// Which lines match.
    pub(crate) lines: Option<Lines<'a>>,
    /// What no line may contain.
    pub(crate) lacks: Option<Needle<'a>>,
    /// How many matching lines are shown; all are counted.
    pub(crate) show: usize,
    pub(crate) measures: Measures,
}

#[derive(Debug)]
pub(crate) enum Lines<'a> {
    With(Needle<'a>),
    Without(Needle<'a>),
}

/// What is counted besides matching lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measures {
    pub(crate) lines: bool,
    pub(crate) words: bool,
    pub(crate) occurrences: bool,
}

impl Study<'_> {
    /// A buffer in which all this can be looked for, not shorter than `chunk`.
    pub(crate) fn buffer(&self, chunk: usize) -> Vec<u8> {
        vec![0; chunk.max(2 * self.overlap())]
    }

    /// Whether the content decides which files are found.
    pub(crate) fn chooses(&self) -> bool {
        self.lines.is_some() || self.lacks.is_some()
    }

    fn needle(&self) -> Option<&Needle<'_>> {
        match self.lines.as_ref()? {
            Lines::With(needle) | Lines::Without(needle) => Some(needle),
        }
    }

    fn is_inverted(&self) -> bool {
        matches!(self.lines, Some(Lines::Without(_)))
    }

    /// How many bytes of a piece are looked at again with the next one.
    fn overlap(&self) -> usize {
        let reach = |needle: Option<&Needle<'_>>| needle.map_or(0, Needle::reach);
        reach(self.needle()).max(reach(self.lacks.as_ref())) + CONTEXT
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hits {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// Runs of bytes that are no white space of ASCII; only if asked for.
    pub(crate) words: u64,
    /// Matches, none over another; only if asked for.
    pub(crate) occurrences: u64,
    pub(crate) matching: u64,
    pub(crate) first: Vec<Match>,
    /// Whether a shown line is not exactly what is in the file.
    pub(crate) replaced: bool,
    /// Whether a line contains what none may contain. Then nothing else is known.
    pub(crate) spoiled: bool,
}

/// Reads to the end. The buffer comes from [`Study::buffer`] and can be used again.
pub(crate) fn scan(mut reader: impl Read, study: &Study<'_>, buffer: &mut [u8]) -> io::Result<Hits> {
    let held = fill(&mut reader, buffer)?;
    scan_on(reader, study, buffer, held)
}

/// As [`scan`], but a file that is no text is left alone, and nothing comes back.
pub(crate) fn scan_text(
    mut reader: impl Read,
    study: &Study<'_>,
    buffer: &mut [u8],
) -> io::Result<Option<Hits>> {
    let held = fill(&mut reader, buffer)?;
    if is_binary(buffer.get(..held).unwrap_or_default()) {
        return Ok(None);
    }
    scan_on(reader, study, buffer, held).map(Some)
}

/// The first `held` bytes of the file are in the buffer; they are all of it if they do not fill it.
fn scan_on(mut reader: impl Read, study: &Study<'_>, buffer: &mut [u8], mut held: usize) -> io::Result<Hits> {
    let mut scan = Scan::new(study);
    scan.hits.bytes = held as u64;
    while held == buffer.len() && !scan.hits.spoiled {
        let kept = scan.piece(buffer);
        buffer.copy_within(held - kept.., 0);
        let read = fill(&mut reader, buffer.get_mut(kept..).unwrap_or_default())?;
        scan.hits.bytes += read as u64;
        held = kept + read;
    }
    scan.whole_lines(buffer.get(..held).unwrap_or_default());
    Ok(scan.hits)
}

fn is_binary(start: &[u8]) -> bool {
    memchr(0, start.get(..BINARY_HEAD).unwrap_or(start)).is_some()
}

/// Fills the buffer unless the file ends first.
pub(crate) fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
        match reader.read(room) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// How many lines there are in these bytes, if the last one counts only with its line end.
pub(crate) fn line_ends(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

#[derive(Debug)]
struct Scan<'s> {
    study: &'s Study<'s>,
    hits: Hits,
    /// The line that began in an earlier piece and is not over, if it did not fit the buffer.
    open: Option<OpenLine>,
    in_word: bool,
}

#[derive(Debug, Default)]
struct OpenLine {
    head: Vec<u8>,
    occurrences: u64,
    /// Where in the next piece the next match may begin.
    from: usize,
    /// How many bytes of the next piece are already known from the last one.
    overlap: usize,
}

impl<'s> Scan<'s> {
    fn new(study: &'s Study<'s>) -> Self {
        Self { study, hits: Hits::default(), open: None, in_word: false }
    }

    /// Takes a full buffer and says how many bytes at its end are wanted again: always fewer than all.
    fn piece(&mut self, window: &[u8]) -> usize {
        let Some(last_end) = memrchr(b'\n', window) else {
            return self.follow(window);
        };
        let (whole, rest) = window.split_at_checked(last_end + 1).unwrap_or((window, &[]));
        self.whole_lines(whole);
        rest.len()
    }

    /// A piece in the middle of a long line. A match that the next piece could undo is left to it.
    fn follow(&mut self, window: &[u8]) -> usize {
        let mut open = self.open.take().unwrap_or_default();
        self.count_words(window.get(open.overlap..).unwrap_or_default());
        let kept = self.study.overlap().min(window.len());
        let next = window.len() - kept;
        let decided = next + CONTEXT;
        self.hits.spoiled |= self.study.lacks.as_ref().is_some_and(|needle| needle.is_in(window));
        let end = open.extend(window, self.study, decided);
        open.from = end.max(decided) - next;
        open.overlap = kept;
        self.open = Some(open);
        kept
    }

    /// Lines that end in here; only the last one of the file may lack its line end.
    fn whole_lines(&mut self, block: &[u8]) {
        let known = self.open.as_ref().map_or(0, |open| open.overlap);
        self.count_words(block.get(known..).unwrap_or_default());
        self.hits.spoiled |= self.study.lacks.as_ref().is_some_and(|needle| needle.is_in(block));
        let mut rest = block;
        if let Some(mut open) = self.open.take() {
            let (line, after) = split_line(rest);
            open.extend(line, self.study, usize::MAX);
            if self.study.measures.occurrences {
                self.hits.occurrences += open.occurrences;
            }
            self.end_line(&open.head, open.occurrences > 0);
            rest = after;
        }
        while let Some(hit) = self.study.needle().and_then(|needle| needle.next(rest, 0)) {
            let (before, _) = rest.split_at_checked(hit.start).unwrap_or((rest, &[]));
            let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
            let (skipped, from_line) = rest.split_at_checked(start).unwrap_or((rest, &[]));
            let (line, after) = split_line(from_line);
            self.lines_in_between(skipped);
            if self.study.measures.occurrences {
                self.hits.occurrences += 1 + self.more_in(line, hit.end - start);
            }
            self.end_line(line, true);
            rest = after;
        }
        self.lines_in_between(rest);
    }

    fn more_in(&self, line: &[u8], mut from: usize) -> u64 {
        let mut more = 0;
        while let Some(hit) = self.study.needle().and_then(|needle| needle.next(line, from)) {
            (more, from) = (more + 1, hit.end);
        }
        more
    }

    /// Lines without the text.
    fn lines_in_between(&mut self, block: &[u8]) {
        let mut rest = block;
        while self.study.is_inverted() && self.hits.first.len() < self.study.show && !rest.is_empty() {
            let (line, after) = split_line(rest);
            self.end_line(line, false);
            rest = after;
        }
        let lines = line_ends(rest) + u64::from(rest.last().is_some_and(|&byte| byte != b'\n'));
        self.hits.lines += lines;
        self.hits.matching += if self.study.is_inverted() { lines } else { 0 };
    }

    fn end_line(&mut self, line: &[u8], contains: bool) {
        self.hits.lines += 1;
        if contains == self.study.is_inverted() || self.study.lines.is_none() {
            return;
        }
        self.hits.matching += 1;
        if self.hits.first.len() < self.study.show {
            let (text, valid) = text::shown(line);
            self.hits.replaced |= !valid;
            self.hits.first.push(Match { line: self.hits.lines, text });
        }
    }

    fn count_words(&mut self, fresh: &[u8]) {
        if !self.study.measures.words {
            return;
        }
        for byte in fresh {
            let in_word = !matches!(byte, b' ' | b'\t'..=b'\r');
            self.hits.words += u64::from(in_word && !self.in_word);
            self.in_word = in_word;
        }
    }
}

impl OpenLine {
    /// Counts the matches that begin before `decided` and says where the last one ends.
    fn extend(&mut self, window: &[u8], study: &Study<'_>, decided: usize) -> usize {
        let mut from = self.from;
        while let Some(hit) = study.needle().and_then(|needle| needle.next(window, from)) {
            if hit.start >= decided {
                break;
            }
            self.occurrences += 1;
            from = hit.end;
        }
        let fresh = window.get(self.overlap..).unwrap_or_default();
        // One byte more than is shown, so that it can be seen that the line was cut.
        let room = (LINE_HEAD + 1).saturating_sub(self.head.len());
        self.head.extend_from_slice(fresh.get(..room).unwrap_or(fresh));
        from
    }
}

/// The first line without its end, and what follows.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr(b'\n', bytes).unwrap_or(bytes.len());
    let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
    (line, rest.get(1..).unwrap_or_default())
}

#[cfg(test)]
mod tests;
