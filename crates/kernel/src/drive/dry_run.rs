//! What would be done: the machine is driven as far as its plan and the first move of every subtask that can begin, and
//! authority is asked; nothing is committed, so nothing is begun.

use domain::ask::{Action, Subject};
use domain::call::ToolId;
use domain::id::CallId;
use engine::task::{Effect, Input, Ruling, Step};
use serde::Serialize;
use serde_json::Value;

use super::TaskDriver;
use domain::problem::Problem;

/// A request as it would be carried out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DryRun {
    /// The kind of request; nothing where it was not understood as a task.
    pub task_class: Option<String>,
    pub intent: Option<String>,
    pub subtasks: Vec<PlannedSubtask>,
    pub task_criteria: Vec<String>,
    /// How many of all criteria have no check in code: a model would judge them.
    pub judged: usize,
    /// What it would ask back first.
    pub question: Option<String>,
    /// The answer, where none of this is needed; or why it would not begin.
    pub result: Option<domain::task::FinalResult>,
}

/// One subtask of the plan.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedSubtask {
    pub intent: String,
    pub depends_on: Vec<u32>,
    pub criteria: Vec<String>,
    /// Tools that it names.
    pub tools: Vec<String>,
    /// Its first call, where that is known before anything was seen, and what authority says to it.
    pub first: Option<PlannedCall>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlannedCall {
    pub tool: ToolId,
    pub args: Value,
    /// `execute`, `review` (you would be asked) or `deny`.
    pub decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl TaskDriver<'_> {
    pub(crate) async fn dry_run(mut self) -> Result<DryRun, Problem> {
        loop {
            Box::pin(self.work_off()).await?;
            if self.task.plan().is_none()
                && let Some((subject, heard)) = self.ask_for_a_plan().await?
            {
                self.heard(subject, heard)?;
                continue;
            }
            // Only what leads to the plan is asked of a model; its moves would be asked one by one, as things are seen.
            let asks = std::mem::take(&mut self.flight).into_asks();
            let mut asks = asks.into_iter().filter(|(of, _)| matches!(of, Subject::Perceive | Subject::Plan));
            let Some((subject, later)) = asks.next() else { break };
            let heard = super::in_flight::hear_within(self.run.services.timing.model, later).await;
            self.heard(subject, heard)?;
        }
        let mut dry_run = DryRun {
            task_class: self.task.spec().map(|spec| spec.task_class.clone()),
            intent: self.task.spec().map(|spec| spec.intent.text.clone()),
            question: self.task.question().map(Into::into),
            result: self.task.result().cloned(),
            ..DryRun::default()
        };
        if let Some(plan) = self.task.plan() {
            let criteria =
                plan.subtasks.iter().flat_map(|node| &node.success_criteria).chain(&plan.task_criteria);
            dry_run.judged = criteria.filter(|criterion| criterion.check.is_none()).count();
            dry_run.task_criteria = plan.task_criteria.iter().map(|c| c.text.clone()).collect();
            for (number, node) in (0..).zip(&plan.subtasks) {
                dry_run.subtasks.push(PlannedSubtask {
                    intent: node.intent.text.clone(),
                    depends_on: node.waits_for().collect(),
                    criteria: node.success_criteria.iter().map(|criterion| criterion.text.clone()).collect(),
                    tools: node.tool_hints.iter().map(|hint| hint.tool.to_string()).collect(),
                    first: first(&self.unseen, number),
                });
            }
        }
        Ok(dry_run)
    }
}

/// The first call of a subtask, as far as the steps tell.
fn first(steps: &[Step], number: u32) -> Option<PlannedCall> {
    let acted = |step: &&Step| matches!(&step.input, Input::Acted { subtask, .. } if *subtask == number);
    let step = steps.iter().find(acted)?;
    let Input::Acted { action: Action::Call { tool, args, .. }, .. } = &step.input else { return None };
    let id = step.effects.iter().find_map(|effect| match effect {
        Effect::Call(call) => Some(call.id),
        Effect::Ask(_) | Effect::Recall(_) => None,
    })?;
    let (decision, why) = said(steps, id)?;
    Some(PlannedCall { tool: tool.clone(), args: args.clone(), decision, why })
}

fn said(steps: &[Step], id: CallId) -> Option<(&'static str, Option<String>)> {
    steps.iter().find_map(|step| match &step.input {
        Input::Ruled { call, ruling } if *call == id => Some(match ruling {
            Ruling::Execute => ("execute", None),
            Ruling::Review { .. } => ("review", None),
            Ruling::Refused { why } | Ruling::Denied { why, .. } | Ruling::Exhausted { why } => {
                ("deny", Some(why.clone()))
            }
        }),
        _ => None,
    })
}
