//! The display under steps, times and sizes.

mod frames;
mod pictures;
mod recording;
mod timing;

use crate::show::Theme;

const DRAWN: Theme = Theme { color: false, symbols: true, words: false };
const ASCII: Theme = Theme { color: false, symbols: false, words: false };
const COLORED: Theme = Theme { color: true, symbols: true, words: false };

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
