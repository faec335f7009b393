//! Text from outside is data: what could move the cursor, turn the writing direction or hide is made visible.

use domain::is_unseen;
use screen::is_unusual_blank;

/// Keeps line feeds and tabs; everything that a terminal would act on, or that nobody could see, becomes `\u{…}`.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || c == '\t' || !is_unseen(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

/// A value on one line: what ends a line or moves on in it becomes visible too, so that no text can pass for a line of
/// ours.
#[must_use]
pub fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unseen(c) || is_unusual_blank(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// JSON as a terminal may see it: the same value, with the escapes of JSON. Outside of its texts there is nothing to escape.
#[must_use]
pub fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unseen(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escape, escape_json, inline};

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
            assert_eq!(escape(text), expected);
        }
    }

    #[test]
    fn a_value_stays_on_its_line() {
        assert_eq!(inline("a\n  named by\tyou\r\x1b[A"), "a\\n  named by\\tyou\\r\\u{1b}[A");
        assert_eq!(inline("plain äöü 日本"), "plain äöü 日本");
        assert_eq!(inline("a\u{a0}b\u{2800}\u{3000}\u{fe0f}"), "a\\u{a0}b\\u{2800}\\u{3000}\\u{fe0f}");
    }

    #[test]
    fn json_on_a_terminal_hides_nothing_and_is_the_same_value() {
        let value =
            serde_json::json!({ "evil\u{202e}": "a\u{200b}b \u{9b}31m \u{7f} tag\u{e0041} \n äöü 🦀" });
        let shown = escape_json(&value.to_string());
        assert_eq!(shown, r#"{"evil\u202e":"a\u200bb \u009b31m \u007f tag\udb40\udc41 \n äöü 🦀"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
