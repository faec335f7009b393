//! Text from outside is data: what could move the cursor, turn the writing direction or hide is made visible.

/// Keeps line feeds and tabs; everything that a terminal would act on, or that nobody could see, becomes `\u{…}`.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || c == '\t' || !is_dangerous(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

const fn is_dangerous(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' // C0, DEL, C1
        | '\u{ad}' // soft hyphen
        | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' // zero width, marks of direction
        | '\u{2028}'..='\u{202e}' // separators, embeddings and overrides
        | '\u{2060}'..='\u{206f}' // joiners, isolates
        | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' // tags and variation selectors
    )
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_a_terminal_would_act_on_is_shown_instead() {
        let table = [
            ("plain äöü 日本 🦀", "plain äöü 日本 🦀"),
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
            ("\x1b[2Jgone", "\\u{1b}[2Jgone"),
            ("a\rb", "a\\u{d}b"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("evil\u{202e}gpj.exe", "evil\\u{202e}gpj.exe"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ];
        for (text, expected) in table {
            assert_eq!(escaped(text), expected);
        }
    }
}
