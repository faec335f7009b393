//! What is written when somebody acts on a question. INVARIANT (one-answer): every act expects the stamp that was seen, so
//! of two who act at once, one is refused and nothing of theirs is written.

use std::time::Duration;

use broker::question::Question;
use domain::approval::{Fate, Lasting, Status};
use domain::id::{ApprovalId, GrantId};
use domain::limits::LIST_ENTRIES;
use domain::{Digest, Tags, Time};
use ledger::audit_event::{CLOCK, OWNER};
use ledger::records::{Approval, ApprovalCode, Blob, Grant, GrantEvent, GrantLog, Salt};
use ledger::table::Record as _;
use ledger::value::Seq;
use ledger::{AuditEvent, Batch, CommitError, Entry, Ledger, Refusal};

use crate::services::Services;
use domain::problem::{Code, Problem};

pub const APPROVALS: &str = Approval::TABLE.name;
pub const GRANTS: &str = Grant::TABLE.name;

/// How somebody answered, and from where.
#[derive(Clone, Debug)]
pub struct ApprovalAnswer {
    pub status: Status,
    /// The call that may run now.
    pub leave: Option<Digest>,
    /// What was said with it.
    pub said: Option<Blob>,
    pub by: &'static str,
    pub via: &'static str,
    pub grant: Option<GrantId>,
    /// How long the yes is good for.
    pub good_for: Duration,
}

impl ApprovalAnswer {
    pub const fn expired() -> Self {
        Self {
            status: Status::Expired,
            leave: None,
            said: None,
            by: "clock",
            via: "timeout",
            grant: None,
            good_for: Duration::ZERO,
        }
    }

    /// The owner has withdrawn everything that counted.
    pub fn withdrawn() -> Self {
        Self { by: "owner", via: "reset", ..Self::expired() }
    }

    /// The task ended without it, so nobody needs an answer any more.
    pub fn not_needed() -> Self {
        Self { by: "task", via: "end", ..Self::expired() }
    }
}

/// Enters an answer; the batch is refused if anybody acted meanwhile.
pub fn answer(asked: &Approval, verdict: &ApprovalAnswer, now: Time, batch: &mut Batch) -> Approval {
    let answered = Approval {
        stamp: asked.next_stamp(),
        status: verdict.status,
        leave: verdict.leave,
        resolved_at: Some(now),
        resolved_by: Some(verdict.by.into()),
        resolved_via: Some(verdict.via.into()),
        answer: verdict.said.as_ref().map(|said| said.hash),
        grant_id: verdict.grant,
        token_until: verdict.leave.map(|_| now.plus(verdict.good_for)),
        live: asked.live.clone().filter(|_| verdict.leave.is_some()),
        ..asked.clone()
    };
    if let Some(said) = &verdict.said {
        batch.put(said);
    }
    // Whoever still has a code for it has a code for nothing.
    batch
        .expect_present::<Approval>("stamp", &asked.stamp)
        .erase::<ApprovalCode, _>("approval", &[asked.id])
        .put(&answered)
        .audit(entry(&AuditEvent::of_approval(&answered), asked, verdict.by, now));
    answered
}

/// Enters that a question goes to the next authority, with its time from the beginning.
pub fn escalate(asked: &Approval, to: &str, open_for: Duration, now: Time, batch: &mut Batch) -> Approval {
    let moved = Approval {
        stamp: asked.next_stamp(),
        status: Status::Escalated,
        authority: to.into(),
        timeout_at: now.plus(open_for),
        ..asked.clone()
    };
    let escalated = entry(&AuditEvent::ApprovalEscalated(&moved), asked, OWNER, now);
    let escalated = escalated.with("from", &asked.authority);
    batch.expect_present::<Approval>("stamp", &asked.stamp).put(&moved).audit(escalated);
    moved
}

/// Enters a grant.
pub fn grant(
    id: GrantId,
    terms: &broker::grant::Terms,
    expires_at: Option<Time>,
    request: Option<ApprovalId>,
    salt: &Salt,
    now: Time,
    batch: &mut Batch,
) -> Result<Grant, Problem> {
    let body = Blob::personal(domain::canonical::bytes(terms).map_err(Problem::internal)?, salt);
    let grant = Grant {
        id,
        live: Some(id.to_string()),
        tool_id: terms.tool.clone(),
        terms: body.hash,
        created_at: now,
        expires_at,
        revoked_at: None,
        granted_by: "owner".into(),
        request_id: request,
    };
    let created = AuditEvent::GrantCreated(&grant).entry(OWNER, now);
    batch.put(&body).put(&grant).put(&log(id, GrantEvent::Created, now)).audit(created);
    Ok(grant)
}

