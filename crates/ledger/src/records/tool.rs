use domain::call::ToolId;
use domain::{Digest, Time};

use crate::table::record;
use crate::value::Ratio;

record! {
    /// A tool that the house knows. Erasable: one that is taken out is gone, and its calls stay.
    Tool in "tools" by [tool_id], Replace, Erasable {
        tool_id: ToolId,
        /// The agents that may use it, as a JSON array.
        agent_access: String,
        risk_level: String,
        execution_mode: String,
        monitoring_level: u64,
        /// How well its calls of the last 90 days served what was asked for; nothing before the first was rated.
        alignment_score_90d: Option<Ratio>,
        /// Everything that is known of it, as a blob.
        spec: Digest,
        changed_at: Time,
    }
}
