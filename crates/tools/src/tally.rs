//! Counts all files and keeps the first of them in order.
//!
//! INVARIANT (bounded): however many files there are, no more than `limit` of them are kept, no more than a few times
//! [`limits::MATCHING_LINES`] lines of theirs, and no more than [`limits::FOUND_GROUPS`] groups.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use domain::{Time, limits};

use crate::found::{Counts, File, Found, Group, GroupBy, LeftOut, Match, Order};
use crate::search::Measures;

/// Lines that are held before those that nobody will see are let go.
const HELD_LINES: usize = 4 * limits::MATCHING_LINES;

/// What is asked about the files that are found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) order: Order,
    pub(crate) limit: usize,
    /// Whether sizes are added up.
    pub(crate) sizes: bool,
    pub(crate) group_by: Option<GroupBy>,
    /// Whether lines are searched for, and what else is counted: that is shown in total.
    pub(crate) matching: bool,
    pub(crate) measures: Measures,
}

#[derive(Debug)]
pub(crate) struct Tally {
    asked: Asked,
    total: Total,
    groups: HashMap<String, (u64, u64)>,
    /// More groups than are kept.
    pub(crate) crowded: bool,
    pub(crate) unreadable: u64,
    pub(crate) binary_skipped: u64,
    /// The last in order is on top, because it is the first to go.
    best: BinaryHeap<Ranked>,
    held_lines: usize,
}

#[derive(Debug, Default)]
struct Total {
    count: u64,
    bytes: u64,
    matching_lines: u64,
    lines: u64,
    words: u64,
    occurrences: u64,
}

/// A file, or a folder, that is all that was asked for.
#[derive(Debug)]
pub(crate) struct Finding<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: u64,
    pub(crate) modified: Time,
    pub(crate) counts: Counts,
    pub(crate) matches: Vec<Match>,
}

impl Tally {
    pub(crate) fn new(asked: Asked) -> Self {
        Self {
            asked,
            total: Total::default(),
            groups: HashMap::new(),
            crowded: false,
            unreadable: 0,
            binary_skipped: 0,
            best: BinaryHeap::new(),
            held_lines: 0,
        }
    }

    /// One more of which nothing is known but that it is there.
    pub(crate) fn count_one(&mut self) {
        self.total.count += 1;
    }

    pub(crate) fn add(&mut self, finding: Finding<'_>) {
        self.total.add(&finding);
        if let Some(by) = self.asked.group_by {
            self.group(by.value(finding.path), (1, finding.bytes));
        }
        // Most are not kept, and then nothing is copied.
        let full = self.best.len() >= self.asked.limit;
        let Finding { path, bytes, modified, counts, matches } = finding;
        let rank = Rank { bytes, modified, counts, path: path.as_os_str() };
        if full && self.best.peek().is_none_or(|last| rank.cmp(&last.rank(), self.asked.order).is_ge()) {
            return;
        }
        let path = path.as_os_str().to_os_string();
        self.keep(Ranked { order: self.asked.order, path, bytes, modified, counts, matches, cut: false });
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.total.merge(&other.total);
        self.crowded |= other.crowded;
        self.unreadable += other.unreadable;
        self.binary_skipped += other.binary_skipped;
        for (value, sums) in other.groups {
            self.group(value, sums);
        }
        for ranked in other.best {
            self.keep(ranked);
        }
    }

    fn group(&mut self, value: String, (count, bytes): (u64, u64)) {
        if self.groups.len() >= limits::FOUND_GROUPS && !self.groups.contains_key(&value) {
            self.crowded = true;
            return;
        }
        let sums = self.groups.entry(value).or_default();
        *sums = (sums.0 + count, sums.1.saturating_add(bytes));
    }

    fn keep(&mut self, ranked: Ranked) {
        self.held_lines += ranked.matches.len();
        if self.best.len() < self.asked.limit {
            self.best.push(ranked);
        } else if let Some(mut last) = self.best.peek_mut()
            && ranked < *last
        {
            self.held_lines -= last.matches.len();
            *last = ranked;
        } else {
            self.held_lines -= ranked.matches.len();
        }
        if self.held_lines > HELD_LINES {
            self.let_lines_go();
        }
    }

    /// Only the first lines of the first files are shown. A file that comes later can only push others back.
    fn let_lines_go(&mut self) {
        let mut sorted = std::mem::take(&mut self.best).into_sorted_vec();
        let mut room = limits::MATCHING_LINES;
        for ranked in &mut sorted {
            ranked.cut |= ranked.matches.len() > room;
            ranked.matches.truncate(room);
            room -= ranked.matches.len();
        }
        self.held_lines = limits::MATCHING_LINES - room;
        self.best = sorted.into();
    }

