//! Small phrases: counted nouns, spans of time, the beginning of a text.

use std::time::Duration;

use crate::escape::escape;

/// The first `most` characters of a text on one line, escaped; a cut is shown.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    let line = escape(&text.replace(['\n', '\r', '\t'], " "));
    if line.chars().count() <= most {
        return line;
    }
    let kept: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// `1 entry`, `2 entries`.
#[must_use]
pub fn pluralize<N: std::fmt::Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let word = if count == N::from(1) { one } else { many };
    format!("{count} {word}")
}

/// A span of time as a person says it.
#[must_use]
pub fn format_span(time: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match time.as_secs() {
        seconds @ 0..MINUTE => format!("{seconds} s"),
        seconds @ MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        seconds @ HOUR..DAY => format!("{} h", seconds / HOUR),
        seconds => pluralize(seconds / DAY, "day", "days"),
    }
}
