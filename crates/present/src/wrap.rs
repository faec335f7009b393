//! Text that is not to be copied, broken into rows by us: a terminal goes on at its left edge, where our own words
//! begin, and a text that knows its width could write a line of ours there.

/// Narrower than this is not worth an indentation.
const LEAST: usize = 4;

/// Columns that a text takes, rather one too many: what may be drawn wide counts as wide.
#[must_use]
pub fn measure_columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

const fn columns_of(c: char) -> usize {
    if (c as u32) < 0x1100 { 1 } else { 2 }
}

/// Rows of at most `room` columns. It breaks at a blank if there is one, which goes, and within a word if not.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    let room = room.max(LEAST);
    let (mut rows, mut row, mut taken) = (Vec::new(), String::new(), 0);
    for c in text.chars() {
        if taken + columns_of(c) > room && c == ' ' {
            rows.push(std::mem::take(&mut row));
            taken = 0;
            continue;
        }
        if taken + columns_of(c) > room {
            let rest = match row.rfind(' ').filter(|&at| at > 0) {
                Some(at) => {
                    let rest = row.split_off(at);
                    rest.strip_prefix(' ').unwrap_or_default().to_owned()
                }
                None => String::new(),
            };
            rows.push(std::mem::replace(&mut row, rest));
            taken = measure_columns(&row);
        }
        row.push(c);
        taken += columns_of(c);
    }
    rows.push(row);
    rows
}

/// Rows of at most `room` columns that give the text back when they are put together, to the last blank. A row ends with
/// a blank only if it is one row of blanks; then the last one is written as an escape, so that it is seen.
pub(crate) fn wrap_exactly(text: &str, room: usize) -> Vec<String> {
    let room = room.max(measure_columns(BLANK));
    let (mut rows, mut row, mut taken) = (Vec::new(), String::new(), 0);
    for c in text.chars() {
        if taken + columns_of(c) > room {
            row = break_row(&mut rows, &row, room);
            taken = measure_columns(&row);
        }
        row.push(c);
        taken += columns_of(c);
    }
    while row.ends_with(' ') && taken + measure_columns(BLANK) - 1 > room {
        row = break_row(&mut rows, &row, room);
        taken = measure_columns(&row);
    }
    if !row.is_empty() || rows.is_empty() {
        rows.push(mark_end(&row));
    }
    rows
}

/// Takes as much of a row as can end one; the blanks at its end go on.
fn break_row(rows: &mut Vec<String>, row: &str, room: usize) -> String {
    let text = row.trim_end_matches(' ');
    if !text.is_empty() {
        rows.push(text.to_owned());
        return row.split_at(text.len()).1.to_owned();
    }
    let shown = row.len().min(room + 1 - measure_columns(BLANK));
    rows.push(mark_end(&" ".repeat(shown)));
    " ".repeat(row.len() - shown)
}

/// A blank that stands where nobody would see it.
const BLANK: &str = "\\u{20}";

/// A text whose last character is seen: a blank at its end is written as an escape.
pub(crate) fn mark_end(text: &str) -> String {
    text.strip_suffix(' ').map_or_else(|| text.to_owned(), |rest| format!("{rest}{BLANK}"))
}

#[cfg(test)]
mod tests {
    use super::{measure_columns, wrap, wrap_exactly};

    #[test]
    fn rows_fit_and_nothing_is_lost() {
        assert_eq!(wrap("", 20), [""]);
        assert_eq!(wrap("sixteen columns: and more", 16), ["sixteen columns:", "and more"]);
        assert_eq!(wrap("no-blank-anywhere-in-it", 16), ["no-blank-anywher", "e-in-it"]);
        for text in [
            "日本日本日本日本日本日本",
            "a b c d e f g h i j k l m n o p q r s t",
            "x".repeat(1_000).as_str(),
        ] {
            let rows = wrap(text, 16);
            assert!(rows.iter().all(|row| measure_columns(row) <= 16), "{rows:?}");
            let kept: String = rows.concat().split(' ').collect();
            assert_eq!(kept, text.split(' ').collect::<String>());
        }
    }

    #[test]
    fn pieces_are_the_text() {
        assert_eq!(wrap_exactly("", 20), [""]);
        assert_eq!(wrap_exactly("short ", 20), ["short\\u{20}"]);
        assert_eq!(wrap_exactly("sixteen columns: and more", 16), ["sixteen columns:", " and more"]);
        assert_eq!(wrap_exactly("sixteen column:  and more", 16), ["sixteen column:", "  and more"]);
        assert_eq!(wrap_exactly("sixteen columns  ", 16), ["sixteen columns", " \\u{20}"]);
        for text in ["x".repeat(1_000), " ".repeat(1_000), "x  ".repeat(300), "日 本".repeat(300)] {
            for room in [1, 6, 7, 16, 74] {
                let rows = wrap_exactly(&text, room);
                assert!(rows.iter().all(|row| measure_columns(row) <= room.max(6)), "{rows:?}");
                assert!(rows.iter().all(|row| !row.ends_with(' ')), "{rows:?}");
                assert_eq!(rows.concat().replace("\\u{20}", " "), text, "{room}");
            }
        }
    }
}
