//! The audit chain: canonical entries, each hashed with the one before, and a MAC on the tip.
//!
//! `hash = SHA-256(prev_hash ‖ bytes)`, genesis is 32 zero bytes. A plain chain shows accidents; the MAC
//! shows an adversary who can write the database but cannot read the key beside it. Signed checkpoints
//! and anchors come on top of this; without them the word is "consistent", not "intact".
//!
//! INVARIANT (no-person): an entry holds ids, digests, numbers and words of ours, never a person's text,
//! name or address. It can never be erased.

use domain::id::{NodeId, OriginId, ReasonId, VpolId};
use domain::{Digest, Time, Trust, canonical};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::records::{AuditEntry, AuditHead};

/// The only epoch there is until checkpoints are built.
const EPOCH: u64 = 1;

/// One thing that was decided or done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Time,
    /// `event.received`, `admission.decided`, `call.started` …
    pub kind: String,
    /// Who did it: `owner`, `agent:main`, `system` …
    pub actor: String,
    /// The id of what it was done to.
    pub subject: String,
    pub trust: Option<Trust>,
    pub origin_id: Option<OriginId>,
    pub reason_id: Option<ReasonId>,
    pub vpol_id: Option<VpolId>,
    pub detail: serde_json::Value,
}

/// What is hashed: the entry and the stream it belongs to, so that a chain cannot be passed off as another's.
#[derive(Serialize, Deserialize)]
struct Sealed {
    stream: NodeId,
    #[serde(flatten)]
    entry: Entry,
}

/// What makes and checks the MACs of one stream. The key never prints.
pub struct Seal {
    stream: NodeId,
    key: [u8; 32],
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl Seal {
    #[must_use]
    pub const fn new(stream: NodeId, key: [u8; 32]) -> Self {
        Self { stream, key }
    }

    #[must_use]
    pub const fn stream(&self) -> NodeId {
        self.stream
    }

    fn mac(&self, seq: u64, hash: &Digest) -> Digest {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        let mut mac = <Hmac<Sha256>>::new_from_slice(&self.key).expect("any length is a key");
        mac.update(b"regent/audit-head/");
        mac.update(self.stream.to_string().as_bytes());
        mac.update(&EPOCH.to_be_bytes());
        mac.update(&seq.to_be_bytes());
        mac.update(hash.as_bytes());
        Digest::from_bytes(mac.finalize().into_bytes().into())
    }

    fn head(&self, seq: u64, hash: Digest) -> AuditHead {
        AuditHead { stream: self.stream, seq, hash, epoch: EPOCH, mac: self.mac(seq, &hash) }
    }

    #[must_use]
    pub fn made(&self, head: &AuditHead) -> bool {
        let mac = self.mac(head.seq, &head.hash);
        head.stream == self.stream && bool::from(mac.as_bytes().ct_eq(head.mac.as_bytes()))
    }

    /// The entries as they are to be appended after `head` (none: the chain begins), and the new head.
    ///
    /// # Errors
    /// If an entry has no canonical form.
    pub fn link<'a>(
        &self,
        head: Option<&AuditHead>,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<(Vec<AuditEntry>, AuditHead), canonical::NotCanonical> {
        let (mut seq, mut prev_hash) = head.map_or((0, Digest::ZERO), |head| (head.seq, head.hash));
        let mut linked = Vec::new();
        for entry in entries {
            let bytes = canonical::bytes(&Sealed { stream: self.stream, entry: entry.clone() })?;
            let hash = Digest::of_parts(&[prev_hash.as_bytes(), &bytes]);
            seq += 1;
            linked.push(project(self.stream, seq, prev_hash, hash, bytes, entry));
            prev_hash = hash;
        }
        Ok((linked, self.head(seq, prev_hash)))
    }
}

fn project(
    stream: NodeId,
    seq: u64,
    prev_hash: Digest,
    hash: Digest,
    bytes: Vec<u8>,
    entry: &Entry,
) -> AuditEntry {
    let Entry { at, kind, actor, subject, trust, origin_id, reason_id, vpol_id, detail: _ } = entry.clone();
    AuditEntry {
        stream,
        seq,
        bytes,
        prev_hash,
        hash,
        at,
        kind,
        actor,
        subject,
        trust,
        origin_id,
        reason_id,
        vpol_id,
    }
}

/// What is wrong with a chain, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("entry {seq} is missing")]
    Missing { seq: u64 },
    #[error("entry {seq} does not follow from the one before it")]
    Unlinked { seq: u64 },
    #[error("entry {seq} was changed: its bytes do not give its hash")]
    Changed { seq: u64 },
    #[error("entry {seq} is unreadable")]
    Unreadable { seq: u64 },
    #[error("entry {seq}: the columns beside it do not say what it says")]
    Projection { seq: u64 },
    #[error("the head says {head} entries, there are {entries}: the tail was cut or the head moved")]
    Tail { head: u64, entries: u64 },
    #[error("the head does not name the last entry")]
    Head,
    #[error("the head's seal was not made with this house's key")]
    Seal,
    #[error("there are entries, but no head row")]
    NoHead,
    #[error("the record of this house is gone, though it has written one")]
    Gone,
    #[error("this stream was not written by this house")]
    Stranger,
}

