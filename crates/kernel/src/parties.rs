//! Whose words these are: the identity behind an address, the person behind the identity, and the salt that makes
//! their content erasable.

use domain::Digest;
use domain::event::{RESERVED_PLATFORMS, TERMINAL};
use ledger::records::{Entity, EntityKind, Identity, Salt, SaltBytes};
use ledger::{Batch, StoreError};

use crate::host::OsUser;
use crate::services::Services;

/// Somebody who speaks, and which of their records are new.
#[derive(Clone, Debug)]
pub struct Party {
    pub identity: Identity,
    pub entity: Option<Entity>,
    pub salt: Salt,
    fresh_identity: bool,
    fresh_entity: bool,
    fresh_salt: bool,
}

impl Party {
    /// The same person, who is known from now on: the caller writes that down.
    pub fn known_as(self, identity: Identity, entity: Entity) -> Self {
        Self { identity, entity: Some(entity), fresh_identity: false, fresh_entity: false, ..self }
    }

    /// The same person, once a batch on its way to the disk writes what was new.
    #[must_use]
    pub(crate) fn as_written(&self) -> Self {
        Self { fresh_identity: false, fresh_entity: false, fresh_salt: false, ..self.clone() }
    }

    /// Whether something about them is not written yet.
    pub(crate) const fn is_new(&self) -> bool {
        self.fresh_identity || self.fresh_entity || self.fresh_salt
    }

    /// Writes what is new, and expects what is not to be there still: whoever was erased a moment ago is somebody new. Two processes may meet somebody for the first time at once: then one batch is
    /// refused as a duplicate, and whoever looks again finds the other's records.
    pub fn enter(&self, batch: &mut Batch) {
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
pub async fn owner(services: &Services, user: &OsUser, name: &str) -> Result<Party, StoreError> {
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
    let known = services.ledger.owner().await?;
    let (entity, fresh_entity) =
        known.map_or_else(|| (entity(services.id(), services.now()), true), |known| (known, false));
    person(services, TERMINAL, &format!("uid:{}", user.id), Some((entity, fresh_entity))).await
}

/// An agent of this house, as somebody who speaks.
pub async fn agent(services: &Services, name: &str) -> Result<Party, StoreError> {
    person(services, "system", &format!("agent:{name}"), None).await
}

/// Whoever wrote to us from outside.
pub async fn sender(services: &Services, platform: &str, identifier: &str) -> Result<Party, StoreError> {
    person(services, platform, identifier, None).await
}

async fn person(
    services: &Services,
    platform: &str,
    identifier: &str,
    behind: Option<(Entity, bool)>,
) -> Result<Party, StoreError> {
    let known = services.ledger.identity_of(platform, identifier).await?;
    let fresh_identity = known.is_none();
    // Adapters cannot name these: only the owner at their terminal, or the instance itself, sends under them.
    let own = RESERVED_PLATFORMS.contains(&platform);
    let identity = known.unwrap_or_else(|| Identity {
        id: services.id(),
        platform: platform.into(),
        identifier: identifier.into(),
        entity_id: behind.as_ref().map(|(entity, _)| entity.id),
        account: None,
        first_seen: services.now(),
        is_owned: own,
        is_verified: own,
    });
    let (entity, fresh_entity) = match behind {
        Some((entity, fresh)) => (Some(entity), fresh),
        None => match identity.entity_id {
            Some(id) => (services.ledger.entity(id).await?, false),
            None => (None, false),
        },
    };
    // Words are kept under the address that said them, so they go with it, whoever it is linked to meanwhile, and a chain
    // has one salt from its first word to its last. The owner's own, at their terminal, are the owner's.
    let owner = entity.as_ref().filter(|_| own);
    let name = owner.map_or_else(|| identity.id.to_string(), |owner| owner.id.to_string());
    let known = services.ledger.salt_of(&name).await?;
    let fresh_salt = known.is_none();
    let salt = known.unwrap_or_else(|| Salt { person: name, salt: new_salt(services) });
    Ok(Party { identity, entity, salt, fresh_identity, fresh_entity, fresh_salt })
}

/// 256 random bits.
pub fn new_salt(services: &Services) -> SaltBytes {
    let (high, low) = (services.ids.bits(), services.ids.bits());
    SaltBytes::new(Digest::of_parts(&[b"regent/salt/", &high.to_be_bytes(), &low.to_be_bytes()]))
}
