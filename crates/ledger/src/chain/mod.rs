//! The audit chain: canonical entries, each hashed with the one before; a MAC on the tip; signed checkpoints.
//!
//! `hash = SHA-256(prev_hash ‖ bytes)`, genesis is 32 zero bytes. A plain chain shows accidents. Against somebody who
//! recomputes it, time is cut into **epochs**, each with a secret of its own that never enters the database:
//!
//! - since the last checkpoint, the head carries a MAC under the epoch's secret (`seal.rs`);
//! - a checkpoint signs the heads and names the next epoch's public key, and then the old secret is erased
//!   (`checkpoint.rs`): whoever takes the machine today cannot sign yesterday again.
//!
//! `walk.rs` checks entries (`check_threads.rs`: on all cores), `verify.rs` puts it all together, `export.rs` is what a stranger gets, `complete.rs`
//! compares the entries with what was done.
//!
//! INVARIANT (no-person): an entry holds ids, digests, numbers and words of ours, never a person's text,
//! name or address. It can never be erased.

mod check_threads;
mod checkpoint;
mod complete;
mod export;
mod seal;
mod verify;
mod walk;

pub use checkpoint::{NotAKey, NotASignature, PublicKey, Signature, SignedHead, Statement};
pub use complete::{Gap, Ledgers, Trail};
pub use export::{Exported, NotAnExport};
#[cfg(feature = "memory")]
pub use seal::MemoryVault;
pub use seal::{Seal, Secret, Standing, Tip, Vault};
pub use verify::{Anchor, Fault, NotAnAnchor, Pinned, StreamVerdict, Verification, Verifier, Word};
pub use walk::{EntryCheck, EntryChecker, Link, Walk};

pub(crate) use check_threads::CheckThreads;
pub(crate) use seal::FIRST_EPOCH;
pub(crate) use verify::{NAMED, follows};

use domain::id::{NodeId, OriginId, ReasonId, VpolId};
use domain::{Digest, Time, Trust, canonical};
use serde::{Deserialize, Serialize};

use crate::records::AuditEntry;

/// One thing that was decided or done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Time,
    /// The name of an [`AuditEventKind`](crate::AuditEventKind): `event.received`, `call.started` …
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

impl Entry {
    /// The entry as a link after the one whose hash this is.
    pub(crate) fn link(
        &self,
        stream: NodeId,
        seq: u64,
        prev_hash: Digest,
    ) -> Result<AuditEntry, canonical::NotCanonical> {
        /// What is hashed: the entry and the stream it belongs to, so that a chain cannot be passed off as another's.
        #[derive(Serialize)]
        struct Sealed<'a> {
            stream: NodeId,
            #[serde(flatten)]
            entry: &'a Entry,
        }
        let bytes = canonical::bytes(&Sealed { stream, entry: self })?;
        let hash = Digest::of_parts(&[prev_hash.as_bytes(), &bytes]);
        let Self { at, kind, actor, subject, trust, origin_id, reason_id, vpol_id, detail: _ } = self.clone();
        Ok(AuditEntry {
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
        })
    }
}

#[cfg(all(test, feature = "memory"))]
mod tests;