/// Walks a chain from any point on; [`Walk::end`] compares the tip. Start from the beginning to check
/// everything, or from an entry's own `prev_hash` to show that this entry leads to the sealed tip.
#[derive(Debug)]
pub struct Walk {
    seq: u64,
    hash: Digest,
}

impl Walk {
    pub const FROM_GENESIS: Self = Self { seq: 0, hash: Digest::ZERO };

    #[must_use]
    pub const fn from(entry: &AuditEntry) -> Self {
        Self { seq: entry.seq.saturating_sub(1), hash: entry.prev_hash }
    }

    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    /// # Errors
    /// The first thing that is wrong with the entry.
    pub fn step(&mut self, row: &AuditEntry) -> Result<(), Fault> {
        let seq = self.seq + 1;
        if row.seq != seq {
            return Err(Fault::Missing { seq });
        }
        if row.prev_hash != self.hash {
            return Err(Fault::Unlinked { seq });
        }
        if Digest::of_parts(&[row.prev_hash.as_bytes(), &row.bytes]) != row.hash {
            return Err(Fault::Changed { seq });
        }
        let Sealed { stream, entry } =
            serde_json::from_slice(&row.bytes).map_err(|_unreadable| Fault::Unreadable { seq })?;
        if project(stream, seq, row.prev_hash, row.hash, row.bytes.clone(), &entry) != *row {
            return Err(Fault::Projection { seq });
        }
        *self = Self { seq, hash: row.hash };
        Ok(())
    }

