//! When a process dies: drawn from the seed, aimed at the kinds of points that were hit least.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::random::Random;
use super::seen::{Blow, End, Point, Seen, Sort};
use super::store::Store;

/// From before the program has opened its house to after most commands are over; half of them while it starts.
const EARLIEST: Duration = Duration::from_micros(300);
const STARTED: Duration = Duration::from_millis(30);
const LATEST: Duration = Duration::from_millis(120);
const SPARED_PERCENT: u64 = 25;
const MOMENT_PERCENT: u64 = 35;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is left alone.
    Spared,
    /// Killed when it reaches this kind of point for the n-th time, counted from 1.
    At { kind: String, nth: u64 },
    /// Killed so long after its start.
    Moment(Duration),
    /// Killed so long after its first call has begun to run.
    After(Duration),
    /// Held at the first point from this place on at which it holds no transaction, until its work was taken over.
    Stop { place: usize },
    /// Held when it reaches this kind of point for the n-th time, until others have come as far.
    Held { kind: &'static str, nth: u64 },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Hits {
    pub(crate) seen: u64,
    pub(crate) hit: u64,
}

/// What was hit on each store.
#[derive(Debug, Default)]
pub(crate) struct PerStore {
    pub(crate) sqlite: Coverage,
    pub(crate) postgres: Coverage,
}

impl PerStore {
    pub(crate) fn each(&self) -> [(Store, &Coverage); 2] {
        [(Store::Sqlite, &self.sqlite), (Store::Postgres, &self.postgres)]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.each().iter().all(|(_, coverage)| coverage.kinds.is_empty())
    }

    pub(crate) fn sum(&self, of: impl Fn(&Coverage) -> u64) -> u64 {
        self.each().iter().map(|(_, coverage)| of(coverage)).sum()
    }

    /// What was hit, on each store.
    pub(crate) fn hit(&self) -> [BTreeSet<String>; 2] {
        let hit = |coverage: &Coverage| {
            coverage.kinds.keys().filter(|kind| coverage.hits(kind) > 0).cloned().collect()
        };
        [hit(&self.sqlite), hit(&self.postgres)]
    }

    /// Points that were seen and at which nobody was killed, each with its store.
    pub(crate) fn never_hit(&self, spared: impl Fn(&str) -> bool) -> Vec<String> {
        let never = |(store, coverage): (Store, &Coverage)| {
            let kinds = coverage.never_hit().into_iter().filter(|kind| !spared(kind));
            kinds.map(|kind| format!("{kind} on {}", store.name())).collect::<Vec<_>>()
        };
        self.each().into_iter().flat_map(never).collect()
    }
}

/// Which kinds of points there are, learned from what is seen, and how often a kill fell on each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage {
    pub(crate) kinds: BTreeMap<String, Hits>,
    /// Per command, how often one process of it came past a kind at the most.
    reach: BTreeMap<Sort, BTreeMap<String, u64>>,
    pub(crate) moments: u64,
    pub(crate) stops: u64,
    /// Whether a run is over as soon as every kind was hit: then what was not hit is aimed at, and nothing else.
    pub(super) seeks: bool,
    /// Kinds that another run has hit already.
    elsewhere: BTreeSet<String>,
}

impl Coverage {
    pub(crate) fn new(seeks: bool, elsewhere: BTreeSet<String>) -> Self {
        Self { seeks, elsewhere, ..Self::default() }
    }

    pub(crate) fn draw(&self, sort: Sort, random: &mut Random) -> Fate {
        if self.seeks
            && let Some(kinds) = self.reach.get(&sort)
        {
            let unhit: Vec<&String> = kinds.keys().filter(|kind| self.hits(kind) == 0).collect();
            // Where nothing is left to hit, it is left alone half of the time, to come to points that were not seen yet.
            return match random.pick(&unhit) {
                Some(kind) => Fate::At { kind: (*kind).clone(), nth: 1 },
                None if random.chance(50) => Fate::Spared,
                None => Fate::Moment(random.moment(EARLIEST, LATEST)),
            };
        }
        let drawn = random.below(100);
        if drawn < SPARED_PERCENT {
            return Fate::Spared;
        }
        let aimed = if drawn < SPARED_PERCENT + MOMENT_PERCENT { None } else { self.aim(sort, random) };
        let latest = if random.chance(50) { STARTED } else { LATEST };
        aimed.unwrap_or_else(|| Fate::Moment(random.moment(EARLIEST, latest)))
    }

