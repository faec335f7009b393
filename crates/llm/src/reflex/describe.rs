//! A request said back in English: what a job is to do, and the files it is about.

use super::request::{By, Files, Job, Kind, Matching, Measure, Needle, Only, Part, Request, To, Top, What};

/// Any number that is not one.
pub(super) const MANY: u64 = 2;

impl Request {
    /// The same in any wording: `count_and_largest_files`.
    pub(super) fn class(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        for word in self.jobs.iter().flat_map(Job::class) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let noun = match self.jobs.first().map(|job| (&job.what, job.files.folders)) {
            Some((What::Stats { .. } | What::Rows(_) | What::Columns | What::Values { .. }, _)) => "table",
            Some((What::Calculate(_), _)) => "numbers",
            Some((What::Lines(_) | What::Part(_), _)) => "text",
            Some((_, true)) => "folders",
            _ => "files",
        };
        format!("{}_{noun}", words.join("_and_"))
    }

    /// The one place that is named, if there is just one.
    pub(super) fn scope(&self) -> Option<String> {
        let place = |job: &Job| match (&job.files.path, &job.files.pattern, job.files.under.as_slice()) {
            (Some(path), ..) => Some(path.clone()),
            (_, Some(pattern), _) => Some(pattern.clone()),
            (_, _, [only]) => Some(only.clone()),
            _ => None,
        };
        let first = self.jobs.first().and_then(place);
        first.filter(|first| self.jobs.iter().all(|job| place(job).as_ref() == Some(first)))
    }

    pub(super) fn intent(&self) -> String {
        self.jobs.iter().map(Job::intent).collect::<Vec<_>>().join("; ")
    }
}

impl Job {
    fn class(&self) -> Vec<String> {
        let top = self.files.top.map(|top| top.rank.name().replace(' ', "_"));
        let words: Vec<&str> = match &self.what {
            What::Show { count, list } => {
                let listed = (*list && top.is_none()).then_some("list");
                count.then_some("count").into_iter().chain(listed).collect()
            }
            What::Exists => vec!["exists"],
            What::Size => vec!["size"],
            What::Measure(Measure::Lines) => vec!["count_lines"],
            What::Measure(Measure::Words) => vec!["count_words"],
            What::Measure(Measure::Matching(_) | Measure::Occurrences(_)) => vec!["count_matches"],
            What::Lines(_) => vec!["search"],
            What::Part(_) => vec!["read"],
            What::Hash(_) => vec!["hash"],
            What::Groups(_) | What::Values { .. } => vec!["group"],
            What::Stats { functions, .. } => functions.iter().map(|function| function.name()).collect(),
            What::Rows(_) => vec!["count_rows"],
            What::Columns => vec!["columns"],
            What::Delete => vec!["delete"],
            What::Copy(_) => vec!["copy"],
            What::Move(_) => vec!["move"],
            What::Calculate(_) => vec!["calculate"],
        };
        let save = self.save.is_some().then_some("write".to_owned());
        words.into_iter().map(str::to_owned).chain(top).chain(save).collect()
    }

    pub(super) fn intent(&self) -> String {
        let files = &self.files;
        let them = || files.those(MANY);
        let said = match &self.what {
            What::Show { count: true, list: false } => format!("count the {}", them()),
            What::Show { count: true, .. } => {
                let all = files.without_top().those(MANY);
                match files.top {
                    Some(Top { rank, n: Some(1) }) => {
                        format!("count the {all} and name the {}", rank.named())
                    }
                    Some(Top { rank, n: Some(n) }) => {
                        format!("count the {all} and name the {n} {}", rank.named())
                    }
                    _ => format!("count and list the {}", them()),
                }
            }
            What::Show { .. } => {
                let verb = if files.top.is_some() { "name" } else { "list" };
                format!("{verb} the {}", them())
            }
            What::Exists => format!("see whether there are {}", them()),
            What::Size => format!("add up the sizes of the {}", them()),
            What::Measure(Measure::Lines) => format!("count the lines of the {}", them()),
            What::Measure(Measure::Words) => format!("count the words of the {}", them()),
            What::Measure(Measure::Matching(matching)) => {
                format!("count the lines {matching} in the {}", them())
            }
            What::Measure(Measure::Occurrences(needle)) => {
                format!("count how often {needle} occurs in the {}", them())
            }
            What::Lines(matching) => format!("find the lines {matching} in the {}", them()),
            What::Part(part) => format!("show {part} of the {}", them()),
            What::Hash(algorithm) => format!("compute the {algorithm} of the {}", them()),
            What::Groups(By::Extension) => format!("count the {} by type", them()),
            What::Groups(By::Folder) => format!("count the {} by folder", them()),
            What::Stats { functions, column, only } => {
                let functions: Vec<_> = functions.iter().map(|function| function.name()).collect();
                format!(
                    "compute the {} of column `{column}` in the {}{}",
                    functions.join(" and "),
                    them(),
                    rows(only)
                )
            }
            What::Rows(only) => format!("count the rows of the {}{}", them(), rows(only)),
            What::Columns => format!("name the columns of the {}", them()),
            What::Values { column, only } => {
                format!("count the rows of the {} by `{column}`{}", them(), rows(only))
            }
            What::Delete => format!("delete the {}", them()),
            What::Copy(to) => format!("copy the {} {to}", them()),
            What::Move(to) => format!("rename the {} {to}", them()),
            What::Calculate(expression) => format!("calculate {expression}"),
        };
        match &self.save {
            Some(path) => format!("{said} and write it to {path}"),
            None => said,
        }
    }
}

impl Files {
    pub(super) fn without_top(&self) -> Self {
        Self { top: None, ..self.clone() }
    }

