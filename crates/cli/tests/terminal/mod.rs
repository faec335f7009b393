//! A terminal with one program on it: what a person types, what they see, and how the terminal is set.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::Pid;

/// After this nothing more is waited for.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct Terminal {
    /// Nothing once it is closed.
    master: Option<File>,
    slave: OwnedFd,
    child: Child,
    shown: Arc<(Mutex<Vec<u8>>, Condvar)>,
    /// How it was set before the program started.
    pub(crate) before: Termios,
}

impl Terminal {
    /// Starts a command as the leader of a session whose controlling terminal is this one. `setsid` runs it: the
    /// standard library cannot, without unsafe code.
    pub(crate) fn start(mut prepare: impl FnMut(&mut Command)) -> Self {
        let pty = nix::pty::openpty(None, None).expect("a terminal");
        // As a shell's own line editor leaves it to nobody: without echo, so that it shows who sets it back.
        let mut before = tcgetattr(&pty.slave).expect("settings");
        before.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(&pty.slave, SetArg::TCSANOW, &before).expect("settings");
        let before = tcgetattr(&pty.slave).expect("settings");

        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        prepare(&mut command);
        let stream = || Stdio::from(pty.slave.try_clone().expect("a stream"));
        let child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().expect("start");
        drop(command); // it holds the terminal open

        let master = File::from(pty.master);
        let shown = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (mut reader, seen) = (master.try_clone().expect("a stream"), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut chunk = [0; 1024];
            while let Ok(some @ 1..) = reader.read(&mut chunk) {
                seen.0.lock().expect("what was shown").extend_from_slice(&chunk[..some]);
                seen.1.notify_all();
            }
        });
        Self { master: Some(master), slave: pty.slave, child, shown, before }
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.master.as_mut().expect("it is open").write_all(text.as_bytes()).expect("typed");
    }

    /// Everything so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.0.lock().expect("what was shown")).into_owned()
    }

    /// Waits until this has been shown so many times.
    pub(crate) fn sees(&self, text: &str, times: usize) -> &Self {
        let enough = |shown: &Vec<u8>| String::from_utf8_lossy(shown).matches(text).count() >= times;
        let shown = self.shown.0.lock().expect("what was shown");
        let waited = self.shown.1.wait_timeout_while(shown, LIMIT, |shown| !enough(shown));
        let (shown, timeout) = waited.expect("what was shown");
        assert!(!timeout.timed_out(), "`{text}` was not shown\n{}", String::from_utf8_lossy(&shown));
        self
    }

    pub(crate) fn settings(&self) -> Termios {
        tcgetattr(&self.slave).expect("settings")
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("signal");
    }

    /// Waits until the program is in this state: `T` if it is stopped.
    pub(crate) fn is_in_state(&self, state: &str) {
        let since = Instant::now();
        loop {
            let text = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("a process");
            if text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(state)) {
                return;
            }
            assert!(since.elapsed() < LIMIT, "it is not in state {state}: {text}\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the end: the exit code, and everything that was shown.
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("ask") {
                break status;
            }
            if since.elapsed() > LIMIT {
                self.child.kill().expect("kill");
                panic!("it did not end\n{}", self.text());
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        assert_eq!(self.settings(), self.before, "the terminal is as it was\n{}", self.text());
        let text = self.text();
        let (on, off) = (text.matches("\x1b[?2004h").count(), text.matches("\x1b[?2004l").count());
        assert_eq!(on, off, "marks around what is pasted are off again\n{text}");
        (status.code(), text)
    }

    /// Closes the terminal, and waits for the end.
    pub(crate) fn hangs_up(mut self) -> Option<i32> {
        // What the reading thread holds is a second hold on it: signal as the kernel does when the last one goes.
        self.master = None;
        self.signal(Signal::SIGHUP);
        self.child.wait().expect("it ends").code()
    }
}
