//! Whose an address is: linking it to somebody and taking that back, one change of people at a time.

use domain::event::{self, RESERVED_PLATFORMS};
use domain::id::IdentityId;
use ledger::records::{Entity, Identity, Lease, Salt};
use ledger::{Batch, CommitError, Entry, Refusal, StoreError};
use serde_json::{Value, json};

use super::people::new_salt;
use super::{Desk, Held};
use crate::host::Host;
use crate::problem::{Code, Problem};

/// How sure it is that nobody else can speak under an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surety {
    /// Somebody says so, or it looks like it.
    Told,
    /// The owner has made sure.
    Verified,
}

/// One change of people. Whoever begins one looks at everybody after that, and is refused if somebody else has changed
/// people meanwhile: then it is begun again.
#[derive(Debug)]
pub(crate) struct Turn(Option<Lease>);

/// What a turn is written under.
const PEOPLE: &str = "people";
/// How often to look again when somebody else was faster.
pub(crate) const TURNS: usize = 16;

impl Turn {
    /// To be called before anybody is looked at.
    pub(crate) async fn begin(desk: &Desk) -> Result<Self, StoreError> {
        Ok(Self(desk.ledger.lease(PEOPLE).await?))
    }

    /// The change goes with this batch, once per batch.
    pub(crate) fn take(&self, desk: &Desk, host: &dyn Host, batch: &mut Batch) {
        let (seen, beats) = (self.0.clone(), self.0.as_ref().map_or(0, |lease| lease.beats) + 1);
        let epoch = Held::after(seen.clone()).epoch;
        let lease = Lease { subject: PEOPLE.into(), epoch, holder: host.holder(), until: desk.now(), beats };
        batch.expect_lease(PEOPLE, seen).put(&lease);
    }

    /// Nobody is changed, and nobody may have been meanwhile: what the batch says of people is what is known of them.
    pub(crate) fn hold(&self, batch: &mut Batch) {
        batch.expect_lease(PEOPLE, self.0.clone());
    }

    /// Whether somebody else was faster: has changed people, written from this address for the first time, or gone.
    pub(crate) const fn is_lost(error: &CommitError) -> bool {
        matches!(
            error,
            CommitError::Refused(
                Refusal::Fenced { .. }
                    | Refusal::Duplicate { .. }
                    | Refusal::Present { .. }
                    | Refusal::Gone { .. }
            )
        )
    }
}

/// An address as it is known, or a row for one that nobody has written from yet.
pub(crate) async fn address(desk: &Desk, platform: &str, identifier: &str) -> Result<Identity, StoreError> {
    let known = desk.ledger.identity_of(platform, identifier).await?;
    Ok(known.unwrap_or_else(|| Identity {
        id: desk.id(),
        platform: platform.into(),
        identifier: identifier.into(),
        entity_id: None,
        account: None,
        first_seen: desk.now(),
        is_owned: false,
        is_verified: false,
    }))
}

/// Puts a link into the caller's batch: from its commit on, whoever writes from this address is this entity. The caller takes
/// a [`Turn`] in the same batch, begun before identity and entity were looked at. What was verified stays so.
pub(crate) async fn link(
    desk: &Desk,
    identity: &Identity,
    entity: &Entity,
    surety: Surety,
    batch: &mut Batch,
) -> Result<Identity, Problem> {
    let refused = |code, what: &str| Err(Problem::new(code, what).safe("nothing was linked"));
    if RESERVED_PLATFORMS.iter().any(|own| event::looks_like(&identity.platform, own)) {
        return refused(Code::BAD_PERSON, "the terminal and the house's own agents are nobody's to link");
    }
    if identity.is_erased() || is_forgotten(entity) {
        return refused(Code::NOBODY, "they were forgotten");
    }
    if identity.entity_id.is_some_and(|other| other != entity.id) {
        return refused(Code::PERSON_TAKEN, "this address belongs to somebody else");
    }
    // An address that somebody can forge must not speak for the owner.
    let is_verified = identity.is_verified || surety == Surety::Verified;
    if entity.is_owner && !is_verified {
        let what = "whoever writes from an address of the owner speaks for them, so it has to be verified";
        return refused(Code::UNVERIFIED, what);
    }
    let linked =
        Identity { entity_id: Some(entity.id), is_owned: entity.is_owner, is_verified, ..identity.clone() };
    change(desk, &linked, batch).await?;
    let detail = json!({ "identity": linked.id, "verified": is_verified, "owned": linked.is_owned });
    batch.audit(entry(desk, "person.linked", entity, detail));
    Ok(linked)
}

/// Takes a link back, in the caller's batch, as [`link`] makes one. What they wrote stays with the address.
pub(crate) async fn unlink(
    desk: &Desk,
    identity: &Identity,
    entity: &Entity,
    batch: &mut Batch,
) -> Result<Identity, StoreError> {
    let unlinked = Identity { entity_id: None, is_owned: false, is_verified: false, ..identity.clone() };
    change(desk, &unlinked, batch).await?;
    batch.audit(entry(desk, "person.unlinked", entity, json!({ "identity": unlinked.id })));
    Ok(unlinked)
}

/// The same address with other facts. It has its salt from here on: whoever writes from it expects that, and whoever is
/// forgotten loses it.
async fn change(desk: &Desk, identity: &Identity, batch: &mut Batch) -> Result<(), StoreError> {
    let person = identity.id.to_string();
    match desk.ledger.salt_of(&person).await? {
        Some(salt) => batch.expect_present::<Salt>("person", &salt.person),
        None => batch.put(&Salt { person, salt: new_salt(desk) }),
    };
    let id: IdentityId = identity.id;
    batch.erase::<Identity, _>("id", &[id]).put(identity);
    Ok(())
}

/// Whether this is what is left of somebody who was forgotten.
pub(crate) const fn is_forgotten(entity: &Entity) -> bool {
    entity.name.is_none() && !entity.is_owner
}

/// What is said of a change: ids, numbers and words of ours, never a name or an address (INVARIANT (no-person)).
pub(crate) fn entry(desk: &Desk, kind: &str, entity: &Entity, detail: Value) -> Entry {
    Entry {
        at: desk.now(),
        kind: kind.into(),
        actor: "owner".into(),
        subject: entity.id.to_string(),
        trust: None,
        origin_id: None,
        reason_id: None,
        vpol_id: None,
        detail,
    }
}
