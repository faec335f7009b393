//! The seal on the tip of a chain, and the secrets behind it: one per epoch, outside the database.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use domain::id::NodeId;
use domain::{Digest, Time, canonical};
use ed25519_dalek::{Signer as _, SigningKey};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::checkpoint::{PublicKey, SignedHead, Statement, message};
use super::verify::follows;
use super::{Entry, Signature};
use crate::authority::{AuthorityMac, Seals};
use crate::records::{AuditEntry, AuditHead, Checkpoint, DatabaseStamp};
use crate::store::After;

/// The epoch in which every chain begins.
pub(crate) const FIRST_EPOCH: u64 = 1;

/// 32 random bytes: the key of the MAC on the tip and, as an Ed25519 seed, what signs the checkpoint that ends the
/// epoch. It never prints, and is wiped from memory when it is dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey::from_bytes(SigningKey::from_bytes(&self.0).verifying_key().to_bytes())
    }

    /// A MAC with this secret as its key.
    pub(crate) fn mac(&self) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        <Hmac<Sha256>>::new_from_slice(&*self.0).expect("any length is a key")
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> Signature {
        Signature::from_bytes(SigningKey::from_bytes(&self.0).sign(&message(bytes)).to_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(not shown)")
    }
}

/// How far the chain had come when this house last wrote to it, kept outside the database: a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tip {
    pub seq: u64,
    pub hash: Digest,
}

impl Tip {
    /// Before the first entry.
    pub const NONE: Self = Self { seq: 0, hash: Digest::ZERO };
}

/// What a house keeps outside its database. Whoever can only write the database reaches nothing of it.
pub trait Vault: Send + Sync + fmt::Debug {
    /// The secret of an epoch; nothing if it was erased, or was never made.
    ///
    /// # Errors
    /// If it cannot be read.
    fn secret(&self, epoch: u64) -> io::Result<Option<Secret>>;

    /// Makes the secret of an epoch, durably, unless there is one: whoever comes second gets the first one's.
    ///
    /// # Errors
    /// If it cannot be written.
    fn make(&self, epoch: u64) -> io::Result<Secret>;

    /// The key of the MACs on rows that carry authority. It is made with the vault, and no epoch erases it.
    ///
    /// # Errors
    /// If it cannot be read.
    fn authority_key(&self) -> io::Result<Secret>;

    /// Which database this vault was opened for; nothing where any will do, in tests and before a database has its id.
    fn stamp(&self) -> Option<&DatabaseStamp> {
        None
    }

    /// Since when a halt waits to be written to the ledger. It counts at once, whatever keeps the database.
    ///
    /// # Errors
    /// If nobody can tell.
    fn halt_request(&self) -> io::Result<Option<Time>> {
        Ok(None)
    }

    /// Erases the secrets of all epochs before this one.
    ///
    /// # Errors
    /// If one is left.
    fn erase_before(&self, epoch: u64) -> io::Result<()>;

    /// # Errors
    /// If it cannot be read.
    fn tip(&self) -> io::Result<Option<Tip>>;

    /// # Errors
    /// If it cannot be written.
    fn note(&self, tip: Tip) -> io::Result<()>;

    /// The checkpoints, one JSON line each, oldest first.
    ///
    /// # Errors
    /// If they cannot be read.
    fn checkpoints(&self) -> io::Result<Vec<String>>;

    /// Appends a checkpoint, durably.
    ///
    /// # Errors
    /// If it cannot be written.
    fn append(&self, line: &str) -> io::Result<()>;
}

/// What the seal on a head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Ours,
    /// Somebody else wrote this head.
    Forged,
    /// The secret of its epoch is not there, so nobody can say.
    NoSecret,
}

/// What makes and checks the seals of one stream.
pub struct Seal {
    stream: NodeId,
    vault: Arc<dyn Vault>,
    /// Secrets that were read already; older ones than the newest in use are dropped.
    known: Mutex<BTreeMap<u64, Secret>>,
    authority: OnceLock<AuthorityMac>,
    /// The set of authority seals that was last found to be the one that the head names.
    seals: Mutex<Option<(Digest, Arc<Seals>)>>,
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl Seal {
    #[must_use]
    pub fn new(stream: NodeId, vault: Arc<dyn Vault>) -> Self {
        Self { stream, vault, known: Mutex::default(), authority: OnceLock::new(), seals: Mutex::default() }
    }

    /// A seal whose secrets follow from one another, in memory.
    #[cfg(feature = "memory")]
    #[must_use]
    pub fn for_tests(stream: NodeId, key: [u8; 32]) -> Self {
        Self::new(stream, Arc::new(MemoryVault::new(key)))
    }

    #[must_use]
    pub const fn stream(&self) -> NodeId {
        self.stream
    }

    #[must_use]
    pub fn vault(&self) -> &dyn Vault {
        &*self.vault
    }

    /// # Errors
    /// If the secret cannot be read.
    pub fn secret(&self, epoch: u64) -> io::Result<Option<Secret>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(secret) = known.get(&epoch) {
            return Ok(Some(secret.clone()));
        }
        let secret = self.vault.secret(epoch)?;
        if let Some(secret) = &secret {
            known.retain(|older, _| *older > epoch);
            known.insert(epoch, secret.clone());
        }
        Ok(secret)
    }

