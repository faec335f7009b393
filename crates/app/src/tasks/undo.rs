//! `undo`: what a task did to the files of its workspace is put back, by a task of its own, through the one door.

mod operation;
mod outcomes;
mod plan;
mod recorded;
mod report;

use std::path::PathBuf;
use std::sync::Arc;

use broker::access::Switch;
use broker::{ExecutionMode, Registry};
use domain::call::{Failure, ToolId};
use domain::change::Standing;
use domain::id::TaskId;
use domain::limits::PLAN_SUBTASKS;
use engine::task::Input;
use ledger::Found;
use ledger::records::AgentTask;
use llm::{DirectCall, DirectCalls};

use self::outcomes::outcomes;
use self::plan::{Beside, Step, Verdict};
use self::recorded::recorded;
use kernel::{
    DIRECT_CALL, ModelOptions, RunRequest, Services, UNDO_CLASS, UNDO_INTENT, Unshown, WaitMode,
    check_workspace, is_undo, journal,
};

use super::Tasks;
use kernel::{Code, Problem};

pub use operation::UndoTask;
pub use report::{Before, Left, Note, Obstacle, PutBack, Undone};

/// The tool that puts one name back.
const PUT_BACK: &str = "put_back";
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// Say what would be put back, and change nothing.
    DryRun,
    ForGood,
}

/// What is to be done, and what is told.
struct Planned {
    steps: Vec<Step>,
    undone: Undone,
    tools: Registry,
}

