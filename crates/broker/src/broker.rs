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
use crate::door::Ruled;
use crate::grant::Granted;
use crate::kept::MadeFrom;
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

/// On whose behalf a call is asked for, and what they may.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
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
}

/// What the house says at this moment.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    pub switches: &'a Switches,
    pub limits: &'a Limits,
    pub accounts: &'a Accounts,
    pub standing: &'a Standing,
    /// The policies that the call is under.
    pub validation: Validation<'a>,
    /// Grants that hold.
    pub grants: &'a [Granted],
    /// What the call would change.
    pub looked: Option<&'a Looked>,
    /// The answer to the question that was asked about it.
    pub leave: Option<&'a Approval>,
    /// What the plan is not to use.
    pub must_not: Option<&'a MustNot>,
}

impl<'a> Moment<'a> {
    /// Nothing granted, nothing looked at, nobody asked before.
    #[must_use]
    pub const fn plain(
        switches: &'a Switches,
        limits: &'a Limits,
        accounts: &'a Accounts,
        standing: &'a Standing,
        validation: Validation<'a>,
    ) -> Self {
        let (looked, leave, must_not) = (None, None, None);
        Self { switches, limits, accounts, standing, validation, grants: &[], looked, leave, must_not }
    }
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

    /// Asks every layer about a call, with the facts that the registry and the moment add. INVARIANT (kept): arguments and
    /// tool, the only facts without a type of their own, are in the form in which they are kept.
    ///
    /// # Errors
    /// If the arguments have no canonical form, so that nothing could be recorded of them.
    pub fn authorize(
        &self,
        mut call: Call,
        asker: &Asker<'_>,
        moment: &Moment<'_>,
    ) -> Result<Ruled, NotCanonical> {
        let entry = self.registry.entry(&call.tool);
        let tier = entry.map_or(domain::Tier::ReadOnly, |entry| entry.tier(&call.args));
        let (spec, tool) =
            entry.map(|entry| entry.kept()).transpose()?.map(|(spec, tool)| (spec, tool)).unzip();
        let validation = moment.validation.of_chain(call.tags.vpol);
        let policies = validation.policies;
        let request = Blob::personal(asker.request.text.clone().into_bytes(), asker.salt);
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
            let limits = policies.limits(moment.limits, spec, tier);
            moment.standing.reserve(&limits, moment.accounts, spec, (cost, args_bytes))
        });
        let (share, exhausted) = match share.transpose() {
            Ok(share) => (share.unwrap_or_default(), None),
            Err(exhausted) => ((Reservation::default(), None), Some(exhausted)),
        };
        let form = entry.map_or(Ok(()), |entry| entry.accepts(&call.args));
        let leave = moment.leave.and_then(|asked| asked.unspent().map(|to| Leave { approval: asked.id, to }));
        let of_now = validation.of_now();
        let mut made_from = MadeFrom {
            tool: tool.map(|tool| tool.hash),
            switch: moment.switches.of_both(&call.tool, entry.and_then(|entry| entry.behind.as_ref())),
            form,
            tier,
            agent: asker.agent.into(),
            principal: asker.principal.clone(),
            trust: asker.trust,
            roles: asker.roles.to_vec(),
            labels: asker.labels.to_vec(),
            permissions: asker.permissions.clone(),
            needs: entry.map_or_else(Vec::new, |entry| entry.needs.clone()),
            vpol: policies.frozen.map(|_| call.tags.vpol),
            of_now: of_now.as_ref().map(|(of_now, _)| *of_now),
            circumstances: validation.circumstances(moment.looked.is_some_and(Looked::can_be_undone)),
            exhausted,
            leaks,
            request: request.hash,
            source: asker.request.source.clone(),
            session: moment.accounts.session.clone(),
            grants: moment.grants.iter().filter(|granted| granted.terms.tool == call.tool).cloned().collect(),
            changes: moment.looked.map(Looked::changes),
            place: entry.and_then(|entry| entry.handler.place()),
            fingerprint: None,
            leave,
            must_not: moment.must_not.cloned().unwrap_or_default(),
            call,
        };
        if leave.is_some() {
            let compared = made_from.fingerprint(asker.salt)?;
            #[cfg(feature = "mutants")]
            let compared = crate::mutant::compared(compared, leave);
            made_from.fingerprint = Some(compared);
        }
        let decision = made_from.decide(spec, policies, &asker.request.text);
        #[cfg(feature = "mutants")]
        let decision = decision.counted(|decision| crate::mutant::counted(decision, &made_from));
        let question = match (decision.answer, spec) {
            (Answer::Review, Some(spec)) => {
                made_from.fingerprint = Some(made_from.fingerprint(asker.salt)?);
                Some(Question::about(&made_from, &decision, spec, policies, asker.request, moment.looked))
            }
            _ => None,
        };
        let bodies =
            tool.cloned().into_iter().chain([request]).chain(of_now.map(|(_, rules)| rules)).collect();
        let ruled = Ruled::new(decision, made_from, bodies, share, asker.salt)?;
        ruled.with(question, moment.leave.cloned()).keeping(moment.looked, asker.salt)
    }
}
