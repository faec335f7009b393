//! A key to somebody's server. It is shown nowhere, and overwritten when it is no longer needed.

use std::borrow::Cow;
use std::fmt;

use zeroize::Zeroizing;

#[derive(Clone, PartialEq, Eq)]
pub struct Key(Zeroizing<String>);

impl Key {
    #[must_use]
    pub fn new(key: String) -> Self {
        Self(Zeroizing::new(key))
    }

    /// A key as it stands in a variable or a file, without what an editor leaves around it.
    ///
    /// # Errors
    /// If it is none; what it holds is not said.
    pub fn read(text: &str) -> Result<Self, String> {
        const LONGEST: usize = 4096;
        match text.trim() {
            "" => Err("it is empty".into()),
            key if key.len() > LONGEST => Err("it is too long for a key".into()),
            key if key.bytes().all(|c| c.is_ascii_graphic()) => Ok(Self::new(key.to_owned())),
            _ => Err("it holds a blank or a character that no key has; it is to hold the key alone".into()),
        }
    }

    /// A text without it. A word that stands where a key is wanted and none is, `ollama` say, is no secret and may well be
    /// meant.
    #[must_use]
    pub(crate) fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        const SHORTEST: usize = 12;
        let hidden = self.0.len() >= SHORTEST && text.contains(self.expose());
        if hidden { Cow::Owned(text.replace(self.expose(), "(key)")) } else { Cow::Borrowed(text) }
    }

    /// Only for the header that it goes into.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Whether a text is rather a key than a word that somebody would write into settings.
#[must_use]
pub fn looks_like_key(text: &str) -> bool {
    const BEGINNINGS: [&str; 9] = ["sk-", "sk_", "gsk_", "xai-", "AIza", "tgp_", "hf_", "AKIA", "eyJ"];
    const LONG: usize = 24;
    let text = text.trim();
    let word = text
        .bytes()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b'+' | b'=' | b'/'));
    let mixed = text.bytes().any(|c| c.is_ascii_digit())
        && text.bytes().any(|c| c.is_ascii_lowercase())
        && (text.bytes().any(|c| c.is_ascii_uppercase()) || !text.contains(['-', '.', '/', '_']));
    let begins = BEGINNINGS.iter().any(|beginning| text.len() > 8 && text.starts_with(beginning));
    begins || (text.len() >= LONG && word && mixed && !text.contains('/'))
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, looks_like_key};

    #[test]
    fn a_key_is_read_without_what_stands_around_it_and_never_shown() {
        let key = Key::read(" sk-canary-1\n").unwrap();
        assert_eq!((key.expose(), format!("{key:?}").as_str()), ("sk-canary-1", "Key(…)"));
        for wrong in ["", " \n", "two words", "a\nb", "schlüssel", "a\u{7f}", "x".repeat(5000).as_str()] {
            let why = Key::read(wrong).unwrap_err();
            assert!(wrong.trim().is_empty() || !why.contains(wrong.trim()), "{why}");
        }
    }

    #[test]
    fn a_key_is_hidden_and_a_word_that_is_none_is_not() {
        let hidden = |key: &str, text: &str| Key::new(key.into()).hide(text).into_owned();
        assert_eq!(hidden("sk-canary-0123", "a sk-canary-0123, sk-canary-012"), "a (key), sk-canary-012");
        assert_eq!(hidden("ollama", "run ollama serve"), "run ollama serve");
        assert_eq!(hidden("", "so"), "so");
    }

    #[test]
    fn what_looks_like_a_key() {
        let keys =
            ["sk-ant-api03-abcdef", "AIzaSyA1234567890", "gsk_abcdefgh", "0123456789abcdef0123456789abcdef"];
        assert!(keys.iter().all(|key| looks_like_key(key)));
        let words = [
            "anthropic/claude-sonnet-4-5-20250929",
            "claude-haiku-4-5-20251001",
            "openrouter/meta-llama/llama-3.3-70b-instruct",
            "env:ANTHROPIC_API_KEY",
            "ollama/qwen3:8b",
            "sk-",
            "",
        ];
        for word in words {
            assert!(!looks_like_key(word), "{word}");
        }
    }
}
