//! Lines of a file that contain a text, found without holding the file in memory.
//!
//! The file goes through one buffer. Whole lines are searched at once, because `memmem` is fastest on
//! long stretches; a line that is longer than the buffer is followed from piece to piece, with as many
//! bytes kept from the last piece as a match across the border needs. Start reading at [`scan`].

use std::io::{self, Read};

use domain::call::Failure;
use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};

use crate::found::Match;
use crate::text::{self, LINE_HEAD};

/// How much of a file is in memory at a time.
pub(crate) const CHUNK: usize = 128 * 1024;
/// Where a NUL byte says that a file is no text.
const BINARY_HEAD: usize = 8 * 1024;
const _: () = assert!(CHUNK >= BINARY_HEAD, "the first piece decides whether a file is text");

/// The text that is looked for.
#[derive(Debug)]
pub(crate) struct Needle<'a> {
    finder: Finder<'a>,
}

impl<'a> Needle<'a> {
    /// `argument` is what the caller calls it.
    pub(crate) fn new(text: &'a str, argument: &str) -> Result<Self, Failure> {
        if text.is_empty() {
            return Err(Failure::logical(format!("`{argument}` is empty; there is nothing to look for")));
        }
        if text.contains(['\n', '\r']) {
            return Err(Failure::logical(format!("`{argument}` spans lines; it is looked for line by line")));
        }
        Ok(Self { finder: Finder::new(text) })
    }

    fn find(&self, bytes: &[u8]) -> Option<usize> {
        self.finder.find(bytes)
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.find(bytes).is_some()
    }

    fn len(&self) -> usize {
        self.finder.needle().len()
    }

