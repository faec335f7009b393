//! The next move for one subtask: the call, then the answer.

use domain::ask::Action;
use domain::call::{Chooser, Evidence};
use domain::task::Subtask;

use super::request::{Job, Request};
use super::why::Why;
use super::{answer, call};

/// Plans are made of the same words, so none of the first two answers is ever seen in an engine that
/// hands over the subtask it was given. A subtask is found by its place in the plan, counted from zero,
/// and has to say what that place says: to do another's work would be worse than to do none.
pub(super) fn act(
    request: Result<Request, Why>,
    number: u32,
    subtask: &Subtask,
    evidence: &[Evidence],
) -> Action {
    let finish = |output: String| Action::done(output);
    let request = match request {
        Ok(request) => request,
        Err(why) => return finish(format!("I do not understand this request: {why}.")),
    };
    let job = usize::try_from(number).ok().and_then(|number| request.jobs.get(number));
    let Some(job) = job.filter(|job| job.intent() == subtask.intent.text) else {
        return finish(format!("Nothing was done: `{}` is no subtask of this request.", subtask.intent.text));
    };
    match evidence.last() {
        None => start(job),
        Some(Evidence { outcome: Ok(record), .. }) => {
            let last = number as usize + 1 == request.jobs.len();
            finish(answer::from_record(job, record, last))
        }
        Some(Evidence { tool, outcome: Err(failure), .. }) => {
            finish(format!("There is no answer: {tool} failed, {}.", failure.message.trim_end_matches('.')))
        }
    }
}

fn start(job: &Job) -> Action {
    Action::Call { tool: call::tool(job), args: call::args(job), chosen_by: Chooser::Rule }
}
