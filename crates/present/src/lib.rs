//! What is shown, without the place where it is shown: pages of text, approval requests with their warnings, and the one fold
//! from the steps of a task to its progress. Operations render their results with it; the terminal displays them today, and the
//! server and the channels display the same words and the same warnings.
//!
//! This crate does not write to a stream, does not know escape codes, terminal modes or HTML, and calls no operation. A surface
//! passes a [`Style`] (colours, symbols, width, zone, time) and writes what it gets back.
//!
//! INVARIANT (escaped): a text from outside is in a returned line only after [`inline`], [`escape`] or [`shorten`].
//! INVARIANT (one-fold): [`progress::TaskProgress::apply`] is the only code that reads a step. The display, the plain log and the
//! JSON events follow from it.
//!
//! Start reading at [`Style`] and [`Page`], then [`approval`] and [`progress`].

pub mod approval;
mod escape;
mod page;
mod problem;
pub mod progress;
mod row;
mod style;
mod text;
mod wrap;

pub use escape::{escape, escape_json, inline};
pub use page::{Page, PageLine};
pub use problem::render_problem;
pub use row::{TextRow, cut, fit, measure_width};
pub use style::{Folding, Paint, Style, Theme, Tone, leave_plain};
pub use text::{format_span, pluralize, shorten};
pub use wrap::measure_columns;
