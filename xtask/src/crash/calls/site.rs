//! One house with a workspace in which calls change things: who is started in it, and what it says when it is asked.

use std::path::PathBuf;
use std::process::Command;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::super::account;
use super::super::aim::Fate;
use super::super::house::Stage;
use super::super::random::Random;
use super::super::seen::{End, Seen, Sort};
use super::super::store::Server;
use super::super::verdict::{Company, Invariant, Violation};
use super::super::watch::{Faults, Start, ask, watch};
use super::deed::{Deed, Kind};
use super::effects::Effects;
use super::verdict::{self, Standing};
use crate::interrupt;

/// How the owner limits the calls of a day.
const LIMIT: &str = "REGENT_BUDGET_DAY_CALLS";
/// So many of a hundred random moments lie right after the call has begun to run, within so long.
const DURING_PERCENT: u64 = 60;
const DURING: Duration = Duration::from_millis(6);
/// The others, from the start of the process.
const STARTED: Duration = Duration::from_millis(12);
const LATEST: Duration = Duration::from_millis(150);

#[derive(Debug)]
pub(in crate::crash) struct Site<'a> {
    pub(in crate::crash) stage: &'a Stage,
    pub(in crate::crash) server: Option<&'a Server>,
    pub(in crate::crash) folder: tempfile::TempDir,
    pub(in crate::crash) environment: Vec<(String, String)>,
    /// Calls per day.
    pub(super) limit: u64,
    pub(super) standing: Standing,
    pub(in crate::crash) effects: Effects,
    pub(super) deeds: Vec<Deed>,
    /// What was seen in this round, for whoever wants to know more.
    pub(in crate::crash) trace: Vec<Seen>,
    sockets: AtomicU64,
}

/// One process to be, and the place of the call in `deeds` that it is for.
#[derive(Debug)]
pub(in crate::crash) struct Planned {
    pub(in crate::crash) sort: Sort,
    pub(in crate::crash) args: Vec<String>,
    pub(in crate::crash) deed: Option<usize>,
    pub(in crate::crash) lease: Option<u64>,
    pub(in crate::crash) fate: Fate,
}

/// What is done while a process is held, by whichever.
pub(in crate::crash) type Meanwhile<'a> = &'a (dyn Fn() -> anyhow::Result<()> + Sync);

/// A task that is not over, and the file that its call is about.
#[derive(Debug)]
pub(in crate::crash) struct Unfinished {
    pub(in crate::crash) task: String,
    pub(in crate::crash) file: Option<String>,
    /// Whether it only waits for a person.
    pub(in crate::crash) waits: bool,
}

impl<'a> Site<'a> {
    /// A house that was made already: what is killed here are calls.
    pub(in crate::crash) fn new(
        stage: &'a Stage,
        server: Option<&'a Server>,
        beside: &std::path::Path,
        database: Vec<(String, String)>,
        limit: u64,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("regent-calls-").tempdir_in(beside)?;
        let mut environment = database;
        environment.push(("REGENT_HOME".to_owned(), folder.path().join("house").display().to_string()));
        environment.push((LIMIT.to_owned(), limit.to_string()));
        for name in ["workspace", "aside"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        let effects = Effects::of(&folder.path().join("workspace"))?;
        let site = Self {
            stage,
            server,
            folder,
            environment,
            limit,
            standing: Standing::default(),
            effects,
            deeds: Vec::new(),
            trace: Vec::new(),
            sockets: AtomicU64::new(0),
        };
        match site.ask(&["init", "--yes"])? {
            (End::Exit(0), ..) => Ok(site),
            (end, _, stderr) => bail!("a new house: {end:?}: {stderr}"),
        }
    }

    pub(in crate::crash) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub(super) fn aside(&self) -> PathBuf {
        self.folder.path().join("aside")
    }

    /// A new call, with the file that it needs. Its place in `deeds` is returned.
    pub(super) fn deed(&mut self, kind: Kind) -> anyhow::Result<usize> {
        let place = self.deeds.len();
        let deed = Deed::new(u64::try_from(place)?, kind);
        if let Some(text) = deed.before() {
            std::fs::write(self.workspace().join(deed.file()), text)?;
            self.effects.forget(&deed.file())?;
        }
        self.deeds.push(deed);
        Ok(place)
    }

    pub(super) fn call(&self, deed: usize, fate: Fate) -> anyhow::Result<Planned> {
        let args = self.deeds.get(deed).context("a call")?.args();
        Ok(Planned { sort: Sort::Call, args, deed: Some(deed), lease: None, fate })
    }

    pub(in crate::crash) fn resume(task: &str, fate: Fate) -> Planned {
        let args = vec!["resume".to_owned(), task.to_owned()];
        Planned { sort: Sort::Resume, args, deed: None, lease: None, fate }
    }

    /// The kinds of calls whose tool was not killed at both of its failpoints yet; all kinds if every tool was.
    pub(in crate::crash) fn sought<K: Copy>(&self, kinds: &[K], tool: impl Fn(K) -> &'static str) -> Vec<K> {
        let coverage = self.stage.coverage.lock().unwrap_or_else(PoisonError::into_inner);
        let sought: Vec<K> = kinds.iter().copied().filter(|kind| coverage.seeks_tool(tool(*kind))).collect();
        drop(coverage);
        if sought.is_empty() { kinds.to_vec() } else { sought }
    }

    pub(in crate::crash) fn draw(&self, sort: Sort, random: &mut Random) -> Fate {
        let drawn = self.stage.coverage.lock().unwrap_or_else(PoisonError::into_inner).draw(sort, random);
        // A program that starts is killed elsewhere; what matters here lies around the call.
        match drawn {
            // Whoever answers calls nothing.
            Fate::Moment(_) if sort != Sort::Answer && random.chance(DURING_PERCENT) => {
                Fate::After(random.moment(Duration::ZERO, DURING))
            }
            Fate::Moment(_) => Fate::Moment(random.moment(STARTED, LATEST)),
            drawn => drawn,
        }
    }

    /// Starts them all at once and stays until the last has ended.
    pub(super) fn watch_all(
        &mut self,
        planned: Vec<Planned>,
        company: Company,
        meanwhile: Meanwhile<'_>,
    ) -> anyhow::Result<Vec<Violation>> {
        let mut found = Vec::new();
        for (deed, seen) in self.watch_together(planned, meanwhile)? {
            found.extend(self.judge(deed, seen, company));
        }
        Ok(found)
    }

    /// The same without a judgement, in the order that was given.
    pub(in crate::crash) fn watch_together(
        &self,
        planned: Vec<Planned>,
        meanwhile: Meanwhile<'_>,
    ) -> anyhow::Result<Vec<(Option<usize>, Seen)>> {
        let ended: Vec<anyhow::Result<(Option<usize>, Seen)>> = std::thread::scope(|scope| {
            let start = |planned: Planned| scope.spawn(move || self.watch(planned, meanwhile));
            let watchers: Vec<_> = planned.into_iter().map(start).collect();
            let join = |watcher: std::thread::ScopedJoinHandle<'_, _>| {
                watcher.join().unwrap_or_else(|_| bail!("a watcher panicked"))
            };
            watchers.into_iter().map(join).collect()
        });
        interrupt::check()?;
        ended.into_iter().collect()
    }

