//! Somebody wants in, and the owner is to be asked: the question, what joins it, and how it ends.

use domain::Time;
use domain::approval::Status;
use domain::id::EntityId;
use ledger::audit_event::SYSTEM;
use ledger::records::{Event, Knock, KnockKind};
use ledger::table::Record as _;
use ledger::{AuditEvent, Batch, StoreError};
use policy::acl::Effect;
use policy::admit::{Admission, Asked, Facts};
use policy::knock::{Last, Next, OPEN_FOR, Wanted, next};

use crate::services::Services;

pub const KNOCKS: &str = Knock::TABLE.name;

/// What a message that the owner has to be asked about waits behind.
#[derive(Debug)]
pub enum AccessQuestion {
    Question(Box<Knock>),
    /// They are not asked.
    Nothing(Asked),
}

/// Why the owner is to be asked about a message; nothing if they are not.
pub fn reason_to_ask(admission: &Admission) -> Option<Wanted> {
    match (admission.effect, admission.pairing) {
        (Effect::Ask, _) => Some(Wanted::Leave),
        (Effect::Deny, Some(_)) => Some(Wanted::Pairing),
        _ => None,
    }
}

/// Enters the question about a message, a new one or the one that stands. The batch is refused if another process has asked
/// or answered meanwhile.
pub async fn place(
    services: &Services,
    event: &Event,
    wanted: Wanted,
    batch: &mut Batch,
) -> Result<AccessQuestion, StoreError> {
    let now = services.now();
    let mut knocks = services.ledger.knocks_of(event.sender).await?;
    // The one that stands is the newest, whatever the clocks said.
    knocks.sort_by_key(|knock| knock.waiting.is_none());
    let newest = knocks.into_iter().next();
    Ok(match (next(wanted, newest.as_ref().map(last), now), newest) {
        (Next::Not(why), _) => AccessQuestion::Nothing(why),
        (Next::Join, Some(knock)) => {
            let joined = Knock { stamp: knock.next_stamp(), events: knock.events + 1, ..knock.clone() };
            batch.expect_present::<Knock>("stamp", &knock.stamp).put(&joined);
            AccessQuestion::Question(Box::new(joined))
        }
        (Next::Ask | Next::Join, _) => {
            let id = services.id();
            let knock = Knock {
                id,
                stamp: Knock::first_stamp(id),
                kind: match wanted {
                    Wanted::Leave => KnockKind::Ask,
                    Wanted::Pairing => KnockKind::Pairing,
                },
                sender: event.sender,
                waiting: Some(event.sender.to_string()),
                events: 1,
                status: Status::Pending,
                created_at: now,
                timeout_at: now.plus(OPEN_FOR),
                resolved_at: None,
                resolved_by: None,
                resolved_via: None,
                entity_id: None,
            };
            // Two processes may meet a sender at once: then one of them joins the other's question.
            batch.expect_absent::<Knock>("waiting", &event.sender.to_string()).put(&knock);
            batch.audit(AuditEvent::AccessRequestOpened(&knock).entry(SYSTEM, now));
            AccessQuestion::Question(Box::new(knock))
        }
    })
}

fn last(knock: &Knock) -> Last {
    Last {
        wanted: match knock.kind {
            KnockKind::Ask => Wanted::Leave,
            KnockKind::Pairing => Wanted::Pairing,
        },
        status: knock.status,
        waiting: knock.events,
        over: knock.resolved_at,
    }
}

/// How a question ended.
#[derive(Clone, Copy, Debug)]
pub struct AccessAnswer {
    pub asked: Asked,
    pub by: &'static str,
    pub via: &'static str,
    /// Who it turned out to be.
    pub entity: Option<EntityId>,
}

impl AccessAnswer {
    /// The owner did not answer in time.
    pub const TIMEOUT: Self = Self { asked: Asked::NoAnswer, by: "clock", via: "timeout", entity: None };

    const fn status(self) -> Status {
        match self.asked {
            Asked::SaidYes => Status::Approved,
            Asked::SaidNo => Status::Rejected,
            Asked::NoAnswer | Asked::TooManyWait | Asked::NotAgain => Status::Expired,
        }
    }

    const fn event(self, ended: &Knock) -> AuditEvent<'_> {
        match self.asked {
            Asked::SaidYes => AuditEvent::AccessRequestApproved(ended),
            Asked::SaidNo => AuditEvent::AccessRequestRejected(ended),
            Asked::NoAnswer | Asked::TooManyWait | Asked::NotAgain => AuditEvent::AccessRequestExpired(ended),
        }
    }
}

/// Enters how a question ended; the batch is refused if anybody acted, or another message came, meanwhile.
pub fn close(knock: &Knock, ending: AccessAnswer, now: Time, batch: &mut Batch) -> Knock {
    let ended = Knock {
        stamp: knock.next_stamp(),
        status: ending.status(),
        waiting: None,
        resolved_at: Some(now),
        resolved_by: Some(ending.by.into()),
        resolved_via: Some(ending.via.into()),
        entity_id: ending.entity,
        ..knock.clone()
    };
    let event = ending.event(&ended);
    batch.expect_present::<Knock>("stamp", &knock.stamp).put(&ended).audit(event.entry(ending.by, now));
    ended
}

/// The facts of a message, with what came of asking.
pub fn with_answer(facts: Facts, asked: Asked) -> Facts {
    Facts { asked: Some(asked), ..facts }
}
