//! Events from outside: every one gets its admission, and the owner is asked where a policy says so.

use std::collections::BTreeSet;

use domain::event::Direction;
use domain::id::KnockId;
use domain::limits::LIST_ENTRIES;
use ledger::records::{Access, Cursor, Event, Identity, Knock};
use ledger::table::Record as _;
use ledger::{Batch, CommitError, Refusal};
use policy::acl::Effect;
use policy::admit::{Admission, Asked};
use serde::Serialize;

use super::access_request::{self, AccessAnswer, AccessQuestion, KNOCKS};
use super::{AdmissionContext, AdmissionRound, enter, facts, facts_without_sender};
use crate::kernel::Kernel;
use crate::parties::{self, Party};
use crate::people_revision::PeopleRevision;
use crate::policies::PoliciesInForce;
use crate::services::Services;
use domain::problem::{Code, Problem};

/// How many events were decided about, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AdmissionCounts {
    pub allowed: u64,
    pub denied: u64,
    /// TaskLease until the owner has answered.
    pub held: u64,
    /// Of those denied: the owner is asked who it is.
    pub asked: u64,
}

impl AdmissionCounts {
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.allowed + self.denied + self.held
    }
}

/// Up to which event everything from outside was looked at.
const ADMISSION: &str = "admission";
const PAGE: u32 = 256;
const TRIES: usize = 8;
const ACCESS: &str = Access::TABLE.name;

impl Kernel {
    /// Decides about every event from outside that nobody has decided about yet, in the order in which they came. What is
    /// let in is not answered yet: that is for whoever drives conversations.
    ///
    /// # Errors
    /// If the ledger fails; what was decided until then is durable.
    pub async fn admit_waiting(&self) -> Result<AdmissionCounts, Problem> {
        let services = self.services().await?;
        self.expire_access_requests(&services, u32::MAX).await?;
        let mut counted = AdmissionCounts::default();
        loop {
            let cursor = services.ledger.cursor(ADMISSION).await?;
            let events = services.ledger.events_after(cursor, PAGE).await?;
            let Some(seq) = events.last().and_then(|event| event.seq.0) else { return Ok(counted) };
            let ids: Vec<_> = events.iter().map(|event| event.id).collect();
            let decided = services.ledger.admissions_of(&ids).await?;
            let decided: BTreeSet<_> = decided.iter().map(|access| access.event_id).collect();
            // What the owner typed is decided about by whoever drives it.
            let open = |event: &&Event| {
                event.direction == Direction::In && !event.is_from_terminal() && !decided.contains(&event.id)
            };
            for event in events.iter().filter(open) {
                let Some((effect, knock)) = self.admit_event(&services, event).await? else { continue };
                match effect {
                    Effect::Allow => counted.allowed += 1,
                    Effect::Deny => counted.denied += 1,
                    Effect::Ask => counted.held += 1,
                }
                counted.asked += u64::from(effect == Effect::Deny && knock.is_some());
            }
            let mut batch = services.batch();
            batch.put(&Cursor { name: ADMISSION.into(), seq });
            services.ledger.commit(batch).await?;
        }
    }