    /// A buffer in which this text can be looked for, not shorter than `chunk`.
    pub(crate) fn buffer(&self, chunk: usize) -> Vec<u8> {
        vec![0; chunk.max(self.len())]
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hits {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) matching: u64,
    pub(crate) first: Vec<Match>,
    /// Whether the shown lines are exactly what is in the file.
    pub(crate) valid_utf8: bool,
}

impl Hits {
    pub(crate) const NONE: Self =
        Self { bytes: 0, lines: 0, matching: 0, first: Vec::new(), valid_utf8: true };
}

/// Reads to the end. `keep` matching lines are shown, all are counted. The buffer comes from
/// [`Needle::buffer`] and can be used again.
pub(crate) fn scan(
    mut reader: impl Read,
    needle: &Needle<'_>,
    keep: usize,
    buffer: &mut [u8],
) -> io::Result<Hits> {
    let held = fill(&mut reader, buffer)?;
    scan_on(reader, needle, keep, buffer, held)
}

/// As [`scan`], but a file that is no text is left alone, and nothing comes back.
pub(crate) fn scan_text(
    mut reader: impl Read,
    needle: &Needle<'_>,
    keep: usize,
    buffer: &mut [u8],
) -> io::Result<Option<Hits>> {
    let held = fill(&mut reader, buffer)?;
    if is_binary(buffer.get(..held).unwrap_or_default()) {
        return Ok(None);
    }
    scan_on(reader, needle, keep, buffer, held).map(Some)
}

/// The first `held` bytes of the file are in the buffer; they are all of it if they do not fill it.
fn scan_on(
    mut reader: impl Read,
    needle: &Needle<'_>,
    keep: usize,
    buffer: &mut [u8],
    mut held: usize,
) -> io::Result<Hits> {
    let mut scan = Scan::new(needle, keep);
    scan.hits.bytes = held as u64;
    while held == buffer.len() {
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
struct Scan<'n> {
    needle: &'n Needle<'n>,
    keep: usize,
    hits: Hits,
    /// The line that began in an earlier piece and is not over, if it did not fit the buffer.
    open: Option<OpenLine>,
}

#[derive(Debug)]
struct OpenLine {
    head: Vec<u8>,
    matches: bool,
    /// How many bytes of the next piece are already known from the last one.
    overlap: usize,
}

impl<'n> Scan<'n> {
    fn new(needle: &'n Needle<'n>, keep: usize) -> Self {
        Self { needle, keep, hits: Hits::NONE, open: None }
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

    /// A piece in the middle of a long line.
    fn follow(&mut self, window: &[u8]) -> usize {
        let open = self.open.get_or_insert_with(|| OpenLine { head: Vec::new(), matches: false, overlap: 0 });
        open.extend(window, self.needle);
        open.overlap = (self.needle.len() - 1).min(window.len());
        open.overlap
    }

    fn close(&mut self, window: &[u8]) {
        if let Some(mut open) = self.open.take() {
            open.extend(window, self.needle);
            self.hits.lines += 1;
            if open.matches {
                self.record(&open.head);
            }
        }
    }

    /// Lines that end in here; only the last one of the file may lack its line end.
    fn whole_lines(&mut self, block: &[u8]) {
        let mut rest = block;
        if self.open.is_some() {
            let (line, after) = split_line(rest);
            self.close(line);
            rest = after;
        }
        while let Some(hit) = self.needle.find(rest) {
            let (before, _) = rest.split_at_checked(hit).unwrap_or((rest, &[]));
            let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
            let (skipped, from_line) = rest.split_at_checked(start).unwrap_or((rest, &[]));
            let (line, after) = split_line(from_line);
            self.hits.lines += line_ends(skipped) + 1;
            self.record(line);
            rest = after;
        }
        self.hits.lines += line_ends(rest) + u64::from(rest.last().is_some_and(|&byte| byte != b'\n'));
    }

    /// The current line matches.
    fn record(&mut self, line: &[u8]) {
        self.hits.matching += 1;
        if self.hits.first.len() < self.keep {
            let (text, valid) = text::shown(line);
            self.hits.valid_utf8 &= valid;
            self.hits.first.push(Match { line: self.hits.lines, text });
        }
    }
}

impl OpenLine {
    fn extend(&mut self, window: &[u8], needle: &Needle<'_>) {
        self.matches |= needle.is_in(window);
        let fresh = window.get(self.overlap..).unwrap_or_default();
        // One byte more than is shown, so that it can be seen that the line was cut.
        let room = (LINE_HEAD + 1).saturating_sub(self.head.len());
        self.head.extend_from_slice(fresh.get(..room).unwrap_or(fresh));
    }
}

/// The first line without its end, and what follows.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr(b'\n', bytes).unwrap_or(bytes.len());
    let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
    (line, rest.get(1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Hits, Needle, scan, scan_text};
    use crate::found::Match;
    use crate::text;
    use domain::call::Failure;

    const KEEP: usize = 3;

    fn search(content: &[u8], text: &str, chunk: usize) -> Hits {
        let needle = Needle::new(text, "contains").unwrap();
        scan(content, &needle, KEEP, &mut needle.buffer(chunk)).unwrap()
    }

    /// The same, line by line and all at once.
    fn plainly(content: &[u8], text: &str) -> Hits {
        let mut lines: Vec<&[u8]> = content.split(|&byte| byte == b'\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        let is_in = |line: &[u8]| line.windows(text.len()).any(|part| part == text.as_bytes());
        let matching: Vec<_> = (1..).zip(&lines).filter(|(_, line)| is_in(line)).collect();
        let first = matching.iter().take(KEEP);
        let first: Vec<_> = first.map(|&(line, bytes)| (line, text::shown(bytes))).collect();
        Hits {
            bytes: content.len() as u64,
            lines: lines.len() as u64,
            matching: matching.len() as u64,
            valid_utf8: first.iter().all(|(_, (_, valid))| *valid),
            first: first.into_iter().map(|(line, (text, _))| Match { line, text }).collect(),
        }
    }

    #[test]
    fn the_size_of_the_buffer_changes_nothing() {
        let long = format!("{}needle{}\nneedle", "x".repeat(50), "y".repeat(50));
        let wide = format!("  {}needle", "ä".repeat(5_000));
        let contents: [&[u8]; 16] = [
            b"",
            b"\n",
            b"\n\n\n",
            b"needle",
            b"needle\n",
            b"a\nneedle\nb",
            b"one needle, two needle\r\nnone\r\nneedle\r\n",
            b"need\nle need",
            b"neeneedleedle",
            b"nnnnnnnnnnnneedle\nneedl",
            b"needleneedle\n\nneedle\nneedle\nneedle",
            b"\xff\xfe needle \xff\nneedle",
            b"nul \0 needle\0\nneedle",
            b"NEEDLE\nNeedle",
            long.as_bytes(),
            wide.as_bytes(),
        ];
        for content in contents {
            for chunk in (1..40).chain([1_000, 4_096, 4_097, 100_000]) {
                let shown = String::from_utf8_lossy(content);
                for text in ["needle", "n", "ä"] {
                    assert_eq!(
                        search(content, text, chunk),
                        plainly(content, text),
                        "{chunk} {text} {shown}"
                    );
                }
            }
        }
    }

    #[test]
    fn lines_are_counted_from_one_and_shown_trimmed() {
        let hits = search(b"fn a() {\r\n    todo!()\r\n}\r\n", "todo", 1_000);
        let first = vec![Match { line: 2, text: "todo!()".into() }];
        assert_eq!(hits, Hits { bytes: 26, lines: 3, matching: 1, first, valid_utf8: true });
    }

    #[test]
    fn a_nul_byte_in_the_first_8_kb_makes_a_file_binary() {
        let needle = Needle::new("x", "contains").unwrap();
        for (nul_at, skipped) in [(0, true), (8 * 1024 - 1, true), (8 * 1024, false)] {
            let content = [vec![b'x'; nul_at], vec![0]].concat();
            let hits = scan_text(&content[..], &needle, KEEP, &mut needle.buffer(10_000)).unwrap();
            assert_eq!(hits.is_none(), skipped, "{nul_at}");
        }
    }

    #[test]
    fn a_text_that_no_line_can_contain_is_refused() {
        let table = [
            ("", "`contains` is empty; there is nothing to look for"),
            ("a\nb", "`contains` spans lines; it is looked for line by line"),
            ("a\r", "`contains` spans lines; it is looked for line by line"),
        ];
        for (text, message) in table {
            assert_eq!(Needle::new(text, "contains").unwrap_err(), Failure::logical(message));
        }
    }
}
