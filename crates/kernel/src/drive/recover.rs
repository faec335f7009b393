//! What has to be put right: outcomes of a round that was refused, and calls that another process left behind.

use broker::budget::Reservation;
use broker::{Decided, Finished, ToolSpec};
use engine::task::Effect;
use ledger::records::{CallStatus, ToolCall};

use ledger::chain::Trail;

use super::TaskDriver;
use crate::journal;
use domain::problem::Problem;

/// Whether a call that another process had started is asked for again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rerun {
    IfHarmless,
    /// Nothing needs what it would return.
    Never,
}

impl TaskDriver<'_> {
    /// The batch was refused for what it would have started. The outcomes in it are written by themselves, from where the
    /// journal stands: a call that has run is never forgotten for the sake of one that may not.
    pub(super) async fn keep_what_came(&mut self) -> Result<(), Problem> {
        let fresh = std::mem::take(&mut self.fresh);
        if fresh.is_empty() {
            return Ok(());
        }
        let steps = journal::load(&self.run.services.ledger, self.task.id()).await?;
        self.task = journal::fold(&steps)?;
        let rows = self.run.services.ledger.steps(self.task.id()).await?;
        self.trail = Trail::of(rows.iter().map(|step| step.body));
        self.flight.forget_plans();
        self.unseen.clear();
        self.waiting.clear();
        for (finished, heard) in fresh {
            self.finish(&finished)?;
            if let Some((subject, heard)) = heard {
                self.heard(subject, heard)?;
            }
        }
        self.commit().await.map(drop)
    }

    /// Whether a call that was started does no harm if it is run again: neither by what was known of its tool when it was
    /// started, nor by what is known of a tool of this name now.
    async fn may_run_again(&self, row: &ToolCall) -> Result<bool, Problem> {
        let (ledger, registry) = (&self.run.services.ledger, self.broker.registry());
        if !registry.spec(&row.tool_id).is_some_and(ToolSpec::may_run_again) {
            return Ok(false);
        }
        let Some(decided) = ledger.body(&row.decision).await? else { return Ok(false) };
        let Ok(decided) = serde_json::from_slice::<Decided>(&decided) else { return Ok(false) };
        // A decision that was kept before its facts were is of a program whose tools only read.
        let Some(inputs) = decided.inputs else { return Ok(true) };
        let Some(digest) = inputs.tool else { return Ok(false) };
        let Some(spec) = ledger.body(&digest).await? else { return Ok(false) };
        Ok(serde_json::from_slice::<ToolSpec>(&spec).is_ok_and(|spec| spec.may_run_again()))
    }

    /// Calls that the process before us had started and that must not be run twice: their fate is unknown, and
    /// that is what the task is told. What only reads, or does the same twice, is simply asked for again.
    pub(super) async fn settle_unknown(&mut self, again: Rerun) -> Result<(), Problem> {
        self.settle_asks().await?;
        for effect in std::mem::take(&mut self.waiting) {
            let Effect::Call(call) = &effect else {
                self.waiting.push_back(effect);
                continue;
            };
            let row = self.run.services.ledger.call(call.id).await?;
            let row = row.filter(|row| row.status == CallStatus::Started);
            let harmless = match &row {
                Some(row) => again == Rerun::IfHarmless && self.may_run_again(row).await?,
                None => true,
            };
            match row {
                None => self.waiting.push_back(effect),
                Some(row) if harmless => {
                    self.carried.insert(call.id, Reservation::read(row.reserved.as_deref()));
                    self.waiting.push_back(effect);
                }
                Some(row) => self.finish(&Finished::unknown(call.clone(), row, self.run.services.now()))?,
            }
        }
        Ok(())
    }
}
