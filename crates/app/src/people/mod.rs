//! Who is known here: people, the addresses they write from, and how far they are trusted. Only the owner, at their terminal,
//! says any of it; nothing that comes in does.

mod access_requests;
mod add;
mod addresses;
mod erasure;
mod forget;
mod link;
mod list;
mod page;
mod set;
mod show;
mod unlink;
mod view;
pub(crate) mod words;

use ledger::AuditEvent;
use ledger::audit_event;
use std::collections::BTreeSet;

use domain::Trust;
use domain::id::EntityId;
use ledger::records::{Entity, EntityKind, EntityTag, Identity};
use ledger::{Batch, Found, Select};

pub use access_requests::{
    AccessRequestAnswer, AccessRequestView, AccessRequests, PersonDetails, STRANGER_BECOMES, WaitingMessage,
};
pub use add::{AddPerson, AssignableTrust, NewPerson, PersonKind};
pub use addresses::IdentityStatus;
pub use erasure::{Counts, Forget, Forgotten};
pub use forget::ForgetPerson;
pub use link::LinkAddress;
pub use list::{ListPeople, PeopleList};
pub use set::{Changes, SetPerson};
pub use show::ShowPerson;
pub use unlink::{UnlinkAddress, UnlinkedAddress};
pub use view::{AddressView, Because, PersonView};
pub(crate) use words::check_label;
use words::{TAGS, bad};

use kernel::Services;
use kernel::parties::{self, Party};
use kernel::people_revision::PeopleRevision;

use crate::App;
use crate::operation::{OperationEntry, OperationGroup};
use addresses::is_forgotten;
use kernel::{Code, Problem};

pub const GROUP: OperationGroup = OperationGroup::new(
    "people",
    "Who is known, what they write from, and how far they are trusted",
    &["regent people add Lea --relationship partner --link demo:lea", "regent people list"],
    &[
        OperationEntry::of::<AddPerson>(),
        OperationEntry::of::<LinkAddress>(),
        OperationEntry::of::<UnlinkAddress>(),
        OperationEntry::of::<ListPeople>(),
        OperationEntry::of::<ShowPerson>(),
        OperationEntry::of::<SetPerson>(),
    ],
);

/// The command of one word.
pub const COMMANDS: OperationGroup = OperationGroup::of_one_word(&[OperationEntry::of::<ForgetPerson>()]);

/// How the owner is named where somebody is.
const OWNER: &str = "owner";
const ABSENT: &str = "the owner has not been here yet";

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
