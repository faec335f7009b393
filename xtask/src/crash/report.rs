//! What a run says: on the terminal, and in a file that can be kept. Nothing of the machine stands in it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use super::aim::{Hits, PerStore};
use crate::table;

/// Below that, a kind of point without a hit says nothing.
pub(crate) const ENOUGH_ROUNDS: u64 = 200;

#[derive(Debug, Default)]
pub(crate) struct Log {
    file: Option<File>,
}

impl Log {
    pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Self> {
        let create = |path: &Path| {
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            File::create(path)
        };
        let file = path.map(create).transpose().context("the log")?;
        Ok(Self { file })
    }

    pub(crate) fn say(&mut self, text: &str) -> anyhow::Result<()> {
        println!("{text}");
        if let Some(file) = &mut self.file {
            writeln!(file, "{text}").context("write the log")?;
        }
        Ok(())
    }
}

/// What happened, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) rounds: u64,
    pub(crate) houses: u64,
    pub(crate) processes: u64,
    pub(crate) acknowledged: u64,
    pub(crate) finished: u64,
    pub(crate) calls: u64,
    pub(crate) violations: u64,
}

impl Totals {
    pub(crate) fn add_house(&mut self, acknowledged: u64, finished: u64, calls: u64) {
        self.houses += 1;
        self.acknowledged += acknowledged;
        self.finished += finished;
        self.calls += calls;
    }

    pub(crate) fn line(&self, coverage: &PerStore, took: Duration) -> String {
        format!(
            "round {}: {} processes, {} killed at a point, {} at a moment, {} held; {:.1} s",
            self.rounds,
            self.processes,
            coverage.sum(|coverage| coverage.kinds.values().map(|hits| hits.hit).sum()),
            coverage.sum(|coverage| coverage.moments),
            coverage.sum(|coverage| coverage.stops),
            took.as_secs_f64(),
        )
    }
}

pub(crate) fn tables(totals: &Totals, coverage: &PerStore) -> String {
    let counts = [
        ("rounds", totals.rounds),
        ("houses", totals.houses),
        ("processes", totals.processes),
        ("killed at a random moment", coverage.sum(|coverage| coverage.moments)),
        ("held until taken over", coverage.sum(|coverage| coverage.stops)),
        ("events acknowledged", totals.acknowledged),
        ("tasks finished", totals.finished),
        ("calls run", totals.calls),
        ("violations", totals.violations),
    ];
    written(coverage, &counts)
}

/// Where somebody was killed, and how often what was seen.
pub(crate) fn written(coverage: &PerStore, counts: &[(&str, u64)]) -> String {
    let header = ["point", "seen on SQLite", "killed there", "seen on PostgreSQL", "killed there"];
    let mut points = vec![header.map(str::to_owned).to_vec()];
    let kinds: BTreeSet<&String> =
        coverage.each().into_iter().flat_map(|(_, coverage)| coverage.kinds.keys()).collect();
    for kind in kinds {
        let hits = coverage.each().into_iter().flat_map(|(_, coverage)| {
            let Hits { seen, hit } = coverage.kinds.get(kind).copied().unwrap_or_default();
            [seen.to_string(), hit.to_string()]
        });
        points.push(std::iter::once(format!("`{kind}`")).chain(hits).collect());
    }
    let mut sums = vec![vec!["what".to_owned(), "how many".to_owned()]];
    sums.extend(counts.iter().map(|(what, count)| vec![(*what).to_owned(), count.to_string()]));
    format!("{}\n\n{}", table::markdown(&points), table::markdown(&sums))
}

/// What is wrong with the run itself, though nothing was found.
pub(crate) fn shortcoming(totals: &Totals, coverage: &PerStore, until_covered: bool) -> Option<String> {
    if totals.processes == 0 || coverage.is_empty() {
        return Some("no process told of any point: is the feature `faults` in the program?".to_owned());
    }
    let never = coverage.never_hit(|_| false);
    let failed = (until_covered || totals.rounds >= ENOUGH_ROUNDS) && !never.is_empty();
    failed.then(|| format!("seen, and nobody was ever killed there: {}", never.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(kinds: &[(&str, u64, u64)]) -> PerStore {
        let kinds =
            kinds.iter().map(|(kind, seen, hit)| ((*kind).to_owned(), Hits { seen: *seen, hit: *hit }));
        let mut coverage = PerStore::default();
        coverage.sqlite.kinds.extend(kinds);
        coverage
    }

    #[test]
    fn every_kind_of_point_must_be_hit_once_there_were_enough_rounds() {
        let (all, some) =
            (coverage(&[("committed", 9, 1)]), coverage(&[("committed", 9, 1), ("ran a", 3, 0)]));
        let after = |rounds| Totals { rounds, processes: 1, ..Totals::default() };
        assert_eq!(shortcoming(&after(ENOUGH_ROUNDS), &all, false), None);
        assert_eq!(shortcoming(&after(ENOUGH_ROUNDS - 1), &some, false), None);
        assert!(shortcoming(&after(1), &some, true).is_some());
        let why = shortcoming(&after(ENOUGH_ROUNDS), &some, false);
        assert!(why.is_some_and(|why| why.ends_with("ran a on SQLite")));
        assert!(shortcoming(&after(1), &coverage(&[]), false).is_some());
    }

    #[test]
    fn the_table_counts_what_was_seen_and_hit() {
        let tables =
            tables(&Totals { rounds: 3, ..Totals::default() }, &coverage(&[("writing events", 12, 4)]));
        assert!(
            tables
                .contains("| `writing events` |             12 |            4 |                  0 |   0 |"),
            "{tables}"
        );
        assert!(tables.contains("violations"), "{tables}");
    }
}
