//! What a server says when something is wrong: read out of the shapes that servers have for it, cleaned, and understood.

use std::time::Duration;

use serde_json::Value;

use crate::{Key, Trouble};

/// How much of what a server says is read, and how much of that is shown.
const READ: usize = 4000;
const SHOWN: usize = 300;

/// An error as a server told it. The key is no longer in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Its status, if it had one or named one.
    pub(crate) status: Option<u16>,
    /// Its own names for it, in lower case, each between spaces.
    codes: String,
    pub(crate) message: String,
    after: Option<Duration>,
}

impl Said {
    /// An error's body, whatever it is.
    pub(crate) fn body(status: u16, body: &str, key: Option<&Key>) -> Self {
        let mut said = match serde_json::from_str(body) {
            Ok(value) => Self::value(&value, key),
            // A page that somebody in between wrote for a browser says nothing that its status does not.
            Err(_) if body.trim_start().starts_with('<') => Self::default(),
            Err(_) => Self { message: scrub(body, key), ..Self::default() },
        };
        said.status = Some(status);
        said
    }

    /// `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}`, or a list with one of them.
    pub(crate) fn value(value: &Value, key: Option<&Key>) -> Self {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let message =
            error.as_str().or_else(|| text("message")).or_else(|| text("detail")).or_else(|| text("error"));
        let message = match message {
            Some(message) => scrub(message, key),
            None if error.as_object().is_some_and(|fields| !fields.is_empty()) => {
                scrub(&error.to_string(), key)
            }
            None => String::new(),
        };
        let codes = ["type", "code", "status"].iter().filter_map(|name| text(name));
        let codes: String = codes.map(|code| format!(" {} ", code.to_lowercase())).collect();
        let number = error.get("code").or_else(|| error.get("status")).and_then(Value::as_u64);
        Self { status: number.and_then(|code| u16::try_from(code).ok()), codes, message, after: delay(error) }
    }

    fn is_coded(&self, codes: &[&str]) -> bool {
        codes.iter().any(|code| self.codes.contains(&format!(" {code} ")))
    }

    /// What it means. `after` is what the headers say about another try.
    pub(crate) fn trouble(self, after: Option<Duration>) -> Trouble {
        let after = after.or(self.after);
        let low = self.message.to_lowercase();
        let said = shorten(self.message.clone(), SHOWN);
        let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
        let status = self.status.unwrap_or_else(|| self.status_of_code());
        let rejects = (400..500).contains(&status);
        let full =
            self.is_coded(&["context_length_exceeded", "exceed_context_size_error", "request_too_large"]);
        if full || status == 413 || (rejects || status == 500) && has(&FULL) {
            return Trouble::Full { said };
        }
        if self.is_coded(&["insufficient_quota", "billing_error", "insufficient_credits"])
            || status == 402
            || rejects && has(&["credit balance", "insufficient balance", "insufficient credit"])
        {
            return Trouble::Credit { said };
        }
        if matches!(status, 401 | 403)
            || self.is_coded(&[
                "invalid_api_key",
                "authentication_error",
                "permission_error",
                "permission_denied",
                "unauthenticated",
            ])
            || status == 400
                && has(&["api key not valid", "api_key_invalid", "invalid api key", "api key expired"])
        {
            return Trouble::Key { said };
        }
        if self.is_coded(&["model_not_found"])
            || matches!(status, 400 | 404)
                && has(&["model"])
                && has(&["not found", "not_found", "not exist", "unknown model", "invalid model", "model:"])
        {
            return Trouble::Model { said };
        }
        if rejects && (self.is_coded(&["content_filter", "content_policy_violation"]) || has(&FILTERED)) {
            return Trouble::Declined { said };
        }
        match status {
            404 | 405 => Trouble::Address { status },
            429 => Trouble::Limited { after, said },
            503 | 529 => Trouble::Busy { after, said },
            408 | 409 | 425 | 500.. => Trouble::Server { status, after, said },
            _ => Trouble::Rejected { status, said },
        }
    }

