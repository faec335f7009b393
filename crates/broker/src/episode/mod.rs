//! Episodes: what would the broker say if a model asked for these calls? Behind the filter `regent authorize`.
//!
//! Every step goes through [`Broker::authorize`], so the answers are those that a real call would get: with the tools
//! of the episode in the registry, every switch on, no budgets and no secrets. Nothing runs and nothing is written.
//!
//! Who may come in at all is not asked here: whoever the episode says speaks counts as admitted, for every tool.

mod offered;
mod speaker;

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::call::{Call, Chooser, ToolId};
use domain::id::{CallId, OriginId, ReasonId, TaskId};
use domain::probe::Silent;
use domain::source::{Source, Text};
use domain::{Clock, Digest, Tags, Time, Trust};
use ledger::records::{Salt, SaltBytes};
use policy::acl::{Credentials, Permissions};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::access::Switches;
use crate::alias;
use crate::broker::{Broker, CallContext};
use crate::budget::{Accounts, Limits, Standing};
use crate::decide::{Answer, DataLevel, Layer, Word, own_words};
use crate::registry::Registry;
use crate::secrets::Secrets;
use crate::validation::Validation;
use offered::{Never, Offered};
use speaker::Speaker;

/// What is known of a chain, and the calls that a model asks for in it, one after the other.
#[derive(Clone, Debug, Deserialize)]
pub struct Episode {
    id: Value,
    request: String,
    #[serde(default)]
    principal: Speaker,
    tools: Vec<Offered>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
struct Step {
    tool: String,
    #[serde(default = "no_arguments")]
    args: Value,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    human: Human,
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

/// What a person says if they are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Human {
    Approve,
    #[default]
    Refuse,
}

/// Why a line is no episode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEpisode {
    #[error("not JSON: column {column} makes no sense")]
    NotJson { column: usize },
    #[error("not an episode: {0}")]
    Form(String),
    #[error("`{0}` and `{1}` name the same tool")]
    SameTool(String, String),
}

/// What the broker would have said. Its fields are those of the filter's answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answered {
    pub id: Value,
    pub steps: Vec<AnsweredStep>,
    /// What the model would have got to see.
    #[serde(skip)]
    pub seen: Vec<Seen>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnsweredStep {
    /// As the step named it.
    pub tool: String,
    pub decision: Answer,
    /// The first of the strictest.
    pub layer: Layer,
    pub reason: String,
    /// Who could have meant each value, by its place in the arguments.
    pub provenance: BTreeMap<String, Meant>,
}

/// Until provenance is built there are two answers: the owner wrote it, or the model did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Meant {
    Owner,
    Model,
}

/// A result that became a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub text: Text,
    pub trust: Trust,
}

impl Episode {
    /// Fields that are not known are passed over.
    ///
    /// # Errors
    /// If the line is no JSON, or not an episode.
    pub fn read(line: &str) -> Result<Self, BadEpisode> {
        domain::json::from_str(line).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => BadEpisode::Form(domain::json::reason(&error)),
            _ => BadEpisode::NotJson { column: error.column() },
        })
    }

    /// Plays the steps: what each would be answered, and which results would be seen.
    ///
    /// # Errors
    /// If two of the tools are one.
    pub fn play(self) -> Result<Answered, BadEpisode> {
        let stage = Stage::new(&self.tools)?;
        let principal = self.principal.principal();
        let request = Text::new(self.request.as_str(), self.principal.source());
        let mut answered = Answered { id: self.id, steps: Vec::new(), seen: Vec::new() };
        for (number, step) in (1..).zip(self.steps) {
            let said = match stage.find(&step.tool) {
                None => Said::unknown(&step.tool),
                Some(tool) => {
                    let call = Call {
                        id: CallId::from_bits(number),
                        tool: tool.clone(),
                        args: step.args.clone(),
                        task: TaskId::from_bits(1),
                        subtask: Some(0),
                        chosen_by: Chooser::Model,
                        tags: Tags {
                            origin: OriginId::from_bits(1),
                            reason: ReasonId::from_bits(1),
                            vpol: self.principal.vpol().id(),
                        },
                    };
                    let everything = vec![String::from("*")];
                    let permissions =
                        Permissions::allowing("episode", everything, Credentials::NONE, DataLevel::Full);
                    let (switches, limits, standing) =
                        (Switches::default(), Limits::default(), Standing::default());
                    let vpol = self.principal.vpol();
                    let context = CallContext {
                        agent: policy::admit::MAIN,
                        principal: &principal,
                        trust: self.principal.trust(),
                        roles: &[],
                        labels: &[],
                        permissions: &permissions,
                        request: &request,
                        salt: &stage.salt,
                        switches: &switches,
                        limits: &limits,
                        accounts: &stage.accounts,
                        standing: &standing,
                        validation: Validation::frozen(&vpol),
                        grants: &[],
                        looked: None,
                        leave: None,
                        must_not: None,
                    };
                    stage.ask(call, &context)
                }
            };
            let approved = said.answer == Answer::Review && step.human == Human::Approve;
            if said.answer == Answer::Execute || approved {
                answered.seen.extend(stage.seen(&step, CallId::from_bits(number)));
            }
            answered.steps.push(AnsweredStep {
                tool: step.tool,
                decision: said.answer,
                layer: said.layer,
                reason: said.reason,
                provenance: provenance(&step.args, own_words::of(&request)),
            });
        }
        Ok(answered)
    }
}

