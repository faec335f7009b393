//! What was granted, to whom, and what came of it.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::Time;
use domain::call::ToolId;
use domain::id::{ApprovalId, CallId, GrantId};
use ledger::records::GrantEvent;
use serde::Serialize;

use super::App;
use crate::problem::Problem;

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
    pub terms: Option<broker::grant::Terms>,
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

impl App {
    /// Every grant, oldest first; those that hold and those that do not any more.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn grants(&self) -> Result<Vec<GrantView>, Problem> {
        Err(Problem::internal("not yet"))
    }

    /// # Errors
    /// If there is no such tool, a sink is not pinned, or the ledger fails.
    pub async fn grant_add(&self, _new: NewGrant) -> Result<GrantView, Problem> {
        Err(Problem::internal("not yet"))
    }

    /// # Errors
    /// If there is no such grant, it does not hold any more, or the ledger fails.
    pub async fn grant_revoke(&self, _id: &str) -> Result<GrantView, Problem> {
        Err(Problem::internal("not yet"))
    }

    /// What became of the grants, in order; of one, or of all.
    ///
    /// # Errors
    /// If there is no such grant, or the ledger fails.
    pub async fn grant_log(&self, _id: Option<&str>) -> Result<Vec<GrantLine>, Problem> {
        Err(Problem::internal("not yet"))
    }
}
