//! What somebody may have meant by a misspelt word.

/// How many letters may be wrong, added, missing or in the place of their neighbour.
const FAR: usize = 2;
/// Longer words are not compared: nothing of ours is.
const LONG: usize = 40;

/// "did you mean …?" if one of the words is near, else all of them.
pub(crate) fn suggest(given: &str, words: &[&str]) -> String {
    match nearest(given, words) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("there {} {}", if words.len() == 1 { "is" } else { "are" }, listed(words)),
    }
}

fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn nearest<'a>(given: &str, words: &[&'a str]) -> Option<&'a str> {
    if given.len() > LONG {
        return None;
    }
    let given = given.to_lowercase().replace('-', "_");
    let near = words.iter().map(|word| (distance(&given, &word.replace('-', "_")), *word));
    // A word of which every letter is wrong is not near, however short it is.
    let near =
        near.filter(|(far, word)| *far <= FAR && *far < word.chars().count().min(given.chars().count()));
    near.min_by_key(|(far, _)| *far).map(|(_, word)| word)
}

/// Edits between two words, swapped neighbours being one.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    let mut last = None;
    for (line, letter) in (1..).zip(from.chars()) {
        let mut next = vec![line];
        for (column, other) in (0..).zip(&to) {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX / 2);
            let changed = at(&row, column) + usize::from(letter != *other);
            let mut least = changed.min(at(&row, column + 1) + 1).min(at(&next, column) + 1);
            let before = column.checked_sub(1).and_then(|before| to.get(before));
            if last == Some(*other) && before == Some(&letter) {
                least = least.min(at(&above, column - 1) + 1);
            }
            next.push(least);
        }
        above = std::mem::replace(&mut row, next);
        last = Some(letter);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, suggest};

    #[test]
    fn edits_are_counted() {
        let table = [
            ("", "", 0),
            ("deny", "deny", 0),
            ("dney", "deny", 1),
            ("den", "deny", 1),
            ("denyy", "deny", 1),
            ("efect", "effect", 1),
            ("kitten", "sitting", 3),
            ("", "ask", 3),
            ("ask", "", 3),
            ("ca", "abc", 3),
        ];
        for (from, to, expected) in table {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        let words = ["allow", "deny", "ask"];
        assert_eq!(suggest("alow", &words), "did you mean `allow`?");
        assert_eq!(suggest("Deny", &words), "did you mean `deny`?");
        assert_eq!(suggest("no", &words), "there are `allow`, `deny` and `ask`");
        assert_eq!(suggest(&"x".repeat(1000), &words), "there are `allow`, `deny` and `ask`");
        assert_eq!(suggest("twice", &["once"]), "there is `once`");
    }
}
