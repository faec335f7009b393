//! Rows that wait for an answer from `created_at` to `timeout_at`. Which of them are open, [`Time::is_within`] says; a database
//! compares with the end alone, and the few rows that begin in the future are looked at one by one.

use domain::Time;
use domain::limits::CLOCK_TOLERANCE;

use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::store::StoreError;
use crate::table::Record;

fn not_ended<T: Record>(rows: Select<T>, now: Time) -> Select<T> {
    rows.filter("timeout_at", Op::Gt, &now)
}

impl Ledger {
    /// The open ones, next to expire first.
    pub(super) async fn open<T: Record + Clone>(
        &self,
        rows: Select<T>,
        now: Time,
        limit: u32,
        is_open: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>, StoreError> {
        let misdated = self.misdated(rows.clone(), now, &is_open).await?.len();
        let more = limit.saturating_add(u32::try_from(misdated).unwrap_or(u32::MAX));
        let mut found = self.select(not_ended(rows, now).ascending("timeout_at").limit(more)).await?;
        found.retain(is_open);
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    pub(super) async fn count_open<T: Record + Clone>(
        &self,
        rows: Select<T>,
        now: Time,
        is_open: impl Fn(&T) -> bool,
    ) -> Result<u64, StoreError> {
        let misdated = self.misdated(rows.clone(), now, &is_open).await?.len() as u64;
        Ok(self.count(not_ended(rows, now)).await?.saturating_sub(misdated))
    }

    /// The ones that are over: what has ended, and, if there is nothing of that, what was dated by a wrong clock.
    pub(super) async fn overdue<T: Record + Clone>(
        &self,
        rows: Select<T>,
        now: Time,
        limit: u32,
        is_open: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>, StoreError> {
        let next = now.plus(std::time::Duration::from_micros(1));
        let mut found = self.select(rows.clone().filter("timeout_at", Op::Lt, &next).limit(limit)).await?;
        if found.is_empty() {
            found = self.misdated(rows, now, &is_open).await?;
            found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        Ok(found)
    }

    /// The ones that end in the future and are over all the same.
    async fn misdated<T: Record>(
        &self,
        rows: Select<T>,
        now: Time,
        is_open: &impl Fn(&T) -> bool,
    ) -> Result<Vec<T>, StoreError> {
        let ahead = not_ended(rows, now).filter("created_at", Op::Gt, &now.plus(CLOCK_TOLERANCE));
        let mut ahead = self.select(ahead).await?;
        ahead.retain(|row| !is_open(row));
        Ok(ahead)
    }
}
