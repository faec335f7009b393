//! Where the audit goes on: compared with its seal before anything is appended, and taken up again where somebody has
//! damaged it.

use domain::id::NodeId;
use domain::probe::Probe;
use domain::{Digest, Time};

use crate::audit_event::{AuditEvent, SYSTEM};
use crate::authority::{AuthorityState, LOST, Resealed, Seals, Unverified, named_by};
use crate::batch::{Batch, Refusal};
use crate::chain::{Entry, FIRST_EPOCH, Seal, SignedHead, Standing, Tip, follows};
use crate::query::{Op, Select};
use crate::records::{AuditHead, AuditPlace, AuthoritySeal, Checkpoint};
use crate::store::{After, StoreError, Tx, put_records, read_records, select};

/// Where the audit goes on.
pub(crate) struct Tail {
    after: Tip,
    epoch: u64,
    damage: Option<Damage>,
    /// The set of authority seals that the head names.
    authority: Result<Digest, Unverified>,
}

/// What somebody did to the tail outside the program. The work goes on, in a new epoch, after an entry that says so;
/// `verify` names it for ever.
struct Damage {
    /// In a word of ours.
    found: &'static str,
    noted: Option<u64>,
    /// Checkpoints that stand outside the database and are gone from it.
    lost: Vec<Checkpoint>,
}

impl Damage {
    fn entry(&self, stream: NodeId, after: u64, at: Time) -> Entry {
        AuditEvent::AuditHealed { stream, found: self.found, after, noted: self.noted }.entry(SYSTEM, at)
    }
}

impl Tail {
    /// Going on from a head that somebody else moved or took away would put our seal on their work: the tail is compared with the
    /// seal on it and with what was noted outside.
    pub(crate) async fn find(tx: &mut impl Tx, seal: &Seal) -> Result<Result<Self, Refusal>, StoreError> {
        let ours = Select::<AuditHead>::by("stream", &seal.stream()).query;
        let last = Select::<AuditPlace>::by("stream", &seal.stream()).descending("seq").limit(1).query;
        let mut answers = tx.select_each(&[ours, last]).await?.into_iter();
        let ours: Vec<AuditHead> = read_records(answers.next().unwrap_or_default())?;
        let last: Vec<AuditPlace> = read_records(answers.next().unwrap_or_default())?;
        let tip = seal.vault().tip()?;
        let last = last.last().map(|last| Tip {
            seq: u64::try_from(last.seq).unwrap_or(0),
            hash: last.hash.as_slice().try_into().map_or(Digest::ZERO, Digest::from_bytes),
        });
        let authority = |head| named_by(head, tip, seal, &seal.authority_mac()?);
        let found = match ours.first() {
            Some(head) => match seal.standing(head)? {
                Standing::Ours if tip.is_some_and(|tip| tip.seq > head.seq) => "cut",
                // Somebody put a row where the next one goes.
                Standing::Ours if last.is_some_and(|last| last.seq > head.seq) => "rows beyond the head",
                Standing::Ours => {
                    let after = Tip { seq: head.seq, hash: head.hash };
                    let authority = authority(Some(head))?;
                    return Ok(Ok(Self { after, epoch: head.epoch, damage: None, authority }));
                }
                Standing::Forged => "forged head",
                Standing::NoSecret => "head of another time",
            },
            None if last.is_some() => "no head",
            None => match select(tx, Select::<AuditHead>::all().limit(1)).await?.first() {
                Some(other) => return Ok(Err(Refusal::OtherHouse { stream: other.stream })),
                // Batches without an entry may have been written before the first one with an entry.
                None if tip.is_none() => {
                    let authority = authority(None)?;
                    return Ok(Ok(Self { after: Tip::NONE, epoch: FIRST_EPOCH, damage: None, authority }));
                }
                None => "gone",
            },
        };
        // Which epoch it is, only what is signed rightly can say: first what stands outside, then what the database has beyond that.
        let stored: Vec<Checkpoint> = select(tx, Select::all().ascending("epoch")).await?;
        let mut believed: Vec<Checkpoint> = Vec::new();
        let outside = seal.vault().checkpoints()?;
        let outside: Vec<Checkpoint> =
            outside.iter().filter_map(|line| Checkpoint::from_line(line).ok()).collect();
        for checkpoint in outside {
            if follows(believed.last(), &checkpoint).is_ok() {
                believed.push(checkpoint);
            }
        }
        let known = believed.len();
        for checkpoint in &stored {
            if seal.vouches_for(believed.last(), checkpoint)? {
                believed.push(checkpoint.clone());
            }
        }
        let epoch = believed.last().map_or(FIRST_EPOCH, |last| last.epoch + 1);
        // Nobody goes on with a key that the last checkpoint has not named.
        let named = believed.last().and_then(Checkpoint::statement).map(|statement| statement.next);
        match seal.secret(epoch)?.map(|secret| secret.public()) {
            Some(own) if named.is_none_or(|named| named == own) => {}
            // Only keys that are a copy of ours sign a checkpoint that follows from ours and is not noted here.
            None if believed.len() > known => return Ok(Err(Refusal::UsedElsewhere)),
            _ => return Ok(Err(Refusal::TailMoved)),
        }
        let lost = believed
            .into_iter()
            .filter(|known| !stored.iter().any(|stored| stored.epoch == known.epoch))
            .collect();
        let after = last.unwrap_or(Tip::NONE);
        let damage = Damage { found, noted: tip.map(|tip| tip.seq), lost };
        // What stands beyond a head does not make the head another one.
        let authority = authority(ours.first())?;
        Ok(Ok(Self { after, epoch, damage: Some(damage), authority }))
    }

