//! What decides about the calls of one task: its tools, and what the house says at this moment.

use std::sync::Arc;

use broker::budget::{Accounts, Limits, Scope, Standing};
use broker::grant::Granted;
use broker::secrets::Secrets;
use broker::{Asker, Broker, Looked, Moment, Policies, Registry, Ruled, Validation};
use domain::Time;
use domain::call::Call;
use domain::canonical::NotCanonical;
use domain::task::MustNot;
use engine::task::Opening;
use ledger::records::{Approval, Salt};
use ledger::{Ledger, StoreError};
use policy::acl::Permissions;
use policy::admit::Admission;

use super::{AskModel, Desk};
use crate::host::Host;

/// The authority that one driver asks.
#[derive(Clone)]
pub(crate) struct Authority {
    pub(crate) registry: Registry,
    /// What stands behind asking a model.
    pub(crate) models: Arc<AskModel>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) limits: Limits,
    pub(crate) zone: jiff::tz::TimeZone,
    pub(crate) host: Arc<dyn Host>,
    /// Who is asked first, and how long a question stands.
    pub(crate) chain: Vec<String>,
    pub(crate) open_for: std::time::Duration,
}

/// How far the chain may go, and under which names it is known.
#[derive(Clone, Debug)]
pub(crate) struct Rights {
    pub(crate) permissions: Permissions,
    pub(crate) labels: Vec<String>,
    pub(crate) roles: Vec<String>,
}

impl Rights {
    /// What an admission gives.
    pub(crate) fn of(admission: &Admission) -> Self {
        Self {
            permissions: admission.permissions.clone(),
            labels: admission.facts.labels(),
            roles: admission.facts.roles(),
        }
    }

    /// The same, and nothing that was not given before: a chain only ever loses.
    pub(crate) fn no_further_than(self, then: &Permissions) -> Self {
        Self { permissions: self.permissions.no_further_than(then), ..self }
    }
}

/// How things stand for one call.
#[derive(Clone, Copy)]
pub(crate) struct Brought<'a> {
    pub(crate) rights: &'a Rights,
    pub(crate) accounts: &'a Accounts,
    pub(crate) standing: &'a Standing,
    pub(crate) validation: Validation<'a>,
    pub(crate) looked: Option<&'a Looked>,
    pub(crate) leave: Option<&'a Approval>,
    pub(crate) grants: &'a [Granted],
    /// What the plan is not to use.
    pub(crate) must_not: Option<&'a MustNot>,
}

impl Authority {
    pub(crate) fn broker(&self, desk: &Desk) -> Broker {
        let (clock, probe) = (Arc::clone(&desk.clock), Arc::clone(&desk.probe));
        Broker::new(self.registry.clone(), Arc::clone(&self.secrets), clock, probe)
    }

    /// Under which names the use of this task is counted. Each `run` is a session of its own.
    pub(super) fn accounts(&self, opening: &Opening, now: Time) -> Accounts {
        let task = opening.task.to_string();
        Accounts {
            session: format!("{}/{task}", opening.agent),
            task,
            agent: opening.agent.clone(),
            principal: opening.principal.to_string(),
            day: now.date(&self.zone),
        }
    }

    /// What is used of the budgets that are limited.
    pub(super) async fn standing(
        &self,
        ledger: &Ledger,
        accounts: &Accounts,
        policies: Policies<'_>,
    ) -> Result<Standing, StoreError> {
        if self.limits.is_empty() && !policies.are_budgeted() {
            return Ok(Standing::default());
        }
        let names: Vec<String> = Scope::ALL.iter().map(|scope| accounts.name(*scope)).collect();
        Ok(Standing::of(&ledger.budgets(&names).await?))
    }

    /// Asks every layer, with the switches as they stand now.
    pub(super) fn ask(
        &self,
        broker: &Broker,
        call: Call,
        opening: &Opening,
        salt: &Salt,
        brought: Brought<'_>,
    ) -> Result<Ruled, NotCanonical> {
        let asker = Asker {
            agent: &opening.agent,
            principal: &opening.principal,
            trust: opening.trust,
            roles: &brought.rights.roles,
            labels: &brought.rights.labels,
            permissions: &brought.rights.permissions,
            request: &opening.request,
            salt,
        };
        let switches = self.host.switches();
        broker.authorize(
            call,
            &asker,
            &Moment {
                grants: brought.grants,
                looked: brought.looked,
                leave: brought.leave,
                must_not: brought.must_not,
                ..Moment::plain(
                    &switches,
                    &self.limits,
                    brought.accounts,
                    brought.standing,
                    brought.validation,
                )
            },
        )
    }
}
