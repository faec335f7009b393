//! The command line of `crash`, `crash calls`, `crash approvals` and `soak`.

use std::path::PathBuf;

use super::campaign::ENOUGH_KILLS;
use super::store::Stores;
use crate::scope::Scope;

/// One kind of run: how much of it there is, and what it must miss.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// What is typed for it.
    command: &'static str,
    flag: &'static str,
    /// What CI has time for.
    usual: u64,
    soak: u64,
    log: &'static str,
    /// Guards that the program can be built to leave out; each must be missed.
    pub(crate) guards: &'static [Guard],
}

/// A guard, and a seed that is known to show early that it is missing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    pub(crate) name: &'static str,
    pub(crate) seed: u64,
}

const fn guard(name: &'static str, seed: u64) -> Guard {
    Guard { name, seed }
}

pub(crate) static HOUSES: Load = Load {
    command: "crash",
    flag: "--rounds",
    usual: 200,
    soak: 10_000,
    log: "docs/soak/crash.md",
    guards: &[guard("fence", 1), guard("journal", 1), guard("durability", 1)],
};

pub(crate) static CALLS: Load = Load {
    command: "crash calls",
    flag: "--kills",
    usual: 200,
    soak: 1_000,
    log: "docs/soak/calls.md",
    guards: &[guard("journal", 1), guard("reservation", 1), guard("fence", 1), guard("halt", 1)],
};

pub(crate) static APPROVALS: Load = Load {
    command: "crash approvals",
    flag: "--kills",
    usual: 80,
    soak: 1_000,
    log: "docs/soak/approvals.md",
    guards: &[guard("fence", 1), guard("stamp", 1), guard("fingerprint", 1), guard("reauthorisation", 1)],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) load: &'static Load,
    /// Rounds, or kills.
    pub(crate) amount: u64,
    /// It ends earlier, as soon as every failpoint was hit on every store.
    pub(crate) until_covered: bool,
    /// From the commit, if nothing else is said.
    pub(crate) seed: Option<u64>,
    pub(crate) stores: Stores,
    pub(crate) without: Option<String>,
    /// A run that finds nothing has failed: it is one without a guard.
    pub(crate) expect_caught: bool,
    pub(crate) log: Option<PathBuf>,
}

impl Options {
    pub(crate) const fn usual(load: &'static Load) -> Self {
        Self {
            load,
            amount: load.usual,
            until_covered: false,
            seed: None,
            stores: Stores::Both,
            without: None,
            expect_caught: false,
            log: None,
        }
    }

    pub(crate) fn soak(load: &'static Load) -> Self {
        Self { amount: load.soak, log: Some(PathBuf::from(load.log)), ..Self::usual(load) }
    }

    /// What a suite plays: every failpoint once on every store, or with `--full` all of the usual amount.
    pub(crate) fn suite(load: &'static Load, scope: &Scope) -> Self {
        let usual = Self::usual(load);
        if scope.is_full() {
            return usual;
        }
        Self { until_covered: true, amount: usual.amount.max(ENOUGH_KILLS), ..usual }
    }

    /// A run without this guard, which must be found out: by a known seed, or with `--full` by one of this commit.
    pub(crate) fn mutant(load: &'static Load, guard: &Guard, scope: &Scope) -> Self {
        let (seed, stores) =
            if scope.is_full() { (None, Stores::Both) } else { (Some(guard.seed), Stores::Sqlite) };
        let without = Some(guard.name.to_owned());
        Self { seed, stores, without, expect_caught: true, ..Self::usual(load) }
    }

    /// The command that draws the same again.
    pub(crate) fn command(&self, seed: u64) -> String {
        let without = self.without.as_ref().map(|guard| format!(" --without {guard}"));
        let (Load { command, flag, .. }, without) = (self.load, without.unwrap_or_default());
        let (amount, store) = (self.amount, self.stores.flag());
        format!("cargo xtask {command} {flag} {amount} --seed {seed:#x} --store {store}{without}")
    }

