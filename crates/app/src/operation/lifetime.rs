//! An argument that says how long something lasts.

use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

/// `30m`, `24h`, `7d`, or `always`: `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Lifetime(pub Option<Duration>);

impl Lifetime {
    pub(crate) const fn day() -> Self {
        Self(Some(Duration::from_secs(24 * 60 * 60)))
    }
}

impl TryFrom<String> for Lifetime {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Lifetime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        const DAY: u64 = 24 * HOUR;
        const LONGEST: u64 = 10 * 365 * DAY;
        if text == "always" {
            return Ok(Self(None));
        }
        let bad = || "write it like 30m, 24h, 7d or always".to_owned();
        let unit = [('m', MINUTE), ('h', HOUR), ('d', DAY)];
        let (number, unit) = unit
            .iter()
            .find_map(|(unit, seconds)| Some((text.strip_suffix(*unit)?, *seconds)))
            .ok_or_else(bad)?;
        if !number.chars().all(|c| c.is_ascii_digit()) {
            return Err(bad());
        }
        let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        match seconds {
            Some(0) => Err("a grant that lasts no time grants nothing".into()),
            Some(seconds) if seconds <= LONGEST => Ok(Self(Some(Duration::from_secs(seconds)))),
            Some(_) => Err("that is longer than ten years; `always` lasts until it is revoked".into()),
            None => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lifetime;
    use std::time::Duration;

    #[test]
    fn spans() {
        let seconds = |seconds| Ok(Lifetime(Some(Duration::from_secs(seconds))));
        assert_eq!("30m".parse(), seconds(1_800));
        assert_eq!("24h".parse(), seconds(86_400));
        assert_eq!("7d".parse(), seconds(604_800));
        assert_eq!("always".parse(), Ok(Lifetime(None)));
        for bad in [
            "",
            "h",
            "7",
            "7w",
            "-1h",
            "+1h",
            "1.5h",
            " 1h",
            "0m",
            "99999999999999999999d",
            "9999d",
            "\u{663}h",
        ] {
            assert!(bad.parse::<Lifetime>().is_err(), "{bad}");
        }
    }
}
