//! What is promised about speed and size, in one place, and whether it was seen.

/// What is asked of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

use Bound::{AtLeast, AtMost};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Promise {
    what: &'static str,
    bound: Bound,
    unit: Unit,
    /// What we work towards, beyond what is asked for.
    aim: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Ratio,
    Megabytes,
    PerSecond,
    Microseconds,
    Milliseconds,
}

impl Promise {
    const fn new(what: &'static str, bound: Bound, unit: Unit) -> Self {
        Self { what, bound, unit, aim: None }
    }

    const fn aiming_at(self, aim: f64) -> Self {
        Self { aim: Some(aim), ..self }
    }
}

pub(super) const INGEST_SQLITE: Promise =
    Promise::new("`events ingest` of 20,000 events, SQLite: rate / bare inserts", AtLeast(0.2), Unit::Ratio)
        .aiming_at(0.4);
pub(super) const INGEST_POSTGRES: Promise = Promise::new(
    "`events ingest` of 20,000 events, PostgreSQL: rate / bare inserts",
    AtLeast(0.2),
    Unit::Ratio,
);
pub(super) const INGEST_MEMORY: Promise =
    Promise::new("`events ingest` of 20,000 events, SQLite: peak memory", AtMost(40.0), Unit::Megabytes);
pub(super) const GROWTH: Promise = Promise::new(
    "`events ingest`: cost per event with the most events stored / with 1,000",
    AtMost(1.5),
    Unit::Ratio,
);
pub(super) const VERIFY: Promise =
    Promise::new("`audit verify`: entries per second", AtLeast(500_000.0), Unit::PerSecond);
pub(super) const CALL: Promise =
    Promise::new("a call with 64 in flight, beyond disk and tool", AtMost(300.0), Unit::Microseconds);
pub(super) const REFLEX: Promise =
    Promise::new("a reflex task, beyond its tool and four syncs", AtMost(8.0), Unit::Milliseconds);
pub(super) const RUN_PROCESSOR: Promise =
    Promise::new("`run \"how many files are here?\"`: processor time", AtMost(20.0), Unit::Milliseconds);
pub(super) const TASKS_PROCESSOR: Promise =
    Promise::new("`tasks list`: processor time", AtMost(8.0), Unit::Milliseconds);

/// What was seen of a promise, and what was seen beside it in the same run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    promise: Promise,
    seen: f64,
    reference: String,
}

impl Promise {
    pub(super) fn seen(self, seen: f64, reference: impl Into<String>) -> Outcome {
        Outcome { promise: self, seen, reference: reference.into() }
    }

    fn asked(&self) -> String {
        let asked = match self.bound {
            AtLeast(least) => format!("≥ {}", self.unit.print(least)),
            AtMost(most) => format!("≤ {}", self.unit.print(most)),
        };
        self.aim.map_or_else(|| asked.clone(), |aim| format!("{asked} (aim {})", self.unit.print(aim)))
    }
}

impl Outcome {
    /// What is no number keeps no promise.
    fn is_kept(&self) -> bool {
        match self.promise.bound {
            AtLeast(least) => self.seen >= least,
            AtMost(most) => self.seen <= most,
        }
    }

    fn verdict(&self) -> &'static str {
        if self.is_kept() { "pass" } else { "fail" }
    }
}

impl Unit {
    fn print(self, figure: f64) -> String {
        match self {
            Self::Ratio => format!("{figure:.2} ×"),
            Self::Megabytes => format!("{figure:.1} MB"),
            Self::PerSecond => format!("{figure:.0} /s"),
            Self::Microseconds => format!("{figure:.0} µs"),
            Self::Milliseconds => format!("{figure:.1} ms"),
        }
    }
}

/// The table of promises, its header first.
pub(super) fn rows(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let header = ["promise", "asked for", "seen", "verdict", "beside it, in the same run"];
    let row = |outcome: &Outcome| {
        vec![
            outcome.promise.what.to_owned(),
            outcome.promise.asked(),
            outcome.promise.unit.print(outcome.seen),
            outcome.verdict().to_owned(),
            outcome.reference.clone(),
        ]
    };
    std::iter::once(header.map(str::to_owned).to_vec()).chain(outcomes.iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_kept_up_to_its_bound() {
        for (promise, seen, kept) in [
            (INGEST_SQLITE, 0.2, true),
            (INGEST_SQLITE, 0.199, false),
            (INGEST_MEMORY, 40.0, true),
            (INGEST_MEMORY, 40.1, false),
            (VERIFY, f64::NAN, false),
            (CALL, f64::NAN, false),
        ] {
            assert_eq!(promise.seen(seen, "").is_kept(), kept, "{promise:?} {seen}");
        }
    }

    #[test]
    fn the_table_says_what_is_asked_and_what_was_seen() {
        let rows = rows(&[INGEST_SQLITE.seen(0.31, "bare: 12,000 rows/s"), CALL.seen(428.0, "disk 20 µs")]);
        let cells: Vec<Vec<&str>> =
            rows.iter().map(|row| row.iter().skip(1).map(String::as_str).collect()).collect();
        assert_eq!(cells[1], ["≥ 0.20 × (aim 0.40 ×)", "0.31 ×", "pass", "bare: 12,000 rows/s"]);
        assert_eq!(cells[2], ["≤ 300 µs", "428 µs", "fail", "disk 20 µs"]);
    }
}
