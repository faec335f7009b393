//! Who is known here: people, the addresses they write from, and how far they are trusted. Only the owner, at their terminal,
//! says any of it; nothing that comes in does.

mod access_requests;
mod addresses;
mod forget;
mod view;
pub(crate) mod words;

use std::collections::BTreeSet;

use domain::Trust;
use domain::id::EntityId;
use ledger::records::{Entity, EntityKind, EntityTag, Identity};
use ledger::{AuditEvent, Batch, Found, Select, audit_event};
use serde_json::{Value, json};

pub use access_requests::{
    AccessRequestAnswer, AccessRequestView, AccessRequests, PersonDetails, STRANGER_BECOMES, WaitingMessage,
};
pub use addresses::IdentityStatus;
pub use forget::{Counts, Forget, Forgotten};
pub use view::{AddressView, Because, PersonView};
use words::{TAGS, bad};

use kernel::Services;
use kernel::parties::{self, Party};
use kernel::people_revision::{PeopleRevision, REVISION_TRIES};

use crate::App;
use addresses::is_forgotten;
use kernel::{Code, Problem};

/// How the owner is named where somebody is.
const OWNER: &str = "owner";
const ABSENT: &str = "the owner has not been here yet";

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

/// What is to be different about somebody; nothing stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub relationship: Option<Option<String>>,
    pub trust: Option<Option<Trust>>,
    pub tags: Vec<String>,
    pub no_tags: Vec<String>,
}

/// Somebody, and what has to be written if nobody has met them yet: the owner of a new house.
struct Who {
    entity: Entity,
    new: Option<Party>,
}

