use domain::id::{IdentityId, PlaceId};

use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{Entity, Identity, Place, Salt};
use crate::store::StoreError;

impl Ledger {
    /// # Errors
    /// If the database cannot be read.
    pub async fn owner(&self) -> Result<Option<Entity>, StoreError> {
        self.first(Select::by("is_owner", &true)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn entity(&self, id: domain::id::EntityId) -> Result<Option<Entity>, StoreError> {
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