    /// What is given, over `self`; or what is wrong with it.
    pub(crate) fn parse(mut self, args: &[String]) -> Result<Self, String> {
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("`{flag}` needs a value"));
            match flag.as_str() {
                amount if amount == self.load.flag => self.amount = number(flag, value()?)?,
                "--seed" => self.seed = Some(number(flag, value()?)?),
                "--store" => self.stores = Stores::named(value()?)?,
                "--without" => self.without = Some(self.load.guard(value()?)?),
                "--log" => self.log = Some(PathBuf::from(value()?)),
                "--expect-caught" => self.expect_caught = true,
                unknown => return Err(format!("unknown flag `{unknown}`")),
            }
        }
        if self.amount == 0 {
            return Err(format!("`{} 0` shows nothing", self.load.flag));
        }
        Ok(self)
    }
}

impl Load {
    fn guard(&self, name: &str) -> Result<String, String> {
        let names: Vec<&str> = self.guards.iter().map(|guard| guard.name).collect();
        let known = names.contains(&name).then(|| name.to_owned());
        known.ok_or_else(|| format!("unknown guard `{name}`; there are: {}", names.join(", ")))
    }
}

/// Seeds are printed with `0x` before them, and taken so.
fn number(flag: &str, text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("`{flag} {text}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(load: &'static Load, line: &str) -> Result<Options, String> {
        Options::usual(load).parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_mutant_is_looked_for_with_its_seed_and_with_full_by_the_commits() {
        let guard = guard("halt", 7);
        let known = Options::mutant(&CALLS, &guard, &Scope::Short);
        assert_eq!((known.seed, known.stores), (Some(7), Stores::Sqlite));
        let full = Options::mutant(&CALLS, &guard, &Scope::Full);
        assert_eq!((full.seed, full.stores), (None, Stores::Both));
        assert!(Options::suite(&CALLS, &Scope::Short).until_covered);
        assert!(!Options::suite(&CALLS, &Scope::Full).until_covered);
    }

    #[test]
    fn flags_are_read_and_wrong_ones_named() {
        let line = "--rounds 7 --seed 0xff --store sqlite --without fence --expect-caught --log x";
        let expected = Options {
            load: &HOUSES,
            amount: 7,
            until_covered: false,
            seed: Some(255),
            stores: Stores::Sqlite,
            without: Some("fence".into()),
            expect_caught: true,
            log: Some("x".into()),
        };
        assert_eq!(parse(&HOUSES, line).unwrap(), expected);
        for wrong in ["--rounds", "--rounds 0", "--rounds x", "--store tape", "--without doors", "fast"] {
            assert!(parse(&HOUSES, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn those_of_calls_too() {
        let line = "--kills 7 --seed 0xff --store postgres --without halt --expect-caught --log x";
        let options = parse(&CALLS, line).unwrap();
        let expected = Options {
            load: &CALLS,
            amount: 7,
            until_covered: false,
            seed: Some(255),
            stores: Stores::Postgres,
            without: Some("halt".into()),
            expect_caught: true,
            log: Some("x".into()),
        };
        assert_eq!(options, expected);
        let again = "cargo xtask crash calls --kills 7 --seed 0xff --store postgres --without halt";
        assert_eq!(options.command(255), again);
        for wrong in ["--kills", "--kills 0", "--rounds 3", "--without durability", "fast"] {
            assert!(parse(&CALLS, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn and_those_of_approvals() {
        let options = parse(&APPROVALS, "--kills 7 --without fingerprint --expect-caught").unwrap();
        let expected =
            Options { amount: 7, ..Options::mutant(&APPROVALS, &guard("fingerprint", 7), &Scope::Full) };
        assert_eq!(options, expected);
        let again = "cargo xtask crash approvals --kills 7 --seed 0x1 --store both --without fingerprint";
        assert_eq!(options.command(1), again);
        for wrong in ["--kills 0", "--rounds 3", "--without journal", "--without halt"] {
            assert!(parse(&APPROVALS, wrong).is_err(), "{wrong}");
        }
    }
}