    /// What is known about the rows that carry authority.
    pub(crate) async fn authority(
        &self,
        tx: &mut impl Tx,
        seal: &Seal,
    ) -> Result<AuthorityState, StoreError> {
        let mac = seal.authority_mac()?;
        if let Ok(named) = self.authority
            && seal.known_seals(named).is_none()
        {
            let found: Vec<AuthoritySeal> = select(tx, Select::all()).await?;
            seal.know_seals(&mac, std::sync::Arc::new(Seals::of(found)));
        }
        Ok(AuthorityState::new(mac, self.authority.clone(), |named| seal.known_seals(named)))
    }

    /// Appends the batches' entries to the audit. If one of them ends the epoch, or the tail was damaged, a checkpoint is signed
    /// and the head is sealed with the secret of the next epoch, all in the same transaction. `sealed` is the set of authority
    /// seals that the head is to name, where the batches have changed it.
    pub(crate) async fn append(
        self,
        tx: &mut impl Tx,
        accepted: &[&Batch],
        sealed: Option<Resealed>,
        seal: &Seal,
        probe: &dyn Probe,
    ) -> Result<After, StoreError> {
        let Self { after, epoch, damage, authority } = self;
        let authority = match (sealed, authority) {
            (Some(Resealed { named, .. }), _) | (None, Ok(named)) => Some(named),
            (None, Err(Unverified::NeverSealed)) => None,
            (None, Err(_)) => Some(LOST),
        };
        let at = accepted.iter().map(|batch| batch.at()).max().unwrap_or(Time::from_micros(0));
        let healing = damage.as_ref().map(|damage| damage.entry(seal.stream(), after.seq, at));
        let silent = sealed.is_some_and(|sealed| sealed.on_record)
            && accepted.iter().all(|batch| batch.audit.is_empty());
        // The set of authority seals never changes without an entry.
        let sealing = silent.then(|| AuditEvent::AuthoritySealed { stream: seal.stream() }.entry(SYSTEM, at));
        let said = accepted.iter().flat_map(|batch| &batch.audit);
        let entries = healing.iter().chain(said).chain(&sealing);
        let (entries, tip) =
            seal.link(after, entries).map_err(|error| StoreError::Other(error.to_string()))?;
        put_records(tx, &entries, probe).await?;
        let mut checkpoints = damage.as_ref().map_or_else(Vec::new, |damage| damage.lost.clone());
        let ends = damage.is_some() || accepted.iter().any(|batch| batch.ends_epoch);
        let head = if ends {
            // Only what this house has written: whoever can write the database could have put another head there.
            let heads = vec![SignedHead { hash: tip.hash, seq: tip.seq, stream: seal.stream() }];
            let previous = match checkpoints.last() {
                Some(lost) => Some(lost.clone()),
                None => previous(tx, seal, epoch).await?,
            };
            checkpoints.push(seal.checkpoint(epoch, heads, previous.as_ref(), at)?);
            put_records(tx, &checkpoints, probe).await?;
            seal.head(epoch + 1, tip, authority)?
        } else {
            seal.head(epoch, tip, authority)?
        };
        put_records(tx, std::slice::from_ref(&head), probe).await?;
        Ok(After { head, checkpoints, healed: damage.is_some() })
    }
}

/// The checkpoint that the one of this epoch hangs on. What stands outside counts first: whoever can write the database could
/// have put another one there.
async fn previous(tx: &mut impl Tx, seal: &Seal, epoch: u64) -> Result<Option<Checkpoint>, StoreError> {
    let before = epoch.saturating_sub(1);
    let lines = seal.vault().checkpoints()?;
    let mut outside = lines.iter().rev().filter_map(|line| Checkpoint::from_line(line).ok());
    match outside.find(|known| known.epoch == before) {
        Some(known) => Ok(Some(known)),
        None => Ok(select(tx, Select::all().filter("epoch", Op::Eq, &before)).await?.pop()),
    }
}
