//! What the policies of a chain ask about, found out for one call.

use broker::{Pending, Policies, Validation};
use domain::Time;
use domain::call::Call;
use ledger::records::ToolCall;
use policy::acl::Moment;
use policy::vpol::Circumstances;

use super::TaskDriver;
use crate::validation::{RateQuery, count_started};
use domain::problem::Problem;

impl TaskDriver<'_> {
    pub(super) fn policies(&self) -> Policies<'_> {
        let (frozen, of_now) = (self.limits.frozen.as_ref(), &self.authority.vpol);
        Policies { frozen, of_now: Some(of_now).filter(|now| frozen != Some(*now)) }
    }

    pub(super) async fn validation(&self, call: &Call, at: Time) -> Result<Validation<'_>, Problem> {
        let policies = self.policies();
        let pending: Vec<&ToolCall> = self.flight.pending.iter().map(Pending::row).collect();
        let counted = RateQuery { call: call.id, task: call.task, at, pending: &pending };
        let ledger = &self.run.services.ledger;
        let mut found = [0; 2];
        for (found, vpol) in found.iter_mut().zip([policies.frozen, policies.of_now]) {
            if let Some(vpol) = vpol {
                *found = count_started(ledger, vpol, counted).await?;
            }
        }
        let [then, started_now] = found;
        let circumstances = Circumstances {
            local: Some(Moment::of(at.local(self.run.kernel.zone()))),
            started: then,
            attended: self.run.event.is_from_terminal(),
            reversible: false, // the broker finds that out
        };
        Ok(Validation { policies, circumstances, started_now })
    }
}
