//! What one more event costs when more and more are stored, through `regent events ingest`, beside the bare writer's rows.

use std::path::Path;

use super::Bench;
use super::figures::{each, median, thousands};
use super::instance::Instance;
use super::process::ProcessUsage;
use super::promises::{GROWTH, Outcome};
use super::reference::{BareDatabase, Numbers, Reference, Senders};

const ROUNDS: usize = 5;
/// How many events are measured at each size: so many that the start of the program hardly counts.
const WINDOW: u64 = 64 * 64;
pub(super) const SIZES: [u64; 3] = [1_000, 10_000, 100_000];
const FULL_SIZE: u64 = 1_000_000;

/// The cost of one more event or row in each round, in microseconds, with so many stored.
#[derive(Debug, Clone, Default, PartialEq)]
struct Size {
    stored: u64,
    events: Vec<f64>,
    /// Of it, what the program and the kernel computed.
    processor: Vec<f64>,
    bare: Vec<f64>,
}

pub(super) fn measure(bench: &Bench, grown: &mut Option<Instance>) -> anyhow::Result<Vec<Outcome>> {
    let reference = Reference::build(&bench.job)?;
    let stored = SIZES.into_iter().chain(bench.options.full.then_some(FULL_SIZE));
    let mut sizes: Vec<Size> = stored.map(|stored| Size { stored, ..Size::default() }).collect();
    for round in 0..bench.rounds(ROUNDS) {
        bench.announce(round, ROUNDS);
        *grown = None; // one at a time: it takes some hundred megabytes
        *grown = Some(grow(bench, &reference, &mut sizes)?);
    }
    bench.print_table(&rows(&sizes));
    Ok(outcome(&sizes).into_iter().collect())
}

/// One round: an instance and a bare file grow together.
fn grow(bench: &Bench, reference: &Reference<'_>, sizes: &mut [Size]) -> anyhow::Result<Instance> {
    let folder = tempfile::tempdir_in(bench.scratch.path())?;
    let (file, lines) = (folder.path().join("bare.db"), folder.path().join("events.jsonl"));
    let instance = bench.new_instance()?;
    let mut stored = 0;
    for size in sizes {
        let fill = Numbers { from: stored, count: size.stored - stored };
        reference.write_rows(BareDatabase::File(&file), fill)?;
        ingest(bench, reference, &instance, &lines, fill)?;
        let window = Numbers { from: size.stored, count: WINDOW };
        size.bare.push(1e6 / reference.write_rows(BareDatabase::File(&file), window)?);
        let usage = ingest(bench, reference, &instance, &lines, window)?;
        size.events.push(each(usage.wall, WINDOW));
        size.processor.push(each(usage.processor, WINDOW));
        stored = window.from + window.count;
    }
    Ok(instance)
}

fn ingest(
    bench: &Bench,
    reference: &Reference<'_>,
    instance: &Instance,
    lines: &Path,
    numbers: Numbers,
) -> anyhow::Result<ProcessUsage> {
    reference.write_events(lines, numbers, Senders::One)?;
    instance.ingest(&bench.job, lines, numbers.count)
}

/// An instance with this many events.
pub(super) fn fill(bench: &Bench, events: u64) -> anyhow::Result<Instance> {
    let reference = Reference::build(&bench.job)?;
    let instance = bench.new_instance()?;
    let lines = bench.scratch.path().join("fill.jsonl");
    ingest(bench, &reference, &instance, &lines, Numbers::first(events))?;
    std::fs::remove_file(lines)?;
    Ok(instance)
}

/// The last size beside the first.
fn outcome(sizes: &[Size]) -> Option<Outcome> {
    let (first, last) = (sizes.first()?, sizes.last()?);
    let events = median(&last.events) / median(&first.events);
    let bare = median(&last.bare) / median(&first.bare);
    Some(GROWTH.seen(events, format!("with {}; bare: {bare:.2} ×", thousands(last.stored))))
}

fn rows(sizes: &[Size]) -> Vec<Vec<String>> {
    let header =
        ["stored", "`events ingest` (µs per event)", "its processor (µs)", "bare (µs per row)", "ratio"];
    let row = |size: &Size| {
        let (events, bare) = (median(&size.events), median(&size.bare));
        vec![
            thousands(size.stored),
            format!("{events:.1}"),
            format!("{:.1}", median(&size.processor)),
            format!("{bare:.1}"),
            format!("{:.2}", events / bare),
        ]
    };
    std::iter::once(header.map(str::to_owned).to_vec()).chain(sizes.iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_the_last_size_beside_the_first() {
        let size = |stored, events: f64, bare: f64| Size {
            stored,
            events: vec![events; 3],
            processor: vec![40.0; 3],
            bare: vec![bare; 3],
        };
        let sizes = [size(1_000, 100.0, 50.0), size(10_000, 500.0, 60.0), size(100_000, 120.0, 70.0)];
        assert_eq!(outcome(&sizes), Some(GROWTH.seen(1.2, "with 100,000; bare: 1.40 ×")));
        assert_eq!(outcome(&[]), None);
        assert_eq!(rows(&sizes)[3], ["100,000", "120.0", "40.0", "70.0", "1.71"]);
    }
}
