//! What is shown of a long text: its beginning and its end, because a result often says at its end how it went.

/// What is shown of one result.
pub(in crate::worded) const SHOWN_CHARS: usize = 4000;

/// The text itself, or half of `most` characters from either end with a mark between them.
pub(in crate::worded) fn head_tail(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let tail = most / 2;
    let head = most - tail;
    let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let (head_ends, tail_begins) = (at(head), at(count - tail));
    let (head, tail) =
        (text.get(..head_ends).unwrap_or_default(), text.get(tail_begins..).unwrap_or_default());
    format!("{head}\n[… {} characters left out …]\n{tail}", count - most)
}

#[cfg(test)]
mod tests {
    use super::head_tail;
    use proptest::prelude::{any, proptest};

    #[test]
    fn both_ends_are_shown_and_what_is_left_out_is_counted() {
        let table = [
            ("", 4, ""),
            ("abcd", 4, "abcd"),
            ("abcde", 4, "ab\n[… 1 characters left out …]\nde"),
            ("abcdefgh", 3, "ab\n[… 5 characters left out …]\nh"),
            ("äöü日本語🦀é", 4, "äö\n[… 4 characters left out …]\n🦀é"),
            ("abc", 1, "a\n[… 2 characters left out …]\n"),
            ("abc", 0, "\n[… 3 characters left out …]\n"),
        ];
        for (text, most, expected) in table {
            assert_eq!(head_tail(text, most), expected);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_that_is_not_counted(text in any::<String>(), most in 0_usize..40) {
            let count = text.chars().count();
            let shown = head_tail(&text, most);
            if count <= most {
                assert_eq!(shown, text);
            } else {
                let mark = format!("\n[… {} characters left out …]\n", count - most);
                assert_eq!(shown.chars().count(), most + mark.chars().count());
                assert!(text.chars().zip(shown.chars()).take(most.div_ceil(2)).all(|(a, b)| a == b));
                assert!(text.chars().rev().zip(shown.chars().rev()).take(most / 2).all(|(a, b)| a == b));
            }
        }
    }
}
