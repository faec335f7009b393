//! The erasure behind `forget`: everything that is kept of one person goes, and what is for ever says no more than that there was somebody.
//!
//! Their words, salts, names, addresses and places are erased in one batch with the entry that says so. A second look
//! shows that nothing is left; then the database's own files are cleaned.

use ledger::AuditEvent;
use ledger::audit_event::OWNER;
use std::collections::BTreeSet;

use domain::event::Direction;
use domain::id::{IdentityId, PlaceId, TaskId};
use domain::task::Status;
use domain::{Digest, Time};
use ledger::records::{AgentTask, Blob, Entity, EntityTag, Event, Identity, Lease, Place, Salt, Watermark};
use ledger::{Batch, CommitError, Entry, Found, Ledger, Op, Refusal, Select};
use serde::Serialize;

use kernel::admit::access_request::KNOCKS;
use kernel::people_revision::PeopleRevision;
use kernel::{Services, jobs};

use super::People;
use crate::instance::KeptBackup;
use kernel::{Code, Problem};

/// Whether it is done, or only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forget {
    DryRun,
    ForGood,
}

/// What goes, or went, by table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub blobs: u64,
    pub salts: u64,
    pub entities: u64,
    pub entity_tags: u64,
    pub entity_identities: u64,
    pub places: u64,
    pub watermarks: u64,
    /// Tasks of theirs of which the kind of request goes too; those that were not over are stopped.
    pub agent_tasks: u64,
}

