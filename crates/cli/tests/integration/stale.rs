//! The real binary is stopped by SIGSTOP for longer than its lease lasts, another process takes its task over and finishes
//! it, and then the first one wakes. It must not run, print or write anything more. On both databases.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use services::{Address, Flavour};
use tempfile::TempDir;

use crate::world::migrated_database;

const REFERENCE: &str = "how many Rust files are here, and which is the largest?";
const ANSWER: &str = "2 Rust files; the largest is b.rs (12 bytes).\nSubfolders included; hidden files, ignored files and links left out.\n";
/// Long enough for a slow machine to get from one commit to the next, short enough to wait for.
const LEASE: Duration = Duration::from_millis(800);

/// A house, a workspace, and a database of one kind.
struct Scene {
    folder: TempDir,
    listener: UnixListener,
    server: Option<(Address, String)>,
    /// What the program is told besides: the lease, and a guard that it is to lack.
    faults: String,
}

impl Scene {
    fn new(database: Database) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = folder.path().join("workspace");
        std::fs::create_dir(&workspace).expect("a workspace");
        std::fs::write(workspace.join("a.rs"), "fn a() {}").expect("a file");
        std::fs::write(workspace.join("b.rs"), "fn main() {}").expect("a file");
        let listener = UnixListener::bind(folder.path().join("watch")).expect("a socket");
        let server = (database == Database::PostgreSql).then(|| {
            let server = services::shared(Flavour::Plain).expect("a server");
            (server, migrated_database())
        });
        Self { folder, listener, server, faults: format!("lease={}", LEASE.as_millis()) }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
        command.args(args).current_dir(self.folder.path().join("workspace")).env_clear();
        command.env("REGENT_HOME", self.folder.path().join("house")).stdin(Stdio::null());
        command.env("REGENT_FAULTS", &self.faults);
        if let Some((_, url)) = &self.server {
            command.env("REGENT_DATABASE_URL", url);
        }
        command
    }

    fn plain(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.plain(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Starts the reference request, and stops it when it reaches this point for the nth time.
    fn stopped_at(&self, point: &str, nth: usize) -> Stopped {
        let mut command = self.command(&["run", REFERENCE]);
        let socket = self.folder.path().join("watch");
        command.env("REGENT_FAULTS", format!("socket={},{}", socket.display(), self.faults));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let (stream, _) = self.listener.accept().expect("it reports");
        let mut stopped = Stopped { child, stream: BufReader::new(stream) };
        let mut seen = 0;
        while let Some(reached) = stopped.next() {
            seen += usize::from(reached.starts_with(point));
            if seen == nth {
                stopped.signal(Signal::SIGSTOP);
                return stopped;
            }
            stopped.go();
        }
        panic!(
            "it never came to `{point}` {nth}: {}",
            text(&stopped.child.wait_with_output().expect("ended").stderr)
        );
    }

    /// Another process takes the task over as soon as the lease has run out, and finishes it.
    fn taken_over(&self) {
        let begun = Instant::now();
        loop {
            let resumed = self.plain(&["resume"]);
            let says = text(&resumed.stderr);
            if says.starts_with("error R4011: ") && begun.elapsed() < Duration::from_secs(30) {
                continue;
            }
            assert_eq!((resumed.status.code(), text(&resumed.stdout).as_str()), (Some(0), ANSWER), "{says}");
            // What is due now and then may have been cut off in the middle of a commit: it is finished here.
            self.succeeds(&["tick"]);
            return;
        }
    }

    /// Every row of every table.
    fn everything(&self) -> String {
        self.succeeds(&["audit", "verify"]);
        let Some((server, url)) = &self.server else { return self.everything_in_file() };
        let tables = server
            .run_at(url, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'brainframe' ORDER BY 1")
            .expect("tables");
        let of =
            |table: &str| format!("SELECT '{table}: ' || t::text FROM brainframe.{table} t ORDER BY 1;\n");
        server.run_at(url, &tables.lines().map(of).collect::<String>()).expect("rows")
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("house/data/regent.db")
    }

    fn everything_in_file(&self) -> String {
        let database = crate::sql::Database::open(&self.database());
        let tables = database.texts(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1",
        );
        let of = |table: &String| {
            let columns = format!("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('{table}')");
            let columns = database.texts(&columns).join(" || '|' || ");
            let rows = database.texts(&format!("SELECT {columns} FROM \"{table}\" ORDER BY 1"));
            format!("{table}:\n{}\n", rows.join("\n"))
        };
        let everything = tables.iter().map(of).collect();
        database.close();
        everything
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Database {
    Sqlite,
    PostgreSql,
}

/// A process that waits at a point, and stands still besides.
struct Stopped {
    child: Child,
    stream: BufReader<UnixStream>,
}

impl Stopped {
    fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
        }
    }

    fn go(&mut self) {
        // A process that has just ended by itself needs no answer.
        drop(self.stream.get_mut().write_all(b"go\n"));
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"));
        kill(pid, signal).expect("signal");
    }

    /// Lets it go on to its end: what it reached, and how it ended.
    fn wakes(mut self) -> (Vec<String>, Output) {
        self.signal(Signal::SIGCONT);
        self.go();
        let mut points = Vec::new();
        while let Some(point) = self.next() {
            points.push(point);
            self.go();
        }
        (points, self.child.wait_with_output().expect("it ended"))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// It was fenced off: it says so, and has written nothing since.
fn is_fenced_off(name: &str, points: &[String], output: &Output) {
    let says = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{name}: {says}\n{points:?}");
    assert!(says.starts_with("error R4011: "), "{name}: {says}");
    assert!(
        !points.iter().any(|point| point == "committed" || point.starts_with("writing")),
        "{name}: {points:?}"
    );
}

/// Where it is stopped; whether a call of its had begun by then; what it may print in all. A call that had begun when it
/// was stopped is not called back: what it does to the outside it may have done, or may still do.
type Aim = (&'static str, usize, bool, &'static [&'static str]);

const AROUND_FIND_FILES: [Aim; 5] = [
    ("committed", 1, false, &[""]),
    ("committed", 2, false, &[""]), // find_files is authorised
    ("running find_files", 1, true, &[""]),
    ("ran find_files", 1, true, &[""]),
    ("committing", 3, false, &[""]),
];

const AROUND_DELIVER: [Aim; 4] = [
    ("committed", 3, false, &[""]), // deliver is authorised
    ("running deliver", 1, true, &["", ANSWER]),
    ("ran deliver", 1, true, &[ANSWER]),
    ("committing", 4, false, &[ANSWER]),
];

fn who_was_taken_over_from_does_nothing_more(database: Database, aims: &[Aim]) {
    let aims = aims.iter().step_by(if database == Database::PostgreSql { services::stride(2) } else { 1 });
    for (point, nth, begun, printed) in aims {
        let name = format!("{database:?}, stopped at `{point}` {nth}");
        let scene = Scene::new(database);
        let stopped = scene.stopped_at(point, *nth);
        scene.taken_over();
        let before = scene.everything();
        let (points, output) = stopped.wakes();
        is_fenced_off(&name, &points, &output);
        let ran = points.iter().any(|point| point.starts_with("running "));
        assert!(!ran, "{name}: no call begins any more: {points:?}");
        assert!(*begun || !points.iter().any(|point| point.starts_with("ran ")), "{name}: {points:?}");
        assert!(printed.contains(&text(&output.stdout).as_str()), "{name}: {}", text(&output.stdout));
        assert_eq!(scene.everything(), before, "{name}");
        let tasks = scene.succeeds(&["tasks", "list"]);
        assert!(tasks.contains(" done ") && tasks.lines().count() == 1, "{name}: {tasks}");
    }
}

#[test]
fn who_was_taken_over_from_around_find_files_does_nothing_more_on_sqlite() {
    who_was_taken_over_from_does_nothing_more(Database::Sqlite, &AROUND_FIND_FILES);
}

#[test]
fn who_was_taken_over_from_around_find_files_does_nothing_more_on_postgresql() {
    who_was_taken_over_from_does_nothing_more(Database::PostgreSql, &AROUND_FIND_FILES);
}

#[test]
fn who_was_taken_over_from_around_deliver_does_nothing_more_on_sqlite() {
    who_was_taken_over_from_does_nothing_more(Database::Sqlite, &AROUND_DELIVER);
}

#[test]
fn who_was_taken_over_from_around_deliver_does_nothing_more_on_postgresql() {
    who_was_taken_over_from_does_nothing_more(Database::PostgreSql, &AROUND_DELIVER);
}

/// What shows that the fence holds shows that it is missing, too. Where a batch is on its way: before that, whoever looks
/// around sees by itself that the task is somebody else's.
#[test]
fn without_the_fence_it_is_noticed() {
    for database in [Database::Sqlite, Database::PostgreSql] {
        let mut scene = Scene::new(database);
        scene.faults.push_str(",without=fence");
        let stopped = scene.stopped_at("committing", 3);
        scene.taken_over();
        let (points, output) = stopped.wakes();
        assert!(!text(&output.stderr).starts_with("error R4011: "), "{database:?}: {points:?}");
    }
}

/// Stopped, and nobody takes over: it goes on as if nothing had been, with a new authorisation for what was late.
#[test]
fn who_was_only_stopped_goes_on() {
    for database in [Database::Sqlite, Database::PostgreSql] {
        for (point, nth) in [("committed", 2), ("ran find_files", 1), ("committed", 3)] {
            let scene = Scene::new(database);
            let stopped = scene.stopped_at(point, nth);
            std::thread::sleep(LEASE);
            let (points, output) = stopped.wakes();
            let ended = (output.status.code(), text(&output.stdout));
            assert_eq!(ended, (Some(0), ANSWER.to_owned()), "{database:?} {point} {nth}: {points:?}");
            scene.succeeds(&["audit", "verify"]);
        }
    }
}

/// Stopped in the middle of a transaction, it holds the writers' lock. The server puts it out after five seconds.
#[test]
fn who_is_stopped_inside_a_transaction_is_put_out_on_postgresql() {
    let scene = Scene::new(Database::PostgreSql);
    let stopped = scene.stopped_at("writing commits", 3);
    scene.succeeds(&["status"]); // reading needs no lock
    let begun = Instant::now();
    assert_eq!(scene.succeeds(&["run", REFERENCE]), ANSWER);
    let took = begun.elapsed();
    assert!((Duration::from_secs(3)..Duration::from_secs(10)).contains(&took), "{took:?}");
    scene.taken_over();
    let before = scene.everything();
    let (points, output) = stopped.wakes();
    is_fenced_off("inside a transaction", &points, &output);
    assert_eq!(text(&output.stdout), "");
    assert_eq!(scene.everything(), before);
}

/// If nobody took over meanwhile, it tries again by itself.
#[test]
fn who_was_put_out_and_not_taken_over_from_goes_on_on_postgresql() {
    let scene = Scene::new(Database::PostgreSql);
    let stopped = scene.stopped_at("writing commits", 2);
    assert_eq!(scene.succeeds(&["run", REFERENCE]), ANSWER);
    let (points, output) = stopped.wakes();
    assert_eq!(text(&output.stdout), ANSWER, "{points:?} {}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    assert!(scene.succeeds(&["status"]).contains("nothing unfinished"));
    scene.succeeds(&["audit", "verify"]);
}

/// SQLite has nobody who could put it out: others are told so in time, and go on when it wakes or is killed.
fn others_are_busy_on_sqlite(ends: impl FnOnce(&Scene, Stopped)) {
    let scene = Scene::new(Database::Sqlite);
    let stopped = scene.stopped_at("writing commits", 3);
    scene.succeeds(&["status"]);
    std::thread::sleep(LEASE); // until then it is only at work
    let begun = Instant::now();
    let others = [["run", REFERENCE].as_slice(), &["resume"]].map(|args| {
        scene.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start")
    });
    for other in others {
        let output = other.wait_with_output().expect("it ended");
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
        assert!(text(&output.stderr).starts_with("error R4006: "), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "");
    }
    let took = begun.elapsed();
    assert!((Duration::from_secs(9)..Duration::from_secs(20)).contains(&took), "{took:?}");
    ends(&scene, stopped);
    assert_eq!(scene.succeeds(&["run", REFERENCE]), ANSWER);
    assert!(scene.succeeds(&["status"]).contains("nothing unfinished"));
    scene.succeeds(&["audit", "verify"]);
}

#[test]
fn others_are_busy_until_who_was_stopped_inside_a_transaction_wakes_on_sqlite() {
    others_are_busy_on_sqlite(|_, stopped| {
        let (points, output) = stopped.wakes();
        assert_eq!(text(&output.stdout), ANSWER, "{points:?} {}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(0));
    });
}

#[test]
fn others_are_busy_until_who_was_stopped_inside_a_transaction_is_killed_on_sqlite() {
    others_are_busy_on_sqlite(|scene, mut stopped| {
        stopped.child.kill().expect("SIGKILL");
        stopped.child.wait().expect("it ended");
        scene.taken_over();
    });
}