impl Tasks<'_> {
    /// Puts back what a task changed, what was changed last first. Each name is one call, which is looked at when it is its
    /// turn; one that refuses does not stop the others.
    ///
    /// # Errors
    /// If there is no such task, nothing to undo, its workspace is gone, or the ledger fails. That something could not be
    /// put back is a report.
    #[tracing::instrument(level = "info", name = "tasks.undo", skip_all)]
    pub async fn undo(self, id: &str, how: Undo) -> Result<Undone, Problem> {
        let services = self.app.kernel.services().await?;
        let task = self.undoable(id).await?;
        let Planned { steps, mut undone, tools } = self.plan_undo(&services, &task, how).await?;
        self.name_calls(&mut undone).await?;
        if how == Undo::DryRun || steps.is_empty() {
            return Ok(undone);
        }
        let workspace = PathBuf::from(&undone.workspace);
        let text = request(&tools, &undone.short, &steps)?;
        let (surface, wait) = (Arc::new(Unshown), WaitMode::Leave);
        let request = RunRequest { text, workspace, surface, wait, options: ModelOptions::default() };
        let report = self.run_as(&request, Some(DIRECT_CALL)).await?;
        let journal = journal::load(&services.ledger, report.task).await?;
        tell(&mut undone, steps, &journal)?;
        (undone.by, undone.by_short) = (Some(report.task), Some(report.short));
        Ok(undone)
    }

    /// What is left and has no path is named by its call, as short as it can be typed.
    async fn name_calls(self, undone: &mut Undone) -> Result<(), Problem> {
        for left in undone.left.iter_mut().filter(|left| left.path.is_none()) {
            if let Some(call) = left.call {
                left.call_short = self.app.kernel.short(call).await?;
            }
        }
        Ok(())
    }

    /// What an undo came to that was gone on with; nothing if the task is none.
    ///
    /// # Errors
    /// If the ledger fails, or the task is erased.
    #[tracing::instrument(level = "info", name = "tasks.undone_by", skip_all)]
    pub async fn undone_by(self, by: TaskId) -> Result<Option<Undone>, Problem> {
        let services = self.app.kernel.services().await?;
        let Some(task) = services.ledger.task(by).await? else { return Ok(None) };
        let Some(event) = services.ledger.event(task.payload).await? else { return Ok(None) };
        let journal = journal::load(&services.ledger, by).await?;
        let opening = journal.first().and_then(|step| match &step.input {
            Input::Opened(opening) => Some(opening),
            _ => None,
        });
        let asked = opening.map(|opening| (opening, DirectCalls::read(&opening.request.text)));
        let Some((opening, Ok(asked))) = asked.filter(|(opening, _)| is_undo(&event, &opening.request.text))
        else {
            return Ok(None);
        };
        let short = asked.intent.trim_start_matches(UNDO_INTENT).to_owned();
        let Found::Task(task) = self.app.kernel.find(&short).await? else { return Ok(None) };
        let mut undone = Undone {
            by: Some(by),
            by_short: Some(self.app.kernel.short(by).await?),
            ..Undone::new(task.task_id, short, opening.workspace.clone())
        };
        let step = |call: DirectCall| {
            let step: Step = serde_json::from_value(call.args).map_err(Problem::internal)?;
            undone.put_back.push(put_back(&step, false));
            Ok(step)
        };
        let steps = asked.calls.into_iter().map(step).collect::<Result<_, Problem>>()?;
        tell(&mut undone, steps, &journal)?;
        self.name_calls(&mut undone).await?;
        Ok(Some(undone))
    }

    async fn undoable(self, id: &str) -> Result<AgentTask, Problem> {
        let Found::Task(task) = self.app.kernel.find(id).await? else {
            let what = format!("`{id}` is not a task");
            return Err(Problem::new(Code::NO_SUCH_ID, what).remedy("regent tasks list"));
        };
        if !task.status.is_over() {
            let short = self.app.kernel.short(task.task_id).await?;
            return Err(Problem::new(Code::NOTHING_TO_UNDO, format!("{short} is not over yet"))
                .safe("nothing was done")
                .remedy(format!("regent resume {short}")));
        }
        Ok(*task)
    }

    async fn plan_undo(self, services: &Services, task: &AgentTask, how: Undo) -> Result<Planned, Problem> {
        let event = services.ledger.event(task.payload).await?;
        let event = event.ok_or_else(|| Problem::new(Code::DATABASE_DAMAGED, "the task's event is gone"))?;
        let short = self.app.kernel.short(task.task_id).await?;
        let folder = self.app.kernel.workspace_of(services, &event).await?.ok_or_else(|| {
            let what = format!("the folder that {short} worked in was erased, so it cannot be undone");
            Problem::new(Code::ERASED, what).safe("nothing was done")
        })?;
        check_workspace(&folder)?;
        let registry = self.app.kernel.tools_in(&folder, Arc::new(Unshown)).await?.registry;
        let mut undone = Undone {
            dry_run: how == Undo::DryRun,
            ..Undone::new(task.task_id, short, folder.to_string_lossy().into_owned())
        };
        let recorded = recorded(services, task.task_id, &registry, &mut undone).await?;
        let workspace = self.workspace(folder)?;
        let mut steps: Vec<Step> = Vec::new();
        for folded in plan::fold(recorded) {
            let (mut step, touched) = match self.verdict(services, &workspace, &folded, &steps).await? {
                Verdict::PutBack { step, touched } => (*step, touched),
                Verdict::Nothing => {
                    undone.unchanged.push(folded.path);
                    continue;
                }
                Verdict::Leave(why) => {
                    undone.left.push(Left::file(folded.path, why));
                    continue;
                }
            };
            if steps.len() == PLAN_SUBTASKS {
                undone.left.push(Left::file(step.path, Obstacle::TooMany));
                continue;
            }
            if let Some(from) = folded.needs(&step) {
                if undone.left.iter().any(|left| left.path.as_deref() == Some(from)) {
                    undone.left.push(Left::file(step.path, Obstacle::NotBack(from.to_owned())));
                    continue;
                }
                let back = steps.iter().find(|before| before.path == from);
                step.with = back.map(|back| Beside { path: from.to_owned(), is: back.to.clone() });
            }
            let mut told = put_back(&step, touched);
            // What waits for another step, or is behind what stands in its way, cannot be looked at before that is done.
            let waits = step.with.is_some() || steps.iter().any(|before| before.clears(&step.path));
            if how == Undo::DryRun && !waits {
                match self.try_step(&registry, &step).await? {
                    Ok(narrower) => told.notes.extend(narrower.then_some(Note::Narrower)),
                    Err(why) => {
                        undone.left.push(Left::file(step.path, Obstacle::Refused(why)));
                        continue;
                    }
                }
            }
            undone.put_back.push(told);
            steps.push(step);
        }
        if steps.is_empty() && undone.left.is_empty() {
            return Err(nothing(&undone));
        }
        Ok(Planned { steps, undone, tools: registry })
    }

    fn workspace(self, folder: PathBuf) -> Result<Arc<tools::Workspace>, Problem> {
        let unusable =
            |failure: Failure| Problem::new(Code::WORKSPACE, failure.message).safe("nothing was done");
        let workspace = tools::Workspace::new(folder).map_err(unusable)?;
        Ok(Arc::new(workspace.without(&self.app.paths.guarded())))
    }

    /// What is to be done about one name, as it stands now, or will once the steps before it are done.
    async fn verdict(
        self,
        services: &Services,
        workspace: &Arc<tools::Workspace>,
        folded: &plan::Folded,
        before: &[Step],
    ) -> Result<Verdict, Problem> {
        let (path, folders) = (folded.path.clone(), folded.folders.clone());
        let now = blocking(workspace, move |workspace| workspace.standing(&path)).await?;
        let verdict = match now {
            Ok(now) => folded.against(now),
            Err(_) if before.iter().any(|step| step.clears(&folded.path)) => {
                folded.against(Standing::Nothing)
            }
            // A folder, a pipe, a link on the way: nothing that a call left there.
            Err(failure) => return Ok(Verdict::Leave(Obstacle::Refused(failure.message))),
        };
        if let Verdict::PutBack { step, .. } = &verdict
            && let Standing::File(file) = &step.to
            && let Some(blob) = &file.kept
            && services.ledger.body(blob).await?.is_none()
        {
            return Ok(Verdict::Leave(Obstacle::Erased));
        }
        if verdict != Verdict::Nothing {
            return Ok(verdict);
        }
        let path = folded.path.clone();
        let untidy = blocking(workspace, move |workspace| {
            let now = workspace.standing(&path).ok()?;
            let folders = if now == Standing::Nothing { folders } else { Vec::new() };
            workspace.is_untidy(&path, &folders).then_some(now)
        });
        Ok(untidy.await?.map_or(Verdict::Nothing, |now| {
            let step = folded.step(now.clone(), now);
            Verdict::PutBack { step, touched: false }
        }))
    }

    /// Looks at what a step would do, as the door will, and changes nothing: whether less will be allowed with the file than
    /// before, or why it cannot be put back.
    async fn try_step(self, registry: &Registry, step: &Step) -> Result<Result<bool, String>, Problem> {
        let tool: ToolId = PUT_BACK.parse().map_err(Problem::internal)?;
        let off = registry.spec(&tool).is_none_or(|spec| spec.execution_mode == ExecutionMode::Disabled);
        if off || self.app.host.switches().of(&tool) != Switch::On {
            return Ok(Err(format!("{PUT_BACK} is switched off")));
        }
        let args = serde_json::to_value(step).map_err(Problem::internal)?;
        let looked = self.app.kernel.broker(registry.clone())?.look(&tool, &args).await;
        Ok(looked.map_err(|failure| failure.message).map(|looked| {
            let changes = looked.map(|looked| looked.changes());
            changes.is_some_and(|changes| changes.iter().any(|change| !change.to.is_as(&step.to)))
        }))
    }
}

