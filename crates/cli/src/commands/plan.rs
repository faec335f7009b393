//! `run --plan`: what would be done.

use std::sync::Arc;

use domain::id::TaskId;
use domain::task::FinalResult;
use runtime::app::{Foreseen, Patience, Planned, Rehearsal, Request, shortcoming};
use runtime::{App, Surface};

use super::Done;
use super::run::workspace;
use crate::edge::Surroundings;
use crate::show::{Screen, Tone, inline, problem};

/// Nothing is handed over, because nothing is done.
struct Nobody;

impl Surface for Nobody {
    fn show(&self, _: TaskId, _: &FinalResult) -> Result<(), String> {
        Err("nothing is done".into())
    }
}

pub(crate) async fn plan(app: &App, screen: &Screen, surroundings: &Surroundings, text: &str) -> Done {
    let request = Request {
        text: text.into(),
        workspace: workspace(surroundings)?,
        surface: Arc::new(Nobody),
        watch: Arc::new(|_, _| {}),
        patience: Patience::Leave,
    };
    let rehearsal = Box::pin(app.plan(&request)).await?;
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
        (None, None) => show(screen, &rehearsal)?,
    }
    screen.note("nothing was done");
    Ok(exit)
}

fn show(screen: &Screen, rehearsal: &Rehearsal) -> std::io::Result<()> {
    if let Some(intent) = &rehearsal.intent {
        screen.line(&inline(intent))?;
    }
    for (number, subtask) in (1..).zip(&rehearsal.subtasks) {
        let Planned { intent, depends_on, criteria, tools, first } = subtask;
        let after = match depends_on.as_slice() {
            [] => String::new(),
            on => {
                let on: Vec<String> = on.iter().map(|on| (on + 1).to_string()).collect();
                format!("  (after {})", on.join(", "))
            }
        };
        screen.line(&format!("{number:>3}  {}{after}", inline(intent)))?;
        match first {
            Some(first) => screen.line(&format!("     call  {}", foreseen(screen, first)))?,
            None if tools.is_empty() => {}
            None => screen.line(&format!("     with  {}", tools.join(", ")))?,
        }
        for criterion in criteria {
            screen.line(&format!("     check {}", inline(criterion)))?;
        }
    }
    for criterion in &rehearsal.task_criteria {
        screen.line(&format!("  in all   {}", inline(criterion)))?;
    }
    Ok(())
}

fn foreseen(screen: &Screen, first: &Foreseen) -> String {
    let Foreseen { tool, args, decision, why } = first;
    let (word, tone) = match *decision {
        "execute" => ("runs", Tone::Good),
        "review" => ("you would be asked", Tone::Attention),
        _ => ("would be refused", Tone::Bad),
    };
    let why = why.as_ref().map_or_else(String::new, |why| format!(": {}", inline(why)));
    format!("{tool} {}  {}{why}", inline(&args.to_string()), screen.tinted(word, tone))
}
