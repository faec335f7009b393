//! Who wants in: every event from outside gets its decision, and the owner answers where a policy asks.

use std::collections::BTreeSet;

use domain::Time;
use domain::event::{ContainerKind, Direction};
use domain::id::KnockId;
use domain::limits::LIST_ENTRIES;
use ledger::records::{Access, Cursor, Entity, Event, Identity, Knock, KnockKind};
use ledger::table::Record as _;
use ledger::{CommitError, Found, Refusal};
use policy::acl::Effect;
use policy::admit::{Admission, Asked};
use serde::Serialize;

use super::App;
use crate::pipeline::knock::{self, Behind, Ending, KNOCKS};
use crate::pipeline::{self, Desk, Person, Surety, Turn, linking};
use crate::policies::InForce;
use crate::problem::{Code, Problem};

/// How many events were decided about, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Admitted {
    pub allowed: u64,
    pub denied: u64,
    /// Held until the owner has answered.
    pub held: u64,
    /// Of those denied: the owner is asked who it is.
    pub asked: u64,
}

impl Admitted {
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.allowed + self.denied + self.held
    }
}

/// Somebody who wants in.
#[derive(Clone, Debug, Serialize)]
pub struct KnockView {
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
    pub messages: Vec<Waiting>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Waiting {
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
pub enum KnockAnswer {
    Yes(Introduction),
    No,
}

/// Who somebody is, as the owner says it. What is left out is what the least of the shipped policies takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Introduction {
    pub name: Option<String>,
    pub relationship: Option<String>,
    /// Somebody who is known already.
    pub person: Option<String>,
}

/// What a plain yes makes of somebody.
pub const STRANGER_BECOMES: &str = "friend";

/// Up to which event everything from outside was looked at.
const ADMISSION: &str = "admission";
const PAGE: u32 = 256;
const TRIES: usize = 8;
const ACCESS: &str = Access::TABLE.name;

impl App {
    /// Decides about every event from outside that nobody has decided about yet, in the order in which they came. What is
    /// let in is not answered yet: that is for whoever drives conversations.
    ///
    /// # Errors
    /// If the ledger fails; what was decided until then is durable.
    pub async fn admit_waiting(&self) -> Result<Admitted, Problem> {
        let desk = self.desk().await?;
        self.expire_knocks(&desk, u32::MAX).await?;
        let mut counted = Admitted::default();
        loop {
            let cursor = desk.ledger.cursor(ADMISSION).await?;
            let events = desk.ledger.events_after(cursor, PAGE).await?;
            let Some(seq) = events.last().and_then(|event| event.seq.0) else { return Ok(counted) };
            let ids: Vec<_> = events.iter().map(|event| event.id).collect();
            let decided = desk.ledger.admissions_of(&ids).await?;
            let decided: BTreeSet<_> = decided.iter().map(|access| access.event_id).collect();
            // What the owner typed is decided about by whoever drives it.
            let open = |event: &&Event| {
                event.direction == Direction::In && !event.is_from_terminal() && !decided.contains(&event.id)
            };
            for event in events.iter().filter(open) {
                let Some((effect, knock)) = self.admit_event(&desk, event).await? else { continue };
                match effect {
                    Effect::Allow => counted.allowed += 1,
                    Effect::Deny => counted.denied += 1,
                    Effect::Ask => counted.held += 1,
                }
                counted.asked += u64::from(effect == Effect::Deny && knock.is_some());
            }
            let mut batch = desk.batch();
            batch.put(&Cursor { name: ADMISSION.into(), seq });
            desk.ledger.commit(batch).await?;
        }
    }

