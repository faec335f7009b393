//! The repository's own tasks, started as `cargo xtask <task>`.
//!
//! Of our crates it depends on `services` alone, which depends on none, so that it says what is wrong even when they do not
//! compile. Start reading at `test.rs` (what runs and how it is judged), `suites.rs` (what there is to run), `tidy/mod.rs` (the rules of the house).

#![expect(
    clippy::disallowed_methods,
    reason = "xtask is a tool of ours: it starts processes and reads the environment"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for the terminal: printing is what it does"
)]

mod bench;
mod build;
mod clients;
mod count;
mod counts;
mod crash;
mod interrupt;
mod job;
mod must_not_compile;
mod needs;
mod packages;
mod python;
mod scope;
mod sim;
mod small_model;
mod suites;
mod table;
mod test;
mod tidy;
mod two_commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn crash_options(task: &str, load: &'static crash::Load) -> crash::Options {
    if task == "soak" { crash::Options::soak(load) } else { crash::Options::usual(load) }
}

fn dispatch(args: &[String]) -> anyhow::Result<ExitCode> {
    let Some((task, rest)) = args.split_first() else {
        return Ok(help("no task given"));
    };
    interrupt::pass_on()?;
    match task.as_str() {
        "test" => match suites::select(rest) {
            Ok((requested, selected)) => test::run(&requested, &selected),
            Err(unknown) => Ok(help(&unknown)),
        },
        "tidy" if rest.is_empty() => tidy::run(&job::Job::unlimited()?),
        "bench" => match bench::BenchOptions::parse(rest) {
            Ok(options) => bench::run(options),
            Err(unknown) => Ok(help(&unknown)),
        },
        "crash" | "soak" if rest.first().is_some_and(|mode| mode == "calls") => {
            match crash_options(task, &crash::CALLS).parse(rest.get(1..).unwrap_or_default()) {
                Ok(options) => crash::calls_task(options),
                Err(unknown) => Ok(help(&unknown)),
            }
        }
        "crash" | "soak" if rest.first().is_some_and(|mode| mode == "approvals") => {
            match crash_options(task, &crash::APPROVALS).parse(rest.get(1..).unwrap_or_default()) {
                Ok(options) => crash::approvals_task(options),
                Err(unknown) => Ok(help(&unknown)),
            }
        }
        "crash" | "soak" => match crash_options(task, &crash::HOUSES).parse(rest) {
            Ok(options) => crash::task(options),
            Err(unknown) => Ok(help(&unknown)),
        },
        "sim" => sim::play(rest),
        "measure-process" => bench::measure_process(rest),
        "help" | "--help" | "-h" => {
            println!("{}", help_text());
            Ok(ExitCode::SUCCESS)
        }
        _ => Ok(help(&format!("unknown task `{}`", args.join(" ")))),
    }
}

fn help(problem: &str) -> ExitCode {
    eprintln!("error: {problem}\n\n{}", help_text());
    ExitCode::from(2)
}

fn help_text() -> String {
    let suites = suites::ALL
        .iter()
        .map(|suite| format!("  {:<14}{} ({} s)", suite.name, suite.what, suite.budget.as_secs()))
        .collect::<Vec<_>>()
        .join("\n");
    format!(
        "usage: cargo xtask <task>\n\n\
         tasks:\n  \
         test [--full | --changed[=REV]] [suite…]\n  \
                            install what the tests need, run all suites or those named, end with a table;\n  \
                            --full: all stores, all seeds, random kill rounds; --changed: what the change\n  \
                            since REV (HEAD) can affect\n  \
         tidy               the rules of the house: edges between crates, file sizes, links\n  \
         bench [--rounds N] [--postgres] [--full] [--program PATH] [start|reflex|processor|ingest|growth|verify|calls…]\n  \
                            measure all of it or what is named, beside references in the same run; end with the table\n  \
                            of promises. --full: growth up to a million events; --program: a program built before\n  \
         crash [--rounds N] [--seed S] [--store sqlite|postgres|both] [--without GUARD [--expect-caught]] [--log FILE]\n  \
                            kill the program under load, go on, count\n  \
         crash calls [--kills N] [--seed S] [--store …] [--without GUARD [--expect-caught]] [--log FILE]\n  \
                            the same for calls that change something: no effect twice\n  \
         crash approvals [--kills N] [--seed S] [--store …] [--without GUARD [--expect-caught]] [--log FILE]\n  \
                            the same for calls that a person is asked about: no effect without a yes\n  \
         soak [--rounds N]  crash for hours, with a log in docs/soak/; `soak calls`, `soak approvals`\n  \
         sim [--seed N] [--seeds K] [--without fence|journal|durability|idempotence] [--trace] [--all] [--strict]\n                     \
         simulated histories; a failure is a seed\n\n\
         suites, with their time budgets:\n{suites}"
    )
}
