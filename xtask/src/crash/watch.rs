//! One process under watch: started, answered at every point, killed where its fate says so, waited for.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::sys::signal::Signal;

use super::aim::{Coverage, Fate};
use super::seen::{Blow, End, Point, Seen, Sort};
use crate::interrupt::{self, Watched};

/// Nothing that is started here takes a tenth of it, on a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_micros(200);

/// What to start, and what is to become of it.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) sort: Sort,
    pub(crate) args: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) stdin: String,
    /// The socket is added to them.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) faults: Faults,
    pub(crate) fate: Fate,
}

/// What the program is told in `REGENT_FAULTS` besides the socket.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    /// Milliseconds, instead of the usual lease.
    pub(crate) lease: Option<u64>,
    /// A guard that is taken out.
    pub(crate) without: Option<String>,
}

impl Faults {
    fn variable(&self, socket: &Path) -> String {
        let lease = self.lease.map(|lease| format!("lease={lease}"));
        let without = self.without.as_ref().map(|guard| format!("without={guard}"));
        let socket = format!("socket={}", socket.display());
        // Often enough that somebody always finds something to do.
        let duties = Some("duties=20".to_owned());
        [Some(socket), lease, without, duties].into_iter().flatten().collect::<Vec<_>>().join(",")
    }
}

/// What is done while a process is held.
pub(crate) type Interlude<'a> = &'a mut dyn FnMut() -> anyhow::Result<()>;

#[derive(Debug)]
enum Heard {
    Line(String),
    Closed,
    /// Nothing, until its moment had come or our patience was over.
    Late,
}

/// Starts a process and stays with it to its end.
pub(crate) fn watch(
    program: &Path,
    socket: &Path,
    start: Start,
    coverage: &Mutex<Coverage>,
    interlude: Interlude<'_>,
) -> anyhow::Result<Seen> {
    let listener = UnixListener::bind(socket).context("a socket to watch by")?;
    let mut outputs = Outputs::new()?;
    let mut command = Command::new(program);
    command.args(&start.args).current_dir(&start.folder).env_clear().envs(start.environment.iter().cloned());
    command.env("REGENT_FAULTS", start.faults.variable(socket));
    outputs.give(&mut command, &start.stdin)?;
    let process = Watched::start(&mut command)?;
    let started = Instant::now();
    let mut watcher = Watcher {
        process,
        started,
        fate: &start.fate,
        coverage,
        points: Vec::new(),
        stopped_at: None,
        called: None,
    };
    let end = watcher.stay(&listener, interlude)?;
    std::fs::remove_file(socket).context("remove the socket")?;
    let Watcher { points, stopped_at, .. } = watcher;
    let (stdout, stderr) = outputs.read()?;
    let seen = Seen { sort: start.sort, args: start.args, points, stopped_at, end, stdout, stderr };
    lock(coverage).add(&seen);
    Ok(seen)
}

fn lock(coverage: &Mutex<Coverage>) -> std::sync::MutexGuard<'_, Coverage> {
    coverage.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Watcher<'a> {
    process: Watched,
    started: Instant,
    fate: &'a Fate,
    coverage: &'a Mutex<Coverage>,
    points: Vec<Point>,
    stopped_at: Option<usize>,
    /// When its first call was let run.
    called: Option<Instant>,
}

