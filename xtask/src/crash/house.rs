//! One house: where it stands, who is started in it, what it says when it is asked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::account::{self, Account};
use super::aim::{Coverage, Fate, PerStore};
use super::book::Book;
use super::options::Options;
use super::seen::{End, Seen, Sort};
use super::store::Store;
use super::verdict::{self, Company, Invariant, Listed, Violation};
use super::watch::{Faults, Interlude, Start, ask, watch};
use crate::interrupt;

/// All there are.
const EVERYTHING: &str = "100000000";

/// What all houses on one store have in common in a run.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) program: PathBuf,
    /// Sockets have short paths; they stand apart from the houses.
    pub(crate) sockets: PathBuf,
    pub(crate) coverage: Mutex<Coverage>,
    pub(crate) without: Option<String>,
}

/// One for each store: every failpoint is to be hit on each of them.
#[derive(Debug)]
pub(crate) struct Stages {
    sqlite: Stage,
    postgres: Stage,
}

impl Stages {
    /// In `scratch` are a copy of the program and the sockets. What was hit `elsewhere` need not be hit again.
    pub(crate) fn new(scratch: &Path, options: &Options, elsewhere: [BTreeSet<String>; 2]) -> Self {
        let stage = |elsewhere| Stage {
            program: scratch.join("regent"),
            sockets: scratch.to_owned(),
            coverage: Mutex::new(Coverage::new(options.until_covered, elsewhere)),
            without: options.without.clone(),
        };
        let [sqlite, postgres] = elsewhere.map(stage);
        Self { sqlite, postgres }
    }

    pub(crate) const fn of(&self, store: Store) -> &Stage {
        match store {
            Store::Sqlite => &self.sqlite,
            Store::Postgres => &self.postgres,
        }
    }

    pub(crate) fn coverage(&self) -> PerStore {
        let of = |stage: &Stage| stage.coverage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        PerStore { sqlite: of(&self.sqlite), postgres: of(&self.postgres) }
    }
}

#[derive(Debug)]
pub(crate) struct House<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) folder: tempfile::TempDir,
    /// How the program finds its house and its database.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) book: Book,
    pub(crate) account: Account,
    sockets: AtomicU64,
    /// What was seen in this round, for whoever wants to know more.
    pub(crate) trace: Vec<Seen>,
}

/// One process to be: what it is fed, which request it is for.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) sort: Sort,
    pub(crate) args: Vec<String>,
    pub(crate) sent: Vec<u64>,
    pub(crate) errand: Option<u64>,
    pub(crate) lease: Option<u64>,
    pub(crate) fate: Fate,
}

/// A process that is over, with what it was fed and which request it was for.
#[derive(Debug)]
pub(crate) struct Witnessed {
    pub(crate) seen: Seen,
    sent: Vec<u64>,
    errand: Option<u64>,
}

/// What `regent status` says.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) unfinished: Vec<String>,
    pub(crate) consistent: bool,
}

impl<'a> House<'a> {
    pub(crate) fn new(
        stage: &'a Stage,
        beside: &Path,
        database: Vec<(String, String)>,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("regent-crash-").tempdir_in(beside)?;
        let mut environment = database;
        environment.push(("REGENT_HOME".to_owned(), folder.path().join("house").display().to_string()));
        let (book, account) = (Book::default(), Account::default());
        let house =
            Self { stage, folder, environment, book, account, sockets: AtomicU64::new(0), trace: Vec::new() };
        Ok(house)
    }

    /// A new request, with a workspace that gives an answer of its own.
    pub(crate) fn errand(&mut self) -> anyhow::Result<u64> {
        let number = self.book.errand(|number| {
            format!(
                "3 Rust files; the largest is largest-{number}.rs (15 bytes).\n\
                 Subfolders included; hidden files, ignored files and links left out.\n"
            )
        });
        let workspace = self.workspace(Some(number));
        std::fs::create_dir_all(&workspace)?;
        for (name, text) in [
            ("a.rs", "fn a() {}"),
            ("b.rs", "fn b() {}\n"),
            (&format!("largest-{number}.rs"), "fn largest() {}"),
        ] {
            std::fs::write(workspace.join(name), text)?;
        }
        Ok(number)
    }

    fn workspace(&self, errand: Option<u64>) -> PathBuf {
        errand.map_or_else(
            || self.folder.path().to_owned(),
            |number| self.folder.path().join(format!("workspace-{number}")),
        )
    }

    /// Starts them all at once and stays until the last has ended.
    pub(crate) fn watch_all(
        &mut self,
        planned: Vec<Planned>,
        company: Company,
    ) -> anyhow::Result<Vec<Violation>> {
        let house = &*self;
        let witnessed: Vec<anyhow::Result<Witnessed>> = std::thread::scope(|scope| {
            let watchers: Vec<_> = planned
                .into_iter()
                .map(|planned| scope.spawn(|| house.watch(planned, &mut || Ok(()))))
                .collect();
            watchers
                .into_iter()
                .map(|watcher| watcher.join().unwrap_or_else(|_| bail!("a watcher panicked")))
                .collect()
        });
        interrupt::check()?;
        let mut found = Vec::new();
        for witnessed in witnessed {
            found.extend(self.judge(witnessed?, company));
        }
        Ok(found)
    }

