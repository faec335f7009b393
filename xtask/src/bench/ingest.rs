//! `regent events ingest` beside a bare writer of the same keys and contents, in turns, each into a new instance or database. The command
//! is timed whole: it starts, makes its instance and ends. The bare writer's inserts alone are timed.

use std::path::PathBuf;

use anyhow::Context as _;

use super::figures::{each, in_milliseconds, median, median_time, megabytes, per_second, thousands};
use super::instance::Instance;
use super::process::{ProcessUsage, peak_bytes, processor_times, walls};
use super::promises::{INGEST_MEMORY, INGEST_POSTGRES, INGEST_SQLITE, Outcome};
use super::reference::{BareDatabase, Numbers, Reference, Senders};
use super::{Bench, fsyncs};
use crate::crash::{Server, Store, Stores};

const ROUNDS: usize = 7;
const EVENTS: u64 = 20_000;

/// What is taken in, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Case {
    store: Store,
    events: u64,
    senders: Senders,
}

impl Case {
    const fn all_of(store: Store) -> [Self; 3] {
        [
            Self { store, events: EVENTS, senders: Senders::One },
            Self { store, events: EVENTS, senders: Senders::Distinct },
            Self { store, events: 1, senders: Senders::One },
        ]
    }

    fn name(&self) -> String {
        let senders = match (self.events, self.senders) {
            (1, _) => "",
            (_, Senders::One) => ", one sender",
            (_, Senders::Distinct) => ", each from another sender",
        };
        format!("{}: {}{senders}", self.store.name(), thousands(self.events))
    }
}

/// A case with its rounds.
struct CaseResult {
    case: Case,
    /// The events, as lines.
    file: PathBuf,
    /// Rows per second of the bare writer, one figure per round.
    bare: Vec<f64>,
    /// What the command took, one per round.
    usages: Vec<ProcessUsage>,
    fsyncs: Option<u64>,
}

/// Where the cases run.
struct Ground<'a> {
    bench: &'a Bench,
    reference: Reference<'a>,
    server: Option<Server>,
}

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Outcome>> {
    let stores = if bench.options.postgres { Stores::Both } else { Stores::Sqlite };
    let reference = Reference::build(&bench.job)?;
    let ground = Ground { bench, reference, server: Server::start(stores)? };
    let mut cases = Case::all_of(Store::Sqlite).to_vec();
    if bench.options.postgres {
        cases.extend(Case::all_of(Store::Postgres));
    }
    let mut results = cases.into_iter().map(|case| ground.prepare(case)).collect::<Result<Vec<_>, _>>()?;
    for round in 0..bench.rounds(ROUNDS) {
        bench.announce(round, ROUNDS);
        for result in &mut results {
            ground.run(result, round)?;
        }
    }
    for result in &mut results {
        result.fsyncs = ground.count_fsyncs(result)?;
    }
    bench.print_table(&rows(&results));
    bench.print_table(&effort_rows(&results));
    Ok(results.iter().flat_map(CaseResult::outcomes).collect())
}

impl Ground<'_> {
    fn prepare(&self, case: Case) -> anyhow::Result<CaseResult> {
        let name = format!("{}-{}-{:?}.jsonl", case.store.name(), case.events, case.senders);
        let file = self.bench.scratch.path().join(name);
        self.reference.write_events(&file, Numbers::first(case.events), case.senders)?;
        Ok(CaseResult { case, file, bare: Vec::new(), usages: Vec::new(), fsyncs: None })
    }

    /// Both one after the other; the second of a round is the first of the next.
    fn run(&self, result: &mut CaseResult, round: usize) -> anyhow::Result<()> {
        let mut steps = [Self::run_bare, Self::run_ingest];
        steps.rotate_left(round % 2);
        steps.into_iter().try_for_each(|step| step(self, result))
    }

    fn run_bare(&self, result: &mut CaseResult) -> anyhow::Result<()> {
        result.bare.push(self.write_bare(result.case)?);
        Ok(())
    }

    fn run_ingest(&self, result: &mut CaseResult) -> anyhow::Result<()> {
        let instance = self.instance(result.case.store)?;
        result.usages.push(instance.ingest(&self.bench.job, &result.file, result.case.events)?);
        self.remove(instance.database())
    }

    fn write_bare(&self, case: Case) -> anyhow::Result<f64> {
        let rows = Numbers::first(case.events);
        let database = self.database(case.store)?;
        match database.first() {
            Some((_, url)) => {
                let rate = self.reference.write_rows(BareDatabase::Url(url), rows)?;
                self.remove(&database)?;
                Ok(rate)
            }
            None => {
                let folder = tempfile::tempdir_in(self.bench.scratch.path())?;
                self.reference.write_rows(BareDatabase::File(&folder.path().join("bare.db")), rows)
            }
        }
    }

    fn count_fsyncs(&self, result: &CaseResult) -> anyhow::Result<Option<u64>> {
        // A server syncs in processes of its own.
        if result.case.store != Store::Sqlite {
            return Ok(None);
        }
        let (instance, job) = (self.instance(result.case.store)?, &self.bench.job);
        let command = instance.command(job, &["events", "ingest"]);
        Ok(fsyncs::count(job, &command, &result.file, self.bench.scratch.path()))
    }

    fn instance(&self, store: Store) -> anyhow::Result<Instance> {
        Ok(self.bench.new_instance()?.with_database(self.database(store)?))
    }

    fn database(&self, store: Store) -> anyhow::Result<Vec<(String, String)>> {
        Server::environment(self.server.as_ref(), store)
    }

    fn remove(&self, database: &[(String, String)]) -> anyhow::Result<()> {
        self.server.as_ref().map_or(Ok(()), |server| server.remove(database)).context("drop the database")
    }
}

