//! The name that was meant, if it was misspelt.

/// The known name that a person may have meant; `None` if nothing is near.
pub(crate) fn find_nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = known.map(|candidate| (measure_distance(name, candidate), candidate)).min();
    nearest.filter(|(far, _)| *far <= name.len() / 2).map(|(_, candidate)| candidate)
}

/// How many letters have to change (Levenshtein).
fn measure_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (cb, pair) in b.iter().zip(row.windows(2)) {
            let (diagonal, above) = (pair.first().copied().unwrap_or(0), pair.last().copied().unwrap_or(0));
            let left = next.last().copied().unwrap_or(0);
            next.push((diagonal + usize::from(ca != *cb)).min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::measure_distance;

    #[test]
    fn the_distance_of_two_words() {
        assert_eq!(
            [measure_distance("", "abc"), measure_distance("kitten", "sitting"), measure_distance("a", "a")],
            [3, 3, 0]
        );
    }
}
