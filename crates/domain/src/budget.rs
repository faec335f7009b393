//! What budgets count, and amounts of it as people write them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::canonical::EXACT;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Millionths of the house's currency.
    Money,
    Tokens,
    /// Milliseconds that calls take, added up.
    Time,
    Calls,
    /// Bytes that leave the machine.
    BytesOut,
}

impl Unit {
    pub const ALL: [Self; 5] = [Self::Money, Self::Tokens, Self::Time, Self::Calls, Self::BytesOut];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Money => "money",
            Self::Tokens => "tokens",
            Self::Time => "time",
            Self::Calls => "calls",
            Self::BytesOut => "bytes_out",
        }
    }

    /// An amount of it, for a sentence.
    #[must_use]
    pub fn shown(self, amount: u64) -> String {
        match self {
            Self::Money => format!("${}.{:02}", amount / 1_000_000, amount % 1_000_000 / 10_000),
            Self::Tokens => format!("{amount} tokens"),
            Self::Time => format!("{:?}", Duration::from_millis(amount)),
            Self::Calls => format!("{amount} calls"),
            Self::BytesOut => format!("{amount} bytes"),
        }
    }

    /// An amount as people write it.
    #[must_use]
    pub fn amount(self, written: &str) -> Option<u64> {
        let amount = match self {
            Self::Money => money(written),
            Self::Time => suffixed(written, &TIMES),
            Self::BytesOut => suffixed(written, &SIZES),
            Self::Calls | Self::Tokens => whole(written),
        };
        // What is kept of a budget must be readable again.
        amount.filter(|amount| *amount <= EXACT)
    }

    /// The amount as people write it: what [`Unit::amount`] reads.
    #[must_use]
    pub fn written(self, amount: u64) -> String {
        match self {
            Self::Money => {
                let whole = format!("{}.{:06}", amount / 1_000_000, amount % 1_000_000);
                whole.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            Self::Time => format!("{amount}ms"),
            Self::Tokens | Self::Calls | Self::BytesOut => amount.to_string(),
        }
    }

    /// What an amount looks like.
    #[must_use]
    pub const fn like(self) -> &'static str {
        match self {
            Self::Money => "an amount like `5` or `0.50`",
            Self::Time => "a time like `30s`, `10m` or `2h`",
            Self::BytesOut => "a size like `10MB`",
            Self::Calls | Self::Tokens => "a whole number like `500`",
        }
    }
}

const TIMES: [(&str, u64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const SIZES: [(&str, u64); 4] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("", 1)];

fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    // What a database can count up to, with room to add.
    text.parse().ok().filter(|number| digits && *number <= 1_000_000_000_000_000)
}

/// In millionths.
fn money(text: &str) -> Option<u64> {
    let text = text.strip_prefix('$').unwrap_or(text);
    let (units, cents) = text.split_once('.').unwrap_or((text, "0"));
    if !(1..=6).contains(&cents.len()) {
        return None;
    }
    let millionths = whole(&format!("{cents:0<6}"))?;
    whole(units)?.checked_mul(1_000_000)?.checked_add(millionths)
}

fn suffixed(text: &str, suffixes: &[(&str, u64)]) -> Option<u64> {
    let (suffix, factor) = suffixes
        .iter()
        .find(|(suffix, _)| text.strip_suffix(suffix).is_some_and(|number| whole(number).is_some()))?;
    whole(text.strip_suffix(suffix)?)?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn what_is_written_is_read_as_the_same_amount() {
        for unit in Unit::ALL {
            for amount in [0, 1, 10, 999, 500_000, 1_000_000, 2_500_000, 123_456_789] {
                assert_eq!(unit.amount(&unit.written(amount)), Some(amount), "{unit:?} {amount}");
            }
        }
        assert_eq!(Unit::Money.written(2_500_000), "2.5");
        assert_eq!(Unit::Money.written(10_000_000), "10");
    }
}
