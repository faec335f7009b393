//! Admit: who is this, may they, and how far. One explained record per event, and one more where the owner was asked.

use domain::Tags;
use domain::canonical;
use domain::event::{self, ContainerKind, WEBHOOK};
use domain::id::{Id, KnockId, ReasonId, TaskId};
use ledger::audit_event::SYSTEM;
use ledger::records::{Access, Blob, Entity, EntityKind, Event, Reason, Salt, Vpol};
use ledger::{AuditEvent, Batch, Entry, Ledger, StoreError};
use policy::acl::{Moment, Scene};
use policy::admit::{Admission, Admitted, EntityFacts, Facts, Kind, admit};
use serde_json::Value;

pub mod access_request;
mod outside;

pub use outside::AdmissionCounts;

use crate::parties::Party;
use crate::policies::PoliciesInForce;
use crate::services::Services;
use domain::problem::Problem;

/// Which of the decisions about an event this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionRound {
    First,
    /// With the owner's answer.
    Answered,
}

/// Where and how an event is decided about.
#[derive(Clone, Copy)]
pub struct AdmissionContext<'a> {
    pub services: &'a Services,
    pub policies: &'a dyn PoliciesInForce,
    /// On whose wall the clock hangs.
    pub zone: &'a jiff::tz::TimeZone,
}

impl std::fmt::Debug for AdmissionContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdmissionContext").finish_non_exhaustive()
    }
}

impl AdmissionContext<'_> {
    pub fn decide(&self, facts: Facts) -> Admission {
        admit(facts, self.policies.acl().0, self.policies.vpol().0)
    }
}

/// What is known about an event whose sender was erased: nothing but how it came in.
pub fn facts_without_sender(context: AdmissionContext<'_>, event: &Event) -> Facts {
    let (platform, container_kind) = (Some(event.platform.clone()), Some(event.container_kind));
    let scene = Scene { platform, container_kind, ..Scene::default() };
    let (policies, vpols) = (Some(context.policies.acl().1), Some(context.policies.vpol().1));
    let (event, adapter) = (Some(event.id), event.adapter.clone());
    Facts { event, adapter, lost: true, scene, policies, vpols, ..Facts::default() }
}

/// What is known about an event, none of it from its words.
pub async fn facts(
    context: AdmissionContext<'_>,
    event: &Event,
    person: &Party,
) -> Result<Facts, StoreError> {
    let ledger = &context.services.ledger;
    let place = ledger.place(event.place).await?;
    let account = place.as_ref().map(|place| place.account.clone()).filter(|account| !account.is_empty());
    let container = place.map(|place| place.container).filter(|container| !container.is_empty());
    let metadata = match event.metadata.filter(|_| !event.is_from_terminal()) {
        Some(metadata) => ledger.body(&metadata).await?,
        None => None,
    };
    let metadata: Value = metadata.and_then(|body| serde_json::from_slice(&body).ok()).unwrap_or_default();
    // Words of the adapter; what a sender could have written is none.
    let said = |field: &str| {
        metadata.get(field).and_then(Value::as_str).filter(|word| event::is_name(word)).map(str::to_owned)
    };
    let scene = Scene {
        platform: Some(event.platform.clone()),
        container_kind: Some(event.container_kind),
        container_id: container,
        hook_id: account.clone().filter(|_| event.adapter == WEBHOOK),
        account,
        guild: said("guild").filter(|_| event.container_kind == ContainerKind::Group),
        event_type: said("event_type"),
    };
    // What is said of a webhook is said of the one it came by, whatever it says of itself.
    let hook = match &scene.hook_id {
        Some(name) => webhook(ledger, name).await?,
        None => None,
    };
    let entity = if event.adapter == WEBHOOK { hook.as_ref() } else { person.entity.as_ref() };
    let entity = match entity {
        Some(entity) => Some(EntityFacts {
            id: entity.id,
            is_owner: entity.is_owner,
            trust: entity.trust,
            kind: kind(entity.kind),
            name: entity.name.clone(),
            relationship: entity.relationship.clone(),
            tags: ledger.tags_of(entity.id).await?,
        }),
        None => None,
    };
    let lost = person.entity.is_none() && person.identity.entity_id.is_some();
    Ok(Facts {
        event: Some(event.id),
        adapter: event.adapter.clone(),
        entity,
        verified: person.identity.is_verified,
        lost,
        inherited: None,
        scene,
        at: Some(Moment::of(context.services.now().local(context.zone))),
        // Who asked at a terminal sits at it; whether they still do is for whoever drives it.
        attended: event.is_from_terminal(),
        asked: None,
        policies: Some(context.policies.acl().1),
        vpols: Some(context.policies.vpol().1),
    })
}