    /// For errors inside a stream, whose status was a good one.
    fn status_of_code(&self) -> u16 {
        let table: [(u16, &[&str]); 6] = [
            (429, &["rate_limit_error", "rate_limit_exceeded", "resource_exhausted", "too_many_requests"]),
            (529, &["overloaded_error", "overloaded", "unavailable"]),
            (404, &["not_found_error", "not_found"]),
            (400, &["invalid_request_error", "invalid_prompt", "invalid_argument", "failed_precondition"]),
            (402, &["billing_error"]),
            (401, &["authentication_error"]),
        ];
        table.iter().find(|(_, codes)| self.is_coded(codes)).map_or(500, |(status, _)| *status)
    }
}

/// How servers say that a prompt is too long.
const FULL: [&str; 11] = [
    "prompt is too long",
    "prompt too long",
    "maximum context length",
    "context length",
    "context window",
    "context size",
    "input token count",
    "maximum number of tokens",
    "input is too long",
    "too many tokens",
    "exceeds the limit of tokens",
];

/// How servers say that a filter of theirs would not have it, where that is an error.
const FILTERED: [&str; 6] = [
    "content filter",
    "content management policy",
    "content policy",
    "was filtered",
    "was blocked",
    "content was flagged",
];

/// Google says in the body when to come back: `{"details": [{"retryDelay": "34s"}]}`.
fn delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Fit to be shown: without the key, on one line, not long.
pub(crate) fn clean(text: &str, key: Option<&Key>) -> String {
    shorten(scrub(text, key), SHOWN)
}

/// Without the key, and on one line.
fn scrub(text: &str, key: Option<&Key>) -> String {
    let text = key.map_or_else(|| text.to_owned(), |key| key.remove(text));
    let mut shown = String::new();
    for word in text.split_whitespace() {
        if !shown.is_empty() {
            shown.push(' ');
        }
        for c in word.chars() {
            if c.is_control() || is_invisible(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
        }
        if shown.len() > READ {
            break;
        }
    }
    shorten(shown, READ)
}

fn shorten(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text,
    }
}

