//! What can be wrong with a policy file, where, and what to do about it.

use std::fmt;

use super::limits::{FILE_BYTES, FILES, POLICIES, REPORTED, SET_BYTES, TEXT_BYTES, TOP};
use crate::acl::filter::NotNow;
use crate::acl::key::NotAKey;
use crate::acl::set::NotASet;
use crate::acl::when::NotATime;
use crate::vpol::rules::NotARate;

/// Line and column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: u64,
    pub column: u64,
}

impl Place {
    pub const START: Self = Self { line: 1, column: 1 };
}

/// One thing that keeps the files from being used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistake {
    pub file: String,
    pub at: Place,
    pub wrong: Wrong,
    /// What to do about it.
    pub help: Option<String>,
}

/// Something to know about files that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub file: String,
    pub at: Place,
    pub noted: Noted,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    // about whole files
    #[error("there are more than {FILES} policy files")]
    TooManyFiles,
    #[error("the file is larger than {FILE_BYTES} bytes")]
    TooLarge,
    #[error("the policy files are larger than {SET_BYTES} bytes together")]
    SetTooLarge,
    #[error("there are more than {POLICIES} policies")]
    TooManyPolicies,
    #[error(transparent)]
    Set(#[from] NotASet),
    #[error(transparent)]
    Vpols(#[from] crate::vpol::NotASet),
    #[error("this is not YAML: {0}")]
    NotYaml(String),
    #[error("there is too much in this file, or it is nested too deeply")]
    TooMuch,
    #[error("aliases stand for too much here")]
    AliasBomb,
    #[error("a second document begins here")]
    SecondDocument,
    #[error("tags are not understood here")]
    Tagged,

    // about the form
    #[error("{what} is {wanted}, and not {found}")]
    Not { what: &'static str, wanted: &'static str, found: &'static str },
    #[error("there is no field `{field}` in {of}")]
    NoField { field: String, of: &'static str },
    #[error("the field `{0}` stands here a second time")]
    SecondField(String),
    #[error("`{field}` is missing in {of}")]
    Missing { field: &'static str, of: &'static str },
    #[error("`{given}` is none of the words for {what}")]
    NoSuchWord { given: String, what: &'static str },
    #[error("{0} is empty")]
    Empty(&'static str),
    #[error("{0} is longer than {TEXT_BYTES} bytes")]
    TooLong(&'static str),
    #[error("there are {found} entries here, and {most} are the most")]
    TooMany { found: usize, most: usize },
    #[error("{0} holds a character that nobody sees")]
    Unseen(&'static str),

    // about the meaning
    #[error("`{0}` is no name in kebab-case")]
    NotKebab(String),
    #[error("another policy is called `{name}`, at {first}")]
    NameTaken { name: String, first: String },
    #[error("a priority of {0} is not between 0 and {TOP}")]
    Priority(i64),
    #[error("the glob `{glob}` holds `{found}`, and so fits no {over}")]
    Glob { glob: String, found: char, over: &'static str },
    #[error("`{0}` is a glob, and credentials are named one by one")]
    CredentialGlob(String),
    #[error("this is no time: {0}")]
    Time(#[from] NotATime),
    #[error("this is no session key: {0}")]
    Key(#[from] NotAKey),
    #[error("`{{{variable}}}` is never known where `{because}` is true, and a key needs it")]
    NeverKnown { variable: &'static str, because: &'static str },
    #[error("only a ceiling can do without an effect")]
    NoEffect,
    #[error("a ceiling without an effect admits nobody, so its session is never used")]
    IdleSession,
    #[error("pairing answers a denial, and this policy does not deny")]
    IdlePairing,
    #[error("`{0}` is the name of the policy that counts where no other applies")]
    Reserved(String),
    #[error(transparent)]
    Rate(#[from] NotARate),
    #[error("`{given}` is no amount of {unit}")]
    Amount { given: String, unit: &'static str },
    #[error("monitor leaves every call alone, so `up_to` changes nothing")]
    IdleUpTo,

    // about examples
    #[error(transparent)]
    Now(#[from] NotNow),
    #[error("an example does not come out: {what} should be {wanted}, and is {found}")]
    Example { what: String, wanted: String, found: String },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Noted {
    #[error("`{name}` has the priority of `{first}`, at {place}: the one that comes first counts")]
    SamePriority { name: String, first: String, place: String },
    #[error("`{0}` says neither whom nor where, so it is about everybody everywhere")]
    Everybody(String),
    #[error("the ceiling `{name}` names no {what}, so none gets through under it")]
    Closed { name: String, what: &'static str },
    #[error("`{0}` governs some calls only, so the other calls of its chains are under no validation policy")]
    Partly(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.at, self.wrong)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.at, self.noted)
    }
}

/// Everything that is wrong, never nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistakes {
    /// The first of them by file and place, up to [`REPORTED`].
    pub all: Vec<Mistake>,
    /// How many more there are.
    pub more: usize,
}

impl Mistakes {
    /// Nothing if nothing is wrong. Files stay in the order in which they were given.
    pub(crate) fn of(mut found: Vec<(usize, Mistake)>) -> Option<Self> {
        found.sort_by_key(|(file, mistake)| (*file, mistake.at));
        let more = found.len().saturating_sub(REPORTED);
        let all: Vec<Mistake> = found.into_iter().map(|(_, mistake)| mistake).take(REPORTED).collect();
        (!all.is_empty()).then_some(Self { all, more })
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.all.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            write!(f, "{end}{mistake}")?;
        }
        if self.more > 0 { write!(f, "\nand {} more", self.more) } else { Ok(()) }
    }
}
