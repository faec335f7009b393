//! One clause of a request as it was said, before it is known what its clauses mean together.

use super::request::{Files, Function, Matching, Only, Rank};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one word that was said or not")]
pub(super) struct Said {
    pub act: Option<Act>,
    /// `how many`, `count`.
    pub count: bool,
    /// `list`, `show`, `which`: the weakest of all acts.
    pub list: bool,
    /// `show`, `print`, `read`: of one file, what is in it.
    pub reads: bool,
    pub search: bool,
    /// The answer is to be written down.
    pub save: bool,
    pub to: Option<Target>,
    /// What files, as far as this clause says.
    pub files: Files,
    /// Files that are named one by one.
    pub paths: Vec<String>,
    /// Whether files or folders are spoken of at all.
    pub headed: bool,
    /// `all`, `every`.
    pub all: bool,
    pub any: bool,
    /// `each`: one number for every file, and no total.
    pub each: bool,
    /// `which of the 3 largest`: what follows is about those, and not about which they are.
    pub of_top: bool,
    pub plural: Option<bool>,
    pub noun: Option<Noun>,
    /// `lines` stood before the files that they are in.
    pub lines_first: bool,
    /// What the lines contain or lack, or what is searched for.
    pub text: Option<Matching>,
    pub rank: Option<Rank>,
    /// How many are to be named.
    pub number: Option<u32>,
    /// `which of them is the largest`: one, however many they are.
    pub single: bool,
    /// `biggest first`: an order, and no number.
    pub ordered: bool,
    pub part: Option<Piece>,
    pub functions: Vec<Function>,
    pub column: Option<String>,
    pub only: Option<Only>,
    pub by: Option<Key>,
    /// `them`, `its`: what was spoken of before.
    pub same: bool,
    /// `it`: one, and not several.
    pub it: bool,
    /// Whether what stood before may ask about it, `can I delete`, instead of wanting it.
    pub asking: bool,
    /// `including subfolders`.
    pub deep: bool,
    /// `rename`, which leaves a file where it is.
    pub renames: bool,
    /// Something was left out, and what follows may be about that.
    pub excepted: bool,
    /// `without the header`.
    pub headless: bool,
    /// `takes up`: what is asked has to be a size.
    pub takes: bool,
    /// `modified`, and nothing yet about when.
    pub changed: bool,
    /// An open word in front of a table: `how many tickets`.
    pub thing: Option<String>,
    /// `what`, which may ask for the meaning of a word, too.
    pub what: bool,
    /// A folder that stands where a size is asked for: it is what is measured, or nothing is.
    pub sized: bool,
    /// Whether `and` stood right before the piece that is read.
    pub joined: bool,
    /// Where a bare name ended: another one right behind it belongs to nobody.
    pub named_until: usize,
    /// Whether `then` or the end of a sentence stood before it.
    pub apart: bool,
    /// `here`: everywhere is said, too.
    pub said_here: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Exists,
    Size,
    Hash(&'static str),
    Delete,
    Copy,
    Move,
}

/// What is counted or shown, where it is not the files themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noun {
    Lines,
    Words,
    Times,
    Rows,
    Columns,
    Names,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    First(Option<u32>),
    Last(Option<u32>),
    Between(u32, u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// With the word for it: a table may have a column that is called so.
    Extension(String),
    Folder,
    Column(String),
}

/// Where something goes, as it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub path: String,
    /// `into a folder called`.
    pub folder: bool,
    /// `to a file called`.
    pub file: bool,
}

impl Act {
    /// Whether it changes files: then nothing but it may be said.
    pub(super) const fn changes(self) -> bool {
        matches!(self, Self::Delete | Self::Copy | Self::Move)
    }
}

impl Said {
    /// Whether a verb says what to do.
    pub(super) const fn has_verb(&self) -> bool {
        self.act.is_some() || self.count || self.list || self.search || self.save
    }

    pub(super) fn changes(&self) -> bool {
        self.act.is_some_and(Act::changes)
    }

    /// Whether anything is asked for yet.
    pub(super) fn asks(&self) -> bool {
        self.act.is_some()
            || self.count
            || self.list
            || self.search
            || self.save
            || self.part.is_some()
            || !self.functions.is_empty()
            || self.rank.is_some()
            || self.by.is_some()
    }

    /// Whether it says anything about which files.
    pub(super) fn is_about_files(&self) -> bool {
        self.headed || !self.paths.is_empty() || self.files.is_narrowed()
    }
}
