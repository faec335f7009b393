//! The command line, as types. Every command's help ends with an example.

mod authority;
mod model;
mod people;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use authority::{Acl, Approvals, Authority, Lasting, Tools, Vpol};
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
    /// Access policies: who is let in, with what; put in force, checked and asked
    #[command(subcommand, after_help = "Example:\n  regent acl list\n  regent acl apply people.yaml")]
    Acl(Acl),
    /// Who is known, what they write from, and how far they are trusted
    #[command(
        subcommand,
        after_help = "Example:\n  regent people add Lea --relationship partner --link demo:lea\n  regent people list"
    )]
    People(People),
    /// Validation policies: how closely calls are looked at, and whose
    #[command(subcommand, after_help = "Example:\n  regent vpol show unattended")]
    Vpol(Vpol),
    /// Check or reset what counts as your word in the database
    #[command(
        subcommand,
        after_help = "Example:\n  regent authority show\n  regent authority reset --dry-run"
    )]
    Authority(Authority),
    /// Stop everything now: no call starts, what runs is stopped; until `resume-all`
    #[command(after_help = "Example:\n  regent halt")]
    Halt,
    /// Lift a halt, and say what there is to go on with
    #[command(after_help = "Example:\n  regent resume-all")]
    ResumeAll,
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
            Self::Acl(Acl::Validate { files }) => !files.is_empty(),
            Self::Completions { .. }
            | Self::Help { .. }
            | Self::Acl(Acl::Test { events: false, .. })
            | Self::Vpol(_) => true,
            _ => false,
        }
    }

    /// Whether it is of use even where the settings are wrong: it helps to put them right, or reads none.
    pub(crate) const fn helps(&self) -> bool {
        match self {
            // Which policies are in force stands in the database that the settings name.
            Self::Acl(Acl::Test { policies, events: false, .. }) | Self::Vpol(Vpol::Test { policies }) => {
                !policies.is_empty()
            }
            Self::Explain { .. }
            | Self::Paths
            | Self::Doctor
            | Self::Completions { .. }
            | Self::Help { .. }
            | Self::Acl(Acl::Validate { .. })
            | Self::Vpol(Vpol::Validate { .. }) => true,
            _ => false,
        }
    }
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
