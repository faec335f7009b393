//! The real binary is killed by SIGKILL at every named point, and another process goes on. This process survives
//! and counts what ran.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

const REFERENCE: &str = "how many Rust files are here, and which is the largest?";
const ANSWER: &str = "2 Rust files; the largest is b.rs (12 bytes).\nSubfolders included; hidden files, ignored files and links left out.\n";

/// The points of one request: four commits and two calls, each with a before and an after.
const POINTS: usize = 12;

/// A house, a workspace, and somebody who watches from outside.
struct Scene {
    folder: TempDir,
    listener: UnixListener,
    /// Calls that handlers were given, in order: `tool call`.
    ran: Vec<String>,
}

/// What a watched process did before it ended or was killed.
#[derive(Debug)]
struct Watched {
    points: Vec<String>,
    output: Output,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = folder.path().join("workspace");
        std::fs::create_dir(&workspace).expect("a workspace");
        std::fs::write(workspace.join("a.rs"), "fn a() {}").expect("a file");
        std::fs::write(workspace.join("b.rs"), "fn main() {}").expect("a file");
        let listener = UnixListener::bind(folder.path().join("watch")).expect("a socket");
        Self { folder, listener, ran: Vec::new() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
        command.args(args).current_dir(self.folder.path().join("workspace")).env_clear();
        command.env("REGENT_HOME", self.folder.path().join("house")).stdin(Stdio::null());
        command
    }

    fn plain(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    fn start(&self, args: &[&str]) -> (Child, BufReader<UnixStream>) {
        let mut command = self.command(args);
        command.env("REGENT_FAULTS", format!("socket={}", self.folder.path().join("watch").display()));
        let child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let (stream, _) = self.listener.accept().expect("it reports");
        (child, BufReader::new(stream))
    }

    /// Runs a command, and kills it when it reaches the point for which `at` says so.
    fn watch(&mut self, args: &[&str], mut at: impl FnMut(usize, &str) -> bool) -> Watched {
        let (mut child, mut stream) = self.start(args);
        let mut points = Vec::new();
        while let Some(point) = next(&mut stream) {
            if let Some(call) = point.strip_prefix("running ").filter(|call| !call.starts_with("duty:")) {
                self.ran.push(call.to_owned());
            }
            let dies = at(points.len(), &point);
            points.push(point);
            if dies {
                child.kill().expect("SIGKILL");
                break;
            }
            go(&mut stream);
        }
        Watched { points, output: child.wait_with_output().expect("it ended") }
    }
}

/// The next point, but for those inside a transaction: `cargo xtask crash` kills there.
fn next(stream: &mut BufReader<UnixStream>) -> Option<String> {
    loop {
        let mut line = String::new();
        match stream.read_line(&mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) if line.starts_with("writing ") => go(stream),
            Ok(_) => return Some(line.trim_end().to_owned()),
        }
    }
}

