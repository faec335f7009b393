//! The binary as a process: what it is given, what comes back, and a time limit on everything it does.

use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// After this a child counts as hanging and is killed.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct Regent {
    command: Command,
    stdin: Vec<u8>,
}

impl Regent {
    /// An empty environment but for the path.
    pub(crate) fn new<S: AsRef<OsStr>>(args: &[S]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
        command.args(args).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        Self { command, stdin: Vec::new() }
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Another command in the same surroundings.
    fn replace(mut self, mut command: Command) -> Self {
        command.env_clear();
        for (name, value) in self.command.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        self.command = command;
        self
    }

    /// The same program at another path: only root may reach the folder of builds.
    pub(crate) fn program(self, program: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(self.command.get_args());
        self.replace(command)
    }

    /// As another user, with no group but the one of the same number.
    pub(crate) fn user(mut self, uid: u32) -> Self {
        use std::os::unix::process::CommandExt as _;
        self.command.uid(uid).gid(uid);
        self
    }

    /// With a limit on the size of files, in blocks of 512 bytes.
    pub(crate) fn file_limit(self, blocks: u32) -> Self {
        let mut command = Command::new("sh");
        let limited = "ulimit -c 0 && ulimit -f \"$0\" && exec \"$@\"";
        command.args(["-c", limited, &blocks.to_string()]).arg(self.command.get_program());
        command.args(self.command.get_args());
        self.replace(command)
    }

    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn run(self) -> Outcome {
        self.start().finish()
    }

    /// Runs it with standard output sent into a file, `/dev/full` for instance.
    pub(crate) fn run_into(self, path: &Path) -> Outcome {
        let file = std::fs::OpenOptions::new().write(true).open(path).expect("where stdout goes");
        self.spawn(Stdio::piped(), file.into()).finish()
    }

    /// Runs it with standard input taken from a file or folder.
    pub(crate) fn run_from(self, path: &Path) -> Outcome {
        let file = std::fs::File::open(path).expect("where stdin comes from");
        self.spawn(file.into(), Stdio::piped()).finish()
    }

    /// Starts it with pipes on all three streams; standard input stays open.
    pub(crate) fn start(self) -> Running {
        self.spawn(Stdio::piped(), Stdio::piped())
    }

    fn spawn(mut self, stdin: Stdio, stdout: Stdio) -> Running {
        let words: Vec<_> = self.command.get_args().map(OsStr::to_string_lossy).collect();
        let line = format!("regent {}", words.join(" ")).chars().take(200).collect();
        let mut child =
            self.command.stdin(stdin).stdout(stdout).stderr(Stdio::piped()).spawn().expect("start");
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let stderr = child.stderr.take().map(collect).expect("stderr");
        let watchdog = Watchdog::over(&child);
        Running { child, line, written: self.stdin, stdin, stdout, stderr, watchdog }
    }
}

/// Kills the child if nobody says in time that it has ended.
struct Watchdog {
    ended: Sender<()>,
    killed: JoinHandle<bool>,
}

impl Watchdog {
    fn over(child: &Child) -> Self {
        let pid = pid(child);
        let (ended, waiting) = channel();
        let killed = std::thread::spawn(move || {
            // Too late, or the test failed and nobody is there to say it.
            waiting.recv_timeout(LIMIT).is_err() && kill(pid, Signal::SIGKILL).is_ok()
        });
        Self { ended, killed }
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a process id"))
}

fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("read");
        bytes
    })
}

pub(crate) struct Running {
    child: Child,
    line: String,
    written: Vec<u8>,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    stderr: JoinHandle<Vec<u8>>,
    watchdog: Watchdog,
}

impl Running {
    /// Standard input, for a thread that writes. It stays open as long as it is held.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("standard input is open")
    }

    /// The next line of standard output, which may be the end of it. Waits no longer than the limit.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().expect("standard output is open").read_line(&mut line).expect("read");
        line
    }

    /// Stops reading, as `head` does when it has seen enough.
    pub(crate) fn close_stdout(&mut self) {
        self.stdout = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(pid(&self.child), signal).expect("signal");
    }

    /// A line of `/proc/<pid>/status`, without its label.
    pub(crate) fn status(&self, label: &str) -> Option<String> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        text.lines().find_map(|line| line.strip_prefix(label)).map(|value| value.trim().to_owned())
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("ask").is_some()
    }

    /// Writes and closes standard input, collects the rest of the output and waits for the end.
    pub(crate) fn finish(mut self) -> Outcome {
        let written = std::mem::take(&mut self.written);
        let writer = self.stdin.take().map(|mut stdin| {
            // That the program stops reading is its right.
            std::thread::spawn(move || drop(stdin.write_all(&written)))
        });
        let stdout = self.stdout.take().map(collect);
        let status = self.child.wait().expect("wait");
        let in_time = self.watchdog.ended.send(()).is_ok();
        let killed = self.watchdog.killed.join().expect("watchdog");
        assert!(in_time && !killed, "`{}` did not end within {LIMIT:?}", self.line);
        writer.into_iter().for_each(|thread| thread.join().expect("writer"));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what it prints is UTF-8");
        Outcome {
            line: self.line,
            exit: status.code(),
            stdout: stdout.map_or_else(String::new, |thread| text(thread.join().expect("stdout"))),
            stderr: text(self.stderr.join().expect("stderr")),
        }
    }
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    line: String,
    /// Nothing if a signal ended it.
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, exit, stdout, stderr } = self;
        write!(f, "$ {line}\nexit: {exit:?}\nstdout:\n{stdout}\nstderr:\n{stderr}")
    }
}

impl Outcome {
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.exit, Some(0), "{self}");
        self.speaks_plainly()
    }

    /// The exit code, the R-code, and a word on what to do.
    pub(crate) fn fails(self, exit: i32, code: &str) -> Self {
        assert_eq!(self.exit, Some(exit), "{self}");
        assert!(self.stderr.starts_with(&format!("error {code}: ")), "{code} should come first\n{self}");
        assert!(
            !self.remedies().is_empty() || self.stderr.contains("--help"),
            "what to do is missing\n{self}"
        );
        self.speaks_plainly()
    }

    /// Nobody sits at a terminal: no colours, no carriage returns, no panics.
    fn speaks_plainly(self) -> Self {
        assert!(!self.stderr.contains(['\x1b', '\r']), "control characters\n{self}");
        assert!(!self.stderr.contains("panicked"), "{self}");
        self
    }

    /// Standard error holds all of these.
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not said\n{self}");
        }
        self
    }

    /// The commands that an error suggests: what follows `do`, `or` and `more`.
    pub(crate) fn remedies(&self) -> Vec<String> {
        let labelled = self.stderr.lines().filter_map(|line| line.strip_prefix("  "));
        let values = labelled.filter_map(|line| {
            ["do ", "or ", "more "].iter().find_map(|label| line.strip_prefix(label)).map(str::trim)
        });
        values.map(str::to_owned).collect()
    }

    /// Standard output as JSON, one value per line.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{self}"));
        self.stdout.lines().map(parse).collect()
    }
}
