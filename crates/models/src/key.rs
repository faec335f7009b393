//! A key to a server. It is not shown, and overwritten when it is no longer needed. What a server returns is looked
//! through for it: [`KeyMatcher`] for replies, [`Key::remove`] for errors, [`StreamRedactor`] for what is shown while it comes in.

#[cfg(test)]
#[path = "key/tests.rs"]
mod disguises;
mod matcher;
mod stream;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use zeroize::Zeroizing;

use matcher::HIDDEN;
pub(crate) use matcher::KeyMatcher;
pub(crate) use stream::StreamRedactor;

/// A shorter one is a word that stands where a key is wanted and none is, `ollama` say: it is no secret, and a reply may well
/// mean it.
const SHORTEST: usize = 12;
/// In an error nothing is lost if a shorter one is hidden. One that is shorter still is only looked for as it is.
const SHORTEST_IN_ERRORS: usize = 8;

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

    /// What finds it; nothing if it is too short to be looked for.
    #[must_use]
    pub(crate) fn matcher(&self) -> Option<KeyMatcher> {
        (self.0.len() >= SHORTEST).then(|| KeyMatcher::new(self.expose()))
    }

    /// A text that may be shown, without it.
    #[must_use]
    pub(crate) fn remove(&self, text: &str) -> String {
        match self.0.len() {
            0 => text.to_owned(),
            SHORTEST_IN_ERRORS.. => KeyMatcher::new(self.expose()).hide(text).into_owned(),
            _ => text.replace(self.expose(), HIDDEN),
        }
    }

    /// Only for the header that it goes into.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The text without these parts of it.
fn without<'a>(text: &'a str, found: &[Range<usize>]) -> Cow<'a, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for range in found {
        if let Some(before) = text.get(from..range.start) {
            shown.push_str(before);
            shown.push_str(HIDDEN);
            from = range.end;
        }
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(shown)
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
        let hidden = |key: &str, text: &str| match Key::new(key.into()).matcher() {
            Some(matcher) => matcher.hide(text).into_owned(),
            None => text.to_owned(),
        };
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
