//! One instance with several databases, and a command of it that is killed or stopped at a failpoint.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use services::Flavour;

use crate::process::{Outcome, Regent};
use crate::world::{ANSWER, REQUEST, World, events};

/// Which database a command is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    File,
    Server(usize),
}

/// An instance, and empty databases on the shared server.
pub(crate) struct Instance {
    pub(crate) world: World,
    urls: Vec<String>,
}

impl Instance {
    pub(crate) fn with_servers(count: usize) -> Self {
        // Each with a schema of its own: copies of one database have one id.
        let server = services::shared(Flavour::Plain).expect("a server");
        let urls = (0..count).map(|_| server.create_database().expect("a database")).collect();
        Self { world: World::new(), urls }
    }

    pub(crate) fn url(&self, place: Place) -> Option<&str> {
        match place {
            Place::File => None,
            Place::Server(n) => Some(&self.urls[n]),
        }
    }

    pub(crate) fn regent(&self, place: Place, args: &[&str]) -> Regent {
        let regent = self.world.regent(args);
        match self.url(place) {
            Some(url) => regent.env("REGENT_DATABASE_URL", url),
            None => regent,
        }
    }

    pub(crate) fn succeeds(&self, place: Place, args: &[&str]) -> Outcome {
        self.regent(place, args).run().succeeds()
    }

    pub(crate) fn ingest(&self, place: Place, numbers: std::ops::RangeInclusive<u32>) {
        self.regent(place, &["events", "ingest"]).stdin(events(numbers)).run().succeeds();
    }

    pub(crate) fn answers(&self, place: Place) {
        let run = self.succeeds(place, &["run", REQUEST]);
        assert!(run.stdout.starts_with(ANSWER), "{place:?}: {run}");
    }

    pub(crate) fn verifies(&self, place: Place) {
        self.succeeds(place, &["audit", "verify", "--complete"]);
    }

    pub(crate) fn events(&self, place: Place) -> String {
        self.succeeds(place, &["events", "list", "--json", "--limit", "100000"]).stdout
    }

    pub(crate) fn back_up(&self, place: Place) -> PathBuf {
        let made = self.succeeds(place, &["backup", "--json"]).json();
        made[0]["folder"].as_str().expect("a folder").into()
    }

    pub(crate) fn watch(&self, place: Place, args: &[&str]) -> Watched {
        static SOCKETS: AtomicUsize = AtomicUsize::new(0);
        let number = SOCKETS.fetch_add(1, Ordering::Relaxed);
        let socket = self.world.folder().join(format!("watched-{number}"));
        let listener = UnixListener::bind(&socket).expect("a socket");
        let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
        command.args(args).current_dir(self.world.workspace()).env_clear();
        command.env("REGENT_HOME", &self.world.home).env("HOME", self.world.folder());
        command.env("REGENT_FAULTS", format!("socket={}", socket.display()));
        if let Some(url) = self.url(place) {
            command.env("REGENT_DATABASE_URL", url);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("start");
        let stream = BufReader::new(listener.accept().expect("it reports").0);
        Watched { child, stream, waits: false }
    }

    /// Kills the command at the first of these points that it reaches.
    pub(crate) fn kill_at(&self, place: Place, args: &[&str], point: &str) {
        let mut watched = self.watch(place, args);
        assert!(watched.reaches(point), "`{point}` is not reached");
        watched.kill();
    }
}

/// A process that waits at each of its failpoints.
pub(crate) struct Watched {
    child: Child,
    stream: BufReader<UnixStream>,
    waits: bool,
}

impl Watched {
    /// Lets it go on to its next point; `None` at its end.
    pub(crate) fn next(&mut self) -> Option<String> {
        if std::mem::replace(&mut self.waits, true) {
            drop(self.stream.get_mut().write_all(b"go\n")); // one that has just ended needs no answer
        }
        let mut line = String::new();
        let read = self.stream.read_line(&mut line).unwrap_or(0);
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Lets it go on to this point, and wait there.
    pub(crate) fn reaches(&mut self, point: &str) -> bool {
        while let Some(reached) = self.next() {
            if reached == point {
                return true;
            }
        }
        false
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"));
        kill(pid, signal).expect("signal");
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().expect("SIGKILL");
        self.child.wait().expect("wait");
    }

    /// Lets it go on to its end.
    pub(crate) fn finish(mut self) -> Output {
        while self.next().is_some() {}
        self.child.wait_with_output().expect("it ended")
    }
}