    /// The less a kind was hit, the likelier it is; nothing as long as no process of this command was seen.
    fn aim(&self, sort: Sort, random: &mut Random) -> Option<Fate> {
        const HEAVIEST: u64 = 10_000;
        let reach = self.reach.get(&sort)?;
        let kinds: Vec<((&String, u64), u64)> = reach
            .iter()
            .map(|(kind, most)| ((kind, *most), (HEAVIEST / (1 + self.hits(kind))).max(1)))
            .collect();
        let (kind, most) = random.weighted(&kinds)?;
        // Of two draws the smaller: not every process comes as far as the longest did.
        let nth = random.between(1, *most).min(random.between(1, *most));
        Some(Fate::At { kind: (*kind).clone(), nth })
    }

    /// Whether a process with this fate dies at this point, the n-th of its kind. A kind that nobody died at yet takes whoever
    /// is to die at all: some are seen once per house.
    pub(crate) fn dies(&self, fate: &Fate, kind: &str, nth: u64) -> bool {
        let fresh = self.hits(kind) == 0;
        match fate {
            Fate::Spared | Fate::Stop { .. } | Fate::Held { .. } => false,
            Fate::Moment(_) | Fate::After(_) => fresh,
            Fate::At { kind: wanted, nth: when } => fresh || (wanted == kind && *when == nth),
        }
    }

    /// Whether a run that ends at full coverage still has to kill a call of this tool: right before it runs, or right after.
    pub(crate) fn seeks_tool(&self, tool: &str) -> bool {
        self.seeks && ["running", "ran"].iter().any(|point| self.hits(&format!("{point} {tool}")) == 0)
    }

    fn hits(&self, kind: &str) -> u64 {
        self.kinds.get(kind).map_or(0, |hits| hits.hit) + u64::from(self.elsewhere.contains(kind))
    }

    pub(crate) fn hit(&mut self, kind: &str) {
        self.kinds.entry(kind.to_owned()).or_default().hit += 1;
    }

    pub(crate) fn add(&mut self, seen: &Seen) {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for kind in seen.points.iter().map(Point::kind) {
            self.kinds.entry(kind.clone()).or_default().seen += 1;
            *counts.entry(kind).or_default() += 1;
        }
        let reach = self.reach.entry(seen.sort).or_default();
        for (kind, count) in counts {
            let most = reach.entry(kind).or_default();
            *most = count.max(*most);
        }
        self.moments += u64::from(seen.end == End::Killed(Blow::Moment));
        self.stops += u64::from(seen.stopped_at.is_some());
    }

    pub(crate) fn never_hit(&self) -> Vec<&str> {
        self.kinds.keys().map(String::as_str).filter(|kind| self.hits(kind) == 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(lines: &[&str]) -> Seen {
        Seen {
            sort: Sort::Run,
            args: Vec::new(),
            points: lines.iter().map(|line| Point::new(line)).collect(),
            stopped_at: None,
            end: End::Exit(0),
            stdout: String::new(),
            stderr: String::new(),
        }
    }

    #[test]
    fn kinds_are_learned_and_the_unhit_take_whoever_is_to_die() {
        let mut coverage = Coverage::default();
        coverage.add(&run(&["committing", "committed", "committing", "running find c1"]));
        coverage.hit("committed");
        assert_eq!(coverage.kinds["committing"], Hits { seen: 2, hit: 0 });
        assert_eq!(coverage.never_hit(), ["committing", "running find"]);

        let at = Fate::At { kind: "committed".into(), nth: 2 };
        assert!(coverage.dies(&at, "committed", 2) && !coverage.dies(&at, "committed", 1));
        assert!(coverage.dies(&at, "committing", 1) && coverage.dies(&Fate::Moment(LATEST), "never seen", 1));
        assert!(coverage.dies(&Fate::After(LATEST), "never seen", 1));
        let held = Fate::Held { kind: "committing", nth: 1 };
        assert!(![Fate::Spared, held].iter().any(|fate| coverage.dies(fate, "committing", 1)));
    }

    #[test]
    fn a_tool_is_sought_until_it_was_killed_before_and_after_its_run() {
        let elsewhere = BTreeSet::from(["running edit_file".to_owned()]);
        let mut coverage = Coverage::new(true, elsewhere.clone());
        assert!(coverage.seeks_tool("edit_file"), "also if no process has called it yet");
        coverage.hit("ran edit_file");
        assert!(!coverage.seeks_tool("edit_file") && coverage.seeks_tool("delete_file"));
        assert!(!Coverage::new(false, elsewhere).seeks_tool("delete_file"));
    }

    #[test]
    fn nothing_is_aimed_at_that_the_command_never_reached() {
        let mut coverage = Coverage::default();
        let mut random = Random::new(3);
        assert_eq!(coverage.aim(Sort::Run, &mut random), None);
        coverage.add(&run(&["committing", "committed", "committing"]));
        for _ in 0..200 {
            match coverage.aim(Sort::Run, &mut random) {
                Some(Fate::At { kind, nth }) => assert!(nth <= if kind == "committing" { 2 } else { 1 }),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(coverage.aim(Sort::Tick, &mut random), None);
    }
}
