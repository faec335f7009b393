//! Settings in layers: defaults ← file ← environment ← flags. Every value knows where it came from, and a key
//! that nobody knows is an error with a suggestion.

mod budget;
mod models;
mod steering;

use std::collections::BTreeMap;
use std::fmt;

use broker::budget::Limits;
use domain::gradient::Params;
use serde::{Serialize, Serializer};

pub use budget::time as duration;

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
    /// Nothing, or where a PostgreSQL database is. It may hold a password, which is never shown.
    Database,
    OneOf(&'static [&'static str]),
    TimeZone,
    /// Whole days, `90d`, or `forever`.
    Days,
    /// A time like `30m`.
    Time,
    /// Names with commas, ending with `owner`.
    Chain,
    /// How much of something may be used, in the unit that the name ends with, or `unlimited`.
    Amount,
    /// One of the solver's hyper-parameters.
    Steering,
    /// Models by name, or `reflex`, or nothing.
    Models,
    /// How able models are, by name.
    Ranks,
    /// What is said of one provider of models, in the field that the name ends with.
    Provider,
}

pub const KEYS: [Key; 10] = [
    Key {
        name: "approvals.chain",
        default: "owner",
        values: Values::Chain,
        about: "who is asked, one after the other if they pass it on: names, with commas; the last one is `owner`",
    },
    Key {
        name: "approvals.time",
        default: "30m",
        values: Values::Time,
        about: "how long a question stands before it expires, like `30m` or `2h`; expiry is neither yes nor no",
    },
    Key {
        name: "database.url",
        default: "",
        values: Values::Database,
        about: "where the ledger is: empty for a file in the data folder, or `postgres://user@host/database`",
    },
    Key {
        name: "model.brain",
        default: "",
        values: Values::Models,
        about: "who perceives, plans and judges: `provider/model`, with commas between fallbacks; `reflex` for none; empty: detected",
    },
    Key {
        name: "model.hands",
        default: "",
        values: Values::Models,
        about: "who acts and checks, in the same form; empty: as `brain`, or detected",
    },
    Key {
        name: "model.ranks",
        default: "",
        values: Values::Ranks,
        about: "how able you hold models to be, 0 to 100: `ollama/*=20, anthropic/claude-opus-5-5=95`; empty: as it is known",
    },
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
        name: "ui.accessible",
        default: "no",
        values: Values::OneOf(&["no", "yes"]),
        about: "`yes` for a screen reader: plain lines, words for symbols, a bell at each question and at the end; so does `ACCESSIBLE=1`",
    },
    Key {
        name: "ui.color",
        default: "auto",
        values: Values::OneOf(&["auto", "always", "never"]),
        about: "colours on a terminal; `NO_COLOR` and `--color` count before it",
    },
];

/// Settings of which there may be several, one for each name after the dot: `retention.telegram`.
pub const FAMILIES: [Key; 4] = [
    Key {
        name: "retention",
        default: FOREVER,
        values: Values::Days,
        about: "how long the words of a channel are kept, by its adapter: days like `90d`, or `forever`",
    },
    Key {
        name: "budget",
        default: UNLIMITED,
        values: Values::Amount,
        about: "what may be used up, by whom: `budget.task.calls`, `budget.day.money`; see docs/broker.md",
    },
    Key {
        name: "ggs",
        default: "",
        values: Values::Steering,
        about: "the numbers that steer replanning: `ggs.theta`, `ggs.time_budget_ms`; see docs/loop.md",
    },
    Key {
        name: "provider",
        default: "",
        values: Values::Provider,
        about: "where models are, and where their keys are (never a key): `provider.<name>.<url, dialect, key, data or plain>`; see docs/models.md",
    },
];
const FOREVER: &str = "forever";
const UNLIMITED: &str = "unlimited";
const LONGEST_DAYS: u32 = 36_500;

/// Variables that begin like settings and are none.
const NOT_SETTINGS: [&str; 4] = ["REGENT_HOME", "REGENT_SUITES", "REGENT_FAULTS", "REGENT_TOOLS_OFF"];

