//! What is said of people.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum People {
    /// Make somebody known
    #[command(
        after_help = "Example:\n  regent people add Lea --relationship partner --link demo:lea\n  regent people add \"Billing desk\" --kind webhook --tag role:billing"
    )]
    Add(Box<NewPerson>),
    /// Say whose an address is
    #[command(
        after_help = "Example:\n  regent people link Lea mail:lea@example.org\n  regent people link owner matrix:@me:example.org --verified"
    )]
    Link {
        /// A name, `owner`, an address that is linked, or any unique beginning of an id
        who: String,
        /// The address, exactly as events bring it
        #[arg(value_name = "PLATFORM:IDENTIFIER")]
        address: String,
        /// You have made sure that nobody else can write from it
        #[arg(long)]
        verified: bool,
    },
    /// Take a link back; what came from the address stays with the address
    #[command(after_help = "Example:\n  regent people unlink mail:lea@example.org")]
    Unlink {
        #[arg(value_name = "PLATFORM:IDENTIFIER")]
        address: String,
    },
    /// Everybody who is known, and how many senders are not
    #[command(after_help = "Example:\n  regent people list\n  regent people list --unknown --json")]
    List {
        /// Instead: the addresses that nobody knows the owner of, newest first
        #[arg(long)]
        unknown: bool,
        /// How many of these at the most
        #[arg(long, requires = "unknown", default_value_t = domain::limits::LIST_ENTRIES)]
        limit: u32,
    },
    /// Everything that is known of one person
    #[command(after_help = "Example:\n  regent people show Lea\n  regent people show p-k7q2 --json")]
    Show {
        /// A name, `owner`, an address that is linked, or any unique beginning of an id
        who: String,
    },
    /// Change what is said of somebody
    #[command(
        after_help = "Example:\n  regent people set Lea --relationship friend --tag role:billing\n  regent people set Lea --trust hostile\n  regent people set Lea --no-trust --no-tag role:billing"
    )]
    Set(Box<Changes>),
}

#[derive(Debug, Args)]
pub(crate) struct NewPerson {
    /// What you call them; no two have the same name
    pub(crate) name: String,
    /// What they are to you: partner, family, friend, or any other word
    #[arg(long, value_name = "WORD")]
    pub(crate) relationship: Option<String>,
    /// What policies may ask for, like role:billing; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// How far, if not as everybody who is known
    #[arg(long, value_name = "TRUST")]
    pub(crate) trust: Option<Trust>,
    /// What they are
    #[arg(long, value_name = "KIND", default_value = "person")]
    pub(crate) kind: Kind,
    /// An address of theirs; may be given again
    #[arg(long = "link", value_name = "PLATFORM:IDENTIFIER")]
    pub(crate) addresses: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// A name, `owner`, an address that is linked, or any unique beginning of an id
    pub(crate) who: String,
    /// What they are to you
    #[arg(long, value_name = "WORD", conflicts_with = "no_relationship")]
    pub(crate) relationship: Option<String>,
    /// They are nothing in particular
    #[arg(long)]
    pub(crate) no_relationship: bool,
    /// One more tag; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// One tag less; may be given again
    #[arg(long = "no-tag", value_name = "TAG")]
    pub(crate) no_tags: Vec<String>,
    /// How far they are trusted, whatever they write from
    #[arg(long, value_name = "TRUST", conflicts_with = "no_trust")]
    pub(crate) trust: Option<Trust>,
    /// As far as everybody who is known
    #[arg(long)]
    pub(crate) no_trust: bool,
}

/// What the owner may say of others: operator is the owner's own, system the house's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Trust {
    Hostile,
    Untrusted,
    Standard,
    Verified,
}

impl From<Trust> for domain::Trust {
    fn from(trust: Trust) -> Self {
        match trust {
            Trust::Hostile => Self::Hostile,
            Trust::Untrusted => Self::Untrusted,
            Trust::Standard => Self::Standard,
            Trust::Verified => Self::Verified,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Person,
    Webhook,
    Agent,
    Persona,
}

impl From<Kind> for ledger::records::EntityKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Person => Self::Person,
            Kind::Webhook => Self::Webhook,
            Kind::Agent => Self::Agent,
            Kind::Persona => Self::Persona,
        }
    }
}
