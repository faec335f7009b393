//! Rows that carry authority, read only as this instance wrote them.

use std::sync::Arc;

use crate::authority::{AUTHORITY_TABLES, AuthorityState, AuthorityTable, Seals, Unverified, named_by};
use crate::committer::Ledger;
use crate::query::{Query, Select};
use crate::records::{AuditHead, AuthoritySeal, DatabaseStamp};
use crate::store::StoreError;
use crate::table::Record;
use crate::value::{Row, Value};

/// How often it is looked again where another process has just ended the epoch or changed the seals.
const LOOKS: u32 = 5;

impl Ledger {
    /// Every row of the table that carries authority.
    ///
    /// # Errors
    /// If one of them is not as it was sealed, or one is missing; or if the database cannot be read.
    pub async fn sealed<T: Record>(&self) -> Result<Vec<T>, StoreError> {
        let Some(table) = AuthorityTable::of(T::TABLE) else { return self.select(Select::all()).await };
        let (rows, state) = self.look(table.effective()).await?;
        state.check_all(table, &rows)?;
        decode(rows)
    }

    /// The rows that answer a question, whether they carry authority or not.
    ///
    /// # Errors
    /// If one that does is not as it was sealed, or the database cannot be read.
    pub(super) async fn sealed_where<T: Record>(&self, select: Select<T>) -> Result<Vec<T>, StoreError> {
        let Some(table) = AuthorityTable::of(T::TABLE) else { return self.select(select).await };
        let (rows, state) = self.look(select.query).await?;
        for row in &rows {
            state.check_row(table, row)?;
        }
        decode(rows)
    }

    /// The row with this key, whether it carries authority or not.
    ///
    /// # Errors
    /// If it is not as it was sealed, or was taken out; or if the database cannot be read.
    pub(super) async fn sealed_by_key<T: Record>(
        &self,
        select: Select<T>,
        key: &[Value],
    ) -> Result<Option<T>, StoreError> {
        let Some(table) = AuthorityTable::of(T::TABLE) else { return self.first(select).await };
        let (rows, state) = self.look(select.limit(1).query).await?;
        match rows.first() {
            Some(row) => state.check_row(table, row)?,
            None => state.check_absent(table, key)?,
        }
        Ok(decode(rows)?.pop())
    }

    /// The same, with the answers to another question of the same moment.
    ///
    /// # Errors
    /// As [`Ledger::sealed_by_key`].
    pub(super) async fn sealed_by_key_with<T: Record, U: Record>(
        &self,
        select: Select<T>,
        key: &[Value],
        other: Select<U>,
    ) -> Result<(Option<T>, Vec<U>), StoreError> {
        let (mut answers, state) = self.look_at(vec![select.limit(1).query, other.query]).await?;
        let (others, rows) = (answers.pop().unwrap_or_default(), answers.pop().unwrap_or_default());
        if let Some(table) = AuthorityTable::of(T::TABLE) {
            match rows.first() {
                Some(row) => state.check_row(table, row)?,
                None => state.check_absent(table, key)?,
            }
        }
        Ok((decode(rows)?.pop(), decode(others)?))
    }

    /// What is wrong with the rows that carry authority, table by table.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn verify_authority(&self) -> Result<Vec<Unverified>, StoreError> {
        let mut found = Vec::new();
        for table in &AUTHORITY_TABLES {
            let (rows, state) = self.look(table.effective()).await?;
            match state.check_all(table, &rows) {
                Err(why @ (Unverified::Forged { .. } | Unverified::Missing { .. })) => found.push(why),
                Err(why) => return Ok(vec![why]),
                Ok(()) => {}
            }
        }
        Ok(found)
    }

    /// After a restore the rows are sealed with other keys than those that this process knows: that is what there is to say.
    async fn check_stamp(&self) -> Result<(), StoreError> {
        let Some(expected) = self.seal().vault().stamp() else { return Ok(()) };
        let this = Select::<DatabaseStamp>::by("name", &DatabaseStamp::THIS.to_owned());
        let found = self.first(this).await?;
        if found.is_none_or(|found| found == *expected) { Ok(()) } else { Err(StoreError::Replaced) }
    }

    async fn look(&self, query: Query) -> Result<(Vec<Row>, AuthorityState), StoreError> {
        let (mut answers, state) = self.look_at(vec![query]).await?;
        Ok((answers.pop().unwrap_or_default(), state))
    }

    /// Rows and what is known about authority, of the same moment.
    async fn look_at(&self, asked: Vec<Query>) -> Result<(Vec<Vec<Row>>, AuthorityState), StoreError> {
        let seal = self.seal();
        let mac = seal.authority_mac()?;
        let mut looks = 1..LOOKS;
        let mut with_seals = false;
        loop {
            // What stands outside is read first: the database may be ahead of it, never behind.
            let tip = seal.vault().tip()?;
            let mut queries = asked.clone();
            queries.push(Select::<AuditHead>::by("stream", &seal.stream()).query);
            queries.extend(with_seals.then(|| Select::<AuthoritySeal>::all().query));
            let mut answers = self.store().select_together(&queries).await?;
            let mut beyond = answers.split_off(asked.len().min(answers.len())).into_iter();
            let head = decode::<AuditHead>(beyond.next().unwrap_or_default())?.pop();
            if let Some(seals) = beyond.next() {
                seal.know_seals(&mac, Arc::new(Seals::of(decode(seals)?)));
            }
            let named = named_by(head.as_ref(), tip, seal, &mac)?;
            let unknown = matches!(named, Ok(named) if seal.known_seals(named).is_none());
            // Another process may have ended the epoch, or changed the seals, since the head was read.
            let moved = unknown || matches!(named, Err(Unverified::Head | Unverified::NoKey));
            if moved && looks.next().is_some() {
                with_seals |= unknown;
                continue;
            }
            if named.is_err() {
                self.check_stamp().await?;
            }
            return Ok((answers, AuthorityState::new(mac, named, |named| seal.known_seals(named))));
        }
    }
}

fn decode<T: Record>(rows: Vec<Row>) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(|row| T::from_row(row).map_err(StoreError::from)).collect()
}