    /// Nothing if another process was faster.
    async fn admit_event(
        &self,
        desk: &Desk,
        event: &Event,
    ) -> Result<Option<(Effect, Option<KnockId>)>, Problem> {
        for _ in 0..TRIES {
            let policies = self.in_force(desk).await?;
            let sitting = self.sitting(desk, &policies);
            let turn = linking::Turn::begin(desk).await?;
            let sender = self.still_there(desk, event).await?;
            let facts = match &sender {
                Some(person) => pipeline::facts(sitting, event, person).await?,
                None => pipeline::facts_of_nobody(sitting, event),
            };
            let mut batch = desk.batch();
            turn.hold(&mut batch);
            policies.enter(&mut batch);
            let mut admission = sitting.decide(facts.clone());
            let behind = match knock::wanted(&admission) {
                Some(wanted) => Some(knock::stand(desk, event, wanted, &mut batch).await?),
                None => None,
            };
            let knock = match behind {
                Some(Behind::Question(knock)) => Some(knock.id),
                Some(Behind::Nothing(why)) => {
                    admission = sitting.decide(knock::asked(facts, why));
                    None
                }
                None => None,
            };
            if let Some(person) = &sender {
                person.enter(&mut batch);
            }
            let salt = sender.as_ref().map(|person| &person.salt);
            pipeline::enter(desk, event, salt, &admission, (Turn::First, knock), &mut batch)?;
            match desk.ledger.commit(batch).await {
                Ok(_) => return Ok(Some((admission.effect, knock))),
                Err(CommitError::Refused(Refusal::Present { table: ACCESS, .. })) => return Ok(None),
                // Another message of theirs came first, or they were erased, or introduced: looked at again.
                Err(error) if linking::Turn::is_lost(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Problem::new(Code::DATABASE_BUSY, "others decide about the same sender all the time")
            .safe("the event is kept, and decided about the next time")
            .remedy("regent tick"))
    }

    /// Whoever sent it, unless they were erased.
    async fn still_there(&self, desk: &Desk, event: &Event) -> Result<Option<Person>, Problem> {
        let identity = desk.ledger.identity(event.sender).await?;
        let Some(Identity { platform, identifier, .. }) = identity.filter(|one| !one.is_erased()) else {
            return Ok(None);
        };
        Ok(Some(pipeline::sender(desk, &platform, &identifier).await?))
    }

    /// The access requests that wait for an answer, next to expire first, as many as one list has.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn knocks(&self) -> Result<Vec<KnockView>, Problem> {
        self.open_knocks(&self.desk().await?, LIST_ENTRIES).await
    }

    pub(super) async fn open_knocks(&self, desk: &Desk, limit: u32) -> Result<Vec<KnockView>, Problem> {
        self.expire_knocks(desk, LIST_ENTRIES).await?;
        let mut views = Vec::new();
        for knock in desk.ledger.open_knocks(desk.now(), limit).await? {
            views.push(self.knock_view(desk, knock).await?);
        }
        Ok(views)
    }

    /// # Errors
    /// If there is no such question, or the ledger fails.
    pub async fn knock(&self, id: &str) -> Result<KnockView, Problem> {
        let desk = self.desk().await?;
        let knock = self.knocked(&desk, id).await?;
        self.knock_view(&desk, knock).await
    }

    /// Whether an id is that of somebody who wants in.
    ///
    /// # Errors
    /// If nothing is called like this, or the ledger fails.
    pub async fn is_knock(&self, id: &str) -> Result<bool, Problem> {
        Ok(matches!(self.find(id).await?, Found::Knock(_)))
    }

    /// Answers for somebody who wants in: `k-7q2m`, or `k-7q2m/2` where two messages were seen and no other is meant. With a yes they are introduced, if nobody knew them, and what waits is decided
    /// about again, by the policies of now.
    ///
    /// # Errors
    /// If it was answered already, the introduction does not fit, or the ledger fails.
    pub async fn answer_knock(
        &self,
        id: &str,
        answer: KnockAnswer,
        via: &'static str,
    ) -> Result<KnockView, Problem> {
        let desk = self.desk().await?;
        let (id, seen) = id.split_once('/').map_or((id, None), |(id, seen)| (id, Some(seen)));
        // What is answered is what was seen: a message that comes meanwhile is looked at first.
        let knock = self.knocked(&desk, id).await?;
        if knock.status.is_open() && seen.is_some_and(|seen| seen.parse() != Ok(knock.events)) {
            return Err(self.look_again(&knock).await?);
        }
        for _ in 0..TRIES {
            if !knock.status.is_open() {
                let what =
                    format!("{} was answered already: {}", self.short(knock.id).await?, knock.status.name());
                return Err(Problem::new(Code::ANSWERED, what)
                    .safe("nothing was done")
                    .remedy("regent approvals list"));
            }
            match self.end_knock(&desk, &knock, &answer, via).await? {
                Some(ended) => return self.knock_view(&desk, ended).await,
                None => {
                    let again = desk.ledger.knock(knock.id).await?;
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
        let short = self.short(knock.id).await?;
        let what = format!("another message of theirs came, or somebody answered: look at {short} again");
        Ok(Problem::new(Code::ANSWERED, what)
            .safe("nothing was done")
            .remedy(format!("regent approvals show {short}")))
    }

    /// Nothing if the batch was refused: somebody was faster.
    async fn end_knock(
        &self,
        desk: &Desk,
        knock: &Knock,
        answer: &KnockAnswer,
        via: &'static str,
    ) -> Result<Option<Knock>, Problem> {
        let (now, mut batch) = (desk.now(), desk.batch());
        let identity = desk.ledger.identity(knock.sender).await?.filter(|one| !one.is_erased());
        let Some(identity) = identity else { return self.end_erased(desk, knock, answer, via).await };
        let turn = linking::Turn::begin(desk).await?;
        let mut person = pipeline::sender(desk, &identity.platform, &identity.identifier).await?;
        let (asked, entity) = match answer {
            KnockAnswer::No => {
                turn.hold(&mut batch);
                (Asked::SaidNo, None)
            }
            KnockAnswer::Yes(who) => {
                if person.entity.is_some() && *who != Introduction::default() {
                    return Err(Problem::new(Code::BAD_ANSWER, "you know already who this is")
                        .safe("it is still open")
                        .remedy("regent people set --help"));
                }
                // A yes to one message is not an introduction, unless somebody is introduced with it.
                let only_this = knock.kind == KnockKind::Ask && *who == Introduction::default();
                if person.entity.is_some() || only_this {
                    turn.hold(&mut batch);
                } else {
                    let entity = self.introduced(desk, &identity, who, &mut batch).await?;
                    let linked = linking::link(desk, &identity, &entity, Surety::Told, &mut batch).await?;
                    turn.take(desk, &*self.parts.host, &mut batch);
                    person = person.known_as(linked, entity);
                }
                (Asked::SaidYes, person.entity.as_ref().map(|entity| entity.id))
            }
        };
        let ended = knock::end(knock, Ending { asked, by: "owner", via, entity }, now, &mut batch);
        let policies = self.in_force(desk).await?;
        policies.enter(&mut batch);
        self.decide_again(desk, &policies, &ended, Some(&person), asked, &mut batch).await?;
        person.enter(&mut batch);
        match desk.ledger.commit(batch).await {
            Ok(_) => Ok(Some(ended)),
            Err(error) if linking::Turn::is_lost(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whoever was erased cannot be let in, and the question can be put away.
    async fn end_erased(
        &self,
        desk: &Desk,
        knock: &Knock,
        answer: &KnockAnswer,
        via: &'static str,
    ) -> Result<Option<Knock>, Problem> {
        if *answer != KnockAnswer::No {
            let short = self.short(knock.id).await?;
            return Err(Problem::new(Code::ERASED, "whoever wanted in was erased")
                .safe("nothing was done")
                .remedy(format!("regent approvals reject {short}")));
        }
        let (asked, mut batch) = (Asked::SaidNo, desk.batch());
        let ending = Ending { asked, by: "owner", via, entity: None };
        let ended = knock::end(knock, ending, desk.now(), &mut batch);
        let policies = self.in_force(desk).await?;
        policies.enter(&mut batch);
        self.decide_again(desk, &policies, &ended, None, asked, &mut batch).await?;
        match desk.ledger.commit(batch).await {
            Ok(_) => Ok(Some(ended)),
            Err(error) if linking::Turn::is_lost(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the access request of a sender that the same batch erases. There is no answer to wait for any more.
    pub(super) async fn end_forgotten(
        &self,
        desk: &Desk,
        knock: &Knock,
        batch: &mut ledger::Batch,
    ) -> Result<(), Problem> {
        let ending = Ending { asked: Asked::NoAnswer, by: "owner", via: "forget", entity: None };
        let ended = knock::end(knock, ending, desk.now(), batch);
        let policies = self.in_force(desk).await?;
        policies.enter(batch);
        self.decide_again(desk, &policies, &ended, None, ending.asked, batch).await?;
        Ok(())
    }

    /// Everything that waits behind a question is decided about once more, with what came of it.
    async fn decide_again(
        &self,
        desk: &Desk,
        policies: &InForce,
        knock: &Knock,
        person: Option<&Person>,
        asked: Asked,
        batch: &mut ledger::Batch,
    ) -> Result<Vec<Admission>, Problem> {
        let mut admissions = Vec::new();
        for access in desk.ledger.admissions_behind(knock.id).await?.iter().filter(|access| access.n == 0) {
            let gone = || Problem::new(Code::DATABASE_DAMAGED, "the event of an admission is gone");
            let event = desk.ledger.event(access.event_id).await?.ok_or_else(gone)?;
            if event.sender != knock.sender {
                let what = "a message of somebody else stands behind this question";
                return Err(Problem::new(Code::DATABASE_DAMAGED, what)
                    .safe("nothing was done")
                    .remedy("regent audit verify --complete"));
            }
            let sitting = self.sitting(desk, policies);
            let facts = match person {
                Some(person) => pipeline::facts(sitting, &event, person).await?,
                None => pipeline::facts_of_nobody(sitting, &event),
            };
            let admission = sitting.decide(knock::asked(facts, asked));
            let salt = person.map(|person| &person.salt);
            pipeline::enter(desk, &event, salt, &admission, (Turn::Answered, Some(knock.id)), batch)?;
            admissions.push(admission);
        }
        Ok(admissions)
    }

    /// Expires access requests that were not answered in time, so many at most. What is left is neither listed nor counted,
    /// and the next process that looks goes on with it.
    async fn expire_knocks(&self, desk: &Desk, most: u32) -> Result<(), Problem> {
        let mut left = most;
        loop {
            let overdue = desk.ledger.overdue_knocks(desk.now(), left.min(LIST_ENTRIES)).await?;
            if overdue.is_empty() || left == 0 {
                return Ok(());
            }
            left -= u32::try_from(overdue.len()).unwrap_or(left).min(left);
            for knock in overdue {
                if !self.expire_knock_now(desk, &knock).await? {
                    return Ok(());
                }
            }
        }
    }

    /// Not if others changed people all the time meanwhile.
    async fn expire_knock_now(&self, desk: &Desk, knock: &Knock) -> Result<bool, Problem> {
        for _ in 0..TRIES {
            if self.expire_knock(desk, knock).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Not if the batch was refused, and it is to be looked at again.
    async fn expire_knock(&self, desk: &Desk, knock: &Knock) -> Result<bool, Problem> {
        let mut batch = desk.batch();
        let ended = knock::end(knock, Ending::SILENCE, desk.now(), &mut batch);
        let policies = self.in_force(desk).await?;
        policies.enter(&mut batch);
        let turn = linking::Turn::begin(desk).await?;
        turn.hold(&mut batch);
        let identity = desk.ledger.identity(knock.sender).await?.filter(|one| !one.is_erased());
        let person = match identity {
            Some(one) => Some(pipeline::sender(desk, &one.platform, &one.identifier).await?),
            None => None,
        };
        self.decide_again(desk, &policies, &ended, person.as_ref(), Asked::NoAnswer, &mut batch).await?;
        if let Some(person) = &person {
            person.enter(&mut batch);
        }
        match desk.ledger.commit(batch).await {
            Ok(_) | Err(CommitError::Refused(Refusal::Gone { table: KNOCKS, .. })) => Ok(true),
            Err(error) if linking::Turn::is_lost(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The person that the owner means: one who is known, or a new one, who is entered.
    async fn introduced(
        &self,
        desk: &Desk,
        identity: &Identity,
        who: &Introduction,
        batch: &mut ledger::Batch,
    ) -> Result<Entity, Problem> {
        if let Some(known) = &who.person {
            return self.known_person(desk, known).await;
        }
        let name = match &who.name {
            Some(name) => name.clone(),
            None => self.name_for(desk, identity).await?,
        };
        let relationship = who.relationship.clone().unwrap_or_else(|| STRANGER_BECOMES.into());
        self.new_person(desk, &name, &relationship, batch).await
    }

    /// An access request as it stands now: one whose time is over has expired.
    async fn knocked(&self, desk: &Desk, id: &str) -> Result<Knock, Problem> {
        match self.find(id).await? {
            Found::Knock(knock) if knock.status.is_open() && !knock.is_open(desk.now()) => {
                self.expire_knock_now(desk, &knock).await?;
                Ok(desk.ledger.knock(knock.id).await?.unwrap_or(*knock))
            }
            Found::Knock(knock) => Ok(*knock),
            _ => Err(Problem::new(Code::NO_SUCH_ID, format!("`{id}` is nobody who wants in"))
                .remedy("regent approvals list")),
        }
    }

    async fn knock_view(&self, desk: &Desk, knock: Knock) -> Result<KnockView, Problem> {
        let identity = desk.ledger.identity(knock.sender).await?.filter(|one| !one.is_erased());
        let person = match identity.as_ref().and_then(|one| one.entity_id) {
            Some(id) => desk.ledger.entity(id).await?.and_then(|entity| entity.name),
            None => None,
        };
        let mut newest = std::collections::BTreeMap::new();
        for access in desk.ledger.admissions_behind(knock.id).await? {
            // The answer's counts, whatever the clocks said.
            if newest.get(&access.event_id).is_none_or(|known: &Access| known.n < access.n) {
                newest.insert(access.event_id, access);
            }
        }
        let mut messages = Vec::new();
        for access in newest.into_values() {
            let Some(event) = desk.ledger.event(access.event_id).await? else { continue };
            let admitted = desk.ledger.body(&access.decision).await?;
            let admitted: Option<policy::admit::Admitted> =
                admitted.and_then(|body| serde_json::from_slice(&body).ok());
            let why = admitted.map_or_else(Vec::new, |admitted| {
                admitted.decision.reasons.iter().map(ToString::to_string).collect()
            });
            messages.push(Waiting {
                event: event.id,
                short: self.short(event.id).await?,
                at: event.received_at,
                platform: event.platform.clone(),
                group: event.container_kind == ContainerKind::Group,
                text: desk.ledger.text(&event.body).await?,
                effect: access.effect,
                why,
            });
        }
        messages.sort_by_key(|message| message.at);
        Ok(KnockView {
            short: self.short(knock.id).await?,
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
