//! One file per group of commands: each turns arguments into one use case of [`app::App`] and shows what comes back.

mod acl;
mod approvals;
pub(crate) mod attend;
mod authority;
mod closing;
mod forget;
mod house;
mod jobs;
mod keeping;
mod knocks;
pub(crate) mod lines;
mod model;
mod people;
mod plan;
mod policies;
mod prompt;
pub(crate) mod run;
mod tools;
mod undo;
mod vpol;

use app::App;
pub(crate) use app::operation::OperationError;
use host::ProcessEnvironment;

use crate::args::Command;
use crate::io::TerminalIo;
use crate::show::Screen;
pub(crate) use acl::warn as warn_of_policies;
pub(crate) use keeping::upgraded;
pub(crate) use model::ScreenReporter;

/// The exit code of a command that did what it was asked.
pub(crate) type Done = Result<u8, OperationError>;

pub(crate) async fn dispatch(
    command: Command,
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    io: &TerminalIo<'_>,
) -> Done {
    let attendance = |wait| io.attendance(wait);
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
        Command::Approvals(command) => approvals::approvals(app, screen, command).await,
        Command::Tools(command) => tools::tools(app, screen, surroundings, attendance, command).await,
        Command::Undo { task, dry_run } => undo::undo(app, screen, &task, dry_run).await,
        Command::Acl(command) => acl::acl(app, screen, command).await,
        Command::People(command) => people::people(app, screen, command).await,
        Command::Vpol(command) => vpol::vpol(app, screen, command).await,
        Command::Authority(command) => authority::authority(app, screen, command).await,
        Command::Halt => tools::halt(app, screen).await,
        Command::ResumeAll => tools::resume_all(app, screen).await,
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
