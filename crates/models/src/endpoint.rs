//! One model on one server, and how it is spoken to.

use std::collections::BTreeSet;

use domain::DataClass;
use serde::{Deserialize, Serialize};

use crate::address::{authority, is_loopback};
use crate::{Key, Price};

/// How a server wants to be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and every server that speaks like it.
    Chat,
    /// OpenAI Responses.
    Responses,
    Gemini,
    /// Ollama's own.
    Ollama,
}

impl Dialect {
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::Chat, Self::Responses, Self::Gemini, Self::Ollama];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// As the owner calls it: `anthropic`, `local`.
    pub provider: String,
    pub dialect: Dialect,
    /// What its paths are appended to: `https://api.anthropic.com`, `http://127.0.0.1:8080/v1`.
    pub url: String,
    /// As its server calls it.
    pub model: String,
    pub key: Option<Key>,
    /// Where its key comes from, or would: `ANTHROPIC_API_KEY`, a file. Empty where it needs none.
    pub key_from: String,
    /// Whether it may be spoken to without encryption although it is on another machine.
    pub plain_http: bool,
    /// How able it is, as the owner ranks it; more is better.
    pub rank: u32,
    pub price: Price,
    /// The most it may write in one reply.
    pub tokens_out: u32,
    /// What it may be told; nothing means everything.
    pub data: Option<BTreeSet<DataClass>>,
    /// Whether it was found on this machine and not chosen by the owner: then whose it is is looked at before every ask.
    pub detected: bool,
}

impl Endpoint {
    /// `anthropic/claude-sonnet-4-5`: how it is called in settings, records and messages.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// Its machine and port, as the address says: `127.0.0.1:11434`.
    #[must_use]
    pub fn host(&self) -> &str {
        authority(&self.url)
    }

    /// Whether what it is told leaves this machine.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        !is_loopback(&self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Endpoint};
    use crate::Price;

    #[test]
    fn what_stays_on_this_machine_is_told_from_what_leaves_it() {
        let outside = |url: &str| {
            let (provider, url, model) = ("p".into(), url.into(), "m".into());
            let (price, dialect) = (Price::default(), Dialect::Chat);
            let (key, key_from, plain_http) = (None, String::new(), false);
            Endpoint {
                provider,
                dialect,
                url,
                model,
                key,
                key_from,
                plain_http,
                rank: 0,
                price,
                tokens_out: 1,
                data: None,
                detected: false,
            }
            .is_outside()
        };
        for url in [
            "http://127.0.0.1:11434",
            "http://localhost",
            "http://LOCALHOST:1/v1",
            "http://[::1]:80/v1",
            "http://127.9.9.9/v1?x",
        ] {
            assert!(!outside(url), "{url}");
        }
        for url in [
            "https://api.openai.com/v1",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com/",
            "http://localhost@example.com/v1",
            "http://10.0.0.1",
            "",
        ] {
            assert!(outside(url), "{url}");
        }
    }
}
