//! Globs, compiled so that no pattern can harm the program.

use domain::call::Failure;
use globset::{GlobBuilder, GlobSet};

/// A longer one is no pattern that somebody means, and deep nesting would cost stack.
const PATTERN_BYTES: usize = 1024;

/// `*` and `?` stop at `/`, `**` does not. Upper and lower case differ.
pub(crate) fn compile(pattern: &str) -> Result<GlobSet, Failure> {
    if pattern.is_empty() {
        return Err(Failure::logical("the pattern is empty; write it like `*.rs`"));
    }
    if pattern.len() > PATTERN_BYTES {
        let long = pattern.len();
        return Err(Failure::logical(format!("the pattern has {long} bytes; {PATTERN_BYTES} are allowed")));
    }
    let escaped = pattern.escape_debug();
    if pattern.chars().any(char::is_control) {
        return Err(Failure::logical(format!("`{escaped}` contains a control character")));
    }
    // A set, although there is only one: a single glob panics where a set returns an error.
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.and_then(|glob| GlobSet::new([glob]))
        .map_err(|error| Failure::logical(format!("`{escaped}` is no glob: {}", error.kind())))
}
