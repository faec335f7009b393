//! What holds, what does not, and who can be told so. Pure: rows in, a verdict out; the same for a database and for an
//! export in a stranger's hands.

use std::collections::BTreeMap;
use std::fmt;

use domain::id::NodeId;
use domain::{Digest, Time};
use serde::Serialize;

use super::checkpoint::{PublicKey, Statement};
use super::seal::{FIRST_EPOCH, Seal, Standing, Tip};
use super::walk::{EntryCheck, EntryChecker, Link, Walk};
use crate::records::{AuditHead, Checkpoint};

/// What is wrong with a chain, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("{}", missing(*.from, *.to))]
    Missing { from: u64, to: u64 },
    #[error("entry {seq} does not follow from the one before it")]
    Unlinked { seq: u64 },
    #[error("entry {seq} was changed: its bytes do not give its hash")]
    Changed { seq: u64 },
    #[error("entry {seq} is unreadable")]
    Unreadable { seq: u64 },
    #[error("entry {seq}: the columns beside it do not say what it says")]
    Projection { seq: u64 },
    #[error("entry {seq} records that the chain was damaged there")]
    Recorded { seq: u64 },
    #[error("the head says {head} entries, there are {entries}: the tail was cut or the head moved")]
    Tail { head: u64, entries: u64 },
    #[error("this house has written {noted} entries, there are {entries}: the tail was cut")]
    Cut { noted: u64, entries: u64 },
    #[error("entry {seq} is not the one that this house has written")]
    Rewritten { seq: u64 },
    #[error("the head does not name the last entry")]
    Head,
    #[error("the head's seal was not made with this house's key")]
    Seal,
    #[error("the head is sealed in epoch {epoch}, and this house has no secret for it")]
    NoSecret { epoch: u64 },
    #[error("there are entries, but no head row")]
    NoHead,
    #[error("the record of this house is gone, though it has written one")]
    Gone,
    #[error("this stream was not written by this house")]
    Stranger,
    #[error("checkpoint {epoch} is missing")]
    NoCheckpoint { epoch: u64 },
    #[error("checkpoint {epoch} is unreadable")]
    CheckpointUnreadable { epoch: u64 },
    #[error("checkpoint {epoch} is not signed by the key that it names")]
    Signature { epoch: u64 },
    #[error("checkpoint {epoch} is signed by another key than the checkpoint before it has named")]
    Handover { epoch: u64 },
    #[error("checkpoint {epoch} does not hang on the one before it")]
    Unhung { epoch: u64 },
    #[error("checkpoint {epoch} has signed another entry {seq} than the one that is there")]
    Signed { epoch: u64, seq: u64 },
    #[error("checkpoint {epoch} has signed {signed} entries, there are {entries}")]
    SignedMore { epoch: u64, signed: u64, entries: u64 },
    #[error("checkpoint {epoch} is not the one that stands outside the database")]
    Outside { epoch: u64 },
    #[error("the head is in epoch {head}, the checkpoints say {signed}")]
    Epoch { head: u64, signed: u64 },
    #[error("the secret of epoch {epoch} is not the one that the last checkpoint has named")]
    Key { epoch: u64 },
    #[error("{rows} rows of the audit belong to no chain")]
    Astray { rows: u64 },
    #[error("nobody has signed the entries after {signed}")]
    Unsigned { signed: u64 },
    #[error("the chain does not begin with the pinned root")]
    Root,
    #[error("checkpoint {epoch} is not the one that was anchored")]
    Anchored { epoch: u64 },
    #[error("checkpoint {epoch} was anchored, and is not here: the record was cut or begun anew")]
    AnchorAhead { epoch: u64 },
}

fn missing(from: u64, to: u64) -> String {
    if to > from { format!("entries {from} to {to} are missing") } else { format!("entry {from} is missing") }
}

/// What somebody has kept elsewhere, to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// The first epoch's public key, as it was shown when the house was set up.
    Root(PublicKey),
    /// A copy of the checkpoints.
    Anchor(Anchor),
}

/// A copy of the checkpoints, made with `regent audit anchor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor(Vec<Checkpoint>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnAnchor {
    #[error("line {0} is no checkpoint")]
    Line(usize),
    #[error("it holds no checkpoint; a file that `regent audit anchor` made holds at least one")]
    Empty,
}

