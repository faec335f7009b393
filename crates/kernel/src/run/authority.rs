//! What decides about the calls of one run, and what answers its asks, as it stood at one moment.

use std::sync::Arc;
use std::time::Duration;

use broker::budget::{Accounts, Limits, Scope, Standing};
use broker::secrets::Secrets;
use broker::{Broker, Policies, Registry};
use domain::{Time, Trust};
use engine::task::Opening;
use ledger::{Ledger, StoreError};
use llm::{Provider, StandingInstructions};
use policy::acl::Permissions;
use policy::admit::Admission;
use policy::vpol::Vpol;

use super::admitted::source;
use super::{ProviderKind, RunContext};
use crate::ask_model::AskModel;
use crate::services::Services;
use crate::tool_set::ToolSet;
use domain::problem::Problem;

/// Tools, settings and permissions of a run at one moment. It is taken again after every answer of a person.
pub(crate) struct AuthoritySnapshot {
    /// Answers what the task machine asks.
    pub(crate) provider: Arc<dyn Provider>,
    /// What the provider puts into every system prompt.
    pub(crate) instructions: StandingInstructions,
    pub(crate) registry: Registry,
    /// The handler behind asking a model.
    pub(crate) models: Arc<AskModel>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) limits: Limits,
    /// Who is asked for an approval first, and how long the request stays open.
    pub(crate) approver: String,
    pub(crate) approval_time: Duration,
    pub(crate) trust: Trust,
    pub(crate) tools: Vec<String>,
    pub(crate) permissions: Permissions,
    /// The names by which a grant can mean the principal.
    pub(crate) labels: Vec<String>,
    pub(crate) roles: Vec<String>,
    /// The validation policy that such a chain would be given now.
    pub(crate) vpol: Vpol,
}

impl RunContext<'_> {
    /// What follows from an admission, never beyond `limit`: what the chain was permitted when it began.
    pub(crate) async fn snapshot(
        &self,
        admission: Admission,
        limit: &Permissions,
        begun: Option<ProviderKind>,
    ) -> Result<AuthoritySnapshot, Problem> {
        let kernel = self.kernel;
        let tools = kernel.tools_in(&self.request.workspace, Arc::clone(&self.request.surface)).await?;
        let ToolSet { registry, models, .. } = tools;
        let settings = kernel.parts.host.run_settings()?;
        let settings = settings.as_ref().unwrap_or(&kernel.parts.settings);
        let instructions = StandingInstructions::default();
        let provider = self.provider(source(&admission), &registry, begun, &instructions).await?;
        let (labels, roles) = (admission.facts.labels(), admission.facts.roles());
        let Admission { trust, tools, picked, permissions, .. } = admission;
        Ok(AuthoritySnapshot {
            provider,
            instructions,
            registry,
            models,
            secrets: Arc::new(kernel.parts.host.secrets()?),
            limits: settings.budgets.clone(),
            approver: settings.approvers.first().cloned().unwrap_or_default(),
            approval_time: settings.approval_time,
            trust,
            tools,
            permissions: permissions.no_further_than(limit),
            labels,
            roles,
            vpol: picked.map_or_else(Vpol::strictest, |picked| picked.vpol),
        })
    }

    /// The accounts that the use of this task is counted under. Each `run` is a session of its own.
    pub(crate) fn accounts(&self, opening: &Opening, now: Time) -> Accounts {
        let task = opening.task.to_string();
        Accounts {
            session: format!("{}/{task}", opening.agent),
            task,
            agent: opening.agent.clone(),
            principal: opening.principal.to_string(),
            day: now.date(self.kernel.zone()),
        }
    }
}

impl AuthoritySnapshot {
    pub(crate) fn broker(&self, services: &Services) -> Broker {
        let (clock, probe) = (Arc::clone(&services.clock), Arc::clone(&services.probe));
        Broker::new(self.registry.clone(), Arc::clone(&self.secrets), clock, probe)
    }

    /// What is used of the budgets that are limited.
    pub(crate) async fn budget_usage(
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
}
