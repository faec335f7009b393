//! Tones as escape codes of a terminal: the sixteen colours, no background.

use present::Tone;

pub(crate) fn paint(text: &str, tone: Tone) -> String {
    let code = match tone {
        Tone::Good => "32",
        Tone::Bad => "1;31",
        Tone::Attention => "1;33",
        Tone::Waiting => "33",
        Tone::Command => "36",
        Tone::Faint => "2",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::{Tone, paint};

    #[test]
    fn a_tone_ends_with_the_text() {
        assert_eq!(paint("a-m3xd", Tone::Command), "\u{1b}[36ma-m3xd\u{1b}[0m");
    }
}
