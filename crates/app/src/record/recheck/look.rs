//! A look at one thing: every comparison is noted, and the lines are what is left of it.

use domain::{Digest, canonical};
use ledger::AuditEvent;
use ledger::records::{Blob, Salt};
use ledger::table::Record;
use ledger::value::{Kind, Value};
use serde::Serialize;

use super::{Again, Difference, Kept, Line};

/// The number of the code that decided something then, and that decides it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Nothing where it was not kept.
    pub(super) then: Option<u32>,
    pub(super) now: u32,
}

impl Rules {
    fn changed(self) -> bool {
        self.then != Some(self.now)
    }

    const fn again(self, differs: Option<Difference>) -> Again {
        Again::OtherRules { rules_then: self.then, rules_now: self.now, differs }
    }
}

#[derive(Debug)]
pub(super) struct Look {
    what: &'static str,
    id: String,
    tool: Option<String>,
    found: Vec<Again>,
    erased: bool,
    unkept: bool,
    /// The first that are not the same today.
    other: Option<Rules>,
}

impl Look {
    pub(super) fn at(what: &'static str, id: impl ToString) -> Self {
        Self {
            what,
            id: id.to_string(),
            tool: None,
            found: Vec::new(),
            erased: false,
            unkept: false,
            other: None,
        }
    }

    pub(super) fn tool(mut self, tool: impl ToString) -> Self {
        self.tool = Some(tool.to_string());
        self
    }

    /// Part of what is looked at was decided by these.
    pub(super) fn rules(&mut self, rules: Rules) {
        if rules.changed() {
            self.other.get_or_insert(rules);
        }
    }

    /// Something that no rules excuse.
    pub(super) fn compare(&mut self, field: impl ToString, then: impl ToString, now: impl ToString) {
        self.found.extend(difference(field, then, now).map(Again::Differs));
    }

    /// Something that follows from the deciding code.
    pub(super) fn compare_by(
        &mut self,
        rules: Rules,
        field: impl ToString,
        then: impl ToString,
        now: impl ToString,
    ) {
        let differs = difference(field, then, now);
        self.found.extend(differs.map(|differs| {
            if rules.changed() { rules.again(Some(differs)) } else { Again::Differs(differs) }
        }));
    }

    /// Two rows of one table, column by column; what a store gives is left out.
    pub(super) fn compare_rows<T: Record>(&mut self, rules: Option<Rules>, then: &T, now: &T) {
        for (field, then, now) in cells(then, now) {
            match rules {
                Some(rules) => self.compare_by(rules, field, then, now),
                None => self.compare(field, then, now),
            }
        }
    }

    pub(super) fn missing(&mut self, what: &str) {
        self.compare(what, "kept", "gone");
    }

    pub(super) fn erased(&mut self) {
        self.erased = true;
    }

    pub(super) fn unkept(&mut self) {
        self.unkept = true;
    }

    /// The body of a person, which may have been erased.
    pub(super) fn personal<'a, T>(&mut self, field: &str, body: &'a Kept<T>) -> Option<&'a T> {
        match body {
            Kept::There(body) => return Some(body),
            Kept::Gone => self.erased(),
            Kept::Changed => self.compare(field, "what its digest says", "something else"),
            Kept::Unreadable(why) => self.compare(field, "readable", why),
        }
        None
    }

    /// A body that is nobody's to erase.
    pub(super) fn public<'a, T>(&mut self, field: &str, body: &'a Kept<T>) -> Option<&'a T> {
        if matches!(body, Kept::Gone) {
            self.missing(field);
            return None;
        }
        self.personal(field, body)
    }

    /// A digest on the spine, and what it should be the digest of.
    pub(super) fn digest(
        &mut self,
        field: &str,
        recorded: Digest,
        content: &impl Serialize,
        salt: Option<&Salt>,
    ) {
        let Some(salt) = salt else { return self.erased() };
        match canonical::bytes(content) {
            Ok(bytes) => self.compare(field, recorded, Blob::personal(bytes, salt).hash),
            Err(error) => self.compare(field, recorded, error),
        }
    }

    /// What an audit entry repeats of its row.
    pub(super) fn audited_event(&mut self, entry: Option<&ledger::Entry>, event: &AuditEvent<'_>) {
        let detail = event.detail();
        for field in event.kind().compared() {
            self.audited(field, entry, &text(detail.get(*field)));
        }
    }

    /// What an audit entry says about a digest or a word on the spine.
    pub(super) fn audited(&mut self, field: &str, entry: Option<&ledger::Entry>, row: &impl ToString) {
        let Some(entry) = entry else { return self.compare("audit", "an entry", "none") };
        self.compare(format!("{field}, in the audit"), text(entry.detail.get(field)), row.to_string());
    }

    pub(super) fn end(self) -> Vec<Line> {
        let Self { what, id, tool, mut found, erased, unkept, other } = self;
        found.extend(erased.then_some(Again::Erased));
        found.extend(unkept.then_some(Again::Unkept));
        if found.is_empty() {
            found.push(other.map_or(Again::Same, |rules| rules.again(None)));
        }
        let line = |again| Line { what, id: id.clone(), short: String::new(), tool: tool.clone(), again };
        found.into_iter().map(line).collect()
    }
}

fn text(said: Option<&serde_json::Value>) -> String {
    let text = |said: &serde_json::Value| said.as_str().map_or_else(|| said.to_string(), String::from);
    said.map_or_else(|| "nothing".into(), text)
}

fn difference(field: impl ToString, then: impl ToString, now: impl ToString) -> Option<Difference> {
    let (then, now) = (then.to_string(), now.to_string());
    if then == now {
        return None;
    }
    let (then, now) = around(&then, &now);
    Some(Difference { field: field.to_string(), then, now })
}

/// Both texts from shortly before the place where they part, so that a long common beginning hides nothing.
fn around(then: &str, now: &str) -> (String, String) {
    const LONG: usize = 100;
    const BEFORE: usize = 20;
    if then.chars().count() <= LONG && now.chars().count() <= LONG {
        return (then.into(), now.into());
    }
    let common = then.chars().zip(now.chars()).take_while(|(a, b)| a == b).count();
    let from = common.saturating_sub(BEFORE);
    let part = |text: &str| {
        let begins = if from > 0 { "…" } else { "" };
        let ends = if text.chars().count() > from + LONG { "…" } else { "" };
        format!("{begins}{}{ends}", text.chars().skip(from).take(LONG).collect::<String>())
    };
    (part(then), part(now))
}

fn cells<T: Record>(then: &T, now: &T) -> Vec<(&'static str, String, String)> {
    let columns = T::TABLE.columns.iter().zip(then.row().into_iter().zip(now.row()));
    columns
        .filter(|(column, _)| column.kind != Kind::Seq)
        .map(|(column, (then, now))| (column.name, cell(then), cell(now)))
        .collect()
}

fn cell(value: Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => number.0.to_string(),
        Value::Text(text) => text,
        Value::Time(time) => time.to_string(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn a_long_common_beginning_hides_nothing() {
        let long = "x".repeat(500);
        let (then, now) = around(&format!("{long}deny"), &format!("{long}execute"));
        assert_eq!(then, format!("…{}deny", "x".repeat(20)));
        assert_eq!(now, format!("…{}execute", "x".repeat(20)));
    }
}