    pub(crate) fn into_found(mut self) -> Found {
        self.let_lines_go();
        let (groups, more_groups) = self.listed_groups();
        let Asked { sizes, matching, measures, .. } = self.asked;
        let files = self.best.into_sorted_vec();
        let truncated_matches = files.iter().any(|ranked| ranked.cut);
        Found {
            count: self.total.count,
            bytes: sizes.then_some(self.total.bytes),
            matching_lines: matching.then_some(self.total.matching_lines),
            lines: measures.lines.then_some(self.total.lines),
            words: measures.words.then_some(self.total.words),
            occurrences: measures.occurrences.then_some(self.total.occurrences),
            files: files.into_iter().map(File::from).collect(),
            truncated_matches,
            groups,
            more_groups,
            complete: self.unreadable == 0,
            unreadable: self.unreadable,
            left_out: LeftOut::HiddenIgnoredAndLinks,
            binary_skipped: self.binary_skipped,
        }
    }

    fn listed_groups(&mut self) -> (Option<Vec<Group>>, u64) {
        if self.asked.group_by.is_none() {
            return (None, 0);
        }
        let groups = std::mem::take(&mut self.groups).into_iter();
        let mut groups: Vec<_> =
            groups.map(|(value, (count, bytes))| Group { value, count, bytes }).collect();
        groups.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
        let more = groups.len().saturating_sub(limits::LISTED_GROUPS);
        groups.truncate(limits::LISTED_GROUPS);
        (Some(groups), more as u64)
    }
}

impl Total {
    fn add(&mut self, finding: &Finding<'_>) {
        let Counts { matching_lines, lines, words, occurrences } = finding.counts;
        self.merge(&Self {
            count: 1,
            bytes: finding.bytes,
            matching_lines: matching_lines.unwrap_or(0),
            lines: lines.unwrap_or(0),
            words: words.unwrap_or(0),
            occurrences: occurrences.unwrap_or(0),
        });
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.matching_lines += other.matching_lines;
        self.lines += other.lines;
        self.words += other.words;
        self.occurrences += other.occurrences;
    }
}

impl GroupBy {
    fn value(self, path: &Path) -> String {
        match self {
            Self::Extension => path
                .extension()
                .map(|extension| extension.to_string_lossy().to_lowercase())
                .unwrap_or_default(),
            Self::Folder => match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                Some(parent) => parent.to_string_lossy().into_owned(),
                None => ".".into(),
            },
        }
    }
}

/// What decides the place of a file.
struct Rank<'a> {
    bytes: u64,
    modified: Time,
    counts: Counts,
    path: &'a OsStr,
}

impl Rank<'_> {
    /// Smaller comes first.
    fn cmp(&self, other: &Self, order: Order) -> Ordering {
        let most = |of: fn(&Counts) -> Option<u64>| of(&other.counts).cmp(&of(&self.counts));
        // Nothing counted is less than anything, and is to come last all the same.
        let fewest = |of: fn(&Counts) -> Option<u64>| {
            let key = |counts: &Counts| (of(counts).is_none(), of(counts));
            key(&self.counts).cmp(&key(&other.counts))
        };
        let first = match order {
            Order::Name => Ordering::Equal,
            Order::Largest => other.bytes.cmp(&self.bytes),
            Order::Smallest => self.bytes.cmp(&other.bytes),
            Order::Newest => Reverse(self.modified).cmp(&Reverse(other.modified)),
            Order::Oldest => self.modified.cmp(&other.modified),
            Order::MostMatches => most(|counts| counts.matching_lines),
            Order::FewestMatches => fewest(|counts| counts.matching_lines),
            Order::MostLines => most(|counts| counts.lines),
            Order::FewestLines => fewest(|counts| counts.lines),
            Order::MostWords => most(|counts| counts.words),
        };
        first.then_with(|| self.path.cmp(other.path))
    }
}

/// A file that knows its place: smaller comes first.
#[derive(Debug)]
struct Ranked {
    order: Order,
    /// As the disk has it, so that two names that look the same still have an order.
    path: OsString,
    bytes: u64,
    modified: Time,
    counts: Counts,
    matches: Vec<Match>,
    /// Whether lines of it were let go.
    cut: bool,
}

impl Ranked {
    fn rank(&self) -> Rank<'_> {
        Rank { bytes: self.bytes, modified: self.modified, counts: self.counts, path: &self.path }
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank(), self.order)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl From<Ranked> for File {
    fn from(ranked: Ranked) -> Self {
        let Ranked { path, bytes, modified, counts, matches, .. } = ranked;
        let utf8 = path.to_str().is_some();
        Self { path: path.to_string_lossy().into_owned(), utf8, bytes, modified, counts, matches }
    }
}

#[cfg(test)]
mod tests;
