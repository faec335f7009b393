//! Bytes as they come from a socket, cut anywhere, become whole frames: server-sent events, or lines of JSON.
//!
//! Pure: it is fed and drained. What is not ended by its end marker is no frame unless it is whole by itself, so a stream that
//! stops in the middle of one never gives half of it.

use crate::Trouble;

/// The most one frame may have. A frame that holds a whole reply still fits.
pub const FRAME_BYTES: usize = llm::REPLY_BYTES * 4;
/// The most a stream may have, with everything that is no part of a reply: wrapping, comments, unknown events. A long
/// reply in small pieces has a few megabytes of it.
pub const STREAM_BYTES: usize = FRAME_BYTES * 16;

/// One event of a stream, or one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// What kind of event it says it is; lines say nothing.
    pub event: String,
    pub data: String,
}

/// What separates frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value per line.
    Lines,
}

#[derive(Debug)]
pub struct Frames {
    framing: Framing,
    line: Vec<u8>,
    /// The byte before was a carriage return, so a newline that follows belongs to it.
    after_return: bool,
    started: bool,
    event: String,
    data: Option<String>,
    size: usize,
    /// Of the whole stream.
    total: usize,
}

impl Frames {
    #[must_use]
    pub const fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: Vec::new(),
            after_return: false,
            started: false,
            event: String::new(),
            data: None,
            size: 0,
            total: 0,
        }
    }

    /// Every frame that these bytes bring to its end is handed to `take`, in order.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        take: &mut dyn FnMut(Frame) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        self.total = self.total.saturating_add(bytes.len());
        if self.total > STREAM_BYTES {
            return Err(Trouble::TooLong { bytes: STREAM_BYTES });
        }
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                return self.keep(bytes);
            };
            let (line, rest) = bytes.split_at(end);
            self.after_return = rest.first() == Some(&b'\r');
            bytes = rest.get(1..).unwrap_or_default();
            let frame = if self.line.is_empty() {
                self.grow(line.len())?;
                self.end_line(line)?
            } else {
                self.keep(line)?;
                let line = std::mem::take(&mut self.line);
                self.end_line(&line)?
            };
            if let Some(frame) = frame {
                take(frame)?;
            }
        }
        Ok(())
    }

    /// Whether no frame has begun.
    #[must_use]
    pub const fn is_between(&self) -> bool {
        self.line.is_empty() && self.data.is_none() && self.event.is_empty()
    }

    /// What stands there when the bytes end as they should: some servers leave out the last newline, or the empty line
    /// after the last event. It is a frame if it is whole.
    pub fn end(mut self) -> Result<Option<Frame>, Trouble> {
        let line = std::mem::take(&mut self.line);
        let found = match self.framing {
            Framing::Lines => return if is_whole(&line) { self.end_line(&line) } else { Ok(None) },
            // Half a letter is no reason to complain about what is dropped anyhow.
            Framing::Events if std::str::from_utf8(&line).is_err() => None,
            Framing::Events if line.is_empty() => self.field(""),
            Framing::Events => match self.end_line(&line)? {
                Some(frame) => Some(frame),
                None => self.field(""),
            },
        };
        Ok(found.filter(|frame| is_whole(frame.data.as_bytes())))
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        self.grow(bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    const fn grow(&mut self, bytes: usize) -> Result<(), Trouble> {
        self.size = self.size.saturating_add(bytes);
        if self.size > FRAME_BYTES { Err(Trouble::TooLong { bytes: FRAME_BYTES }) } else { Ok(()) }
    }

    fn end_line(&mut self, line: &[u8]) -> Result<Option<Frame>, Trouble> {
        let line = match std::str::from_utf8(line) {
            Ok(line) => line,
            Err(why) => return Err(Trouble::garbled(format!("it is not UTF-8 ({why})"))),
        };
        let line = if std::mem::replace(&mut self.started, true) {
            line
        } else {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        };
        Ok(match self.framing {
            Framing::Events => self.field(line),
            Framing::Lines => {
                self.size = 0;
                let data = line.trim();
                (!data.is_empty()).then(|| Frame { event: String::new(), data: data.to_owned() })
            }
        })
    }

    /// One line of an event. An empty one ends it.
    fn field(&mut self, line: &str) -> Option<Frame> {
        if line.is_empty() {
            self.size = 0;
            let event = std::mem::take(&mut self.event);
            return self.data.take().map(|data| Frame { event, data });
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.event),
            "data" => match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            // A comment alone keeps a line alive for hours; it must not add up to a frame that is too long.
            _ if self.data.is_none() && self.event.is_empty() => self.size = 0,
            _ => {}
        }
        None
    }
}

