//! Calls through the broker, 64 in flight, as the bench program of `app` measures them at the port: no command has so many in flight.

use anyhow::Context as _;
use serde_json::Value;

use super::Bench;
use super::promises::{CALL, Outcome};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Outcome>> {
    let args = ["bench", "--package", "app", "--bench", "broker", "--", "calls"];
    let printed = bench.job.run(bench.job.cargo(&args))?.stdout;
    Ok(vec![outcome(&printed).context("the figures of the broker's bench program")?])
}

/// From the line that the program prints for us.
fn outcome(printed: &str) -> Option<Outcome> {
    let figures: Value = printed.lines().rev().find_map(|line| serde_json::from_str(line).ok())?;
    let figure = |name: &str| figures.get(name).and_then(Value::as_f64);
    let (beyond, disk, tool) = (figure("beyond_us")?, figure("disk_us")?, figure("tool_us")?);
    Some(CALL.seen(beyond, format!("disk {disk:.0} µs, tool {tool:.1} µs")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_in_the_line_that_is_json() {
        let printed = "| 7 | 520 |\n\nmedian of the rest: 428 µs\n25600 calls\n{\"in_flight\":64,\"beyond_us\":428.1,\"disk_us\":20.4,\"tool_us\":1.9}\n";
        assert_eq!(outcome(printed), Some(CALL.seen(428.1, "disk 20 µs, tool 1.9 µs")));
        assert_eq!(outcome("| 7 | 520 |"), None);
    }
}
