//! Characters that nobody sees, or that change how others are seen. One table for whoever shows text and whoever
//! takes names.

/// Whether a terminal would act on it, or it turns the writing direction or takes no room. The selectors that
/// emoji are written with are in it too: between blanks they are drawn nowhere, and some terminals give them room.
#[must_use]
pub const fn is_unseen(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' // C0, DEL, C1
        | '\u{ad}' // soft hyphen
        | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' // zero width, marks of direction
        | '\u{2028}'..='\u{202e}' // separators, embeddings and overrides
        | '\u{2060}'..='\u{206f}' // joiners, isolates
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' // tags and variation selectors
    )
}

#[cfg(test)]
mod tests {
    use super::is_unseen;

    #[test]
    fn what_is_seen_and_what_is_not() {
        for seen in "aä日🦀 -\u{a0}\u{2800}".chars() {
            assert!(!is_unseen(seen), "{}", seen.escape_unicode());
        }
        for unseen in
            "\n\t\x1b\u{9b}\u{ad}\u{17b4}\u{180f}\u{200b}\u{202e}\u{fe00}\u{fe0f}\u{1d173}\u{e0100}".chars()
        {
            assert!(is_unseen(unseen), "{}", unseen.escape_unicode());
        }
    }
}
