//! `people add`.

use ledger::AuditEvent;
use ledger::audit_event;
use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use domain::Trust;
use kernel::Problem;
use kernel::people_revision::{PeopleRevision, REVISION_TRIES};
use ledger::records::{Entity, EntityKind};
use schemars::JsonSchema;
use serde::Deserialize;

use super::addresses::IdentityStatus;
use super::words::{self, bad};
use super::{People, PersonView, busy, checked_tags, put_tags, trusted_at_most, view};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Make somebody known
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct AddPerson {
    /// What you call them; no two have the same name
    pub name: String,
    /// What they are to you: partner, family, friend, or any other word
    #[arg(long, value_name = "WORD")]
    pub relationship: Option<String>,
    /// What policies may ask for, like role:billing; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    #[serde(rename = "tag", default)]
    pub tags: Vec<String>,
    /// How far, if not as everybody who is known
    #[arg(long, value_name = "TRUST")]
    pub trust: Option<AssignableTrust>,
    /// What they are
    #[arg(long, value_name = "KIND", default_value = "person")]
    #[serde(default)]
    pub kind: PersonKind,
    /// An address of theirs; may be given again
    #[arg(long = "link", value_name = "PLATFORM:IDENTIFIER")]
    #[serde(rename = "link", default)]
    pub addresses: Vec<String>,
}

/// The trust that the owner can give to others: `operator` is the owner's own, `system` the instance's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AssignableTrust {
    Hostile,
    Untrusted,
    Standard,
    Verified,
}

impl From<AssignableTrust> for Trust {
    fn from(trust: AssignableTrust) -> Self {
        match trust {
            AssignableTrust::Hostile => Self::Hostile,
            AssignableTrust::Untrusted => Self::Untrusted,
            AssignableTrust::Standard => Self::Standard,
            AssignableTrust::Verified => Self::Verified,
        }
    }
}

/// The kinds of people and programs that the owner can add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PersonKind {
    #[default]
    Person,
    Webhook,
    Agent,
    Persona,
}

impl From<PersonKind> for EntityKind {
    fn from(kind: PersonKind) -> Self {
        match kind {
            PersonKind::Person => Self::Person,
            PersonKind::Webhook => Self::Webhook,
            PersonKind::Agent => Self::Agent,
            PersonKind::Persona => Self::Persona,
        }
    }
}

impl Operation for AddPerson {
    const SPEC: OperationSpec = OperationSpec::new(
        "people add",
        OperationAccess::ADMIN,
        &[
            "regent people add Lea --relationship partner --link demo:lea",
            "regent people add \"Billing desk\" --kind webhook --tag role:billing",
        ],
    )
    .route(HttpMethod::Post, "/people");
    type Output = PersonView;

    async fn run(self, context: &OperationContext<'_>) -> Result<PersonView, OperationError> {
        let Self { name, relationship, tags, trust, kind, addresses } = self;
        let (kind, trust) = (kind.into(), trust.map(Into::into));
        let new = NewPerson { name, kind, relationship, tags, trust, addresses };
        Ok(context.app.people().add(new).await?)
    }
}

/// Somebody as the owner describes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPerson {
    pub name: String,
    pub kind: EntityKind,
    pub relationship: Option<String>,
    pub tags: Vec<String>,
    /// Nothing: as everybody who is known.
    pub trust: Option<Trust>,
    pub addresses: Vec<String>,
}

impl People<'_> {
    /// Makes somebody known.
    ///
    /// # Errors
    /// If a word cannot be used, the name or an address is somebody's already, or the ledger fails. Nothing was written.
    #[tracing::instrument(level = "info", name = "people.add", skip_all)]
    pub async fn add(self, new: NewPerson) -> Result<PersonView, Problem> {
        words::name(&new.name)?;
        new.relationship.as_deref().map_or(Ok(()), words::relationship)?;
        let tags = checked_tags(&new.tags)?;
        trusted_at_most(new.trust)?;
        if new.kind == EntityKind::System {
            return Err(bad("what is the house's own is not added"));
        }
        let given: BTreeSet<&str> = new.addresses.iter().map(String::as_str).collect();
        let addresses: Vec<_> = given.into_iter().map(words::address).collect::<Result<_, _>>()?;
        let services = self.app.kernel.services().await?;
        let entity = Entity {
            id: services.id(),
            kind: new.kind,
            name: Some(new.name),
            is_owner: false,
            relationship: new.relationship,
            trust: new.trust,
            created_at: services.now(),
        };
        for _ in 0..REVISION_TRIES {
            let (turn, mut batch) = (PeopleRevision::begin(&services).await?, services.batch());
            self.is_free(&services, &entity).await?;
            let added = AuditEvent::PersonAdded { person: &entity, tags: tags.len() };
            batch.put(&entity).audit(added.entry(audit_event::OWNER, services.now()));
            put_tags(&mut batch, entity.id, &tags);
            for (platform, identifier) in &addresses {
                self.linking(
                    &services,
                    (platform, identifier),
                    &entity,
                    IdentityStatus::Unverified,
                    &mut batch,
                )
                .await?;
            }
            if self.is_written(&services, &turn, batch).await? {
                return view::person(&services.ledger, entity).await;
            }
        }
        Err(busy())
    }
}
