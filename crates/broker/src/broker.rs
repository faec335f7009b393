//! The door itself: the tools there are, the facts that decide about a call, and the one place from which it is run.

use std::sync::Arc;

use domain::call::{Call, Failure, ToolId};
use domain::canonical::{self, NotCanonical};
use domain::principal::Principal;
use domain::probe::Probe;
use domain::source::Text;
use domain::task::MustNot;
use domain::{Clock, Trust};
use ledger::records::{Approval, Blob, Salt};
use policy::acl::Permissions;
use serde_json::Value;

use crate::access::Switches;
use crate::budget::{Accounts, Limits, Reservation, Standing};
use crate::decide::{Answer, Leave};
use crate::decision_inputs::DecisionInputs;
use crate::door::Ruled;
use crate::grant::Granted;
use crate::looked::Looked;
use crate::question::Question;
use crate::registry::Registry;
use crate::secrets::Secrets;
use crate::validation::Validation;

#[derive(Clone)]
pub struct Broker {
    registry: Registry,
    secrets: Arc<Secrets>,
    clock: Arc<dyn Clock>,
    probe: Arc<dyn Probe>,
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broker").field("registry", &self.registry).finish_non_exhaustive()
    }
}

/// Everything that the kernel knows about one call when it asks for it: on whose behalf, how far they may go, and what
/// counts at this context.
#[derive(Clone, Copy, Debug)]
pub struct CallContext<'a> {
    pub agent: &'a str,
    pub principal: &'a Principal,
    pub trust: Trust,
    pub roles: &'a [String],
    /// By which names a grant can mean the principal.
    pub labels: &'a [String],
    /// How far they may go.
    pub permissions: &'a Permissions,
    pub request: &'a Text,
    /// Of the person whose words the chain carries.
    pub salt: &'a Salt,
    pub switches: &'a Switches,
    pub limits: &'a Limits,
    pub accounts: &'a Accounts,
    /// What is used of the budgets.
    pub standing: &'a Standing,
    /// The policies that the call is under.
    pub validation: Validation<'a>,
    /// Grants that hold.
    pub grants: &'a [Granted],
    /// What the call would change.
    pub looked: Option<&'a Looked>,
    /// The answer to the approval request about it.
    pub leave: Option<&'a Approval>,
    /// What the plan is not to use.
    pub must_not: Option<&'a MustNot>,
}

impl Broker {
    #[must_use]
    pub fn new(
        registry: Registry,
        secrets: Arc<Secrets>,
        clock: Arc<dyn Clock>,
        probe: Arc<dyn Probe>,
    ) -> Self {
        Self { registry, secrets, clock, probe }
    }

    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(crate) fn probe(&self) -> &dyn Probe {
        &*self.probe
    }

    /// What a call would change, as its tool sees it now. With the arguments as the handler gets them, but for secrets.
    ///
    /// # Errors
    /// If the tool cannot say it. Then it does nothing either, see [`Handler::look`](crate::Handler::look).
    pub async fn look(&self, tool: &ToolId, args: &Value) -> Result<Option<Looked>, Failure> {
        let Some(entry) = self.registry.entry(tool) else { return Ok(None) };
        entry.accepts(args).map_err(Failure::logical)?;
        let Some(looked) = entry.handler.look(&entry.whole(args)).await? else { return Ok(None) };
        Ok(Some(looked.without(|text| self.secrets.found_in_text(text).is_some())))
    }

