//! `undo`.

use std::io;

use app::App;
use app::tasks::{Before, Left, Note, PutBack, Undo, Undone};

use super::Done;
use super::run::afterwards;
use crate::show::{Screen, Tone, inline, problem};

pub(crate) async fn undo(app: &App, screen: &Screen, task: &str, dry_run: bool) -> Done {
    let how = if dry_run { Undo::DryRun } else { Undo::ForGood };
    let undone = app.tasks().undo(task, how).await?;
    let exit = told(app, screen, &undone).await?;
    if !dry_run {
        afterwards(app).await;
    }
    Ok(exit)
}

/// Says what came of an undo; its exit code.
pub(super) async fn told(app: &App, screen: &Screen, undone: &Undone) -> Done {
    let trouble = undone.problem();
    if screen.json {
        screen.json_line(undone)?;
    } else {
        show(app, screen, undone).await?;
        if let Some(trouble) = &trouble {
            screen.note(&problem(screen, trouble));
        }
    }
    Ok(trouble.map_or(0, |trouble| trouble.code.exit()))
}

async fn show(app: &App, screen: &Screen, undone: &Undone) -> Result<(), super::OperationError> {
    lines(screen, undone)?;
    for left in &undone.left {
        let what = match (&left.path, left.call) {
            (Some(path), _) => inline(path),
            (None, Some(call)) => app.short(call).await?,
            (None, None) => String::new(),
        };
        screen.line(&left_line(screen, &what, left))?;
    }
    if let Some(by) = undone.by_short.as_ref().filter(|_| !undone.put_back.is_empty()) {
        let again = screen.note_tinted(&format!("regent undo {by}"), Tone::Command);
        screen.note(&format!("to take this back: {again}"));
    }
    Ok(())
}

fn lines(screen: &Screen, undone: &Undone) -> io::Result<()> {
    let word = if undone.dry_run { "would put back" } else { "put back" };
    for PutBack { path, as_before, notes } in &undone.put_back {
        let kind = match as_before {
            Before::Nothing if notes.contains(&Note::Tidied) => None,
            Before::Nothing => Some("it was new: gone again".to_owned()),
            Before::File => None,
            Before::Link => Some("a link".to_owned()),
        };
        let notes: Vec<String> = kind.into_iter().chain(notes.iter().map(ToString::to_string)).collect();
        let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
        screen.line(&format!("{}  {}{notes}", screen.tinted(word, Tone::Good), inline(path)))?;
    }
    undone.unchanged.iter().try_for_each(|path| screen.line(&format!("as before  {}", inline(path))))
}

fn left_line(screen: &Screen, what: &str, left: &Left) -> String {
    let tool = left.tool.as_ref().map_or_else(String::new, |tool| format!(" ({tool})"));
    let why = inline(&left.why.to_string());
    format!("{}  {what}{tool}: {why}", screen.tinted("left as it is", Tone::Attention))
}
