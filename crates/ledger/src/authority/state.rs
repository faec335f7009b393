//! What the seals in a database say.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use domain::Digest;

use super::form::AuthorityMac;
use super::table::AuthorityTable;
use crate::chain::{Seal, Standing, Tip};
use crate::records::{AuditHead, AuthoritySeal};
use crate::value::{Row, Value};

/// In the head after damage: nothing in the database is known to be this instance's. It stays until the owner has decided
/// what is to count.
pub(crate) const LOST: Digest = Digest::ZERO;

/// Why rows that carry authority do not count. Nothing is decided by them then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    #[error("one {kind} in the database was not written by this instance")]
    Forged { kind: &'static str },
    #[error("one {kind} was taken out of the database by another program")]
    Missing { kind: &'static str },
    #[error("the seals of approvals, grants, people, policies and halts were changed by another program")]
    Seals,
    #[error("an older state of the database was put back, or its audit was changed by another program")]
    Head,
    #[error(
        "the database was last sealed with a key that this instance does not have: a copy of the instance on another machine has \
         gone on with it, or the key was lost"
    )]
    NoKey,
    #[error("approvals, grants, people, policies and halts were last seen in a damaged database")]
    Lost,
    #[error(
        "approvals, grants, people, policies and halts come from an older version and could not be confirmed"
    )]
    NeverSealed,
}

/// The seals of every row that carries authority: by kind and name of the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seals(BTreeMap<(String, Digest), Digest>);

impl Seals {
    pub(crate) fn of(rows: Vec<AuthoritySeal>) -> Self {
        Self(rows.into_iter().map(|AuthoritySeal { key, kind, mac }| ((kind, key), mac)).collect())
    }

    pub(crate) fn mac(&self, mac: &AuthorityMac) -> Digest {
        mac.of_seals(self.0.iter().map(|((kind, key), row)| (kind.as_str(), key, row)))
    }

    pub(super) fn put(&mut self, kind: &str, key: Digest, mac: Digest) -> bool {
        self.0.insert((kind.to_owned(), key), mac) != Some(mac)
    }

    pub(super) fn take(&mut self, kind: &str, key: Digest) -> bool {
        self.0.remove(&(kind.to_owned(), key)).is_some()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = Digest> {
        self.0.keys().map(|(_, key)| *key)
    }

    fn get(&self, kind: &str, key: Digest) -> Option<Digest> {
        self.0.get(&(kind.to_owned(), key)).copied()
    }

    fn count(&self, kind: &str) -> usize {
        self.0.keys().filter(|(known, _)| known == kind).count()
    }
}

/// What is known about the rows that carry authority.
#[derive(Clone, Debug)]
pub(crate) struct AuthorityState {
    pub(super) mac: AuthorityMac,
    pub(super) seals: Result<Arc<Seals>, Unverified>,
}

impl AuthorityState {
    /// From what the head names, and the seals in the database where this process does not know them yet.
    pub(crate) fn new(
        mac: AuthorityMac,
        named: Result<Digest, Unverified>,
        seals: impl FnOnce(Digest) -> Option<Arc<Seals>>,
    ) -> Self {
        let seals = named.and_then(|named| seals(named).ok_or(Unverified::Seals));
        Self { mac, seals }
    }

    /// Whether these are exactly the rows of the table that carry authority.
    pub(crate) fn check_all(&self, table: &AuthorityTable, rows: &[Row]) -> Result<(), Unverified> {
        for row in rows {
            self.check_row(table, row)?;
        }
        let sealed = self.seals.as_ref().map_err(Clone::clone)?.count(table.kind);
        if rows.len() == sealed { Ok(()) } else { Err(Unverified::Missing { kind: table.kind }) }
    }

    /// Whether a row is the one that was sealed, if it carries authority. One that does not has no seal.
    pub(crate) fn check_row(&self, table: &AuthorityTable, row: &Row) -> Result<(), Unverified> {
        let seals = self.seals.as_ref().map_err(Clone::clone)?;
        let (key, mac) = self.mac.seal(table, row);
        let expected = table.is_effective(row).then_some(mac);
        // Comparing takes no secret time: only seals that the head names come here.
        if seals.get(table.kind, key) == expected {
            Ok(())
        } else {
            Err(Unverified::Forged { kind: table.kind })
        }
    }

    /// Whether there really is no row with this key that carries authority.
    pub(crate) fn check_absent(&self, table: &AuthorityTable, key: &[Value]) -> Result<(), Unverified> {
        let seals = self.seals.as_ref().map_err(Clone::clone)?;
        match seals.get(table.kind, self.mac.of_key(table, key)) {
            None => Ok(()),
            Some(_) => Err(Unverified::Missing { kind: table.kind }),
        }
    }
}

/// Which set of seals a head names. Before the first entry of the audit there is no head, and nothing is sealed.
pub(crate) fn named_by(
    head: Option<&AuditHead>,
    tip: Option<Tip>,
    seal: &Seal,
    mac: &AuthorityMac,
) -> io::Result<Result<Digest, Unverified>> {
    let Some(head) = head else {
        return Ok(if tip.is_none() { Ok(Seals::default().mac(mac)) } else { Err(Unverified::Head) });
    };
    match seal.standing(head)? {
        Standing::NoSecret => return Ok(Err(Unverified::NoKey)),
        Standing::Ours if tip.is_none_or(|tip| tip.seq <= head.seq) => {}
        Standing::Ours | Standing::Forged => return Ok(Err(Unverified::Head)),
    }
    Ok(match head.authority {
        None => Err(Unverified::NeverSealed),
        Some(LOST) => Err(Unverified::Lost),
        Some(named) => Ok(named),
    })
}
