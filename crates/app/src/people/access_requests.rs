//! Access requests: senders that a policy wants the owner asked about, and the owner's answers.

use domain::Time;
use domain::event::ContainerKind;
use domain::id::KnockId;
use domain::limits::LIST_ENTRIES;
use kernel::admit::access_request::{self, AccessAnswer};
use kernel::people_revision::PeopleRevision;
use kernel::{Code, Problem, Services, parties};
use ledger::Found;
use ledger::records::{Access, Entity, Identity, Knock, KnockKind};
use policy::admit::Asked;
use serde::Serialize;

use super::IdentityStatus;
use super::addresses::link;
use crate::App;

/// Somebody who wants in.
#[derive(Clone, Debug, Serialize)]
pub struct AccessRequestView {
    pub id: KnockId,
    pub short: String,
    pub kind: KnockKind,
    pub status: domain::approval::Status,
    /// `platform:address`; nothing if they were erased.
    pub sender: Option<String>,
    /// Who that is, if somebody knows.
    pub person: Option<String>,
    pub created_at: Time,
    pub timeout_at: Time,
    pub resolved_at: Option<Time>,
    /// What waits behind it, oldest first; nothing for words that were erased.
    pub messages: Vec<WaitingMessage>,
}

#[derive(Clone, Debug, Serialize)]
pub struct WaitingMessage {
    pub event: domain::id::EventId,
    pub short: String,
    pub at: Time,
    pub platform: String,
    /// Whether it was said in a group, where others read the answer.
    pub group: bool,
    pub text: Option<String>,
    /// What was decided about it; `ask`, or `deny` as long as nobody knows them.
    pub effect: String,
    /// Why, in words.
    pub why: Vec<String>,
}

/// How the owner answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessRequestAnswer {
    Yes(PersonDetails),
    No,
}

/// Who somebody is, as the owner says it. What is left out is what the least of the shipped policies takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonDetails {
    pub name: Option<String>,
    pub relationship: Option<String>,
    /// Somebody who is known already.
    pub person: Option<String>,
}

/// What a plain yes makes of somebody.
pub const STRANGER_BECOMES: &str = "friend";

const TRIES: usize = 8;

/// The access requests of an instance.
#[derive(Clone, Copy, Debug)]
pub struct AccessRequests<'a> {
    pub(crate) app: &'a App,
}

