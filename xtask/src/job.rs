//! Commands with a time limit: run in the checkout, in a process group of their own, with their output passed on and kept.

use std::io::{BufRead as _, BufReader, IsTerminal as _, Read, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::interrupt;
use crate::scope::Scope;

const TICK: Duration = Duration::from_millis(50);
/// How long the output may stay open after the command has ended. Whoever holds it longer is a process left behind.
const GRACE: Duration = Duration::from_secs(5);
/// Lines under way from the readers; when it is full they wait, and so does the command.
const LINES_UNDER_WAY: usize = 1024;

/// What one suite or task may use: the checkout, how much of it is asked for and, for a suite, the time until it is killed.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) root: PathBuf,
    pub(crate) scope: Scope,
    limit: Option<Limit>,
}

#[derive(Debug, Clone, Copy)]
struct Limit {
    started: Instant,
    length: Duration,
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

/// What of a command's output a person sees while it runs. Both streams are kept in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    All,
    Errors,
    Nothing,
}

impl Job {
    pub(crate) fn unlimited() -> anyhow::Result<Self> {
        Ok(Self { root: root()?, scope: Scope::Short, limit: None })
    }

    pub(crate) fn with(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Commands are killed when `length` from now is over, whichever of them runs then.
    pub(crate) fn limited(&self, length: Duration) -> Self {
        Self { limit: Some(Limit { started: Instant::now(), length }), ..self.clone() }
    }

    /// An error once the time is over: for work that is not one command.
    pub(crate) fn in_time(&self) -> anyhow::Result<()> {
        match self.limit.filter(|limit| limit.started.elapsed() > limit.length) {
            Some(limit) => bail!("{} s are twice the budget", limit.length.as_secs()),
            None => Ok(()),
        }
    }

    /// A command in the checkout, without what `cargo run` told xtask about xtask.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.root).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            let told_by_cargo = name.to_str().is_some_and(|name| {
                name.starts_with("CARGO_PKG_")
                    || name.starts_with("CARGO_MANIFEST_")
                    || name.starts_with("REGENT_")
            });
            if told_by_cargo {
                command.env_remove(name);
            }
        }
        if std::io::stdout().is_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        command
    }

    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        self.command("cargo", args)
    }

    /// Runs it with everything it says on the console; a failure is an error.
    pub(crate) fn run(&self, mut command: Command) -> anyhow::Result<Output> {
        println!("$ {}", line(&command));
        let output = self.output(&mut command, Shown::All)?;
        if !output.status.success() {
            bail!("`{}` failed ({})", line(&command), output.status);
        }
        Ok(output)
    }

    /// Runs it for its output; a failure is an error.
    pub(crate) fn read(&self, mut command: Command) -> anyhow::Result<String> {
        let output = self.output(&mut command, Shown::Errors)?;
        if !output.status.success() {
            bail!("`{}` failed ({})", line(&command), output.status);
        }
        Ok(output.stdout)
    }

    /// Runs it silently; how it ended is for the caller to judge.
    pub(crate) fn probe(&self, mut command: Command) -> anyhow::Result<Output> {
        self.output(&mut command, Shown::Nothing)
    }

    fn output(&self, command: &mut Command, shown: Shown) -> anyhow::Result<Output> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, group) = interrupt::spawn(command)?;
        let (sender, lines) = sync_channel(LINES_UNDER_WAY);
        pass_lines(child.stdout.take().context("its output")?, Stream::Out, sender.clone());
        pass_lines(child.stderr.take().context("its errors")?, Stream::Err, sender);

        let mut kept = Kept { shown, stdout: Vec::new(), stderr: Vec::new() };
        let mut ended: Option<(ExitStatus, Instant)> = None;
        let mut open = true;
        let status = loop {
            if open {
                open = kept.take(&lines)?;
            } else if ended.is_none() {
                std::thread::sleep(TICK);
            }
            if ended.is_none() {
                ended = child.try_wait()?.map(|status| (status, Instant::now()));
            }
            match ended {
                Some((status, _)) if !open => break status,
                Some((_, at)) if at.elapsed() > GRACE => {
                    interrupt::end(group, || Ok(false))?;
                    interrupt::ended();
                    bail!("`{}` ended and left a process behind that holds its output", line(command));
                }
                _ => {}
            }
            if let Some(limit) = self.limit.filter(|limit| limit.started.elapsed() > limit.length) {
                interrupt::end(group, || Ok(child.try_wait()?.is_some()))?;
                child.wait()?;
                interrupt::ended();
                bail!("`{}` was killed: {} s are twice the budget", line(command), limit.length.as_secs());
            }
        };
        interrupt::ended();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Output { status, stdout: text(kept.stdout), stderr: text(kept.stderr) })
    }
}

struct Kept {
    shown: Shown,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Kept {
    /// Takes the next line, or waits for one tick; false when both streams are closed.
    fn take(&mut self, lines: &Receiver<(Stream, Vec<u8>)>) -> anyhow::Result<bool> {
        match lines.recv_timeout(TICK) {
            Ok((Stream::Out, line)) => {
                if self.shown == Shown::All {
                    std::io::stdout().write_all(&line)?;
                }
                self.stdout.extend(line);
            }
            Ok((Stream::Err, line)) => {
                if self.shown != Shown::Nothing {
                    std::io::stderr().write_all(&line)?;
                }
                self.stderr.extend(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
        }
        Ok(true)
    }
}

fn pass_lines(from: impl Read + Send + 'static, stream: Stream, to: SyncSender<(Stream, Vec<u8>)>) {
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        // A read error ends the stream as its end does; a receiver that is gone has given the command up.
        while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if to.send((stream, std::mem::take(&mut line))).is_err() {
                return;
            }
        }
    });
}

/// The command as a person would type it, near enough.
fn line(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .map(|word| if word.contains(' ') { format!("\"{word}\"") } else { word.into_owned() })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The checkout: asked at run time, because CI keeps the target directory and moves the checkout.
fn root() -> anyhow::Result<PathBuf> {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").context("start it as `cargo xtask`")?;
    Ok(PathBuf::from(xtask).parent().context("xtask/ lies in the checkout")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job { root: std::env::temp_dir(), scope: Scope::Short, limit: None }
    }

    #[test]
    fn both_streams_are_kept_apart() {
        let job = job();
        let output = job.probe(job.command("sh", &["-c", "echo out; echo err >&2; exit 3"])).unwrap();
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_command_past_its_limit_is_killed_with_what_it_started() {
        let job = job().limited(Duration::from_millis(200));
        let started = Instant::now();
        let error = job.probe(job.command("sh", &["-c", "sleep 600 & sleep 600"])).unwrap_err();
        assert!(error.to_string().contains("was killed"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    }

    #[test]
    fn closing_the_output_does_not_hide_a_command_from_its_limit() {
        let job = job().limited(Duration::from_millis(200));
        let error = job.probe(job.command("sh", &["-c", "exec >&- 2>&-; sleep 600"])).unwrap_err();
        assert!(error.to_string().contains("was killed"), "{error}");
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let command = job().command("regent", &["run", "how many?"]);
        assert_eq!(line(&command), "regent run \"how many?\"");
    }
}
