//! What is about the command line itself: `completions`, `help`; and asking the person at the terminal.

use std::io::{self, BufRead as _, Write as _};

use app::operation::{Caller, Offer};
use app::{Code, Problem};

use super::Done;
use crate::show::{Screen, inline};

pub(super) async fn ask(question: &str) -> io::Result<String> {
    write!(io::stderr().lock(), "{question} ")?;
    io::stderr().lock().flush()?;
    let line = host::run_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    Ok(line.await?.trim().to_owned())
}

pub(crate) fn completions(shell: clap_complete::Shell) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut crate::command_line(&Offer::to(Caller::Owner)),
        "regent",
        &mut script,
    );
    io::stdout().lock().write_all(&script)?;
    Ok(0)
}

/// The grammar of the reflexes, or what `--help` says of a command.
pub(crate) fn help(screen: &Screen, topic: &[String]) -> Done {
    if topic == ["reflex"] {
        screen.result(llm::GRAMMAR.trim_end())?;
        return Ok(0);
    }
    let mut command = crate::command_line(&Offer::to(Caller::Owner));
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
