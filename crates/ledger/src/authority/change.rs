//! What a batch does to the seals of the rows that carry authority.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::Digest;
use domain::probe::Probe;

use super::state::{AuthorityState, Seals};
use super::table::{AUTHORITY_TABLES, AuthorityTable, TASK};
use crate::batch::{Batch, Erasure};
use crate::chain::Seal;
use crate::query::{Filter, Query, Select, Test};
use crate::records::AuthoritySeal;
use crate::store::{StoreError, Tx, key_of, put_records, select};
use crate::table::Record as _;

/// The rows that lose their seal, found before they are erased.
#[derive(Debug, Default)]
pub(crate) struct Resealing {
    erased: Vec<(&'static AuthorityTable, Digest)>,
}

/// A set of seals that was changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resealed {
    /// Its MAC, which the head is to name.
    pub(crate) named: Digest,
    /// Whether the change needs an entry of the audit.
    pub(crate) on_record: bool,
}

/// Whether a batch writes or erases rows of a table that carries authority.
pub(crate) fn touches(batch: &Batch) -> bool {
    batch.seals_existing
        || batch.rows.iter().any(|(table, _)| AuthorityTable::of(table).is_some())
        || batch.erasures.iter().any(|erasure| AuthorityTable::of(erasure.table).is_some())
}

impl Resealing {
    pub(crate) async fn before(
        tx: &mut impl Tx,
        accepted: &[&Batch],
        state: &AuthorityState,
    ) -> Result<Self, StoreError> {
        let mut erased = Vec::new();
        for Erasure { table, column, values } in accepted.iter().flat_map(|batch| &batch.erasures) {
            let Some(sealed) = AuthorityTable::of(table) else { continue };
            let filters = vec![Filter { column, test: Test::AnyOf(values.clone()) }];
            let query = Query { table, filters, order: None, limit: None };
            let rows = tx.select(&query).await?;
            erased.extend(rows.iter().map(|row| (sealed, state.mac.of_key(sealed, &key_of(table, row)))));
        }
        Ok(Self { erased })
    }

    /// Writes the seals as they are after the batches, and returns the set that the head is to name; nothing if it stays as it
    /// was. If the state is not verified, nothing new is sealed: only the owner's decision about what counts ends that.
    pub(crate) async fn write(
        self,
        tx: &mut impl Tx,
        accepted: &[&Batch],
        state: &AuthorityState,
        seal: &Seal,
        probe: &dyn Probe,
    ) -> Result<Option<Resealed>, StoreError> {
        if accepted.iter().any(|batch| batch.seals_existing) {
            let named = seal_existing(tx, state, seal, probe).await?;
            return Ok(Some(Resealed { named, on_record: true }));
        }
        let Ok(before) = &state.seals else { return Ok(None) };
        let mut seals = Seals::clone(before);
        let (mut written, mut removed) = (BTreeMap::new(), BTreeSet::new());
        let mut on_record = false;
        for (table, key) in self.erased {
            if seals.take(table.kind, key) {
                removed.insert(key);
                on_record |= table.kind != TASK;
            }
        }
        for (table, row) in accepted.iter().flat_map(|batch| &batch.rows) {
            let Some(table) = AuthorityTable::of(table) else { continue };
            let (key, mac) = state.mac.seal(table, row);
            if !table.is_effective(row) {
                if seals.take(table.kind, key) {
                    removed.insert(key);
                    on_record |= table.kind != TASK;
                }
                written.remove(&key);
            } else if seals.put(table.kind, key, mac) || removed.contains(&key) {
                on_record |= table.kind != TASK;
                removed.remove(&key);
                written.insert(key, AuthoritySeal { key, kind: table.kind.into(), mac });
            }
        }
        if written.is_empty() && removed.is_empty() {
            return Ok(None);
        }
        erase(tx, removed).await?;
        let written: Vec<AuthoritySeal> = written.into_values().collect();
        if !written.is_empty() {
            put_records(tx, &written, probe).await?;
        }
        Ok(Some(Resealed { named: seal.know_seals(&state.mac, Arc::new(seals)), on_record }))
    }
}

/// Seals every row that carries authority, as it is: after an upgrade, or when the owner has decided what counts.
async fn seal_existing(
    tx: &mut impl Tx,
    state: &AuthorityState,
    seal: &Seal,
    probe: &dyn Probe,
) -> Result<Digest, StoreError> {
    let old: Vec<AuthoritySeal> = select(tx, Select::all()).await?;
    erase(tx, Seals::of(old).keys()).await?;
    let (mut seals, mut written) = (Seals::default(), Vec::new());
    for table in &AUTHORITY_TABLES {
        for row in tx.select(&table.effective()).await? {
            let (key, mac) = state.mac.seal(table, &row);
            seals.put(table.kind, key, mac);
            written.push(AuthoritySeal { key, kind: table.kind.into(), mac });
        }
    }
    if !written.is_empty() {
        put_records(tx, &written, probe).await?;
    }
    Ok(seal.know_seals(&state.mac, Arc::new(seals)))
}

async fn erase(tx: &mut impl Tx, keys: impl IntoIterator<Item = Digest>) -> Result<(), StoreError> {
    use crate::value::Cell as _;
    let keys: Vec<_> = keys.into_iter().map(|key| key.to_value()).collect();
    if keys.is_empty() { Ok(()) } else { tx.erase(AuthoritySeal::TABLE, "key", &keys).await }
}