impl Anchor {
    /// # Errors
    /// If a line is no checkpoint, or there is none.
    pub fn parse(text: &str) -> Result<Self, NotAnAnchor> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line)| Checkpoint::from_line(line).map_err(|_other| NotAnAnchor::Line(at + 1));
        let checkpoints: Vec<Checkpoint> = lines.map(read).collect::<Result<_, _>>()?;
        if checkpoints.is_empty() { Err(NotAnAnchor::Empty) } else { Ok(Self(checkpoints)) }
    }
}

/// How much can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Nothing is wrong, and it is the chain that somebody pinned.
    Intact,
    /// Nothing is wrong; whoever owns the machine could have begun again from nothing.
    Consistent,
    Broken,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Intact => "intact",
            Self::Consistent => "consistent",
            Self::Broken => "broken",
        })
    }
}

/// What `verify` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    pub word: Word,
    pub streams: Vec<StreamVerdict>,
    /// How many checkpoints there are.
    pub checkpoints: u64,
    /// When the last of them was signed.
    pub signed_at: Option<Time>,
    /// The public key that the chain began with, if it is known.
    pub root: Option<PublicKey>,
    /// What is wrong with the checkpoints; what is wrong with entries stands with their stream.
    pub faults: Vec<Fault>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamVerdict {
    pub stream: NodeId,
    /// Entries that were walked.
    pub entries: u64,
    /// Up to which entry a checkpoint has signed.
    pub signed: u64,
    /// What is wrong, in the order of the chain; the first few.
    pub faults: Vec<Fault>,
    /// How many more faults there are.
    pub more: u64,
}

impl Verification {
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.word != Word::Broken
    }

    /// Everything that is wrong, checkpoints last.
    pub fn all_faults(&self) -> impl Iterator<Item = (Option<NodeId>, &Fault)> {
        let entries = self
            .streams
            .iter()
            .flat_map(|stream| stream.faults.iter().map(|fault| (Some(stream.stream), fault)));
        entries.chain(self.faults.iter().map(|fault| (None, fault)))
    }

    #[must_use]
    pub fn entries(&self) -> u64 {
        self.streams.iter().map(|stream| stream.entries).sum()
    }
}

/// A checkpoint that follows rightly from the one before it, or what is wrong.
pub(crate) fn follows(previous: Option<&Checkpoint>, checkpoint: &Checkpoint) -> Result<Statement, Fault> {
    let epoch = checkpoint.epoch;
    let statement = checkpoint.statement().filter(|statement| statement.epoch == epoch);
    let statement = statement.ok_or(Fault::CheckpointUnreadable { epoch })?;
    let before = previous.and_then(Checkpoint::statement);
    let hangs_on = previous.map_or(Digest::ZERO, |previous| Digest::of(&previous.bytes));
    let next = previous.map_or(FIRST_EPOCH, |previous| previous.epoch + 1);
    if epoch != next {
        Err(Fault::NoCheckpoint { epoch: next })
    } else if !checkpoint.is_signed(&statement) {
        Err(Fault::Signature { epoch })
    } else if before.is_some_and(|before| before.next != statement.public) {
        Err(Fault::Handover { epoch })
    } else if statement.previous != hangs_on {
        Err(Fault::Unhung { epoch })
    } else {
        Ok(statement)
    }
}

/// What the checkpoints say, and what is wrong with them.
#[derive(Debug)]
pub struct Verifier {
    signed: BTreeMap<NodeId, Vec<Promise>>,
    checkpoints: u64,
    root: Option<PublicKey>,
    last: Option<Statement>,
    faults: Vec<Fault>,
    pinned: bool,
}

/// "The entry with this number has this hash."
#[derive(Clone, Copy, Debug)]
struct Promise {
    epoch: u64,
    seq: u64,
    hash: Digest,
}

impl Verifier {
    /// `outside` are the checkpoints as they stand beside the database; the newest may not have got there yet.
    #[must_use]
    pub fn new(checkpoints: &[Checkpoint], outside: &[Checkpoint], pinned: Option<&Pinned>) -> Self {
        let mut verifier = Self {
            signed: BTreeMap::new(),
            checkpoints: checkpoints.len() as u64,
            root: None,
            last: None,
            faults: Vec::new(),
            pinned: pinned.is_some(),
        };
        let mut previous: Option<&Checkpoint> = None;
        for checkpoint in checkpoints {
            match follows(previous, checkpoint) {
                Ok(statement) => verifier.believe(statement),
                Err(fault) => verifier.faults.push(fault),
            }
            previous = Some(checkpoint);
        }
        let here = |epoch| checkpoints.iter().find(|checkpoint| checkpoint.epoch == epoch);
        for known in outside {
            match here(known.epoch) {
                Some(checkpoint) if checkpoint == known => {}
                Some(_) => verifier.faults.push(Fault::Outside { epoch: known.epoch }),
                None => verifier.faults.push(Fault::NoCheckpoint { epoch: known.epoch }),
            }
        }
        match pinned {
            Some(Pinned::Root(root)) if verifier.root.is_some_and(|found| found != *root) => {
                verifier.faults.push(Fault::Root);
            }
            Some(Pinned::Anchor(Anchor(anchored))) => {
                for known in anchored {
                    match here(known.epoch) {
                        Some(checkpoint) if checkpoint == known => {}
                        Some(_) => verifier.faults.push(Fault::Anchored { epoch: known.epoch }),
                        None => verifier.faults.push(Fault::AnchorAhead { epoch: known.epoch }),
                    }
                }
            }
            Some(Pinned::Root(_)) | None => {}
        }
        verifier
    }