impl CaseResult {
    /// The command's rate as a share of the bare writer's, round by round.
    fn ratio(&self) -> f64 {
        let rounds = self.usages.iter().zip(&self.bare);
        let ratios = rounds.map(|(usage, bare)| per_second(self.case.events, usage.wall) / bare);
        median(&ratios.collect::<Vec<_>>())
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let Case { store, events: EVENTS, senders: Senders::One } = self.case else { return Vec::new() };
        let bare = format!("bare: {:.0} rows/s", median(&self.bare));
        match store {
            Store::Sqlite => vec![
                INGEST_SQLITE.seen(self.ratio(), bare),
                INGEST_MEMORY.seen(peak_bytes(&self.usages) as f64 / 1e6, ""),
            ],
            Store::Postgres => vec![INGEST_POSTGRES.seen(self.ratio(), bare)],
        }
    }
}

fn rows(results: &[CaseResult]) -> Vec<Vec<String>> {
    let header = ["events into a new instance", "whole (ms)", "events/s", "bare rows/s", "ratio", "peak MB"];
    let row = |result: &CaseResult| {
        let wall = median_time(&walls(&result.usages));
        vec![
            result.case.name(),
            format!("{:.1}", in_milliseconds(wall)),
            format!("{:.0}", per_second(result.case.events, wall)),
            format!("{:.0}", median(&result.bare)),
            // One event is the start of the program, which no rate describes.
            if result.case.events == 1 { "–".to_owned() } else { format!("{:.2}", result.ratio()) },
            megabytes(peak_bytes(&result.usages)),
        ]
    };
    std::iter::once(header.map(str::to_owned).to_vec()).chain(results.iter().map(row)).collect()
}

/// What the time goes into. On a server, the command's own share of it.
fn effort_rows(results: &[CaseResult]) -> Vec<Vec<String>> {
    let header = ["per event", "processor (µs)", "kB written", "waits", "fsyncs (strace)"];
    let row = |result: &CaseResult| {
        let events = result.case.events;
        let processor = median_time(&processor_times(&result.usages));
        let typical = |figure: fn(&ProcessUsage) -> u64| {
            let figures = result.usages.iter().map(|usage| figure(usage) as f64 / events as f64);
            median(&figures.collect::<Vec<_>>())
        };
        let fsyncs =
            result.fsyncs.map_or("–".to_owned(), |count| format!("{:.4}", count as f64 / events as f64));
        vec![
            result.case.name(),
            format!("{:.1}", each(processor, events)),
            format!("{:.1}", typical(|usage| usage.written_bytes) / 1e3),
            format!("{:.2}", typical(|usage| usage.waits)),
            fsyncs,
        ]
    };
    std::iter::once(header.map(str::to_owned).to_vec()).chain(results.iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn result(case: Case) -> CaseResult {
        let usage = |wall: u64| ProcessUsage {
            wall: Duration::from_secs(wall),
            processor: Duration::from_secs(1),
            peak_bytes: 35_000_000 + wall,
            written_bytes: 200_000_000,
            waits: 5_000,
        };
        CaseResult {
            case,
            file: PathBuf::new(),
            bare: vec![10_000.0, 40_000.0, 10_000.0],
            usages: [4, 2, 5].map(usage).to_vec(),
            fsyncs: Some(400),
        }
    }

    #[test]
    fn a_ratio_is_of_one_round_and_the_median_over_all() {
        let result = result(Case { store: Store::Sqlite, events: EVENTS, senders: Senders::One });
        assert_eq!(result.ratio(), 0.4);
        let cells = &rows(&[result])[1];
        assert_eq!(*cells, ["SQLite: 20,000, one sender", "4000.0", "5000", "10000", "0.40", "35.0"]);
    }

    #[test]
    fn effort_is_per_event() {
        let result = result(Case { store: Store::Sqlite, events: EVENTS, senders: Senders::Distinct });
        let cells = &effort_rows(&[result])[1];
        assert_eq!(*cells, ["SQLite: 20,000, each from another sender", "50.0", "10.0", "0.25", "0.0200"]);
    }

    #[test]
    fn promises_are_about_many_events_of_one_sender() {
        let kept = |store| Case::all_of(store).map(|case| result(case).outcomes().len());
        assert_eq!(kept(Store::Sqlite), [2, 0, 0]);
        assert_eq!(kept(Store::Postgres), [1, 0, 0]);
    }
}