/// A house with nothing in it but the episode's tools.
struct Stage {
    broker: Broker,
    names: BTreeMap<String, ToolId>,
    salt: Salt,
    accounts: Accounts,
}

/// What decided about a step.
struct Said {
    answer: Answer,
    layer: Layer,
    reason: String,
}

impl Said {
    fn unknown(name: &str) -> Self {
        Self { answer: Answer::Deny, layer: Layer::Registered, reason: format!("there is no tool `{name}`") }
    }
}

impl Stage {
    fn new(tools: &[Offered]) -> Result<Self, BadEpisode> {
        let mut names: BTreeMap<String, ToolId> = BTreeMap::new();
        let mut registry = Registry::default();
        for (number, tool) in (1..).zip(tools) {
            let id = tool.id(number);
            if let Some((other, _)) = names.iter().find(|(name, taken)| **name == tool.name || **taken == id)
            {
                return Err(BadEpisode::SameTool(other.clone(), tool.name.clone()));
            }
            registry = registry.with(tool.spec(id.clone()), Arc::new(Never));
            names.insert(tool.name.clone(), id);
        }
        let nobody = || "episode".to_owned();
        Ok(Self {
            broker: Broker::new(registry, Arc::new(Secrets::default()), Arc::new(Still), Arc::new(Silent)),
            names,
            salt: Salt { person: nobody(), salt: SaltBytes::new(Digest::ZERO) },
            accounts: Accounts {
                task: nobody(),
                session: nobody(),
                agent: nobody(),
                principal: nobody(),
                day: nobody(),
            },
        })
    }

    /// By the name it has here, or by another that stands for the same tool.
    fn find(&self, name: &str) -> Option<&ToolId> {
        let by_alias = || {
            let id = alias::resolve(name)?;
            // Only of tools whose own name stands for their id: any other id was made up here.
            self.names
                .iter()
                .find(|(name, known)| **known == id && alias::resolve(name).as_ref() == Some(&id))
        };
        self.names.get(name).or_else(|| by_alias().map(|(_, id)| id))
    }

    fn ask(&self, call: Call, context: &CallContext<'_>) -> Said {
        match self.broker.authorize(call, context) {
            Ok(ruled) => {
                let decision = ruled.decision();
                // The answer names one of the ten. Where all of them would have let it pass, it is the one that asks
                // what the rule asks.
                let of_ten =
                    |word: &&Word| word.layer != Layer::Constitution && word.answer == decision.answer;
                let (layer, reason) = match (decision.words.iter().find(of_ten), decision.violated.first()) {
                    (Some(word), _) => (word.layer, word.reason.clone()),
                    (None, Some(rule)) => (Layer::beside(*rule), decision.to_string()),
                    (None, None) => (Layer::Registered, decision.to_string()),
                };
                Said { answer: decision.answer, layer, reason }
            }
            Err(error) => Said { answer: Answer::Deny, layer: Layer::Schema, reason: error.to_string() },
        }
    }

    fn seen(&self, step: &Step, call: CallId) -> Option<Seen> {
        let text = match &step.result {
            Value::Null => return None,
            Value::String(text) => text.clone(),
            record => record.to_string(),
        };
        let trust = self.find(&step.tool).and_then(|id| self.broker.registry().spec(id))?.output_trust;
        Some(Seen { text: Text::new(text, Source::Tool { call, field: String::new() }), trust })
    }
}

/// Nothing is asked for the time.
struct Still;

impl Clock for Still {
    fn now(&self) -> Time {
        Time::from_micros(0)
    }
}

/// Every single value of the arguments, by its path: `to[0]`, `filter.name`.
fn provenance(args: &Value, words: &str) -> BTreeMap<String, Meant> {
    let mut found = BTreeMap::new();
    collect(args, String::new(), words, &mut found);
    found
}

fn collect(value: &Value, path: String, words: &str, found: &mut BTreeMap<String, Meant>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(field, path, words, found);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect(item, format!("{path}[{at}]"), words, found);
            }
        }
        single => {
            let meant = if own_words::names_value(words, single) { Meant::Owner } else { Meant::Model };
            // Two values can have the same path (`{"a.b": 1, "a": {"b": 2}}`): then nobody but the model meant it.
            let known = found.entry(path).or_insert(meant);
            if *known != meant {
                *known = Meant::Model;
            }
        }
    }
}
