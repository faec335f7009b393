//! A house whose work is over is asked about every call in it, and its answers are compared with what was counted.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use serde_json::Value;

use super::super::seen::End;
use super::super::store::Server;
use super::super::verdict::{Invariant, Violation};
use super::site::{Site, file_of};
use super::verdict::{self, NOBODY_KNOWS, Outcome, Record};

/// All there are.
pub(super) const EVERYTHING: &str = "100000000";
/// What is left open; what was used, at most by one day, and by how many days; what the calls hold.
const COUNTS: &str = "SELECT 'started', COUNT(*) FROM {tool_calls} WHERE status = 'started' \
     UNION ALL SELECT 'used', COALESCE(SUM(used), 0) FROM {budgets} WHERE account LIKE 'day:%' AND unit = 'calls' \
     UNION ALL SELECT 'most', COALESCE(MAX(used), 0) FROM {budgets} WHERE account LIKE 'day:%' AND unit = 'calls' \
     UNION ALL SELECT 'days', COUNT(*) FROM {budgets} WHERE account LIKE 'day:%' AND unit = 'calls' \
     UNION ALL SELECT 'held', COUNT(*) FROM {tool_calls} WHERE status <> 'refused' AND reserved IS NOT NULL";

const CALLS: &str = "SELECT task_id, id, status FROM {tool_calls} WHERE tool_id <> 'deliver'";

/// What came of the calls of one house.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) effects: u64,
    pub(super) violations: Vec<Violation>,
}