    fn believe(&mut self, statement: Statement) {
        if statement.epoch == FIRST_EPOCH {
            self.root = Some(statement.public);
        }
        for head in &statement.heads {
            let promise = Promise { epoch: statement.epoch, seq: head.seq, hash: head.hash };
            self.signed.entry(head.stream).or_default().push(promise);
        }
        self.last = Some(statement);
    }

    /// The streams that a checkpoint names.
    pub fn streams(&self) -> impl Iterator<Item = NodeId> {
        self.signed.keys().copied()
    }

    /// The first entry from this one on that a checkpoint has signed.
    #[must_use]
    pub fn signed_after(&self, stream: NodeId, seq: u64) -> Option<u64> {
        self.signed.get(&stream)?.iter().map(|promise| promise.seq).filter(|signed| *signed >= seq).min()
    }

    /// Compares the house's own secrets with what was signed. `head` is the head of the house's own stream.
    ///
    /// # Errors
    /// If a secret cannot be read.
    pub fn compare_keys(
        &mut self,
        seal: &Seal,
        head: Option<&AuditHead>,
        pinned: Option<&Pinned>,
    ) -> std::io::Result<()> {
        let epoch = self.last.as_ref().map_or(FIRST_EPOCH, |last| last.epoch + 1);
        if let Some(head) = head.filter(|head| head.epoch != epoch) {
            self.faults.push(Fault::Epoch { head: head.epoch, signed: epoch });
        }
        let own = seal.secret(epoch)?.map(|secret| secret.public());
        match (&self.last, own) {
            (Some(last), Some(own)) if last.next != own => self.faults.push(Fault::Key { epoch }),
            (None, own) => {
                // Nothing is signed yet: the secret itself is the root's.
                self.root = own;
                if let Some(Pinned::Root(root)) = pinned
                    && own != Some(*root)
                {
                    self.faults.push(Fault::Root);
                }
            }
            (Some(_), _) => {}
        }
        Ok(())
    }

    /// Compares what was walked with what there is: a row that is in no chain is not passed over.
    pub fn compare_count(&mut self, walked: u64, rows: u64) {
        if walked != rows {
            self.faults.push(Fault::Astray { rows: rows.abs_diff(walked) });
        }
    }

    #[must_use]
    pub fn walk(&self, stream: NodeId) -> StreamWalk {
        let mut promises = self.signed.get(&stream).cloned().unwrap_or_default();
        promises.sort_by_key(|promise| promise.seq);
        StreamWalk {
            stream,
            signed: promises.last().map_or(0, |last| last.seq),
            promises: promises.into_iter().peekable(),
            walk: Walk::default(),
            checker: EntryChecker::default(),
            walked: 0,
            faults: Vec::new(),
            more: 0,
            tip: None,
        }
    }

    #[must_use]
    pub fn finish(mut self, streams: Vec<StreamVerdict>) -> Verification {
        let pinned_nothing = self.pinned && self.root.is_none() && self.faults.is_empty();
        if pinned_nothing {
            self.faults.push(Fault::Root);
        }
        let sound = self.faults.is_empty() && streams.iter().all(|stream| stream.faults.is_empty());
        let word = match (sound, self.pinned) {
            (false, _) => Word::Broken,
            (true, true) => Word::Intact,
            (true, false) => Word::Consistent,
        };
        let signed_at = self.last.as_ref().map(|last| last.at);
        Verification {
            word,
            streams,
            checkpoints: self.checkpoints,
            signed_at,
            root: self.root,
            faults: self.faults,
        }
    }
}

/// As many faults of one stream are named.
pub(crate) const NAMED: usize = 100;

