//! Grants: what agents may do without asking the owner.

mod add;
mod audit;
mod list;
mod revoke;

use std::time::Duration;

use broker::grant::Terms;
use domain::Time;
use domain::call::ToolId;
use domain::id::{ApprovalId, GrantId};
use ledger::Found;
use ledger::records::{Grant, GrantEvent};
use present::approval::describe_scope;
use present::{Page, Style, Tone, inline, pluralize};
use serde::Serialize;

use kernel::{Code, Problem, Services};

use crate::App;
use crate::operation::{OperationEntry, OperationGroup, Output};

pub use add::{AddGrant, NewGrant};
pub use audit::{AuditGrants, GrantLine, GrantLog};
pub use list::{GrantList, ListGrants};
pub use revoke::RevokeGrant;

pub const GROUP: OperationGroup = OperationGroup::new(
    "grants",
    "What may be done without asking you",
    &["regent grants list", "regent grants add write_file 'path=reports/*' --for 7d"],
    &[
        OperationEntry::of::<ListGrants>(),
        OperationEntry::of::<AddGrant>(),
        OperationEntry::of::<RevokeGrant>(),
        OperationEntry::of::<AuditGrants>(),
    ],
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantState {
    Live,
    Expired,
    Revoked,
}

impl GrantState {
    const fn label(self) -> (&'static str, Tone) {
        match self {
            Self::Live => ("live", Tone::Good),
            Self::Expired => ("expired", Tone::Faint),
            Self::Revoked => ("revoked", Tone::Faint),
        }
    }
}

/// A grant as it is now.
#[derive(Clone, Debug, Serialize)]
pub struct GrantView {
    pub id: GrantId,
    pub short: String,
    pub tool: ToolId,
    /// `None` if they were erased.
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

impl Output for GrantView {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(self.row(style));
        page
    }
}

impl GrantView {
    /// The grant on one line.
    fn row(&self, style: &Style<'_>) -> String {
        let what = self.terms.as_ref().map_or_else(|| "(erased)".into(), describe_terms);
        let end = match (self.revoked_at, self.expires_at) {
            (Some(at), _) => format!("revoked {}", at.date_time(style.zone)),
            (None, Some(at)) => format!("until {}", at.date_time(style.zone)),
            (None, None) => "until it is revoked".into(),
        };
        let (word, tone) = self.state.label();
        let id = style.theme.paint_command(&format!("{:<8}", self.short));
        let state = style.theme.paint(&format!("{word:<8}"), tone);
        format!("{id} {state} {what}; {end}, used {}", pluralize(self.used, "time", "times"))
    }
}

fn describe_terms(terms: &Terms) -> String {
    let session = match &terms.session {
        Some(session) => format!(", session {}", inline(session)),
        None => String::new(),
    };
    let reason = match terms.reason.as_str() {
        "" => String::new(),
        reason => format!(": {}", inline(reason)),
    };
    let whom = match terms.principal.as_str() {
        "owner" => String::new(),
        principal => format!(", for {}", inline(principal)),
    };
    format!("{}{whom}, agent {}{session}{reason}", describe_scope(terms), inline(&terms.agent))
}

/// After this long, one that lasts until it is revoked is shown as worth another look.
const LOOK_AGAIN: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The grants of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Grants<'a> {
    pub(crate) app: &'a App,
}

impl Grants<'_> {
    async fn find(self, id: &str) -> Result<Grant, Problem> {
        let unknown = || {
            Problem::new(Code::NO_SUCH_ID, format!("no grant is called `{id}`")).remedy("regent grants list")
        };
        match self.app.kernel.find(id).await {
            Ok(Found::Grant(grant)) => Ok(*grant),
            Ok(_) => Err(unknown()),
            Err(problem) if problem.code == Code::NO_SUCH_ID => Err(unknown()),
            Err(problem) => Err(problem),
        }
    }

    async fn view(self, services: &Services, grant: Grant) -> Result<GrantView, Problem> {
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