impl Key {
    /// `ui.color` is `REGENT_UI_COLOR`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("REGENT_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// The setting of a family that this name stands for: the part after the dot.
    fn member<'a>(&self, name: &'a str) -> Option<&'a str> {
        let member = name.strip_prefix(self.name)?.strip_prefix('.')?;
        let fits = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
        let known = match self.values {
            Values::Amount => budget::account(member).is_some(),
            Values::Steering => steering::is_known(member),
            Values::Provider => models::is_known(member),
            _ => true,
        };
        (known && !member.is_empty() && member.bytes().all(fits)).then_some(member)
    }

    /// `REGENT_RETENTION_TELEGRAM` is `retention.telegram`: a variable can name only what is written in small letters,
    /// digits and `_`.
    fn member_of_variable(&self, variable: &str) -> Option<String> {
        let member = variable.strip_prefix(&self.variable())?.strip_prefix('_')?.to_lowercase();
        let member = match self.values {
            Values::Amount => member.replacen('_', ".", 1),
            Values::Provider => models::of_variable(&member),
            _ => member,
        };
        (!member.is_empty()).then(|| format!("{}.{member}", self.name))
    }

    fn check(&self, name: &str, value: &str) -> Result<(), String> {
        match self.values {
            Values::Amount => budget::amount(name, value).map(drop),
            Values::Steering => steering::check(name, value),
            Values::Models => models::check_list(value),
            Values::Ranks => models::check_ranks(value),
            Values::Provider => models::check_field(name, value),
            Values::Days if value == FOREVER || days(value).is_some() => Ok(()),
            Values::Days => Err(format!(
                "`{value}` is no time; write days like `90d` (1 to {LONGEST_DAYS}), or `forever`"
            )),
            Values::Time => match budget::time(value) {
                Some(_) => Ok(()),
                None => {
                    Err(format!("`{value}` is no time; write one like `30s`, `30m` or `2h`, up to 30 days"))
                }
            },
            Values::Chain if names(value).last().is_some_and(|last| last == OWNER) => Ok(()),
            Values::Chain => {
                Err("it has to end with `owner`; write names with commas, like `lea, owner`".into())
            }
            Values::Text if value.chars().any(char::is_control) => Err("it holds a control character".into()),
            Values::Text => Ok(()),
            Values::Database if value.is_empty() => Ok(()),
            Values::Database => match value.split_once("://") {
                Some(("postgres" | "postgresql", rest)) if !rest.is_empty() => Ok(()),
                _ => Err("it is empty, or begins with `postgres://`".into()),
            },
            Values::OneOf(words) if words.contains(&value) => Ok(()),
            Values::OneOf(words) => Err(format!("`{value}` is not one of {}", words.join(", "))),
            Values::TimeZone if value == "system" || jiff::tz::TimeZone::get(value).is_ok() => Ok(()),
            Values::TimeZone => Err(format!("`{value}` is not a time zone; write one like Europe/Berlin")),
        }
    }
}

const OWNER: &str = "owner";

/// `lea, owner` is two names.
fn names(value: &str) -> Vec<String> {
    value.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

fn days(value: &str) -> Option<u32> {
    let digits = value.strip_suffix('d').filter(|digits| digits.bytes().all(|c| c.is_ascii_digit()))?;
    digits.parse().ok().filter(|days| (1..=LONGEST_DAYS).contains(days))
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    pub value: String,
    pub origin: String,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    values: BTreeMap<String, Setting>,
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.all())
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.all()).finish()
    }
}

