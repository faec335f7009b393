//! `undo`: what a task did to the files of its workspace is put back, by a task of its own, through the one door.

mod outcomes;
mod plan;
mod recorded;
mod report;

use std::path::PathBuf;
use std::sync::Arc;

use broker::Registry;
use domain::call::{Failure, ToolId};
use domain::change::Standing;
use domain::id::TaskId;
use domain::limits::PLAN_SUBTASKS;
use domain::task::FinalResult;
use ledger::Found;
use ledger::records::AgentTask;
use llm::{DirectCall, DirectCalls};

use self::outcomes::outcomes;
use self::plan::{Step, Verdict};
use self::recorded::recorded;
use super::run::{DIRECT, check_workspace};
use super::{App, Patience, Request};
use crate::pipeline::{self, Desk, Surface, Watch};
use crate::problem::{Code, Problem};

pub use report::{Before, Left, Obstacle, PutBack, Undone};

/// The tool that puts one name back.
const PUT_BACK: &str = "put_back";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// Say what would be put back, and change nothing.
    DryRun,
    ForGood,
}

/// What is put back is told by what [`App::undo`] returns, not by the answer of its task.
struct Unshown;

impl Surface for Unshown {
    fn show(&self, _: TaskId, _: &FinalResult) -> Result<(), String> {
        Ok(())
    }
}

/// What is to be done, and what is told.
struct Planned {
    steps: Vec<Step>,
    undone: Undone,
    tools: Registry,
}

impl App {
    /// Puts back what a task changed. Each name is one call; one that refuses does not stop the others.
    ///
    /// # Errors
    /// If there is no such task, nothing to undo, its workspace is gone, or the ledger fails. That something could not be
    /// put back is a report.
    pub async fn undo(&self, id: &str, how: Undo, watch: Watch) -> Result<Undone, Problem> {
        let desk = self.desk().await?;
        let task = self.undoable(id).await?;
        let Planned { steps, mut undone, tools } = self.plan_undo(&desk, &task, how).await?;
        if how == Undo::DryRun || steps.is_empty() {
            return Ok(undone);
        }
        let workspace = PathBuf::from(&undone.workspace);
        let text = request(&tools, &undone.short, &steps)?;
        let (surface, patience): (Arc<dyn Surface>, _) = (Arc::new(Unshown), Patience::Leave);
        let report = self.carry(&Request { text, workspace, surface, watch, patience }, Some(DIRECT)).await?;
        undone.put_back.clear();
        let outcomes = outcomes(&pipeline::load(&desk.ledger, report.task).await?)?;
        for (number, step) in (0..).zip(steps) {
            match outcomes.get(&number) {
                Some(Ok(())) => undone.put_back.push(put_back(&step)),
                Some(Err(why)) => undone.left.push(Left::file(step.path, Obstacle::Refused(why.clone()))),
                None => {
                    let why = report.result.as_ref().and_then(|result| result.reason.clone());
                    let why = why.unwrap_or_else(|| "it was not tried".into());
                    undone.left.push(Left::file(step.path, Obstacle::Refused(why)));
                }
            }
        }
        (undone.by, undone.by_short) = (Some(report.task), Some(report.short));
        Ok(undone)
    }

    async fn undoable(&self, id: &str) -> Result<AgentTask, Problem> {
        let Found::Task(task) = self.find(id).await? else {
            let what = format!("`{id}` is not a task");
            return Err(Problem::new(Code::NO_SUCH_ID, what).remedy("regent tasks list"));
        };
        if !task.status.is_over() {
            let short = self.short(task.task_id).await?;
            return Err(Problem::new(Code::NOTHING_TO_UNDO, format!("{short} is not over yet"))
                .safe("nothing was done")
                .remedy(format!("regent resume {short}")));
        }
        Ok(*task)
    }

    async fn plan_undo(&self, desk: &Desk, task: &AgentTask, how: Undo) -> Result<Planned, Problem> {
        let event = desk.ledger.event(task.payload).await?;
        let event = event.ok_or_else(|| Problem::new(Code::DATABASE_DAMAGED, "the task's event is gone"))?;
        let (_, folder) = self.as_asked(desk, &event).await?;
        check_workspace(&folder)?;
        let tools = self.authority(&desk.ledger, &folder, Arc::new(Unshown)).await?.registry;
        let mut undone = Undone {
            task: task.task_id,
            short: self.short(task.task_id).await?,
            workspace: folder.to_string_lossy().into_owned(),
            dry_run: how == Undo::DryRun,
            by: None,
            by_short: None,
            put_back: Vec::new(),
            left: Vec::new(),
            unchanged: Vec::new(),
        };
        let recorded = recorded(desk, task.task_id, &tools, &mut undone).await?;
        let workspace = self.workspace(folder)?;
        let mut steps = Vec::new();
        for folded in plan::fold(recorded) {
            if folded.touched {
                undone.left.push(Left::file(&folded.path, Obstacle::Touched));
            }
            match self.verdict(desk, &workspace, &folded).await? {
                Verdict::Nothing => undone.unchanged.push(folded.path),
                Verdict::Leave(why) => undone.left.push(Left::file(folded.path, why)),
                Verdict::PutBack(step) if steps.len() == PLAN_SUBTASKS => {
                    undone.left.push(Left::file(step.path, Obstacle::TooMany));
                }
                Verdict::PutBack(step) => steps.push(step),
            }
        }
        undone.put_back = steps.iter().map(put_back).collect();
        if steps.is_empty() && undone.left.is_empty() {
            return Err(nothing(&undone));
        }
        Ok(Planned { steps, undone, tools })
    }

    fn workspace(&self, folder: PathBuf) -> Result<Arc<tools::Workspace>, Problem> {
        let unusable =
            |failure: Failure| Problem::new(Code::WORKSPACE, failure.message).safe("nothing was done");
        let workspace = tools::Workspace::new(folder).map_err(unusable)?;
        Ok(Arc::new(workspace.without(&self.parts.house.guarded())))
    }

    /// What is to be done about one name, as it stands now.
    async fn verdict(
        &self,
        desk: &Desk,
        workspace: &Arc<tools::Workspace>,
        folded: &plan::Folded,
    ) -> Result<Verdict, Problem> {
        let (workspace, path) = (Arc::clone(workspace), folded.path.clone());
        #[expect(clippy::disallowed_methods, reason = "looking at a file blocks")]
        let now = tokio::task::spawn_blocking(move || workspace.standing(&path)).await;
        let verdict = match now.map_err(Problem::internal)? {
            Ok(now) => folded.against(now),
            // A folder, a pipe, a link on the way: nothing that a call left there.
            Err(failure) => return Ok(Verdict::Leave(Obstacle::Refused(failure.message))),
        };
        if let Verdict::PutBack(Step { to: Standing::File(file), .. }) = &verdict
            && let Some(blob) = &file.kept
            && desk.ledger.body(blob).await?.is_none()
        {
            return Ok(Verdict::Leave(Obstacle::Erased));
        }
        Ok(verdict)
    }
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
    let calls = DirectCalls { task_class: "undo".into(), intent: format!("undo {short}"), calls };
    serde_json::to_string(&calls).map_err(Problem::internal)
}

fn put_back(step: &Step) -> PutBack {
    let as_before = match step.to {
        Standing::Nothing => Before::Nothing,
        Standing::File(_) => Before::File,
        Standing::Link { .. } => Before::Link,
    };
    PutBack { path: step.path.clone(), as_before }
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
