//! What a database holds, in numbers. It is asked without this program's records, so that one of an older schema can be
//! asked, too.

use std::collections::BTreeMap;

use domain::Digest;
use domain::digest::Digesting;

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

    /// What is not in `other` as it is here, in words; nothing if everything is. Tables that only `other` has are new.
    #[must_use]
    pub fn lost_in(&self, other: &Self) -> Option<String> {
        let differs = |(table, rows): (&String, &u64)| match other.rows.get(table) {
            Some(found) if found == rows => None,
            Some(found) => Some(format!("`{table}` has {found} rows instead of {rows}")),
            None => Some(format!("`{table}` is missing, with its {rows} rows")),
        };
        let chain = || (self.chain != other.chain).then(|| "entries of the audit were changed".to_owned());
        let heads = || (self.heads != other.heads).then(|| "the head of the audit was moved".to_owned());
        self.rows.iter().find_map(differs).or_else(chain).or_else(heads)
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