    /// # Errors
    /// If the head is not the tip of what was walked, or was not sealed with this key.
    pub fn end(&self, head: Option<&AuditHead>, seal: &Seal) -> Result<(), Fault> {
        let Some(head) = head else {
            return if self.seq == 0 { Ok(()) } else { Err(Fault::NoHead) };
        };
        if head.seq != self.seq {
            return Err(Fault::Tail { head: head.seq, entries: self.seq });
        }
        if head.hash != self.hash {
            return Err(Fault::Head);
        }
        if head.stream != seal.stream() {
            // Only a house that wrote a stream can seal it, and there is one house so far.
            Err(Fault::Stranger)
        } else if seal.made(head) {
            Ok(())
        } else {
            Err(Fault::Seal)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Fault, Seal, Walk};
    use crate::records::{AuditEntry, AuditHead};
    use domain::id::{NodeId, OriginId};
    use domain::{Digest, Time, Trust};

    fn entry(n: i64) -> Entry {
        Entry {
            at: Time::from_micros(n),
            kind: "call.started".into(),
            actor: "agent:main".into(),
            subject: format!("c-{n}"),
            trust: Some(Trust::Operator),
            origin_id: Some(OriginId::from_bits(4821)),
            reason_id: None,
            vpol_id: None,
            detail: serde_json::json!({ "n": n }),
        }
    }

    fn seal() -> Seal {
        Seal::new(NodeId::from_bits(1), [7; 32])
    }

    fn chain() -> (Vec<AuditEntry>, AuditHead) {
        let (mut first, head) = seal().link(None, &[entry(1), entry(2)]).unwrap();
        let (rest, head) = seal().link(Some(&head), &[entry(3)]).unwrap();
        first.extend(rest);
        (first, head)
    }

    fn verify(rows: &[AuditEntry], head: Option<&AuditHead>) -> Result<(), Fault> {
        let mut walk = Walk::FROM_GENESIS;
        rows.iter().try_for_each(|row| walk.step(row))?;
        walk.end(head, &seal())
    }

    #[test]
    fn the_first_link_hangs_on_32_zero_bytes() {
        let (rows, head) = chain();
        assert_eq!(rows[0].prev_hash, Digest::ZERO);
        assert_eq!(rows[0].hash, Digest::of_parts(&[&[0; 32], &rows[0].bytes]));
        assert_eq!((head.seq, head.hash), (3, rows[2].hash));
        assert_eq!(verify(&rows, Some(&head)), Ok(()));
    }

    #[test]
    fn every_flipped_byte_of_every_entry_is_named() {
        let (rows, head) = chain();
        for at in 0..rows.len() {
            for byte in 0..rows[at].bytes.len() {
                let mut forged = rows.clone();
                forged[at].bytes[byte] ^= 1;
                let seq = rows[at].seq;
                assert_eq!(verify(&forged, Some(&head)), Err(Fault::Changed { seq }), "byte {byte} of {seq}");
            }
        }
    }

    #[test]
    fn each_kind_of_damage_has_its_name() {
        type Damage = fn(&mut Vec<AuditEntry>, &mut AuditHead);
        let table: [(&str, Damage, Fault); 7] = [
            ("row deleted", |rows, _| drop(rows.remove(1)), Fault::Missing { seq: 2 }),
            ("tail cut", |rows, _| drop(rows.pop()), Fault::Tail { head: 3, entries: 2 }),
            ("projection swapped", |rows, _| rows[1].actor = "owner".into(), Fault::Projection { seq: 2 }),
            ("link swapped", |rows, _| rows[1].prev_hash = Digest::ZERO, Fault::Unlinked { seq: 2 }),
            ("hash swapped", |rows, _| rows[2].hash = Digest::ZERO, Fault::Changed { seq: 3 }),
            ("head moved", |_, head| head.hash = Digest::ZERO, Fault::Head),
            ("seal forged", |_, head| head.mac = Digest::ZERO, Fault::Seal),
        ];
        for (name, damage, fault) in table {
            let (mut rows, mut head) = chain();
            damage(&mut rows, &mut head);
            assert_eq!(verify(&rows, Some(&head)), Err(fault), "{name}");
        }
        assert_eq!(verify(&chain().0, None), Err(Fault::NoHead));
    }

    /// Whoever can only write the database can recompute a plain chain, but not its seal.
    #[test]
    fn a_recomputed_chain_lacks_the_seal() {
        let stranger = Seal::new(NodeId::from_bits(1), [8; 32]);
        let (rows, head) = stranger.link(None, &[entry(9)]).unwrap();
        assert_eq!(verify(&rows, Some(&head)), Err(Fault::Seal));
    }

    #[test]
    fn a_walk_may_begin_at_any_entry() {
        let (rows, head) = chain();
        let mut walk = Walk::from(&rows[1]);
        assert_eq!(walk.step(&rows[1]).and_then(|()| walk.step(&rows[2])), Ok(()));
        assert_eq!(walk.end(Some(&head), &seal()), Ok(()));
    }
}