/// One stream, on its way to a verdict.
#[derive(Debug)]
pub struct StreamWalk {
    stream: NodeId,
    signed: u64,
    promises: std::iter::Peekable<std::vec::IntoIter<Promise>>,
    walk: Walk,
    checker: EntryChecker,
    walked: u64,
    faults: Vec<Fault>,
    more: u64,
    tip: Option<Tip>,
}

impl StreamWalk {
    /// Looks only at what comes after this entry.
    pub fn skip_to(&mut self, seq: u64, hash: Digest) {
        self.walk = Walk::after(seq, hash);
        while self.promises.next_if(|promise| promise.seq <= seq).is_some() {}
    }

    /// What was noted outside the database about this stream.
    pub const fn expect(&mut self, tip: Option<Tip>) {
        self.tip = tip;
    }

    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.walk.seq()
    }

    pub fn step(&mut self, link: &Link<'_>) {
        let check = self.checker.check(link);
        self.step_checked(link, check);
    }

    /// The same with an entry that was checked already.
    pub fn step_checked(&mut self, link: &Link<'_>, check: EntryCheck) {
        if let Err(fault) = self.walk.step(link, check) {
            self.name(fault);
        }
        self.walked += 1;
        let (seq, hash) = (self.walk.seq(), self.walk.hash());
        while let Some(promise) = self.promises.next_if(|promise| promise.seq <= seq) {
            // One that was passed over belongs to an entry that is missing, which is named already.
            if promise.seq == seq && promise.hash != hash {
                self.name(Fault::Signed { epoch: promise.epoch, seq });
            }
        }
        if self.tip.is_some_and(|tip| tip.seq == seq && tip.hash != hash) {
            self.name(Fault::Rewritten { seq });
        }
    }

    /// A row that is no entry at all.
    pub fn stumble(&mut self) {
        self.name(Fault::Unreadable { seq: self.walk.seq() + 1 });
    }

    fn name(&mut self, fault: Fault) {
        if self.faults.len() < NAMED {
            self.faults.push(fault);
        } else {
            self.more += 1;
        }
    }

    /// Compares the end with what was signed and noted, and with the sealed head where there is a seal to compare with.
    ///
    /// # Errors
    /// If a secret cannot be read.
    pub fn end(mut self, sealed: Option<(Option<&AuditHead>, &Seal)>) -> std::io::Result<StreamVerdict> {
        let entries = self.walk.seq();
        while let Some(Promise { epoch, seq: signed, .. }) = self.promises.next() {
            self.name(Fault::SignedMore { epoch, signed, entries });
        }
        if let Some(tip) = self.tip.filter(|tip| tip.seq > entries) {
            self.name(Fault::Cut { noted: tip.seq, entries });
        }
        match sealed {
            Some((head, seal)) => {
                if let Some(fault) = self.fault_of_head(head, seal)? {
                    self.name(fault);
                }
            }
            // Nobody who has no secret can tell whose these are.
            None if entries > self.signed => self.name(Fault::Unsigned { signed: self.signed }),
            None => {}
        }
        Ok(self.stop())
    }

    /// Ends in the middle of the chain, at an entry that a checkpoint has signed.
    #[must_use]
    pub fn stop(self) -> StreamVerdict {
        let Self { stream, signed, walked, faults, more, .. } = self;
        StreamVerdict { stream, entries: walked, signed, faults, more }
    }

    /// The same, if it came as far; otherwise what was signed is not all there.
    #[must_use]
    pub fn stop_at(mut self, signed: u64) -> StreamVerdict {
        let entries = self.walk.seq();
        if entries < signed {
            let epoch = self.promises.peek().map_or(0, |promise| promise.epoch);
            self.name(Fault::SignedMore { epoch, signed, entries });
        }
        self.stop()
    }

    fn fault_of_head(&self, head: Option<&AuditHead>, seal: &Seal) -> std::io::Result<Option<Fault>> {
        let (entries, hash) = (self.walk.seq(), self.walk.hash());
        Ok(match head {
            None if entries == 0 => Some(Fault::Gone),
            None => Some(Fault::NoHead),
            Some(head) if head.seq != entries => Some(Fault::Tail { head: head.seq, entries }),
            Some(head) if head.hash != hash => Some(Fault::Head),
            // Only a house that wrote a stream can seal it, and there is one house so far.
            Some(head) if head.stream != seal.stream() => Some(Fault::Stranger),
            Some(head) => match seal.standing(head)? {
                Standing::Ours => None,
                Standing::Forged => Some(Fault::Seal),
                Standing::NoSecret => Some(Fault::NoSecret { epoch: head.epoch }),
            },
        })
    }
}
