//! `acl enable` and `acl disable`.

use clap::Args;
use domain::Digest;
use kernel::Problem;
use ledger::AuditEvent;
use ledger::records::{ActivePolicies, PolicySwitch};
use policy::acl::PolicySet;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AclLine;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};
use crate::policies::in_force::{self, PartlyInForce, PendingActivation, PolicyFiles, PolicyKind};
use crate::policies::warning::PolicyWarnings;
use crate::policies::{Policies, no_such_policy};
use ledger::audit_event::OWNER;

/// Switch a policy on, whatever its file says
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct EnablePolicy {
    pub name: String,
}

impl Operation for EnablePolicy {
    const SPEC: OperationSpec =
        OperationSpec::new("acl enable", OperationAccess::ADMIN, &["regent acl enable quiet-hours"])
            .route(HttpMethod::Post, "/acl/policies/{name}/enable");
    type Output = PolicySwitchResult;

    async fn run(self, context: &OperationContext<'_>) -> Result<PolicySwitchResult, OperationError> {
        PolicySwitchResult::of(context, &self.name, true).await
    }
}

/// Switch a policy off, whatever its file says; a denial that is off denies nothing
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct DisablePolicy {
    pub name: String,
}

impl Operation for DisablePolicy {
    const SPEC: OperationSpec =
        OperationSpec::new("acl disable", OperationAccess::ADMIN, &["regent acl disable friends-access"])
            .route(HttpMethod::Post, "/acl/policies/{name}/disable");
    type Output = PolicySwitchResult;

    async fn run(self, context: &OperationContext<'_>) -> Result<PolicySwitchResult, OperationError> {
        PolicySwitchResult::of(context, &self.name, false).await
    }
}

/// The switched policy, with what the owner has to know afterwards.
#[derive(Debug, Serialize)]
pub struct PolicySwitchResult {
    #[serde(flatten)]
    pub line: AclLine,
    /// Notes, also beside data.
    #[serde(skip)]
    warnings: PolicyWarnings,
}

impl PolicySwitchResult {
    async fn of(context: &OperationContext<'_>, name: &str, enabled: bool) -> Result<Self, OperationError> {
        let line = context.app.policies().switch(name, enabled).await?;
        let mut switched = Self { line, warnings: PolicyWarnings::default() };
        match context.app.policies().warnings().await {
            Ok(warnings) => switched.warnings = warnings,
            Err(problem) => {
                context.emit(&switched)?;
                return Err(problem.into());
            }
        }
        if context.io.reads_data() {
            context.io.note(&switched.warnings.render(context.io.style().note_theme));
        }
        Ok(switched)
    }
}

impl Output for PolicySwitchResult {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(self.line.row(style));
        page.append(self.warnings.render(style.note_theme));
        page
    }
}

impl Policies<'_> {
    /// Switches a policy on or off, whatever its file says. Where the files have mistakes it counts for the last good set.
    ///
    /// # Errors
    /// If there is no such policy, or the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.switch", skip_all)]
    pub async fn switch(self, name: &str, enabled: bool) -> Result<AclLine, Problem> {
        const TRIES: u32 = 20;
        let services = self.app.kernel.services().await?;
        let mut tries = 1..TRIES;
        loop {
            let (active, _) = in_force::activate::<PolicySet>(&services, &*self.app.host, OWNER).await?;
            active.set.get(name).ok_or_else(|| no_such_policy(&active.set, name))?;
            // What is on record is switched: a policy whose file was deleted is left out of that again.
            let (set, digest) = match active.partly {
                Some(PartlyInForce { set, digest, .. }) => (set, digest),
                None => (active.set, active.digest),
            };
            let row = PolicySwitch { name: name.to_owned(), enabled, at: services.now() };
            let before = services.ledger.policy_switches().await?;
            let kept = services.ledger.active_policies(PolicyKind::Acl.name()).await?;
            let Some(kept) = kept.filter(|kept| kept.policies == digest) else {
                // Somebody has put others in force a moment ago.
                if tries.next().is_some() {
                    continue;
                } else {
                    return Err(Problem::internal("policies change all the time"));
                }
            };
            let set = in_force::PolicyRules::switched(set, std::slice::from_ref(&row));
            let sources = self.sources_switched(&kept, &before, &row)?;
            let fresh = PendingActivation::of(&set, Some(&kept), sources, false, services.now())?;
            let mut batch = services.batch();
            batch.put(&row).audit(AuditEvent::PolicySwitched(&row).entry(OWNER, services.now()));
            fresh.expect(&mut batch);
            fresh.enter(OWNER, &mut batch);
            match services.ledger.commit(batch).await {
                Ok(_) => {
                    let line = self.acl_lines(&set).into_iter().find(|line| line.name == name);
                    return line.ok_or_else(|| no_such_policy(&set, name));
                }
                Err(error) if in_force::is_overtaken(&error) && tries.next().is_some() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// From what a switched set is made: the files and the switches; or, where it is the last good set of other files, that.
    fn sources_switched(
        self,
        kept: &ActivePolicies,
        before: &[PolicySwitch],
        row: &PolicySwitch,
    ) -> Result<Digest, Problem> {
        let made = PolicyFiles::of::<PolicySet>(self.app.host.policies(PolicyKind::Acl));
        let mut after: Vec<PolicySwitch> =
            before.iter().filter(|known| known.name != row.name).cloned().collect();
        after.push(row.clone());
        match (made.digest(before)?, made.digest(&after)?) {
            (Some(then), Some(now)) if then == kept.sources => Ok(now),
            _ => {
                let from = (kept.sources, &row.name, row.enabled);
                Ok(Digest::of(&domain::canonical::bytes(&from).map_err(Problem::internal)?))
            }
        }
    }
}