    /// # Errors
    /// If the secret cannot be read.
    pub fn standing(&self, head: &AuditHead) -> io::Result<Standing> {
        let Some(secret) = self.secret(head.epoch)? else { return Ok(Standing::NoSecret) };
        let mac = mac(&secret, head);
        let ours = head.stream == self.stream && bool::from(mac.as_bytes().ct_eq(head.mac.as_bytes()));
        Ok(if ours { Standing::Ours } else { Standing::Forged })
    }

    /// The entries as they are to be appended after a place in the chain, and where it ends then.
    ///
    /// # Errors
    /// If an entry has no canonical form.
    pub fn link<'a>(
        &self,
        after: Tip,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<(Vec<AuditEntry>, Tip), canonical::NotCanonical> {
        let mut tip = after;
        let mut linked = Vec::new();
        for entry in entries {
            let link = entry.link(self.stream, tip.seq + 1, tip.hash)?;
            tip = Tip { seq: link.seq, hash: link.hash };
            linked.push(link);
        }
        Ok((linked, tip))
    }

    /// The sealed head of a chain that ends here, in an epoch, with the set of authority seals that it names.
    ///
    /// # Errors
    /// If the epoch's secret cannot be read.
    pub fn head(&self, epoch: u64, tip: Tip, authority: Option<Digest>) -> io::Result<AuditHead> {
        let secret = self.secret(epoch)?.ok_or_else(|| no_secret(epoch))?;
        let Tip { seq, hash } = tip;
        let open = AuditHead { stream: self.stream, seq, hash, epoch, mac: Digest::ZERO, authority };
        Ok(AuditHead { mac: mac(&secret, &open), ..open })
    }

    /// Ends an epoch: signs the heads and names the next epoch's public key. Its secret is durable when this returns.
    ///
    /// # Errors
    /// If a secret cannot be read or made, or the statement has no canonical form.
    pub fn checkpoint(
        &self,
        epoch: u64,
        mut heads: Vec<SignedHead>,
        previous: Option<&Checkpoint>,
        at: Time,
    ) -> io::Result<Checkpoint> {
        let secret = self.secret(epoch)?.ok_or_else(|| no_secret(epoch))?;
        let next = self.vault.make(epoch + 1)?.public();
        heads.sort_by_key(|head| head.stream);
        let previous = previous.map_or(Digest::ZERO, |previous| Digest::of(&previous.bytes));
        let statement = Statement { at, epoch, heads, next, previous, public: secret.public() };
        let bytes = canonical::bytes(&statement).map_err(io::Error::other)?;
        let signature = secret.sign(&bytes);
        Ok(Checkpoint { epoch, signature: signature.to_vec(), bytes })
    }

    /// What is done outside the database once a group is durable. If the process dies before it, or something fails,
    /// [`Seal::catch_up`] does it later.
    pub fn settle(&self, after: &After) {
        drop(self.vault.note(Tip { seq: after.head.seq, hash: after.head.hash }));
        if !after.checkpoints.is_empty() {
            drop(self.catch_up(&after.checkpoints));
        }
    }

    /// Writes down the checkpoints that the file outside the database lacks, and erases the secrets of ended epochs.
    /// A secret goes only when the checkpoint that it signed stands outside; and a row that somebody put into the
    /// database follows from nothing, and erases nothing.
    ///
    /// # Errors
    /// If something of that could not be done.
    pub fn catch_up(&self, checkpoints: &[Checkpoint]) -> io::Result<()> {
        let lines = self.vault.checkpoints()?;
        let mut last = lines.last().map(|line| Checkpoint::from_line(line)).transpose()?;
        for checkpoint in checkpoints {
            if self.vouches_for(last.as_ref(), checkpoint)? {
                self.vault.append(&checkpoint.to_line()?)?;
                last = Some(checkpoint.clone());
            }
        }
        let Some(last) = last else { return Ok(()) };
        // The next secret is there, and is the one that was named: then this one is not needed any more.
        let (ended, named) = (last.epoch, last.statement().map(|statement| statement.next));
        if self.vault.secret(ended + 1)?.map(|next| next.public()) != named {
            return Ok(());
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|epoch, _| *epoch > ended);
        self.vault.erase_before(ended + 1)
    }
}

