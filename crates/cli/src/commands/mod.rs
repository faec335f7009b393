//! One file per group of commands: each turns arguments into one use case of [`app::App`] and shows what comes back.

mod acl;
mod approvals;
mod attend;
mod audit;
mod authority;
mod authorize;
mod closing;
mod events;
mod forget;
mod ggs;
mod grants;
mod house;
mod jobs;
mod keeping;
mod knocks;
mod lines;
mod model;
mod people;
mod plan;
mod policies;
mod prompt;
mod run;
mod tasks;
mod tools;
mod undo;
mod vpol;

use std::io;

use app::{App, Problem};
use host::ProcessEnvironment;

use crate::args::{Command, Ggs};
use crate::live::Live;
use crate::show::Screen;
use crate::terminal::TerminalSession;
use attend::Attendance;
pub(crate) use keeping::upgraded;
pub(crate) use model::ScreenReporter;

/// How a command ended, if it was not simply well.
#[derive(Debug)]
pub(crate) enum Trouble {
    Problem(Box<Problem>),
    /// Standard output cannot be written; if nobody reads it any more, that is no error.
    Output(io::Error),
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The exit code of a command that did what it was asked.
pub(crate) type Done = Result<u8, Trouble>;

pub(crate) async fn dispatch(
    command: Command,
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    seat: &TerminalSession,
    live: &Live,
) -> Done {
    let attendance = |wait| Attendance::of(screen, surroundings, seat, live, wait);
    if command.works() {
        acl::warn(app, screen).await;
    }
    match command {
        Command::Run { request, plan, wait, no_reflex, replay } => {
            let (attendance, text) = (attendance(wait), request.join(" "));
            let options = run::model_options(!no_reflex, replay.as_deref())?;
            match plan {
                true => plan::plan(app, screen, surroundings, &text, options).await,
                false => run::run(app, screen, surroundings, &attendance, (&text, options)).await,
            }
        }
        Command::Resume { id, answer, wait } => {
            run::resume(app, screen, &attendance(wait), id.as_deref(), answer.as_deref()).await
        }
        Command::Cancel { id } => tasks::cancel(app, screen, &id).await,
        Command::Replay { id, recording } => tasks::replay(app, screen, &id, recording).await,
        Command::Approvals(command) => approvals::approvals(app, screen, command).await,
        Command::Grants(command) => grants::grants(app, screen, command).await,
        Command::Tools(command) => tools::tools(app, screen, surroundings, attendance, command).await,
        Command::Undo { task, dry_run } => undo::undo(app, screen, &task, dry_run).await,
        Command::Authorize => authorize::authorize(screen).await,
        Command::Ggs(Ggs::Step) => ggs::step(screen).await,
        Command::Acl(command) => acl::acl(app, screen, command).await,
        Command::People(command) => people::people(app, screen, command).await,
        Command::Vpol(command) => vpol::vpol(app, screen, command).await,
        Command::Authority(command) => authority::authority(app, screen, command).await,
        Command::Halt => tools::halt(app, screen).await,
        Command::ResumeAll => tools::resume_all(app, screen).await,
        Command::Tasks(command) => tasks::tasks(app, screen, command).await,
        Command::Why { id, recheck: false } => tasks::why(app, screen, &id).await,
        Command::Why { id, recheck: true } => tasks::recheck(app, screen, &id).await,
        Command::Events(command) => events::events(app, screen, command).await,
        Command::Audit(command) => audit::audit(app, screen, command).await,
        Command::Forget { person, dry_run, yes } => {
            forget::forget(app, screen, &person, forget::Way::of(dry_run, yes)).await
        }
        Command::Status => house::status(app, screen).await,
        Command::Model(command) => model::model(app, screen, surroundings, command).await,
        Command::Doctor => house::doctor(app, screen, surroundings).await,
        Command::Paths => house::paths(app, screen),
        Command::Config(command) => house::config(app, screen, &command),
        Command::Init { yes } => house::init(app, screen, yes).await,
        Command::Tick => house::tick(app, screen).await,
        Command::Upgrade { check } => keeping::upgrade(app, screen, check).await,
        Command::Backup { to, dry_run } => {
            keeping::backup(app, screen, surroundings, to.as_deref(), dry_run).await
        }
        Command::Restore { folder, dry_run, yes } => {
            keeping::restore(app, screen, surroundings, &folder, dry_run, yes).await
        }
        Command::Explain { what } => house::explain(app, screen, &what).await,
        Command::Completions { shell } => house::completions(shell),
        Command::Help { topic } => house::help(screen, &topic),
    }
}
