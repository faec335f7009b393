//! Numbers that are no whole numbers: how they are kept, and the one kind of them that records have.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Cell, Kind, Value};

/// Whatever stands in a column of such numbers, in a total order, so that cells can be compared like all others.
#[derive(Clone, Copy, Debug)]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Real {}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A number from 0 to 1, both included; never anything else. In JSON it is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Ratio(Real);

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("`{0}` is no number from 0 to 1")]
pub struct NotARatio(f64);

impl Ratio {
    /// # Errors
    /// If it is not from 0 to 1.
    pub fn new(number: f64) -> Result<Self, NotARatio> {
        // Adding nothing makes one zero of the two that there are: a database knows only one, too.
        let one_zero = number + 0.0;
        if (0.0..=1.0).contains(&number) { Ok(Self(Real(one_zero))) } else { Err(NotARatio(number)) }
    }

    #[must_use]
    pub const fn get(self) -> f64 {
        self.0.0
    }
}

impl TryFrom<f64> for Ratio {
    type Error = NotARatio;
    fn try_from(number: f64) -> Result<Self, NotARatio> {
        Self::new(number)
    }
}

impl From<Ratio> for f64 {
    fn from(ratio: Ratio) -> Self {
        ratio.get()
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.get(), f)
    }
}

impl Cell for Ratio {
    const KIND: Kind = Kind::Real;
    fn to_value(&self) -> Value {
        Value::Real(self.0)
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Real(real) => Self::new(real.0).map_err(|_out_of_range| value),
            other => Err(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell as _, Ratio, Real, Value};

    #[test]
    fn a_ratio_is_from_0_to_1_and_nothing_else() {
        for number in [0.0, -0.0, 0.1, 0.1 + 0.2, f64::MIN_POSITIVE, 1.0] {
            let ratio = Ratio::new(number).unwrap();
            assert_eq!(ratio.get().total_cmp(&(number + 0.0)), std::cmp::Ordering::Equal);
            assert_eq!(Ratio::from_value(ratio.to_value()), Ok(ratio));
            let json = serde_json::to_string(&ratio).unwrap();
            assert_eq!(serde_json::from_str::<Ratio>(&json).unwrap(), ratio, "{json}");
        }
        for number in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 1.0 + f64::EPSILON] {
            assert!(Ratio::new(number).is_err(), "{number}");
            let stored = Value::Real(Real(number));
            assert_eq!(Ratio::from_value(stored.clone()), Err(stored));
        }
        for json in ["-1", "2", "null", "\"0.5\""] {
            assert!(serde_json::from_str::<Ratio>(json).is_err(), "{json}");
        }
        assert!(Ratio::new(0.1).unwrap() < Ratio::new(0.2).unwrap());
    }
}
