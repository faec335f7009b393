//! What a database holds, in numbers. It is asked without this program's records, so that one of an older schema can be
//! asked, too.

use std::collections::BTreeMap;

use domain::Digest;
use domain::digest::Digesting;

use crate::migrations::{MIGRATIONS, Migration, TableFate, trace_table};

/// Entries that are read at once.
pub(crate) const ENTRIES: u32 = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    pub schema: i64,
    /// Per table; what the database keeps for itself is not among them.
    pub rows: BTreeMap<String, u64>,
    /// The newest entry of each stream of the audit.
    pub heads: Vec<Head>,
    /// Of all entries of the audit with their hashes: the same chain on every database.
    pub chain: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub stream: String,
    pub seq: u64,
    pub hash: Digest,
}

impl Tally {
    #[must_use]
    pub fn total(&self) -> u64 {
        self.rows.values().sum()
    }

    /// What is not in `other` as it is here, in words; `None` if everything is. What the migrations between the two schemas
    /// rename or drop is where they say; tables that only `other` has are new.
    #[must_use]
    pub fn lost_in(&self, other: &Self) -> Option<String> {
        self.lost_between(other, MIGRATIONS)
    }

    fn lost_between(&self, other: &Self, migrations: &[Migration]) -> Option<String> {
        let schema = |schema: i64| usize::try_from(schema).unwrap_or(0).min(migrations.len());
        let between = migrations.get(schema(self.schema)..schema(other.schema)).unwrap_or_default();
        let lost = |(table, rows): (&String, &u64)| {
            let (name, may_be_fewer) = match trace_table(between, table) {
                TableFate::Dropped => return None,
                TableFate::Kept(name) => (name, false),
                TableFate::Thinned(name) => (name, true),
            };
            match other.rows.get(name) {
                Some(found) if found == rows || (may_be_fewer && found < rows) => None,
                Some(found) => Some(format!("`{name}` has {found} rows instead of {rows}")),
                None => Some(format!("`{name}` is missing, with its {rows} rows")),
            }
        };
        let chain = || (self.chain != other.chain).then(|| "entries of the audit were changed".to_owned());
        let heads = || (self.heads != other.heads).then(|| "the head of the audit was moved".to_owned());
        self.rows.iter().find_map(lost).or_else(chain).or_else(heads)
    }
}

/// One entry as it is stored: stream, number, bytes, the hash before it, its own.
pub(crate) type Stored = (String, i64, Vec<u8>, Vec<u8>, Vec<u8>);

/// Where the last page of entries ended, and the digest of everything up to there.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    digesting: Digesting,
    pub(crate) stream: String,
    pub(crate) seq: i64,
}

impl Chain {
    /// Takes one page; says whether there may be another.
    pub(crate) fn take(&mut self, page: Vec<Stored>) -> bool {
        let more = page.len() == ENTRIES as usize;
        for (stream, seq, bytes, before, hash) in page {
            // With its length before each part, so that no two chains look alike.
            for part in [stream.as_bytes(), &seq.to_be_bytes(), &bytes, &before, &hash] {
                self.digesting.update(&(part.len() as u64).to_be_bytes());
                self.digesting.update(part);
            }
            (self.stream, self.seq) = (stream, seq);
        }
        more
    }

    pub(crate) fn finish(self) -> Digest {
        self.digesting.finish()
    }
}

pub(crate) fn head((stream, seq, hash): (String, i64, Vec<u8>)) -> Option<Head> {
    Some(Head {
        stream,
        seq: u64::try_from(seq).ok()?,
        hash: Digest::from_bytes(hash.as_slice().try_into().ok()?),
    })
}

pub(crate) fn count(rows: i64) -> u64 {
    u64::try_from(rows).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use domain::Digest;

    use super::Tally;
    use crate::migrations::Migration;

    fn tally(schema: i64, rows: &[(&str, u64)]) -> Tally {
        let rows = rows.iter().map(|(name, rows)| ((*name).to_owned(), *rows)).collect();
        Tally { schema, rows, heads: Vec::new(), chain: Digest::ZERO }
    }

    #[test]
    fn rows_are_lost_unless_a_migration_declares_it() {
        let migrations = [
            Migration::PLAIN,
            Migration {
                renamed_tables: &[("knocks", "requests")],
                dropped_tables: &["recipes"],
                dropped_rows: &["leases"],
                ..Migration::PLAIN
            },
        ];
        let before = tally(1, &[("knocks", 3), ("recipes", 2), ("leases", 9)]);
        let lost = |schema, rows: &[(&str, u64)]| before.lost_between(&tally(schema, rows), &migrations);
        assert_eq!(lost(2, &[("requests", 3), ("leases", 4), ("new", 1)]), None);
        assert_eq!(
            lost(2, &[("requests", 2), ("leases", 9)]),
            Some("`requests` has 2 rows instead of 3".into())
        );
        assert_eq!(lost(2, &[("leases", 9)]), Some("`requests` is missing, with its 3 rows".into()));
        let more = lost(2, &[("requests", 3), ("leases", 10)]);
        assert_eq!(more, Some("`leases` has 10 rows instead of 9".into()));
        // Nothing is declared between two of the same schema.
        assert_eq!(lost(1, &[("knocks", 3), ("recipes", 2), ("leases", 9)]), None);
        assert!(lost(1, &[("requests", 3), ("leases", 9)]).is_some());
        let chain = Tally { chain: Digest::of(b"other"), ..before.clone() };
        assert_eq!(
            before.lost_between(&chain, &migrations),
            Some("entries of the audit were changed".into())
        );
    }
}
