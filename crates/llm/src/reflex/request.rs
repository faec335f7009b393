//! What the grammar makes of a request: jobs, each of them something to do with a set of files. One job is one subtask.

use super::when::Age;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Never empty, and no two alike.
    pub jobs: Vec<Job>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub files: Files,
    pub what: What,
    /// The file that the answer is written to.
    pub save: Option<String>,
}

impl Job {
    /// Whether it changes the files that it is about.
    pub(super) const fn changes(&self) -> bool {
        matches!(self.what, What::Delete | What::Copy(_) | What::Move(_))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// How many there are, which they are, or both.
    Show {
        count: bool,
        list: bool,
    },
    Exists,
    /// How many bytes they have together.
    Size,
    Measure(Measure),
    /// The lines themselves that contain (or lack) the text.
    Lines(Matching),
    Part(Part),
    Hash(&'static str),
    Groups(By),
    Stats {
        functions: Vec<Function>,
        column: String,
        only: Option<Only>,
    },
    Rows(Option<Only>),
    Columns,
    /// How many rows there are of each value of a column.
    Values {
        column: String,
        only: Option<Only>,
    },
    Delete,
    Copy(To),
    Move(To),
    /// Arithmetic, as `calc` reads it.
    Calculate(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Lines,
    Words,
    /// Lines that contain, or lack, a text.
    Matching(Matching),
    /// How often a text occurs.
    Occurrences(Needle),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Matching {
    pub needle: Needle,
    pub lacking: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needle {
    pub text: String,
    pub any_case: bool,
    pub whole_word: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    First(u32),
    Last(u32),
    /// From, to; the first line is 1.
    Between(u32, u32),
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Extension,
    Folder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Sum,
    Mean,
    Min,
    Max,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Only {
    pub column: String,
    pub equals: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum To {
    File(String),
    /// Another name, where it is.
    Name(String),
    Folder(String),
    /// Another ending for each of them.
    Extension(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    Largest,
    Smallest,
    Newest,
    Oldest,
    MostLines,
    FewestLines,
    MostWords,
    MostMatches,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Top {
    pub rank: Rank,
    /// Nothing: all of them, in this order.
    pub n: Option<u32>,
}

/// What × which × where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    pub folders: bool,
    /// Any of them.
    pub kinds: Vec<Kind>,
    pub not_kinds: Vec<Kind>,
    /// One file, as it is called: with its folder, or wherever it lies.
    pub path: Option<String>,
    /// Globs over the file's own name; any of them.
    pub names: Vec<String>,
    /// The same, and paths of files.
    pub not_names: Vec<String>,
    /// A glob over the whole path. INVARIANT (pattern-alone): nothing else narrows such a set, because
    /// the tool `glob` takes nothing else.
    pub pattern: Option<String>,
    /// All of the workspace if there is none.
    pub under: Vec<String>,
    pub outside: Vec<String>,
    /// Not in folders further down.
    pub direct: bool,
    pub contains: Option<Needle>,
    pub lacks: Option<Needle>,
    pub age: Age,
    /// More bytes than this, fewer bytes than this.
    pub size: (Option<u64>, Option<u64>),
    pub empty: Option<bool>,
    /// One is spoken of, and not which: there must be just one.
    pub single: bool,
    pub top: Option<Top>,
}

#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub label: String,
    pub extensions: Vec<String>,
}

/// `.rs files` are `Rust files`, whatever they are called.
impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.extensions == other.extensions
    }
}
impl Eq for Kind {}

impl Rank {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Largest => "largest",
            Self::Smallest => "smallest",
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::MostLines => "most lines",
            Self::FewestLines => "fewest lines",
            Self::MostWords => "most words",
            Self::MostMatches => "most matches",
        }
    }
}

impl Rank {
    /// `largest`, `one with the most lines`.
    pub(super) fn named(self) -> String {
        if self.is_of_text() { format!("one with the {}", self.name()) } else { self.name().to_owned() }
    }

    /// By what is in the files.
    pub(super) const fn is_of_text(self) -> bool {
        matches!(self, Self::MostLines | Self::FewestLines | Self::MostWords | Self::MostMatches)
    }
}

impl Function {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "average",
            Self::Min => "minimum",
            Self::Max => "maximum",
        }
    }
}

impl Files {
    /// One file, wherever or exactly there.
    pub(super) fn is_one(&self) -> bool {
        self.path.is_some() || self.top.is_some_and(|top| top.n == Some(1))
    }

    /// Whether anything is said beyond "files".
    pub(super) fn is_narrowed(&self) -> bool {
        *self != Self { folders: self.folders, top: self.top, ..Self::default() }
    }
}
