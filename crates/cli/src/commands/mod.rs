//! One file per group of commands: each turns arguments into one use case of [`app::App`] and shows what comes back.

mod acl;
pub(crate) mod attend;
mod audit;
mod authority;
mod authorize;
mod events;
mod ggs;
mod house;
mod jobs;
pub(crate) mod lines;
mod policies;
mod prompt;
pub(crate) mod run;
mod tasks;
mod tools;
mod vpol;

use app::App;
pub(crate) use app::operation::OperationError;
use host::ProcessEnvironment;

use crate::args::{Command, Ggs};
use crate::io::TerminalIo;
use crate::show::Screen;
pub(crate) use acl::warn as warn_of_policies;

/// The exit code of a command that did what it was asked.
pub(crate) type Done = Result<u8, OperationError>;

pub(crate) async fn dispatch(
    command: Command,
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    io: &TerminalIo<'_>,
) -> Done {
    match command {
        Command::Cancel { id } => tasks::cancel(app, screen, &id).await,
        Command::Replay { id, recording } => tasks::replay(app, screen, &id, recording).await,
        Command::Tools(command) => tools::tools(app, screen, io, command).await,
        Command::Authorize => authorize::authorize(screen).await,
        Command::Ggs(Ggs::Step) => ggs::step(screen).await,
        Command::Acl(command) => acl::acl(app, screen, command).await,
        Command::Vpol(command) => vpol::vpol(app, screen, command).await,
        Command::Authority(command) => authority::authority(app, screen, command).await,
        Command::Halt => tools::halt(app, screen).await,
        Command::ResumeAll => tools::resume_all(app, screen).await,
        Command::Tasks(command) => tasks::tasks(app, screen, command).await,
        Command::Why { id, recheck: false } => tasks::why(app, screen, &id).await,
        Command::Why { id, recheck: true } => tasks::recheck(app, screen, &id).await,
        Command::Events(command) => events::events(app, screen, command).await,
        Command::Audit(command) => audit::audit(app, screen, command).await,
        Command::Completions { shell } => house::completions(shell),
        Command::Help { topic } => house::help(screen, &topic),
    }
}