impl Counts {
    /// By the name of the table: those whose records are declared `Personal`, and the tasks.
    #[must_use]
    pub const fn by_table(&self) -> [(&'static str, u64); 8] {
        [
            ("blobs", self.blobs),
            ("salts", self.salts),
            ("entities", self.entities),
            ("entity_tags", self.entity_tags),
            ("entity_identities", self.entity_identities),
            ("places", self.places),
            ("watermarks", self.watermarks),
            ("agent_tasks", self.agent_tasks),
        ]
    }

    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn plus(self, other: Self) -> Self {
        Self {
            blobs: self.blobs + other.blobs,
            salts: self.salts + other.salts,
            entities: self.entities + other.entities,
            entity_tags: self.entity_tags + other.entity_tags,
            entity_identities: self.entity_identities + other.entity_identities,
            places: self.places + other.places,
            watermarks: self.watermarks + other.watermarks,
            agent_tasks: self.agent_tasks + other.agent_tasks,
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// The entity, or the identity where nobody knows whose it is.
    pub person: String,
    pub dry_run: bool,
    /// How they are written to; only before it is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Nothing at all if nothing was left of them.
    pub gone: Counts,
    /// Events of theirs; their rows stay, and say when something came, not what and from whom.
    pub events: u64,
    /// Whether the database's files hold nothing of it any more; nothing where that was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleaned: Option<bool>,
    /// Backups that were made when they were known: each still holds them.
    pub backups: Vec<KeptBackup>,
}

fn forgotten(somebody: &Somebody, how: Forget, found: Traces, backups: Vec<KeptBackup>) -> Forgotten {
    let dry_run = how == Forget::DryRun;
    let addresses = somebody.identities.iter().filter(|identity| dry_run && !identity.is_erased());
    let first_seen = somebody.identities.iter().map(|identity| identity.first_seen).min();
    // When an unfinished copy was made of what is not known.
    let holds = |backup: &KeptBackup| backup.unfinished || first_seen.is_none_or(|seen| seen <= backup.at);
    Forgotten {
        person: somebody.id(),
        dry_run,
        addresses: addresses.map(|one| format!("{}:{}", one.platform, one.identifier)).collect(),
        gone: found.counts,
        events: found.events,
        cleaned: None,
        backups: backups.into_iter().filter(holds).collect(),
    }
}

/// Everybody that goes together: one entity with all its addresses, or one address that nobody knows the owner of.
struct Somebody {
    entity: Option<Entity>,
    identities: Vec<Identity>,
}

/// What is there of somebody.
struct Traces {
    counts: Counts,
    events: u64,
    places: Vec<Place>,
    watermarks: Vec<Time>,
    tasks: Vec<AgentTask>,
}

/// How often it is looked again when somebody else is at the same things.
const TRIES: usize = 6;
/// Rows that are read at once.
const PAGE: u32 = 1_024;
/// Ids that are asked for at once.
const ASKED: usize = 256;

impl People<'_> {
    /// Erases a person: an entity, an identity, a name, or an address like `demo:lea`. All addresses of the same entity go
    /// together. Done twice, it finds nothing left.
    ///
    /// # Errors
    /// If nobody is called like this, they are part of the house, or a living process works for them; and if the ledger
    /// fails. Then it is done as a whole or not at all.
    #[tracing::instrument(level = "info", name = "people.forget", skip_all)]
    pub async fn forget(self, person: &str, how: Forget) -> Result<Forgotten, Problem> {
        let services = self.app.kernel.services().await?;
        let somebody = match self.somebody(person).await {
            // They may be gone already, and the files not clean yet.
            Err(problem) if problem.code == Code::NOBODY && how == Forget::ForGood => {
                jobs::scrub(&services, &*self.app.host).await?;
                return Err(problem);
            }
            found => found?,
        };
        // Before anything is erased: where they still are has to be known.
        let backups = self.app.host.backups()?;
        if how == Forget::DryRun {
            let found = somebody.look(&services.ledger).await?;
            return Ok(forgotten(&somebody, how, found, backups));
        }
        let mut gone = Counts::default();
        for _ in 0..TRIES {
            // Whoever links an address to them meanwhile makes us look again, and we them.
            let turn = PeopleRevision::begin(&services).await?;
            // Read again: what was erased a moment ago is not put back.
            let somebody = somebody.again(&services.ledger).await?;
            let found = somebody.look(&services.ledger).await?;
            if found.counts.is_nothing() {
                let cleaned = Some(jobs::scrub(&services, &*self.app.host).await?);
                // Another may have been made meanwhile. What was known before counts if that cannot be said now.
                let backups = self.app.host.backups().unwrap_or(backups);
                let found = Traces { counts: gone, ..found };
                return Ok(Forgotten { cleaned, ..forgotten(&somebody, how, found, backups) });
            }
            let mut batch = self.erasing(&services, &somebody, &found).await?;
            turn.take(&services, &*self.app.host, &mut batch);
            match services.ledger.commit(batch).await {
                // Another process was at the same thing at the same moment.
                Err(CommitError::Refused(
                    Refusal::Fenced { .. } | Refusal::Duplicate { .. } | Refusal::Gone { table: KNOCKS, .. },
                )) => {}
                written => {
                    written?;
                    gone = gone.plus(found.counts);
                }
            }
        }
        Err(Problem::new(Code::DATABASE_BUSY, "others write about this person all the time")
            .safe("what was found of them is erased; do it again"))
    }

    async fn somebody(self, text: &str) -> Result<Somebody, Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let nobody = || {
            Problem::new(
                Code::NOBODY,
                format!("nobody here is called `{text}`; if they were, nothing is left of them"),
            )
            .safe("nothing was erased")
            .remedy("regent events list")
        };
        let (entity, identity) = match (self.find_by_name(text).await?, text.split_once(':')) {
            (Some(entity), _) => (Some(entity), None),
            (None, Some((platform, identifier))) => (None, ledger.identity_of(platform, identifier).await?),
            (None, None) => match self.app.kernel.find(text).await {
                Ok(Found::Entity(entity)) => (Some(*entity), None),
                Ok(Found::Identity(identity)) => (None, Some(*identity)),
                Err(problem) if problem.code == Code::AMBIGUOUS_ID => return Err(problem),
                Ok(_) | Err(_) => return Err(nobody()),
            },
        };
        let somebody = match (entity, identity) {
            (Some(entity), _) => Somebody::behind(ledger, entity).await?,
            (None, Some(identity)) => match identity.entity_id {
                Some(id) => match ledger.entity(id).await? {
                    Some(entity) => Somebody::behind(ledger, entity).await?,
                    None => Somebody { entity: None, identities: vec![identity] },
                },
                None => Somebody { entity: None, identities: vec![identity] },
            },
            (None, None) => return Err(nobody()),
        };
        somebody.is_outside()?;
        Ok(somebody)
    }

    /// The one batch: all of it, or nothing.
    async fn erasing(
        self,
        services: &Services,
        somebody: &Somebody,
        found: &Traces,
    ) -> Result<Batch, Problem> {
        let now = services.now();
        let mut batch = services.batch();
        let people = somebody.people();
        batch.erase::<Blob, _>("person", &people).erase::<Salt, _>("person", &people);
        for identity in somebody.identities.iter().filter(|identity| !identity.is_erased()) {
            batch.erase::<Identity, _>("id", &[identity.id]).put(&identity.erased());
        }
        if let Some(entity) = &somebody.entity {
            batch.erase::<EntityTag, _>("entity_id", &[entity.id]).put(&entity.erased());
        }
        for place in &found.places {
            batch.erase::<Place, _>("id", &[place.id]).put(&place.erased());
        }
        batch.erase::<Watermark, _>("at", &found.watermarks);
        for task in &found.tasks {
            self.end(services, task, &mut batch).await?;
        }
        let senders: Vec<IdentityId> = somebody.identities.iter().map(|identity| identity.id).collect();
        for knock in services.ledger.open_knocks_of(&senders).await? {
            self.app.access_requests().end_forgotten(services, &knock, &mut batch).await?;
        }
        let forgotten = AuditEvent::PersonForgotten { person: &somebody.id() }.entry(OWNER, now);
        let counts = found.counts.by_table().into_iter();
        batch.audit(counts.fold(forgotten, |entry, (table, count)| entry.with(table, count)));
        jobs::demand_scrub(services, &*self.app.host, &mut batch).await?;
        Ok(batch)
    }

    /// What a task of theirs was about is not said any more; one that is not over is stopped, and its driver with it.
    async fn end(self, services: &Services, task: &AgentTask, batch: &mut Batch) -> Result<(), Problem> {
        let now = services.now();
        let quiet = AgentTask { task_class: None, ..task.clone() };
        if task.status.is_over() {
            batch.put(&quiet);
            return Ok(());
        }
        let gone = || Problem::new(Code::DATABASE_DAMAGED, "the task's event is gone");
        let event = services.ledger.event(task.payload).await?.ok_or_else(gone)?;
        let lease = self.app.kernel.claim(services, &event).await.map_err(|problem| match problem.code {
            Code::DRIVEN_ELSEWHERE => Problem::new(Code::AT_WORK, problem.what)
                .safe("nothing was erased")
                .remedy("regent tasks list"),
            _ => problem,
        })?;
        let (epoch, subject) = (lease.epoch(), task.task_id.to_string());
        if let Some(seen) = lease.into_seen() {
            batch.expect_lease(subject.clone(), seen);
        }
        let holder = self.app.host.holder();
        batch.put(&Lease { subject, epoch, holder, until: now, beats: 0 });
        let ended = AgentTask { status: Status::Stopped, completed_at: Some(now), ..quiet };
        let entry = AuditEvent::TaskEnded(&ended).entry(OWNER, now).with("forgotten", true);
        let origin_id = Some(task.o_tag);
        batch.put(&ended).audit(Entry { origin_id, vpol_id: task.vpol_id, ..entry });
        Ok(())
    }
}

impl Somebody {
    async fn behind(ledger: &Ledger, entity: Entity) -> Result<Self, Problem> {
        let identities = ledger.select(Select::by("entity_id", &Some(entity.id))).await?;
        Ok(Self { entity: Some(entity), identities })
    }