impl Site<'_> {
    /// Everything that can be asked of a house whose work is over.
    pub(super) fn check(&self) -> anyhow::Result<Findings> {
        let mut findings = Findings::default();
        match self.records()? {
            Err(violation) => findings.violations.push(violation),
            Ok(records) => self.compare(&records, &mut findings)?,
        }
        let (end, stdout, stderr) = self.ask(&["audit", "verify", "--complete"])?;
        if end != End::Exit(0) || !stdout.starts_with("consistent") {
            let what = format!("{end:?}: {}{}", stdout.trim_end(), stderr.trim_end());
            findings.violations.push(Invariant::Chain.violated(what));
        }
        let refused = findings.outcomes.contains(&Outcome::Refused);
        findings.violations.extend(self.counts(refused)?);
        Ok(findings)
    }

    fn compare(&self, records: &BTreeMap<String, Record>, findings: &mut Findings) -> anyhow::Result<()> {
        let effects = self.effects.all()?;
        for deed in &self.deeds {
            let (record, count) = (records.get(&deed.file()), deed.count(&effects));
            findings.effects += count;
            if !deed.fits(&self.workspace(), count) {
                let what = format!("`{}` does not look like {count} effects", deed.file());
                findings.violations.push(Invariant::Once.violated(what));
            }
            match verdict::outcome(deed, record, count) {
                Err(violation) => findings.violations.push(violation),
                Ok(outcome) => {
                    if let (Outcome::Unknown(_), Some(record)) = (outcome, record) {
                        findings.violations.extend(self.reported(record)?);
                    }
                    findings.outcomes.push(outcome);
                }
            }
        }
        let files: BTreeSet<String> = self.deeds.iter().map(super::deed::Deed::file).collect();
        let stray = effects.iter().filter(|effect| !files.contains(&effect.name));
        findings.violations.extend(
            stray.map(|effect| Invariant::Once.violated(format!("nobody asked for `{}`", effect.name))),
        );
        findings.violations.extend(self.ended_once(records)?);
        Ok(())
    }

    /// What is on record about the call on each file.
    fn records(&self) -> anyhow::Result<Result<BTreeMap<String, Record>, Violation>> {
        let lines = match self.lines(&["tasks", "list", "--json", "--limit", EVERYTHING])? {
            Ok(lines) => lines,
            Err(violation) => return Ok(Err(violation)),
        };
        let rows = Server::select(self.server, &self.environment, CALLS)?;
        let cells = |row: &str| -> Option<(String, (String, String))> {
            let mut cells = row.split('|').map(str::to_owned);
            Some((cells.next()?, (cells.next()?, cells.next()?)))
        };
        let mut calls: BTreeMap<String, (String, String)> = rows.lines().filter_map(cells).collect();
        let mut records = BTreeMap::new();
        for line in &lines {
            let task = text(line, "task").context("a task")?.to_owned();
            let call = calls.remove(&task);
            if let Some(file) = file_of(line)
                && records.insert(file.clone(), Record { task, call }).is_some()
            {
                let what = format!("two tasks for the one call on `{file}`");
                return Ok(Err(Invariant::Once.violated(what)));
            }
        }
        Ok(Ok(records))
    }

    /// Whoever asks is told: by what is shown of the task, and by whoever goes on with it, in words and not with 0.
    fn reported(&self, record: &Record) -> anyhow::Result<Vec<Violation>> {
        let mut found = Vec::new();
        match self.lines(&["tasks", "show", &record.task, "--json"])? {
            Err(violation) => found.push(violation),
            Ok(shown) => {
                let calls = shown.first().and_then(|task| task.get("calls")?.as_array());
                let shown = calls.into_iter().flatten().any(|call| text(call, "status") == Some("unknown"));
                let what =
                    || Invariant::Reported.violated(format!("{} does not show `unknown`", record.task));
                found.extend((!shown).then(what));
            }
        }
        let (end, _, stderr) = self.ask(&["resume", &record.task])?;
        let told = matches!(end, End::Exit(code) if code != 0) && stderr.contains(NOBODY_KNOWS);
        let what = format!("nobody knows what {} came to, and it says ({end:?}): {stderr}", record.task);
        found.extend((!told).then(|| Invariant::Reported.violated(what)));
        Ok(found)
    }

    /// The audit has one end of every call, and it is the one that stands in its row.
    fn ended_once(&self, records: &BTreeMap<String, Record>) -> anyhow::Result<Vec<Violation>> {
        let lines = match self.lines(&["audit", "list", "--json", "--limit", EVERYTHING])? {
            Ok(lines) => lines,
            Err(violation) => return Ok(vec![violation]),
        };
        let mut found = Vec::new();
        for (call, status) in records.values().filter_map(|record| record.call.as_ref()) {
            let of_call = lines.iter().filter(|line| text(line, "subject") == Some(call));
            let ends: Vec<&str> = of_call
                .filter_map(|line| text(line, "kind")?.strip_prefix("call."))
                .filter(|kind| *kind != "started")
                .collect();
            if ends != [status.as_str()] {
                let what = format!("{call} is {status}, and the audit says it ended {ends:?}");
                found.push(Invariant::Reported.violated(what));
            }
        }
        Ok(found)
    }

    /// Nothing is left open, and the budget adds up.
    fn counts(&self, refused: bool) -> anyhow::Result<Vec<Violation>> {
        let rows = Server::select(self.server, &self.environment, COUNTS)?;
        let count = |name: &str| -> anyhow::Result<u64> {
            let mut rows = rows.lines().filter_map(|row| row.split_once('|'));
            let (_, count) = rows.find(|(row, _)| *row == name).with_context(|| format!("`{name}`"))?;
            Ok(count.parse()?)
        };
        let (used, most, held, limit) = (count("used")?, count("most")?, count("held")?, self.limit);
        let mut found = Vec::new();
        if count("started")? > 0 {
            found.push(Invariant::Finished.violated("everything is over, and a call is still `started`"));
        }
        if used != held {
            found.push(
                Invariant::Budget.violated(format!("{used} calls are paid for, {held} hold something")),
            );
        }
        if most > limit {
            found.push(Invariant::Budget.violated(format!("{most} calls of {limit} were used")));
        }
        // At midnight there is a new budget.
        if refused && most < limit && count("days")? < 2 {
            found.push(Invariant::Budget.violated(format!("refused, and {most} calls of {limit} were used")));
        }
        Ok(found)
    }
}

pub(super) fn text<'a>(line: &'a Value, field: &str) -> Option<&'a str> {
    line.get(field).and_then(Value::as_str)
}
