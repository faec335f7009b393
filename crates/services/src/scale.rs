//! How much the tests play: what there is time for every day, or all of it.

/// Set by `cargo xtask test --full`.
pub const FULL: &str = "TESTKIT_FULL";

/// Whether tests run on every store, at every moment and with every seed. Otherwise they run where a difference is to be expected.
#[must_use]
pub fn is_full() -> bool {
    std::env::var_os(FULL).is_some_and(|value| value == "1")
}

/// How far apart the cases of a long table are that a test tries, for `step_by`: every `short`-th, or all of them.
#[must_use]
pub fn stride(short: usize) -> usize {
    if is_full() { 1 } else { short }
}
