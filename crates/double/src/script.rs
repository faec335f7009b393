//! What the double is told to answer.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use crate::asked::Asked;
use crate::fault::Fault;
use crate::said::Said;

/// The key that is right, unless a script says otherwise.
pub const KEY: &str = "key-of-the-double";

/// What is said, and what goes wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reaction {
    pub said: Said,
    pub faults: Vec<Fault>,
}

impl Reaction {
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }
}

impl From<Said> for Reaction {
    fn from(said: Said) -> Self {
        Self { said, faults: Vec::new() }
    }
}

impl From<Fault> for Reaction {
    fn from(fault: Fault) -> Self {
        Self { said: Said::text("a fault"), faults: vec![fault] }
    }
}

/// A model that can be asked for, and what it can do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    pub name: String,
    /// How many tokens a prompt may have.
    pub context: u64,
    /// How many a reply may have.
    pub output: u64,
    pub tools: bool,
    pub schema: bool,
    /// It thinks: then it takes no temperature, and OpenAI's take no `max_tokens`.
    pub thinks: bool,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            name: "double-large".to_owned(),
            context: 1_000_000,
            output: 64_000,
            tools: true,
            schema: true,
            thinks: false,
        }
    }
}

impl Model {
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

type Answering = Arc<dyn Fn(&Asked) -> Reaction + Send + Sync>;

/// What the double answers: by a function if there is one, else by what the prompt says, else in order, else always the same.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Nothing if any will do, and none as well.
    pub key: Option<String>,
    /// Whoever asks for another one gets the vendor's 404.
    pub models: Vec<Model>,
    pub when: Vec<When>,
    pub in_order: Vec<Reaction>,
    pub otherwise: Reaction,
    #[serde(skip)]
    answering: Option<Answering>,
}

/// A reaction to every prompt that says this.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    pub says: String,
    pub then: Reaction,
}

impl Default for Script {
    fn default() -> Self {
        let thinker = Model { thinks: true, ..Model::named("double-thinker") };
        let small = Model { context: 100, tools: false, schema: false, ..Model::named("double-small") };
        Self {
            key: Some(KEY.to_owned()),
            models: vec![Model::default(), thinker, small],
            when: Vec::new(),
            in_order: Vec::new(),
            otherwise: Said::text("I am a double.").into(),
            answering: None,
        }
    }
}

impl Script {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every answer is this function's.
    #[must_use]
    pub fn answering(function: impl Fn(&Asked) -> Reaction + Send + Sync + 'static) -> Self {
        Self { answering: Some(Arc::new(function)), ..Self::default() }
    }

    /// The next answer, after those that were given before.
    #[must_use]
    pub fn then(mut self, reaction: impl Into<Reaction>) -> Self {
        self.in_order.push(reaction.into());
        self
    }

    #[must_use]
    pub fn when(mut self, says: &str, then: impl Into<Reaction>) -> Self {
        self.when.push(When { says: says.to_owned(), then: then.into() });
        self
    }

    #[must_use]
    pub fn otherwise(mut self, reaction: impl Into<Reaction>) -> Self {
        self.otherwise = reaction.into();
        self
    }

    #[must_use]
    pub fn with_key(mut self, key: Option<&str>) -> Self {
        self.key = key.map(str::to_owned);
        self
    }

    #[must_use]
    pub fn with_model(mut self, model: Model) -> Self {
        self.models.push(model);
        self
    }

    /// The answer, and whether it was the next in order.
    pub(crate) fn react(&self, asked: &Asked, next: usize) -> (Reaction, bool) {
        if let Some(function) = &self.answering {
            return (function(asked), false);
        }
        if let Some(found) = self.when.iter().find(|when| asked.says(&when.says)) {
            return (found.then.clone(), false);
        }
        match self.in_order.get(next) {
            Some(reaction) => (reaction.clone(), true),
            None => (self.otherwise.clone(), false),
        }
    }

    pub(crate) fn model(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.name == name)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("models", &self.models)
            .field("when", &self.when)
            .field("in_order", &self.in_order)
            .field("otherwise", &self.otherwise)
            .finish_non_exhaustive()
    }
}
