//! What was granted, to whom, and what came of it.

use std::collections::BTreeMap;
use std::time::Duration;

use broker::grant::Terms;
use domain::Time;
use domain::call::ToolId;
use domain::id::{ApprovalId, CallId, GrantId};
use domain::principal::Principal;
use ledger::records::{Grant, GrantEvent};
use ledger::{CommitError, Found, Refusal};
use serde::Serialize;
use serde_json::json;

use kernel::Services;
use kernel::approvals::{self as approve, GRANTS};

use crate::App;
use kernel::{Code, Problem};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantState {
    Live,
    Expired,
    Revoked,
}

#[derive(Clone, Debug, Serialize)]
pub struct GrantView {
    pub id: GrantId,
    pub short: String,
    pub tool: ToolId,
    /// Nothing if they were erased.
    pub terms: Option<Terms>,
    pub state: GrantState,
    pub created_at: Time,
    pub expires_at: Option<Time>,
    pub revoked_at: Option<Time>,
    pub granted_by: String,
    pub request: Option<ApprovalId>,
    pub used: u64,
    /// Whether it lasts until it is revoked, and was given so long ago that it should be looked at again.
    pub look_again: bool,
}

/// A grant as the owner writes it by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGrant {
    pub tool: String,
    pub pins: BTreeMap<String, String>,
    /// `owner`, somebody who is known, `relationship:…` or `tag:…`.
    pub principal: String,
    pub agent: String,
    pub session: Option<String>,
    /// Nothing: until it is revoked.
    pub lasting: Option<Duration>,
    pub reason: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct GrantLine {
    pub at: Time,
    pub grant: GrantId,
    pub short: String,
    pub event: GrantEvent,
    pub call: Option<CallId>,
}

/// After this long, one that lasts until it is revoked is shown as worth another look.
const LOOK_AGAIN: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The grants of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Grants<'a> {
    pub(crate) app: &'a App,
}

