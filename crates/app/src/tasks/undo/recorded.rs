//! What is on record of the changes of a task.

use std::collections::BTreeMap;

use broker::{Reach, Registry};
use domain::Tier;
use domain::change::Changes;
use domain::id::{CallId, TaskId};
use engine::task::{Input, Ruling};
use ledger::StoreError;
use ledger::records::{CallStatus, ToolCall};

use super::plan::Recorded;
use super::report::{Left, Obstacle, Undone};
use kernel::{Problem, Services, journal};

/// What the calls of a task changed, in the order in which they ran. Those of which that is not known are told.
pub(super) async fn recorded(
    services: &Services,
    task: TaskId,
    registry: &Registry,
    undone: &mut Undone,
) -> Result<Vec<Recorded>, Problem> {
    let mut calls = services.ledger.calls_of(task).await?;
    let order = order(services, task).await?;
    calls.sort_by_key(|call| (order.get(&call.id).copied().unwrap_or(usize::MAX), call.timestamp));
    let mut recorded = Vec::new();
    for call in calls {
        let certain = call.status == CallStatus::Finished;
        if !certain && !matches!(call.status, CallStatus::Failed | CallStatus::Unknown) {
            continue;
        }
        let left = |why| Left::of_call(call.id, call.tool_id.clone(), why);
        let Some(change) = &call.change else {
            if may_have_changed(&call, registry) {
                undone.left.push(left(Obstacle::NotAFile));
            }
            continue;
        };
        let changes = match services.ledger.body(change).await {
            Ok(Some(change)) => {
                serde_json::from_slice::<Changes>(&change).map_err(|_damaged| Obstacle::Unreadable)
            }
            Ok(None) => Err(Obstacle::Erased),
            Err(StoreError::Corrupt(_)) => Err(Obstacle::Unreadable),
            Err(error) => return Err(error.into()),
        };
        match changes {
            Ok(changes) => recorded.extend(changes.into_iter().map(|change| Recorded { change, certain })),
            Err(why) => undone.left.push(left(why)),
        }
    }
    Ok(recorded)
}

/// The place of each call in the journal. Of what is erased there or cannot be read, the clock has to tell, which may have been
/// set back.
async fn order(services: &Services, task: TaskId) -> Result<BTreeMap<CallId, usize>, Problem> {
    let steps = journal::load_readable(&services.ledger, task).await?;
    let started = steps.iter().filter_map(|step| match &step.input {
        Input::Ruled { call, ruling: Ruling::Execute } => Some(*call),
        _ => None,
    });
    Ok(started.zip(0..).collect())
}

/// Whether a call that says nothing about what it changed can have changed something. A tool of the workspace that failed
/// has left it as it was.
fn may_have_changed(call: &ToolCall, registry: &Registry) -> bool {
    let Some(spec) = registry.spec(&call.tool_id) else { return true };
    let nowhere = matches!(spec.reach, Reach::Nothing | Reach::Origin | Reach::Model);
    let undone = spec.reach == Reach::Workspace && call.status == CallStatus::Failed;
    spec.tier != Tier::ReadOnly && !nowhere && !undone
}
