//! What is measured, and how often.

use std::path::PathBuf;

/// A measurement that can be asked for by name, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measurement {
    Start,
    Reflex,
    Processor,
    Ingest,
    Growth,
    Verify,
    Calls,
}

impl Measurement {
    pub(crate) const ALL: [Self; 7] =
        [Self::Start, Self::Reflex, Self::Processor, Self::Ingest, Self::Growth, Self::Verify, Self::Calls];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Reflex => "reflex",
            Self::Processor => "processor",
            Self::Ingest => "ingest",
            Self::Growth => "growth",
            Self::Verify => "verify",
            Self::Calls => "calls",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BenchOptions {
    /// How many rounds of each measurement; `None` means the number that suits it.
    pub(crate) rounds: Option<usize>,
    /// Also on PostgreSQL.
    pub(crate) postgres: bool,
    /// Growth up to a million events.
    pub(crate) full: bool,
    /// An already built program, in place of the release build of this checkout.
    pub(crate) program: Option<PathBuf>,
    /// Empty means all.
    measurements: Vec<Measurement>,
}

impl BenchOptions {
    pub(crate) fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("`{arg}` needs a value"));
            match arg.as_str() {
                "--rounds" => options.rounds = Some(parse_rounds(value()?)?),
                "--program" => options.program = Some(value()?.into()),
                "--postgres" => options.postgres = true,
                "--full" => options.full = true,
                name => {
                    let known = Measurement::ALL.into_iter().find(|measurement| measurement.name() == name);
                    options.measurements.push(known.ok_or_else(|| unknown(name))?);
                }
            }
        }
        Ok(options)
    }

    pub(crate) fn includes(&self, measurement: Measurement) -> bool {
        self.measurements.is_empty() || self.measurements.contains(&measurement)
    }
}

fn parse_rounds(number: &str) -> Result<usize, String> {
    let rounds = number.parse().ok().filter(|rounds| *rounds > 0);
    rounds.ok_or_else(|| format!("`{number}` is no number of rounds"))
}

fn unknown(name: &str) -> String {
    let names = Measurement::ALL.map(Measurement::name).join(", ");
    format!("unknown measurement `{name}`; there are: {names}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<BenchOptions, String> {
        BenchOptions::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn no_arguments_mean_everything() {
        let options = parse("").unwrap();
        assert_eq!(options, BenchOptions::default());
        assert!(Measurement::ALL.into_iter().all(|measurement| options.includes(measurement)));
    }

    #[test]
    fn names_and_flags_come_in_any_order() {
        let options = parse("ingest --rounds 7 --postgres verify --program ./regent --full").unwrap();
        let expected = BenchOptions {
            rounds: Some(7),
            postgres: true,
            full: true,
            program: Some("./regent".into()),
            measurements: vec![Measurement::Ingest, Measurement::Verify],
        };
        assert_eq!(options, expected);
        assert!(options.includes(Measurement::Verify) && !options.includes(Measurement::Start));
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for wrong in ["--rounds", "--rounds 0", "--rounds x", "fast", "--program"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