    pub(crate) fn watch(&self, planned: Planned, interlude: Interlude<'_>) -> anyhow::Result<Witnessed> {
        let Planned { sort, args, sent, errand, lease, fate } = planned;
        let number = self.sockets.fetch_add(1, Ordering::Relaxed);
        let start = Start {
            sort,
            args,
            folder: self.workspace(errand),
            stdin: sent.iter().map(|number| line(*number)).collect(),
            environment: self.environment.clone(),
            faults: Faults { lease, without: self.stage.without.clone() },
            fate,
        };
        let socket = self.stage.sockets.join(number.to_string());
        let seen = watch(&self.stage.program, &socket, start, &self.stage.coverage, interlude)?;
        Ok(Witnessed { seen, sent, errand })
    }

    /// What can be said of a process at once; the counts are kept for later.
    pub(crate) fn judge(&mut self, witnessed: Witnessed, company: Company) -> Vec<Violation> {
        let Witnessed { seen, sent, errand } = witnessed;
        self.account.add(&seen);
        let mut found: Vec<Violation> = verdict::ended_well(&seen, company).into_iter().collect();
        found.extend(account::begins_with_a_commit(&seen));
        found.extend(self.book.add(&seen, &sent, errand));
        self.trace.push(seen);
        found
    }

    fn ask(&self, args: &[&str]) -> anyhow::Result<(End, String, String)> {
        let mut command = Command::new(&self.stage.program);
        command.args(args).current_dir(self.folder.path()).env_clear().envs(self.environment.iter().cloned());
        ask(command)
    }

    /// Lines of JSON from a command that must succeed; that it does not is a finding, not an error of ours.
    fn lines(&self, args: &[&str]) -> anyhow::Result<Result<Vec<Value>, Violation>> {
        let (end, stdout, stderr) = self.ask(args)?;
        if end != End::Exit(0) {
            let what = format!("`regent {}` ended with {end:?}: {}", args.join(" "), stderr.trim_end());
            return Ok(Err(Invariant::NoInternalError.violated(what)));
        }
        let lines = stdout.lines().map(serde_json::from_str);
        Ok(Ok(lines
            .collect::<Result<_, _>>()
            .with_context(|| format!("what `{}` printed", args.join(" ")))?))
    }

    pub(crate) fn status(&self) -> anyhow::Result<Result<Status, Violation>> {
        let lines = match self.lines(&["status", "--json"])? {
            Ok(lines) => lines,
            Err(violation) => return Ok(Err(violation)),
        };
        let status = lines.first().context("a status")?;
        let unfinished = status.get("unfinished").and_then(Value::as_array).context("`unfinished`")?;
        let task = |task: &Value| task.get("task").and_then(Value::as_str).map(str::to_owned);
        let unfinished = unfinished.iter().map(task).collect::<Option<_>>().context("tasks")?;
        let consistent =
            status.pointer("/audit/verdict").and_then(Value::as_str).context("`verdict`")? == "consistent";
        Ok(Ok(Status { unfinished, consistent }))
    }

    /// Everything that can be asked of a house whose work is done.
    pub(crate) fn check(&self) -> anyhow::Result<Vec<Violation>> {
        let mut found = Vec::new();
        let (end, stdout, stderr) = self.ask(&["audit", "verify"])?;
        if end != End::Exit(0) {
            found.push(Invariant::Chain.violated(format!(
                "{end:?}: {}{}",
                stdout.trim_end(),
                stderr.trim_end()
            )));
        }
        match self.lines(&["events", "list", "--json", "--limit", EVERYTHING])? {
            Err(violation) => found.push(violation),
            Ok(lines) => {
                let listed: Vec<Listed> = lines.iter().filter_map(listed).collect();
                found.extend(verdict::acknowledged(&self.book, &listed));
                found.extend(self.watermarks(&listed)?);
                found.extend(verdict::finished(&self.book, &self.account, &listed));
            }
        }
        match self.lines(&["tasks", "list", "--json", "--limit", EVERYTHING])? {
            Err(violation) => found.push(violation),
            Ok(lines) => found.extend(lines.iter().filter_map(not_done)),
        }
        Ok(found)
    }
}

impl House<'_> {
    /// A watermark is there only with the event that it came with.
    fn watermarks(&self, listed: &[Listed]) -> anyhow::Result<Vec<Violation>> {
        let lines = match self.lines(&["events", "watermarks", "--json"])? {
            Ok(lines) => lines,
            Err(violation) => return Ok(vec![violation]),
        };
        let positions = lines.iter().filter_map(|line| line.get("position").and_then(Value::as_str));
        let keys = positions.map(|position| format!("crash:{position}"));
        let stray = keys.filter(|key| listed.iter().all(|event| event.key != *key));
        Ok(stray
            .map(|key| Invariant::Acknowledged.violated(format!("a watermark without `{key}`")))
            .collect())
    }
}

fn line(number: u64) -> String {
    let sender = number % 3;
    format!(
        "{{\"adapter\":\"crash\",\"source_id\":\"{number}\",\"sender\":\"sender-{sender}\",\"content\":\"event {number}\",\
         \"watermark\":\"{number}\"}}\n"
    )
}

fn listed(line: &Value) -> Option<Listed> {
    let text = |field: &str| line.get(field).and_then(Value::as_str).map(str::to_owned);
    let out = text("direction")? == "out";
    Some(Listed { key: text("key")?, id: text("id")?, answer: text("content").filter(|_| out) })
}

fn not_done(line: &Value) -> Option<Violation> {
    let text = |field: &str| line.get(field).and_then(Value::as_str).unwrap_or("?");
    let status = text("status");
    (status != "done").then(|| Invariant::Finished.violated(format!("{} is {status}", text("task"))))
}
