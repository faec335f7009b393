//! Bytes of a file as text that can be shown.

use crate::found::Match;

/// Enough of a line to show [`Match::CHARS`] of it, and to see whether blanks at its end are really there.
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
    (String::from_utf8_lossy(head).trim_end().chars().take(Match::CHARS).collect(), valid)
}

/// Nothing, if the bytes do not begin with a character.
pub(crate) fn first_char(bytes: &[u8]) -> Option<char> {
    let start = bytes.get(..bytes.len().min(4))?;
    let valid = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(start.get(..error.valid_up_to())?).ok()?,
    };
    valid.chars().next()
}

/// Nothing, if the bytes do not end with a character.
pub(crate) fn last_char(bytes: &[u8]) -> Option<char> {
    let tail = |back: usize| bytes.get(bytes.len().checked_sub(back)?..);
    (1..=4).find_map(|back| std::str::from_utf8(tail(back)?).ok())?.chars().next_back()
}

#[cfg(test)]
mod tests {
    use super::{LINE_HEAD, first_char, last_char, shown, whole_chars};

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
    fn a_line_is_shown_without_its_end_and_cut() {
        let long = "ä".repeat(LINE_HEAD);
        let table: [(&[u8], String, bool); 5] = [
            (b"  let x = 1; \t\r", "  let x = 1;".into(), true),
            (b"", String::new(), true),
            (long.as_bytes(), "ä".repeat(200), true),
            (&long.as_bytes()[1..], format!("\u{fffd}{}", "ä".repeat(199)), false),
            (b"caf\xe9", "caf\u{fffd}".into(), false),
        ];
        for (line, text, valid) in table {
            assert_eq!(shown(line), (text, valid));
        }
    }

    #[test]
    fn the_characters_at_both_ends() {
        let table: [(&[u8], Option<char>, Option<char>); 6] = [
            (b"", None, None),
            (b"ab", Some('a'), Some('b')),
            ("é😀".as_bytes(), Some('é'), Some('😀')),
            (b"\xffa\xff", None, None),
            (b"a\xc3", Some('a'), None),
            (b"\xa9b", None, Some('b')),
        ];
        for (bytes, first, last) in table {
            assert_eq!((first_char(bytes), last_char(bytes)), (first, last), "{bytes:?}");
        }
    }
}
