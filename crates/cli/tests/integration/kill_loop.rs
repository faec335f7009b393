//! A model plans five subtasks, and the real binary is killed by SIGKILL at every point of it: before and after every
//! commit, every call and every ask. Another process goes on. This process survives, and counts what ran and what was
//! asked. On both databases.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::failpoints::aims;
use crate::world::migrated_database;

const REQUEST: &str = "count docs, read one.txt and two.txt, hash two.txt, and add 2 + 3";
const ANSWER: &str = "docs has 2 files\none\nhashed\n5\ntwo\n";

/// What the model says, by where it is asked.
fn script() -> String {
    let plan = json!({ "subtasks": [
        { "intent": "count docs", "success_criteria": [
            { "text": "there are two", "check": { "json_path": { "pointer": "/count", "equals": 2 } } }] },
        { "intent": "read one.txt", "depends_on": [0], "success_criteria": [
            { "text": "it says one", "check": { "file_contains": { "path": "one.txt", "text": "one" } } }] },
        { "intent": "hash two.txt", "success_criteria": [
            { "text": "there is a hash", "check": { "not_empty": { "pointer": "/hex" } } }] },
        { "intent": "add", "depends_on": [1], "success_criteria": [
            { "text": "calc ran", "check": { "tool_called": { "tool": "calc" } } }] },
        { "intent": "read two.txt", "depends_on": [2, 3], "success_criteria": [
            { "text": "it was read", "check": { "file_exists": { "path": "two.txt" } } }] },
    ] });
    let task = json!({ "task": { "task_class": "five_things", "intent": "do five things" } });
    let calls = [
        json!({ "tool": "find_files", "args": { "under": "docs" } }),
        json!({ "tool": "read_file", "args": { "path": "one.txt" } }),
        json!({ "tool": "hash", "args": { "path": "two.txt" } }),
        json!({ "tool": "calc", "args": { "expression": "2 + 3" } }),
        json!({ "tool": "read_file", "args": { "path": "two.txt" } }),
    ];
    let mut lines = vec![
        json!({ "role": "perceiver", "text": task.to_string() }),
        json!({ "role": "planner", "text": plan.to_string() }),
    ];
    for (number, (call, output)) in calls.iter().zip(ANSWER.lines()).enumerate() {
        lines.push(json!({ "role": "executor", "subtask": number, "moves": 0, "text": call.to_string() }));
        let done = json!({ "output": output, "status": "completed" });
        lines.push(json!({ "role": "executor", "subtask": number, "text": done.to_string() }));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

struct Scene {
    folder: TempDir,
    listener: UnixListener,
    database: Option<String>,
    /// Calls that handlers were given: `tool call`.
    ran: Vec<String>,
}

struct Watched {
    points: Vec<String>,
    output: Output,
}

impl Scene {
    fn new(database: Option<String>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = folder.path().join("workspace");
        std::fs::create_dir_all(workspace.join("docs")).expect("a workspace");
        for (name, content) in [("one.txt", "one\n"), ("two.txt", "two\n"), ("docs/a", "a"), ("docs/b", "b")]
        {
            std::fs::write(workspace.join(name), content).expect("a file");
        }
        std::fs::write(folder.path().join("script"), script()).expect("a script");
        let listener = UnixListener::bind(folder.path().join("watch")).expect("a socket");
        Self { folder, listener, database, ran: Vec::new() }
    }

    fn command(&self, args: &[&str], watched: bool) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
        command.args(args).current_dir(self.folder.path().join("workspace")).env_clear();
        command.env("REGENT_HOME", self.folder.path().join("house")).stdin(Stdio::null());
        command.envs(self.database.iter().map(|url| ("REGENT_DATABASE_URL", url)));
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        let socket = if watched { format!(",socket={}", at("watch")) } else { String::new() };
        command.env("REGENT_FAULTS", format!("script={}{socket}", at("script")));
        command
    }

    fn plain(&self, args: &[&str]) -> Output {
        self.command(args, false).output().expect("the program runs")
    }

    /// Runs a command, and kills it at this point.
    fn watch(&mut self, args: &[&str], dies_at: Option<usize>) -> Watched {
        let mut command = self.command(args, true);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let (stream, _) = self.listener.accept().expect("it reports");
        let mut stream = BufReader::new(stream);
        let mut points = Vec::new();
        while let Some(point) = next(&mut stream) {
            if let Some(call) = point.strip_prefix("running ").filter(|call| !call.starts_with("duty:")) {
                self.ran.push(call.to_owned());
            }
            points.push(point);
            if dies_at == Some(points.len() - 1) {
                child.kill().expect("SIGKILL");
                break;
            }
            go(&mut stream);
        }
        Watched { points, output: child.wait_with_output().expect("it ended") }
    }

    /// What is durable of the only task, if there is one.
    fn kept(&self) -> Option<Kept> {
        let list = self.plain(&["tasks", "list", "--json"]);
        let task: Value = serde_json::from_slice(&list.stdout).ok()?;
        let task = task["task"].as_str()?.to_owned();
        let shown = self.plain(&["tasks", "show", &task, "--json"]);
        let shown: Value = serde_json::from_slice(&shown.stdout).ok()?;
        let words = |list: &str, field: &str| -> Vec<String> {
            let all = shown[list].as_array().into_iter().flatten();
            all.filter_map(|one| Some(one[field].as_str()?.to_owned())).collect()
        };
        let finished = words("calls", "status").into_iter().zip(words("calls", "call"));
        let finished = finished.filter(|(status, _)| status == "finished").map(|(_, call)| call).collect();
        Some(Kept { inputs: words("journal", "input"), finished, task })
    }
}

/// What is durable of a task.
#[derive(Debug)]
struct Kept {
    task: String,
    inputs: Vec<String>,
    finished: Vec<String>,
}

impl Kept {
    fn has(&self, input: &str) -> usize {
        self.inputs.iter().filter(|known| *known == input).count()
    }
}

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
    drop(stream.get_mut().write_all(b"go\n"));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Killed at one point, and gone on with.
fn killed(at: usize, database: Option<String>) {
    let mut scene = Scene::new(database);
    let first = scene.watch(&["run", REQUEST], Some(at));
    let before = scene.kept();
    let ran_before = scene.ran.len();
    let resumed = scene.watch(&["resume"], None);
    let outputs = text(&first.output.stdout) + &text(&resumed.output.stdout);
    let point = first.points.get(at).cloned().unwrap_or_default();
    let place = format!("point {at} ({point}): {}", text(&resumed.output.stderr));
    let Some(before) = before else {
        assert_eq!(
            (at, resumed.output.status.code()),
            (0, Some(2)),
            "only at first is nothing durable: {place}"
        );
        return;
    };
    assert!(outputs == ANSWER || outputs == ANSWER.repeat(2), "{place}: {outputs}");
    let after = scene.kept().expect("the task");
    assert_eq!((after.has("perceived"), after.has("planned"), after.has("acted")), (1, 1, 10), "{place}");
    for (input, role) in [("perceived", "stage perceiver"), ("planned", "stage planner")] {
        let asked = resumed.points.iter().filter(|point| *point == role).count();
        assert_eq!(asked, 1 - before.has(input), "{role}, what is durable is not asked again: {place}");
    }
    let again = scene.ran.iter().skip(ran_before).filter_map(|ran| ran.split(' ').nth(1));
    let again: Vec<&str> = again.filter(|call| before.finished.iter().any(|done| done == call)).collect();
    assert!(again.is_empty(), "{again:?} had finished, and ran again: {place}");
    assert_eq!(scene.plain(&["audit", "verify"]).status.code(), Some(0), "{place}");
    let replayed = scene.plain(&["replay", &after.task]);
    assert_eq!(replayed.status.code(), Some(0), "{place}: {}", text(&replayed.stderr));
    assert!(text(&replayed.stdout).ends_with("all identical\n"), "{place}: {}", text(&replayed.stdout));
}

/// The points of a whole run, before what is due afterwards.
fn points(database: Option<String>) -> Vec<String> {
    let mut scene = Scene::new(database);
    let mut run = scene.watch(&["run", REQUEST], None);
    assert_eq!(text(&run.output.stdout), ANSWER, "{}", text(&run.output.stderr));
    let delivered = run.points.iter().position(|point| point.starts_with("ran deliver")).expect("delivered");
    run.points.truncate(delivered + 3); // its commit, before and after
    run.points
}

/// One of these shares; together they are all that is aimed at.
fn killed_at_a_share_of_the_points(share: usize, of: usize, database: impl Fn() -> Option<String>) {
    let points = points(database());
    assert!(points.len() > 50, "five subtasks have many points: {points:?}");
    for at in aims(&points).into_iter().skip(share).step_by(of) {
        killed(at, database());
    }
}

/// In several tests, so that they run side by side.
macro_rules! killed_at_every_point {
    ($($name:ident: share $share:literal of $of:literal on $database:expr;)+) => {
        $(#[test]
        fn $name() {
            killed_at_a_share_of_the_points($share, $of, $database);
        })+
    };
}

fn postgresql() -> Option<String> {
    Some(migrated_database())
}

killed_at_every_point! {
    killed_at_every_point_of_five_subtasks_on_sqlite_1: share 0 of 2 on || None;
    killed_at_every_point_of_five_subtasks_on_sqlite_2: share 1 of 2 on || None;
    killed_at_every_point_of_five_subtasks_on_postgresql_1: share 0 of 4 on postgresql;
    killed_at_every_point_of_five_subtasks_on_postgresql_2: share 1 of 4 on postgresql;
    killed_at_every_point_of_five_subtasks_on_postgresql_3: share 2 of 4 on postgresql;
    killed_at_every_point_of_five_subtasks_on_postgresql_4: share 3 of 4 on postgresql;
}

/// A script of one subtask that is met when there are so many files in docs.
fn counting(first: &[Value], wanted: u64) -> String {
    let check = json!({ "json_path": { "pointer": "/count", "equals": wanted } });
    let plan = json!({ "subtasks": [
        { "intent": "count docs", "success_criteria": [{ "text": "the number is right", "check": check }] }] });
    let task = json!({ "task": { "task_class": "count_docs", "intent": "count what is in docs" } });
    let call = json!({ "tool": "find_files", "args": { "under": "docs" } });
    let lines = [
        json!({ "role": "perceiver", "text": task.to_string() }),
        json!({ "role": "planner", "text": plan.to_string() }),
        json!({ "role": "executor", "moves": 0, "text": call.to_string() }),
        json!({ "role": "executor", "text": json!({ "output": "docs has 2 files" }).to_string() }),
    ];
    first.iter().chain(&lines).map(|line| format!("{line}\n")).collect()
}

#[test]
fn an_abandoned_task_never_looks_done() {
    let scene = Scene::new(None);
    std::fs::write(scene.folder.path().join("script"), counting(&[], 7)).expect("a script");
    let ran = scene.plain(&["run", "count what is in docs"]);
    let (stdout, stderr) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(1), "{stderr}");
    assert!(stdout.starts_with("PARTIAL RESULT"), "{stdout}");
    let parts = [
        "\nstopped: 4 rounds without success",
        "\n  done      nothing\n  not done  1 count docs: find_files did not work here",
        "\n  tried     round 1: ",
        "\n  next      say how this can be met",
        "\n  cost      ",
        "regent explain R1002\n",
    ];
    for part in parts {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert!(!stderr.contains("done:"), "{stderr}");
    let listed = text(&scene.plain(&["tasks", "list"]).stdout);
    assert!(listed.contains(" stopped "), "{listed}");
}

#[test]
fn a_question_back_waits_for_an_answer_on_the_command_line() {
    let scene = Scene::new(None);
    let asks = json!({ "role": "perceiver", "attempt": 0, "text": json!({ "question": "which folder?" }).to_string() });
    std::fs::write(scene.folder.path().join("script"), counting(&[asks], 2)).expect("a script");
    let asked = scene.plain(&["run", "count what is in docs, I think"]);
    assert_eq!((asked.status.code(), text(&asked.stdout).as_str()), (Some(3), ""));
    let stderr = text(&asked.stderr);
    assert!(stderr.contains("asks: which folder?") && stderr.contains("\"your answer\""), "{stderr}");
    let task = scene.kept().expect("the task").task;
    assert_eq!(scene.plain(&["resume", &task]).status.code(), Some(3), "it still asks");
    let done = scene.plain(&["resume", &task, "docs"]);
    assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(0), "docs has 2 files\n"));
}
