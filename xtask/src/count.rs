//! How many tests ran, read off what the runners print.

/// The number of tests in the output of cargo-nextest or of `cargo test`; `None` if neither said a number.
pub(crate) fn tests(output: &str) -> Option<u64> {
    let plain = without_colour(output);
    let counts = plain.lines().filter_map(|line| nextest(line).or_else(|| libtest(line)));
    counts.fold(None, |sum, count| Some(sum.unwrap_or(0) + count))
}

/// Each test with its seconds, from the output of cargo-nextest.
pub(crate) fn timed(output: &str) -> Vec<(String, f64)> {
    without_colour(output).lines().filter_map(timed_line).collect()
}

/// `        PASS [   1.849s] (  85/1809) cli::integration prompt::a_paste_decides_nothing`
fn timed_line(line: &str) -> Option<(String, f64)> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("PASS [").or_else(|| rest.strip_prefix("FAIL ["))?;
    let (seconds, rest) = rest.split_once("s] ")?;
    let name = rest
        .trim_start()
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(") "))
        .map_or(rest, |(_, name)| name);
    Some((name.trim().to_owned(), seconds.trim().parse().ok()?))
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
    use super::{tests, timed};

    #[test]
    fn the_time_of_each_test_is_read() {
        let output = "        PASS [   1.849s] (  85/1809) cli::integration a::b\n     Summary [   2s] 2 tests run\n        \
                      PASS [   0.010s] broker c::d\n        SLOW [> 30.000s] cli e\n";
        assert_eq!(
            timed(output),
            [("cli::integration a::b".to_owned(), 1.849), ("broker c::d".to_owned(), 0.010)]
        );
    }

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
