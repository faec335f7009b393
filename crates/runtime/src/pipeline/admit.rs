//! Admit: who is this, may they, and how far. One explained record per event.

use domain::canonical;
use domain::id::{Id, ReasonId, TaskId};
use domain::{Digest, Tags};
use ledger::records::{Access, Blob, Event, Reason, Vpol};
use ledger::{Batch, Entry};
use policy::admit::{Admission, Admitted, EntityFacts, Facts, MAIN, admit};
use policy::vpol::pick::Kept;
use policy::vpol::{Picked, VpolSet};
use serde_json::json;

use super::{Desk, Person};
use crate::problem::Problem;

/// What the policy of now says about an event.
pub(crate) fn admission(event: &Event, person: &Person) -> Admission {
    let entity = person.entity.as_ref();
    let entity =
        entity.map(|entity| EntityFacts { id: entity.id, is_owner: entity.is_owner, trust: entity.trust });
    admit(Facts { adapter: event.adapter.clone(), entity })
}

/// Decides about an event and enters the records of the decision; the caller's batch makes them durable together
/// with what follows from them.
pub(crate) fn admitted(
    desk: &Desk,
    event: &Event,
    person: &Person,
    vpols: &VpolSet,
    batch: &mut Batch,
) -> Result<(Admission, Tags, policy::vpol::Vpol), Problem> {
    let mut admission = admission(event, person);
    let (vpol, picked) = picked(vpols, event, person, batch)?;
    admission.vpol = vpol.name.clone().into_owned();
    admission.picked = Some(picked);
    let rules = Blob::public(vpol.bytes());
    let tags = Tags { origin: event.origin_id, reason: desk.id(), vpol: vpol.id() };
    batch.put(&rules).put(&Vpol {
        vpol_id: tags.vpol,
        name: vpol.name.clone().into_owned(),
        rules: rules.hash,
        context_bucket: None,
        enforcement_mode: vpol.mode.name().into(),
    });
    let words: Vec<String> = admission.reasons.iter().map(ToString::to_string).collect();
    let thought = Blob::public(words.join("; ").into_bytes());
    batch.put(&thought).put(&reason(desk, event, tags, &thought));
    let decision = canonical::bytes(&Admitted::now(admission.clone())).map_err(Problem::internal)?;
    let decision = Blob::public(decision);
    batch.put(&decision).put(&Access {
        id: desk.id(),
        event_id: event.id,
        effect: effect(&admission).into(),
        principal: admission.principal.to_string(),
        trust: admission.trust,
        reason_id: tags.reason,
        vpol_id: tags.vpol,
        decision: decision.hash,
        at: desk.now(),
    });
    batch.expect_absent::<Access>("event_id", &event.id);
    batch.audit(entry(desk, event, &admission, tags, decision.hash));
    Ok((admission, tags, vpol))
}

/// The validation policy that is frozen for the chain. What it was picked from says something about a person, and is theirs.
fn picked(
    vpols: &VpolSet,
    event: &Event,
    person: &Person,
    batch: &mut Batch,
) -> Result<(policy::vpol::Vpol, Digest), Problem> {
    let chain = super::chain(event, person);
    let Picked { vpol, why } = vpols.pick(&chain);
    let set = Blob::public(canonical::bytes(vpols).map_err(Problem::internal)?);
    let kept =
        canonical::bytes(&Kept { event: event.id, chain, set: set.hash, why }).map_err(Problem::internal)?;
    let kept = Blob::personal(kept, &person.salt);
    batch.put(&set).put(&kept);
    Ok((vpol, kept.hash))
}

fn effect(admission: &Admission) -> &'static str {
    match admission.effect {
        policy::admit::Effect::Allow => "allow",
        policy::admit::Effect::Deny => "deny",
    }
}

fn reason(desk: &Desk, event: &Event, tags: Tags, thought: &Blob) -> Reason {
    let id: ReasonId = tags.reason;
    Reason {
        id,
        r_tag: "admit".into(),
        o_tag: tags.origin,
        vpol_id: tags.vpol,
        chain_id: task_of(event).to_string(),
        parent_id: None,
        agent_id: MAIN.into(),
        thought: thought.hash,
        at: desk.now(),
    }
}

/// The task an event opens, if it is let in: the same event never opens two.
pub(crate) fn task_of(event: &Event) -> TaskId {
    Id::derived(event.id, 0, 0)
}

fn entry(desk: &Desk, event: &Event, admission: &Admission, tags: Tags, decision: Digest) -> Entry {
    Entry {
        at: desk.now(),
        kind: "admission.decided".into(),
        actor: "system".into(),
        subject: event.id.to_string(),
        trust: Some(admission.trust),
        origin_id: Some(tags.origin),
        reason_id: Some(tags.reason),
        vpol_id: Some(tags.vpol),
        detail: json!({ "effect": effect(admission), "principal": admission.principal.to_string(), "decision": decision }),
    }
}