impl Seal {
    pub(crate) fn authority_mac(&self) -> io::Result<AuthorityMac> {
        if let Some(mac) = self.authority.get() {
            return Ok(mac.clone());
        }
        let mac = AuthorityMac::new(self.vault.authority_key()?);
        Ok(self.authority.get_or_init(|| mac).clone())
    }

    /// Remembers a set of seals, and returns its MAC.
    pub(crate) fn know_seals(&self, mac: &AuthorityMac, seals: Arc<Seals>) -> Digest {
        let name = seals.mac(mac);
        *self.seals.lock().unwrap_or_else(PoisonError::into_inner) = Some((name, seals));
        name
    }

    /// The set of seals with this MAC, if this process has seen it already.
    pub(crate) fn known_seals(&self, name: Digest) -> Option<Arc<Seals>> {
        let known = self.seals.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(known, _)| *known == name).map(|(_, seals)| Arc::clone(seals))
    }

    /// Whether a checkpoint that stands in the database follows from the one before, and was signed with this house's own
    /// secret: anybody could have put another one there.
    ///
    /// # Errors
    /// If the secret cannot be read.
    pub(crate) fn vouches_for(
        &self,
        before: Option<&Checkpoint>,
        checkpoint: &Checkpoint,
    ) -> io::Result<bool> {
        let Ok(statement) = follows(before, checkpoint) else { return Ok(false) };
        let own = self.vault.secret(checkpoint.epoch)?.map(|secret| secret.public());
        Ok(own == Some(statement.public))
    }

    /// The last checkpoint that stands outside the database.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn last_checkpoint(&self) -> io::Result<Option<Statement>> {
        let lines = self.vault.checkpoints()?;
        let last = lines.last().map(|line| Checkpoint::from_line(line)).transpose()?;
        Ok(last.and_then(|last| last.statement()))
    }
}

fn no_secret(epoch: u64) -> io::Error {
    io::Error::other(format!("the secret of epoch {epoch} is not there"))
}

fn mac(secret: &Secret, head: &AuditHead) -> Digest {
    let mut mac = secret.mac();
    mac.update(b"regent/audit-head/");
    mac.update(head.stream.to_string().as_bytes());
    mac.update(&head.epoch.to_be_bytes());
    mac.update(&head.seq.to_be_bytes());
    mac.update(head.hash.as_bytes());
    // Heads of the versions before name none, and are as they were.
    if let Some(authority) = &head.authority {
        mac.update(b"/authority/");
        mac.update(authority.as_bytes());
    }
    Digest::from_bytes(mac.finalize().into_bytes().into())
}

/// A vault for tests. The secrets follow from the first one, so that several of these agree; what one of them erased
/// it does not give out again.
#[cfg(feature = "memory")]
#[derive(Debug)]
pub struct MemoryVault {
    first: Secret,
    state: Mutex<Kept>,
}

#[cfg(feature = "memory")]
#[derive(Debug, Default)]
struct Kept {
    erased: u64,
    tip: Option<Tip>,
    lines: Vec<String>,
}

#[cfg(feature = "memory")]
impl MemoryVault {
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self { first: Secret::new(key), state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "memory")]
impl Vault for MemoryVault {
    fn secret(&self, epoch: u64) -> io::Result<Option<Secret>> {
        Ok(if epoch > self.state().erased { Some(self.make(epoch)?) } else { None })
    }

    fn make(&self, epoch: u64) -> io::Result<Secret> {
        Ok(match epoch {
            0 | FIRST_EPOCH => self.first.clone(),
            later => Secret::new(*Digest::of_parts(&[&*self.first.0, &later.to_be_bytes()]).as_bytes()),
        })
    }

    fn authority_key(&self) -> io::Result<Secret> {
        Ok(Secret::new(*Digest::of_parts(&[&*self.first.0, b"authority"]).as_bytes()))
    }

    fn erase_before(&self, epoch: u64) -> io::Result<()> {
        let mut state = self.state();
        state.erased = state.erased.max(epoch - 1);
        Ok(())
    }

    fn tip(&self) -> io::Result<Option<Tip>> {
        Ok(self.state().tip)
    }

    fn note(&self, tip: Tip) -> io::Result<()> {
        self.state().tip = Some(tip);
        Ok(())
    }

    fn checkpoints(&self) -> io::Result<Vec<String>> {
        Ok(self.state().lines.clone())
    }

    fn append(&self, line: &str) -> io::Result<()> {
        self.state().lines.push(line.into());
        Ok(())
    }
}
