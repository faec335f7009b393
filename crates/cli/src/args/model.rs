//! Which language models are asked.

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Model {
    /// Who is asked, why and at which price; every provider, and what it lacks
    #[command(after_help = "Example:\n  regent model list\n  regent model list --json")]
    List,
    /// Ask models for a word: what they can do, how long it took, what it cost
    #[command(
        after_help = "Example:\n  regent model test\n  regent model test ollama/qwen3:8b\n\nOnly a prompt of ours is sent, nothing of yours. What is tried: a text, a reply in a given form, the call of a tool."
    )]
    Test {
        /// `brain`, `hands`, or a model as provider/model; without it: all of both
        #[arg(value_name = "WHO")]
        who: Option<String>,
    },
    /// Say who is to be asked; everything else in the settings file stays
    #[command(
        after_help = "Example:\n  regent model set brain anthropic/claude-sonnet-5-5,ollama/qwen3:8b\n  regent model set brain reflex     nobody: nothing leaves this machine\n  regent model set hands auto       as before anything was set"
    )]
    Set {
        /// `brain` perceives, plans and judges; `hands` act and check
        tier: Tier,
        /// Models as provider/model, with commas; the next is asked where one does not answer. Or `reflex`, or `auto`
        #[arg(value_name = "MODELS", required = true, num_args = 1..)]
        models: Vec<String>,
    },
    /// Let a provider's key go to a host that is not the provider's own, a proxy for instance
    #[command(
        after_help = "Example:\n  regent model confirm anthropic proxy.example.org\n  regent model confirm openai 127.0.0.1:4000"
    )]
    Confirm {
        /// Whose key: `anthropic`, `openai`, …
        provider: String,
        /// Where it may go, from now on
        host: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    Brain,
    Hands,
}
