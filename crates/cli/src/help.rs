//! `completions` and `help`: the commands that are about the command line itself.

use std::io::{self, Write as _};

use app::operation::{Offer, OperationCaller, OperationError};
use app::{Code, Problem};

use crate::operations::CommandSet;
use crate::show::{Screen, inline};

pub(crate) fn print_completions(shell: clap_complete::Shell) -> Result<u8, OperationError> {
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut crate::command_line(&Offer::to(OperationCaller::Owner), CommandSet::All),
        "regent",
        &mut script,
    );
    io::stdout().lock().write_all(&script)?;
    Ok(0)
}

/// The grammar of the reflexes, or what `--help` says of a command.
pub(crate) fn print_help(screen: &Screen, topic: &[String]) -> Result<u8, OperationError> {
    if topic == ["reflex"] {
        screen.result(llm::GRAMMAR.trim_end())?;
        return Ok(0);
    }
    let mut command = crate::command_line(&Offer::to(OperationCaller::Owner), CommandSet::All);
    command.build();
    for word in topic {
        let unknown = || {
            Problem::new(Code::USAGE, format!("there is no command `{}`", inline(&topic.join(" "))))
                .remedy("regent --help")
        };
        command = command.find_subcommand(word).cloned().ok_or_else(unknown)?;
    }
    screen.result(command.render_long_help().to_string().trim_end())?;
    Ok(0)
}
