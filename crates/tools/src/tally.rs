//! Counts all files and keeps the first of them in order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ffi::OsString;

use domain::Time;

use crate::found::{File, Found, LeftOut, Match, Order};

#[derive(Debug)]
pub(crate) struct Tally {
    order: Order,
    limit: usize,
    count: u64,
    bytes: u64,
    pub(crate) unreadable: u64,
    pub(crate) binary_skipped: u64,
    /// Whether the walk came to the folder it was asked for.
    pub(crate) reached: bool,
    /// The last in order is on top, because it is the first to go.
    best: BinaryHeap<Ranked>,
}

#[derive(Debug)]
pub(crate) struct Candidate {
    /// As the disk has it, so that two names that look the same still have an order.
    pub(crate) path: OsString,
    pub(crate) bytes: u64,
    pub(crate) modified: Time,
    pub(crate) matching_lines: Option<u64>,
    pub(crate) first_match: Option<Match>,
}

impl Tally {
    pub(crate) fn new(order: Order, limit: usize) -> Self {
        Self {
            order,
            limit,
            count: 0,
            bytes: 0,
            unreadable: 0,
            binary_skipped: 0,
            reached: false,
            best: BinaryHeap::new(),
        }
    }

    pub(crate) fn add(&mut self, candidate: Candidate) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(candidate.bytes);
        self.keep(Ranked { order: self.order, candidate });
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.unreadable += other.unreadable;
        self.binary_skipped += other.binary_skipped;
        self.reached |= other.reached;
        for ranked in other.best {
            self.keep(ranked);
        }
    }

    fn keep(&mut self, ranked: Ranked) {
        if self.best.len() < self.limit {
            self.best.push(ranked);
        } else if let Some(mut last) = self.best.peek_mut()
            && ranked < *last
        {
            *last = ranked;
        }
    }

    pub(crate) fn into_found(self) -> Found {
        let files = self.best.into_sorted_vec();
        Found {
            count: self.count,
            bytes: self.bytes,
            files: files.into_iter().map(|ranked| ranked.candidate.into()).collect(),
            complete: self.unreadable == 0,
            unreadable: self.unreadable,
            left_out: LeftOut::HiddenIgnoredAndLinks,
            binary_skipped: self.binary_skipped,
        }
    }
}

/// A file that knows its place: smaller comes first.
#[derive(Debug)]
struct Ranked {
    order: Order,
    candidate: Candidate,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let (mine, theirs) = (&self.candidate, &other.candidate);
        let first = match self.order {
            Order::Name => Ordering::Equal,
            Order::Largest => theirs.bytes.cmp(&mine.bytes),
            Order::Newest => theirs.modified.cmp(&mine.modified),
        };
        first.then_with(|| mine.path.cmp(&theirs.path))
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

impl From<Candidate> for File {
    fn from(candidate: Candidate) -> Self {
        Self {
            path: candidate.path.to_string_lossy().into_owned(),
            bytes: candidate.bytes,
            modified: candidate.modified,
            matching_lines: candidate.matching_lines,
            first_match: candidate.first_match,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Tally};
    use crate::found::Order;
    use domain::Time;

    /// Path, size, time.
    const FILES: [(&str, u64, i64); 5] =
        [("b", 2, 9), ("a/x", 1, 8), ("a", 2, 8), ("c", 3, 7), ("a-b", 1, 9)];

    fn candidate((path, bytes, micros): (&str, u64, i64)) -> Candidate {
        Candidate {
            path: path.into(),
            bytes,
            modified: Time::from_micros(micros),
            matching_lines: None,
            first_match: None,
        }
    }

    #[test]
    fn the_first_in_order_are_kept_whoever_saw_them() {
        let table = [
            (Order::Name, ["a", "a-b", "a/x", "b", "c"]),
            (Order::Largest, ["c", "a", "b", "a-b", "a/x"]),
            (Order::Newest, ["a-b", "b", "a", "a/x", "c"]),
        ];
        for (order, expected) in table {
            for limit in 0..=6 {
                for threads in 1..=3 {
                    let mut tallies: Vec<_> = (0..threads).map(|_| Tally::new(order, limit)).collect();
                    for (at, file) in FILES.into_iter().enumerate() {
                        tallies[at % threads].add(candidate(file));
                    }
                    let mut total = Tally::new(order, limit);
                    tallies.into_iter().for_each(|tally| total.merge(tally));
                    let found = total.into_found();
                    let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
                    assert_eq!(paths, expected[..limit.min(5)], "{order:?} {limit} {threads}");
                    assert_eq!((found.count, found.bytes), (5, 9));
                }
            }
        }
    }
}
