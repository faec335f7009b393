//! Lines of standard input, however long they are.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

use app::operation::InputLine;
use domain::limits::LINE_BYTES;
use tokio::sync::{Mutex, mpsc};

/// What is read at a time.
const CHUNK: usize = 64 * 1024;
/// Chunks that are read before anybody asks for them.
const AHEAD: usize = 1;

/// Lines that a thread of its own reads, a chunk at a time: Ctrl-C must work while there is no input.
#[derive(Debug, Default)]
pub(crate) struct LineFeed(Mutex<Option<Feed>>);

#[derive(Debug)]
struct Feed {
    chunks: mpsc::Receiver<io::Result<Vec<InputLine>>>,
    lines: VecDeque<InputLine>,
}

impl LineFeed {
    /// The next line of standard input; `None` at its end. It may be dropped and called again.
    pub(crate) async fn next(&self) -> io::Result<Option<InputLine>> {
        let mut feed = self.0.lock().await;
        let Feed { chunks, lines } = feed.get_or_insert_with(|| {
            let (sender, chunks) = mpsc::channel(AHEAD);
            host::start_blocking(move || feed_lines(io::stdin().lock(), &sender));
            Feed { chunks, lines: VecDeque::new() }
        });
        while lines.is_empty() {
            match chunks.recv().await {
                Some(chunk) => lines.extend(chunk?),
                None => break,
            }
        }
        Ok(lines.pop_front())
    }
}

/// Reads to the end, or until the receiver is dropped.
fn feed_lines(input: impl Read, chunks: &mpsc::Sender<io::Result<Vec<InputLine>>>) {
    let mut input = BufReader::with_capacity(CHUNK, input);
    loop {
        let chunk = read_lines(&mut input, LINE_BYTES).transpose();
        let Some(chunk) = chunk else { return };
        let is_last = chunk.is_err();
        if chunks.blocking_send(chunk).is_err() || is_last {
            return;
        }
    }
}

/// The next line, and those behind it that are here already; `None` at the end.
fn read_lines<R: Read>(input: &mut BufReader<R>, most: usize) -> io::Result<Option<Vec<InputLine>>> {
    let Some(first) = read_line(input, most)? else { return Ok(None) };
    let mut lines = vec![first];
    while input.buffer().contains(&b'\n') {
        lines.extend(read_line(input, most)?);
    }
    Ok(Some(lines))
}

/// One line, without ever holding more than `most` bytes of it. What is longer, or is no UTF-8, is read to its end
/// and answered with the reason.
fn read_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    let mut seen_anything = false;
    let mut too_long = false;
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            if seen_anything {
                break;
            }
            return Ok(None);
        }
        seen_anything = true;
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let text = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        too_long |= line.len() + text.len() > most;
        if !too_long {
            line.extend_from_slice(text);
        }
        let consumed = text.len() + usize::from(end.is_some());
        input.consume(consumed);
        if end.is_some() {
            break;
        }
    }
    if too_long {
        return Ok(Some(Err(format!("the line is longer than {most} bytes"))));
    }
    let not_text = |error: std::string::FromUtf8Error| {
        format!("the line is not UTF-8 (byte {})", error.utf8_error().valid_up_to())
    };
    Ok(Some(String::from_utf8(line).map_err(not_text)))
}

#[cfg(test)]
mod tests {
    use super::read_line;
    use std::io::BufReader;

    /// Reads everything with a buffer smaller than the lines.
    fn lines(input: &[u8], most: usize) -> Vec<Result<String, String>> {
        let mut reader = BufReader::with_capacity(4, input);
        std::iter::from_fn(|| read_line(&mut reader, most).expect("read")).collect()
    }

    #[test]
    fn lines_are_read_whole_and_the_last_needs_no_end() {
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(lines(b"one\n\nthree", 10), [ok("one"), ok(""), ok("three")]);
        assert_eq!(lines(b"", 10), []);
        assert_eq!(lines(b"\n", 10), [ok("")]);
        assert_eq!(lines(b"exactly10!\nx", 10), [ok("exactly10!"), ok("x")]);
    }

    #[test]
    fn what_is_too_long_or_no_text_is_said_so_and_the_next_line_is_read() {
        let read = lines(b"elevenbytes\nok\nelevenbytes", 10);
        assert_eq!(read.len(), 3);
        assert_eq!(read[0], Err("the line is longer than 10 bytes".into()));
        assert_eq!(read[1], Ok("ok".into()));
        assert!(read[2].is_err());
        assert_eq!(lines(b"a\xffb\nok", 10), [Err("the line is not UTF-8 (byte 1)".into()), Ok("ok".into())]);
    }
}
