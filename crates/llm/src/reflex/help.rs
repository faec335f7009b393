//! What can be said, for `regent help reflex`.

/// The grammar with examples.
pub const GRAMMAR: &str = include_str!("grammar.txt");