    pub(in crate::crash) fn watch(
        &self,
        planned: Planned,
        meanwhile: Meanwhile<'_>,
    ) -> anyhow::Result<(Option<usize>, Seen)> {
        let Planned { sort, args, deed, lease, fate } = planned;
        let start = Start {
            sort,
            args,
            folder: self.workspace(),
            stdin: String::new(),
            environment: self.environment.clone(),
            faults: Faults { lease, without: self.stage.without.clone() },
            fate,
        };
        let number = self.sockets.fetch_add(1, Ordering::Relaxed);
        let socket = self.stage.sockets.join(number.to_string());
        let seen = watch(&self.stage.program, &socket, start, &self.stage.coverage, &mut || meanwhile())?;
        Ok((deed, seen))
    }

    /// What can be said of a process at once.
    pub(super) fn judge(&mut self, deed: Option<usize>, seen: Seen, company: Company) -> Vec<Violation> {
        let mut found: Vec<Violation> = verdict::ended(&seen, company, self.standing).into_iter().collect();
        found.extend(account::begins_with_a_commit(&seen));
        if let Some(deed) = deed.and_then(|place| self.deeds.get_mut(place)) {
            deed.begun |= seen.committed();
            deed.said_done |= seen.end == End::Exit(0);
        }
        self.trace.push(seen);
        found
    }

    pub(in crate::crash) fn ask(&self, args: &[&str]) -> anyhow::Result<(End, String, String)> {
        let mut command = Command::new(&self.stage.program);
        command.args(args).current_dir(self.workspace()).env_clear().envs(self.environment.iter().cloned());
        ask(command)
    }

    /// Lines of JSON from a command that must succeed; that it does not is a finding, not an error of ours.
    pub(in crate::crash) fn lines(&self, args: &[&str]) -> anyhow::Result<Result<Vec<Value>, Violation>> {
        let (end, stdout, stderr) = self.ask(args)?;
        if end != End::Exit(0) {
            let what = format!("`regent {}` ended with {end:?}: {}", args.join(" "), stderr.trim_end());
            return Ok(Err(Invariant::NoInternalError.violated(what)));
        }
        let lines: Result<Vec<Value>, _> = stdout.lines().map(serde_json::from_str).collect();
        Ok(Ok(lines.with_context(|| format!("what `{}` printed", args.join(" ")))?))
    }

    /// What `regent status` says is not over; or that it cannot say.
    pub(in crate::crash) fn unfinished(&self) -> anyhow::Result<Result<Vec<Unfinished>, Violation>> {
        let lines = match self.lines(&["status", "--json"])? {
            Ok(lines) => lines,
            Err(violation) => return Ok(Err(violation)),
        };
        let status = lines.first().context("a status")?;
        if status.pointer("/audit/verdict").and_then(Value::as_str) != Some("consistent") {
            return Ok(Err(Invariant::Chain.violated("`regent status` says that the audit is broken")));
        }
        let tasks = status.get("unfinished").and_then(Value::as_array).context("`unfinished`")?;
        let one = |line: &Value| {
            let task = line.get("task").and_then(Value::as_str)?.to_owned();
            let waits = line.get("status").and_then(Value::as_str) == Some("waiting");
            Some(Unfinished { task, file: file_of(line), waits })
        };
        Ok(Ok(tasks.iter().map(one).collect::<Option<_>>().context("tasks")?))
    }

    /// Where somebody is cut off in the middle, doing it again must show.
    pub(super) fn undo(&mut self, unfinished: &[Unfinished]) -> anyhow::Result<()> {
        self.effects.read()?;
        let (workspace, aside) = (self.workspace(), self.aside());
        for deed in &mut self.deeds {
            if unfinished.iter().any(|one| one.file.as_deref() == Some(&deed.file())) {
                deed.undo(&workspace, &aside)?;
            }
        }
        Ok(())
    }
}

/// The file that the call of a task is about, from its request.
pub(super) fn file_of(line: &Value) -> Option<String> {
    let request: Value = serde_json::from_str(line.get("request")?.as_str()?).ok()?;
    Some(request.pointer("/args/path")?.as_str()?.to_owned())
}