impl Default for Settings {
    fn default() -> Self {
        let default = |key: &Key| {
            (key.name.to_owned(), Setting { value: key.default.into(), origin: "default".into() })
        };
        let budget =
            |(name, value): (&str, String)| (name.to_owned(), Setting { value, origin: "default".into() });
        Self { values: KEYS.iter().map(default).chain(budget::defaults().map(budget)).collect() }
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
                Err(error) => mistakes.push(format!("{name}: {}", broken(text, &error))),
            }
        }
        for (variable, value) in &layers.environment {
            if !variable.starts_with("REGENT_") || NOT_SETTINGS.contains(&variable.as_str()) {
                continue;
            }
            let key = KEYS.iter().find(|key| key.variable() == *variable).map(|key| key.name.to_owned());
            let member = || FAMILIES.iter().find_map(|family| family.member_of_variable(variable));
            match key.or_else(member) {
                Some(name) => {
                    settings.set(&name, value.clone(), &format!("environment {variable}"), &mut mistakes)
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
        let member = || FAMILIES.iter().find(|family| family.member(name).is_some());
        let Some(key) = KEYS.iter().find(|key| key.name == name).or_else(member) else {
            mistakes.push(unknown(origin, name, KEYS.iter().map(|key| key.name)));
            return;
        };
        match key.check(name, &value) {
            Ok(()) => drop(self.values.insert(name.into(), Setting { value, origin: origin.into() })),
            Err(why) => mistakes.push(format!("{origin}: {name}: {why}")),
        }
    }

    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.values.get(name).map_or("", |setting| setting.value.as_str())
    }

    /// For how many days the words of an adapter's events are kept, where not for ever.
    #[must_use]
    pub fn retention(&self) -> BTreeMap<String, u32> {
        let [family, ..] = &FAMILIES;
        let kept = |(name, setting): (&String, &Setting)| {
            Some((family.member(name)?.to_owned(), days(&setting.value)?))
        };
        self.values.iter().filter_map(kept).collect()
    }

    /// What may be used up, by whom.
    #[must_use]
    pub fn budgets(&self) -> Limits {
        let [_, family, ..] = &FAMILIES;
        let set = self.values.iter().filter_map(|(name, setting)| {
            let member = family.member(name)?;
            Some((budget::account(member)?, budget::amount(name, &setting.value).ok()?))
        });
        budget::limits(set)
    }

    /// How replanning is steered.
    #[must_use]
    pub fn steering(&self) -> Params {
        let [_, _, family, _] = &FAMILIES;
        let set = self
            .values
            .iter()
            .filter_map(|(name, setting)| Some((family.member(name)?.to_owned(), setting.value.clone())));
        steering::params(set)
    }

    /// What is said about models, as it is written: name, value, where it came from.
    pub fn about_models(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let ours = |name: &str| name.starts_with("model.") || name.starts_with("provider.");
        let said = self.values.iter().filter(move |(name, _)| ours(name));
        said.map(|(name, setting)| (name.as_str(), setting.value.as_str(), setting.origin.as_str()))
    }

    /// What the kernel needs of them.
    #[must_use]
    pub fn for_runs(&self) -> kernel::RunSettings {
        kernel::RunSettings {
            owner_name: self.get("owner.name").to_owned(),
            budgets: self.budgets(),
            approvers: self.approval_chain(),
            approval_time: self.approval_time(),
            steering: self.steering(),
        }
    }

    /// Who is asked, one after the other.
    #[must_use]
    pub fn approval_chain(&self) -> Vec<String> {
        names(self.get("approvals.chain"))
    }

    /// How long a question stands.
    #[must_use]
    pub fn approval_time(&self) -> std::time::Duration {
        budget::time(self.get("approvals.time")).unwrap_or(domain::limits::APPROVAL)
    }

    /// Every setting as it may be shown: a password never is.
    pub fn all(&self) -> impl Iterator<Item = (&str, Setting)> {
        self.values.iter().map(|(name, setting)| {
            (
                name.as_str(),
                Setting { value: without_password(&setting.value), origin: setting.origin.clone() },
            )
        })
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
        for family in &FAMILIES {
            let Key { name, default, about, values, .. } = family;
            text.push_str(&format!("\n[{name}]\n# {about}\n"));
            let examples: &[(&str, String)] = match values {
                Values::Amount => &budget::defaults(),
                Values::Steering => &steering::defaults(),
                Values::Provider => &models::defaults(),
                _ => &[("retention.telegram", (*default).to_owned())],
            };
            for (key, value) in examples {
                let member = family.member(key).unwrap_or(key);
                text.push_str(&format!("# {member} = \"{value}\"\n"));
            }
        }
        text
    }
}

/// A URL as it may be shown: `***` for its password, wherever it stands and however it is written; anything else as
/// it is. Rather too little is shown than too much.
#[must_use]
pub fn without_password(url: &str) -> String {
    const HARMLESS: [&str; 6] = ["host", "port", "user", "dbname", "sslmode", "sslrootcert"];
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    // A password may hold `/`, `?` or `#`, so what stands before the last `@` is hidden as a whole.
    let (login, place) = rest.rsplit_once('@').map_or((None, rest), |(login, place)| (Some(login), place));
    let login = login.map_or_else(String::new, |login| match login.split_once(':') {
        Some((user, _)) => format!("{user}:***@"),
        None => format!("{login}@"),
    });
    let (place, query) = place.split_once('?').map_or((place, None), |(place, query)| (place, Some(query)));
    let shown = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if HARMLESS.contains(&name) => pair.to_owned(),
        Some((name, _)) if name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') => {
            format!("{name}=***")
        }
        _ => "***".to_owned(),
    };
    let query = query.map(|query| query.split('&').map(shown).collect::<Vec<_>>().join("&"));
    format!("{scheme}://{login}{place}{}", query.map_or_else(String::new, |query| format!("?{query}")))
}

