//! Bytes of a file as text that can be shown.

use crate::found::Match;

/// Enough of a line to show [`Match::CHARS`] of it, even if it is indented deeply.
pub(crate) const LINE_HEAD: usize = 4 * 1024;

/// Without the beginning of a character whose end is missing. Bytes that are no UTF-8 stay.
pub(crate) fn whole_chars(bytes: &[u8]) -> &[u8] {
    // A character has at most four bytes, so its beginning is among the last three if it is cut.
    for back in 1..=bytes.len().min(3) {
        let Some((whole, tail)) = bytes.split_at_checked(bytes.len() - back) else { break };
        let needs = match tail.first() {
            Some(0b1000_0000..=0b1011_1111) => continue, // in the middle of a character
            Some(0b1100_0000..=0b1101_1111) => 2,
            Some(0b1110_0000..=0b1110_1111) => 3,
            Some(0b1111_0000..=0b1111_0111) => 4,
            _ => 1,
        };
        return if needs > back { whole } else { bytes };
    }
    bytes
}

/// A line as it is shown, and whether it was UTF-8.
pub(crate) fn shown(line: &[u8]) -> (String, bool) {
    let head = line.get(..LINE_HEAD).map_or(line, whole_chars);
    let valid = std::str::from_utf8(head).is_ok();
    (String::from_utf8_lossy(head).trim().chars().take(Match::CHARS).collect(), valid)
}

#[cfg(test)]
mod tests {
    use super::{LINE_HEAD, shown, whole_chars};

    #[test]
    fn a_character_that_is_cut_is_left_out() {
        let table: [(&[u8], &[u8]); 10] = [
            (b"", b""),
            (b"abc", b"abc"),
            ("aä".as_bytes(), "aä".as_bytes()),
            (b"a\xc3", b"a"),
            (b"a\xe2\x82", b"a"),
            (b"a\xf0\x9f\x98", b"a"),
            ("a😀".as_bytes(), "a😀".as_bytes()),
            (b"\xc3", b""),
            (b"a\xff", b"a\xff"), // never the beginning of anything
            (b"\x80\x80\x80\x80", b"\x80\x80\x80\x80"),
        ];
        for (bytes, expected) in table {
            assert_eq!(whole_chars(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_line_is_trimmed_and_cut() {
        let long = "ä".repeat(LINE_HEAD);
        let table: [(&[u8], String, bool); 5] = [
            (b"  let x = 1;\r", "let x = 1;".into(), true),
            (b"", String::new(), true),
            (long.as_bytes(), "ä".repeat(200), true),
            (&long.as_bytes()[1..], format!("\u{fffd}{}", "ä".repeat(199)), false),
            (b"caf\xe9", "caf\u{fffd}".into(), false),
        ];
        for (line, text, valid) in table {
            assert_eq!(shown(line), (text, valid));
        }
    }
}
