use domain::id::{EntityId, IdentityId, PlaceId};

use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{ActivePolicies, Entity, EntityTag, Identity, Place, PolicySwitch, Salt};
use crate::store::StoreError;

impl Ledger {
    /// # Errors
    /// If the database cannot be read.
    pub async fn owner(&self) -> Result<Option<Entity>, StoreError> {
        self.first(Select::by("is_owner", &true)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn entity(&self, id: EntityId) -> Result<Option<Entity>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn identity(&self, id: IdentityId) -> Result<Option<Identity>, StoreError> {
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
        let select = Select::by("platform", &platform.to_owned());
        self.first(select.filter("identifier", Op::Eq, &identifier.to_owned())).await
    }

    /// Everybody, in the order in which they were met.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn entities(&self) -> Result<Vec<Entity>, StoreError> {
        self.select(Select::all().ascending("created_at")).await
    }

    /// The addresses of somebody, in the order in which they were met.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn identities_of(&self, entity: EntityId) -> Result<Vec<Identity>, StoreError> {
        self.select(Select::by("entity_id", &entity).ascending("first_seen")).await
    }

    /// What the owner has said of somebody, in order.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn tags_of(&self, entity: EntityId) -> Result<Vec<String>, StoreError> {
        let tags: Vec<EntityTag> = self.select(Select::by("entity_id", &entity).ascending("tag")).await?;
        Ok(tags.into_iter().map(|tag| tag.tag).collect())
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn active_policies(&self, kind: &str) -> Result<Option<ActivePolicies>, StoreError> {
        self.first(Select::by("kind", &kind.to_owned())).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn policy_switches(&self) -> Result<Vec<PolicySwitch>, StoreError> {
        self.select(Select::all().ascending("name")).await
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
