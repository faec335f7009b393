use std::collections::{BTreeMap, BTreeSet};

use domain::Digest;
use serde::Serialize;

use crate::chain::NAMED;
use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{Blob, Salt, SaltBytes};
use crate::store::{Snapshot, StoreError};
use crate::table::{Record as _, Table};
use crate::value::{Row, Value};

/// Bodies read at once: few, because one may have `OUTPUT_BYTES`.
const PAGE: u32 = 16;
/// Salts remembered at once.
const SALTS: usize = 16_384;

/// A body as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// It is what its name says; with the salt of the person whose it is.
    Whole { content: Vec<u8>, salt: Option<Salt> },
    /// It, or the salt of the person whose it is, was erased.
    Gone,
    /// There is something, and it is not what its name says.
    Changed,
}

impl Ledger {
    /// What is behind a digest. What is there is compared with its name: whoever changed it in the database is found
    /// out here.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn kept(&self, hash: &Digest) -> Result<Body, StoreError> {
        let Some(blob) = self.first(Select::<Blob>::by("hash", hash)).await? else { return Ok(Body::Gone) };
        let (again, salt) = match &blob.person {
            None => (Blob::public(blob.content), None),
            Some(person) => match self.salt_of(person).await? {
                Some(salt) => (Blob::personal(blob.content, &salt), Some(salt)),
                None => return Ok(Body::Gone),
            },
        };
        Ok(if again.hash == *hash { Body::Whole { content: again.content, salt } } else { Body::Changed })
    }

    /// The content behind a digest; nothing if it, or the salt of the person whose it is, was erased.
    ///
    /// # Errors
    /// If the database cannot be read, or the content is not what its name says.
    pub async fn body(&self, hash: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        match self.kept(hash).await? {
            Body::Whole { content, .. } => Ok(Some(content)),
            Body::Gone => Ok(None),
            Body::Changed => Err(StoreError::Corrupt(format!("the content called {hash} was changed"))),
        }
    }

    /// The same as text, for display.
    ///
    /// # Errors
    /// As [`Ledger::body`].
    pub async fn text(&self, hash: &Digest) -> Result<Option<String>, StoreError> {
        Ok(self.body(hash).await?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// What came of comparing every body with its digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BodyReport {
    /// Bodies that were compared, changed ones included.
    pub compared: u64,
    /// Bodies that cannot be compared, because the salt of their person was erased.
    pub erased: u64,
    /// The digests of the first bodies that are not what their digest says.
    pub changed: Vec<String>,
    /// How many more of them there are.
    pub more: u64,
}

impl BodyReport {
    fn add(&mut self, state: BodyState) {
        match state {
            BodyState::Erased => self.erased += 1,
            BodyState::Whole => self.compared += 1,
            BodyState::Changed(name) => {
                self.compared += 1;
                if self.changed.len() < NAMED {
                    self.changed.push(name);
                } else {
                    self.more += 1;
                }
            }
        }
    }
}

enum BodyState {
    Whole,
    Erased,
    /// With the name that it has in the database.
    Changed(String),
}

#[derive(Clone, Copy)]
enum SaltState {
    There(SaltBytes),
    Gone,
    Unreadable,
}

/// The salts of the people whose bodies were compared last.
#[derive(Default)]
struct SaltCache(BTreeMap<String, SaltState>);

impl SaltCache {
    async fn load(
        &mut self,
        snapshot: &mut dyn Snapshot,
        people: BTreeSet<String>,
    ) -> Result<(), StoreError> {
        let unknown: BTreeSet<String> =
            people.into_iter().filter(|person| !self.0.contains_key(person)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let rows = snapshot.select(&Select::<Salt>::any_of("person", &unknown).query).await?;
        self.0.extend(unknown.into_iter().map(|person| (person, SaltState::Gone)));
        for row in rows {
            let person = text_in(&row, Salt::TABLE, "person");
            let salt = Salt::from_row(row).map_or(SaltState::Unreadable, |salt| SaltState::There(salt.salt));
            self.0.extend(person.map(|person| (person, salt)));
        }
        Ok(())
    }

    /// A row that is no body at all counts as changed.
    fn compare(&self, row: Row) -> BodyState {
        let name = row.first().cloned().unwrap_or(Value::Null);
        let changed = || BodyState::Changed(name_of(&name));
        let Ok(Blob { hash, person, content }) = Blob::from_row(row) else { return changed() };
        let salt = person.map(|person| self.0.get(&person).copied().unwrap_or(SaltState::Gone));
        let again = match salt {
            None => Digest::of(&content),
            Some(SaltState::There(salt)) => Digest::of_parts(&[salt.expose(), &content]),
            Some(SaltState::Gone) => return BodyState::Erased,
            Some(SaltState::Unreadable) => return changed(),
        };
        if again == hash { BodyState::Whole } else { changed() }
    }
}

/// Compares every body with its digest, a few at a time.
pub(super) async fn compare_bodies(snapshot: &mut dyn Snapshot) -> Result<BodyReport, StoreError> {
    let (mut report, mut salts) = (BodyReport::default(), SaltCache::default());
    let mut after: Option<Value> = None;
    loop {
        let select = Select::<Blob>::all();
        let select = match after {
            Some(hash) => select.filter_value("hash", Op::Gt, hash),
            None => select,
        };
        let rows = snapshot.select(&select.ascending("hash").limit(PAGE).query).await?;
        after = rows.last().and_then(|row| row.first().cloned());
        let is_last = rows.len() < PAGE as usize;
        if salts.0.len() > SALTS {
            salts.0.clear();
        }
        let people = rows.iter().filter_map(|row| text_in(row, Blob::TABLE, "person")).collect();
        salts.load(snapshot, people).await?;
        rows.into_iter().for_each(|row| report.add(salts.compare(row)));
        if is_last {
            return Ok(report);
        }
    }
}

fn text_in(row: &Row, table: &Table, column: &str) -> Option<String> {
    match row.get(table.position(column)?)? {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// What stands where a body has its digest.
fn name_of(cell: &Value) -> String {
    const DIGEST: usize = 32;
    match cell {
        Value::Bytes(bytes) => {
            let more = if bytes.len() > DIGEST { "…" } else { "" };
            bytes.iter().take(DIGEST).map(|byte| format!("{byte:02x}")).chain([more.to_owned()]).collect()
        }
        _ => "without a digest".to_owned(),
    }
}