    /// Nothing if another process was faster.
    async fn admit_event(
        &self,
        services: &Services,
        event: &Event,
    ) -> Result<Option<(Effect, Option<KnockId>)>, Problem> {
        for _ in 0..TRIES {
            let policies = self.policies(services).await?;
            let context = AdmissionContext { services, policies: &*policies, zone: self.zone() };
            let revision = PeopleRevision::begin(services).await?;
            let sender = self.find_sender(services, event).await?;
            let facts = match &sender {
                Some(person) => facts(context, event, person).await?,
                None => facts_without_sender(context, event),
            };
            let mut batch = services.batch();
            revision.hold(&mut batch);
            policies.enter(&mut batch);
            let mut admission = context.decide(facts.clone());
            let behind = match access_request::reason_to_ask(&admission) {
                Some(wanted) => Some(access_request::place(services, event, wanted, &mut batch).await?),
                None => None,
            };
            let knock = match behind {
                Some(AccessQuestion::Question(knock)) => Some(knock.id),
                Some(AccessQuestion::Nothing(why)) => {
                    admission = context.decide(access_request::with_answer(facts, why));
                    None
                }
                None => None,
            };
            if let Some(person) = &sender {
                person.enter(&mut batch);
            }
            let salt = sender.as_ref().map(|person| &person.salt);
            enter(services, event, salt, &admission, (AdmissionRound::First, knock), &mut batch)?;
            match services.ledger.commit(batch).await {
                Ok(_) => return Ok(Some((admission.effect, knock))),
                Err(CommitError::Refused(Refusal::Present { table: ACCESS, .. })) => return Ok(None),
                // Another message of theirs came first, or they were erased, or introduced: looked at again.
                Err(error) if PeopleRevision::is_lost(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Problem::new(Code::DATABASE_BUSY, "others decide about the same sender all the time")
            .safe("the event is kept, and decided about the next time")
            .remedy("regent tick"))
    }

    /// Whoever sent it, unless they were erased.
    async fn find_sender(&self, services: &Services, event: &Event) -> Result<Option<Party>, Problem> {
        let identity = services.ledger.identity(event.sender).await?;
        let Some(Identity { platform, identifier, .. }) = identity.filter(|one| !one.is_erased()) else {
            return Ok(None);
        };
        Ok(Some(parties::sender(services, &platform, &identifier).await?))
    }

    /// Everything that waits behind a question is decided about once more, with what came of it.
    ///
    /// # Errors
    /// If the record is damaged, or the ledger fails.
    pub async fn decide_again(
        &self,
        services: &Services,
        policies: &dyn PoliciesInForce,
        knock: &Knock,
        person: Option<&Party>,
        asked: Asked,
        batch: &mut Batch,
    ) -> Result<Vec<Admission>, Problem> {
        let mut admissions = Vec::new();
        for access in services.ledger.admissions_behind(knock.id).await?.iter().filter(|access| access.n == 0)
        {
            let gone = || Problem::new(Code::DATABASE_DAMAGED, "the event of an admission is gone");
            let event = services.ledger.event(access.event_id).await?.ok_or_else(gone)?;
            if event.sender != knock.sender {
                let what = "a message of somebody else stands behind this question";
                return Err(Problem::new(Code::DATABASE_DAMAGED, what)
                    .safe("nothing was done")
                    .remedy("regent audit verify --complete"));
            }
            let context = AdmissionContext { services, policies, zone: self.zone() };
            let facts = match person {
                Some(person) => facts(context, &event, person).await?,
                None => facts_without_sender(context, &event),
            };
            let admission = context.decide(access_request::with_answer(facts, asked));
            let salt = person.map(|person| &person.salt);
            enter(services, &event, salt, &admission, (AdmissionRound::Answered, Some(knock.id)), batch)?;
            admissions.push(admission);
        }
        Ok(admissions)
    }

    /// Expires access requests that were not answered in time, so many at most. What is left is neither listed nor counted,
    /// and the next process that looks goes on with it.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn expire_access_requests(&self, services: &Services, most: u32) -> Result<(), Problem> {
        let mut left = most;
        loop {
            let overdue = services.ledger.overdue_knocks(services.now(), left.min(LIST_ENTRIES)).await?;
            if overdue.is_empty() || left == 0 {
                return Ok(());
            }
            left -= u32::try_from(overdue.len()).unwrap_or(left).min(left);
            for knock in overdue {
                if !self.expire_access_request(services, &knock).await? {
                    return Ok(());
                }
            }
        }
    }

    /// Not if others changed people all the time meanwhile.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn expire_access_request(&self, services: &Services, knock: &Knock) -> Result<bool, Problem> {
        for _ in 0..TRIES {
            if self.try_to_expire(services, knock).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Not if the batch was refused, and it is to be looked at again.
    async fn try_to_expire(&self, services: &Services, knock: &Knock) -> Result<bool, Problem> {
        let mut batch = services.batch();
        let ended = access_request::close(knock, AccessAnswer::TIMEOUT, services.now(), &mut batch);
        let policies = self.policies(services).await?;
        policies.enter(&mut batch);
        let revision = PeopleRevision::begin(services).await?;
        revision.hold(&mut batch);
        let identity = services.ledger.identity(knock.sender).await?.filter(|one| !one.is_erased());
        let person = match identity {
            Some(one) => Some(parties::sender(services, &one.platform, &one.identifier).await?),
            None => None,
        };
        self.decide_again(services, &*policies, &ended, person.as_ref(), Asked::NoAnswer, &mut batch).await?;
        if let Some(person) = &person {
            person.enter(&mut batch);
        }
        match services.ledger.commit(batch).await {
            Ok(_) | Err(CommitError::Refused(Refusal::Gone { table: KNOCKS, .. })) => Ok(true),
            Err(error) if PeopleRevision::is_lost(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