/// The people of an instance.
#[derive(Clone, Copy, Debug)]
pub struct People<'a> {
    pub(crate) app: &'a App,
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

    /// Says whose an address is; one that somebody wrote from already, or one that they will write from.
    ///
    /// # Errors
    /// If nobody is called like this, it cannot be an address, it is somebody else's, it would speak for the owner and is not
    /// verified, or the ledger fails.
    #[tracing::instrument(level = "info", name = "people.link", skip_all)]
    pub async fn link(self, who: &str, address: &str, surety: IdentityStatus) -> Result<PersonView, Problem> {
        let address = words::address(address)?;
        let services = self.app.kernel.services().await?;
        for _ in 0..REVISION_TRIES {
            let (turn, mut batch) = (PeopleRevision::begin(&services).await?, services.batch());
            let Who { entity, new } = self.who(&services, who).await?;
            if let Some(new) = new {
                new.enter(&mut batch);
            }
            self.linking(&services, address, &entity, surety, &mut batch).await?;
            if self.is_written(&services, &turn, batch).await? {
                return view::person(&services.ledger, entity).await;
            }
        }
        Err(busy())
    }

    /// Takes a link back. What was written from this address stays with the address.
    ///
    /// # Errors
    /// If it is nobody's, or the ledger fails.
    #[tracing::instrument(level = "info", name = "people.unlink", skip_all)]
    pub async fn unlink(self, address: &str) -> Result<AddressView, Problem> {
        let (platform, identifier) = words::address(address)?;
        let services = self.app.kernel.services().await?;
        let free = || nobody(format!("`{address}` is linked to nobody"));
        for _ in 0..REVISION_TRIES {
            let (turn, mut batch) = (PeopleRevision::begin(&services).await?, services.batch());
            let identity = services.ledger.identity_of(platform, identifier).await?;
            let linked = identity.and_then(|identity| Some((identity.entity_id?, identity)));
            let (id, identity) = linked.ok_or_else(free)?;
            let entity = services.ledger.entity(id).await?.ok_or_else(free)?;
            let unlinked = addresses::unlink(&services, &identity, &entity, &mut batch).await?;
            if self.is_written(&services, &turn, batch).await? {
                return view::address(&services.ledger, &unlinked).await;
            }
        }
        Err(busy())
    }

    /// Changes what is said of somebody. Nothing is written where it is so already.
    ///
    /// # Errors
    /// If nobody is called like this, a word cannot be used, or the ledger fails.
    #[tracing::instrument(level = "info", name = "people.set", skip_all)]
    pub async fn set(self, who: &str, changes: Changes) -> Result<PersonView, Problem> {
        if changes == Changes::default() {
            return Err(bad("nothing is said that could be changed"));
        }
        if let Some(Some(relationship)) = &changes.relationship {
            words::relationship(relationship)?;
        }
        let (added, removed) = (checked_tags(&changes.tags)?, checked_tags(&changes.no_tags)?);
        if let Some(tag) = added.intersection(&removed).next() {
            return Err(bad(format!("`{tag}` is to be there and not to be there")));
        }
        trusted_at_most(changes.trust.flatten())?;
        let services = self.app.kernel.services().await?;
        for _ in 0..REVISION_TRIES {
            let (turn, mut batch) = (PeopleRevision::begin(&services).await?, services.batch());
            let Who { entity, new } = self.who(&services, who).await?;
            if entity.is_owner && changes.trust.is_some() {
                return Err(bad("the owner is trusted as the owner; that is not changed"));
            }
            if let Some(new) = new {
                new.enter(&mut batch);
            }
            let changed = self.changing(&services, &entity, &changes, (&added, &removed), &mut batch).await?;
            if self.is_written(&services, &turn, batch).await? {
                return view::person(&services.ledger, changed).await;
            }
        }
        Err(busy())
    }

    /// Everybody who is known, in the order in which they were met.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "people.list", skip_all)]
    pub async fn list(self) -> Result<Vec<PersonView>, Problem> {
        view::everybody(self.app.kernel.ledger().await?).await
    }

    /// The addresses that nobody knows the owner of, newest first: as many as asked for, and how many there are.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "people.unknown_senders", skip_all)]
    pub async fn unknown_senders(self, limit: usize) -> Result<(Vec<AddressView>, usize), Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let unknown = view::unknown(ledger).await?;
        let mut views = Vec::new();
        for identity in unknown.iter().take(limit) {
            views.push(view::address(ledger, identity).await?);
        }
        Ok((views, unknown.len()))
    }

    /// # Errors
    /// If nobody is called like this, or the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "people.show", skip_all)]
    pub async fn show(self, who: &str) -> Result<PersonView, Problem> {
        let services = self.app.kernel.services().await?;
        match self.who(&services, who).await? {
            Who { new: Some(_), .. } => Err(nobody(ABSENT)),
            Who { entity, new: None } => view::person(&services.ledger, entity).await,
        }
    }

    /// Whether a change of people is written; if not, somebody else was faster, and everybody is looked at again. One that says
    /// nothing needs no writing.
    async fn is_written(
        self,
        services: &Services,
        turn: &PeopleRevision,
        mut batch: Batch,
    ) -> Result<bool, Problem> {
        if batch.is_empty() {
            return Ok(true);
        }
        turn.take(services, &*self.app.host, &mut batch);
        match services.ledger.commit(batch).await {
            Err(error) if PeopleRevision::is_lost(&error) => Ok(false),
            written => written.map(|_| true).map_err(Problem::from),
        }
    }

    /// Puts a link into a batch, unless it is there; says whose the address is if it is somebody else's.
    async fn linking(
        self,
        services: &Services,
        (platform, identifier): (&str, &str),
        entity: &Entity,
        surety: IdentityStatus,
        batch: &mut Batch,
    ) -> Result<(), Problem> {
        let identity = addresses::address(services, platform, identifier).await?;
        if identity.entity_id == Some(entity.id)
            && (identity.is_verified || surety == IdentityStatus::Unverified)
        {
            return Ok(());
        }
        let Err(problem) = addresses::link(services, &identity, entity, surety, batch).await else {
            return Ok(());
        };
        let address = format!("{platform}:{identifier}");
        let typed = words::typed(&address);
        Err(match (problem.code, identity.entity_id) {
            (Code::PERSON_TAKEN, Some(other)) => {
                let whose = self.app.kernel.short(other).await?;
                let name = services.ledger.entity(other).await?.and_then(|other| other.name);
                let whose = name.map_or_else(|| whose.clone(), |name| format!("{name}, {whose}"));
                Problem { what: format!("`{address}` belongs to {whose}"), ..problem }
                    .remedy(format!("regent people unlink {typed}"))
            }
            (Code::UNVERIFIED, _) => problem.remedy(format!("regent people link owner {typed} --verified")),
            _ => problem.remedy("regent people list"),
        })
    }

    async fn changing(
        self,
        services: &Services,
        entity: &Entity,
        changes: &Changes,
        (added, removed): (&BTreeSet<String>, &BTreeSet<String>),
        batch: &mut Batch,
    ) -> Result<Entity, Problem> {
        let after = Entity {
            relationship: changes.relationship.clone().unwrap_or_else(|| entity.relationship.clone()),
            trust: changes.trust.unwrap_or(entity.trust),
            ..entity.clone()
        };
        let before: BTreeSet<String> = services.ledger.tags_of(entity.id).await?.into_iter().collect();
        let tags: BTreeSet<String> =
            before.union(added).filter(|tag| !removed.contains(*tag)).cloned().collect();
        if tags.len() > TAGS {
            return Err(bad(format!("nobody has more than {TAGS} tags")));
        }
        let mut said: Vec<(&str, Value)> = Vec::new();
        if after.trust != entity.trust {
            said.push(("trust", json!({ "from": entity.trust, "to": after.trust })));
        }
        if after.relationship != entity.relationship {
            let how = if after.relationship.is_some() { "set" } else { "taken away" };
            said.push(("relationship", how.into()));
        }
        if tags != before {
            let (added, removed) = (tags.difference(&before).count(), before.difference(&tags).count());
            said.push(("tags", json!({ "added": added, "removed": removed })));
            batch.erase::<EntityTag, _>("entity_id", &[entity.id]);
            put_tags(batch, entity.id, &tags);
        }
        if !said.is_empty() {
            let changed = AuditEvent::PersonChanged(&after).entry(audit_event::OWNER, services.now());
            let changed = said.into_iter().fold(changed, |entry, (field, value)| entry.with(field, value));
            batch.put(&after).audit(changed);
        }
        Ok(after)
    }

    /// Somebody who is known already.
    pub(super) async fn known_person(self, services: &Services, who: &str) -> Result<Entity, Problem> {
        Ok(self.who(services, who).await?.entity)
    }

    /// Enters somebody new, of whom the owner says only this.
    pub(super) async fn new_person(
        self,
        services: &Services,
        name: &str,
        relationship: &str,
        batch: &mut Batch,
    ) -> Result<Entity, Problem> {
        words::name(name)?;
        words::relationship(relationship)?;
        let entity = Entity {
            id: services.id(),
            kind: EntityKind::Person,
            name: Some(name.into()),
            is_owner: false,
            relationship: Some(relationship.into()),
            trust: None,
            created_at: services.now(),
        };
        self.is_free(services, &entity).await?;
        let added = AuditEvent::PersonAdded { person: &entity, tags: 0 };
        batch.put(&entity).audit(added.entry(audit_event::OWNER, services.now()));
        Ok(entity)
    }

    /// What somebody is called whom nobody has given a name: their address, as far as it can be a name.
    pub(super) async fn name_for(self, services: &Services, identity: &Identity) -> Result<String, Problem> {
        let name = identity.identifier.replace(':', ".");
        let taken: Option<Entity> = services.ledger.first(Select::by("name", &Some(name.clone()))).await?;
        if words::name(&name).is_ok() && taken.is_none() {
            return Ok(name);
        }
        Ok(format!("{} {}", identity.platform, self.app.kernel.short(identity.id).await?))
    }

    /// No other person has this name.
    async fn is_free(self, services: &Services, entity: &Entity) -> Result<(), Problem> {
        let namesake: Option<Entity> = services.ledger.first(Select::by("name", &entity.name)).await?;
        let Some(other) = namesake else { return Ok(()) };
        let short = self.app.kernel.short(other.id).await?;
        let name = other.name.unwrap_or_default();
        Err(Problem::new(Code::PERSON_TAKEN, format!("there is a `{name}` already: {short}"))
            .safe("nothing was changed")
            .remedy(format!("regent people show {short}")))
    }

    /// Somebody by `owner`, exact name, address, or any unique beginning of an id.
    async fn who(self, services: &Services, text: &str) -> Result<Who, Problem> {
        let known = |entity| Who { entity, new: None };
        if text == OWNER {
            if let Some(entity) = services.ledger.owner().await? {
                return Ok(known(entity));
            }
            let name = self.app.settings.get("owner.name");
            let new = parties::owner(services, &self.app.host.user(), name).await?;
            let entity = new.entity.clone().ok_or_else(|| nobody(ABSENT))?;
            return Ok(Who { entity, new: Some(new) });
        }
        let entity = match self.find_by_name(text).await? {
            Some(entity) => Some(entity),
            None => self.by_address_or_id(services, text).await?,
        };
        let entity = entity.filter(|entity| !is_forgotten(entity));
        entity.map(known).ok_or_else(|| nobody(format!("nobody here is called `{text}`")))
    }

    /// Somebody by exact name.
    pub(super) async fn find_by_name(self, name: &str) -> Result<Option<Entity>, Problem> {
        let select = Select::by("name", &Some(name.to_owned())).limit(2);
        let called: Vec<Entity> = self.app.kernel.ledger().await?.select(select).await?;
        match <[Entity; 1]>::try_from(called) {
            Ok([entity]) => Ok(Some(entity)),
            Err(several) if several.is_empty() => Ok(None),
            Err(_) => {
                let what = format!("more than one is called `{name}`; name one by id");
                Err(Problem::new(Code::AMBIGUOUS_ID, what).remedy("regent people list"))
            }
        }
    }

    async fn by_address_or_id(self, services: &Services, text: &str) -> Result<Option<Entity>, Problem> {
        let identity = match text.split_once(':') {
            Some((platform, identifier)) => services.ledger.identity_of(platform, identifier).await?,
            None => match self.app.kernel.find(text).await {
                Ok(Found::Entity(entity)) => return Ok(Some(*entity)),
                Ok(Found::Identity(identity)) => Some(*identity),
                Err(problem) if problem.code != Code::NO_SUCH_ID => return Err(problem),
                Ok(_) | Err(_) => None,
            },
        };
        match identity.and_then(|identity| identity.entity_id) {
            Some(id) => Ok(services.ledger.entity(id).await?),
            None => Ok(None),
        }
    }
}

fn busy() -> Problem {
    Problem::new(Code::DATABASE_BUSY, "others change people all the time").safe("nothing was changed")
}

fn nobody(what: impl Into<String>) -> Problem {
    Problem::new(Code::NOBODY, what).safe("nothing was changed").remedy("regent people list")
}

fn checked_tags(tags: &[String]) -> Result<BTreeSet<String>, Problem> {
    tags.iter().try_for_each(|tag| words::tag(tag))?;
    if tags.len() > TAGS {
        return Err(bad(format!("nobody has more than {TAGS} tags")));
    }
    Ok(tags.iter().cloned().collect())
}

/// Operator is the owner's, system the house's.
fn trusted_at_most(trust: Option<Trust>) -> Result<(), Problem> {
    match trust {
        Some(trust) if trust > Trust::Verified => Err(bad(format!(
            "nobody but the owner and the house is trusted as `{trust}`; at most `verified`"
        ))),
        Some(_) | None => Ok(()),
    }
}

fn put_tags(batch: &mut Batch, entity_id: EntityId, tags: &BTreeSet<String>) {
    for tag in tags {
        batch.put(&EntityTag { entity_id, tag: tag.clone() });
    }
}
