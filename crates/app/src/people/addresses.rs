//! Whose an address is: linking it to a person and unlinking it, one revision of people at a time.

use domain::event::{self, RESERVED_PLATFORMS};
use domain::id::IdentityId;
use kernel::parties::new_salt;
use kernel::{Code, Problem, Services};
use ledger::audit_event::OWNER;
use ledger::records::{Entity, Identity, Salt};
use ledger::{AuditEvent, Batch, StoreError};

/// How sure it is that nobody else can speak under an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityStatus {
    /// Somebody says so, or it looks like it.
    Unverified,
    /// The owner has made sure.
    Verified,
}

/// An address as it is known, or a row for one that nobody has written from yet.
pub(crate) async fn address(
    services: &Services,
    platform: &str,
    identifier: &str,
) -> Result<Identity, StoreError> {
    let known = services.ledger.identity_of(platform, identifier).await?;
    Ok(known.unwrap_or_else(|| Identity {
        id: services.id(),
        platform: platform.into(),
        identifier: identifier.into(),
        entity_id: None,
        account: None,
        first_seen: services.now(),
        is_owned: false,
        is_verified: false,
    }))
}

/// Puts a link into the caller's batch: from its commit on, whoever writes from this address is this entity. The caller takes
/// a [`PeopleRevision`](kernel::people_revision::PeopleRevision) in the same batch, begun before identity and entity were looked at. What was verified stays so.
pub(crate) async fn link(
    services: &Services,
    identity: &Identity,
    entity: &Entity,
    surety: IdentityStatus,
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
    let is_verified = identity.is_verified || surety == IdentityStatus::Verified;
    if entity.is_owner && !is_verified {
        let what = "whoever writes from an address of the owner speaks for them, so it has to be verified";
        return refused(Code::UNVERIFIED, what);
    }
    let linked =
        Identity { entity_id: Some(entity.id), is_owned: entity.is_owner, is_verified, ..identity.clone() };
    change(services, &linked, batch).await?;
    let event = AuditEvent::PersonLinked { person: entity, address: &linked };
    batch.audit(event.entry(OWNER, services.now()));
    Ok(linked)
}

/// Takes a link back, in the caller's batch, as [`link`] makes one. What they wrote stays with the address.
pub(crate) async fn unlink(
    services: &Services,
    identity: &Identity,
    entity: &Entity,
    batch: &mut Batch,
) -> Result<Identity, StoreError> {
    let unlinked = Identity { entity_id: None, is_owned: false, is_verified: false, ..identity.clone() };
    change(services, &unlinked, batch).await?;
    let event = AuditEvent::PersonUnlinked { person: entity, address: &unlinked };
    batch.audit(event.entry(OWNER, services.now()));
    Ok(unlinked)
}

/// The same address with other facts. It has its salt from here on: whoever writes from it expects that, and whoever is
/// forgotten loses it.
async fn change(services: &Services, identity: &Identity, batch: &mut Batch) -> Result<(), StoreError> {
    let person = identity.id.to_string();
    match services.ledger.salt_of(&person).await? {
        Some(salt) => batch.expect_present::<Salt>("person", &salt.person),
        None => batch.put(&Salt { person, salt: new_salt(services) }),
    };
    let id: IdentityId = identity.id;
    batch.erase::<Identity, _>("id", &[id]).put(identity);
    Ok(())
}

/// Whether this is what is left of somebody who was forgotten.
pub(crate) const fn is_forgotten(entity: &Entity) -> bool {
    entity.name.is_none() && !entity.is_owner
}
