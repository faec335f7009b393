use domain::id::NodeId;

use crate::chain::{Fault, Walk};
use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{AuditEntry, AuditHead};
use crate::store::StoreError;

/// Entries read at once while walking.
const PAGE: u32 = 4_096;

/// What `verify` found, stream by stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    pub streams: Vec<StreamVerdict>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamVerdict {
    pub stream: NodeId,
    /// Entries that were walked without a fault.
    pub entries: u64,
    /// The first thing that is wrong, if anything is.
    pub fault: Option<Fault>,
    /// Whether the tip's seal could be checked: only the house that wrote a stream has its key.
    pub sealed_here: bool,
}

impl Verification {
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.streams.iter().all(|stream| stream.fault.is_none())
    }
}

impl Ledger {
    /// Walks every stream from its beginning to its sealed tip.
    ///
    /// # Errors
    /// If the database cannot be read; a fault in the chain is a result, not an error.
    pub async fn verify_audit(&self) -> Result<Verification, StoreError> {
        let heads: Vec<AuditHead> = self.select(Select::all().ascending("stream")).await?;
        let mut names: Vec<NodeId> = heads.iter().map(|head| head.stream).collect();
        // A stream whose head row was deleted still has its first entry.
        let firsts: Vec<AuditEntry> = self.select(Select::by("seq", &1_u64)).await?;
        names.extend(firsts.iter().map(|entry| entry.stream));
        names.sort();
        names.dedup();
        let mut streams = Vec::with_capacity(names.len());
        for stream in names {
            let head = heads.iter().find(|head| head.stream == stream);
            streams.push(self.verify_stream(stream, Walk::FROM_GENESIS, head).await?);
        }
        Ok(Verification { streams })
    }

    /// Shows that this entry leads to the sealed tip of its stream.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn verify_from(&self, entry: &AuditEntry) -> Result<StreamVerdict, StoreError> {
        let head = self.first(Select::<AuditHead>::by("stream", &entry.stream)).await?;
        self.verify_stream(entry.stream, Walk::from(entry), head.as_ref()).await
    }

    async fn verify_stream(
        &self,
        stream: NodeId,
        mut walk: Walk,
        head: Option<&AuditHead>,
    ) -> Result<StreamVerdict, StoreError> {
        let before = walk.seq();
        let fault = loop {
            let select = Select::<AuditEntry>::by("stream", &stream).filter("seq", Op::Gt, &walk.seq());
            let page = self.select(select.ascending("seq").limit(PAGE)).await?;
            if page.is_empty() {
                break walk.end(head, self.seal()).err();
            }
            if let Some(fault) = page.iter().find_map(|entry| walk.step(entry).err()) {
                break Some(fault);
            }
        };
        let sealed_here = stream == self.seal().stream();
        Ok(StreamVerdict { stream, entries: walk.seq() - before, fault, sealed_here })
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn audit_of(&self, subject: &str) -> Result<Vec<AuditEntry>, StoreError> {
        self.select(Select::by("subject", &subject.to_owned()).ascending("seq")).await
    }

    /// The newest entries, oldest of them first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn audit_tail(&self, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let mut entries = self.select(Select::all().descending("at").limit(limit)).await?;
        entries.sort_by_key(|entry: &AuditEntry| (entry.stream, entry.seq));
        Ok(entries)
    }
}
