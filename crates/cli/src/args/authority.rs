//! What is said of tools and questions.

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
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

#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// List what waits for you, next to expire first
    #[command(
        after_help = "Example:\n  regent approvals list --json\n  regent approvals list --senders --limit 20"
    )]
    List {
        /// How many at most
        #[arg(long, default_value_t = domain::limits::LIST_ENTRIES)]
        limit: u32,
        /// Show every sender that wants in, not only the first three
        #[arg(long)]
        senders: bool,
    },
    /// Everything about one question
    #[command(after_help = "Example:\n  regent approvals show a-m3xd\n  regent approvals show a-m3xd -v")]
    Show {
        /// Any unique beginning of its id
        id: String,
        /// Texts in full, however long
        #[arg(short = 'v', long)]
        all: bool,
    },
    /// Say yes, once or for longer
    #[command(
        after_help = "Example:\n  regent approvals approve a-m3xd\n  regent approvals approve a-m3xd a-p2ne\n  regent approvals approve a-m3xd --for 24h\n  regent approvals approve a-w8kd --value aurora.example\n  regent approvals approve k-7q2m/2 --name Lea --relationship partner"
    )]
    Approve {
        /// Any unique beginning of each id
        #[arg(value_name = "ID", required = true, num_args = 1..)]
        ids: Vec<String>,
        /// How long the yes lasts; the last two write a grant
        #[arg(long = "for", value_name = "TIME", default_value = "once")]
        lasting: Lasting,
        /// How long the call may wait before it uses the yes: `2h`, `7d`; 24 hours unless you say otherwise
        #[arg(long = "valid-for", value_name = "TIME", value_parser = valid_for)]
        valid_for: Option<std::time::Duration>,
        /// What has to be typed of the value, where a plain yes is not enough
        #[arg(long, value_name = "TEXT")]
        value: Option<String>,
        /// Of somebody who wants in: what they are called
        #[arg(long)]
        name: Option<String>,
        /// Of somebody who wants in: what they are to you; `friend` unless you say otherwise
        #[arg(long, value_name = "WORD")]
        relationship: Option<String>,
        /// Of somebody who wants in: somebody you know already
        #[arg(long, value_name = "WHO", conflicts_with_all = ["name", "relationship"])]
        person: Option<String>,
    },
    /// Say no
    #[command(
        after_help = "Example:\n  regent approvals reject a-m3xd \"the originals are not there any more\""
    )]
    Reject {
        /// Any unique beginning of its id
        id: String,
        /// The agent is told it
        #[arg(value_name = "REASON")]
        reason: Vec<String>,
    },
    /// Say yes to the same call with other arguments
    #[command(after_help = "Example:\n  regent approvals modify a-w8kd to=billing@aurora.example")]
    Modify {
        /// Any unique beginning of its id
        id: String,
        /// Arguments that differ, as name=value; the others stay
        #[arg(value_name = "NAME=VALUE")]
        args: Vec<String>,
        /// All arguments as one JSON object
        #[arg(long = "args", visible_alias = "json-args", value_name = "JSON", conflicts_with = "args")]
        json_args: Option<String>,
        /// What has to be typed of the value, where a plain yes is not enough
        #[arg(long, value_name = "TEXT")]
        value: Option<String>,
    },
    /// Hand a question to the next authority; its time begins anew
    #[command(after_help = "Example:\n  regent approvals escalate a-m3xd")]
    Escalate {
        /// Any unique beginning of its id
        id: String,
    },
    /// A number and a one-time code to answer a question from a chat
    #[command(after_help = "Example:\n  regent approvals code a-m3xd")]
    Code {
        /// Any unique beginning of its id
        id: String,
    },
    /// A reply as it came from a chat
    #[command(
        after_help = "Example:\n  regent approvals reply \"yes 3 K7Q2MX8P\"\n  regent approvals reply \"no 3 K7Q2MX8P not today\""
    )]
    Reply {
        /// `yes` or `no`, the number, the code, and with a no the reason
        #[arg(value_name = "REPLY", required = true, num_args = 1..)]
        text: Vec<String>,
    },
}

/// How long a yes lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lasting {
    Once,
    #[value(name = "24h")]
    Day,
    Always,
}

impl From<Lasting> for domain::approval::Lasting {
    fn from(lasting: Lasting) -> Self {
        match lasting {
            Lasting::Once => Self::Once,
            Lasting::Day => Self::Day,
            Lasting::Always => Self::Always,
        }
    }
}

/// A time as people write it.
fn valid_for(text: &str) -> Result<std::time::Duration, String> {
    app::instance::settings::duration(text).ok_or_else(|| "write it like 2h or 7d, up to 30d".to_owned())
}
