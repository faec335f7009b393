//! `tool-access.json`: the one switch per tool. The environment may only switch off.

use std::collections::{BTreeMap, BTreeSet};

use domain::call::ToolId;
use serde::{Deserialize, Serialize};

use crate::alias;

/// Whether a tool is switched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    #[default]
    On,
    /// By the file.
    Off,
    OffByEnvironment,
    /// Nobody can know: the file cannot be read.
    Unreadable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    enabled: bool,
}

/// Every switch as it stands now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    file: BTreeMap<ToolId, State>,
    environment: BTreeSet<ToolId>,
    unreadable: Option<String>,
}

impl Switches {
    /// What the file says; nothing there is no file, and then everything is on.
    #[must_use]
    pub fn read(file: Option<&str>) -> Self {
        let Some(text) = file else { return Self::default() };
        match parse(text) {
            Ok(file) => Self { file, ..Self::default() },
            Err(why) => Self::unreadable(why),
        }
    }

    /// Nothing may run until somebody has put it right.
    #[must_use]
    pub fn unreadable(why: String) -> Self {
        Self { unreadable: Some(why), ..Self::default() }
    }

    /// A list of names, separated by commas. If one of them can be none, nobody knows what was meant.
    #[must_use]
    pub fn without(mut self, list: &str) -> Self {
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match alias::resolve(name) {
                Some(id) => drop(self.environment.insert(id)),
                None => {
                    let why = format!("REGENT_TOOLS_OFF: `{name}` cannot be the name of a tool");
                    self.unreadable.get_or_insert(why);
                }
            }
        }
        self
    }

    #[must_use]
    pub fn of(&self, tool: &ToolId) -> Switch {
        if self.unreadable.is_some() {
            Switch::Unreadable
        } else if self.environment.contains(tool) {
            Switch::OffByEnvironment
        } else if self.file.get(tool).is_some_and(|state| !state.enabled) {
            Switch::Off
        } else {
            Switch::On
        }
    }

    /// Of a tool and of the function behind it: what is off under one name is off under every other.
    #[must_use]
    pub fn of_both(&self, tool: &ToolId, behind: Option<&ToolId>) -> Switch {
        match self.of(tool) {
            Switch::On => behind.map_or(Switch::On, |behind| self.of(behind)),
            off => off,
        }
    }

    /// The tools that the file names, known or not.
    pub fn named(&self) -> impl Iterator<Item = &ToolId> {
        self.file.keys()
    }

    /// Why nobody can know, if so.
    #[must_use]
    pub fn mistake(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// The file with one switch turned.
    ///
    /// # Errors
    /// If what is there cannot be read: then nothing is written over it.
    pub fn turned(file: Option<&str>, tool: &ToolId, enabled: bool) -> Result<String, String> {
        let mut states = file.map_or_else(|| Ok(BTreeMap::new()), parse)?;
        states.insert(tool.clone(), State { enabled });
        serde_json::to_string_pretty(&states).map(|text| text + "\n").map_err(|error| error.to_string())
    }
}

fn parse(text: &str) -> Result<BTreeMap<ToolId, State>, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let entries = Entries::deserialize(&mut reader).map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    let mut states = BTreeMap::new();
    for (name, state) in entries.0 {
        let id = alias::resolve(&name).ok_or_else(|| format!("`{name}` cannot be the name of a tool"))?;
        // Twice, and perhaps differently: nobody knows what was meant.
        if states.insert(id, state).is_some() {
            return Err(format!("`{name}` stands there twice"));
        }
    }
    Ok(states)
}

/// The entries as they stand there, doubles included.
struct Entries(Vec<(String, State)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> serde::de::Visitor<'de> for All {
            type Value = Entries;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object like {\"write_file\": {\"enabled\": false}}")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(All)
    }
}

#[cfg(test)]
mod tests {
    use super::{Switch, Switches};

    fn switch(file: Option<&str>, environment: &str, tool: &str) -> Switch {
        Switches::read(file).without(environment).of(&tool.parse().unwrap())
    }

    #[test]
    fn on_unless_somebody_switched_it_off_and_off_if_nobody_knows() {
        let off = r#"{"write_file": {"enabled": false}, "file:delete": {"enabled": false}, "calc": {"enabled": true}}"#;
        let table = [
            (None, "", "write_file", Switch::On),
            (Some("{}"), "", "write_file", Switch::On),
            (Some(off), "", "write_file", Switch::Off),
            (Some(off), "", "delete_file", Switch::Off),
            (Some(off), "", "calc", Switch::On),
            (Some(off), "calc", "calc", Switch::OffByEnvironment),
            (None, " file:read , shell", "read_file", Switch::OffByEnvironment),
            (None, "write_file calc", "hash", Switch::Unreadable),
            (None, "*", "hash", Switch::Unreadable),
            (Some(""), "", "calc", Switch::Unreadable),
            (Some("[]"), "", "calc", Switch::Unreadable),
            (Some(r#"{"calc": {"enabled": "no"}}"#), "", "calc", Switch::Unreadable),
            (Some(r#"{"calc": {"enabled": true, "x": 1}}"#), "", "calc", Switch::Unreadable),
            (Some(r#"{"Ca lc": {"enabled": true}}"#), "", "calc", Switch::Unreadable),
            (
                Some(r#"{"calc": {"enabled": false}, "calc": {"enabled": true}}"#),
                "",
                "calc",
                Switch::Unreadable,
            ),
            (
                Some(r#"{"file:read": {"enabled": false}, "read_file": {"enabled": true}}"#),
                "",
                "calc",
                Switch::Unreadable,
            ),
            (Some("{} trailing"), "", "calc", Switch::Unreadable),
        ];
        for (file, environment, tool, expected) in table {
            assert_eq!(switch(file, environment, tool), expected, "{file:?} {environment} {tool}");
        }
    }

    #[test]
    fn a_switch_is_turned_and_the_others_stay() {
        let tool = "calc".parse().unwrap();
        let once = Switches::turned(Some(r#"{"hash": {"enabled": false}}"#), &tool, false).unwrap();
        assert_eq!(
            once,
            "{\n  \"calc\": {\n    \"enabled\": false\n  },\n  \"hash\": {\n    \"enabled\": false\n  }\n}\n"
        );
        let back = Switches::turned(Some(&once), &tool, true).unwrap();
        assert_eq!(Switches::read(Some(&back)).of(&tool), Switch::On);
        assert!(Switches::turned(Some("{"), &tool, true).is_err());
    }
}
