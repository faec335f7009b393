//! A clock that goes back is recorded, once per jump. Until then something may have been dated by a clock that was wrong, and
//! the record of the jump says up to where, and when that was noticed. A clock that leaps ahead cannot be told from a machine
//! that was switched off: what cannot be undone is measured from before the leap.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Time;
use ledger::audit_event::SYSTEM;
use ledger::records::AuditEntry;
use ledger::{AuditEvent, AuditEventKind, CommitError, Entry, Ledger, Op, Refusal, Select, StoreError};
use serde::Deserialize;

use crate::services::Services;
use domain::problem::Problem;

/// A clock that is further ahead of the newest commit, or of the last look of this process, has leapt; as far as the duty
/// `retention` is from the next one.
const LEAP: Duration = Duration::from_secs(24 * 60 * 60);
/// How often to look again when another process wrote at the same moment.
const TRIES: usize = 8;

/// The clock was found to be earlier than what was written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct ClockJump {
    pub from: Time,
    pub to: Time,
    /// The newest event that was there.
    pub events: i64,
}

/// The clock of now was compared with the newest commit.
#[derive(Clone, Copy, Debug)]
struct ClockReading {
    at: Time,
    /// When the newest commit was written, by the clock of then.
    written: Time,
    /// The latest moment since.
    latest: Time,
}

impl ClockReading {
    /// Whether the clock has only gone on since.
    fn holds(&self, now: Time) -> bool {
        !self.latest.is_after(now) && now <= self.latest.plus(LEAP)
    }
}

/// The last look of this process.
#[derive(Debug, Default)]
pub(crate) struct ClockWatch(Mutex<Option<ClockReading>>);

impl ClockWatch {
    fn look(&self) -> MutexGuard<'_, Option<ClockReading>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the ledger has to be looked at: for the first time, or because the clock went back or leapt ahead since.
    fn advance(&self, now: Time) -> bool {
        let mut look = self.look();
        let Some(look) = look.as_mut().filter(|look| look.holds(now)) else { return true };
        look.latest = look.latest.max(now);
        false
    }

    /// Keeps what a look found, unless another one at the same time was faster: it came before anything was written.
    fn keep(&self, now: Time, written: Time) {
        let mut look = self.look();
        if !look.is_some_and(|look| look.holds(now)) {
            *look = Some(ClockReading { at: now, written, latest: now });
        }
    }

    /// The moment that not the clock of this command alone vouches for: now, or, if the clock has leapt, the newest commit
    /// before the leap, until the clock has gone on for as long as a leap. Without a look it is the beginning of time.
    pub(crate) fn confirm(&self, now: Time) -> Time {
        let Some(look) = *self.look() else { return Time::from_micros(0) };
        let has_leapt = look.at > look.written.plus(LEAP) && now < look.at.plus(LEAP);
        if has_leapt { look.written.min(now) } else { now }
    }
}

/// Records that the clock went back, if it did and no process has recorded it yet. It comes before anything else is written:
/// the record of the jump is the newest commit then, and dated by the clock of now.
pub(crate) async fn watch(services: &Services, latest: &ClockWatch) -> Result<(), Problem> {
    if !latest.advance(services.now()) {
        return Ok(());
    }
    for _ in 0..TRIES {
        let (now, last) = (services.now(), services.ledger.last_commit().await?);
        latest.keep(now, last.as_ref().map_or(now, |last| last.at.min(now)));
        let Some(last) = last.filter(|last| last.at.is_after(now)) else { return Ok(()) };
        let events = services.ledger.newest_event().await?;
        let jump = AuditEvent::ClockWentBack { from: last.at, to: now, events };
        let mut batch = services.batch();
        batch.expect_quiet(last.seq.0.unwrap_or(0)).audit(jump.entry(SYSTEM, now));
        match services.ledger.commit(batch).await {
            Err(CommitError::Refused(Refusal::Disturbed)) => {}
            written => return written.map(drop).map_err(Problem::from),
        }
    }
    Ok(())
}

/// Every jump that was recorded, oldest first.
/// # Errors
/// If the ledger fails.
pub async fn jumps(ledger: &Ledger) -> Result<Vec<ClockJump>, StoreError> {
    let own = Select::<AuditEntry>::by("kind", &AuditEventKind::ClockWentBack.name().to_owned());
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
#[must_use]
pub fn received(at: Time, seq: Option<i64>, now: Time, jumps: &[ClockJump]) -> Time {
    if !at.is_after(now) {
        return at;
    }
    let is_later = |jump: &&ClockJump| seq.is_some_and(|seq| seq <= jump.events) && !jump.to.is_after(now);
    jumps.iter().find(is_later).map_or(now, |jump| jump.to)
}

#[cfg(test)]
mod tests {
    use super::{ClockJump, ClockWatch, received};
    use domain::Time;

    fn at(day: i64) -> Time {
        Time::from_micros(day * 24 * 3600 * 1_000_000)
    }

    #[test]
    fn the_ledger_is_looked_at_once_and_again_when_the_clock_went_back() {
        let latest = ClockWatch::default();
        for (day, expected) in
            [(9, true), (9, false), (10, false), (3, true), (3, false), (4, false), (3, true), (9, true)]
        {
            assert_eq!(latest.advance(at(day)), expected, "day {day}");
            latest.keep(at(day), at(day));
        }
    }

    #[test]
    fn a_clock_that_leaps_ahead_is_believed_after_a_day() {
        let latest = ClockWatch::default();
        assert_eq!(latest.confirm(at(9)), at(0), "nothing is known");
        for (day, written, expected, name) in [
            (9, 9, 9, "the clock is right"),
            (10, 9, 10, "a day went by"),
            (12, 10, 10, "two days went by"),
            (12, 12, 10, "what was written since the leap says nothing"),
            (13, 12, 13, "it is a day since"),
            (900, 13, 13, "a leap"),
            (14, 900, 14, "it went back"),
            (900, 14, 14, "again"),
            (902, 900, 900, "and once more: it wrote before"),
        ] {
            latest.advance(at(day));
            latest.keep(at(day), at(written.min(day)));
            assert_eq!(latest.confirm(at(day)), at(expected), "{name}");
        }
    }

    #[test]
    fn an_event_from_the_future_came_before_the_next_jump_back() {
        let jump = |from, to, events| ClockJump { from: at(from), to: at(to), events };
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
