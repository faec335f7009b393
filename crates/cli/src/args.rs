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
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN")]
    pub(crate) color: Option<Color>,
    /// How to show that work goes on
    #[arg(long, global = true, value_name = "HOW")]
    pub(crate) progress: Option<Progress>,
    /// Append a log to this file; `RUST_LOG` says how much
    #[arg(long, global = true, value_name = "FILE")]
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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Put an end to a task, wherever it runs; what it has done so far stays
    #[command(after_help = "Example:\n  regent cancel t-k7q2")]
    Cancel {
        /// A task or an event; any unique beginning of its id
        id: String,
    },
    /// Fold the journal of a task again and compare every step; exit 1 if one differs
    #[command(
        after_help = "Example:\n  regent replay t-k7q2\n  regent replay t-k7q2 --recording > asks.jsonl"
    )]
    Replay {
        /// Any unique beginning of the task's id
        id: String,
        /// Print what models were asked and answered instead, one JSON line each
        #[arg(long)]
        recording: bool,
    },
    /// What the broker would say to a model's calls: episodes in, decisions out
    #[command(
        after_help = "Example:\n  echo '{\"id\":1,\"request\":\"read notes.txt\",\"tools\":[{\"name\":\"read\",\"tier\":\"read_only\",\"input_schema\":{\"properties\":{\"path\":{}}}}],\"steps\":[{\"tool\":\"read\",\"args\":{\"path\":\"notes.txt\"}}]}' | regent authorize\n\nEach line is answered with {\"id\",\"steps\":[{\"tool\",\"decision\",\"layer\",\"reason\",\"provenance\"}]}; a bad one with {\"error\",\"line\"}.\nAll fields: docs/filters.md"
    )]
    Authorize,
    /// The Goal Gradient Solver: what a round of work means for the next one
    #[command(subcommand, after_help = "Example:\n  regent ggs step < rounds.jsonl")]
    Ggs(Ggs),
    /// What ran and what waits
    #[command(subcommand, after_help = "Example:\n  regent tasks list")]
    Tasks(Tasks),
    /// Why something happened: from the effect back to its origin
    #[command(after_help = "Example:\n  regent why t-k7q2\n  regent why t-k7q2 --recheck")]
    Why {
        /// A task, call, event, reason or admission
        id: String,
        /// Decide everything again from what was recorded; exit 1 if something differs
        #[arg(long)]
        recheck: bool,
    },
    /// What came in and what went out
    #[command(subcommand, after_help = "Example:\n  regent events list --json | head -1")]
    Events(Events),
    /// The record of every decision and every outcome
    #[command(subcommand, after_help = "Example:\n  regent audit verify")]
    Audit(Audit),
    /// Print completions for a shell
    #[command(
        after_help = "Example:\n  regent completions bash > ~/.local/share/bash-completion/completions/regent"
    )]
    Completions { shell: clap_complete::Shell },
    /// Help for a command; `help reflex` shows what can be said to `run` without a model
    #[command(after_help = "Example:\n  regent help reflex\n  regent help approvals list")]
    Help {
        /// The words of a command, or `reflex`
        topic: Vec<String>,
    },
}

impl Command {
    /// Whether it is of use without an instance, and whatever the settings say.
    pub(crate) const fn needs_nothing(&self) -> bool {
        matches!(self, Self::Completions { .. } | Self::Help { .. } | Self::Authorize | Self::Ggs(_))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Ggs {
    /// Rounds in, what is to be done out; lines of the same task are its successive rounds
    #[command(
        after_help = "Example:\n  echo '{\"task\":\"t\",\"elapsed_ms\":30000,\"outcomes\":[{\"subtask\":\"a\",\"status\":\"failed\",\"tool_calls\":[{\"tool\":\"read\",\"target\":\"x\"}],\"criteria\":[]}]}' | regent ggs step\n\nEach line is answered with {\"task\",\"round\",\"D\",\"P\",\"omega\",\"L\",\"grad_l\",\"grad_gap\",\"directive\",\"prev_directive\",\"blocked_tools\",\"blocked_targets\",\"worsening\",\"law2\",\"rationale\"}; a bad one with {\"error\",\"line\"}.\nAll fields: docs/filters.md"
    )]
    Step,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tasks {
    /// Newest first
    #[command(after_help = "Example:\n  regent tasks list --limit 5")]
    List {
        /// How many at the most
        #[arg(long, default_value_t = domain::limits::LIST_ENTRIES)]
        limit: u32,
    },
    /// What every process does, as it becomes durable; until Ctrl-C
    #[command(after_help = "Example:\n  regent tasks follow --after 0 --json")]
    Follow {
        /// Begin after this sequence number; 0 is the beginning. Without it: from now on
        #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(i64).range(0..))]
        after: Option<i64>,
    },
    /// One task with its plan, calls, journal and result
    #[command(after_help = "Example:\n  regent tasks show t-k7q2")]
    Show {
        /// Any unique beginning of its id
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Events {
    /// Take in events, one JSON object per line on standard input
    #[command(
        after_help = "Example:\n  echo '{\"adapter\":\"demo\",\"source_id\":\"1\",\"sender\":\"lea\",\"content\":\"hello\"}' | regent events ingest\n\nEach line is answered once it is durable: {\"key\",\"id\",\"new\"}; a bad one with {\"error\",\"line\"}.\nA line may say how far its adapter has read: \"watermark\". It is kept with the event, or not at all."
    )]
    Ingest,
    /// How far each adapter has read at its source
    #[command(after_help = "Example:\n  regent events watermarks --json")]
    Watermarks,
    /// Oldest first
    #[command(after_help = "Example:\n  regent events list --limit 10")]
    List {
        /// How many at the most
        #[arg(long, default_value_t = domain::limits::LIST_ENTRIES)]
        limit: u32,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Check that nothing in the record was changed; exit 0 if so, 1 if not
    #[command(
        after_help = "Example:\n  regent audit verify && echo good\n  regent audit verify --root ~/anchors/regent.jsonl --complete --bodies\n  regent audit verify --export record.jsonl --root 64 digits"
    )]
    Verify {
        /// Compare with what you kept elsewhere: the root key, or a file made by `audit anchor`
        #[arg(long, value_name = "KEY|FILE")]
        root: Option<String>,
        /// Also check that every effect has its entry, and every entry its effect
        #[arg(long, conflicts_with = "export")]
        complete: bool,
        /// Also compare every body (texts and results) with its digest
        #[arg(long, conflicts_with = "export")]
        bodies: bool,
        /// Check an exported record instead of this house's own
        #[arg(long, value_name = "FILE")]
        export: Option<PathBuf>,
    },
    /// Print the whole record for somebody who need not trust this program
    #[command(
        after_help = "Example:\n  regent audit export > record.jsonl && python3 docs/verify/verify.py record.jsonl"
    )]
    Export {
        /// Do not sign a checkpoint first
        #[arg(long)]
        as_is: bool,
    },
    /// Copy the signed checkpoints to where whoever takes this machine does not reach
    #[command(after_help = "Example:\n  regent audit anchor --to /media/stick")]
    Anchor {
        /// A file, a folder, or a folder in a git repository (there it is committed)
        #[arg(long, value_name = "PLACE")]
        to: String,
    },
    /// The newest entries
    #[command(after_help = "Example:\n  regent audit list --limit 20")]
    List {
        /// How many at the most
        #[arg(long, default_value_t = domain::limits::LIST_ENTRIES)]
        limit: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
