//! `run --plan`: what would be done.

use kernel::{DryRun, PlannedCall, PlannedSubtask, Problem, RunRequest};
use present::progress::words;
use present::{Page, Style, Theme, Tone, inline, measure_columns, pluralize, render_problem};

use super::{Tasks, shortcoming};
use crate::operation::Output;

impl Tasks<'_> {
    /// What would be done, with which tools, and what would be asked. Nothing is done, and nothing is written.
    ///
    /// # Errors
    /// If it would not be admitted, or the ledger fails.
    #[tracing::instrument(level = "info", name = "tasks.plan", skip_all)]
    pub async fn plan(self, request: &RunRequest) -> Result<DryRun, Problem> {
        self.app.kernel.plan(request).await
    }
}

impl Output for DryRun {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        match (&self.question, &self.result, find_shortcoming(self)) {
            (Some(question), ..) => page.add(format!("would ask: {}", inline(question))),
            (None, Some(_), Some(problem)) => page.add_note(render_problem(&problem, style.note_theme)),
            (None, Some(result), None) => page.add(format!("would answer: {}", inline(&result.text))),
            (None, None, _) => {
                page.add(describe_head(self));
                page.add_all(list_steps(style.theme, &self.subtasks));
                return page;
            }
        }
        page.add_note("nothing was done");
        page
    }

    fn exit(&self) -> u8 {
        find_shortcoming(self).map_or(0, |problem| problem.code.exit())
    }
}

fn find_shortcoming(plan: &DryRun) -> Option<Problem> {
    plan.result.as_ref().and_then(|result| shortcoming(result, "<task>"))
}

/// `plan only, nothing was done: 5 steps, 9 checks (8 in code, 1 judged by a model)`.
fn describe_head(plan: &DryRun) -> String {
    let checks = plan.subtasks.iter().map(|step| step.criteria.len()).sum::<usize>();
    let checks = checks + plan.task_criteria.len();
    let judged = match plan.judged {
        0 => String::new(),
        judged => format!(" ({} in code, {judged} judged by a model)", checks.saturating_sub(judged)),
    };
    let steps = pluralize(plan.subtasks.len() as u64, "step", "steps");
    format!("plan only, nothing was done: {steps}, {}{judged}", pluralize(checks as u64, "check", "checks"))
}

/// A line for each step: its number, what, with which tool, what it needs, and whether somebody would be asked.
fn list_steps(theme: Theme, steps: &[PlannedSubtask]) -> Vec<String> {
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
        cells.iter().map(|cell| measure_columns(of(cell))).max().unwrap_or_default()
    };
    let (intents, tools, needs) =
        (widest(|cell| &cell.0).min(INTENT), widest(|cell| &cell.1), widest(|cell| &cell.2));
    let line = |((intent, tool, need), step): (&(String, String, String), &PlannedSubtask)| {
        let said = step.first.as_ref().map_or_else(String::new, |first| describe_decision(theme, first));
        let need = if needs == 0 { String::new() } else { format!("{need:<needs$}  ") };
        format!("{intent:<intents$}  {tool:<tools$}  {need}{said}").trim_end().to_owned()
    };
    cells.iter().zip(steps).map(line).collect()
}

fn describe_decision(theme: Theme, first: &PlannedCall) -> String {
    let why = first.why.as_ref().map_or_else(String::new, |why| format!(": {}", inline(why)));
    match first.decision {
        "execute" => String::new(),
        "review" => theme.paint(&format!("asks you{why}"), Tone::Attention),
        _ => theme.paint(&format!("would be refused{why}"), Tone::Bad),
    }
}