impl Grants<'_> {
    /// Every grant, oldest first; those that hold and those that do not any more.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "grants.list", skip_all)]
    pub async fn list(self) -> Result<Vec<GrantView>, Problem> {
        let services = self.app.kernel.services().await?;
        let mut views = Vec::new();
        for grant in services.ledger.grants().await? {
            views.push(self.grant_view(&services, grant).await?);
        }
        Ok(views)
    }

    /// # Errors
    /// If there is no such tool, a sink is not pinned, or the ledger fails.
    #[tracing::instrument(level = "info", name = "grants.add", skip_all)]
    pub async fn add(self, new: NewGrant) -> Result<GrantView, Problem> {
        let services = self.app.kernel.services().await?;
        let now = services.now();
        let spec = self.app.tools().show(&new.tool).await?.spec;
        let wrong = |what: String| {
            Problem::new(Code::BAD_GRANT, what)
                .safe("nothing was granted")
                .remedy(format!("regent tools show {}", spec.id))
        };
        let open: Vec<&str> =
            spec.sinks.iter().map(String::as_str).filter(|sink| !new.pins.contains_key(*sink)).collect();
        // A sink that a call may leave out needs no pin: a call that has it is not covered.
        let required = |sink: &&&str| {
            let required = spec.input_schema.get("required").and_then(serde_json::Value::as_array);
            required.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(**sink)))
        };
        if let Some(sink) = open.iter().find(required) {
            return Err(wrong(format!(
                "`{sink}` decides what {} touches, and is not pinned: {sink}=…",
                spec.id
            )));
        }
        let known = spec.input_schema.get("properties").and_then(serde_json::Value::as_object);
        let unknown = |name: &&String| known.is_some_and(|known| !known.contains_key(*name));
        if let Some(name) = new.pins.keys().find(unknown) {
            return Err(wrong(format!("{} takes no `{name}`, so the grant would never hold", spec.id)));
        }
        if new.pins.is_empty() {
            return Err(wrong(format!("a grant for {} has to say for which arguments", spec.id)));
        }
        let starred = new.pins.values().any(|pin| pin.contains('*'));
        if spec.tier > domain::Tier::WriteSafe && starred {
            let what = format!(
                "{} can destroy something: a grant for it names the very values, without `*`",
                spec.id
            );
            return Err(wrong(what));
        }
        let owner =
            kernel::parties::owner(&services, &self.app.host.user(), self.app.settings.get("owner.name"))
                .await?;
        let terms = Terms {
            tool: spec.id.clone(),
            nature: spec.nature(),
            principal: self.label(&services, &new.principal).await?,
            agent: new.agent,
            session: new.session,
            pins: new.pins,
            by_hand: true,
            reason: new.reason,
        };
        let mut batch = services.batch();
        owner.enter(&mut batch);
        let (id, until) = (services.id(), new.lasting.map(|lasting| now.plus(lasting)));
        let grant = approve::grant(id, &terms, until, None, &owner.salt, now, &mut batch)?;
        services.ledger.commit(batch).await?;
        self.grant_view(&services, grant).await
    }

    /// The name by which a grant means somebody, or everybody of a kind.
    async fn label(self, services: &Services, who: &str) -> Result<String, Problem> {
        if who == "owner" || who.starts_with("relationship:") || who.starts_with("tag:") {
            crate::people::words::label(who)?;
            return Ok(who.to_owned());
        }
        let entity = self.app.people().known_person(services, who).await?;
        let owner = entity.is_owner;
        Ok(if owner { "owner".to_owned() } else { Principal::Known { entity: entity.id }.to_string() })
    }

    /// # Errors
    /// If there is no such grant, it does not hold any more, or the ledger fails.
    #[tracing::instrument(level = "info", name = "grants.revoke", skip_all)]
    pub async fn revoke(self, id: &str) -> Result<GrantView, Problem> {
        let services = self.app.kernel.services().await?;
        let now = services.now();
        let grant = self.granted(id).await?;
        let Some(live) = grant.live.clone() else { return Err(self.revoked(&grant).await?) };
        let revoked = Grant { live: None, revoked_at: Some(now), ..grant.clone() };
        let mut batch = services.batch();
        batch
            .expect_present::<Grant>("live", &live)
            .put(&revoked)
            .put(&approve::log(grant.id, GrantEvent::Revoked, now))
            .audit(approve::of_grant(
                "grant.revoked",
                &grant,
                "owner",
                now,
                json!({ "tool": grant.tool_id }),
            ));
        match services.ledger.commit(batch).await {
            Ok(_) => self.grant_view(&services, revoked).await,
            Err(CommitError::Refused(Refusal::Gone { table: GRANTS, .. })) => {
                Err(self.revoked(&grant).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What became of the grants, in order; of one, or of all.
    ///
    /// # Errors
    /// If there is no such grant, or the ledger fails.
    #[tracing::instrument(level = "info", name = "grants.log", skip_all)]
    pub async fn log(self, id: Option<&str>) -> Result<Vec<GrantLine>, Problem> {
        let services = self.app.kernel.services().await?;
        let of = match id {
            Some(id) => Some(self.granted(id).await?.id),
            None => None,
        };
        let mut lines = Vec::new();
        for log in services.ledger.grant_log(of).await? {
            lines.push(GrantLine {
                at: log.at,
                short: self.app.kernel.short(log.grant_id).await?,
                grant: log.grant_id,
                event: log.event,
                call: log.call_id,
            });
        }
        Ok(lines)
    }

    async fn granted(self, id: &str) -> Result<Grant, Problem> {
        match self.app.kernel.find(id).await? {
            Found::Grant(grant) => Ok(*grant),
            _ => {
                Err(Problem::new(Code::NO_SUCH_ID, format!("`{id}` is no grant"))
                    .remedy("regent grants list"))
            }
        }
    }

    async fn revoked(self, grant: &Grant) -> Result<Problem, Problem> {
        let how = if grant.revoked_at.is_some() { "was revoked already" } else { "has expired" };
        let what = format!("{} {how}", self.app.kernel.short(grant.id).await?);
        Ok(Problem::new(Code::ANSWERED, what).safe("nothing was done").remedy("regent grants list"))
    }

    async fn grant_view(self, services: &Services, grant: Grant) -> Result<GrantView, Problem> {
        let now = services.now();
        let terms = services.ledger.body(&grant.terms).await?;
        let log = services.ledger.grant_log(Some(grant.id)).await?;
        let used = log.iter().filter(|log| log.event == GrantEvent::Used).count();
        let state = match grant.revoked_at {
            Some(_) => GrantState::Revoked,
            // Once it is on record that it expired, no clock brings it back.
            None if grant.live.is_none() || grant.is_expired(now) => GrantState::Expired,
            None => GrantState::Live,
        };
        let old = !now.is_within(grant.created_at, grant.created_at.plus(LOOK_AGAIN));
        Ok(GrantView {
            short: self.app.kernel.short(grant.id).await?,
            id: grant.id,
            tool: grant.tool_id,
            terms: terms.and_then(|terms| serde_json::from_slice(&terms).ok()),
            state,
            look_again: state == GrantState::Live && grant.expires_at.is_none() && old,
            created_at: grant.created_at,
            expires_at: grant.expires_at,
            revoked_at: grant.revoked_at,
            granted_by: grant.granted_by,
            request: grant.request_id,
            used: used as u64,
        })
    }
}
