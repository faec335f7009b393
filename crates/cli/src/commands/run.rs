//! `run` and `resume`.

use std::sync::Arc;

use domain::id::TaskId;
use domain::task::{Cause, Directive, FinalResult, Status};
use runtime::app::{Report, Request, RoleCost, SAID_NO, shortcoming};
use runtime::{App, Code, Problem, Surface, Watch};
use serde_json::json;

use super::Done;
use super::attend::{Attendance, Whose, attended, left_waiting};
use crate::edge::Surroundings;
use crate::edge::tty::Tty;
use crate::show::{Screen, Tone, inline, plural, problem};

/// It is neither done nor failed: a person is needed.
const WAITING: u8 = 3;

/// Where the work is done: here.
pub(super) fn workspace(surroundings: &Surroundings) -> Result<std::path::PathBuf, Problem> {
    let gone = || Problem::new(Code::WORKSPACE, "the current folder is gone").safe("nothing was written");
    surroundings.folder.clone().ok_or_else(gone)
}

pub(crate) async fn run(
    app: &App,
    screen: &Screen,
    surroundings: &Surroundings,
    attendance: &Attendance,
    text: &str,
) -> Done {
    let request = Request {
        text: text.into(),
        workspace: workspace(surroundings)?,
        surface: surface(screen, attendance),
        watch: watch(screen),
        patience: attendance.patience(),
    };
    let report = attended(app, screen, attendance, Whose::New, Box::pin(app.run(request))).await?;
    afterwards(app).await;
    closing(app, screen, &report)
}

/// Nobody needs a daemon to have an orderly house: whoever has answered does what is due, for a moment. What does not
/// fit into it is left to the next one, or to `regent tick`; what fails is on record.
pub(super) async fn afterwards(app: &App) {
    const AT_MOST: std::time::Duration = std::time::Duration::from_millis(50);
    drop(tokio::time::timeout(AT_MOST, app.tick()).await);
}

pub(crate) async fn resume(
    app: &App,
    screen: &Screen,
    attendance: &Attendance,
    id: Option<&str>,
    answer: Option<&str>,
) -> Done {
    let task = match begun(app, id).await {
        // Who is at it already asks there; whether they still are is for the work to say.
        Some(task) if driven(app, task).await => Whose::Perhaps(task),
        Some(task) => Whose::Ours(task),
        None => Whose::New,
    };
    let work = app.resume(id, answer, surface(screen, attendance), watch(screen), attendance.patience());
    let report = attended(app, screen, attendance, task, Box::pin(work)).await?;
    if report.status.is_over()
        && let Some(undone) = app.undone_by(report.task).await?
    {
        let exit = super::undo::told(app, screen, &undone).await?;
        afterwards(app).await;
        return Ok(exit);
    }
    if let Some(result) = report.result.as_ref().filter(|_| !report.worked) {
        screen.note(&format!("{} was over already; this is what it came to", report.short));
        if screen.json { response(screen, report.task, result)? } else { print(screen, result)? }
    }
    afterwards(app).await;
    closing(app, screen, &report)
}

/// The task that is meant, if it was begun: one that only waits takes no step that would tell.
async fn begun(app: &App, id: Option<&str>) -> Option<TaskId> {
    match id {
        Some(id) => app.task(id).await.ok().map(|view| view.line.task),
        None => {
            let tasks = app.tasks(domain::limits::LIST_ENTRIES).await.ok()?;
            tasks.iter().find(|line| !line.status.is_over()).map(|line| line.task)
        }
    }
}

async fn driven(app: &App, task: TaskId) -> bool {
    app.questions_of(task).await.is_ok_and(|open| open.iter().any(|view| view.attended))
}

/// With `--json` every step is an event on standard output, once it is durable.
pub(super) fn watch(screen: &Screen) -> Watch {
    let screen = screen.clone();
    Arc::new(move |task, step| {
        let events = if screen.json { runtime::app::bus_events(task, step) } else { Vec::new() };
        // The answer itself is the surface's line.
        for event in events.iter().filter(|event| event.get("type") != Some(&json!("core:response"))) {
            drop(screen.json_line(event)); // nobody listens any more: the work goes on
        }
    })
}

/// Shows the answer on standard output: the handler behind the tool `deliver`.
struct Terminal {
    screen: Screen,
    /// Where a question may be open.
    tty: Option<Tty>,
}

pub(super) fn surface(screen: &Screen, attendance: &Attendance) -> Arc<dyn Surface> {
    Arc::new(Terminal { screen: screen.clone(), tty: attendance.tty.clone() })
}

impl Surface for Terminal {
    fn show(&self, task: TaskId, result: &FinalResult) -> Result<(), String> {
        // Answered elsewhere a moment ago: the result does not begin behind a prompt.
        self.tty.iter().for_each(Tty::step_aside);
        let screen = &self.screen;
        let shown = if screen.json { response(screen, task, result) } else { print(screen, result) };
        match shown {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()), // whoever closed it had enough
            shown => shown.map_err(|error| format!("standard output: {error}")),
        }
    }
}

