//! The command line, as types. Every command's help ends with an example.

mod authority;
mod model;
mod people;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use authority::{Approvals, Lasting, Tools};
pub(crate) use model::{Model, Tier};
pub(crate) use people::{Changes as PersonChanges, People};

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
    /// Do what is asked, here, and print the result
    #[command(after_help = "Example:\n  regent run \"list the 5 newest markdown files under docs\"")]
    Run {
        /// What is to be done, in plain language
        #[arg(value_name = "REQUEST", required = true, num_args = 1..)]
        request: Vec<String>,
        /// Stay until every question that it leads to is answered, here or elsewhere
        #[arg(long)]
        wait: bool,
        /// Only show the plan, the tools and what you would be asked; do nothing
        #[arg(long, conflicts_with = "wait")]
        plan: bool,
        /// Ask a model even if the reflexes understand it
        #[arg(long)]
        no_reflex: bool,
        /// Take answers from a recording (`regent replay <task> --recording`) instead of asking a model
        #[arg(long, value_name = "FILE", conflicts_with = "no_reflex")]
        replay: Option<PathBuf>,
    },
    /// Go on with a task that was interrupted, or that waited for you
    #[command(
        after_help = "Example:\n  regent resume          the only unfinished one\n  regent resume t-k7q2\n  regent resume t-k7q2 \"the one under docs\""
    )]
    Resume {
        /// A task or an event; any unique beginning of its id
        id: Option<String>,
        /// What you say to the question that it asks
        answer: Option<String>,
        /// Stay until every question that it leads to is answered, here or elsewhere
        #[arg(long)]
        wait: bool,
    },
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
    /// What waits for your word
    #[command(
        subcommand,
        after_help = "Example:\n  regent approvals list\n  regent approvals approve a-m3xd"
    )]
    Approvals(Approvals),
    /// Put back the files that a task has changed, in the folder it worked in
    #[command(
        after_help = "Example:\n  regent undo t-k7q2 --dry-run\n  regent undo t-k7q2\n\nWhat is kept, and what cannot be undone: docs/undo.md"
    )]
    Undo {
        /// Any unique beginning of the task's id; an undo is a task too, and can be undone
        task: String,
        /// Only say what would be put back, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// The tools: what there is, what is on, and a call by your own hand
    #[command(subcommand, after_help = "Example:\n  regent tools call hash path=README.md")]
    Tools(Tools),
    /// Language models: who is asked and why, whether they answer, who is to be
    #[command(
        subcommand,
        after_help = "Example:\n  regent model list\n  regent model set brain anthropic/claude-sonnet-5-5\n\nSet-up for each provider: docs/models.md"
    )]
    Model(Model),
    /// What the broker would say to a model's calls: episodes in, decisions out
    #[command(
        after_help = "Example:\n  echo '{\"id\":1,\"request\":\"read notes.txt\",\"tools\":[{\"name\":\"read\",\"tier\":\"read_only\",\"input_schema\":{\"properties\":{\"path\":{}}}}],\"steps\":[{\"tool\":\"read\",\"args\":{\"path\":\"notes.txt\"}}]}' | regent authorize\n\nEach line is answered with {\"id\",\"steps\":[{\"tool\",\"decision\",\"layer\",\"reason\",\"provenance\"}]}; a bad one with {\"error\",\"line\"}.\nAll fields: docs/filters.md"
    )]
    Authorize,
    /// The Goal Gradient Solver: what a round of work means for the next one
    #[command(subcommand, after_help = "Example:\n  regent ggs step < rounds.jsonl")]
    Ggs(Ggs),
    /// Who is known, what they write from, and how far they are trusted
    #[command(
        subcommand,
        after_help = "Example:\n  regent people add Lea --relationship partner --link demo:lea\n  regent people list"
    )]
    People(People),
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
    /// Erase everything that is kept of a person
    #[command(
        after_help = "Example:\n  regent forget --person demo:lea --dry-run\n  regent forget --person demo:lea\n\nWhat goes, what stays and what it does not reach: docs/erasure.md"
    )]
    Forget {
        /// Who: an address as platform:identifier, a name, or any unique beginning of an identity's or entity's id
        #[arg(long, value_name = "WHO")]
        person: String,
        /// Only count what would go, and change nothing
        #[arg(long)]
        dry_run: bool,
        /// Do not ask; needed where there is no terminal
        #[arg(long, conflicts_with = "dry_run")]
        yes: bool,
    },
    /// What needs you, and how the house is doing
    #[command(after_help = "Example:\n  regent status")]
    Status,
    /// Look at everything and say what to do about it
    #[command(after_help = "Example:\n  regent doctor")]
    Doctor,
    /// Where data, keys and settings are, and how to remove them
    #[command(after_help = "Example:\n  regent paths --json")]
    Paths,
    /// The settings that count
    #[command(subcommand, after_help = "Example:\n  regent config show --origin")]
    Config(Config),
    /// Set up the house; not needed, the first command does it too
    #[command(after_help = "Example:\n  regent init --yes")]
    Init {
        /// Ask nothing
        #[arg(long)]
        yes: bool,
    },
    /// Do what the house does by itself now and then, if it is due; by hand or from cron
    #[command(after_help = "Example:\n  regent tick")]
    Tick,
    /// Bring the house forward to this program, or only try; the next command does it too
    #[command(after_help = "Example:\n  regent upgrade --check")]
    Upgrade {
        /// Only rehearse it, and say what would happen
        #[arg(long, visible_alias = "dry-run")]
        check: bool,
    },
    /// Copy the whole house, and try whether the copy can be restored
    #[command(after_help = "Example:\n  regent backup --to /mnt/usb")]
    Backup {
        /// Where the copy's folder is made; without it: beside the house's data
        #[arg(long, value_name = "FOLDER")]
        to: Option<PathBuf>,
        /// Say what would be copied, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Put a backup in the place of this house; what is there is copied first
    #[command(after_help = "Example:\n  regent restore --dry-run /mnt/usb/regent-20261116T051805Z")]
    Restore {
        /// The folder of a backup
        folder: PathBuf,
        /// Try it in a scratch place, and say what would be replaced
        #[arg(long)]
        dry_run: bool,
        /// Ask nothing
        #[arg(long)]
        yes: bool,
    },
    /// What an error code or a decision means
    #[command(after_help = "Example:\n  regent explain R4010")]
    Explain {
        /// A code like R4010, or an id
        what: String,
    },
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
    /// Whether it can leave work behind that `resume` goes on with.
    pub(crate) const fn works(&self) -> bool {
        matches!(
            self,
            Self::Run { .. } | Self::Resume { .. } | Self::Undo { .. } | Self::Tools(Tools::Call { .. })
        )
    }

    /// Whether it is of use even where nobody knows where the house is.
    pub(crate) fn needs_no_house(&self) -> bool {
        match self {
            Self::Explain { what } => app::Code::parse(what).is_some(),
            Self::Completions { .. } | Self::Help { .. } | Self::Authorize | Self::Ggs(_) => true,
            _ => false,
        }
    }

    /// Whether it is of use even where the settings are wrong: it helps to put them right, or reads none.
    pub(crate) const fn helps(&self) -> bool {
        matches!(
            self,
            Self::Explain { .. }
                | Self::Paths
                | Self::Doctor
                | Self::Completions { .. }
                | Self::Help { .. }
                | Self::Authorize
                | Self::Ggs(_)
        )
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

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Every setting with its value
    #[command(after_help = "Example:\n  regent config show --origin")]
    Show {
        /// Say where each value came from
        #[arg(long)]
        origin: bool,
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
