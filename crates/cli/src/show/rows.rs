//! Text that is not to be copied, broken into rows by us: a terminal goes on at its left edge, where our own words
//! begin, and a text that knows its width could write a line of ours there.

/// Narrower than this is not worth an indentation.
const LEAST: usize = 16;

/// Columns that a text takes, rather one too many: what may be drawn wide counts as wide.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(wide).sum()
}

const fn wide(c: char) -> usize {
    if (c as u32) < 0x1100 { 1 } else { 2 }
}

/// Rows of at most `room` columns. It breaks at a blank if there is one, which goes, and within a word if not.
pub(crate) fn rows(text: &str, room: usize) -> Vec<String> {
    let room = room.max(LEAST);
    let (mut rows, mut row, mut taken) = (Vec::new(), String::new(), 0);
    for c in text.chars() {
        if taken + wide(c) > room && c == ' ' {
            rows.push(std::mem::take(&mut row));
            taken = 0;
            continue;
        }
        if taken + wide(c) > room {
            let rest = match row.rfind(' ').filter(|&at| at > 0) {
                Some(at) => {
                    let rest = row.split_off(at);
                    rest.strip_prefix(' ').unwrap_or_default().to_owned()
                }
                None => String::new(),
            };
            rows.push(std::mem::replace(&mut row, rest));
            taken = columns(&row);
        }
        row.push(c);
        taken += wide(c);
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::{columns, rows};

    #[test]
    fn rows_fit_and_nothing_is_lost() {
        assert_eq!(rows("", 20), [""]);
        assert_eq!(rows("sixteen columns: and more", 16), ["sixteen columns:", "and more"]);
        assert_eq!(rows("no-blank-anywhere-in-it", 16), ["no-blank-anywher", "e-in-it"]);
        for text in [
            "日本日本日本日本日本日本",
            "a b c d e f g h i j k l m n o p q r s t",
            "x".repeat(1_000).as_str(),
        ] {
            let rows = rows(text, 16);
            assert!(rows.iter().all(|row| columns(row) <= 16), "{rows:?}");
            let kept: String = rows.concat().split(' ').collect();
            assert_eq!(kept, text.split(' ').collect::<String>());
        }
    }
}