/// The webhook that the owner registered under this name.
pub async fn webhook(ledger: &Ledger, name: &str) -> Result<Option<Entity>, StoreError> {
    let Some(identity) = ledger.identity_of(WEBHOOK, name).await?.filter(|one| !one.is_erased()) else {
        return Ok(None);
    };
    let entity = match identity.entity_id {
        Some(id) => ledger.entity(id).await?,
        None => None,
    };
    Ok(entity.filter(|entity| entity.kind == EntityKind::Webhook))
}

const fn kind(kind: EntityKind) -> Kind {
    match kind {
        EntityKind::Person => Kind::Person,
        EntityKind::Persona => Kind::Persona,
        EntityKind::Agent => Kind::Agent,
        EntityKind::Webhook => Kind::Webhook,
        EntityKind::System => Kind::System,
    }
}

/// What the policy of now says about an event.
pub async fn admission(
    context: AdmissionContext<'_>,
    event: &Event,
    person: &Party,
) -> Result<Admission, StoreError> {
    let facts = facts(context, event, person).await?;
    Ok(context.decide(facts))
}

/// Enters the records of a decision; the caller's batch makes them durable together with what follows from them.
pub fn enter(
    services: &Services,
    event: &Event,
    salt: Option<&Salt>,
    admission: &Admission,
    (round, knock): (AdmissionRound, Option<KnockId>),
    batch: &mut Batch,
) -> Result<Tags, Problem> {
    let picked = admission.picked.as_ref().map(|picked| picked.vpol.clone());
    let vpol = picked.unwrap_or_else(policy::vpol::Vpol::strictest);
    let rules = Blob::public(vpol.bytes());
    let tags = Tags { origin: event.origin_id, reason: services.id(), vpol: vpol.id() };
    batch.put(&rules).put(&Vpol {
        vpol_id: tags.vpol,
        name: vpol.name.clone().into_owned(),
        rules: rules.hash,
        context_bucket: None,
        enforcement_mode: vpol.mode.name().into(),
    });
    let words: Vec<String> = admission.reasons.iter().map(ToString::to_string).collect();
    let thought = Blob::public(words.join("; ").into_bytes());
    batch.put(&thought).put(&reason(services, event, admission, tags, &thought));
    // It says who they are, and where: it goes with them. Of somebody who was erased it says nothing.
    let decision = canonical::bytes(&Admitted::now(admission.clone())).map_err(Problem::internal)?;
    let decision = match salt {
        Some(salt) => Blob::personal(decision, salt),
        None => Blob::public(decision),
    };
    let n = match round {
        AdmissionRound::First => 0,
        AdmissionRound::Answered => 1,
    };
    let row = Access {
        id: services.id(),
        event_id: event.id,
        effect: admission.effect.name().into(),
        principal: admission.principal.to_string(),
        trust: admission.trust,
        reason_id: tags.reason,
        vpol_id: tags.vpol,
        decision: decision.hash,
        at: services.now(),
        n,
        knock_id: knock,
    };
    batch.put(&decision).put(&row).audit(entry(&row, event));
    if round == AdmissionRound::First {
        batch.expect_absent::<Access>("event_id", &event.id);
    }
    Ok(tags)
}

fn reason(services: &Services, event: &Event, admission: &Admission, tags: Tags, thought: &Blob) -> Reason {
    let id: ReasonId = tags.reason;
    Reason {
        id,
        r_tag: "admit".into(),
        o_tag: tags.origin,
        vpol_id: tags.vpol,
        chain_id: task_of(event).to_string(),
        parent_id: None,
        agent_id: admission.persona.clone(),
        thought: thought.hash,
        at: services.now(),
    }
}

/// The task an event opens, if it is let in: the same event never opens two.
pub fn task_of(event: &Event) -> TaskId {
    Id::derived(event.id, 0, 0)
}

/// What the audit says about a decision: which, and from what. Who it is about goes with them.
fn entry(row: &Access, event: &Event) -> Entry {
    let tags = Tags { origin: event.origin_id, reason: row.reason_id, vpol: row.vpol_id };
    AuditEvent::of_admission(row).entry(SYSTEM, row.at).trusting(row.trust).tagged(tags)
}
