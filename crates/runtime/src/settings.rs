//! Settings in layers: defaults ← file ← environment ← flags. Every value knows where it came from, and a key
//! that nobody knows is an error with a suggestion.

use std::collections::BTreeMap;

use serde::Serialize;

/// One setting: its name, what it may be, and what it is for. The reference page is made from this table.
#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub default: &'static str,
    pub values: Values,
    pub about: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub enum Values {
    Text,
    OneOf(&'static [&'static str]),
    TimeZone,
}

pub const KEYS: [Key; 3] = [
    Key {
        name: "owner.name",
        default: "",
        values: Values::Text,
        about: "how you want to be called; empty: your user name",
    },
    Key {
        name: "time.zone",
        default: "system",
        values: Values::TimeZone,
        about: "the zone times are shown in: `system`, or a name like `Australia/Sydney`",
    },
    Key {
        name: "ui.color",
        default: "auto",
        values: Values::OneOf(&["auto", "always", "never"]),
        about: "colours on a terminal; `NO_COLOR` and `--color` count before it",
    },
];

/// Variables that begin like settings and are none.
const NOT_SETTINGS: [&str; 3] = ["REGENT_HOME", "REGENT_SUITES", "REGENT_FAULTS"];

impl Key {
    /// `ui.color` is `REGENT_UI_COLOR`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("REGENT_{}", self.name.replace('.', "_").to_uppercase())
    }

    fn check(&self, value: &str) -> Result<(), String> {
        match self.values {
            Values::Text => Ok(()),
            Values::OneOf(words) if words.contains(&value) => Ok(()),
            Values::OneOf(words) => Err(format!("`{value}` is not one of {}", words.join(", "))),
            Values::TimeZone if value == "system" || jiff::tz::TimeZone::get(value).is_ok() => Ok(()),
            Values::TimeZone => Err(format!("`{value}` is not a time zone; write one like Europe/Berlin")),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    pub value: String,
    pub origin: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Settings {
    values: BTreeMap<&'static str, Setting>,
}

impl Default for Settings {
    fn default() -> Self {
        let default = |key: &Key| (key.name, Setting { value: key.default.into(), origin: "default".into() });
        Self { values: KEYS.iter().map(default).collect() }
    }
}

/// What the layers are made of; reading them is the edge's business.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The settings file: its name and its text.
    pub file: Option<(String, String)>,
    /// The whole environment; what does not begin with `REGENT_` is passed over.
    pub environment: Vec<(String, String)>,
    /// Settings that flags gave.
    pub flags: Vec<(&'static str, String)>,
}

impl Settings {
    /// # Errors
    /// Every mistake in every layer, each saying where it is and what to do.
    pub fn layer(layers: &Layers) -> Result<Self, Vec<String>> {
        let mut settings = Self::default();
        let mut mistakes = Vec::new();
        if let Some((name, text)) = &layers.file {
            match text.parse::<toml::Table>() {
                Ok(table) => {
                    for (key, value) in flatten("", &table) {
                        settings.set(&key, value, name, &mut mistakes);
                    }
                }
                Err(error) => mistakes.push(format!("{name}: {}", error.to_string().trim_end())),
            }
        }
        for (variable, value) in &layers.environment {
            if !variable.starts_with("REGENT_") || NOT_SETTINGS.contains(&variable.as_str()) {
                continue;
            }
            match KEYS.iter().find(|key| key.variable() == *variable) {
                Some(key) => {
                    settings.set(key.name, value.clone(), &format!("environment {variable}"), &mut mistakes)
                }
                None => {
                    let known: Vec<String> =
                        KEYS.iter().map(Key::variable).chain(NOT_SETTINGS.map(String::from)).collect();
                    mistakes.push(unknown("the environment", variable, known.iter().map(String::as_str)));
                }
            }
        }
        for (name, value) in &layers.flags {
            settings.set(name, value.clone(), "flag", &mut mistakes);
        }
        if mistakes.is_empty() { Ok(settings) } else { Err(mistakes) }
    }

    fn set(&mut self, name: &str, value: String, origin: &str, mistakes: &mut Vec<String>) {
        let Some(key) = KEYS.iter().find(|key| key.name == name) else {
            mistakes.push(unknown(origin, name, KEYS.iter().map(|key| key.name)));
            return;
        };
        match key.check(&value) {
            Ok(()) => drop(self.values.insert(key.name, Setting { value, origin: origin.into() })),
            Err(why) => mistakes.push(format!("{origin}: {}: {why}", key.name)),
        }
    }

    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.values.get(name).map_or("", |setting| setting.value.as_str())
    }

    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.values.iter().map(|(name, setting)| (*name, setting))
    }

    /// The file that `init` writes: every setting, commented out, with what it is for; only the owner's name is
    /// set, if there is one.
    #[must_use]
    pub fn template(owner: &str) -> String {
        let mut text =
            String::from("# Regent's settings. `regent config show --origin` says what counts and why.\n");
        let mut section = "";
        for key in &KEYS {
            let (table, name) = key.name.split_once('.').unwrap_or(("", key.name));
            if table != section {
                text.push_str(&format!("\n[{table}]\n"));
                section = table;
            }
            let line = match key.name {
                "owner.name" if !owner.is_empty() => format!("{name} = {}", toml::Value::from(owner)),
                _ => format!("# {name} = \"{}\"", key.default),
            };
            text.push_str(&format!("# {}\n{line}\n", key.about));
        }
        text
    }
}