/// Nothing can be missing from it: JSON, or the one marker that is none.
fn is_whole(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{FRAME_BYTES, Frame, Frames, Framing, STREAM_BYTES};
    use crate::Trouble;

    fn read(framing: Framing, chunks: &[&[u8]]) -> Result<Vec<Frame>, Trouble> {
        let (mut frames, mut found) = (Frames::new(framing), Vec::new());
        for chunk in chunks {
            frames.feed(chunk, &mut |frame| {
                found.push(frame);
                Ok(())
            })?;
        }
        found.extend(frames.end()?);
        Ok(found)
    }

    fn frame(event: &str, data: &str) -> Frame {
        Frame { event: event.into(), data: data.into() }
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        let cases: [(&str, &str, Vec<Frame>); 15] = [
            ("one", "data: a\n\n", vec![frame("", "a")]),
            ("named", "event: ping\ndata: {}\n\n", vec![frame("ping", "{}")]),
            ("no space", "event:x\ndata:a\n\n", vec![frame("x", "a")]),
            ("only one space goes", "data:  a\n\n", vec![frame("", " a")]),
            ("several lines of data", "data: a\ndata: b\ndata\n\n", vec![frame("", "a\nb\n")]),
            (
                "carriage returns",
                "data: a\r\n\r\ndata: b\r\rdata: c\n\n",
                vec![frame("", "a"), frame("", "b"), frame("", "c")],
            ),
            ("comments and other fields", ": hello\nid: 1\nretry: 5\ndata: a\n:\n\n", vec![frame("", "a")]),
            ("a mark at the beginning", "\u{feff}data: a\n\n", vec![frame("", "a")]),
            ("an event without data is none", "event: x\n\ndata: a\n\n", vec![frame("", "a")]),
            ("without its end it is none", "data: a\n\ndata: b\n", vec![frame("", "a")]),
            ("whole without its end", "data: a\n\ndata: {}\n", vec![frame("", "a"), frame("", "{}")]),
            ("and without its newline", "event: x\ndata: {}", vec![frame("x", "{}")]),
            ("the marker", "data: a\n\ndata: [DONE]", vec![frame("", "a"), frame("", "[DONE]")]),
            ("half a name", "data: {}\n\nevent: mess", vec![frame("", "{}")]),
            ("letters", "data: grüß dich, 世界 🌍\n\n", vec![frame("", "grüß dich, 世界 🌍")]),
        ];
        for (name, stream, expected) in cases {
            assert_eq!(read(Framing::Events, &[stream.as_bytes()]), Ok(expected), "{name}");
        }
    }

    #[test]
    fn lines_are_read_one_by_one_and_the_last_needs_no_newline_if_it_is_whole() {
        let cases: [(&str, &str, &[&str]); 5] = [
            ("two", "{\"a\":1}\n{\"b\":2}\n", &["{\"a\":1}", "{\"b\":2}"]),
            ("carriage returns, empty lines", "\r\n{}\r\n\n{}\r\n", &["{}", "{}"]),
            ("no newline at the end", "{}\n{\"a\":1}", &["{}", "{\"a\":1}"]),
            ("half a line at the end", "{}\n{\"a\":", &["{}"]),
            ("nothing", "", &[]),
        ];
        for (name, stream, expected) in cases {
            let expected = expected.iter().map(|data| frame("", data)).collect();
            assert_eq!(read(Framing::Lines, &[stream.as_bytes()]), Ok(expected), "{name}");
        }
    }

    #[test]
    fn where_the_bytes_are_cut_does_not_matter() {
        let events = "\u{feff}event: a\r\ndata: grüß\r\ndata: 🌍\r\n\r\n: x\n\ndata: b\r\rdata: c\n\n";
        let lines = "\u{feff}{\"a\":\"ü🌍\"}\r\n{\"b\":2}\n\n{\"c\":3}";
        for (framing, stream) in [(Framing::Events, events), (Framing::Lines, lines)] {
            let bytes = stream.as_bytes();
            let whole = read(framing, &[bytes]);
            let each: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(read(framing, &each), whole);
            for cut in 0..=bytes.len() {
                let (one, two) = bytes.split_at(cut);
                assert_eq!(read(framing, &[one, two]), whole, "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_frame_has_a_size_and_comments_do_not_add_up_to_it() {
        let long = vec![b'x'; FRAME_BYTES + 1];
        for framing in [Framing::Events, Framing::Lines] {
            assert_eq!(read(framing, &[b"data: ", &long]), Err(Trouble::TooLong { bytes: FRAME_BYTES }));
        }
        let comment = [b": ".as_slice(), &vec![b'x'; FRAME_BYTES / 4], b"\n"].concat();
        let mut chunks: Vec<&[u8]> = vec![&comment; 8];
        chunks.push(b"data: a\n\n");
        assert_eq!(read(Framing::Events, &chunks), Ok(vec![frame("", "a")]));
    }

    /// Comments keep a connection alive; they do not keep it alive for ever.
    #[test]
    fn everything_in_a_stream_counts_against_its_size() {
        let comment = [b": ".as_slice(), &vec![b'x'; FRAME_BYTES / 4], b"\n\n"].concat();
        let event = [b"event: ping\ndata: ".as_slice(), &vec![b'x'; FRAME_BYTES / 4], b"\n\n"].concat();
        for part in [comment, event] {
            let most = STREAM_BYTES / part.len();
            let mut frames = Frames::new(Framing::Events);
            let fed =
                (0..most * 2).find_map(|fed| frames.feed(&part, &mut |_| Ok(())).err().map(|why| (fed, why)));
            assert_eq!(fed, Some((most, Trouble::TooLong { bytes: STREAM_BYTES })));
        }
    }

    #[test]
    fn what_is_not_utf8_is_said() {
        let found = read(Framing::Events, &[b"data: \xff\n\n"]);
        assert!(matches!(found, Err(Trouble::Garbled { .. })), "{found:?}");
    }
}