    /// The same, as they are now: somebody may have linked or unlinked an address meanwhile.
    async fn again(&self, ledger: &Ledger) -> Result<Self, Problem> {
        let ids: Vec<IdentityId> = self.identities.iter().map(|identity| identity.id).collect();
        let identities = ledger.select(Select::<Identity>::any_of("id", &ids)).await?;
        let known = self.entity.as_ref().map(|entity| entity.id);
        let entity = match known.or_else(|| identities.iter().find_map(|identity| identity.entity_id)) {
            Some(id) => ledger.entity(id).await?,
            None => None,
        };
        let Some(entity) = entity else { return Ok(Self { entity: None, identities }) };
        let mut all = Self::behind(ledger, entity).await?;
        all.identities.extend(identities.into_iter().filter(|identity| identity.entity_id.is_none()));
        all.is_outside()?;
        Ok(all)
    }

    /// The owner is the house itself, and its agents are its own.
    fn is_outside(&self) -> Result<(), Problem> {
        let owner = self.entity.as_ref().is_some_and(|entity| entity.is_owner);
        let system = self.identities.iter().any(|identity| identity.platform == "system");
        let what = match (owner, system) {
            (false, false) => return Ok(()),
            (true, _) => "the owner cannot be forgotten: that would be the whole house",
            (false, true) => "the house's own agents cannot be forgotten",
        };
        Err(Problem::new(Code::PART_OF_THE_HOUSE, what).safe("nothing was erased").remedy("regent paths"))
    }

    fn id(&self) -> String {
        let identity = || self.identities.first().map(|identity| identity.id.to_string()).unwrap_or_default();
        self.entity.as_ref().map_or_else(identity, |entity| entity.id.to_string())
    }

    /// Under which names their words and salts are kept: an address has its own until somebody knows whose it is.
    fn people(&self) -> Vec<String> {
        let identities = self.identities.iter().map(|identity| identity.id.to_string());
        self.entity.iter().map(|entity| entity.id.to_string()).chain(identities).collect()
    }

