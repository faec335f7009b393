//! Under which validation policies a chain runs: what was kept of the one it was given, and what the rules of a policy ask
//! about at the moment of a call.

use std::collections::BTreeMap;

use broker::{Decided, ToolSpec};
use domain::id::{CallId, TaskId, VpolId};
use domain::{Digest, Time};
use engine::task::DELIVER;
use ledger::records::{CallStatus, ToolCall};
use ledger::{Ledger, StoreError};
use policy::vpol::{Calls, Rate, Vpol};
use serde::de::DeserializeOwned;

use crate::ask_model::ASK_MODEL;
use crate::clock;

/// The policy of this id, as it was kept; nothing if nobody knows it, or what was kept of it cannot be read.
/// # Errors
/// If the ledger fails.
pub async fn read_vpol(ledger: &Ledger, id: VpolId) -> Result<Option<Vpol>, StoreError> {
    match ledger.vpol(id).await? {
        Some(row) => read_body(ledger, &row.rules).await,
        None => Ok(None),
    }
}

/// A body that is JSON; `None` if it was erased or cannot be read.
///
/// # Errors
/// If the ledger fails.
pub async fn read_body<T: DeserializeOwned>(
    ledger: &Ledger,
    digest: &Digest,
) -> Result<Option<T>, StoreError> {
    Ok(ledger.body(digest).await?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// The call that is to be counted up to.
#[derive(Clone, Copy)]
pub(crate) struct RateQuery<'a> {
    pub(crate) call: CallId,
    pub(crate) task: TaskId,
    pub(crate) at: Time,
    /// Calls that are started by a batch which is not durable yet.
    pub(crate) pending: &'a [&'a ToolCall],
}

/// How many calls that this policy governs were started in the window of its rate: by all chains under a policy of this name,
/// whatever it said then, and by this task. Two processes that start a call at the same moment do not see each other's.
pub(crate) async fn count_started(
    ledger: &Ledger,
    vpol: &Vpol,
    counted: RateQuery<'_>,
) -> Result<u32, StoreError> {
    let Some(Rate { per, calls }) = vpol.rules.rate else { return Ok(0) };
    let since = counted.at.minus(per.window());
    let mut rows: BTreeMap<CallId, ToolCall> = BTreeMap::new();
    let under = ledger.calls_under(&vpol.name, since).await?;
    let own = ledger.calls_of(counted.task).await?.into_iter().filter(|row| row.timestamp >= since);
    let pending = counted.pending.iter().map(|row| (*row).clone());
    rows.extend(under.into_iter().chain(own).chain(pending).map(|row| (row.id, row)));
    if rows.values().any(|row| row.timestamp.is_after(counted.at)) {
        // A call from the future was started before the clock was last found to have gone back.
        let back = clock::jumps(ledger).await?.last().map_or(counted.at, |jump| jump.to);
        rows.retain(|_, row| !row.timestamp.is_after(counted.at) || back >= since);
    }
    let mut started = 0;
    for row in rows.values().filter(|row| row.id != counted.call && was_started(row)) {
        // More than there may be is not counted.
        if started >= calls {
            break;
        }
        started += u32::from(governed(ledger, vpol, row).await?);
    }
    Ok(started)
}

fn was_started(row: &ToolCall) -> bool {
    match row.status {
        CallStatus::Refused | CallStatus::Waiting => false,
        CallStatus::Started | CallStatus::Finished | CallStatus::Failed | CallStatus::Unknown => true,
    }
}

/// What is not known of a call any more counts: a rate is not got around by erasing.
async fn governed(ledger: &Ledger, vpol: &Vpol, row: &ToolCall) -> Result<bool, StoreError> {
    let Calls { tiers, data_classes, .. } = &vpol.governs;
    if matches!(row.tool_id.as_str(), DELIVER | ASK_MODEL) || !vpol.governs.names(row.tool_id.as_str()) {
        return Ok(false);
    }
    if tiers.is_empty() && data_classes.is_empty() {
        return Ok(true);
    }
    let Some(decided) = read_body::<Decided>(ledger, &row.decision).await? else { return Ok(true) };
    let Some(inputs) = decided.inputs else { return Ok(true) };
    let spec = match &inputs.tool {
        Some(tool) => read_body::<ToolSpec>(ledger, tool).await?,
        None => None,
    };
    Ok(spec.is_none_or(|spec| {
        vpol.governs.covers(row.tool_id.as_str(), inputs.tier.max(spec.tier), spec.data_class)
    }))
}
