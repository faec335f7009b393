//! `run` and `resume`.

use std::path::Path;
use std::sync::Arc;

use app::operation::AttendedTask;
use app::tasks::shortcoming;
use app::{App, Code, Problem, Surface};
use app::{ModelOptions, RunRequest};
use domain::id::TaskId;
use domain::task::{Cause, Directive, FinalResult};
use host::{ProcessEnvironment, SystemClock};
use llm::{Provider, Script};
use serde_json::json;

use super::Done;
use super::attend::{Attendance, attended};
use super::closing::closing;
use crate::live::Live;
use crate::show::Screen;
use crate::terminal::tty::Tty;

/// Where the work is done: here.
pub(super) fn workspace(surroundings: &ProcessEnvironment) -> Result<std::path::PathBuf, Problem> {
    let gone = || Problem::new(Code::WORKSPACE, "the current folder is gone").safe("nothing was written");
    surroundings.folder.clone().ok_or_else(gone)
}

pub(crate) async fn run(
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    attendance: &Attendance,
    (text, options): (&str, ModelOptions),
) -> Done {
    let request = RunRequest {
        text: text.into(),
        workspace: workspace(surroundings)?,
        surface: surface(screen, attendance),
        wait: attendance.wait(),
        options,
    };
    let report =
        attended(app, screen, attendance, AttendedTask::New, Box::pin(app.tasks().run(request))).await?;
    afterwards(app).await;
    closing(app, screen, &attendance.live, &report)
}

/// Nobody needs a daemon to have an orderly house: whoever has answered does what is due, for a moment. What does not
/// fit into it is left to the next one, or to `regent tick`; what fails is on record.
pub(super) async fn afterwards(app: &App) {
    const AT_MOST: std::time::Duration = std::time::Duration::from_millis(50);
    drop(tokio::time::timeout(AT_MOST, app.instance().tick()).await);
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
        Some(task) if driven(app, task).await => AttendedTask::PerhapsDriven(task),
        Some(task) => AttendedTask::Begun(task),
        None => AttendedTask::New,
    };
    if let AttendedTask::Begun(task) | AttendedTask::PerhapsDriven(task) = task {
        // What cannot be read any more is told by the work.
        attendance.live.remember(task, &app.record().steps(&task.to_string()).await.unwrap_or_default());
    }
    let work = app.tasks().resume(id, answer, surface(screen, attendance), attendance.wait());
    let report = attended(app, screen, attendance, task, Box::pin(work)).await?;
    if report.status.is_over()
        && let Some(undone) = app.tasks().undone_by(report.task).await?
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
    closing(app, screen, &attendance.live, &report)
}

/// The task that is meant, if it was begun: one that only waits takes no step that would tell.
async fn begun(app: &App, id: Option<&str>) -> Option<TaskId> {
    match id {
        Some(id) => app.tasks().show(id).await.ok().map(|view| view.line.task),
        None => {
            let tasks = app.tasks().list(domain::limits::LIST_ENTRIES).await.ok()?;
            tasks.iter().find(|line| !line.status.is_over()).map(|line| line.task)
        }
    }
}

async fn driven(app: &App, task: TaskId) -> bool {
    app.approvals().open_of_task(task).await.is_ok_and(|open| open.iter().any(|view| view.attended))
}

/// How a request may be answered; a recording answers in the place of every model.
pub(super) fn model_options(reflex: bool, replay: Option<&Path>) -> Result<ModelOptions, Problem> {
    Ok(ModelOptions { reflex, replacement: replay.map(recording).transpose()? })
}

/// A recording that the owner named, as somebody who answers.
fn recording(file: &Path) -> Result<Arc<dyn Provider>, Problem> {
    let wrong = |why: String| {
        Problem::new(Code::BAD_RECORDING, format!("{}: {why}", file.display())).safe("nothing was written")
    };
    let text = host::read_named_text(file).map_err(|error| wrong(error.to_string()))?;
    let text = text.ok_or_else(|| wrong("there is no such file".into()))?;
    Ok(Arc::new(Script::read(&text).map_err(wrong)?))
}

/// Shows the answer on standard output: the handler behind the tool `deliver`.
struct Terminal {
    screen: Screen,
    /// Where a question may be open.
    tty: Option<Tty>,
    live: Live,
    clock: Arc<dyn domain::Clock>,
}

pub(crate) fn surface(screen: &Screen, attendance: &Attendance) -> Arc<dyn Surface> {
    let Attendance { tty, live, .. } = attendance;
    Arc::new(Terminal {
        screen: screen.clone(),
        tty: tty.clone(),
        live: live.clone(),
        clock: Arc::new(SystemClock),
    })
}

impl Surface for Terminal {
    fn show(&self, task: TaskId, result: &FinalResult) -> Result<(), String> {
        // Answered elsewhere a moment ago: the result does not begin behind a prompt.
        self.tty.iter().for_each(Tty::step_aside);
        self.live.follow(); // what led to the result comes before it
        self.live.close(self.clock.now());
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