    /// `Rust files named `m*` under src`, for as many as there are.
    pub(super) fn noun(&self, count: u64) -> String {
        let mut words = Vec::new();
        if self.empty == Some(true) {
            words.push("empty".to_owned());
        }
        words.extend(labels(&self.kinds));
        let noun = match (self.folders, count) {
            (false, 1) => "file",
            (false, _) => "files",
            (true, 1) => "folder",
            (true, _) => "folders",
        };
        words.push(noun.into());
        words.extend(self.path.iter().map(|path| format!("`{path}`")));
        words.extend(self.names.iter().map(|name| format!("named `{name}`")));
        words.extend(self.pattern.iter().map(|pattern| format!("matching `{pattern}`")));
        if !self.under.is_empty() {
            let how = if self.direct { "directly in" } else { "under" };
            words.push(format!("{how} {}", joined(&self.under, "and")));
        } else if self.direct {
            words.push("directly here".into());
        }
        if !self.outside.is_empty() {
            words.push(format!("outside {}", joined(&self.outside, "and")));
        }
        words.join(" ")
    }

    /// The same as part of a longer sentence: `files that contain `TODO``.
    pub(super) fn those(&self, count: u64) -> String {
        let mut said = match self.top {
            Some(Top { rank, n: Some(1) }) if !rank.is_of_text() => format!("{} ", rank.name()),
            Some(Top { n: Some(1), .. }) | None => String::new(),
            Some(Top { rank, n: Some(n) }) if !rank.is_of_text() => format!("{n} {} ", rank.name()),
            Some(Top { n: Some(n), .. }) => format!("{n} "),
            Some(Top { n: None, .. }) => String::new(),
        };
        let count = match self.top {
            Some(Top { n: Some(1), .. }) => 1,
            _ if self.path.is_some() || self.single => 1,
            _ => count,
        };
        said.push_str(&self.noun(count));
        let contains = if count == 1 { "contains" } else { "contain" };
        said.extend(self.contains.iter().map(|needle| format!(" that {contains} {needle}")));
        said.extend(
            self.lacks.iter().map(|needle| {
                format!(" that {} not contain {needle}", if count == 1 { "does" } else { "do" })
            }),
        );
        said.push_str(&self.conditions());
        match self.top {
            Some(Top { rank, n: Some(_) }) if rank.is_of_text() => {
                said.push_str(&format!(" with the {}", rank.name()))
            }
            Some(Top { rank, n: None }) => said.push_str(&format!(", {} first", rank.name())),
            _ => {}
        }
        said
    }

    /// What else narrows them.
    fn conditions(&self) -> String {
        let mut said = String::new();
        if !self.age.said.is_empty() {
            said.push_str(&format!(" {}", self.age.said));
        }
        said.extend(self.size.0.map(|bytes| format!(" larger than {}", super::amount::size(bytes))));
        said.extend(self.size.1.map(|bytes| format!(" smaller than {}", super::amount::size(bytes))));
        if self.empty == Some(false) {
            said.push_str(" that are not empty");
        }
        let left_out: Vec<String> = labels(&self.not_kinds)
            .map(|label| format!("{label} files"))
            .chain(self.not_names.iter().cloned())
            .collect();
        if !left_out.is_empty() {
            said.push_str(&format!(" except {}", joined(&left_out, "and")));
        }
        said
    }

    /// The beginning of a sentence: `57 Rust files`, `No files contain `TODO``.
    pub(super) fn counted(&self, count: u64) -> String {
        let amount = if count == 0 { "No".to_owned() } else { count.to_string() };
        let mut said = format!("{amount} {}", self.noun(count));
        let contain = if count == 1 { "contains" } else { "contain" };
        said.extend(self.contains.iter().map(|needle| format!(" {contain} {needle}")));
        let lack = match (count, self.contains.is_some()) {
            (1, false) => " does not contain",
            (_, false) => " do not contain",
            (_, true) => " and not",
        };
        said.extend(self.lacks.iter().map(|needle| format!("{lack} {needle}")));
        said + &self.conditions()
    }
}

fn rows(only: &Option<Only>) -> String {
    only.iter().map(|only| format!(" where `{}` is `{}`", only.column, only.equals)).collect()
}

fn labels(kinds: &[Kind]) -> impl Iterator<Item = String> {
    let labels: Vec<_> = kinds.iter().map(|kind| kind.label.clone()).collect();
    (!labels.is_empty()).then(|| joined(&labels, "and")).into_iter()
}

pub(super) fn joined(words: &[String], and: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {and} {last}", first.join(", ")),
    }
}

impl std::fmt::Display for Needle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = if self.whole_word { "the word " } else { "" };
        let case = if self.any_case { " in any case" } else { "" };
        write!(f, "{word}`{}`{case}", self.text)
    }
}

impl std::fmt::Display for Matching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = if self.lacking { "without" } else { "with" };
        write!(f, "{verb} {}", self.needle)
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::First(1) => f.write_str("the first line"),
            Self::First(n) => write!(f, "the first {n} lines"),
            Self::Last(1) => f.write_str("the last line"),
            Self::Last(n) => write!(f, "the last {n} lines"),
            Self::Between(from, to) if from == to => write!(f, "line {from}"),
            Self::Between(from, to) => write!(f, "lines {from} to {to}"),
            Self::Whole => f.write_str("the text"),
        }
    }
}

impl std::fmt::Display for To {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) | Self::Name(path) => write!(f, "to {path}"),
            Self::Folder(path) => write!(f, "into {path}/"),
            Self::Extension(extension) => write!(f, "to end in .{extension}"),
        }
    }
}
