//! Tables in files: CSV with a header line, a JSON array of objects, or JSON objects one after another.
//!
//! INVARIANT (bounded): rows go by one at a time. What is kept depends on columns and groups, which are limited,
//! not on how many rows there are.
//!
//! A cell is what it is written as. A decimal comma is not guessed: `1.234,5` is a text, and whoever counts
//! numbers says how many cells were none. In JSON `"12"` is a text and `12` a number.
//!
//! Start reading at [`source::read`].

mod cell;
pub(crate) mod columns;
pub(crate) mod groups;
mod json;
mod quotes;
mod source;
pub(crate) mod stats;

#[cfg(test)]
mod tests;
