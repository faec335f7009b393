//! A terminal with one program on it: what a person types, what they see, and how the terminal is set.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// After this nothing more is waited for.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct Terminal {
    /// Nothing once it is closed.
    master: Option<File>,
    /// Nothing once nobody looks at the settings any more: then what is left to read has an end.
    slave: Option<OwnedFd>,
    child: Child,
    shown: Arc<(Mutex<Vec<u8>>, Condvar)>,
    reader: Option<JoinHandle<()>>,
    closed: Arc<AtomicBool>,
    /// How it was set before the program started.
    pub(crate) before: Termios,
}

/// Its columns and rows.
pub(crate) type Size = (u16, u16);

/// A shell's own line editor leaves no echo to anybody; one without it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    On,
    Off,
}

impl Terminal {
    /// A terminal of no size, without echo, so that it shows who sets it back.
    pub(crate) fn start(prepare: impl FnMut(&mut Command)) -> Self {
        Self::sized((0, 0), Echo::Off, prepare)
    }

    /// Starts a command as the leader of a session whose controlling terminal is this one. `setsid` runs it: the
    /// standard library cannot, without unsafe code.
    pub(crate) fn sized((columns, rows): Size, echo: Echo, mut prepare: impl FnMut(&mut Command)) -> Self {
        let size = nix::pty::Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = nix::pty::openpty(Some(&size), None).expect("a terminal");
        // Whoever starts holds no end of it but the streams that it is given: else it could never be closed.
        for end in [&pty.master, &pty.slave] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).expect("a flag");
        }
        let mut before = tcgetattr(&pty.slave).expect("settings");
        before.local_flags.set(LocalFlags::ECHO, echo == Echo::On);
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
        let closed = Arc::new(AtomicBool::new(false));
        let (from, seen, done) =
            (master.try_clone().expect("a stream"), Arc::clone(&shown), Arc::clone(&closed));
        let reader = std::thread::spawn(move || while !done.load(Ordering::Acquire) && read(&from, &seen) {});
        let reader = Some(reader);
        Self { master: Some(master), slave: Some(pty.slave), child, shown, reader, closed, before }
    }

    /// The window has another size now.
    pub(crate) fn resizes(&self, (columns, rows): Size) {
        let size = rustix::termios::Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(self.master.as_ref().expect("it is open"), size).expect("resized");
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
        tcgetattr(self.slave.as_ref().expect("it is open")).expect("settings")
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("signal");
    }

    /// Waits for the end: the exit code, and everything that was shown.
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("ask") {
                break status;
            }
            assert!(since.elapsed() < LIMIT, "it did not end\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        };
        assert_eq!(self.settings(), self.before, "the terminal is as it was\n{}", self.text());
        self.slave = None;
        self.reader.take().expect("it reads").join().expect("what is left is read");
        let text = self.text();
        let (on, off) = (text.matches("\x1b[?2004h").count(), text.matches("\x1b[?2004l").count());
        assert_eq!(on, off, "marks around what is pasted are off again\n{text}");
        (status.code(), text)
    }

    /// Closes the terminal, and waits for the end.
    pub(crate) fn hangs_up(mut self) -> Option<i32> {
        self.closed.store(true, Ordering::Release);
        self.reader.take().expect("it reads").join().expect("it holds the terminal open no longer");
        self.master = None;
        self.child.wait().expect("it ends").code()
    }
}

/// A test that failed leaves nothing behind.
impl Drop for Terminal {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            drop(self.child.kill());
        }
    }
}

/// Takes in what is shown, if there is something for a moment. Says whether there may be more.
fn read(mut from: &File, seen: &(Mutex<Vec<u8>>, Condvar)) -> bool {
    const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    match poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&MOMENT)) {
        Ok(0) => return true,
        Ok(_) => {}
        Err(_interrupted) => return true,
    }
    let mut chunk = [0; 1024];
    // A terminal that everybody has left reads as an error.
    let Ok(some @ 1..) = from.read(&mut chunk) else { return false };
    seen.0.lock().expect("what was shown").extend_from_slice(&chunk[..some]);
    seen.1.notify_all();
    true
}
