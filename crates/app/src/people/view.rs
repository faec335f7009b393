//! Who is known, as it is shown.

use domain::id::{EntityId, IdentityId};
use domain::{Time, Trust};
use ledger::records::{Entity, EntityKind, Identity};
use ledger::{Ledger, Op, Select};
use serde::Serialize;

use super::addresses::is_forgotten;
use domain::event::RESERVED_PLATFORMS;
use kernel::Problem;

/// Why somebody is trusted as far as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    Owner,
    /// The owner said so.
    Set,
    /// They write from an address that is verified.
    VerifiedAddress,
    Known,
    /// A machine that reports something.
    Webhook,
    /// The house itself.
    System,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PersonView {
    pub id: EntityId,
    #[serde(skip)]
    pub short: String,
    pub kind: EntityKind,
    /// Nothing for an owner who gave none.
    pub name: Option<String>,
    pub is_owner: bool,
    pub relationship: Option<String>,
    /// As far as a message from the best of their addresses is trusted, unless a policy lowers it.
    pub trust: Trust,
    pub because: Because,
    pub tags: Vec<String>,
    pub addresses: Vec<AddressView>,
    /// When the first of their addresses was met, or they were added.
    pub first_seen: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddressView {
    pub id: IdentityId,
    #[serde(skip)]
    pub short: String,
    pub address: String,
    pub verified: bool,
    /// As far as a message from here is trusted; nothing if nobody knows whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    pub first_seen: Time,
}

/// How far somebody is trusted, writing from an address that is verified or not (03 §1 of the specification).
fn trust(entity: &Entity, verified: bool) -> (Trust, Because) {
    match (entity.is_owner, entity.trust, entity.kind) {
        (true, ..) => (Trust::Operator, Because::Owner),
        (false, Some(set), _) => (set, Because::Set),
        (false, None, EntityKind::Webhook) => (Trust::Untrusted, Because::Webhook),
        (false, None, EntityKind::System) => (Trust::System, Because::System),
        (false, None, _) if verified => (Trust::Verified, Because::VerifiedAddress),
        (false, None, _) => (Trust::Standard, Because::Known),
    }
}

pub(super) async fn person(ledger: &Ledger, entity: Entity) -> Result<PersonView, Problem> {
    let mut identities = ledger.identities_of(entity.id).await?;
    identities.sort_by_cached_key(|one| (one.first_seen, one.platform.clone(), one.identifier.clone()));
    let known: Vec<&Identity> = identities.iter().filter(|identity| !identity.is_erased()).collect();
    let (best, because) = trust(&entity, known.iter().any(|identity| identity.is_verified));
    let mut addresses = Vec::new();
    for identity in &known {
        let (trust, _) = trust(&entity, identity.is_verified);
        addresses.push(AddressView { trust: Some(trust), ..address(ledger, identity).await? });
    }
    let first = known.iter().map(|identity| identity.first_seen).min();
    Ok(PersonView {
        short: ledger.short(&entity.id.to_string()).await?,
        id: entity.id,
        kind: entity.kind,
        name: entity.name,
        is_owner: entity.is_owner,
        relationship: entity.relationship,
        trust: best,
        because,
        tags: ledger.tags_of(entity.id).await?,
        addresses,
        first_seen: first.map_or(entity.created_at, |first| first.min(entity.created_at)),
    })
}

pub(super) async fn address(ledger: &Ledger, identity: &Identity) -> Result<AddressView, Problem> {
    Ok(AddressView {
        id: identity.id,
        short: ledger.short(&identity.id.to_string()).await?,
        address: format!("{}:{}", identity.platform, identity.identifier),
        verified: identity.is_verified,
        trust: None,
        first_seen: identity.first_seen,
    })
}

/// Everybody who was not forgotten, in the order in which they were met.
pub(super) async fn everybody(ledger: &Ledger) -> Result<Vec<PersonView>, Problem> {
    let mut people = Vec::new();
    for entity in ledger.entities().await?.into_iter().filter(|entity| !is_forgotten(entity)) {
        people.push(person(ledger, entity).await?);
    }
    Ok(people)
}

/// Addresses that somebody wrote from, and nobody knows whose they are; newest first.
pub(super) async fn unknown(ledger: &Ledger) -> Result<Vec<Identity>, Problem> {
    const PAGE: u32 = 1_024;
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let some = Select::<Identity>::by("entity_id", &None::<EntityId>).filter("id", Op::Gt, &after);
        let page = ledger.select(some.ascending("id").limit(PAGE)).await?;
        let Some(last) = page.last() else { break };
        after = last.id.to_string();
        let outside = |identity: &Identity| {
            !identity.is_erased() && !RESERVED_PLATFORMS.contains(&identity.platform.as_str())
        };
        found.extend(page.into_iter().filter(outside));
    }
    found.sort_by_key(|identity| std::cmp::Reverse(identity.first_seen));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{Because, trust};
    use domain::id::EntityId;
    use domain::{Time, Trust};
    use ledger::records::{Entity, EntityKind};

    #[test]
    fn how_far_somebody_is_trusted_and_why() {
        let somebody = |kind, is_owner, trust| Entity {
            id: EntityId::from_bits(1),
            kind,
            name: Some("somebody".into()),
            is_owner,
            relationship: None,
            trust,
            created_at: Time::from_micros(0),
        };
        let person = |trust| somebody(EntityKind::Person, false, trust);
        let table = [
            (somebody(EntityKind::Person, true, None), false, Trust::Operator, Because::Owner),
            (person(None), false, Trust::Standard, Because::Known),
            (person(None), true, Trust::Verified, Because::VerifiedAddress),
            (person(Some(Trust::Hostile)), true, Trust::Hostile, Because::Set),
            (person(Some(Trust::Verified)), false, Trust::Verified, Because::Set),
            (somebody(EntityKind::Webhook, false, None), true, Trust::Untrusted, Because::Webhook),
            (
                somebody(EntityKind::Webhook, false, Some(Trust::Standard)),
                false,
                Trust::Standard,
                Because::Set,
            ),
            (somebody(EntityKind::Agent, false, None), false, Trust::Standard, Because::Known),
        ];
        for (entity, verified, expected, because) in table {
            assert_eq!(trust(&entity, verified), (expected, because), "{entity:?}");
        }
    }
}
