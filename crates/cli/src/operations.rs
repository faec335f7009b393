//! The command line, made from the operations that the owner is offered.

use std::ffi::OsString;

use app::App;
use app::operation::{Offer, OfferedOperation, OperationContext, OperationError, PermittedCall};
use clap::{ArgMatches, Command};

use crate::io::TerminalIo;
use crate::show::Screen;

/// Which commands a command line has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CommandSet {
    All,
    /// The one operation of this name, if it is offered: all that an invocation needs that names it exactly.
    Only(&'static str),
}

impl CommandSet {
    /// The command that the arguments of the process name with their first words, or else all of them: only what is not an
    /// exact name needs the others, for suggestions and lists. An option before the command is no name.
    pub(crate) fn named_by(offer: &Offer, arguments: &[OsString]) -> Self {
        let typed = |words: usize| arguments.iter().skip(1).take(words).map(|word| word.to_str());
        let is_typed = |name: &'static str| name.split(' ').map(Some).eq(typed(name.split(' ').count()));
        let mut offered = offer.groups().flat_map(|(_, offered)| offered);
        let named = offered.find(|operation| is_typed(operation.entry().spec.name));
        named.map_or(Self::All, |operation| Self::Only(operation.entry().spec.name))
    }

    fn has(self, operation: &OfferedOperation) -> bool {
        match self {
            Self::All => true,
            Self::Only(name) => operation.entry().spec.name == name,
        }
    }
}

/// Adds the offered operations before the program's own commands, in the order of the catalog.
pub(crate) fn add_commands(mut root: Command, offer: &Offer, set: CommandSet) -> Command {
    for (group, offered) in offer.groups() {
        let mut commands = offered
            .iter()
            .filter(|operation| set.has(operation))
            .map(|offered| offered.entry().command())
            .peekable();
        if commands.peek().is_none() {
            continue;
        }
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
