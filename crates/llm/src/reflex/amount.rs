//! Numbers as people read them.

use domain::Time;

pub(super) fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `812 bytes`, `18.2 kB`: thousands, one decimal, and never `1000.0 kB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return plural(bytes, "byte", "bytes");
    }
    let mut one = 1_u128;
    for unit in UNITS {
        one *= 1000;
        let tenths = (u128::from(bytes) * 10 + one / 2) / one;
        if tenths < 10_000 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} bytes")
}

/// The same where somebody asked for it: `119.2 kB (119222 bytes)`.
pub(super) fn exact_size(bytes: u64) -> String {
    if bytes < 1000 { size(bytes) } else { format!("{} ({bytes} bytes)", size(bytes)) }
}

/// `2026-11-15 08:30 UTC`; what is no moment is shown as it came.
pub(super) fn minute(modified: &str) -> String {
    let utc = modified.parse::<Time>().map(|time| time.to_string()).ok();
    let minute = utc.and_then(|utc| Some(format!("{} {} UTC", utc.get(..10)?, utc.get(11..16)?)));
    minute.unwrap_or_else(|| modified.into())
}

/// A decimal with at most two digits behind the point, rounded half up; what is exact in fewer is shown in fewer.
pub(super) fn rounded(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let Some((whole, part)) = digits.split_once('.') else { return number.into() };
    if part.len() <= 2 || !part.bytes().all(|b| b.is_ascii_digit()) {
        return number.into();
    }
    let all: String = whole.chars().chain(part.chars().take(2)).collect();
    let (Ok(hundredths), up) =
        (all.parse::<u128>(), part.as_bytes().get(2).is_some_and(|digit| *digit >= b'5'))
    else {
        return number.into();
    };
    let hundredths = hundredths + u128::from(up);
    let shown = format!("{sign}{}.{:02}", hundredths / 100, hundredths % 100);
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}
