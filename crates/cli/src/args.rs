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
    use clap::ArgMatches;
    use std::ffi::OsString;

    use crate::operations::CommandSet;

    fn arguments(words: &str) -> Vec<OsString> {
        ["regent"].into_iter().chain(words.split_whitespace()).map(OsString::from).collect()
    }

    #[test]
    fn the_command_line_is_consistent() {
        crate::command_line(&Offer::to(OperationCaller::Owner), CommandSet::All).debug_assert();
    }

    /// The words of the command, and what was read after them. Which other commands there were is all that may differ.
    fn read(matches: &ArgMatches) -> String {
        match matches.subcommand() {
            Some((word, below)) => format!("{word} {}", read(below)),
            None => format!("{matches:?}"),
        }
    }

    #[test]
    fn a_command_says_the_same_with_and_without_the_others() {
        let offer = Offer::to(OperationCaller::Owner);
        for (_, offered) in offer.groups() {
            for operation in offered {
                let name = operation.entry().spec.name;
                for more in
                    ["--help", "-h", "--no-such-option", "--jsn", "--json --color=never", "a b c d e f", ""]
                {
                    let typed = arguments(&format!("{name} {more}"));
                    let set = CommandSet::named_by(&offer, &typed);
                    assert!(matches!(set, CommandSet::Only(only) if only == name), "{name}: {set:?}");
                    let said = [set, CommandSet::All].map(|set| {
                        let parsed = crate::command_line(&offer, set).try_get_matches_from(&typed);
                        parsed.map(|matches| read(&matches)).map_err(|error| error.render().to_string())
                    });
                    assert_eq!(said[0], said[1], "{typed:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_exact_name_is_read_with_all_commands() {
        let offer = Offer::to(OperationCaller::Owner);
        for words in
            ["", "tasks", "task list", "tasks lst", "tasks --json list", "--json tasks list", "help", "-h"]
        {
            let set = CommandSet::named_by(&offer, &arguments(words));
            assert!(matches!(set, CommandSet::All), "{words}: {set:?}");
        }
        let one_word = ["regent", "tasks list"].map(OsString::from);
        assert!(matches!(CommandSet::named_by(&offer, &one_word), CommandSet::All));
    }
}
