//! How an endpoint is spoken to, beyond its dialect: what it can be held to, found out by asking. The best comes first;
//! whoever says that he does not know a parameter is asked again without it.

use serde_json::Value;

use super::fit::{self, Fitted};
use crate::{Dialect, Endpoint};
use llm::{Calling, Prompt};

/// How the form of a reply is asked for, from the best down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// By its schema.
    Schema,
    /// As any JSON.
    Json,
    /// In the prompt's own words.
    Words,
}

/// What the most that may be written is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `max_tokens`: what every server that speaks Chat Completions knows.
    Tokens,
    /// `max_completion_tokens`: what OpenAI itself wants.
    Completion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Whether it can call tools. Who cannot writes what it would call.
    pub calls: bool,
    pub form: Form,
    /// Whether it can be told to call one tool at a time.
    pub single: bool,
    /// Whether it can be asked to count in a stream.
    pub counted: bool,
    pub limit: Limit,
}

impl Manner {
    /// How an endpoint is spoken to at first.
    #[must_use]
    pub fn of(endpoint: &Endpoint) -> Self {
        let openai = endpoint.host().split(':').next() == Some("api.openai.com");
        let limit = if openai { Limit::Completion } else { Limit::Tokens };
        Self { calls: true, form: Form::Schema, single: true, counted: true, limit }
    }

    /// One step down, if a server that rejects a request names something that it can do without.
    #[must_use]
    pub fn without(self, message: &str, prompt: &Prompt, dialect: Dialect) -> Option<Self> {
        let low = message.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
        let calls = self.calls && prompt.calling.is_some();
        if self.counted && has(&["stream_options", "include_usage"]) {
            return Some(Self { counted: false, ..self });
        }
        if dialect == Dialect::Chat && has(&["max_tokens", "max_completion_tokens"]) {
            // Only where it says that the name is wrong, not the number: `use 'max_completion_tokens' instead`.
            let wrong = has(&[
                "unsupported",
                "not supported",
                "unknown",
                "unrecognized",
                "not permitted",
                "instead",
                "unexpected",
            ]);
            return match self.limit {
                Limit::Tokens if wrong && low.contains("max_completion_tokens") => {
                    Some(Self { limit: Limit::Completion, ..self })
                }
                Limit::Completion if wrong => Some(Self { limit: Limit::Tokens, ..self }),
                _ => None,
            };
        }
        if calls && self.single && has(&["parallel_tool", "parallel tool"]) {
            return Some(Self { single: false, ..self });
        }
        if calls && has(&["tool", "function"]) {
            return Some(Self { calls: false, ..self });
        }
        if !calls && has(&FORMS) {
            let form = match self.form {
                Form::Schema if dialect == Dialect::Anthropic => Form::Words,
                Form::Schema => Form::Json,
                Form::Json => Form::Words,
                Form::Words => return None,
            };
            return Some(Self { form, ..self });
        }
        None
    }
}

/// How servers call what holds a reply to a form.
const FORMS: [&str; 12] = [
    "response_format",
    "json_schema",
    "json_object",
    "output_config",
    "output_format",
    "text.format",
    "response_mime_type",
    "responsemimetype",
    "json mode",
    "schema",
    "grammar",
    "structured output",
];

/// How one prompt is put in one manner.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way<'a> {
    Calls(&'a Calling),
    Schema(Fitted),
    Json,
    Words,
}

impl<'a> Way<'a> {
    pub(super) fn of(prompt: &'a Prompt, manner: Manner, dialect: Dialect) -> Self {
        match (&prompt.calling, manner.form) {
            (Some(calling), _) if manner.calls => Self::Calls(calling),
            (_, Form::Schema) => fit::reply(&prompt.schema, dialect).map_or(Self::Words, Self::Schema),
            (_, Form::Json) => Self::Json,
            (_, Form::Words) => Self::Words,
        }
    }

    pub(super) fn system<'p>(&self, prompt: &'p Prompt) -> &'p str
    where
        'a: 'p,
    {
        match self {
            Self::Calls(calling) => &calling.system,
            _ => &prompt.system,
        }
    }

    pub(super) const fn is_wrapped(&self) -> bool {
        matches!(self, Self::Schema(Fitted { wrapped: true, .. }))
    }

    /// The tools, each put into the dialect's own shape.
    pub(super) fn tools(calling: &Calling, shape: impl Fn(&str, &str, Value) -> Value) -> Value {
        calling
            .tools
            .iter()
            .map(|tool| shape(&tool.name, &tool.description, fit::arguments(&tool.schema)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, Limit, Manner};
    use crate::Dialect;
    use crate::dialect::samples;

    #[test]
    fn what_a_server_does_not_know_is_left_out_and_nothing_else() {
        let best =
            Manner { calls: true, form: Form::Schema, single: true, counted: true, limit: Limit::Tokens };
        let completion = Manner { limit: Limit::Completion, ..best };
        let cases = [
            (
                best,
                true,
                "Unrecognized request argument supplied: stream_options",
                Some(Manner { counted: false, ..best }),
            ),
            (
                best,
                true,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(completion),
            ),
            (completion, true, "max_completion_tokens: Extra inputs are not permitted", Some(best)),
            (best, true, "max_tokens is too large: 999", None),
            (best, true, "parallel_tool_calls is not supported", Some(Manner { single: false, ..best })),
            (
                Manner { single: false, ..best },
                true,
                "parallel_tool_calls is odd",
                Some(Manner { calls: false, single: false, ..best }),
            ),
            (best, true, "registry/model does not support tools", Some(Manner { calls: false, ..best })),
            (
                best,
                true,
                "tool_choice: Thinking may not be enabled when tool_choice forces tool use.",
                Some(Manner { calls: false, ..best }),
            ),
            (best, false, "model does not support tools", None),
            (
                best,
                false,
                "Invalid schema for response_format 'reply'",
                Some(Manner { form: Form::Json, ..best }),
            ),
            (
                best,
                false,
                "This response_format type is unavailable now",
                Some(Manner { form: Form::Json, ..best }),
            ),
            (
                Manner { form: Form::Json, ..best },
                false,
                "response_format is not supported",
                Some(Manner { form: Form::Words, ..best }),
            ),
            (Manner { form: Form::Words, ..best }, false, "response_format is not supported", None),
            (best, false, "messages: field required", None),
        ];
        for (manner, calling, message, expected) in cases {
            let prompt = samples::prompt(calling);
            assert_eq!(manner.without(message, &prompt, Dialect::Chat), expected, "{message}");
        }
        let words = Some(Manner { form: Form::Words, ..best });
        let found = best.without(
            "output_config: Extra inputs are not permitted",
            &samples::prompt(false),
            Dialect::Anthropic,
        );
        assert_eq!(found, words, "Anthropic knows no form between a schema and words");
    }

    #[test]
    fn openai_itself_is_told_the_limit_by_its_newer_name() {
        for (url, limit) in
            [("https://api.openai.com/v1", Limit::Completion), ("http://127.0.0.1:8080/v1", Limit::Tokens)]
        {
            let endpoint = crate::Endpoint { url: url.into(), ..samples::endpoint(Dialect::Chat) };
            assert_eq!(Manner::of(&endpoint).limit, limit);
        }
    }
}
