//! What is said of tools and policies.

use std::path::PathBuf;

use app::operation::Lifetime;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Authority {
    /// Check that this instance wrote every row that carries authority; exit 1 if not
    #[command(after_help = "Example:\n  regent authority show")]
    Show,
    /// Withdraw every approval, grant, link, switch and tool registration, and halt
    ///
    /// For after another program has written to the database. What lets somebody do something is withdrawn, because what that
    /// program wrote cannot be told from the rest. Names and halts stay. Then link people again, switch policies again,
    /// and lift the halt with `regent resume-all`.
    #[command(after_help = "Example:\n  regent authority reset --dry-run\n  regent authority reset --yes")]
    Reset {
        /// Say what would be withdrawn, and change nothing
        #[arg(long)]
        dry_run: bool,
        /// Do it without asking
        #[arg(long, conflicts_with = "dry_run")]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Acl {
    /// Every policy in force, in the order in which they are heard
    #[command(after_help = "Example:\n  regent acl list")]
    List,
    /// One policy, whole, as YAML
    #[command(after_help = "Example:\n  regent acl show partner-access")]
    Show {
        /// As `regent acl list` shows it
        name: String,
    },
    /// Put a file of policies in force, in place of what was applied under its name
    #[command(
        after_help = "Example:\n  regent acl apply people.yaml --dry-run\n  regent acl apply people.yaml\n\nIt is checked together with everything else first; with a mistake anywhere nothing is written.\nAll fields: docs/access.md"
    )]
    Apply {
        /// The policies, in YAML
        file: PathBuf,
        /// Only say what would change, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Take a file of policies out again
    #[command(after_help = "Example:\n  regent acl remove people.yaml")]
    Remove {
        /// The name it was applied under
        file: String,
        /// Only say what would change, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Switch a policy on, whatever its file says
    #[command(after_help = "Example:\n  regent acl enable quiet-hours")]
    Enable { name: String },
    /// Switch a policy off, whatever its file says; a denial that is off denies nothing
    #[command(after_help = "Example:\n  regent acl disable friends-access")]
    Disable { name: String },
    /// Say everything that is wrong with these files, or that nothing is
    #[command(
        after_help = "Example:\n  regent acl validate people.yaml groups.yaml\n  regent acl validate          those of the house\n\nAll fields: docs/access.md"
    )]
    Validate {
        /// The policies, in YAML; those of the house, if none is named
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Who would be let in, with what, and why: cases in, decisions out
    #[command(
        after_help = "Example:\n  echo '{\"principal\":{\"relationship\":\"partner\"},\"event\":{\"platform\":\"matrix\",\"container_kind\":\"dm\"},\"tools\":[\"web_search\"]}' | regent acl test\n  regent acl test --events --policies people.yaml\n\nEach line is answered with {\"effect\",\"matched\",\"session\",\"permissions\",\"may\",\"data\",\"credentials\",\"modifiers\",\"reason\"}; a bad one with {\"error\",\"line\"}.\nAll fields: docs/filters.md"
    )]
    Test {
        /// The policies, in YAML; those in force, if none is named (without a house: those that ship)
        #[arg(long, value_name = "FILE")]
        policies: Vec<PathBuf>,
        /// Instead of cases: what came in, as it was decided about and as it would be with these files applied
        #[arg(long)]
        events: bool,
        /// How far back: 24h, 7d or always
        #[arg(long, value_name = "TIME", default_value = "24h", requires = "events")]
        since: Lifetime,
        /// Also those for which nothing would be different
        #[arg(long, requires = "events")]
        all: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Vpol {
    /// Every validation policy, in the order in which they are heard
    #[command(after_help = "Example:\n  regent vpol list")]
    List {
        /// The policies, in YAML; those that count, if none is named
        #[arg(long, value_name = "FILE")]
        policies: Vec<PathBuf>,
    },
    /// One of them, as a file would say it
    #[command(after_help = "Example:\n  regent vpol show unattended")]
    Show {
        name: String,
        /// The policies, in YAML; those that count, if none is named
        #[arg(long, value_name = "FILE")]
        policies: Vec<PathBuf>,
    },
    /// Say everything that is wrong with these files, or that nothing is
    #[command(after_help = "Example:\n  regent vpol validate careful.yaml\n\nAll fields: docs/access.md")]
    Validate {
        /// The policies, in YAML
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Which policy a chain would get, and what it says of a call: cases in, answers out
    #[command(
        after_help = "Example:\n  echo '{\"principal\":{\"is_owner\":true},\"attended\":false,\"call\":{\"tool\":\"delete_file\",\"tier\":\"write_destructive\"}}' | regent vpol test\n\nEach line is answered with {\"policy\",\"id\",\"mode\",\"up_to\",\"reason\",\"call\":{\"answer\",\"reason\",\"instead\"}}; a bad one with {\"error\",\"line\"}.\nAll fields: docs/filters.md"
    )]
    Test {
        /// The policies, in YAML; those that count, if none is named
        #[arg(long, value_name = "FILE")]
        policies: Vec<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// Every tool, with its tier, its level and whether it is on
    #[command(after_help = "Example:\n  regent tools list")]
    List,
    /// Everything that is known of one tool
    #[command(after_help = "Example:\n  regent tools show write_file\n  regent tools show file:read --json")]
    Show {
        /// Its id, or another name it is known by
        tool: String,
    },
    /// Switch a tool on
    #[command(after_help = "Example:\n  regent tools enable write_file")]
    Enable { tool: String },
    /// Switch a tool off; nobody can use it then
    #[command(after_help = "Example:\n  regent tools disable write_file")]
    Disable { tool: String },
    /// Set how much a tool is watched: 0 (every call reviewed) to 4 (none)
    #[command(after_help = "Example:\n  regent tools level write_file 0")]
    Level {
        tool: String,
        #[arg(value_parser = clap::value_parser!(u8).range(0..=4))]
        level: u8,
    },
    /// Register a tool from a JSON file, or change one that was; it starts at level 0
    #[command(
        after_help = "Example:\n  echo '{\"tool_id\":\"notes_read\",\"description\":\"reads the notes\",\"handler_config\":{\"function\":\"read_file\",\"fixed\":{\"path\":\"NOTES.md\"}}}' | regent tools add -\n\nAll fields: docs/broker.md"
    )]
    Add {
        /// The file, or `-` for standard input
        file: String,
    },
    /// Take a registered tool out again
    #[command(after_help = "Example:\n  regent tools remove notes_read")]
    Remove { tool: String },
    /// Call a tool yourself, here, through the same door as any agent
    #[command(
        after_help = "Example:\n  regent tools call find_files 'extensions=[\"rs\"]' limit=3\n  regent tools call write_file path=hello.txt content=hello\n  regent tools call delete_file path=hello.txt --yes\n  regent tools call calc --args '{\"expression\": \"19.99 * 3\"}'"
    )]
    Call {
        tool: String,
        /// Arguments as name=value
        #[arg(value_name = "NAME=VALUE")]
        args: Vec<String>,
        /// All arguments as one JSON object
        #[arg(long = "args", value_name = "JSON", conflicts_with = "args")]
        json_args: Option<String>,
        /// Say yes to exactly this call, where a person is asked
        #[arg(long)]
        yes: bool,
        /// Stay until every question that it leads to is answered, here or elsewhere
        #[arg(long)]
        wait: bool,
    },
}