/// What turns text around or hides in it.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{Said, clean};
    use crate::{Key, Trouble};

    /// Shapes from "Errors" (Claude Docs), "Error codes" (OpenAI), "Troubleshooting guide" (Gemini API), "Errors" (Ollama)
    /// and the server README of llama.cpp; the words are ours where the number says enough.
    #[test]
    fn servers_are_understood() {
        let said = |text: &str| text.to_owned();
        let anthropic = |kind: &str, message: &str| {
            json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" })
                .to_string()
        };
        let openai = |code: &str, message: &str| {
            json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": code } }).to_string()
        };
        let gemini = |code: u16, status: &str, message: &str| {
            json!({ "error": { "code": code, "message": message, "status": status } }).to_string()
        };
        let cases: Vec<(u16, String, Trouble)> = vec![
            (401, anthropic("authentication_error", "invalid x-api-key"), Trouble::Key { said: said("invalid x-api-key") }),
            (404, anthropic("not_found_error", "model: claude-x"), Trouble::Model { said: said("model: claude-x") }),
            (400, anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), Trouble::Full {
                said: said("prompt is too long: 210000 tokens > 200000 maximum"),
            }),
            (400, anthropic("invalid_request_error", "Your credit balance is too low"), Trouble::Credit {
                said: said("Your credit balance is too low"),
            }),
            (529, anthropic("overloaded_error", "Overloaded"), Trouble::Busy { after: None, said: said("Overloaded") }),
            (413, anthropic("request_too_large", "too large"), Trouble::Full { said: said("too large") }),
            (400, anthropic("invalid_request_error", "max_tokens: too high"), Trouble::Rejected {
                status: 400,
                said: said("max_tokens: too high"),
            }),
            (401, openai("invalid_api_key", "Incorrect key"), Trouble::Key { said: said("Incorrect key") }),
            (404, openai("model_not_found", "no such"), Trouble::Model { said: said("no such") }),
            (400, openai("context_length_exceeded", "long"), Trouble::Full { said: said("long") }),
            (429, openai("insufficient_quota", "quota"), Trouble::Credit { said: said("quota") }),
            (429, openai("rate_limit_exceeded", "slow down"), Trouble::Limited { after: None, said: said("slow down") }),
            (400, gemini(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), Trouble::Key {
                said: said("API key not valid. Please pass a valid API key."),
            }),
            (400, gemini(400, "INVALID_ARGUMENT", "The input token count (2000000) exceeds the maximum"), Trouble::Full {
                said: said("The input token count (2000000) exceeds the maximum"),
            }),
            (404, gemini(404, "NOT_FOUND", "models/x is not found for API version v1beta"), Trouble::Model {
                said: said("models/x is not found for API version v1beta"),
            }),
            (503, gemini(503, "UNAVAILABLE", "The model is overloaded."), Trouble::Busy {
                after: None,
                said: said("The model is overloaded."),
            }),
            (404, json!({ "error": "model 'x' not found" }).to_string(), Trouble::Model { said: said("model 'x' not found") }),
            (400, json!({ "error": { "code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error" } }).to_string(), Trouble::Full {
                said: said("the request exceeds the available context size"),
            }),
            (404, said("<html>not here</html>"), Trouble::Address { status: 404 }),
            (502, said("<html>bad gateway</html>"), Trouble::Server {
                status: 502,
                after: None,
                said: String::new(),
            }),
            (400, openai("content_filter", "held back"), Trouble::Declined { said: said("held back") }),
            (400, anthropic("invalid_request_error", "Output blocked by content filtering policy"), Trouble::Declined {
                said: said("Output blocked by content filtering policy"),
            }),
            (402, String::new(), Trouble::Credit { said: String::new() }),
        ];
        for (status, body, expected) in cases {
            assert_eq!(Said::body(status, &body, None).trouble(None), expected, "{status} {body}");
        }
    }

    #[test]
    fn an_error_inside_a_stream_has_no_status_and_is_understood_by_its_name() {
        let cases = [
            (
                json!({ "type": "error", "error": { "type": "overloaded_error", "message": "m" } }),
                Trouble::Busy { after: None, said: "m".into() },
            ),
            (
                json!({ "error": { "code": 429, "message": "m" } }),
                Trouble::Limited { after: None, said: "m".into() },
            ),
            (
                json!({ "error": { "code": "rate_limit_exceeded", "message": "m" } }),
                Trouble::Limited { after: None, said: "m".into() },
            ),
            (
                json!({ "error": "it broke" }),
                Trouble::Server { status: 500, after: None, said: "it broke".into() },
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(Said::value(&value, None).trouble(None), expected, "{value}");
        }
    }

    #[test]
    fn google_says_in_the_body_when_to_come_back() {
        let value = json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "m", "details": [
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s" } ] } });
        let trouble = Said::value(&value, None).trouble(None);
        assert_eq!(trouble.after(), Some(Duration::from_millis(3500)));
    }

    #[test]
    fn what_is_shown_is_short_on_one_line_and_without_the_key() {
        let key = Key::new("sk-canary".into());
        let cases = [
            ("a\n\tb", "a b".to_owned()),
            ("your key sk-canary is\u{1b}[31m bad", "your key (key) is\\u{1b}[31m bad".into()),
            ("turned \u{202e}round", "turned \\u{202e}round".into()),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text, Some(&key)), expected);
        }
        let long = clean(&"é".repeat(5000), None);
        assert_eq!((long.chars().count(), long.ends_with('…')), (301, true));
        let split = format!("{} sk-canary", "x".repeat(295));
        assert!(!clean(&split, Some(&key)).contains("sk-c"), "the key goes before the text is cut");
    }
}
