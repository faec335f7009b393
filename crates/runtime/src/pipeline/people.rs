//! Whose words these are: the identity behind an address, the person behind the identity, and the salt that makes
//! their content erasable.

use domain::Digest;
use domain::event::{RESERVED_PLATFORMS, TERMINAL};
use ledger::records::{Entity, EntityKind, Identity, Salt, SaltBytes};
use ledger::{Batch, StoreError};

use super::Desk;
use crate::host::User;

/// Somebody who speaks, and which of their records are new.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) identity: Identity,
    pub(crate) entity: Option<Entity>,
    pub(crate) salt: Salt,
    fresh_identity: bool,
    fresh_entity: bool,
    fresh_salt: bool,
}

impl Person {
    /// The same person, who is known from now on: the caller writes that down.
    pub(crate) fn known_as(self, identity: Identity, entity: Entity) -> Self {
        Self { identity, entity: Some(entity), fresh_identity: false, fresh_entity: false, ..self }
    }

    /// Writes what is new, and expects what is not to be there still: whoever was erased a moment ago is somebody new. Two processes may meet somebody for the first time at once: then one batch is
    /// refused as a duplicate, and whoever looks again finds the other's records.
    pub(crate) fn enter(&self, batch: &mut Batch) {
        if let Some(entity) = self.entity.as_ref().filter(|_| self.fresh_entity) {
            if entity.is_owner {
                batch.expect_absent::<Entity>("is_owner", &true);
            }
            batch.put(entity);
        }
        if self.fresh_identity {
            batch.put(&self.identity);
        }
        if self.fresh_salt {
            batch.put(&self.salt);
        } else {
            batch.expect_present::<Salt>("person", &self.salt.person);
        }
    }
}

/// The owner, at their terminal. Whoever is the operating system's user that owns the house is the owner.
pub(crate) async fn owner(desk: &Desk, user: &User, name: &str) -> Result<Person, StoreError> {
    let name = Some(name).filter(|name| !name.is_empty()).map(String::from).or_else(|| user.name.clone());
    let entity = |id, now| Entity {
        id,
        kind: EntityKind::Person,
        name: name.clone(),
        is_owner: true,
        relationship: None,
        trust: None,
        created_at: now,
    };
    let known = desk.ledger.owner().await?;
    let (entity, fresh_entity) =
        known.map_or_else(|| (entity(desk.id(), desk.now()), true), |known| (known, false));
    person(desk, TERMINAL, &format!("uid:{}", user.id), Some((entity, fresh_entity))).await
}

/// An agent of this house, as somebody who speaks.
pub(crate) async fn agent(desk: &Desk, name: &str) -> Result<Person, StoreError> {
    person(desk, "system", &format!("agent:{name}"), None).await
}

/// Whoever wrote to us from outside.
pub(crate) async fn sender(desk: &Desk, platform: &str, identifier: &str) -> Result<Person, StoreError> {
    person(desk, platform, identifier, None).await
}

async fn person(
    desk: &Desk,
    platform: &str,
    identifier: &str,
    behind: Option<(Entity, bool)>,
) -> Result<Person, StoreError> {
    let known = desk.ledger.identity_of(platform, identifier).await?;
    let fresh_identity = known.is_none();
    // Nobody outside can name these: whoever speaks here is the owner at their terminal, or the house.
    let own = RESERVED_PLATFORMS.contains(&platform);
    let identity = known.unwrap_or_else(|| Identity {
        id: desk.id(),
        platform: platform.into(),
        identifier: identifier.into(),
        entity_id: behind.as_ref().map(|(entity, _)| entity.id),
        account: None,
        first_seen: desk.now(),
        is_owned: own,
        is_verified: own,
    });
    let (entity, fresh_entity) = match behind {
        Some((entity, fresh)) => (Some(entity), fresh),
        None => match identity.entity_id {
            Some(id) => (desk.ledger.entity(id).await?, false),
            None => (None, false),
        },
    };
    // Words are kept under the address that said them, so they go with it, whoever it is linked to meanwhile, and a chain
    // has one salt from its first word to its last. The owner's own, at their terminal, are the owner's.
    let owner = entity.as_ref().filter(|_| own);
    let name = owner.map_or_else(|| identity.id.to_string(), |owner| owner.id.to_string());
    let known = desk.ledger.salt_of(&name).await?;
    let fresh_salt = known.is_none();
    let salt = known.unwrap_or_else(|| Salt { person: name, salt: new_salt(desk) });
    Ok(Person { identity, entity, salt, fresh_identity, fresh_entity, fresh_salt })
}

/// 256 random bits.
pub(super) fn new_salt(desk: &Desk) -> SaltBytes {
    let (high, low) = (desk.ids.bits(), desk.ids.bits());
    SaltBytes::new(Digest::of_parts(&[b"regent/salt/", &high.to_be_bytes(), &low.to_be_bytes()]))
}
