//! Globs, compiled so that no pattern can harm the program.

use domain::call::Failure;
use globset::{Glob, GlobBuilder, GlobSet};

/// A longer one is no pattern that somebody means, and deep nesting would cost stack.
const PATTERN_BYTES: usize = 1024;
/// Patterns that one argument may have.
const PATTERNS: usize = 100;

/// `*` and `?` stop at `/`, `**` does not. Upper and lower case differ.
pub(crate) fn compile(pattern: &str) -> Result<GlobSet, Failure> {
    compile_all(&[pattern])
}

/// Any of them will do.
pub(crate) fn compile_all(patterns: &[&str]) -> Result<GlobSet, Failure> {
    if patterns.len() > PATTERNS {
        let many = patterns.len();
        return Err(Failure::logical(format!("there are {many} patterns; {PATTERNS} are allowed")));
    }
    let globs = patterns.iter().map(|pattern| glob(pattern)).collect::<Result<Vec<_>, _>>()?;
    // A set, even if there is only one: a single glob panics where a set returns an error.
    GlobSet::new(globs).map_err(|error| wrong(patterns.first().unwrap_or(&""), &error))
}

fn glob(pattern: &str) -> Result<Glob, Failure> {
    if pattern.is_empty() {
        return Err(Failure::logical("the pattern is empty; write it like `*.rs`"));
    }
    if pattern.len() > PATTERN_BYTES {
        let long = pattern.len();
        return Err(Failure::logical(format!("the pattern has {long} bytes; {PATTERN_BYTES} are allowed")));
    }
    if pattern.chars().any(char::is_control) {
        return Err(Failure::logical(format!("`{}` contains a control character", pattern.escape_debug())));
    }
    GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| wrong(pattern, &error))
}

fn wrong(pattern: &str, error: &globset::Error) -> Failure {
    let shown = error.glob().unwrap_or(pattern).escape_debug();
    Failure::logical(format!("`{shown}` is no glob: {}", error.kind()))
}