impl AccessRequests<'_> {
    /// The access requests that wait for an answer, next to expire first, as many as one list has.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "access_requests.list", skip_all)]
    pub async fn list(&self) -> Result<Vec<AccessRequestView>, Problem> {
        self.open(&self.app.kernel.services().await?, LIST_ENTRIES).await
    }

    pub(crate) async fn open(
        &self,
        services: &Services,
        limit: u32,
    ) -> Result<Vec<AccessRequestView>, Problem> {
        self.app.kernel.expire_access_requests(services, LIST_ENTRIES).await?;
        let mut views = Vec::new();
        for knock in services.ledger.open_knocks(services.now(), limit).await? {
            views.push(self.view(services, knock).await?);
        }
        Ok(views)
    }

    /// # Errors
    /// If there is no such question, or the ledger fails.
    #[tracing::instrument(level = "info", name = "access_requests.show", skip_all)]
    pub async fn show(&self, id: &str) -> Result<AccessRequestView, Problem> {
        let services = self.app.kernel.services().await?;
        let knock = self.find_request(&services, id).await?;
        self.view(&services, knock).await
    }

    /// Whether an id is that of somebody who wants in.
    ///
    /// # Errors
    /// If nothing is called like this, or the ledger fails.
    #[tracing::instrument(level = "info", name = "access_requests.contains", skip_all)]
    pub async fn contains(&self, id: &str) -> Result<bool, Problem> {
        Ok(matches!(self.app.kernel.find(id).await?, Found::Knock(_)))
    }

    /// Answers for somebody who wants in: `k-7q2m`, or `k-7q2m/2` where two messages were seen and no other is meant. With a yes they are introduced, if nobody knew them, and what waits is decided
    /// about again, by the policies of now.
    ///
    /// # Errors
    /// If it was answered already, the introduction does not fit, or the ledger fails.
    #[tracing::instrument(level = "info", name = "access_requests.answer", skip_all)]
    pub async fn answer(
        &self,
        id: &str,
        answer: AccessRequestAnswer,
        via: &'static str,
    ) -> Result<AccessRequestView, Problem> {
        let services = self.app.kernel.services().await?;
        let (id, seen) = id.split_once('/').map_or((id, None), |(id, seen)| (id, Some(seen)));
        // What is answered is what was seen: a message that comes meanwhile is looked at first.
        let knock = self.find_request(&services, id).await?;
        if knock.status.is_open() && seen.is_some_and(|seen| seen.parse() != Ok(knock.events)) {
            return Err(self.look_again(&knock).await?);
        }
        for _ in 0..TRIES {
            if !knock.status.is_open() {
                let what = format!(
                    "{} was answered already: {}",
                    self.app.kernel.short(knock.id).await?,
                    knock.status.name()
                );
                return Err(Problem::new(Code::ANSWERED, what)
                    .safe("nothing was done")
                    .remedy("regent approvals list"));
            }
            match self.end_knock(&services, &knock, &answer, via).await? {
                Some(ended) => return self.view(&services, ended).await,
                None => {
                    let again = services.ledger.knock(knock.id).await?;
                    if again.as_ref().is_some_and(|again| again.stamp != knock.stamp) {
                        return Err(self.look_again(&knock).await?);
                    }
                }
            }
        }
        Err(Problem::new(Code::DATABASE_BUSY, "others write about the same sender all the time")
            .safe("nothing was done"))
    }

    async fn look_again(&self, knock: &Knock) -> Result<Problem, Problem> {
        let short = self.app.kernel.short(knock.id).await?;
        let what = format!("another message of theirs came, or somebody answered: look at {short} again");
        Ok(Problem::new(Code::ANSWERED, what)
            .safe("nothing was done")
            .remedy(format!("regent approvals show {short}")))
    }

    /// Nothing if the batch was refused: somebody was faster.
    async fn end_knock(
        &self,
        services: &Services,
        knock: &Knock,
        answer: &AccessRequestAnswer,
        via: &'static str,
    ) -> Result<Option<Knock>, Problem> {
        let (now, mut batch) = (services.now(), services.batch());
        let identity = services.ledger.identity(knock.sender).await?.filter(|one| !one.is_erased());
        let Some(identity) = identity else { return self.end_erased(services, knock, answer, via).await };
        let revision = PeopleRevision::begin(services).await?;
        let mut person = parties::sender(services, &identity.platform, &identity.identifier).await?;
        let (asked, entity) = match answer {
            AccessRequestAnswer::No => {
                revision.hold(&mut batch);
                (Asked::SaidNo, None)
            }
            AccessRequestAnswer::Yes(who) => {
                if person.entity.is_some() && *who != PersonDetails::default() {
                    return Err(Problem::new(Code::BAD_ANSWER, "you know already who this is")
                        .safe("it is still open")
                        .remedy("regent people set --help"));
                }
                // A yes to one message is not an introduction, unless somebody is introduced with it.
                let only_this = knock.kind == KnockKind::Ask && *who == PersonDetails::default();
                if person.entity.is_some() || only_this {
                    revision.hold(&mut batch);
                } else {
                    let entity = self.introduced(services, &identity, who, &mut batch).await?;
                    let linked =
                        link(services, &identity, &entity, IdentityStatus::Unverified, &mut batch).await?;
                    revision.take(services, self.app.kernel.host(), &mut batch);
                    person = person.known_as(linked, entity);
                }
                (Asked::SaidYes, person.entity.as_ref().map(|entity| entity.id))
            }
        };
        let ended =
            access_request::close(knock, AccessAnswer { asked, by: "owner", via, entity }, now, &mut batch);
        let policies = self.app.kernel.policies(services).await?;
        policies.enter(&mut batch);
        self.app.kernel.decide_again(services, &*policies, &ended, Some(&person), asked, &mut batch).await?;
        person.enter(&mut batch);
        match services.ledger.commit(batch).await {
            Ok(_) => Ok(Some(ended)),
            Err(error) if PeopleRevision::is_lost(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whoever was erased cannot be let in, and the question can be put away.
    async fn end_erased(
        &self,
        services: &Services,
        knock: &Knock,
        answer: &AccessRequestAnswer,
        via: &'static str,
    ) -> Result<Option<Knock>, Problem> {
        if *answer != AccessRequestAnswer::No {
            let short = self.app.kernel.short(knock.id).await?;
            return Err(Problem::new(Code::ERASED, "whoever wanted in was erased")
                .safe("nothing was done")
                .remedy(format!("regent approvals reject {short}")));
        }
        let (asked, mut batch) = (Asked::SaidNo, services.batch());
        let ending = AccessAnswer { asked, by: "owner", via, entity: None };
        let ended = access_request::close(knock, ending, services.now(), &mut batch);
        let policies = self.app.kernel.policies(services).await?;
        policies.enter(&mut batch);
        self.app.kernel.decide_again(services, &*policies, &ended, None, asked, &mut batch).await?;
        match services.ledger.commit(batch).await {
            Ok(_) => Ok(Some(ended)),
            Err(error) if PeopleRevision::is_lost(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the access request of a sender that the same batch erases. There is no answer to wait for any more.
    pub(super) async fn end_forgotten(
        &self,
        services: &Services,
        knock: &Knock,
        batch: &mut ledger::Batch,
    ) -> Result<(), Problem> {
        let ending = AccessAnswer { asked: Asked::NoAnswer, by: "owner", via: "forget", entity: None };
        let ended = access_request::close(knock, ending, services.now(), batch);
        let policies = self.app.kernel.policies(services).await?;
        policies.enter(batch);
        self.app.kernel.decide_again(services, &*policies, &ended, None, ending.asked, batch).await?;
        Ok(())
    }

    /// The person that the owner means: one who is known, or a new one, who is entered.
    async fn introduced(
        &self,
        services: &Services,
        identity: &Identity,
        who: &PersonDetails,
        batch: &mut ledger::Batch,
    ) -> Result<Entity, Problem> {
        if let Some(known) = &who.person {
            return self.app.people().known_person(services, known).await;
        }
        let name = match &who.name {
            Some(name) => name.clone(),
            None => self.app.people().name_for(services, identity).await?,
        };
        let relationship = who.relationship.clone().unwrap_or_else(|| STRANGER_BECOMES.into());
        self.app.people().new_person(services, &name, &relationship, batch).await
    }

    /// An access request as it stands now: one whose time is over has expired.
    async fn find_request(&self, services: &Services, id: &str) -> Result<Knock, Problem> {
        match self.app.kernel.find(id).await? {
            Found::Knock(knock) if knock.status.is_open() && !knock.is_open(services.now()) => {
                self.app.kernel.expire_access_request(services, &knock).await?;
                Ok(services.ledger.knock(knock.id).await?.unwrap_or(*knock))
            }
            Found::Knock(knock) => Ok(*knock),
            _ => Err(Problem::new(Code::NO_SUCH_ID, format!("`{id}` is nobody who wants in"))
                .remedy("regent approvals list")),
        }
    }

    async fn view(&self, services: &Services, knock: Knock) -> Result<AccessRequestView, Problem> {
        let identity = services.ledger.identity(knock.sender).await?.filter(|one| !one.is_erased());
        let person = match identity.as_ref().and_then(|one| one.entity_id) {
            Some(id) => services.ledger.entity(id).await?.and_then(|entity| entity.name),
            None => None,
        };
        let mut newest = std::collections::BTreeMap::new();
        for access in services.ledger.admissions_behind(knock.id).await? {
            // The answer's counts, whatever the clocks said.
            if newest.get(&access.event_id).is_none_or(|known: &Access| known.n < access.n) {
                newest.insert(access.event_id, access);
            }
        }
        let mut messages = Vec::new();
        for access in newest.into_values() {
            let Some(event) = services.ledger.event(access.event_id).await? else { continue };
            let admitted = services.ledger.body(&access.decision).await?;
            let admitted: Option<policy::admit::Admitted> =
                admitted.and_then(|body| serde_json::from_slice(&body).ok());
            let why = admitted.map_or_else(Vec::new, |admitted| {
                admitted.decision.reasons.iter().map(ToString::to_string).collect()
            });
            messages.push(WaitingMessage {
                event: event.id,
                short: self.app.kernel.short(event.id).await?,
                at: event.received_at,
                platform: event.platform.clone(),
                group: event.container_kind == ContainerKind::Group,
                text: services.ledger.text(&event.body).await?,
                effect: access.effect,
                why,
            });
        }
        messages.sort_by_key(|message| message.at);
        Ok(AccessRequestView {
            short: self.app.kernel.short(knock.id).await?,
            id: knock.id,
            kind: knock.kind,
            status: knock.status,
            sender: identity.map(|one| format!("{}:{}", one.platform, one.identifier)),
            person,
            created_at: knock.created_at,
            timeout_at: knock.timeout_at,
            resolved_at: knock.resolved_at,
            messages,
        })
    }
}
