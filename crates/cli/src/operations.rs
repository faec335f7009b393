//! The command line, made from the operations that the owner is offered.

use app::App;
use app::operation::{Offer, OfferedOperation, OperationContext, OperationError, PermittedCall};
use clap::{ArgMatches, Command};

use crate::io::TerminalIo;
use crate::show::Screen;

/// Adds the offered operations before the program's own commands, in the order of the catalog.
pub(crate) fn add_commands(mut root: Command, offer: &Offer) -> Command {
    for (group, offered) in offer.groups() {
        let commands = offered.iter().map(|offered| offered.entry().command());
        root = match group.name {
            None => root.subcommands(commands),
            Some(name) => {
                let command = Command::new(name)
                    .about(group.about)
                    .after_help(app::operation::help_after(group.examples, group.notes))
                    .subcommand_required(true)
                    .arg_required_else_help(true);
                root.subcommand(command.subcommands(commands))
            }
        };
    }
    root
}

/// The operation that the arguments name; `None` if they name a command that is no operation.
pub(crate) fn find(offer: &Offer, matches: &ArgMatches) -> Result<Option<PermittedCall>, clap::Error> {
    let Some((first, below)) = matches.subcommand() else { return Ok(None) };
    let found = match below.subcommand() {
        Some((second, arguments)) => {
            offer.find(&format!("{first} {second}")).map(|offered| (offered, arguments))
        }
        None => offer.find(first).map(|offered| (offered, below)),
    };
    let read = |(offered, arguments): (OfferedOperation, &ArgMatches)| offered.read_arguments(arguments);
    found.map(read).transpose()
}

/// Runs an operation and shows its result; the exit code.
pub(crate) async fn run(
    call: PermittedCall,
    app: &App,
    screen: &Screen,
    io: &TerminalIo<'_>,
) -> Result<u8, OperationError> {
    let output = call.run(&OperationContext { app, io }).await?;
    screen.show_output(&*output, app)?;
    io.ring();
    match output.problem().filter(|_| !screen.json) {
        // Reported like an error: after what the owner has to know in any case.
        Some(problem) => Err(problem.into()),
        None => Ok(output.exit()),
    }
}
