//! What a task has cost, role by role: a sum over its journal.

use std::collections::BTreeMap;

use domain::ask::Usage;
use domain::id::TaskId;
use engine::task::Step;
use ledger::records::ToolCall;
use serde::Serialize;

use kernel::journal;

use super::Tasks;
use kernel::Problem;

/// What one role has cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RoleCost {
    pub role: &'static str,
    pub asks: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cached: u64,
    pub latency_ms: u64,
    /// Millionths of the house's currency.
    pub price: u64,
}

/// The order in which roles come to speak.
const ROLES: [&str; 5] = ["perceiver", "planner", "executor", "validator", "meta_validator"];

pub(super) fn cost(steps: &[Step]) -> Vec<RoleCost> {
    let mut costs: BTreeMap<usize, RoleCost> = BTreeMap::new();
    for step in steps {
        let (Some(usage), Some(subject)) = (&step.usage, step.input.subject()) else { continue };
        let Some(place) = ROLES.iter().position(|role| *role == subject.role()) else { continue };
        let cost =
            costs.entry(place).or_insert_with(|| RoleCost { role: subject.role(), ..RoleCost::default() });
        let Usage { tokens_in, tokens_out, cached, latency_ms, price, .. } = usage;
        cost.asks += 1;
        cost.tokens_in = cost.tokens_in.saturating_add(*tokens_in);
        cost.tokens_out = cost.tokens_out.saturating_add(*tokens_out);
        cost.cached = cost.cached.saturating_add(*cached);
        cost.latency_ms = cost.latency_ms.saturating_add(*latency_ms);
        cost.price = cost.price.saturating_add(*price);
    }
    costs.into_values().collect()
}

impl Tasks<'_> {
    /// Of the steps that can be read. Nothing where no model was asked, or the journal was erased. Only a task that a model can steer is looked up.
    pub(super) async fn cost(self, task: TaskId, calls: &[ToolCall]) -> Result<Vec<RoleCost>, Problem> {
        let asked = calls.iter().any(|call| call.tool_id.as_str() == kernel::ASK_MODEL);
        if !asked && !self.app.kernel.provider().knows_another_way() {
            return Ok(Vec::new());
        }
        Ok(cost(&journal::load_readable(self.app.kernel.ledger().await?, task).await?))
    }
}
