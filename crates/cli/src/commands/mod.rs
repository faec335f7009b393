//! One file per group of commands: each turns arguments into one use case of [`app::App`] and shows what comes back.

pub(crate) mod attend;
mod audit;
mod authorize;
mod events;
mod ggs;
mod house;
mod jobs;
pub(crate) mod lines;
mod prompt;
pub(crate) mod run;
mod tasks;

use app::App;
pub(crate) use app::operation::OperationError;

use crate::args::{Command, Ggs};
use crate::show::Screen;

/// The exit code of a command that did what it was asked.
pub(crate) type Done = Result<u8, OperationError>;

pub(crate) async fn dispatch(command: Command, app: &App, screen: &Screen) -> Done {
    match command {
        Command::Cancel { id } => tasks::cancel(app, screen, &id).await,
        Command::Replay { id, recording } => tasks::replay(app, screen, &id, recording).await,
        Command::Authorize => authorize::authorize(screen).await,
        Command::Ggs(Ggs::Step) => ggs::step(screen).await,
        Command::Tasks(command) => tasks::tasks(app, screen, command).await,
        Command::Why { id, recheck: false } => tasks::why(app, screen, &id).await,
        Command::Why { id, recheck: true } => tasks::recheck(app, screen, &id).await,
        Command::Events(command) => events::events(app, screen, command).await,
        Command::Audit(command) => audit::audit(app, screen, command).await,
        Command::Completions { shell } => house::completions(shell),
        Command::Help { topic } => house::help(screen, &topic),
    }
}
