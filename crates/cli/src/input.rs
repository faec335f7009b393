//! Lines of standard input, however long they are.

use std::io::{self, BufRead};

use app::operation::InputLine;

/// One line, without ever holding more than `most` bytes of it. What is longer, or is no UTF-8, is read to its end
/// and answered with the reason.
pub(crate) fn read_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<InputLine>> {
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
