//! What became of the calls that were to put something back, from the journal of their task.

use std::collections::BTreeMap;

use domain::call::Call;
use domain::id::CallId;
use engine::task::{Effect, Input, Ruling, Step, Task};
use serde_json::Value;

use kernel::Problem;

/// What became of the call of each subtask: what it returned, or why not.
pub(super) fn outcomes(steps: &[Step]) -> Result<BTreeMap<u32, Result<Value, String>>, Problem> {
    let numbers = subtasks(steps)?;
    let outcome = |step: &Step| match &step.input {
        Input::Returned { call, outcome } => {
            Some((*call, outcome.clone().map_err(|failure| failure.message)))
        }
        Input::Ruled {
            call,
            ruling: Ruling::Refused { why } | Ruling::Denied { why, .. } | Ruling::Exhausted { why },
        } => Some((*call, Err(why.clone()))),
        _ => None,
    };
    let outcomes = steps.iter().filter_map(outcome);
    Ok(outcomes.filter_map(|(call, outcome)| Some((*numbers.get(&call)?, outcome))).collect())
}

/// Which subtask each call was for. Effects are not kept, so they are brought forth again.
fn subtasks(steps: &[Step]) -> Result<BTreeMap<CallId, u32>, Problem> {
    let mut inputs = steps.iter().map(|step| (step.input.clone(), step.at));
    let Some((Input::Opened(opening), at)) = inputs.next() else { return Ok(BTreeMap::new()) };
    let (mut task, _) = Task::open(opening, at);
    let mut numbers = BTreeMap::new();
    for (input, at) in inputs {
        for effect in task.handle(input, at).map_err(Problem::internal)?.effects {
            if let Effect::Call(Call { id, subtask: Some(number), .. }) = effect {
                numbers.insert(id, number);
            }
        }
    }
    Ok(numbers)
}
