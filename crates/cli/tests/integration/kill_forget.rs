//! The real binary is killed by SIGKILL at every point of `forget` and of the duty `retention`, inside transactions
//! too: it is all there or all gone, and done again it is finished.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::process::{Command, Output, Stdio};

use crate::failpoints::{self, aims};
use crate::search::{ADDRESS, CANARY, Kept, files_with, messages};
use crate::world::migrated_database;
use tempfile::TempDir;

struct Scene {
    folder: TempDir,
    listener: UnixListener,
    url: String,
    settings: Option<&'static str>,
}

impl Scene {
    fn new(url: Option<String>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("watch")).expect("a socket");
        Self { folder, listener, url: url.unwrap_or_default(), settings: None }
    }

    fn kept(&self) -> Kept {
        if self.url.is_empty() {
            Kept::File(self.folder.path().join("house/data/regent.db"))
        } else {
            Kept::Url(self.url.clone())
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
        command.args(args).env_clear().env("REGENT_HOME", self.folder.path().join("house"));
        command.env("REGENT_DATABASE_URL", &self.url).stdin(Stdio::null());
        if let Some(days) = self.settings {
            command.env("REGENT_RETENTION_DEMO", days);
        }
        command
    }

    fn ingest(&self) {
        let mut command = self.command(&["events", "ingest"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("start");
        child.stdin.take().expect("a pipe").write_all(messages().as_bytes()).expect("written");
        assert!(child.wait().expect("it ends").success());
    }

    fn plain(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    /// Runs a command and kills it at its n-th point; the points that it reached.
    fn killed(&self, args: &[&str], at: usize) -> Vec<String> {
        let mut command = self.command(args);
        command.env("REGENT_FAULTS", format!("socket={}", self.folder.path().join("watch").display()));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start");
        let (stream, _) = self.listener.accept().expect("it reports");
        let (mut stream, mut points) = (BufReader::new(stream), Vec::new());
        let mut line = String::new();
        while stream.read_line(&mut line).is_ok_and(|read| read > 0) {
            points.push(std::mem::take(&mut line).trim_end().to_owned());
            if points.len() > at {
                child.kill().expect("SIGKILL");
                break;
            }
            // A process that has just ended by itself needs no answer.
            drop(stream.get_mut().write_all(b"go\n"));
        }
        child.wait().expect("it ended");
        points
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const PLANTED: [&str; 5] = ["blobs", "entity_identities", "places", "watermarks", "agent_tasks"];

/// Kills it at its n-th point, and does it again; the points that it reached.
fn round(url: Option<String>, at: usize) -> Vec<String> {
    let scene = Scene::new(url);
    scene.ingest();
    let (_, lea) = scene.kept().give_a_task();
    let points = scene.killed(&["forget", "--person", ADDRESS, "--yes"], at);
    let left = scene.kept().tables_with(CANARY);
    assert!(left == PLANTED || left.is_empty(), "point {at} ({:?}): {left:?}", points.last());
    let again = scene.plain(&["forget", "--person", &lea, "--yes"]);
    assert_eq!(again.status.code(), Some(0), "point {at}: {}", text(&again.stderr));
    assert_eq!(files_with(&scene.folder.path().join("house"), CANARY), [""; 0], "point {at}");
    assert_eq!(scene.kept().tables_with(CANARY), [""; 0], "point {at}");
    let verified = scene.plain(&["audit", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "point {at}: {}", text(&verified.stderr));
    points
}

#[test]
fn killed_at_every_point_of_forget_it_is_all_there_or_all_gone_and_done_again_it_is_finished() {
    let points = round(None, usize::MAX);
    for at in aims(&points) {
        round(None, at);
    }
    for point in
        ["committing", "writing salts", "writing entity_identities", "committed", "running duty:scrub"]
    {
        assert!(points.iter().any(|seen| seen.starts_with(point)), "{point}: {points:?}");
    }
}

/// The same on PostgreSQL, where it is different: before, in the middle of and after the erasing commit, and while the
/// files are cleaned.
#[test]
fn the_same_on_postgres() {
    let fresh = || Some(migrated_database());
    let points = round(fresh(), usize::MAX);
    for point in
        ["committing", "writing entity_identities", "writing commits", "committed", "running duty:scrub"]
    {
        let at = points.iter().position(|seen| seen.starts_with(point));
        round(fresh(), at.unwrap_or_else(|| panic!("{point}: {points:?}")));
    }
}

/// Everything is older than a day here: the clock of the kill test is the real one, so the events are moved back.
#[test]
fn killed_at_every_point_of_retention_the_next_tick_finishes() {
    let mut aims = vec![usize::MAX];
    while let Some(at) = aims.pop() {
        let mut scene = Scene::new(None);
        scene.ingest();
        age(&scene);
        assert_eq!(scene.plain(&["tick"]).status.code(), Some(0));
        scene.settings = Some("1d");
        let points = scene.killed(&["tick"], at);
        let again = scene.plain(&["tick"]);
        assert_eq!(again.status.code(), Some(0), "point {at}: {}", text(&again.stderr));
        assert!(!scene.kept().tables_with(CANARY).contains(&"blobs"), "point {at}: {:?}", points.last());
        assert_eq!(scene.plain(&["audit", "verify"]).status.code(), Some(0), "point {at}");
        assert!(
            scene.kept().tables_with("tom writes").contains(&"blobs"),
            "point {at}: the other channel is kept"
        );
        if at == usize::MAX {
            for point in ["running duty:retention", "running duty:scrub", "writing blobs"] {
                assert!(points.iter().any(|seen| seen.starts_with(point)), "{point}: {points:?}");
            }
            // Inside a transaction, only where something is erased: the others are killed there elsewhere.
            let aimed = |point: &str| !point.starts_with("writing ") || point == "writing blobs";
            aims.extend(failpoints::aims(&points).into_iter().filter(|&at| aimed(&points[at])));
        }
    }
}

/// Behind the program's back: the guard is taken away, and everything came two days earlier.
fn age(scene: &Scene) {
    let Kept::File(path) = scene.kept() else { return };
    let database = crate::sql::Database::open(&path);
    database.execute(
        "DROP TRIGGER events_are_not_changed; UPDATE events SET received_at = received_at - 172800000000",
    );
    database.close();
}