/// Looking at a file blocks.
async fn blocking<T: Send + 'static>(
    workspace: &Arc<tools::Workspace>,
    look: impl FnOnce(&tools::Workspace) -> T + Send + 'static,
) -> Result<T, Problem> {
    let workspace = Arc::clone(workspace);
    #[expect(clippy::disallowed_methods, reason = "looking at a file blocks")]
    tokio::task::spawn_blocking(move || look(&workspace)).await.map_err(Problem::internal)
}

/// What came of the steps, from the journal of the task that made them.
fn tell(undone: &mut Undone, steps: Vec<Step>, journal: &[engine::task::Step]) -> Result<(), Problem> {
    let outcomes = outcomes(journal)?;
    let planned = std::mem::take(&mut undone.put_back);
    for (number, (step, mut told)) in (0..).zip(steps.into_iter().zip(planned)) {
        match outcomes.get(&number) {
            Some(Ok(record)) => {
                let narrower = record.get("narrower").and_then(serde_json::Value::as_bool) == Some(true);
                told.notes.extend(narrower.then_some(Note::Narrower));
                undone.put_back.push(told);
            }
            Some(Err(why)) => undone.left.push(Left::file(step.path, Obstacle::Refused(why.clone()))),
            None => {
                let over = journal::fold(journal)?;
                let why = over.result().and_then(|result| result.reason.clone());
                let why = why.unwrap_or_else(|| "it was not tried".into());
                undone.left.push(Left::file(step.path, Obstacle::Refused(why)));
            }
        }
    }
    Ok(())
}

/// One request with a call for each step, confirmed for the tool as it is known now.
fn request(tools: &Registry, short: &str, steps: &[Step]) -> Result<String, Problem> {
    let tool: ToolId = PUT_BACK.parse().map_err(Problem::internal)?;
    let spec = tools.digest(&tool);
    let call = |step: &Step| {
        let args = serde_json::to_value(step).map_err(Problem::internal)?;
        Ok(DirectCall { tool: tool.clone(), args, confirmed: true, spec })
    };
    let calls = steps.iter().map(call).collect::<Result<_, Problem>>()?;
    let intent = format!("{UNDO_INTENT}{short}");
    let calls = DirectCalls { task_class: UNDO_CLASS.into(), intent, calls, in_order: true };
    serde_json::to_string(&calls).map_err(Problem::internal)
}

fn put_back(step: &Step, touched: bool) -> PutBack {
    let as_before = match step.to {
        Standing::Nothing => Before::Nothing,
        Standing::File(_) | Standing::Large { .. } => Before::File,
        Standing::Link { .. } => Before::Link,
    };
    let tidied = step.from.is_as(&step.to).then_some(Note::Tidied);
    let notes = touched.then_some(Note::Touched).into_iter().chain(tidied).collect();
    PutBack { path: step.path.clone(), as_before, notes }
}

fn nothing(undone: &Undone) -> Problem {
    let what = if undone.unchanged.is_empty() {
        format!("{} has changed nothing", undone.short)
    } else {
        format!("everything that {} has changed is as it was before", undone.short)
    };
    Problem::new(Code::NOTHING_TO_UNDO, what)
        .safe("nothing was done")
        .remedy(format!("regent tasks show {}", undone.short))
}
