//! What the grammar makes of a request, and how it is said back in English. One job is one call of one
//! tool, so one subtask.

use std::fmt::{self, Display};

use domain::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Never empty, and no two alike.
    pub jobs: Vec<Job>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Questions about a set of files; at least one of `count` and `show` is asked.
    Files { files: Files, count: bool, show: Option<Show> },
    /// Lines of one named file.
    Lines { path: String, text: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    List,
    Top(Rank, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    Largest,
    Newest,
}

/// What × which × where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    pub kind: Option<Kind>,
    /// A glob over the file's own name.
    pub name: Option<String>,
    pub contains: Option<String>,
    pub place: Place,
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    #[default]
    Workspace,
    Folder(String),
    /// A glob over the whole path. INVARIANT (pattern-alone): nothing else narrows such a set, because
    /// the tool `glob` takes nothing else.
    Pattern(String),
}

impl Rank {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Largest => "largest",
            Self::Newest => "newest",
        }
    }
}

impl Request {
    /// The same in any wording: `count_and_largest_files`.
    pub(super) fn class(&self) -> String {
        let asks = |word: &str| self.jobs.iter().any(|job| job.words().contains(&word));
        let asked: Vec<_> =
            ["count", "list", "largest", "newest", "search"].into_iter().filter(|w| asks(w)).collect();
        format!("{}_{}", asked.join("_and_"), if asks("search") { "text" } else { "files" })
    }

    /// The one place that is named, if there is just one.
    pub(super) fn scope(&self) -> Option<String> {
        let place = |job: &Job| match job {
            Job::Files { files: Files { place: Place::Workspace, .. }, .. } => None,
            Job::Files {
                files: Files { place: Place::Folder(place) | Place::Pattern(place), .. }, ..
            }
            | Job::Lines { path: place, .. } => Some(place.clone()),
        };
        let first = self.jobs.first().and_then(place);
        first.filter(|first| self.jobs.iter().all(|job| place(job).as_ref() == Some(first)))
    }

    pub(super) fn intent(&self) -> String {
        self.jobs.iter().map(Job::intent).collect::<Vec<_>>().join("; ")
    }
}

impl Job {
    fn words(&self) -> Vec<&'static str> {
        match self {
            Self::Lines { .. } => vec!["search"],
            Self::Files { files, count, show } => {
                let show = show.map(|show| match show {
                    Show::List if files.contains.is_some() => "search",
                    Show::List => "list",
                    Show::Top(rank, _) => rank.name(),
                });
                count.then_some("count").into_iter().chain(show).collect()
            }
        }
    }

    pub(super) fn intent(&self) -> String {
        match self {
            Self::Lines { path, text } => format!("search {path} for `{text}`"),
            Self::Files { files, count, show } => match (count, show) {
                (true, Some(Show::List)) => format!("count and list the {}", files.those(MANY)),
                (true, Some(Show::Top(rank, n))) => {
                    format!("count the {} and name the {}", files.those(MANY), top(*rank, *n))
                }
                (false, Some(Show::Top(rank, n))) => {
                    format!("name the {} {}", top(*rank, *n), files.those(u64::from(*n)))
                }
                (false, Some(Show::List)) => format!("list the {}", files.those(MANY)),
                (_, None) => format!("count the {}", files.those(MANY)),
            },
        }
    }
}

/// Any number that is not one.
const MANY: u64 = 2;

fn top(rank: Rank, n: u32) -> String {
    if n == 1 { rank.name().into() } else { format!("{n} {}", rank.name()) }
}

impl Show {
    /// The files a call has to name for this.
    pub(super) const fn limit(self) -> u32 {
        match self {
            Self::List => limits::LIST_ENTRIES,
            Self::Top(_, n) => n,
        }
    }
}

impl Files {
    /// `Rust files named `m*` under src`, for as many as there are.
    pub(super) fn noun(&self, count: u64) -> String {
        let kind = self.kind.iter().map(|kind| kind.label.clone());
        let noun = [if count == 1 { "file" } else { "files" }.to_owned()];
        let name = self.name.iter().map(|name| format!("named `{name}`"));
        let place = match &self.place {
            Place::Workspace => None,
            Place::Folder(folder) => Some(format!("under {folder}")),
            Place::Pattern(pattern) => Some(format!("matching `{pattern}`")),
        };
        kind.chain(noun).chain(name).chain(place).collect::<Vec<_>>().join(" ")
    }

    /// The same as part of a longer sentence: `files that contain `TODO``.
    pub(super) fn those(&self, count: u64) -> String {
        let that = self.contains.iter().map(|text| format!(" that {} `{text}`", contain(count)));
        [self.noun(count)].into_iter().chain(that).collect()
    }

    /// The beginning of a sentence: `57 Rust files`, `No files contain `TODO``.
    pub(super) fn counted(&self, count: u64) -> impl Display + use<> {
        let amount = if count == 0 { "No".to_owned() } else { count.to_string() };
        let text = self.contains.iter().map(|text| format!(" {} `{text}`", contain(count)));
        [format!("{amount} {}", self.noun(count))].into_iter().chain(text).collect::<String>()
    }
}

const fn contain(count: u64) -> &'static str {
    if count == 1 { "contains" } else { "contain" }
}

impl Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
