//! The processor time of small commands, in the program and in the kernel for it, in a small instance in use. It depends less on what
//! else the machine does than the time on the clock.

use anyhow::{Context as _, bail};

use super::Bench;
use super::figures::{in_milliseconds, median_time, megabytes, milliseconds, quantile};
use super::process::{Files, ProcessUsage, peak_bytes, processor_times, walls};
use super::promises::{Outcome, RUN_PROCESSOR, TASKS_PROCESSOR};

const ROUNDS: usize = 30;
/// Fewer say little about a median.
const LEAST_ROUNDS: usize = 20;
/// What the instance has done before.
const TASKS_BEFORE: usize = 10;
const FILES: usize = 20;
const QUESTION: &str = "how many files are here?";

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Outcome>> {
    // Not beside the instance: there, version control may ignore the files.
    let folder = tempfile::tempdir().context("a folder with files")?;
    for number in 0..FILES {
        std::fs::write(folder.path().join(format!("{number}.txt")), "some text\n")?;
    }
    let instance = bench.new_instance()?.in_folder(folder.path());
    let command = |args: &[&str]| instance.command(&bench.job, args);
    for _ in 0..TASKS_BEFORE {
        let answer = instance.read(&bench.job, &["run", QUESTION])?;
        if !answer.contains(&format!("{FILES} files")) {
            bail!("`regent run \"{QUESTION}\"` says {answer:?} about {FILES} files");
        }
    }
    let commands = [
        ("`/bin/true`".to_owned(), bench.job.command("/bin/true", &[])),
        ("`regent --version`".to_owned(), command(&["--version"])),
        (format!("`regent run \"{QUESTION}\"`"), command(&["run", QUESTION])),
        ("`regent tasks list`".to_owned(), command(&["tasks", "list"])),
    ];
    let mut usages = vec![Vec::new(); commands.len()];
    for _ in 0..bench.rounds(ROUNDS).max(LEAST_ROUNDS) {
        for ((_, command), usages) in commands.iter().zip(&mut usages) {
            usages.push(ProcessUsage::of(&bench.job, command, Files::default())?);
        }
    }

    let header =
        ["command", "processor (ms)", "p90 (ms)", "whole (ms)", "peak MB"].map(str::to_owned).to_vec();
    let row = |((name, _), usages): (&(String, _), &Vec<ProcessUsage>)| {
        let times = processor_times(usages);
        vec![
            name.clone(),
            milliseconds(median_time(&times)),
            milliseconds(quantile(&times, 90)),
            milliseconds(median_time(&walls(usages))),
            megabytes(peak_bytes(usages)),
        ]
    };
    let rows = commands.iter().zip(&usages).map(row);
    bench.print_table(&std::iter::once(header).chain(rows).collect::<Vec<_>>());

    let medians: Vec<_> = usages.iter().map(|usages| median_time(&processor_times(usages))).collect();
    let [nothing, _, run, tasks] = medians.as_slice() else { bail!("four commands were measured") };
    let reference = format!("`/bin/true`: {} ms", milliseconds(*nothing));
    Ok(vec![
        RUN_PROCESSOR.seen(in_milliseconds(*run), reference.clone()),
        TASKS_PROCESSOR.seen(in_milliseconds(*tasks), reference),
    ])
}
