//! How many tests ran, read off what the runners print.

/// The number of tests in the output of cargo-nextest or of `cargo test`; `None` if neither said a number.
pub(crate) fn tests(output: &str) -> Option<u64> {
    let plain = without_colour(output);
    let counts = plain.lines().filter_map(|line| nextest(line).or_else(|| libtest(line)));
    counts.fold(None, |sum, count| Some(sum.unwrap_or(0) + count))
}

/// `     Summary [   0.012s] 12 tests run: 12 passed, 0 skipped`
fn nextest(line: &str) -> Option<u64> {
    let (_, after) = line.trim_start().strip_prefix("Summary [")?.split_once("] ")?;
    let (count, _) = after.split_once(" tests run").or_else(|| after.split_once(" test run"))?;
    // `5/12 tests run` when it was cut short.
    count.split('/').next()?.trim().parse().ok()
}

/// `test result: ok. 12 passed; 1 failed; 0 ignored; …`
fn libtest(line: &str) -> Option<u64> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    counts
        .split("; ")
        .filter_map(|part| part.strip_suffix(" passed").or_else(|| part.strip_suffix(" failed")))
        .map(|count| count.trim().parse::<u64>().ok())
        .sum()
}

fn without_colour(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(
            part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').trim_start_matches('m'),
        );
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::tests;

    #[test]
    fn the_runners_closing_lines_are_read() {
        let table = [
            ("     Summary [   0.012s] 12 tests run: 12 passed, 0 skipped\n", Some(12)),
            ("     Summary [   0.012s] 1 test run: 1 passed, 0 skipped", Some(1)),
            ("     Summary [   0.012s] 5/12 tests run: 4 passed, 1 failed, 0 skipped", Some(5)),
            ("\u{1b}[32;1m     Summary\u{1b}[0m [   1s] \u{1b}[1m7\u{1b}[0m tests run: 7 passed", Some(7)),
            ("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n", Some(3)),
            (
                "test result: ok. 3 passed; 0 failed\ntest result: FAILED. 1 passed; 2 failed; 9 ignored\n",
                Some(6),
            ),
            ("test result: ok. 0 passed; 0 failed; 0 ignored\n", Some(0)),
            ("running 3 tests\n", None),
            ("", None),
        ];
        for (output, count) in table {
            assert_eq!(tests(output), count, "{output:?}");
        }
    }
}
