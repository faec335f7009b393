//! `replay`: the journal of a task, folded again. The same inputs give the same steps, or somebody is told which not.

use clap::Args;
use domain::ask::{Ask, Reply, Usage};
use domain::id::TaskId;
use domain::{Time, canonical};
use engine::task::{Effect, Input, Message, Step, Task};
use kernel::{Code, Problem, journal};
use ledger::Found;
use present::{Page, Style, Tone, pluralize, shorten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FOUND_WIDTH, Record};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    json_each,
};

/// Fold the journal of a task again and compare every step; exit 1 if one differs
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ReplayTask {
    /// Any unique beginning of the task's id
    pub id: String,
    /// Print what models were asked and answered instead, one JSON line each
    #[arg(long)]
    #[serde(default)]
    pub recording: bool,
}

impl Operation for ReplayTask {
    const SPEC: OperationSpec = OperationSpec::new(
        "replay",
        OperationAccess::READ,
        &["regent replay t-k7q2", "regent replay t-k7q2 --recording > asks.jsonl"],
    )
    .route(HttpMethod::Get, "/tasks/{id}/replay");
    type Output = TaskReplay;

    async fn run(self, context: &OperationContext<'_>) -> Result<TaskReplay, OperationError> {
        let record = context.app.record();
        if self.recording {
            context.io.emit_verbatim(record.recording(&self.id).await?.trim_end())?;
            return Ok(TaskReplay::Recording);
        }
        Ok(TaskReplay::Steps(record.replay(&self.id).await?))
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum TaskReplay {
    Steps(Played),
    /// It is written already.
    Recording,
}

impl Output for TaskReplay {
    fn render(&self, style: &Style<'_>) -> Page {
        match self {
            Self::Steps(played) => played.render(style),
            Self::Recording => Page::new(),
        }
    }

    fn json_lines(&self) -> Vec<Value> {
        match self {
            Self::Steps(played) => json_each(std::slice::from_ref(played)),
            Self::Recording => Vec::new(),
        }
    }

    fn problem(&self) -> Option<Problem> {
        match self {
            Self::Steps(played) => played.problem(),
            Self::Recording => None,
        }
    }
}

/// One step as it was kept, and whether it comes out the same today.
#[derive(Clone, Debug, Serialize)]
pub struct PlayedStep {
    pub n: u64,
    pub at: Time,
    pub input: &'static str,
    pub messages: Vec<Message>,
    /// What it brought forth: the asks and calls, in a few words.
    pub effects: Vec<String>,
    pub identical: bool,
}

/// A whole journal.
#[derive(Clone, Debug, Serialize)]
pub struct Played {
    pub task: TaskId,
    #[serde(skip)]
    pub short: String,
    pub steps: Vec<PlayedStep>,
    /// The rules that took the steps, where they are not those of this program: then a difference is no surprise.
    pub other_rules: Option<u32>,
    pub identical: bool,
}

impl Played {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.steps.iter().map(|step| step.row(style)));
        let steps = pluralize(self.steps.len() as u64, "step", "steps");
        match (self.identical, self.other_rules) {
            (true, _) => page.add(style.theme.paint(&format!("{steps}, all identical"), Tone::Good)),
            (false, Some(rules)) => {
                let text = format!("{steps}, taken by other rules ({rules}): they differ, and may");
                page.add(style.theme.paint(&text, Tone::Attention));
            }
            (false, None) => {} // that is a problem
        }
        page
    }

    fn problem(&self) -> Option<Problem> {
        if self.identical || self.other_rules.is_some() {
            return None;
        }
        let differ = self.steps.iter().filter(|step| !step.identical).count() as u64;
        let differ = pluralize(differ, "step differs", "steps differ");
        Some(super::differs(Code::REPLAY_DIFFERS, &differ))
    }
}

impl PlayedStep {
    /// The step on one line.
    fn row(&self, style: &Style<'_>) -> String {
        let said: Vec<&str> = self.messages.iter().map(|message| message.kind.as_str()).collect();
        let parts = [said.join(", "), self.effects.join(", ")];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let followed = shorten(&parts.join(" → "), FOUND_WIDTH);
        let mark = style.theme.paint(if self.identical { "" } else { "  DIFFERS" }, Tone::Bad);
        format!("{:>5} {:<12} {followed}{mark}", self.n, self.input)
    }
}

