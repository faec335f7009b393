//! Whether the quotes of a CSV file are closed where they should be. The crate `csv` takes whatever comes: a quote
//! that nobody closes makes one cell of all the rows behind it.

use std::io::{self, Read};

/// Reads along, by the rules that the crate `csv` reads by: a quote counts at the beginning of a cell only.
#[derive(Debug)]
pub(crate) struct Quotes<R> {
    reader: R,
    separator: u8,
    state: State,
    line: u64,
    /// Where the last quoted cell began.
    opened: u64,
    /// Where the first one began that went over several lines and ended in the middle of a cell.
    torn: Option<u64>,
    ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the beginning of a cell.
    Start,
    Plain,
    Quoted,
    /// Behind a quote in a quoted cell: its end, or the first half of a quote that is meant.
    Quote,
}

impl<R> Quotes<R> {
    pub(crate) fn new(reader: R, separator: u8) -> Self {
        Self { reader, separator, state: State::Start, line: 1, opened: 1, torn: None, ended: false }
    }

    /// The line of a quote that is never closed, or closed so that it was hardly meant. Of what was read so far.
    pub(crate) fn unclosed(&self) -> Option<u64> {
        self.torn.or_else(|| (self.ended && self.state == State::Quoted).then_some(self.opened))
    }

    fn pass(&mut self, byte: u8) {
        let ends = byte == self.separator || matches!(byte, b'\n' | b'\r');
        self.state = match (self.state, byte) {
            (State::Start, b'"') => {
                self.opened = self.line;
                State::Quoted
            }
            (State::Quoted, b'"') => State::Quote,
            (State::Quoted, _) | (State::Quote, b'"') => State::Quoted,
            (State::Start | State::Plain | State::Quote, _) if ends => State::Start,
            (State::Quote, _) => {
                if self.opened < self.line && !byte.is_ascii_whitespace() {
                    self.torn = self.torn.or(Some(self.opened));
                }
                State::Plain
            }
            (State::Start | State::Plain, _) => State::Plain,
        };
        self.line += u64::from(byte == b'\n');
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.ended |= count == 0;
        for &byte in buffer.iter().take(count) {
            self.pass(byte);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::Quotes;
    use std::io::Read;

    fn unclosed(text: &[u8]) -> Option<u64> {
        let mut quotes = Quotes::new(text, b',');
        quotes.read_to_end(&mut Vec::new()).unwrap();
        quotes.unclosed()
    }

    #[test]
    fn the_line_where_it_was_opened() {
        let table = [
            ("a,\"b\"\n", None),
            ("a,\"b \"\"c\"\" d\"\n", None),
            ("\"\"\"\"", None),
            ("a,5\" pipe\n1,2\n", None), // not at the beginning of a cell, so it is a character as any other
            ("a,\"b\nc\"\n1,2\n", None),
            ("a,\"b\nc\" ,d\n", None),
            ("a,\"b\"c\n", None),
            ("a,b\n1,\"2\n3,4\n", Some(2)),
            ("a,\"b\"\"", Some(1)),
            ("\"", Some(1)),
            ("a,b\n1,\"x\n2,y\n3,\"z\n", Some(2)),
        ];
        for (text, expected) in table {
            assert_eq!(unclosed(text.as_bytes()), expected, "{text:?}");
        }
    }

    /// If a quote is open, the crate takes a line that is put behind the text for a part of its last cell.
    #[test]
    fn every_short_text_is_read_as_the_crate_reads_it() {
        const LENGTH: u32 = 5;
        let alphabet = *b"a\",\n\r";
        for number in 0..alphabet.len().pow(LENGTH) {
            let digit = |place| alphabet[number / alphabet.len().pow(place) % alphabet.len()];
            let text: Vec<u8> = (0..LENGTH).map(digit).collect();
            let longer = [&text[..], b"\nq\n"].concat();
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&longer[..]);
            let last = reader.byte_records().last().unwrap().unwrap();
            let mut quotes = Quotes::new(&text[..], b',');
            quotes.read_to_end(&mut Vec::new()).unwrap();
            quotes.torn = None;
            let shown = String::from_utf8_lossy(&text);
            assert_eq!(quotes.unclosed().is_none(), last == vec![b"q"], "{shown:?}");
        }
    }
}
