//! The command line, as types. Every command's help ends with an example.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

#[derive(Debug, Parser)]
#[command(
    name = "regent",
    version,
    about = "A runtime for AI agents: agents have agency, the system retains authority",
    after_help = "Example:\n  regent run \"how many Rust files are here, and which is the largest?\"\n  regent why <task or call>",
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Global {
    /// Print JSON instead of text
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, display_order = 901, value_name = "WHEN")]
    pub(crate) color: Option<Color>,
    /// How to show that work goes on
    #[arg(long, global = true, display_order = 902, value_name = "HOW")]
    pub(crate) progress: Option<Progress>,
    /// Append a log to this file; `RUST_LOG` says how much
    #[arg(long, global = true, display_order = 903, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    // Live on a terminal that can show it, plain lines elsewhere.
    #[default]
    Auto,
    Live,
    Plain,
    // Only the result and how it ended.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// As the setting `ui.color` spells it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

impl Global {
    /// The settings that flags stand for.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        self.color.map(|color| ("ui.color", color.name().into())).into_iter().collect()
    }
}

/// The commands that are about the command line itself, and no operations.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print completions for a shell
    #[command(
        display_order = 998,
        after_help = "Example:\n  regent completions bash > ~/.local/share/bash-completion/completions/regent"
    )]
    Completions { shell: clap_complete::Shell },
    /// Help for a command; `help reflex` shows what can be said to `run` without a model
    #[command(
        display_order = 999,
        after_help = "Example:\n  regent help reflex\n  regent help approvals list"
    )]
    Help {
        /// The words of a command, or `reflex`
        topic: Vec<String>,
    },
}

#[cfg(test)]
mod tests {
    use app::operation::{Offer, OperationCaller};

    #[test]
    fn the_command_line_is_consistent() {
        crate::command_line(&Offer::to(OperationCaller::Owner)).debug_assert();
    }
}