impl Record<'_> {
    /// Folds the journal of a task again, and compares every step with what was kept. Nothing runs, and nothing is written.
    ///
    /// # Errors
    /// If there is no such task, its journal was erased or does not fold, or the ledger fails.
    #[tracing::instrument(level = "info", name = "record.replay", skip_all)]
    pub async fn replay(self, id: &str) -> Result<Played, Problem> {
        let (task, steps) = self.journal_of(id).await?;
        let mut played = Vec::new();
        fold(&steps, |then, now| {
            // In their canonical form: what was read from a journal writes numbers in one way.
            let form = |step: &Step| canonical::bytes(&(step.n, &step.messages, &step.reasons)).ok();
            let identical = form(then) == form(now);
            let effects = now.effects.iter().map(named).collect();
            let (messages, input) = (then.messages.clone(), then.input.name());
            played.push(PlayedStep { n: then.n, at: then.at, input, messages, effects, identical });
        })?;
        let other_rules = steps.iter().map(|step| step.rules).find(|rules| *rules != engine::RULES);
        let identical = played.iter().all(|step| step.identical);
        Ok(Played { task, short: self.app.kernel.short(task).await?, steps: played, other_rules, identical })
    }

    /// What models were asked in a task and what they answered, as a script that plays the same again.
    ///
    /// # Errors
    /// As [`App::replay`].
    #[tracing::instrument(level = "info", name = "record.recording", skip_all)]
    pub async fn recording(self, id: &str) -> Result<String, Problem> {
        let (_, steps) = self.journal_of(id).await?;
        let mut asked: Vec<Ask> = Vec::new();
        let mut pairs: Vec<(Ask, Reply, Usage)> = Vec::new();
        fold(&steps, |then, now| {
            if let Some(subject) = then.input.subject()
                && let Some(place) = asked.iter().position(|ask| ask.subject() == subject)
            {
                let (ask, usage) = (asked.swap_remove(place), then.usage.clone().unwrap_or_default());
                pairs.extend(reply(&then.input).map(|reply| (ask, reply, usage)));
            }
            asked.extend(now.effects.iter().filter_map(|effect| match effect {
                Effect::Ask(ask) => Some((**ask).clone()),
                Effect::Call(_) | Effect::Recall(_) => None,
            }));
        })?;
        llm::Script::recording(pairs.into_iter()).map_err(Problem::internal)
    }

    /// The steps of a task so far, with what each brought forth: for whoever goes on showing it.
    ///
    /// # Errors
    /// As [`App::replay`].
    #[tracing::instrument(level = "info", name = "record.steps", skip_all)]
    pub async fn steps(self, id: &str) -> Result<Vec<Step>, Problem> {
        let (_, kept) = self.journal_of(id).await?;
        let mut steps = Vec::with_capacity(kept.len());
        fold(&kept, |then, now| steps.push(Step { effects: now.effects.clone(), ..then.clone() }))?;
        Ok(steps)
    }

    async fn journal_of(self, id: &str) -> Result<(TaskId, Vec<Step>), Problem> {
        let Found::Task(task) = self.app.kernel.find(id).await? else {
            return Err(
                Problem::new(Code::NO_SUCH_ID, format!("`{id}` is not a task")).remedy("regent tasks list")
            );
        };
        let steps = journal::load(self.app.kernel.ledger().await?, task.task_id).await?;
        Ok((task.task_id, steps))
    }
}

/// Every step as it was kept beside the one that comes out today.
fn fold(steps: &[Step], mut each: impl FnMut(&Step, &Step)) -> Result<(), Problem> {
    let Some((first, rest)) = steps.split_first() else { return Ok(()) };
    let damaged =
        |what: String| Problem::new(Code::DATABASE_DAMAGED, format!("the journal does not fold: {what}"));
    let Input::Opened(opening) = &first.input else {
        return Err(damaged("it does not begin with an opening".into()));
    };
    let (mut task, now) = Task::open(opening.clone(), first.at);
    each(first, &now);
    for step in rest {
        let now = task.handle(step.input.clone(), step.at).map_err(|error| damaged(error.to_string()))?;
        each(step, &now);
    }
    Ok(())
}

fn named(effect: &Effect) -> String {
    match effect {
        Effect::Ask(ask) => format!("ask {}", ask.subject().role()),
        Effect::Call(call) => format!("call {} {}", call.tool, call.id),
        Effect::Recall(recall) => format!("recall {}", recall.tags.len()),
    }
}

fn reply(input: &Input) -> Option<Reply> {
    Some(match input {
        Input::Perceived(perception) => Reply::Perceived(perception.clone()),
        Input::Planned(plan) => Reply::Planned(plan.clone()),
        Input::NotPlanned(why) => Reply::NotPlanned(why.clone()),
        Input::Acted { action, .. } => Reply::Acted(action.clone()),
        Input::Judged { judgements, .. } => Reply::Judged(judgements.clone()),
        _ => return None,
    })
}
