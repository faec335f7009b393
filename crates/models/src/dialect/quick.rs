//! Most of a stream is one small piece of text after the other, in much wrapping. Such a frame is read without taking all of
//! it apart: that is what reading costs next to a bare client. Whatever else a frame holds, it is not for here.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Dialect;

/// The text in a frame that holds a piece of text and nothing else that matters. None says nothing about the frame.
pub(super) fn text(dialect: Dialect, data: &str) -> Option<Cow<'_, str>> {
    match dialect {
        Dialect::Anthropic => serde_json::from_str::<anthropic::Event<'_>>(data).ok()?.text(),
        Dialect::Chat => serde_json::from_str::<chat::Chunk<'_>>(data).ok()?.text(),
        Dialect::Responses => serde_json::from_str::<responses::Event<'_>>(data).ok()?.text(),
        Dialect::Ollama => serde_json::from_str::<ollama::Line<'_>>(data).ok()?.text(),
        // Few and large, and each of them counts.
        Dialect::Gemini => None,
    }
}

/// Nothing there, or null.
type Nothing = Option<IgnoredAny>;

mod anthropic {
    use super::{Cow, Deserialize, Nothing};

    #[derive(Deserialize)]
    pub(super) struct Event<'a> {
        r#type: &'a str,
        #[serde(borrow)]
        delta: Delta<'a>,
        error: Nothing,
    }

    #[derive(Deserialize)]
    struct Delta<'a> {
        r#type: &'a str,
        #[serde(borrow)]
        text: Cow<'a, str>,
    }

    impl<'a> Event<'a> {
        pub(super) fn text(self) -> Option<Cow<'a, str>> {
            let fits = self.r#type == "content_block_delta"
                && self.delta.r#type == "text_delta"
                && self.error.is_none();
            fits.then_some(self.delta.text)
        }
    }
}

mod chat {
    use super::{Cow, Deserialize, Nothing};

    #[derive(Deserialize)]
    pub(super) struct Chunk<'a> {
        #[serde(borrow)]
        choices: (Choice<'a>,),
        r#type: Nothing,
        usage: Nothing,
        error: Nothing,
    }

    #[derive(Deserialize)]
    struct Choice<'a> {
        #[serde(borrow)]
        delta: Delta<'a>,
        finish_reason: Nothing,
    }

    #[derive(Deserialize)]
    struct Delta<'a> {
        #[serde(borrow)]
        content: Cow<'a, str>,
        reasoning_content: Nothing,
        reasoning: Nothing,
        refusal: Nothing,
        tool_calls: Nothing,
        function_call: Nothing,
    }

    impl<'a> Chunk<'a> {
        pub(super) fn text(self) -> Option<Cow<'a, str>> {
            let (Choice { delta, finish_reason },) = self.choices;
            let nothing = [
                self.r#type,
                self.usage,
                self.error,
                finish_reason,
                delta.reasoning_content,
                delta.reasoning,
                delta.refusal,
                delta.tool_calls,
                delta.function_call,
            ];
            nothing.iter().all(Option::is_none).then_some(delta.content)
        }
    }
}

mod responses {
    use super::{Cow, Deserialize, Nothing};

    #[derive(Deserialize)]
    pub(super) struct Event<'a> {
        r#type: &'a str,
        #[serde(borrow)]
        delta: Cow<'a, str>,
        error: Nothing,
    }

    impl<'a> Event<'a> {
        pub(super) fn text(self) -> Option<Cow<'a, str>> {
            (self.r#type == "response.output_text.delta" && self.error.is_none()).then_some(self.delta)
        }
    }
}

mod ollama {
    use super::{Cow, Deserialize, Nothing};

    #[derive(Deserialize)]
    pub(super) struct Line<'a> {
        #[serde(borrow)]
        message: Message<'a>,
        done: bool,
        r#type: Nothing,
        error: Nothing,
    }

    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        content: Cow<'a, str>,
        thinking: Nothing,
        tool_calls: Nothing,
    }

    impl<'a> Line<'a> {
        pub(super) fn text(self) -> Option<Cow<'a, str>> {
            let Message { content, thinking, tool_calls } = self.message;
            let nothing = [self.r#type, self.error, thinking, tool_calls];
            (!self.done && nothing.iter().all(Option::is_none)).then_some(content)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::Dialect;
    use serde_json::json;

    #[test]
    fn only_text_is_for_here() {
        let chat = |delta| json!({ "id": "c", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }], "usage": null });
        let cases = [
            (Dialect::Chat, chat(json!({ "content": "a" })), Some("a")),
            (Dialect::Chat, chat(json!({ "content": "\"ü\n" })), Some("\"ü\n")),
            (Dialect::Chat, chat(json!({ "content": "", "role": "assistant", "refusal": null })), Some("")),
            (Dialect::Chat, chat(json!({ "content": null, "reasoning": "hm" })), None),
            (Dialect::Chat, chat(json!({ "content": "a", "reasoning": "hm" })), None),
            (Dialect::Chat, chat(json!({ "content": "a", "refusal": "no" })), None),
            (Dialect::Chat, chat(json!({ "content": "a", "tool_calls": [] })), None),
            (
                Dialect::Chat,
                json!({ "choices": [{ "delta": { "content": "a" }, "finish_reason": "stop" }] }),
                None,
            ),
            (
                Dialect::Chat,
                json!({ "choices": [{ "delta": { "content": "a" } }], "usage": { "prompt_tokens": 1 } }),
                None,
            ),
            (Dialect::Chat, json!({ "choices": [{ "delta": { "content": "a" } }], "error": "e" }), None),
            (
                Dialect::Anthropic,
                json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": "a" } }),
                Some("a"),
            ),
            (
                Dialect::Anthropic,
                json!({ "type": "content_block_delta", "delta": { "type": "thinking_delta", "thinking": "a" } }),
                None,
            ),
            (
                Dialect::Anthropic,
                json!({ "type": "message_delta", "delta": { "type": "text_delta", "text": "a" } }),
                None,
            ),
            (
                Dialect::Responses,
                json!({ "type": "response.output_text.delta", "delta": "a", "output_index": 0 }),
                Some("a"),
            ),
            (Dialect::Responses, json!({ "type": "response.refusal.delta", "delta": "a" }), None),
            (
                Dialect::Ollama,
                json!({ "model": "m", "message": { "role": "assistant", "content": "a" }, "done": false }),
                Some("a"),
            ),
            (Dialect::Ollama, json!({ "message": { "content": "a" }, "done": true }), None),
            (
                Dialect::Ollama,
                json!({ "message": { "content": "", "tool_calls": [1] }, "done": false }),
                None,
            ),
        ];
        for (dialect, value, expected) in cases {
            assert_eq!(text(dialect, &value.to_string()).as_deref(), expected, "{value}");
        }
    }
}
