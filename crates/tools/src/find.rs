//! `find_files`: files by folder, extension, name, size, age or content; and folders.

use domain::call::Failure;
use domain::{Stop, Time, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confined::Kind;
use crate::found::{self, Found, GroupBy, Order};
use crate::gather::{self, Question};
use crate::needle::{Manner, Needle};
use crate::places::Places;
use crate::search::{Lines, Measures, Study};
use crate::tally::Asked;
use crate::wanted::{self, Wanted};
use crate::workspace::Workspace;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of its own in a call")]
pub(crate) struct Args {
    /// The folders to look in, relative to the workspace; `.` is all of it.
    #[serde(default = "whole_workspace")]
    pub(crate) under: OneOrMore,
    /// Folders that are not looked into.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) outside: Vec<String>,
    /// Only what lies directly in the folders, and not in their subfolders.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) direct: bool,
    /// Files or folders.
    #[serde(default, skip_serializing_if = "What::is_files")]
    pub(crate) what: What,
    /// Without the dot, in any case. Any of them will do; none means that it does not matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<String>,
    /// None of these, in any case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_extensions: Vec<String>,
    /// Globs; the file's own name matches any of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<OneOrMore>,
    /// Globs that the file's name does not match; what contains a `/` is the path of a file that is not meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_name: Vec<String>,
    /// A text that a line of the file contains, exactly as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) contains: Option<String>,
    /// A text that no line of the file contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lacks: Option<String>,
    /// Instead of `contains`: the lines that do not contain this are the matching ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lines_without: Option<String>,
    /// Upper and lower case are alike in these texts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) any_case: bool,
    /// None of these texts counts as a part of a longer word.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) whole_word: bool,
    /// Changed then or later, in UTC: `2026-01-31T00:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) modified_from: Option<Time>,
    /// Changed before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) modified_before: Option<Time>,
    /// More bytes than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) larger_than: Option<u64>,
    /// Fewer bytes than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) smaller_than: Option<u64>,
    /// Files with no bytes, or with some; folders with nothing at all in them, or with something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) empty: Option<bool>,
    /// What else is counted, in each file and in total.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) measure: Vec<Measure>,
    /// How many matching lines are shown of each file.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(crate) show_matches: u32,
    /// Counts the files in groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) group_by: Option<GroupBy>,
    /// Only how many there are: nothing is listed, and sizes are not added up. The fastest question.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) count_only: bool,
    /// Which files come first in the list.
    #[serde(default)]
    pub(crate) order: Order,
    /// How many files are listed. All are counted.
    #[serde(default = "found::default_limit")]
    pub(crate) limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::More(more) => more,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    #[default]
    Files,
    Folders,
}

impl What {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_files(&self) -> bool {
        *self == Self::Files
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    Lines,
    Words,
    /// How often `contains` occurs, no occurrence over another.
    Occurrences,
}

fn whole_workspace() -> OneOrMore {
    OneOrMore::One(".".into())
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// # Errors
/// If an argument makes no sense, or there is no such folder in the workspace.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Found, Failure> {
    found::check_limit(args.limit)?;
    let study = study(args)?;
    let wanted = wanted(args)?;
    check_together(args)?;
    let places = Places::look_up(workspace, args.under.as_slice(), &args.outside)?;
    let places = if args.direct { places.deep(1) } else { places };
    let asked = Asked {
        order: args.order,
        limit: if args.count_only { 0 } else { args.limit },
        sizes: !args.count_only,
        group_by: args.group_by,
        matching: study.lines.is_some(),
        measures: study.measures,
    };
    let reads = study.chooses() || study.measures != Measures::default();
    gather::find(&Question { workspace, stop, places, wanted, study: reads.then_some(study), asked })
}

fn wanted(args: &Args) -> Result<Wanted, Failure> {
    let Args { extensions, not_extensions, name, .. } = args;
    extensions.iter().chain(not_extensions).try_for_each(|extension| wanted::check_extension(extension))?;
    if name.as_ref().is_some_and(|name| name.as_slice().is_empty()) {
        return Err(Failure::logical("`name` names nothing; leave it out if it does not matter"));
    }
    let (not_names, not_paths) = wanted::exceptions(&args.not_name)?;
    Ok(Wanted {
        kind: if args.what.is_files() { Kind::File } else { Kind::Folder },
        extensions: extensions.clone(),
        not_extensions: not_extensions.clone(),
        names: wanted::name_globs(name.iter().flat_map(OneOrMore::as_slice))?,
        not_names,
        paths: None,
        not_paths,
        modified_from: args.modified_from,
        modified_before: args.modified_before,
        larger_than: args.larger_than,
        smaller_than: args.smaller_than,
        empty: args.empty,
    })
}

fn study(args: &Args) -> Result<Study<'_>, Failure> {
    let Args { any_case, whole_word, order, .. } = *args;
    let manner = Manner { any_case, whole_word };
    let lines = match (args.contains.as_deref(), args.lines_without.as_deref()) {
        (Some(_), Some(_)) => {
            return Err(Failure::logical(
                "`contains` and `lines_without` cannot go together; lines match one way",
            ));
        }
        (Some(text), None) => Some(Lines::With(Needle::new(text, "contains", manner)?)),
        (None, Some(text)) => Some(Lines::Without(Needle::new(text, "lines_without", manner)?)),
        (None, None) => None,
    };
    let lacks = args.lacks.as_deref().map(|text| Needle::new(text, "lacks", manner)).transpose()?;
    let show = usize::try_from(args.show_matches).unwrap_or(usize::MAX).min(limits::MATCHING_LINES);
    let measures = Measures {
        lines: args.measure.contains(&Measure::Lines) || order.needs_lines(),
        words: args.measure.contains(&Measure::Words) || order.needs_words(),
        occurrences: args.measure.contains(&Measure::Occurrences),
    };
    Ok(Study { lines, lacks, show, measures })
}

/// Arguments that say something only beside others.
fn check_together(args: &Args) -> Result<(), Failure> {
    let Args { contains, lacks, lines_without, order, .. } = args;
    let matches_lines = contains.is_some() || lines_without.is_some();
    let sized = args.larger_than.is_some() || args.smaller_than.is_some();
    let counted = !args.measure.is_empty() || order.needs_lines() || order.needs_words();
    let reads = matches_lines || lacks.is_some() || counted || order.needs_matches();
    let lists = args.group_by.is_some() || !args.measure.is_empty() || *order != Order::Name;
    let wrong = [
        (
            args.count_only && lists,
            "`count_only` lists and measures nothing; leave out `group_by`, `measure` and `order`, or leave it out",
        ),
        (
            args.what == What::Folders && sized,
            "folders have no size of their own; leave out `larger_than` and `smaller_than`",
        ),
        (
            args.what == What::Folders && reads,
            "folders have no content; look for files, or leave out what is asked about their lines",
        ),
        (
            args.whole_word && !matches_lines && lacks.is_none(),
            "`whole_word` is about a text that is looked for, and there is none",
        ),
        (
            args.any_case && !matches_lines && lacks.is_none(),
            "`any_case` is about a text that is looked for, and there is none",
        ),
        (
            args.measure.contains(&Measure::Occurrences) && contains.is_none(),
            "`occurrences` are those of `contains`, which is missing",
        ),
        (
            order.needs_matches() && !matches_lines,
            "an `order` by matches needs `contains` or `lines_without`",
        ),
    ];
    match wrong.into_iter().find(|(wrong, _)| *wrong) {
        Some((_, problem)) => Err(Failure::logical(problem)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