/// How long what an answer granted lasts; nothing: until it is revoked.
pub fn lasts(lasting: Lasting, now: Time) -> Option<Time> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    (lasting == Lasting::Day).then(|| now.plus(DAY))
}

/// The question as it stands: one whose time has run out is expired, by whoever looks first.
pub async fn expired(services: &Services, asked: Approval) -> Result<Approval, Problem> {
    let now = services.now();
    if !asked.status.is_open() || asked.is_open(now) {
        return Ok(asked);
    }
    let mut batch = services.batch();
    let over = answer(&asked, &ApprovalAnswer::expired(), now, &mut batch);
    match services.ledger.commit(batch).await {
        Ok(_) => Ok(over),
        // Somebody else was quicker, with this or with an answer.
        Err(CommitError::Refused(Refusal::Gone { table: APPROVALS, .. })) => {
            Ok(services.ledger.approval(asked.id).await?.unwrap_or(asked))
        }
        Err(error) => Err(error.into()),
    }
}

/// Expires questions whose time has run out, so many at most.
pub async fn expire(services: &Services, most: u32) -> Result<(), Problem> {
    let mut left = most;
    loop {
        let overdue = services.ledger.overdue_approvals(services.now(), left.min(LIST_ENTRIES)).await?;
        if overdue.is_empty() || left == 0 {
            return Ok(());
        }
        left -= u32::try_from(overdue.len()).unwrap_or(left).min(left);
        for asked in overdue {
            expired(services, asked).await?;
        }
    }
}

/// What has run out is said to have: questions that nobody answered, grants that do not hold any more. Whoever comes first
/// writes it; in a house where nothing has, nothing is written.
pub async fn sweep(services: &Services) -> Result<(), Problem> {
    expire(services, u32::MAX).await?;
    let now = services.now();
    for token in services.ledger.unspent_approvals().await?.iter().filter(|token| token.is_stale(now)) {
        let mut batch = services.batch();
        void(token, CLOCK, "stale", now, &mut batch);
        match services.ledger.commit(batch).await {
            Ok(_) | Err(CommitError::Refused(Refusal::Gone { table: APPROVALS, .. })) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for grant in services.ledger.live_grants().await?.into_iter().filter(|grant| grant.is_expired(now)) {
        let mut batch = services.batch();
        let live = grant.id.to_string();
        batch
            .expect_present::<Grant>("live", &live)
            .put(&Grant { live: None, ..grant.clone() })
            .put(&log(grant.id, GrantEvent::Expired, now))
            .audit(AuditEvent::GrantExpired(&grant).entry(CLOCK, now));
        match services.ledger.commit(batch).await {
            Ok(_) | Err(CommitError::Refused(Refusal::Gone { table: GRANTS, .. })) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Enters that a yes counts for nothing any more; the entry says why: `stale`, `reset` or `restored`.
pub fn void(token: &Approval, actor: &str, why: &str, now: Time, batch: &mut Batch) {
    let spent = token.spent(Fate::Void);
    let voided = entry(&AuditEvent::ApprovalVoided(&spent), token, actor, now).with(why, true);
    batch.expect_present::<Approval>("stamp", &token.stamp).put(&spent).audit(voided);
}

/// What became of a grant; each of these happens to it once.
pub fn log(grant_id: GrantId, event: GrantEvent, at: Time) -> GrantLog {
    GrantLog { seq: Seq(None), grant_id, n: event.name().into(), event, call_id: None, at }
}

fn entry(event: &AuditEvent<'_>, asked: &Approval, actor: &str, at: Time) -> Entry {
    event.entry(actor, at).tagged(Tags { origin: asked.o_tag, reason: asked.r_tag, vpol: asked.vpol_id })
}

/// The question of an approval request, as it was kept; `None` if it was erased.
pub async fn read_question(ledger: &Ledger, asked: &Approval) -> Result<Option<Question>, Problem> {
    let Some(body) = ledger.body(&asked.question).await? else { return Ok(None) };
    let unreadable = |error: serde_json::Error| {
        Problem::new(Code::DATABASE_DAMAGED, format!("the question {} is unreadable: {error}", asked.id))
    };
    serde_json::from_slice(&body).map(Some).map_err(unreadable)
}
