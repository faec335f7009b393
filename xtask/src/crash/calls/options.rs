//! The command line of `crash calls`.

use std::path::PathBuf;

use super::super::options::number;
use super::super::store::Stores;

/// What CI has time for.
const KILLS: u64 = 200;
const SOAK: u64 = 1_000;
/// Guards that the program can be built to leave out; each must be missed.
pub(super) const GUARDS: [&str; 4] = ["journal", "reservation", "fence", "halt"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub(super) kills: u64,
    /// From the commit, if nothing else is said.
    pub(super) seed: Option<u64>,
    pub(super) stores: Stores,
    pub(super) without: Option<String>,
    /// A run that finds nothing has failed: it is one without a guard.
    pub(super) expect_caught: bool,
    pub(super) log: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kills: KILLS,
            seed: None,
            stores: Stores::Both,
            without: None,
            expect_caught: false,
            log: None,
        }
    }
}

impl Options {
    pub(crate) fn soak() -> Self {
        Self { kills: SOAK, log: Some(PathBuf::from("docs/soak/calls.md")), ..Self::default() }
    }

    /// The command that draws the same again.
    pub(super) fn command(&self, seed: u64) -> String {
        let without = self.without.as_ref().map(|guard| format!(" --without {guard}"));
        let (kills, store, without) = (self.kills, self.stores.flag(), without.unwrap_or_default());
        format!("cargo xtask crash calls --kills {kills} --seed {seed:#x} --store {store}{without}")
    }

    /// What is given, over `self`; or what is wrong with it.
    pub(crate) fn parse(mut self, args: &[String]) -> Result<Self, String> {
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("`{flag}` needs a value"));
            match flag.as_str() {
                "--kills" => self.kills = number(flag, value()?)?,
                "--seed" => self.seed = Some(number(flag, value()?)?),
                "--store" => self.stores = Stores::named(value()?)?,
                "--without" => self.without = Some(guard(value()?)?),
                "--log" => self.log = Some(PathBuf::from(value()?)),
                "--expect-caught" => self.expect_caught = true,
                unknown => return Err(format!("unknown flag `{unknown}`")),
            }
        }
        if self.kills == 0 {
            return Err("`--kills 0` shows nothing".to_owned());
        }
        Ok(self)
    }
}

fn guard(name: &str) -> Result<String, String> {
    let known = GUARDS.contains(&name).then(|| name.to_owned());
    known.ok_or_else(|| format!("unknown guard `{name}`; there are: {}", GUARDS.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::default().parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read_and_wrong_ones_named() {
        let options =
            parse("--kills 7 --seed 0xff --store postgres --without halt --expect-caught --log x").unwrap();
        let expected = Options {
            kills: 7,
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
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
