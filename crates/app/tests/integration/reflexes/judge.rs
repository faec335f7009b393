//! What an answer must hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::reflexes::folder::Folder;

/// All that is given has to hold.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    number: Option<Value>,
    numbers: Option<Vec<Value>>,
    /// Exactly these files or folders are named.
    names: Option<Vec<String>>,
    #[serde(default)]
    ordered: bool,
    /// Lines that are shown, in this order.
    lines: Option<Vec<String>>,
    says: Option<Vec<String>>,
    yes: Option<bool>,
    groups: Option<BTreeMap<String, u64>>,
    after: Option<After>,
}

#[derive(Deserialize)]
struct After {
    #[serde(default)]
    present: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    absent: Vec<String>,
}

impl Expected {
    pub(crate) const fn changes(&self) -> bool {
        self.after.is_some()
    }

    pub(crate) fn judge(&self, answer: &str, folder: &Folder, root: &Path) -> Result<(), String> {
        let numbers = self.number.iter().chain(self.numbers.iter().flatten());
        for number in numbers {
            if !has_number(answer, number) {
                return Err(format!("no {number}"));
            }
        }
        if let Some(names) = &self.names {
            self.named(names, answer, folder)?;
        }
        in_order(answer, self.lines.as_deref().unwrap_or_default())?;
        for text in self.says.iter().flatten() {
            if !answer.contains(text.as_str()) {
                return Err(format!("no `{text}`"));
            }
        }
        if self.yes == Some(answer.starts_with("No")) {
            return Err(format!("yes: {:?}", self.yes));
        }
        for (group, count) in self.groups.iter().flatten() {
            let row = |line: &str| line.trim_start_matches('.') == format!("{group}: {count}");
            if !answer.lines().any(row) {
                return Err(format!("no group {group}: {count}"));
            }
        }
        let rows = answer
            .lines()
            .filter(|line| line.rsplit_once(": ").is_some_and(|(_, n)| n.parse::<u64>().is_ok()));
        if let Some(groups) = &self.groups
            && rows.count() != groups.len()
        {
            return Err("more or fewer groups".into());
        }
        self.after.as_ref().map_or(Ok(()), |after| after.judge(root))
    }

    /// The files that the answer names, each line's first one, in the order in which they stand there.
    fn named(&self, expected: &[String], answer: &str, folder: &Folder) -> Result<(), String> {
        let made = expected.iter().map(String::as_str);
        let known: Vec<&str> = folder.names().into_iter().chain(made).collect();
        let mut found: Vec<&str> = Vec::new();
        for line in answer.lines() {
            let named = |name: &&&str| {
                let whole = line
                    .strip_prefix(**name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ', '.']));
                let inside = line.contains(&format!(" is {name} ("))
                    || line.contains(&format!(": {name}."))
                    || line.contains(&format!(": {name} ("));
                whole || inside
            };
            let longest = known.iter().filter(named).max_by_key(|name| name.len());
            found.extend(longest.filter(|name| {
                folder.is_file(name)
                    || expected.iter().any(|made| made == **name)
                    || line.trim_end_matches('.').ends_with(**name)
            }));
        }
        let (mut one, mut other) = (found.clone(), expected.iter().map(String::as_str).collect::<Vec<_>>());
        if !self.ordered {
            one.sort_unstable();
            one.dedup(); // listed, and then deleted
            other.sort_unstable();
        }
        if one == other { Ok(()) } else { Err(format!("names {found:?} instead of {expected:?}")) }
    }
}

impl After {
    fn judge(&self, root: &Path) -> Result<(), String> {
        for (path, texts) in &self.present {
            let content = fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
            if let Some(missing) = texts.iter().find(|text| !content.contains(text.as_str())) {
                return Err(format!("{path} lacks `{missing}`: {content}"));
            }
        }
        match self.absent.iter().find(|path| root.join(path).exists()) {
            Some(path) => Err(format!("{path} is still there")),
            None => Ok(()),
        }
    }
}

/// The number stands by itself: 13 is not in 130, nor in 1.13. An answer that begins with `No` says nought.
fn has_number(answer: &str, number: &Value) -> bool {
    let wanted = number.to_string();
    let wanted = wanted.strip_suffix(".0").unwrap_or(&wanted);
    let parts = answer.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    parts
        .map(|part| part.trim_end_matches('.'))
        .any(|part| part == wanted || part.trim_start_matches('-') == wanted)
        || (wanted == "0" && answer.starts_with("No "))
}

fn in_order(answer: &str, lines: &[String]) -> Result<(), String> {
    let mut rest = answer.lines();
    for line in lines {
        if !rest.any(|shown| shown == line || shown.ends_with(&format!(": {}", line.trim()))) {
            return Err(format!("no line `{line}`"));
        }
    }
    Ok(())
}
