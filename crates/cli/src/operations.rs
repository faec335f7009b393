//! The command line, made from the operations that the owner is offered.

use app::App;
use app::operation::{Offer, OfferedOperation, OperationContext, OperationError, PermittedCall};
use clap::{ArgMatches, Command};

use crate::io::TerminalIo;
use crate::show::Screen;

/// The order of the commands in the help.
const ORDER: &[&str] = &[
    "run",
    "resume",
    "cancel",
    "replay",
    "approvals",
    "grants",
    "undo",
    "tools",
    "model",
    "authorize",
    "ggs",
    "acl",
    "people",
    "vpol",
    "authority",
    "halt",
    "resume-all",
    "tasks",
    "why",
    "events",
    "audit",
    "forget",
    "status",
    "doctor",
    "paths",
    "config",
    "init",
    "tick",
    "upgrade",
    "backup",
    "restore",
    "explain",
    "completions",
    "help",
];

/// Adds the offered operations to the program's own commands.
pub(crate) fn add_commands(mut root: Command, offer: &Offer) -> Command {
    for (group, offered) in offer.groups() {
        let commands = offered.iter().map(|offered| offered.entry().command());
        if group.name.is_empty() {
            root = root.subcommands(commands);
            continue;
        }
        let command = Command::new(group.name)
            .about(group.about)
            .after_help(app::operation::help_after(group.examples, ""))
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(commands);
        root = match root.find_subcommand(group.name) {
            // It has commands that are no operations yet; they come last.
            Some(_) => root.mut_subcommand(group.name, |own| {
                let own = own.get_subcommands().cloned();
                command.subcommands(own.map(|own| own.display_order(ORDER.len())))
            }),
            None => root.subcommand(command),
        };
    }
    for (place, name) in ORDER.iter().enumerate() {
        if root.find_subcommand(name).is_some() {
            root = root.mut_subcommand(name, |command| command.display_order(place));
        }
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
    if let Some(problem) = output.problem().filter(|_| !screen.json) {
        screen.note_problem(&problem);
    }
    Ok(output.exit())
}
