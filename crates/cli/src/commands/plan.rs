//! `run --plan`: what would be done.

use std::sync::Arc;

use app::tasks::shortcoming;
use app::{App, Surface};
use app::{DryRun, ModelOptions, PlannedCall, PlannedSubtask, RunRequest, WaitMode};
use domain::id::TaskId;
use domain::task::FinalResult;
use host::ProcessEnvironment;
use present::progress::words;

use super::Done;
use super::run::workspace;
use crate::show::{Screen, Tone, columns, inline, plural, problem};

/// Nothing is handed over, because nothing is done.
struct Nobody;

impl Surface for Nobody {
    fn show(&self, _: TaskId, _: &FinalResult) -> Result<(), String> {
        Err("nothing is done".into())
    }
}

pub(crate) async fn plan(
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    text: &str,
    options: ModelOptions,
) -> Done {
    let request = RunRequest {
        text: text.into(),
        workspace: workspace(surroundings)?,
        surface: Arc::new(Nobody),
        wait: WaitMode::Leave,
        options,
    };
    let rehearsal = Box::pin(app.tasks().plan(&request)).await?;
    let trouble = rehearsal.result.as_ref().and_then(|result| shortcoming(result, "<task>"));
    let exit = trouble.as_ref().map_or(0, |trouble| trouble.code.exit());
    if screen.json {
        screen.json_line(&rehearsal)?;
        return Ok(exit);
    }
    match (&rehearsal.question, &rehearsal.result) {
        (Some(question), _) => screen.line(&format!("would ask: {}", inline(question)))?,
        (None, Some(_)) if trouble.is_some() => {
            trouble.iter().for_each(|trouble| screen.note(&problem(screen, trouble)));
        }
        (None, Some(result)) => screen.line(&format!("would answer: {}", inline(&result.text)))?,
        (None, None) => {
            screen.line(&head(&rehearsal))?;
            for line in rows(screen, &rehearsal.subtasks) {
                screen.line(&line)?;
            }
            return Ok(exit);
        }
    }
    screen.note("nothing was done");
    Ok(exit)
}

/// `plan only, nothing was done: 5 steps, 9 checks (8 in code, 1 judged by a model)`.
fn head(rehearsal: &DryRun) -> String {
    let checks = rehearsal.subtasks.iter().map(|step| step.criteria.len()).sum::<usize>();
    let checks = checks + rehearsal.task_criteria.len();
    let judged = match rehearsal.judged {
        0 => String::new(),
        judged => format!(" ({} in code, {judged} judged by a model)", checks.saturating_sub(judged)),
    };
    let steps = plural(rehearsal.subtasks.len() as u64, "step", "steps");
    format!("plan only, nothing was done: {steps}, {}{judged}", plural(checks as u64, "check", "checks"))
}

/// A line for each step: its number, what, with which tool, what it needs, and whether somebody would be asked.
fn rows(screen: &Screen, steps: &[PlannedSubtask]) -> Vec<String> {
    const INTENT: usize = 36;
    let cells = (1..).zip(steps).map(|(number, step)| {
        let needs: Vec<u32> = step.depends_on.iter().map(|on| on + 1).collect();
        let needs =
            if needs.is_empty() { String::new() } else { format!("needs {}", words::join_numbers(&needs)) };
        let tool = step.first.as_ref().map_or_else(|| step.tools.join(", "), |first| first.tool.to_string());
        (format!("{number} {}", inline(&step.intent)), tool, needs)
    });
    let cells: Vec<(String, String, String)> = cells.collect();
    let widest = |of: fn(&(String, String, String)) -> &String| {
        cells.iter().map(|cell| columns(of(cell))).max().unwrap_or_default()
    };
    let (intents, tools, needs) =
        (widest(|cell| &cell.0).min(INTENT), widest(|cell| &cell.1), widest(|cell| &cell.2));
    let line = |((intent, tool, need), step): (&(String, String, String), &PlannedSubtask)| {
        let said = step.first.as_ref().map_or_else(String::new, |first| foreseen(screen, first));
        let need = if needs == 0 { String::new() } else { format!("{need:<needs$}  ") };
        format!("{intent:<intents$}  {tool:<tools$}  {need}{said}").trim_end().to_owned()
    };
    cells.iter().zip(steps).map(line).collect()
}

fn foreseen(screen: &Screen, first: &PlannedCall) -> String {
    let why = first.why.as_ref().map_or_else(String::new, |why| format!(": {}", inline(why)));
    match first.decision {
        "execute" => String::new(),
        "review" => screen.tinted(&format!("asks you{why}"), Tone::Attention),
        _ => screen.tinted(&format!("would be refused{why}"), Tone::Bad),
    }
}
