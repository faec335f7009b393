//! A clock that goes back is recorded, once per jump. Until then something may have been dated by a clock that was wrong, and
//! the record of the jump says up to where, and when that was noticed.

use std::sync::Mutex;

use domain::Time;
use ledger::records::AuditEntry;
use ledger::{CommitError, Entry, Ledger, Op, Refusal, Select, StoreError};
use serde::{Deserialize, Serialize};

use crate::pipeline::Desk;
use crate::problem::Problem;

const WENT_BACK: &str = "clock.back";
/// How often to look again when another process wrote at the same moment.
const TRIES: usize = 8;

/// The clock was found to be earlier than what was written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Jump {
    pub(crate) from: Time,
    pub(crate) to: Time,
    /// The newest event that was there.
    pub(crate) events: i64,
}

/// The latest moment that this process has seen.
#[derive(Debug, Default)]
pub(crate) struct Latest(Mutex<Option<Time>>);

impl Latest {
    /// Whether the ledger has to be looked at: for the first time, or because the clock went back since.
    fn advance(&self, now: Time) -> bool {
        let mut latest = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_new = latest.is_none_or(|latest| latest.is_after(now));
        *latest = Some(latest.filter(|_| !is_new).map_or(now, |latest| latest.max(now)));
        is_new
    }
}

/// Records that the clock went back, if it did and no process has recorded it yet. It comes before anything else is written:
/// the record of the jump is the newest commit then, and dated by the clock of now.
pub(crate) async fn watch(desk: &Desk, latest: &Latest) -> Result<(), Problem> {
    if !latest.advance(desk.now()) {
        return Ok(());
    }
    for _ in 0..TRIES {
        let (now, last) = (desk.now(), desk.ledger.last_commit().await?);
        let Some(last) = last.filter(|last| last.at.is_after(now)) else { return Ok(()) };
        let jump = Jump { from: last.at, to: now, events: desk.ledger.newest_event().await? };
        let detail = serde_json::to_value(jump).map_err(Problem::internal)?;
        let mut batch = desk.batch();
        batch.expect_quiet(last.seq.0.unwrap_or(0)).audit(Entry::of_house(WENT_BACK, "clock", now, detail));
        match desk.ledger.commit(batch).await {
            Err(CommitError::Refused(Refusal::Disturbed)) => {}
            written => return written.map(drop).map_err(Problem::from),
        }
    }
    Ok(())
}

/// Every jump that was recorded, oldest first.
pub(crate) async fn jumps(ledger: &Ledger) -> Result<Vec<Jump>, StoreError> {
    let own = Select::<AuditEntry>::by("kind", &WENT_BACK.to_owned());
    let own = own.filter("stream", Op::Eq, &ledger.seal().stream());
    let entries = ledger.select(own.ascending("seq")).await?;
    let jump = |entry: &AuditEntry| {
        let entry: Entry = serde_json::from_slice(&entry.bytes).ok()?;
        serde_json::from_value(entry.detail).ok()
    };
    Ok(entries.iter().filter_map(jump).collect())
}

/// When an event was there at the latest: one that is dated in the future was there when the clock was next found to have
/// gone back. Without such a record it may have come now.
pub(crate) fn received(at: Time, seq: Option<i64>, now: Time, jumps: &[Jump]) -> Time {
    if !at.is_after(now) {
        return at;
    }
    let is_later = |jump: &&Jump| seq.is_some_and(|seq| seq <= jump.events) && !jump.to.is_after(now);
    jumps.iter().find(is_later).map_or(now, |jump| jump.to)
}

#[cfg(test)]
mod tests {
    use super::{Jump, Latest, received};
    use domain::Time;

    fn at(day: i64) -> Time {
        Time::from_micros(day * 24 * 3600 * 1_000_000)
    }

    #[test]
    fn the_ledger_is_looked_at_once_and_again_when_the_clock_went_back() {
        let latest = Latest::default();
        for (day, expected) in
            [(9, true), (9, false), (10, false), (3, true), (3, false), (9, false), (8, true)]
        {
            assert_eq!(latest.advance(at(day)), expected, "day {day}");
        }
    }

    #[test]
    fn an_event_from_the_future_came_before_the_next_jump_back() {
        let jump = |from, to, events| Jump { from: at(from), to: at(to), events };
        let jumps = [jump(90, 3, 4), jump(95, 6, 8), jump(6, 5, 9)];
        for (date, seq, now, expected, name) in [
            (2, 1, 10, 2, "dated in the past"),
            (90, 4, 10, 3, "before the first jump"),
            (95, 5, 10, 6, "before the second"),
            (95, 9, 10, 5, "before the third"),
            (95, 8, 5, 5, "a jump that is in the future itself says nothing"),
            (95, 10, 10, 10, "no jump was recorded since"),
        ] {
            assert_eq!(received(at(date), Some(seq), at(now), &jumps), at(expected), "{name}");
        }
    }
}
