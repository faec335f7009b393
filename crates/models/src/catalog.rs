//! The providers that are known by name, and how able models are held to be. Everything here can be said otherwise in the
//! settings; where a name or an address goes out of date, that is the place to put it right.

use crate::Dialect;

/// A provider that needs no more than a key, or nothing at all.
#[derive(Debug)]
pub struct Known {
    pub name: &'static str,
    pub dialect: Dialect,
    pub url: &'static str,
    /// Where its key is looked for, in order.
    pub variables: &'static [&'static str],
    /// What is asked to perceive, plan and judge where nobody says otherwise; a local server is asked what it has.
    pub brain: &'static str,
    /// What is asked to act and to check.
    pub hands: &'static str,
}

impl Known {
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.variables.is_empty()
    }
}

const fn remote(
    name: &'static str,
    dialect: Dialect,
    url: &'static str,
    variables: &'static [&'static str],
    [brain, hands]: [&'static str; 2],
) -> Known {
    Known { name, dialect, url, variables, brain, hands }
}

const fn local(name: &'static str, dialect: Dialect, url: &'static str) -> Known {
    Known { name, dialect, url, variables: &[], brain: "", hands: "" }
}

/// In the order in which keys are looked for.
pub const KNOWN: [Known; 13] = [
    remote(
        "anthropic",
        Dialect::Anthropic,
        "https://api.anthropic.com",
        &["ANTHROPIC_API_KEY"],
        ["claude-sonnet-5-5", "claude-haiku-5-5"],
    ),
    remote(
        "openai",
        Dialect::Responses,
        "https://api.openai.com/v1",
        &["OPENAI_API_KEY"],
        ["gpt-5.4", "gpt-5.4-mini"],
    ),
    remote(
        "gemini",
        Dialect::Gemini,
        "https://generativelanguage.googleapis.com",
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        ["gemini-3.6-flash", "gemini-3.5-flash-lite"],
    ),
    remote(
        "openrouter",
        Dialect::Chat,
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"],
        ["openai/gpt-oss-120b", "openai/gpt-oss-120b"],
    ),
    remote(
        "groq",
        Dialect::Chat,
        "https://api.groq.com/openai/v1",
        &["GROQ_API_KEY"],
        ["openai/gpt-oss-120b", "openai/gpt-oss-20b"],
    ),
    remote(
        "mistral",
        Dialect::Chat,
        "https://api.mistral.ai/v1",
        &["MISTRAL_API_KEY"],
        ["mistral-large-latest", "mistral-small-latest"],
    ),
    remote(
        "deepseek",
        Dialect::Chat,
        "https://api.deepseek.com/v1",
        &["DEEPSEEK_API_KEY"],
        ["deepseek-v4-pro", "deepseek-v4-flash"],
    ),
    remote("xai", Dialect::Chat, "https://api.x.ai/v1", &["XAI_API_KEY"], ["grok-4.5", "grok-4.3"]),
    remote(
        "together",
        Dialect::Chat,
        "https://api.together.xyz/v1",
        &["TOGETHER_API_KEY"],
        ["openai/gpt-oss-120b", "openai/gpt-oss-120b"],
    ),
    local("ollama", Dialect::Ollama, "http://127.0.0.1:11434"),
    local("llamacpp", Dialect::Chat, "http://127.0.0.1:8080/v1"),
    local("lmstudio", Dialect::Chat, "http://127.0.0.1:1234/v1"),
    local("vllm", Dialect::Chat, "http://127.0.0.1:8000/v1"),
];

#[must_use]
pub fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

