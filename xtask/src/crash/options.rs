//! The command line of `crash` and `soak`.

use std::path::PathBuf;

use super::store::Stores;

const ROUNDS: u64 = 200;
const SOAK: u64 = 10_000;
/// Guards that the program can be built to leave out; each must be missed.
pub(crate) const GUARDS: [&str; 3] = ["fence", "journal", "durability"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) rounds: u64,
    /// From the commit, if nothing else is said.
    pub(crate) seed: Option<u64>,
    pub(crate) stores: Stores,
    pub(crate) without: Option<String>,
    /// A run that finds nothing has failed: it is one without a guard.
    pub(crate) expect_caught: bool,
    pub(crate) log: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rounds: ROUNDS,
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
        Self { rounds: SOAK, log: Some(PathBuf::from("docs/soak/crash.md")), ..Self::default() }
    }

    /// What is given, over `self`; or what is wrong with it.
    pub(crate) fn parse(mut self, args: &[String]) -> Result<Self, String> {
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("`{flag}` needs a value"));
            match flag.as_str() {
                "--rounds" => self.rounds = number(flag, value()?)?,
                "--seed" => self.seed = Some(number(flag, value()?)?),
                "--store" => self.stores = Stores::named(value()?)?,
                "--without" => self.without = Some(guard(value()?)?),
                "--log" => self.log = Some(PathBuf::from(value()?)),
                "--expect-caught" => self.expect_caught = true,
                unknown => return Err(format!("unknown flag `{unknown}`")),
            }
        }
        if self.rounds == 0 {
            return Err("`--rounds 0` shows nothing".to_owned());
        }
        Ok(self)
    }
}

fn guard(name: &str) -> Result<String, String> {
    let known = GUARDS.contains(&name).then(|| name.to_owned());
    known.ok_or_else(|| format!("unknown guard `{name}`; there are: {}", GUARDS.join(", ")))
}

/// Seeds are printed with `0x` before them, and taken so.
pub(crate) fn number(flag: &str, text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("`{flag} {text}`: {error}"))
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
            parse("--rounds 7 --seed 0xff --store sqlite --without fence --expect-caught --log x").unwrap();
        let expected = Options {
            rounds: 7,
            seed: Some(255),
            stores: Stores::Sqlite,
            without: Some("fence".into()),
            expect_caught: true,
            log: Some("x".into()),
        };
        assert_eq!(options, expected);
        for wrong in ["--rounds", "--rounds 0", "--rounds x", "--store tape", "--without doors", "fast"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
