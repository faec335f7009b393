//! `undo`.

use clap::Args;
use kernel::Problem;
use present::{Page, Style, Tone, inline};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Before, Left, Note, PutBack, Undo, Undone};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};
use crate::tasks::run::run_due_jobs;

/// Put back the files that a task has changed, in the folder it worked in
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct UndoTask {
    /// Any unique beginning of the task's id; an undo is a task too, and can be undone
    pub task: String,
    /// Only say what would be put back, and change nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
}

impl Operation for UndoTask {
    const SPEC: OperationSpec = OperationSpec::new(
        "undo",
        OperationAccess::RUN,
        &["regent undo t-k7q2 --dry-run", "regent undo t-k7q2"],
    )
    .route(HttpMethod::Post, "/tasks/{task}/undo")
    .notes("What is kept, and what cannot be undone: docs/undo.md")
    .starts_work();
    type Output = Undone;

    async fn run(self, context: &OperationContext<'_>) -> Result<Undone, OperationError> {
        let how = if self.dry_run { Undo::DryRun } else { Undo::ForGood };
        let undone = context.app.tasks().undo(&self.task, how).await?;
        if !self.dry_run {
            run_due_jobs(context.app).await;
        }
        Ok(undone)
    }
}

impl Output for Undone {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        let word = style.theme.paint(if self.dry_run { "would put back" } else { "put back" }, Tone::Good);
        page.add_all(self.put_back.iter().map(|put_back| format!("{word}  {}", describe(put_back))));
        page.add_all(self.unchanged.iter().map(|path| format!("as before  {}", inline(path))));
        let left_word = style.theme.paint("left as it is", Tone::Attention);
        page.add_all(self.left.iter().map(|left| format!("{left_word}  {}", describe_left(left))));
        if let Some(by) = self.by_short.as_ref().filter(|_| !self.put_back.is_empty()) {
            let again = style.note_theme.paint_command(&format!("regent undo {by}"));
            page.add_note(format!("to take this back: {again}"));
        }
        page
    }

    fn problem(&self) -> Option<Problem> {
        Self::problem(self)
    }
}

fn describe(PutBack { path, as_before, notes }: &PutBack) -> String {
    let kind = match as_before {
        Before::Nothing if notes.contains(&Note::Tidied) => None,
        Before::Nothing => Some("it was new: gone again".to_owned()),
        Before::File => None,
        Before::Link => Some("a link".to_owned()),
    };
    let notes: Vec<String> = kind.into_iter().chain(notes.iter().map(ToString::to_string)).collect();
    let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
    format!("{}{notes}", inline(path))
}

fn describe_left(left: &Left) -> String {
    let what = left.path.as_ref().map_or_else(|| left.call_short.clone(), |path| inline(path));
    let tool = left.tool.as_ref().map_or_else(String::new, |tool| format!(" ({tool})"));
    format!("{what}{tool}: {}", inline(&left.why.to_string()))
}
