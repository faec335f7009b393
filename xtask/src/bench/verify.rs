//! `regent audit verify` on an instance with many entries, beside the same on an empty one.

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::figures::{median_time, megabytes, milliseconds, per_second, thousands};
use super::instance::Instance;
use super::process::{Files, ProcessUsage, peak_bytes, processor_times, walls};
use super::promises::{Outcome, VERIFY};
use super::{Bench, growth};

const ROUNDS: usize = 7;
const EVENTS: u64 = 100_000;

pub(super) fn measure(bench: &Bench, grown: &mut Option<Instance>) -> anyhow::Result<Vec<Outcome>> {
    let filled = match grown.take() {
        Some(instance) => instance,
        None => growth::fill(bench, EVENTS)?,
    };
    let empty = bench.new_instance()?;
    empty.read(&bench.job, &["init"])?;
    let entries = count_entries(&filled.read(&bench.job, &["audit", "verify", "--json"])?)?;
    let (mut of_filled, mut of_empty) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds(ROUNDS) {
        for (instance, usages) in [(&filled, &mut of_filled), (&empty, &mut of_empty)] {
            let command = instance.command(&bench.job, &["audit", "verify"]);
            usages.push(ProcessUsage::of(&bench.job, &command, Files::default())?);
        }
    }
    *grown = Some(filled);

    let time = |usages: &[ProcessUsage]| median_time(&walls(usages));
    let row = |what: String, usages: &[ProcessUsage]| {
        let processor = median_time(&processor_times(usages));
        vec![what, milliseconds(time(usages)), milliseconds(processor), megabytes(peak_bytes(usages))]
    };
    let header = ["`audit verify`", "whole (ms)", "processor (ms)", "peak MB"].map(str::to_owned).to_vec();
    bench.print_table(&[
        header,
        row(format!("{} entries", thousands(entries)), &of_filled),
        row("a new instance".to_owned(), &of_empty),
    ]);
    let reference = format!(
        "{} entries in {} ms; a new instance: {} ms",
        thousands(entries),
        milliseconds(time(&of_filled)),
        milliseconds(time(&of_empty))
    );
    Ok(vec![VERIFY.seen(per_second(entries, time(&of_filled)), reference)])
}

/// How many entries were verified, if all is well with them.
fn count_entries(report: &str) -> anyhow::Result<u64> {
    let report: Value = serde_json::from_str(report).context("the report of `audit verify`")?;
    if report.get("verdict").and_then(Value::as_str) != Some("consistent") {
        bail!("`audit verify` says {report}");
    }
    report.get("entries").and_then(Value::as_u64).context("its number of entries")
}

#[cfg(test)]
mod tests {
    use super::count_entries;

    #[test]
    fn entries_count_if_they_are_consistent() {
        assert_eq!(count_entries(r#"{"verdict":"consistent","entries":2000}"#).unwrap(), 2_000);
        assert!(count_entries(r#"{"verdict":"inconsistent","entries":2000}"#).is_err());
        assert!(count_entries("consistent").is_err());
    }
}
