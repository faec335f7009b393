//! A policy as a file would say it. What is shown can be loaded again, and says the same.

use std::fmt;

use domain::budget::Unit;
use serde_json::{Map, Value, json};

use super::set::Listed;
use super::{Mode, Vpol};

impl Listed {
    /// The fields of a file, with the id. `applies_to` is one thing there.
    #[must_use]
    pub fn written(&self) -> Value {
        let Vpol { name, mode, up_to, governs, .. } = &self.vpol;
        let mut applies_to = json!(self.applies_to);
        if let (Value::Object(applies_to), Value::Object(governs)) = (&mut applies_to, json!(governs)) {
            applies_to.extend(governs);
        }
        json!({
            "id": self.vpol.id(), "name": name, "applies_to": applies_to, "mode": mode, "up_to": up_to,
            "rules": self.rules(), "priority": self.priority,
        })
    }

    fn rules(&self) -> Value {
        let rules = &self.vpol.rules;
        let mut written = json!(rules);
        if let Some(budget) = written.get_mut("budget") {
            let amount =
                |(unit, amount): (&Unit, &u64)| (unit.name().to_owned(), unit.written(*amount).into());
            *budget = Value::Object(rules.budget.iter().map(amount).collect::<Map<String, Value>>());
        }
        written
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = self.written();
        writeln!(f, "- name: {}", self.vpol.name)?;
        part(f, "applies_to", &written)?;
        writeln!(f, "  mode: {}", self.vpol.mode.name())?;
        if self.vpol.mode != Mode::Monitor {
            writeln!(f, "  up_to: {}", self.vpol.up_to)?;
        }
        if !self.vpol.rules.is_empty() {
            part(f, "rules", &written)?;
        }
        write!(f, "  priority: {}", self.priority)
    }
}

fn part(f: &mut fmt::Formatter<'_>, name: &str, of: &Value) -> fmt::Result {
    match of.get(name).and_then(Value::as_object).filter(|fields| !fields.is_empty()) {
        None => writeln!(f, "  {name}: {{}}"),
        Some(fields) => {
            writeln!(f, "  {name}:")?;
            fields.iter().try_for_each(|(field, value)| writeln!(f, "    {field}: {value}"))
        }
    }
}