    /// Asks every layer about a call, with the facts that the registry adds. INVARIANT (kept): arguments and
    /// tool, the only facts without a type of their own, are in the form in which they are kept.
    ///
    /// # Errors
    /// If the arguments have no canonical form, so that nothing could be recorded of them.
    pub fn authorize(&self, mut call: Call, context: &CallContext<'_>) -> Result<Ruled, NotCanonical> {
        let entry = self.registry.entry(&call.tool);
        let tier = entry.map_or(domain::Tier::ReadOnly, |entry| entry.tier(&call.args));
        let (spec, tool) =
            entry.map(|entry| entry.kept()).transpose()?.map(|(spec, tool)| (spec, tool)).unzip();
        let validation = context.validation.of_chain(call.tags.vpol);
        let policies = validation.policies;
        let request = Blob::personal(context.request.text.clone().into_bytes(), context.salt);
        let leaks = self.secrets.found_in(&call.args).map(str::to_owned);
        if leaks.is_some() {
            // It will be denied, and all that is kept of it must not hold the value either.
            self.secrets.hide(&mut call.args);
        }
        // Decided on as they are kept, so that the same follows from the record: names in order, 2.0 as 2.
        let kept_args = canonical::bytes(&call.args)?;
        let args_bytes = kept_args.len() as u64;
        call.args = canonical::read(&kept_args)?;
        let share = entry.map(|entry| {
            let (spec, cost) = (&entry.spec, entry.cost(&call.args));
            let limits = policies.limits(context.limits, spec, tier);
            context.standing.reserve(&limits, context.accounts, spec, (cost, args_bytes))
        });
        let (share, exhausted) = match share.transpose() {
            Ok(share) => (share.unwrap_or_default(), None),
            Err(exhausted) => ((Reservation::default(), None), Some(exhausted)),
        };
        let form = entry.map_or(Ok(()), |entry| entry.accepts(&call.args));
        let leave =
            context.leave.and_then(|asked| asked.unspent().map(|to| Leave { approval: asked.id, to }));
        let of_now = validation.of_now();
        let mut inputs = DecisionInputs {
            tool: tool.map(|tool| tool.hash),
            switch: context.switches.of_both(&call.tool, entry.and_then(|entry| entry.behind.as_ref())),
            form,
            tier,
            agent: context.agent.into(),
            principal: context.principal.clone(),
            trust: context.trust,
            roles: context.roles.to_vec(),
            labels: context.labels.to_vec(),
            permissions: context.permissions.clone(),
            needs: entry.map_or_else(Vec::new, |entry| entry.needs.clone()),
            vpol: policies.frozen.map(|_| call.tags.vpol),
            of_now: of_now.as_ref().map(|(of_now, _)| *of_now),
            circumstances: validation.circumstances(context.looked.is_some_and(Looked::can_be_undone)),
            exhausted,
            leaks,
            request: request.hash,
            source: context.request.source.clone(),
            session: context.accounts.session.clone(),
            grants: context
                .grants
                .iter()
                .filter(|granted| granted.terms.tool == call.tool)
                .cloned()
                .collect(),
            changes: context.looked.map(Looked::changes),
            place: entry.and_then(|entry| entry.handler.place()),
            fingerprint: None,
            leave,
            must_not: context.must_not.cloned().unwrap_or_default(),
            call,
        };
        if leave.is_some() {
            let compared = inputs.fingerprint(context.salt)?;
            #[cfg(feature = "mutants")]
            let compared = crate::mutant::compared(compared, leave);
            inputs.fingerprint = Some(compared);
        }
        let decision = inputs.decide(spec, policies, &context.request.text);
        #[cfg(feature = "mutants")]
        let decision = decision.counted(|decision| crate::mutant::counted(decision, &inputs));
        let question = match (decision.answer, spec) {
            (Answer::Review, Some(spec)) => {
                inputs.fingerprint = Some(inputs.fingerprint(context.salt)?);
                Some(Question::about(&inputs, &decision, spec, policies, context.request, context.looked))
            }
            _ => None,
        };
        let bodies =
            tool.cloned().into_iter().chain([request]).chain(of_now.map(|(_, rules)| rules)).collect();
        let ruled = Ruled::new(decision, inputs, bodies, share, context.salt)?;
        ruled.with(question, context.leave.cloned()).keeping(context.looked, context.salt)
    }
}