/// The last line of the JSON stream.
fn response(screen: &Screen, task: TaskId, result: &FinalResult) -> std::io::Result<()> {
    let problem = shortcoming(result, &task.to_string());
    let exit = problem.as_ref().map_or(0, |problem| problem.code.exit());
    screen.json_line(&json!({
        "v": 1, "type": "core:response", "task_id": task, "directive": result.directive, "exit": exit,
        "message": result.text, "verdicts": result.verdicts, "tried": result.tried, "next": result.next,
        "measured": result.measured, "problem": problem,
    }))?;
    screen.flush()
}

/// The result and nothing else. What is not done never looks done.
fn print(screen: &Screen, result: &FinalResult) -> std::io::Result<()> {
    match (result.directive, result.cause) {
        (Directive::Accept | Directive::Success, _) => screen.result(&result.text)?,
        (Directive::Abandon, Some(Cause::NeedsModel)) => {}
        (Directive::Abandon, _) if result.text.is_empty() => {
            screen.result("PARTIAL RESULT: nothing was completed")?
        }
        (Directive::Abandon, _) => screen.result(&format!("PARTIAL RESULT\n{}", result.text))?,
    }
    screen.flush()
}

/// The last lines: how it ended, and what can be asked about it.
pub(super) fn closing(app: &App, screen: &Screen, report: &Report) -> Done {
    if report.status == Status::Waiting {
        if screen.json {
            screen.json_line(&json!({
                "v": 1, "type": "core:waiting", "task_id": report.task, "exit": WAITING, "waiting": report.waiting,
                "question": report.question,
            }))?;
        } else if report.question.is_some() {
            report.problem().iter().for_each(|trouble| screen.note(&problem(screen, trouble)));
        } else {
            left_waiting(app, screen, report);
        }
        return Ok(WAITING);
    }
    let trouble = report.problem();
    let exit = trouble.as_ref().map_or(0, |problem| problem.code.exit());
    if screen.json && trouble.as_ref().is_none_or(|trouble| trouble.code != Code::OUTPUT) {
        return Ok(exit); // the stream's last line said it all
    }
    match trouble {
        Some(trouble) => {
            screen.note(&problem(screen, &told(trouble)));
            afterthoughts(screen, report);
        }
        None => {
            let checks = report.result.as_ref().map_or(0, |result| result.verdicts.len());
            let mark = screen.note_tinted(screen.mark("✓ done", "done"), Tone::Good);
            let how = match checks {
                0 => "answered directly".to_owned(),
                checks => format!("all {checks} checks met"),
            };
            screen.note(&format!("{mark}: {how}, {}", seconds(report.elapsed)));
            cost(screen, report);
            let undo = match report.can_undo {
                0 => String::new(),
                _ => format!("    regent undo {}", report.short),
            };
            let commands = format!("regent why {}{undo}", report.short);
            screen.note(&format!("  {}", screen.note_tinted(&commands, Tone::Command)));
        }
    }
    Ok(exit)
}

/// What was tried and what could come next, where it is not done; and what it cost.
fn afterthoughts(screen: &Screen, report: &Report) {
    let lists = report.result.as_ref().map(|result| [("tried", &result.tried), ("next", &result.next)]);
    for (label, lines) in lists.into_iter().flatten() {
        for (at, line) in lines.iter().enumerate() {
            screen.note(&format!("  {:<8} {}", if at == 0 { label } else { "" }, inline(line)));
        }
    }
    cost(screen, report);
}

/// A line for each role that asked a model.
fn cost(screen: &Screen, report: &Report) {
    for (at, RoleCost { role, asks, tokens_in, tokens_out, price, .. }) in report.cost.iter().enumerate() {
        let label = if at == 0 { "cost" } else { "" };
        let role = role.replace('_', "-");
        let asks = plural(*asks, "ask", "asks");
        let money = match price {
            0 => String::new(),
            price => format!(", {}.{:06}", price / 1_000_000, price % 1_000_000),
        };
        screen
            .note(&format!("  {label:<8} {role:<14} {asks}, {tokens_in} tokens in, {tokens_out} out{money}"));
    }
}

/// What an agent is told after a no is not for whoever said it.
fn told(mut trouble: Problem) -> Problem {
    if trouble.code == Code::REFUSED && trouble.what.starts_with(SAID_NO) {
        trouble.what = "you said no, so it was not done".into();
    }
    trouble
}

fn seconds(elapsed: std::time::Duration) -> String {
    if elapsed.as_millis() < 100 {
        format!("{} ms", elapsed.as_millis())
    } else {
        format!("{:.1} s", elapsed.as_secs_f64())
    }
}