/// By the beginning of a model's name, whoever serves it; the longest that fits counts.
const RANKS: &[(&str, u32)] = &[
    ("claude-fable", 95),
    ("claude-mythos", 95),
    ("claude-opus", 90),
    ("claude-sonnet", 80),
    ("claude-haiku", 60),
    ("gpt-5", 85),
    ("gpt-5-mini", 60),
    ("gpt-5-nano", 40),
    ("gpt-5.4-mini", 60),
    ("gpt-5.4-nano", 40),
    ("gpt-5.6-terra", 80),
    ("gpt-5.6-luna", 65),
    ("gpt-4", 60),
    ("gpt-4o-mini", 40),
    ("gpt-4.1-mini", 45),
    ("gpt-4.1-nano", 30),
    ("gpt-oss-120b", 55),
    ("gpt-oss-20b", 40),
    ("o3", 75),
    ("o4-mini", 65),
    ("gemini-2.5-pro", 75),
    ("gemini-2.5-flash", 60),
    ("gemini-2.5-flash-lite", 45),
    ("gemini-3-pro", 85),
    ("gemini-3.1-pro", 85),
    ("gemini-3-flash", 70),
    ("gemini-3.1-flash-lite", 50),
    ("gemini-3.5-flash", 75),
    ("gemini-3.5-flash-lite", 55),
    ("gemini-3.6-flash", 80),
    ("grok-4", 75),
    ("grok-4.5", 80),
    ("mistral-large", 65),
    ("mistral-medium", 55),
    ("mistral-small", 45),
    ("deepseek-v4-pro", 75),
    ("deepseek-v4-flash", 60),
    ("deepseek-chat", 60),
    ("deepseek-reasoner", 65),
];

/// How able a model is held to be where the owner does not say: by its name, or by its size where the name tells it.
#[must_use]
pub fn rank(model: &str) -> u32 {
    const UNKNOWN: u32 = 30;
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let fits = RANKS.iter().filter(|(beginning, _)| name.starts_with(beginning));
    let known = fits.max_by_key(|(beginning, _)| beginning.len()).map(|(_, rank)| *rank);
    known.or_else(|| billions(&name).map(rank_of_size)).unwrap_or(UNKNOWN)
}

const fn rank_of_size(billions: u32) -> u32 {
    match billions {
        0..4 => 10,
        4..10 => 20,
        10..25 => 30,
        25..60 => 40,
        60..150 => 50,
        _ => 60,
    }
}

/// `qwen3:8b` has 8, `llama-3.3-70b-versatile` 70, `qwen2.5-0.5b` none to speak of.
fn billions(name: &str) -> Option<u32> {
    let words = name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'));
    let size = |word: &str| {
        let digits = word.strip_suffix('b')?;
        let whole = digits.split('.').next()?;
        digits.bytes().all(|c| c.is_ascii_digit() || c == b'.').then(|| whole.parse().ok())?
    };
    words.filter_map(size).next()
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, known, rank};
    use crate::{Listed, Prices};
    use std::collections::BTreeSet;

    #[test]
    fn a_provider_is_known_once_and_by_a_name_that_can_be_a_setting() {
        let names: BTreeSet<&str> = KNOWN.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), KNOWN.len());
        for known in &KNOWN {
            assert!(known.name.bytes().all(|c| c.is_ascii_lowercase()), "{}", known.name);
            let secure = known.url.starts_with("https://") && !known.url.ends_with('/');
            assert!(
                secure || (known.is_local() && known.url.starts_with("http://127.0.0.1:")),
                "{}",
                known.name
            );
            assert_eq!(known.brain.is_empty(), known.is_local(), "{}", known.name);
        }
        assert!(known("reflex").is_none(), "that means: no model");
    }

    #[test]
    fn what_is_asked_by_default_has_a_price_and_brains_are_no_weaker_than_hands() {
        for known in KNOWN.iter().filter(|known| !known.is_local()) {
            assert!(rank(known.brain) >= rank(known.hands), "{}", known.name);
            for model in [known.brain, known.hands] {
                let (_, listed) = Prices::default().of(&format!("{}/{model}", known.name));
                assert_eq!(listed, Listed::Shipped, "{}/{model}", known.name);
            }
        }
    }

    #[test]
    fn ranks_by_name_and_by_size() {
        let table = [
            ("claude-opus-5-5", 90),
            ("anthropic/claude-sonnet-4.5", 80),
            ("gpt-5.4", 85),
            ("gpt-5.4-mini", 60),
            ("GPT-5-nano", 40),
            ("qwen3:8b", 20),
            ("qwen2.5:0.5b", 10),
            ("llama-3.3-70b-versatile", 50),
            ("deepseek-r1:671b", 60),
            ("meta-llama/Llama-3.1-8B-Instruct", 20),
            ("something", 30),
            ("b", 30),
            ("", 30),
        ];
        for (model, expected) in table {
            assert_eq!(rank(model), expected, "{model}");
        }
    }
}