    /// Looks through every table in which something of a person can be.
    async fn look(&self, ledger: &Ledger) -> Result<Traces, Problem> {
        let senders: Vec<IdentityId> = self.identities.iter().map(|identity| identity.id).collect();
        let (mut events, mut places, mut tasks, mut moments) =
            (0, BTreeSet::new(), Vec::new(), BTreeSet::new());
        let mut after = 0;
        loop {
            let some = Select::<Event>::any_of("sender", &senders).filter("seq", Op::Gt, &after);
            let page = ledger.select(some.ascending("seq").limit(PAGE)).await?;
            let Some(last) = page.last() else { break };
            after = last.seq.0.unwrap_or(i64::MAX);
            events += page.len() as u64;
            let ids: Vec<TaskId> = page.iter().map(kernel::task_of).collect();
            tasks.extend(telling(ledger, &ids).await?);
            places.extend(page.iter().map(|event| event.place));
            moments.extend(page.into_iter().map(|event| (event.adapter, event.received_at)));
        }
        let places = self.their_own(ledger, places).await?;
        // A watermark is written with its event, at the same moment: then it may be in their words.
        let watermarks = ledger.watermarks().await?.into_iter();
        let watermarks = watermarks.filter(|mark| moments.contains(&(mark.adapter.clone(), mark.at)));
        let watermarks: Vec<Time> = watermarks.map(|mark| mark.at).collect();
        let people = self.people();
        let salts: Vec<Salt> = ledger.select(Select::any_of("person", &people)).await?;
        let tags = match &self.entity {
            Some(entity) => ledger.tags_of(entity.id).await?.len(),
            None => 0,
        };
        let counts = Counts {
            blobs: blobs_of(ledger, &people).await?,
            salts: salts.len() as u64,
            entities: u64::from(self.entity.as_ref().is_some_and(|entity| *entity != entity.erased())),
            entity_tags: tags as u64,
            entity_identities: self.identities.iter().filter(|identity| !identity.is_erased()).count() as u64,
            places: places.len() as u64,
            watermarks: watermarks.len() as u64,
            agent_tasks: tasks.len() as u64,
        };
        Ok(Traces { counts, events, places, watermarks, tasks })
    }

    /// Places in which nobody else has ever written: a chat with them says who they are.
    async fn their_own(&self, ledger: &Ledger, places: BTreeSet<PlaceId>) -> Result<Vec<Place>, Problem> {
        let mut own = Vec::new();
        for id in places {
            let Some(place) = ledger.place(id).await?.filter(|place| !place.is_bare()) else { continue };
            let written = Select::<Event>::by("place", &id).filter("direction", Op::Eq, &Direction::In);
            let by_others = self
                .identities
                .iter()
                .fold(written, |some, identity| some.filter("sender", Op::Ne, &identity.id));
            if ledger.first(by_others).await?.is_none() {
                own.push(place);
            }
        }
        Ok(own)
    }
}

/// Those of these tasks that still say something: what kind of request it was, or that they go on.
async fn telling(ledger: &Ledger, ids: &[TaskId]) -> Result<Vec<AgentTask>, Problem> {
    let mut tasks = Vec::new();
    for ids in ids.chunks(ASKED) {
        tasks.extend(ledger.select(Select::<AgentTask>::any_of("task_id", ids)).await?);
    }
    tasks.retain(|task| task.task_class.is_some() || !task.status.is_over());
    Ok(tasks)
}

/// How many bodies are kept of these people.
async fn blobs_of(ledger: &Ledger, people: &[String]) -> Result<u64, Problem> {
    const BODIES: u32 = 64;
    let (mut count, mut after) = (0, Digest::ZERO);
    loop {
        let some = Select::<Blob>::any_of("person", people).filter("hash", Op::Gt, &after);
        let page = ledger.select(some.ascending("hash").limit(BODIES)).await?;
        let Some(last) = page.last() else { return Ok(count) };
        after = last.hash;
        count += page.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentTask, Counts};
    use ledger::records::TABLES;
    use ledger::table::Record as _;

    #[test]
    fn every_table_of_people_is_looked_through() {
        let personal = TABLES.iter().filter(|table| table.is_personal()).map(|table| table.name);
        let mut expected: Vec<&str> = personal.chain([AgentTask::TABLE.name]).collect();
        let mut counted = Counts::default().by_table().map(|(table, _)| table);
        expected.sort_unstable();
        counted.sort_unstable();
        assert_eq!(counted[..], expected);
    }
}