impl Watcher<'_> {
    fn stay(&mut self, listener: &UnixListener, interlude: Interlude<'_>) -> anyhow::Result<End> {
        let mut stream = match self.accept(listener)? {
            Ok(stream) => Lines { stream, read: Vec::new() },
            Err(end) => return Ok(end),
        };
        loop {
            match stream.next(self.time_left())? {
                Heard::Closed => return self.end(),
                Heard::Late => {
                    let end = self.kill(&mut stream, Blow::Moment)?;
                    return Ok(if self.has_a_moment() { end } else { End::Hung });
                }
                Heard::Line(line) => self.points.push(Point::new(&line)),
            }
            if self.dies_here() {
                return self.kill(&mut stream, Blow::Point);
            }
            if self.is_held_here() {
                self.stopped_at = Some(self.points.len() - 1);
                self.process.signal(Signal::SIGSTOP)?;
                interlude()?;
                self.process.signal(Signal::SIGCONT)?;
                self.started = Instant::now();
            }
            if let Some(point) = self.points.last_mut() {
                point.went = true;
                if point.running().is_some() {
                    self.called.get_or_insert_with(Instant::now);
                }
            }
            stream.go();
        }
    }

    /// It may end, or meet its moment, before it has anything to tell.
    fn accept(&mut self, listener: &UnixListener) -> anyhow::Result<Result<UnixStream, End>> {
        listener.set_nonblocking(true)?;
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    return Ok(Ok(stream));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(status) = self.process.ended()? {
                return Ok(Err(how(status)));
            }
            if self.time_left().is_zero() {
                let status = self.process.kill()?;
                let ours = self.has_a_moment() && killed(status);
                return Ok(Err(if ours { End::Killed(Blow::Moment) } else { End::Hung }));
            }
            std::thread::sleep(TICK);
        }
    }

    fn time_left(&self) -> Duration {
        let most = match (self.fate, self.called) {
            (Fate::Moment(moment), _) => *moment,
            (Fate::After(moment), Some(called)) => return moment.saturating_sub(called.elapsed()),
            _ => PATIENCE,
        };
        most.saturating_sub(self.started.elapsed())
    }

    fn has_a_moment(&self) -> bool {
        matches!((self.fate, self.called), (Fate::Moment(_), _) | (Fate::After(_), Some(_)))
    }

    fn dies_here(&self) -> bool {
        let Some(point) = self.points.last() else { return false };
        let kind = point.kind();
        let nth = self.count(&kind);
        let mut coverage = lock(self.coverage);
        let dies = coverage.dies(self.fate, &kind, nth);
        if dies {
            coverage.hit(&kind);
        }
        dies
    }

    /// How many points of this kind it has come to.
    fn count(&self, kind: &str) -> u64 {
        let count = self.points.iter().filter(|point| point.kind() == kind).count();
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Whoever is to be taken over from: not before something is durable that could be.
    fn is_held_here(&self) -> bool {
        let Some(last) = self.points.last().filter(|_| self.stopped_at.is_none()) else { return false };
        match self.fate {
            Fate::Stop { place } => {
                self.points.len() > *place && self.points.iter().any(Point::is_commit) && !last.is_writing()
            }
            Fate::Held { kind, nth } => last.kind() == *kind && self.count(kind) == *nth,
            Fate::Spared | Fate::At { .. } | Fate::Moment(_) | Fate::After(_) => false,
        }
    }

    /// What it wrote before it died still counts.
    fn kill(&mut self, stream: &mut Lines, blow: Blow) -> anyhow::Result<End> {
        let status = self.process.kill()?;
        while let Heard::Line(line) = stream.next(PATIENCE)? {
            self.points.push(Point::new(&line));
        }
        // It may have been over by itself a moment before.
        Ok(if killed(status) { End::Killed(blow) } else { how(status) })
    }

    fn end(&mut self) -> anyhow::Result<End> {
        let closed = Instant::now();
        loop {
            if let Some(status) = self.process.ended()? {
                return Ok(how(status));
            }
            if closed.elapsed() > PATIENCE {
                self.process.kill()?;
                return Ok(End::Hung);
            }
            std::thread::sleep(TICK);
        }
    }
}

fn killed(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::SIGKILL as i32)
}

fn how(status: ExitStatus) -> End {
    status.code().map_or_else(|| End::Foreign(status.signal().unwrap_or(0)), End::Exit)
}

/// The program's lines, and our answers to them.
struct Lines {
    stream: UnixStream,
    read: Vec<u8>,
}

impl Lines {
    fn next(&mut self, patience: Duration) -> anyhow::Result<Heard> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Ok(Heard::Line(String::from_utf8_lossy(&line).trim_end().to_owned()));
            }
            if patience.is_zero() {
                return Ok(Heard::Late);
            }
            self.stream.set_read_timeout(Some(patience))?;
            let mut chunk = [0; 256];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(Heard::Closed),
                Ok(read) => self.read.extend(chunk.iter().take(read)),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Ok(Heard::Late);
                }
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(Heard::Closed),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn go(&mut self) {
        // Whoever has just ended by itself needs no answer.
        drop(self.stream.write_all(b"go\n"));
    }
}

/// Files without a name: what was written to them is there whatever became of the process, and nobody has to read along.
struct Outputs {
    stdout: File,
    stderr: File,
}

impl Outputs {
    fn new() -> anyhow::Result<Self> {
        Ok(Self { stdout: tempfile::tempfile()?, stderr: tempfile::tempfile()? })
    }

    fn give(&self, command: &mut Command, stdin: &str) -> anyhow::Result<()> {
        let mut input = tempfile::tempfile()?;
        input.write_all(stdin.as_bytes())?;
        input.rewind()?;
        command.stdin(Stdio::from(input));
        command.stdout(Stdio::from(self.stdout.try_clone()?)).stderr(Stdio::from(self.stderr.try_clone()?));
        Ok(())
    }

    fn read(&mut self) -> anyhow::Result<(String, String)> {
        let text = |file: &mut File| -> anyhow::Result<String> {
            let mut bytes = Vec::new();
            file.rewind()?;
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok((text(&mut self.stdout)?, text(&mut self.stderr)?))
    }
}

/// A command that is left alone and answers.
pub(crate) fn ask(mut command: Command) -> anyhow::Result<(End, String, String)> {
    let mut outputs = Outputs::new()?;
    outputs.give(&mut command, "")?;
    let mut process = Watched::start(&mut command)?;
    let started = Instant::now();
    let end = loop {
        match process.ended()? {
            Some(status) => break how(status),
            None if started.elapsed() > PATIENCE => {
                process.kill()?;
                break End::Hung;
            }
            None => std::thread::sleep(TICK),
        }
    };
    interrupt::check()?;
    let (stdout, stderr) = outputs.read()?;
    Ok((end, stdout, stderr))
}
