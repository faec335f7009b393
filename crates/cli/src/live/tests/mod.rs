//! The display under steps, times and sizes.

mod frames;
mod pictures;
mod timing;

use present::{Theme, leave_plain};

use crate::show::paint_ansi;

const DRAWN: Theme = Theme { paint: leave_plain, symbols: true, words: false };
const ASCII: Theme = Theme { paint: leave_plain, symbols: false, words: false };
const COLORED: Theme = Theme { paint: paint_ansi, symbols: true, words: false };

/// Text without what tints it.
fn bare(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    out + rest
}
