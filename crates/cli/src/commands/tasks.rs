//! `tasks` and `why`.

use domain::task::Status;
use runtime::App;
use runtime::app::{TaskLine, TaskView};

use super::Done;
use crate::args::Tasks;
use crate::show::{Screen, Tone, brief, escaped, tree};

pub(crate) async fn tasks(app: &App, screen: &Screen, command: Tasks) -> Done {
    match command {
        Tasks::List { limit } => {
            let lines = app.tasks(limit).await?;
            if lines.is_empty() && limit > 0 && !screen.json {
                screen.note("nothing has run yet; try: regent run \"how many files are here?\"");
            }
            for line in &lines {
                if screen.json { screen.json_line(line)? } else { screen.line(&row(app, screen, line))? }
            }
        }
        Tasks::Follow { after } => follow(app, screen, after).await?,
        Tasks::Show { id } => {
            let view = app.task(&id).await?;
            if screen.json { screen.json_line(&view)? } else { screen.line(&page(app, screen, &view))? }
        }
    }
    Ok(0)
}

async fn follow(app: &App, screen: &Screen, after: Option<i64>) -> Result<(), super::Trouble> {
    let mut tap = app.tap(after).await?;
    loop {
        for tapped in tap.next().await? {
            if screen.json {
                screen.json_line(&tapped.line())?;
                continue;
            }
            let line = tapped.line();
            let when = line.at.map(|at| at.clock_time(app.zone())).unwrap_or_default();
            let short = app.short(tapped.task).await?;
            screen.line(&format!(
                "{:>8} {short:<8} {when} {}",
                line.seq,
                line.input.unwrap_or("(erased)")
            ))?;
        }
        screen.flush()?;
    }
}

pub(crate) async fn why(app: &App, screen: &Screen, id: &str) -> Done {
    let why = app.why(id).await?;
    if screen.json {
        screen.json_line(&why)?
    } else {
        screen.line(&tree(screen, &why, id))?
    }
    Ok(0)
}

pub(super) fn row(app: &App, screen: &Screen, line: &TaskLine) -> String {
    let (word, tone) = match line.status {
        Status::Queued => ("not begun", Tone::Attention),
        Status::Running => ("unfinished", Tone::Attention),
        Status::Done => ("done", Tone::Good),
        Status::Stopped => ("stopped", Tone::Bad),
    };
    let request = line.request.as_deref().map_or_else(|| "(erased)".into(), |text| brief(text, 50));
    let when = line.created_at.date_time(app.zone());
    format!("{:<8} {} {:<51} {when}", line.short, screen.tinted(&format!("{word:<10}"), tone), request)
}

fn page(app: &App, screen: &Screen, view: &TaskView) -> String {
    let mut text = row(app, screen, &view.line);
    let mut add = |label: &str, value: &str| text.push_str(&format!("\n  {label:<9} {value}"));
    for (i, intent) in view.plan.iter().enumerate() {
        add(if i == 0 { "plan" } else { "" }, &format!("{} {}", i + 1, escaped(intent)));
    }
    for (i, call) in view.calls.iter().enumerate() {
        let took = call.duration_ms.map_or_else(String::new, |ms| format!("{ms} ms"));
        let status = call.status.name();
        add(
            if i == 0 { "calls" } else { "" },
            &format!("{:<8} {:<12} {status:<9} {took}", call.short, call.tool),
        );
    }
    if let Some(result) = &view.result {
        for (i, verdict) in result.verdicts.iter().enumerate() {
            let word = if verdict.passed { "met" } else { "not met" };
            add(
                if i == 0 { "checks" } else { "" },
                &format!("{word:<8} {} ({})", escaped(&verdict.criterion), escaped(&verdict.evidence)),
            );
        }
        if let Some(reason) = &result.reason {
            add("reason", &escaped(reason));
        }
        for (i, line) in result.text.lines().enumerate() {
            add(if i == 0 { "result" } else { "" }, &escaped(line));
        }
    }
    if view.erased {
        add("result", "(erased)");
    }
    let journal: Vec<&str> = view.journal.iter().map(|step| step.input).collect();
    add("journal", &journal.join(", "));
    text
}
