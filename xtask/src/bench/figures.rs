//! Medians, and figures as they are printed.

use std::time::Duration;

/// The nearest rank; zero for no times.
pub(super) fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(rank(sorted.len(), percent)).copied().unwrap_or_default()
}

pub(super) fn median_time(times: &[Duration]) -> Duration {
    quantile(times, 50)
}

/// Not a number if there are no figures, which keeps no promise.
pub(super) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(rank(sorted.len(), 50)).copied().unwrap_or(f64::NAN)
}

fn rank(count: usize, percent: usize) -> usize {
    (count * percent).div_ceil(100).max(1) - 1
}

pub(super) fn per_second(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

/// In microseconds.
pub(super) fn each(time: Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e6 / count as f64
}

pub(super) fn in_milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

pub(super) fn milliseconds(time: Duration) -> String {
    format!("{:.2}", in_milliseconds(time))
}

pub(super) fn ratio(time: Duration, reference: Duration) -> String {
    if reference.is_zero() {
        "–".to_owned()
    } else {
        format!("{:.2}", time.as_secs_f64() / reference.as_secs_f64())
    }
}

pub(super) fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// `20,000`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| str::from_utf8(g).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_nearest_rank() {
        let times: Vec<_> = [5, 1, 4, 2, 3, 10, 9, 8, 7, 6].map(Duration::from_millis).to_vec();
        assert_eq!(quantile(&times, 50), Duration::from_millis(5));
        assert_eq!(quantile(&times, 90), Duration::from_millis(9));
        assert_eq!(quantile(&[], 50), Duration::ZERO);
    }

    #[test]
    fn a_median_of_nothing_is_no_number() {
        assert_eq!(median(&[0.3, 0.1, 0.2]), 0.2);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn figures_are_printed_for_people() {
        assert_eq!(
            [1, 999, 1_000, 20_000, 1_000_000].map(thousands).join(" "),
            "1 999 1,000 20,000 1,000,000"
        );
        assert_eq!(megabytes(35_680_000), "35.6");
        assert_eq!(ratio(Duration::from_millis(3), Duration::from_millis(2)), "1.50");
        assert_eq!(ratio(Duration::from_millis(3), Duration::ZERO), "–");
        assert_eq!(per_second(20_000, Duration::from_secs(4)), 5_000.0);
        assert_eq!(each(Duration::from_secs(1), 20_000), 50.0);
    }
}
