//! One house in which people are asked: what it says of its questions and tasks, and who is started in it.

use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::super::account;
use super::super::aim::Fate;
use super::super::calls::site::{Meanwhile, Planned, Site, Unfinished};
use super::super::random::Random;
use super::super::seen::{End, Seen, Sort};
use super::super::store::Server;
use super::super::verdict::{Company, Invariant, Violation};
use super::case::{Case, Kind};
use super::cut::{Step, sound};
use super::report::Approvals;
use super::verdict::{self, Asked};
use super::world::World;

/// How long a question stands in a round in which nobody is to answer in time: long enough to be asked.
const SHORT: Duration = Duration::from_secs(3);
const OPEN_FOR: &str = "REGENT_APPROVALS_TIME";

#[derive(Debug)]
pub(in crate::crash) struct Office<'a> {
    pub(super) site: Site<'a>,
    /// For so many it is used.
    pub(super) rounds: u64,
    cases: u64,
    pub(super) tally: Approvals,
}

/// A task that waits for an answer to one question.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) task: String,
    pub(super) question: String,
}

impl<'a> Office<'a> {
    pub(super) fn new(site: Site<'a>, rounds: u64) -> Self {
        Self { site, rounds, cases: 0, tally: Approvals::default() }
    }

    /// A new call to be, with its files.
    pub(super) fn case(&mut self, random: &mut Random) -> anyhow::Result<Case> {
        let kinds = self.site.sought(&Kind::WEIGHTED, |(kind, _)| kind.tool());
        let kind = random.weighted(&kinds).map_or(Kind::Delete, |kind| *kind);
        let case = Case::new(self.cases, kind);
        self.cases += 1;
        case.undo(&self.site.workspace())?;
        for file in case.files() {
            self.site.effects.forget(&file)?;
        }
        Ok(case)
    }

    pub(super) fn process(&self, sort: Sort, args: Vec<String>, fate: Fate) -> Planned {
        Planned { sort, args, deed: None, lease: None, fate }
    }

    pub(super) fn resume(&self, task: &str, fate: Fate) -> Planned {
        self.process(Sort::Resume, vec!["resume".to_owned(), task.to_owned()], fate)
    }

    /// Starts them all at once, stays until the last has ended, and judges what can be said of each at once. Answers are
    /// judged together, by [`super::answers`].
    pub(super) fn watch(
        &mut self,
        planned: Vec<Planned>,
        company: Company,
        meanwhile: Meanwhile<'_>,
    ) -> Step<Vec<Seen>> {
        let (mut all, mut found) = (Vec::new(), Vec::new());
        for (_, seen) in self.site.watch_together(planned, meanwhile)? {
            found.extend(self.witnessed(&seen, company));
            all.push(seen);
        }
        sound(found)?;
        Ok(all)
    }

    pub(super) fn witnessed(&mut self, seen: &Seen, company: Company) -> Vec<Violation> {
        self.site.trace.push(seen.clone());
        let ended = if seen.sort == Sort::Answer { None } else { verdict::ended(seen, company) };
        ended.into_iter().chain(account::begins_with_a_commit(seen)).collect()
    }

    /// The task of a case, as long as it is not over.
    pub(super) fn unfinished(&self, case: &Case) -> Step<Option<Unfinished>> {
        let of_case = |one: &Unfinished| one.file.as_deref() == Some(&case.file());
        Ok(self.site.unfinished()??.into_iter().find(of_case))
    }

    /// The one question of a task that is open.
    pub(super) fn question(&self, task: &str) -> Step<Option<String>> {
        let lines = self.site.lines(&["approvals", "list", "--json"])??;
        let text = |line: &Value, field: &str| line.get(field).and_then(Value::as_str).map(str::to_owned);
        let ours = lines.iter().filter(|line| text(line, "task").as_deref() == Some(task));
        let mut ids =
            ours.map(|line| text(line, "id")).collect::<Option<Vec<_>>>().context("the ids of questions")?;
        let first = ids.pop();
        if !ids.is_empty() {
            let what = format!("{task} has {} open questions", ids.len() + 1);
            return Err(Invariant::OneAnswer.violated(what).into());
        }
        Ok(first)
    }

    /// Every question of a task as it is on record, oldest first.
    pub(super) fn asked(&self, task: &str) -> anyhow::Result<Vec<Asked>> {
        let query = format!(
            "SELECT id, status, COALESCE(fate, '') FROM {{approval_queue}} WHERE task_id = '{task}' ORDER BY created_at"
        );
        let rows = Server::select(self.site.server, &self.site.environment, &query)?;
        let asked = |row: &str| {
            let mut cells = row.split('|').map(str::to_owned);
            Some(Asked { id: cells.next()?, status: cells.next()?, fate: cells.next()? })
        };
        rows.lines().map(asked).collect::<Option<_>>().context("what is on record of questions")
    }

    /// The ends of a task's calls, but for the one that hands its result over.
    pub(super) fn calls(&self, task: &str) -> anyhow::Result<Vec<String>> {
        let query = format!(
            "SELECT status FROM {{tool_calls}} WHERE task_id = '{task}' AND tool_id <> 'deliver' ORDER BY id"
        );
        let rows = Server::select(self.site.server, &self.site.environment, &query)?;
        Ok(rows.lines().map(str::to_owned).collect())
    }

    /// What is asked from here on stands for a short while only, or as long as usual.
    pub(super) fn open_for_short(&mut self, short: bool) {
        self.site.environment.retain(|(name, _)| name != OPEN_FOR);
        if short {
            self.site.environment.push((OPEN_FOR.to_owned(), format!("{}s", SHORT.as_secs())));
        }
    }

    /// The world becomes another.
    pub(super) fn turn(&self, world: World, case: &mut Case) -> anyhow::Result<()> {
        let tool = case.tool();
        match world {
            World::Still => Ok(()),
            World::Off => self.does(&["tools", "disable", tool]),
            World::OffAndOn => {
                self.does(&["tools", "disable", tool])?;
                self.does(&["tools", "enable", tool])
            }
            World::Level => self.does(&["tools", "level", tool, "1"]),
            World::Content => Ok(case.spoil(&self.site.workspace())?),
            World::Overdue => {
                std::thread::sleep(SHORT + SHORT / 10);
                Ok(())
            }
        }
    }

    /// And as it was, for the next case.
    pub(super) fn turn_back(&self, world: World, case: &Case) -> anyhow::Result<()> {
        match world {
            World::Off => self.does(&["tools", "enable", case.tool()]),
            World::Level => self.does(&["tools", "level", case.tool(), "2"]),
            World::Still | World::OffAndOn | World::Content | World::Overdue => Ok(()),
        }
    }

    fn does(&self, args: &[&str]) -> anyhow::Result<()> {
        match self.site.ask(args)? {
            (End::Exit(0), ..) => Ok(()),
            (end, _, stderr) => bail!("`regent {}`: {end:?}: {stderr}", args.join(" ")),
        }
    }
}