fn flatten(prefix: &str, table: &toml::Table) -> Vec<(String, String)> {
    table
        .iter()
        .flat_map(|(name, value)| {
            let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            match value {
                toml::Value::Table(table) => flatten(&name, table),
                toml::Value::String(text) => vec![(name, text.clone())],
                other => vec![(name, other.to_string())],
            }
        })
        .collect()
}

fn unknown<'a>(place: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = known.map(|candidate| (distance(name, candidate), candidate)).min();
    let hint = nearest.filter(|(far, _)| *far <= name.len() / 2);
    let hint = hint.map_or_else(String::new, |(_, candidate)| format!("; did you mean `{candidate}`?"));
    format!("{place}: `{name}` is not a setting{hint}")
}

/// How many letters have to change (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (cb, pair) in b.iter().zip(row.windows(2)) {
            let (diagonal, above) = (pair.first().copied().unwrap_or(0), pair.last().copied().unwrap_or(0));
            let left = next.last().copied().unwrap_or(0);
            next.push((diagonal + usize::from(ca != *cb)).min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Layers, Setting, Settings, distance};

    fn file(text: &str) -> Layers {
        Layers { file: Some(("regent.toml".into(), text.into())), ..Layers::default() }
    }

    fn color(layers: &Layers) -> Setting {
        let settings = Settings::layer(layers).unwrap();
        settings.all().find(|(name, _)| *name == "ui.color").unwrap().1.clone()
    }

    #[test]
    fn a_later_layer_counts_and_every_value_knows_its_origin() {
        let mut layers = Layers::default();
        let setting = |value: &str, origin: &str| Setting { value: value.into(), origin: origin.into() };
        assert_eq!(color(&layers), setting("auto", "default"));
        layers.file = file("[ui]\ncolor = \"never\"").file;
        assert_eq!(color(&layers), setting("never", "regent.toml"));
        layers.environment = vec![("REGENT_UI_COLOR".into(), "always".into()), ("HOME".into(), "x".into())];
        assert_eq!(color(&layers), setting("always", "environment REGENT_UI_COLOR"));
        layers.flags = vec![("ui.color", "auto".into())];
        assert_eq!(color(&layers), setting("auto", "flag"));
    }

    #[test]
    fn every_mistake_is_reported_at_once_with_what_to_do() {
        let mut layers =
            file("[ui]\ncolour = \"never\"\ncolor = \"purple\"\n[time]\nzone = \"Mars/Base\"\n[x]\ny = 1");
        layers.environment = vec![("REGENT_UI_COLR".into(), "never".into())];
        let mistakes = Settings::layer(&layers).unwrap_err();
        assert_eq!(
            mistakes,
            [
                "regent.toml: time.zone: `Mars/Base` is not a time zone; write one like Europe/Berlin",
                "regent.toml: ui.color: `purple` is not one of auto, always, never",
                "regent.toml: `ui.colour` is not a setting; did you mean `ui.color`?",
                "regent.toml: `x.y` is not a setting",
                "the environment: `REGENT_UI_COLR` is not a setting; did you mean `REGENT_UI_COLOR`?",
            ]
        );
    }

    #[test]
    fn broken_toml_names_its_line() {
        let mistakes = Settings::layer(&file("[ui\ncolor = 1")).unwrap_err();
        assert!(mistakes[0].starts_with("regent.toml: TOML parse error at line 1"), "{mistakes:?}");
    }

    #[test]
    fn the_file_that_init_writes_sets_only_the_name() {
        assert_eq!(Settings::layer(&file(&Settings::template(""))), Settings::layer(&Layers::default()));
        let named = Settings::layer(&file(&Settings::template("Ada \"the\" first"))).unwrap();
        assert_eq!(named.get("owner.name"), "Ada \"the\" first");
    }

    #[test]
    fn the_distance_of_two_words() {
        assert_eq!([distance("", "abc"), distance("kitten", "sitting"), distance("a", "a")], [3, 3, 0]);
    }

    #[test]
    fn the_document_lists_every_key_with_its_default_and_variable() {
        let page = include_str!("../../../docs/settings.md");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(rows.len(), super::KEYS.len());
        for (key, row) in super::KEYS.iter().zip(rows) {
            let default = if key.default.is_empty() { "empty".into() } else { format!("`{}`", key.default) };
            let begins = format!("| `{}` | {default} |", key.name);
            assert!(row.starts_with(&begins) && row.contains(&key.variable()), "{row}");
        }
    }
}
