//! What was asked of one house and what it promised: kept by the harness, which is not killed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::random::Random;
use super::seen::{Point, Seen, Sort};
use super::verdict::{Invariant, Violation};

/// A request, recognised by its answer: each has a workspace of its own, whose largest file bears its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Errand {
    pub(crate) number: u64,
    pub(crate) answer: String,
    /// Whether its first commit was seen; before that nothing was promised.
    pub(crate) begun: bool,
    /// How often its whole answer stood on the standard output of a process that delivered it.
    pub(crate) shown: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ack {
    pub(crate) id: String,
    /// How often it was said to be new: at most once, and as soon as everything was acknowledged exactly once.
    pub(crate) new: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Book {
    acks: BTreeMap<String, Ack>,
    /// Numbers that were sent and not acknowledged: they may be there or not.
    unsure: BTreeSet<u64>,
    /// Those of them that a process took with it: one of these may have been new without anybody hearing of it.
    unheard: BTreeSet<u64>,
    errands: BTreeMap<u64, Errand>,
    events: u64,
}

impl Book {
    pub(crate) fn acks(&self) -> impl Iterator<Item = (&str, &Ack)> {
        self.acks.iter().map(|(key, ack)| (key.as_str(), ack))
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        u64::try_from(self.acks.len()).unwrap_or(u64::MAX)
    }

    pub(crate) fn errands(&self) -> impl Iterator<Item = &Errand> {
        self.errands.values()
    }

    /// Numbers to send: new ones, some that were acknowledged, some of which nobody knows.
    pub(crate) fn draw(&mut self, lines: u64, random: &mut Random) -> Vec<u64> {
        let acknowledged: Vec<u64> = self.acks.keys().filter_map(|key| number(key)).collect();
        let unsure: Vec<u64> = self.unsure.iter().copied().collect();
        let mut drawn = Vec::new();
        for _ in 0..lines {
            let again = match random.below(100) {
                0..20 => random.pick(&acknowledged),
                20..40 => random.pick(&unsure),
                40..50 => random.pick(&drawn),
                _ => None,
            };
            let number = again.copied().unwrap_or_else(|| {
                self.events += 1;
                self.events
            });
            drawn.push(number);
        }
        self.unsure.extend(drawn.iter().filter(|number| !self.acks.contains_key(&key(**number))));
        drawn
    }

    pub(crate) fn errand(&mut self, answer: impl FnOnce(u64) -> String) -> u64 {
        let number = u64::try_from(self.errands.len()).unwrap_or(u64::MAX);
        self.errands.insert(number, Errand { number, answer: answer(number), begun: false, shown: 0 });
        number
    }

    /// Takes in what a process printed and did. `errand` is the one it was started for, where that is known.
    pub(crate) fn add(&mut self, seen: &Seen, sent: &[u64], errand: Option<u64>) -> Vec<Violation> {
        match seen.sort {
            Sort::Ingest => return self.add_acks(seen, sent),
            Sort::Tick | Sort::Call | Sort::Halt | Sort::Answer => return Vec::new(),
            Sort::Run | Sort::Resume => {}
        }
        if let Some(errand) = errand.and_then(|number| self.errands.get_mut(&number)) {
            errand.begun |= seen.committed();
        }
        self.add_answer(seen, errand).into_iter().collect()
    }

    /// The answers come in the order of the lines. Once the process was killed, the last may be cut off.
    fn add_acks(&mut self, seen: &Seen, sent: &[u64]) -> Vec<Violation> {
        let whole = seen.stdout.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let lines: Vec<&str> = whole.collect();
        let mut found: Vec<String> =
            sent.iter().zip(&lines).filter_map(|(number, line)| self.add_ack(*number, line)).collect();
        if lines.len() > sent.len() || (!seen.was_interrupted() && lines.len() != sent.len()) {
            found.push(format!("{} lines were sent and {} answered", sent.len(), lines.len()));
        }
        self.unheard.extend(sent.iter().skip(lines.len()));
        found.into_iter().map(|what| Invariant::Acknowledged.violated(what)).collect()
    }

    fn add_ack(&mut self, number: u64, line: &str) -> Option<String> {
        let key = key(number);
        let told: Value = serde_json::from_str(line).unwrap_or_default();
        let text = |field: &str| told.get(field).and_then(Value::as_str);
        let (Some(said), Some(id), Some(new)) =
            (text("key"), text("id"), told.get("new").and_then(Value::as_bool))
        else {
            return Some(format!("`{key}` was answered with {}", line.trim_end()));
        };
        self.unsure.remove(&number);
        let ack = self.acks.entry(key.clone()).or_insert_with(|| Ack { id: id.to_owned(), new: 0 });
        ack.new += u64::from(new);
        match () {
            () if said != key => Some(format!("`{key}` was acknowledged as `{said}`")),
            () if id != ack.id => Some(format!("`{key}` was acknowledged as {} and as {id}", ack.id)),
            () if ack.new > 1 => Some(format!("`{key}` was new {} times", ack.new)),
            () => None,
        }
    }

    /// After a round: whatever was only ever acknowledged as known, though nothing of it was ever cut off, was never new.
    pub(crate) fn never_new(&self) -> Vec<Violation> {
        let silent = self.acks.iter().filter(|(key, ack)| {
            ack.new == 0 && number(key).is_none_or(|number| !self.unheard.contains(&number))
        });
        silent.map(|(key, _)| Invariant::Acknowledged.violated(format!("`{key}` was never new"))).collect()
    }

    /// Standard output holds one whole answer or the beginning of one, and a process that ended well a whole one.
    fn add_answer(&mut self, seen: &Seen, errand: Option<u64>) -> Option<Violation> {
        let ours = |number: u64| errand.is_none_or(|errand| errand == number);
        let mut candidates = self.errands.values_mut().filter(|errand| ours(errand.number));
        if let Some(errand) = candidates.find(|errand| errand.answer == seen.stdout) {
            errand.shown += u64::from(!seen.only_repeated());
            let ran = seen.points.iter().filter_map(Point::running).any(|call| !call.starts_with("duty:"));
            return (ran && seen.only_repeated())
                .then(|| Invariant::Once.violated("something ran for a task that was over"));
        }
        let beginning = self.errands.values().any(|errand| errand.answer.starts_with(&seen.stdout));
        let delivers = seen.points.iter().filter_map(Point::running).any(|call| call.starts_with("deliver "));
        if !beginning || (delivers && !seen.was_interrupted()) {
            return Some(Invariant::Finished.violated(format!("a wrong answer: {:?}", seen.stdout)));
        }
        None
    }
}

pub(crate) fn key(number: u64) -> String {
    format!("crash:{number}")
}

fn number(key: &str) -> Option<u64> {
    key.rsplit(':').next()?.parse().ok()
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