/// Where a file stops being TOML, and why. The line itself is not shown: it may hold a password or a key.
fn broken(text: &str, error: &toml::de::Error) -> String {
    let before: Vec<u8> = text.bytes().take(error.span().map_or(0, |span| span.start)).collect();
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
    format!("TOML parse error at line {line}, column {column}: {}", error.message())
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
    let hint = crate::nearest::find_nearest(name, known);
    let hint = hint.map_or_else(String::new, |candidate| format!("; did you mean `{candidate}`?"));
    format!("{place}: `{name}` is not a setting{hint}")
}

#[cfg(test)]
mod tests {
    use super::{Layers, Setting, Settings};

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
    fn a_password_is_never_shown() {
        let table = [
            ("postgres://ada@db/regent", "postgres://ada@db/regent"),
            ("postgres://ada:se:cr@et@db:5432/regent?port=1", "postgres://ada:***@db:5432/regent?port=1"),
            ("postgres://ada:se/cr?et#@db/regent", "postgres://ada:***@db/regent"),
            ("postgres://ada:secret@db/r?x=a@b", "postgres://ada:***@b"),
            (
                "postgres://db/r?user=ada&password=secret&password=again&x=1",
                "postgres://db/r?user=ada&password=***&password=***&x=***",
            ),
            ("postgres://db/r?pass%77ord=secret", "postgres://db/r?***"),
            ("postgres:///r?host=/run/pg", "postgres:///r?host=/run/pg"),
            ("Ada: the @first", "Ada: the @first"),
            ("", ""),
        ];
        for (url, shown) in table {
            assert_eq!(super::without_password(url), shown);
        }
        let settings = Settings::layer(&file("[database]\nurl = \"postgres://ada:secret@db/r\"")).unwrap();
        let texts = [format!("{settings:?}"), serde_json::to_string(&settings).unwrap()];
        assert!(texts.iter().all(|text| text.contains("ada:***") && !text.contains("secret")), "{texts:?}");
        assert_eq!(settings.get("database.url"), "postgres://ada:secret@db/r");
    }

    #[test]
    fn a_database_is_a_file_of_ours_or_postgres() {
        let mistakes = Settings::layer(&file("[database]\nurl = \"mysql://db\"")).unwrap_err();
        assert_eq!(mistakes, ["regent.toml: database.url: it is empty, or begins with `postgres://`"]);
    }

    #[test]
    fn retention_is_set_for_any_adapter_in_days() {
        let mut layers = file("[retention]\ntelegram = \"90d\"\n\"my.mail\" = \"7d\"\ncli = \"forever\"");
        layers.environment = vec![("REGENT_RETENTION_TELEGRAM".into(), "30d".into())];
        let settings = Settings::layer(&layers).unwrap();
        let kept: Vec<(String, u32)> = settings.retention().into_iter().collect();
        assert_eq!(kept, [("my.mail".into(), 7), ("telegram".into(), 30)]);
        let origin = settings.all().find(|(name, _)| *name == "retention.telegram").unwrap().1.origin;
        assert_eq!(origin, "environment REGENT_RETENTION_TELEGRAM");
        assert_eq!(Settings::default().retention().len(), 0, "for ever, unless the owner says otherwise");
        for value in ["0d", "90", "d", "", "-1d", "1w", "+1d", "36501d", "99999999999d"] {
            let mistakes = Settings::layer(&file(&format!("[retention]\nmail = \"{value}\""))).unwrap_err();
            let what = format!(
                "regent.toml: retention.mail: `{value}` is no time; write days like `90d` (1 to 36500), or `forever`"
            );
            assert_eq!(mistakes, [what]);
        }
        let unnamed = Settings::layer(&file("retention = \"1d\"\n[retentions]\nx = \"1d\"")).unwrap_err();
        assert_eq!(unnamed.len(), 2, "{unnamed:?}");
    }

    #[test]
    fn the_document_lists_every_key_with_its_default_and_variable() {
        let page = include_str!("../../../../docs/settings.md");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(rows.len(), super::KEYS.len() + super::FAMILIES.len());
        for (key, row) in super::KEYS.iter().chain(&super::FAMILIES).zip(rows) {
            let default = if key.default.is_empty() { "empty".into() } else { format!("`{}`", key.default) };
            let begins = format!("| `{}", key.name);
            let begins = if row.contains(".*`") {
                format!("{begins}.*` | {default} |")
            } else {
                format!("{begins}` | {default} |")
            };
            assert!(row.starts_with(&begins) && row.contains(&key.variable()), "{row}");
        }
    }
}
