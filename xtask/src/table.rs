//! Tables for the terminal and for Markdown.

/// The rows, the first of them the header, as a Markdown table with aligned columns; the last one, where the sentences are, is not padded.
pub(crate) fn markdown(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
    let width = |column| rows.iter().map(|row| cell(row, column).chars().count()).max().unwrap_or(0).max(3);
    let widths: Vec<usize> =
        (0..columns).map(|column| if column + 1 == columns { 3 } else { width(column) }).collect();
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells = widths.iter().enumerate().map(|(column, width)| {
                let text = cell(row, column);
                // Numbers stand to the right, words to the left.
                let number = text.starts_with(|c: char| c.is_ascii_digit());
                if number { format!("{text:>width$}") } else { format!("{text:<width$}") }
            });
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        })
        .collect();
    if !lines.is_empty() {
        let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join(" | ");
        lines.insert(1, format!("| {rule} |"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn columns_are_aligned_and_short_rows_filled() {
        let row = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        let table = markdown(&[
            row(&["suite", "s", "why"]),
            row(&["unit", "12"]),
            row(&["größe", "7", "a long one"]),
        ]);
        let expected = "| suite | s   | why |\n| ----- | --- | --- |\n| unit  |  12 |     |\n| größe |   7 | a long one |";
        assert_eq!(table, expected);
        assert_eq!(markdown(&[]), "");
    }
}