fn go(stream: &mut BufReader<UnixStream>) {
    // A process that has just ended by itself needs no answer.
    drop(stream.get_mut().write_all(b"go\n"));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_real_binary_commits_four_times() {
    let mut scene = Scene::new();
    let run = scene.watch(&["run", REFERENCE], |_, _| false);
    assert_eq!(run.output.status.code(), Some(0), "{}", text(&run.output.stderr));
    assert_eq!(text(&run.output.stdout), ANSWER);
    let kinds: Vec<&str> =
        run.points.iter().map(|point| point.split(' ').take(2).last().expect("a word")).collect();
    let round = ["committing", "committed"];
    let call = |tool| [tool, tool]; // running, ran
    let request = [round, round, call("find_files"), round, call("deliver"), round];
    // The house is new, so what is due afterwards is due at once; on a busy machine its moment is over before it is.
    let afterwards = [round, call("duty:upkeep"), round, round, call("duty:checkpoint"), round];
    let expected: Vec<&str> = [request.concat(), afterwards.concat()].concat();
    assert_eq!(request.concat().len(), POINTS);
    assert!(kinds.len() >= POINTS && expected.starts_with(&kinds), "{kinds:?}");
}

#[test]
fn killed_after_each_commit_it_is_resumed_and_no_tool_runs_twice() {
    for commit in 1..=4 {
        let mut scene = Scene::new();
        let mut commits = 0;
        let run = scene.watch(&["run", REFERENCE], |_, point| {
            commits += usize::from(point == "committed");
            commits == commit
        });
        assert_eq!(run.output.status.code(), None, "it was killed, it did not end");

        let unfinished = text(&scene.plain(&["status"]).stdout);
        assert_eq!(unfinished.contains("regent resume"), commit < 4, "status says so: {unfinished}");
        let id = text(&scene.plain(&["tasks", "list"]).stdout);
        let id = id.split(' ').next().expect("an id").to_owned();
        let args: &[&str] = if commit < 4 { &["resume"] } else { &["resume", &id] };
        let resumed = scene.watch(args, |_, _| false);
        assert_eq!(resumed.output.status.code(), Some(0), "after {commit}: {}", text(&resumed.output.stderr));
        assert_eq!(text(&resumed.output.stdout), ANSWER, "after {commit}");

        let mut tools: Vec<&str> =
            scene.ran.iter().map(|call| call.split(' ').next().expect("a tool")).collect();
        tools.sort_unstable();
        assert_eq!(tools, ["deliver", "find_files"], "after {commit}: {:?}", scene.ran);
        assert_eq!(scene.plain(&["audit", "verify"]).status.code(), Some(0), "after {commit}");
        assert!(text(&scene.plain(&["tasks", "list"]).stdout).contains(" done "), "after {commit}");
    }
}

/// Between two commits only what reads, or does the same twice, may run again.
#[test]
fn killed_at_every_point_the_answer_is_the_same_and_the_audit_consistent() {
    let every_point = Scene::new().watch(&["run", REFERENCE], |_, _| false).points.len();
    for at in 0..every_point {
        let mut scene = Scene::new();
        let killed = scene.watch(&["run", REFERENCE], |n, _| n == at);
        let resumed = scene.watch(&["resume"], |_, _| false);
        let outputs = text(&killed.output.stdout) + &text(&resumed.output.stdout);
        if at == 0 {
            assert_eq!(
                resumed.output.status.code(),
                Some(2),
                "nothing was durable: {}",
                text(&resumed.output.stderr)
            );
        } else if at + 1 >= POINTS {
            assert_eq!(outputs, ANSWER, "it was over");
        } else {
            assert_eq!(resumed.output.status.code(), Some(0), "point {at}: {}", text(&resumed.output.stderr));
            assert!(outputs == ANSWER || outputs == ANSWER.repeat(2), "point {at}: {outputs}");
        }
        assert_eq!(scene.plain(&["audit", "verify"]).status.code(), Some(0), "point {at}");
        let twice: Vec<&String> = scene
            .ran
            .iter()
            .filter(|call| scene.ran.iter().filter(|other| other == call).count() > 1)
            .collect();
        let started =
            killed.points.get(at).is_some_and(|point| point.starts_with("r") || point == "committing");
        assert!(twice.is_empty() || started, "point {at} ({:?}): {twice:?}", killed.points.get(at));
    }
}

#[test]
fn a_process_that_lives_keeps_its_task() {
    let scene = Scene::new();
    let (child, mut stream) = scene.start(&["run", REFERENCE]);
    while let Some(point) = next(&mut stream) {
        if point.starts_with("running find_files") {
            break; // and is left waiting
        }
        go(&mut stream);
    }
    let refused = scene.plain(&["resume"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(text(&refused.stderr).starts_with("error R4011: "), "{}", text(&refused.stderr));
    go(&mut stream);
    while next(&mut stream).is_some() {
        go(&mut stream);
    }
    let finished = child.wait_with_output().expect("it ended");
    assert_eq!((finished.status.code(), text(&finished.stdout).as_str()), (Some(0), ANSWER));
}
