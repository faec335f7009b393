use domain::id::{NodeId, OriginId};

use crate::chain::{Fault, Walk};
use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{AuditEntry, AuditHead, Commit};
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
}

impl Verification {
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.streams.iter().all(|stream| stream.fault.is_none())
    }
}

impl Ledger {
    /// Walks every stream from its beginning to its sealed tip. Others may write meanwhile.
    ///
    /// # Errors
    /// If the database cannot be read; a fault in the chain is a result, not an error.
    pub async fn verify_audit(&self) -> Result<Verification, StoreError> {
        let heads: Vec<AuditHead> = self.select(Select::all()).await?;
        // A stream whose head row was deleted still has its first entry.
        let firsts: Vec<AuditEntry> = self.select(Select::by("seq", &1_u64)).await?;
        let mut names: Vec<NodeId> = heads.iter().map(|head| head.stream).collect();
        names.extend(firsts.iter().map(|entry| entry.stream));
        let own = self.seal().stream();
        if !names.contains(&own) && self.has_written().await? {
            names.push(own);
        }
        names.sort();
        names.dedup();
        let mut streams = Vec::with_capacity(names.len());
        for stream in names {
            streams.push(self.verify_stream(stream, Walk::FROM_GENESIS).await?);
        }
        Ok(Verification { streams })
    }

    /// The stream of the house that began this database, if it is not this one.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn begun_by_another(&self) -> Result<Option<NodeId>, StoreError> {
        let heads: Vec<AuditHead> = self.select(Select::all()).await?;
        let own = self.seal().stream();
        Ok(heads.first().map(|head| head.stream).filter(|_| heads.iter().all(|head| head.stream != own)))
    }

    async fn has_written(&self) -> Result<bool, StoreError> {
        Ok(self.first(Select::<Commit>::all()).await?.is_some())
    }

    /// Shows that this entry leads to the sealed tip of its stream.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn verify_from(&self, entry: &AuditEntry) -> Result<StreamVerdict, StoreError> {
        self.verify_stream(entry.stream, Walk::from(entry)).await
    }

    /// The head is read after the entries. It moves in the same transaction as they do, so a head that is behind what
    /// was walked is a fault, and one that is ahead means that there is more to walk.
    async fn verify_stream(&self, stream: NodeId, mut walk: Walk) -> Result<StreamVerdict, StoreError> {
        let before = walk.seq();
        let fault = loop {
            let fault = self.walk_on(stream, &mut walk).await?;
            let walked = walk.seq();
            let head = self.first(Select::<AuditHead>::by("stream", &stream)).await?;
            let ahead = head.as_ref().is_some_and(|head| head.seq > walked);
            // Entries that the head counts are durable with it: if they are not there now, they are missing.
            let grew = ahead && self.entry(stream, walked + 1).await?.is_some();
            match (fault, &head) {
                (Some(fault), _) => break Some(fault),
                (None, _) if grew => {}
                (None, None) if walked == 0 => break Some(Fault::Gone),
                (None, head) => break walk.end(head.as_ref(), self.seal()).err(),
            }
        };
        Ok(StreamVerdict { stream, entries: walk.seq() - before, fault })
    }

    async fn entry(&self, stream: NodeId, seq: u64) -> Result<Option<AuditEntry>, StoreError> {
        self.first(Select::by("stream", &stream).filter("seq", Op::Eq, &seq)).await
    }

    /// Every entry that is there now.
    async fn walk_on(&self, stream: NodeId, walk: &mut Walk) -> Result<Option<Fault>, StoreError> {
        loop {
            let select = Select::<AuditEntry>::by("stream", &stream).filter("seq", Op::Gt, &walk.seq());
            let page = self.select(select.ascending("seq").limit(PAGE)).await?;
            if page.is_empty() {
                return Ok(None);
            }
            if let Some(fault) = page.iter().find_map(|entry| walk.step(entry).err()) {
                return Ok(Some(fault));
            }
        }
    }

    /// What was recorded about one thing, among all that followed from the same origin.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn audit_of(&self, origin: OriginId, subject: &str) -> Result<Vec<AuditEntry>, StoreError> {
        let entries = self.audit_from(origin).await?;
        Ok(entries.into_iter().filter(|entry| entry.subject == subject).collect())
    }

    /// What was recorded about everything that followed from one origin.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn audit_from(&self, origin: OriginId) -> Result<Vec<AuditEntry>, StoreError> {
        self.select(Select::by("origin_id", &origin).ascending("seq")).await
    }

    /// The newest entries of this house, oldest of them first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn audit_tail(&self, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let own = Select::by("stream", &self.seal().stream());
        let mut entries: Vec<AuditEntry> = self.select(own.descending("seq").limit(limit)).await?;
        entries.reverse();
        Ok(entries)
    }
}
