use domain::id::{EntityId, IdentityId, PlaceId};

use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{ActivePolicies, Entity, EntityTag, Identity, Place, PolicySwitch, Salt};
use crate::store::StoreError;
use crate::value::Cell as _;

impl Ledger {
    /// # Errors
    /// If the database cannot be read.
    pub async fn owner(&self) -> Result<Option<Entity>, StoreError> {
        Ok(self.sealed().await?.into_iter().find(|entity: &Entity| entity.is_owner))
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn entity(&self, id: EntityId) -> Result<Option<Entity>, StoreError> {
        self.sealed_by_key(Select::by("id", &id), &[id.to_value()]).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn identity(&self, id: IdentityId) -> Result<Option<Identity>, StoreError> {
        Ok(self.sealed_where(Select::by("id", &id).limit(1)).await?.pop())
    }

    /// The same for display: whoever wrote it.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn shown_identity(&self, id: IdentityId) -> Result<Option<Identity>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn place(&self, id: PlaceId) -> Result<Option<Place>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn identity_of(
        &self,
        platform: &str,
        identifier: &str,
    ) -> Result<Option<Identity>, StoreError> {
        let (platform, identifier) = (platform.to_owned(), identifier.to_owned());
        let select = Select::by("platform", &platform).filter("identifier", Op::Eq, &identifier);
        self.sealed_by_key(select, &[platform.to_value(), identifier.to_value()]).await
    }

    /// Everybody, in the order in which they were met.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn entities(&self) -> Result<Vec<Entity>, StoreError> {
        let mut entities: Vec<Entity> = self.sealed().await?;
        entities.sort_by_key(|entity| entity.created_at);
        Ok(entities)
    }

    /// The addresses of somebody, in the order in which they were met.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn identities_of(&self, entity: EntityId) -> Result<Vec<Identity>, StoreError> {
        self.sealed_where(Select::by("entity_id", &entity).ascending("first_seen")).await
    }

    /// What the owner has said of somebody, in order.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn tags_of(&self, entity: EntityId) -> Result<Vec<String>, StoreError> {
        let tags = self.sealed::<EntityTag>().await?.into_iter().filter(|tag| tag.entity_id == entity);
        let mut tags: Vec<String> = tags.map(|tag| tag.tag).collect();
        tags.sort_unstable();
        Ok(tags)
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn active_policies(&self, kind: &str) -> Result<Option<ActivePolicies>, StoreError> {
        Ok(self.sealed().await?.into_iter().find(|set: &ActivePolicies| set.kind == kind))
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn policy_switches(&self) -> Result<Vec<PolicySwitch>, StoreError> {
        let mut switches: Vec<PolicySwitch> = self.sealed().await?;
        switches.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(switches)
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn salt_of(&self, person: &str) -> Result<Option<Salt>, StoreError> {
        self.first(Select::by("person", &person.to_owned())).await
    }

    /// The same place as this one, whatever its id.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn place_like(&self, like: &Place) -> Result<Option<Place>, StoreError> {
        let select = Select::by("platform", &like.platform)
            .filter("account", Op::Eq, &like.account)
            .filter("container", Op::Eq, &like.container)
            .filter("thread", Op::Eq, &like.thread);
        self.first(select).await
    }
}
