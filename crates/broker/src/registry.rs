//! The tools there are: those that ship, and those that somebody registered.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use domain::call::ToolId;
use domain::canonical::{self, NotCanonical};
use domain::{Digest, Tier};
use ledger::records::Blob;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::alias;
use crate::schema::Schema;
use crate::secrets;
use crate::tool::{Author, Cost, Handler, HandlerType, Reach, ToolSpec};

/// What is known of a tool, made when it is first asked for.
type Described = LazyLock<ToolSpec, Box<dyn FnOnce() -> ToolSpec + Send>>;

/// One tool with what stands behind it. What is known of it, compiled schemas and the kept form are made when they are first
/// needed: a run needs them of the few tools that it calls.
pub(crate) struct Entry {
    pub(crate) spec: Described,
    pub(crate) handler: Arc<dyn Handler>,
    /// Arguments that the registration has fixed; they may name secrets.
    pub(crate) fixed: Map<String, Value>,
    /// Secrets that they name.
    pub(crate) needs: Vec<String>,
    /// The shipped tool whose function it is, where it was registered.
    pub(crate) behind: Option<ToolId>,
    kept: OnceLock<(ToolSpec, Blob)>,
    input: OnceLock<Result<Schema, String>>,
    output: OnceLock<Result<Option<Schema>, String>>,
}

impl Entry {
    fn new(
        describe: impl FnOnce() -> ToolSpec + Send + 'static,
        handler: Arc<dyn Handler>,
        fixed: Map<String, Value>,
    ) -> Self {
        let needs = fixed.values().flat_map(secrets::named).collect();
        let (kept, input, output) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let spec = LazyLock::new(Box::new(describe) as Box<dyn FnOnce() -> ToolSpec + Send>);
        Self { spec, handler, fixed, needs, behind: None, kept, input, output }
    }

    /// What is known of it, as it is read again from the body that a decision names, and that body.
    pub(crate) fn kept(&self) -> Result<&(ToolSpec, Blob), NotCanonical> {
        if let Some(kept) = self.kept.get() {
            return Ok(kept);
        }
        let bytes = canonical::bytes(&*self.spec)?;
        let kept = (canonical::read(&bytes)?, Blob::public(bytes));
        Ok(self.kept.get_or_init(|| kept))
    }

    /// What the schema, and then the tool itself, say of these arguments.
    pub(crate) fn accepts(&self, args: &Value) -> Result<(), String> {
        // Names are what fixed arguments, sinks and secrets go by; a list would be read by place.
        if !args.is_object() {
            return Err("they are no object with names".into());
        }
        if self.is_typed() && self.handler.accepts(args).is_ok() {
            return Ok(());
        }
        let schema = self.input.get_or_init(|| Schema::compile(&self.spec.input_schema));
        schema.as_ref().map_err(Clone::clone)?.check(args)?;
        let taken = |name: &&String| args.get(name.as_str()).is_some();
        if let Some(name) = self.fixed.keys().find(taken) {
            return Err(format!("`{name}` is fixed by the registration"));
        }
        self.handler.accepts(&self.whole(args))
    }

    /// What this call can do: at least what the tool can.
    pub(crate) fn tier(&self, args: &Value) -> Tier {
        let tier = self.spec.tier;
        self.handler.tier(&self.whole(args)).map_or(tier, |of_call| of_call.max(tier))
    }

    /// What this call may use: what it says itself, or what all calls of the tool may.
    pub(crate) fn cost(&self, args: &Value) -> Cost {
        self.handler.cost(&self.whole(args)).unwrap_or(self.spec.cost)
    }

    /// The arguments with those that are fixed. Secrets are still named.
    pub(crate) fn whole(&self, args: &Value) -> Value {
        match args {
            Value::Object(given) if !self.fixed.is_empty() => {
                let fixed = self.fixed.iter().map(|(name, value)| (name.clone(), value.clone()));
                Value::Object(given.clone().into_iter().chain(fixed).collect())
            }
            other => other.clone(),
        }
    }

    /// A registration has schemas of its own.
    fn is_typed(&self) -> bool {
        self.behind.is_none() && self.handler.is_typed()
    }

    pub(crate) fn returns(&self, record: &Value) -> Result<(), String> {
        if self.is_typed() {
            return Ok(());
        }
        let compile = || self.spec.output_schema.as_ref().map(Schema::compile).transpose();
        match self.output.get_or_init(compile) {
            Ok(Some(schema)) => schema.check(record),
            Ok(None) => Ok(()),
            Err(why) => Err(why.clone()),
        }
    }
}

/// The tools of one chain.
#[derive(Clone, Default)]
pub struct Registry {
    entries: BTreeMap<ToolId, Arc<Entry>>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}

/// What is wrong with a registration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRegistered {
    #[error("`{0}` ships with the program; it can be switched off, and its level set, but not replaced")]
    Shipped(ToolId),
    #[error("handlers of the type {0} come with the sandbox; only `function` works yet")]
    NoHandler(&'static str),
    #[error("there is no function `{0}`; a function is the id of a tool that ships with the program")]
    NoFunction(String),
    #[error("`handler_config` takes `function` and `fixed`: {0}")]
    Config(String),
    #[error("it does what {function} does, so its tier cannot be lower than {needed}")]
    TierTooLow { function: String, needed: Tier },
    #[error("{function} may not run twice, so neither may this")]
    NotIdempotent { function: String },
    #[error("its effects reach as far as those of {function}: {reach}")]
    Reach { function: String, reach: &'static str },
    #[error("it says less than {function} does: {field}")]
    Less { function: String, field: String },
    #[error("a call may take more than nothing, and at most a day")]
    Timeout,
    #[error("`{0}`: {1}")]
    Schema(&'static str, String),
    #[error("it takes `{0}`, which its registration fixes")]
    Fixed(String),
}

/// The longest that a call of a registered tool may take.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What stands behind a registered function.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionConfig {
    function: String,
    #[serde(default)]
    fixed: Map<String, Value>,
}

impl Registry {
    /// A tool that ships with the program.
    #[must_use]
    pub fn with(self, spec: ToolSpec, handler: Arc<dyn Handler>) -> Self {
        self.with_described(spec.id.clone(), || spec, handler)
    }

    /// A tool that ships with the program, and is described when it is first asked about.
    #[must_use]
    pub fn with_described(
        mut self,
        id: ToolId,
        describe: impl FnOnce() -> ToolSpec + Send + 'static,
        handler: Arc<dyn Handler>,
    ) -> Self {
        self.entries.insert(id, Arc::new(Entry::new(describe, handler, Map::new())));
        self
    }

    /// What the owner has set for a tool that ships: how much it is watched, and what becomes of its calls.
    #[must_use]
    pub fn tuned(mut self, id: &ToolId, tune: impl FnOnce(&mut ToolSpec)) -> Self {
        if let Some(entry) = self.entries.get(id) {
            let mut spec = ToolSpec::clone(&entry.spec);
            tune(&mut spec);
            let tuned = Entry::new(|| spec, Arc::clone(&entry.handler), entry.fixed.clone());
            self.entries.insert(id.clone(), Arc::new(tuned));
        }
        self
    }

    /// A tool that somebody registered. It can do no more than the function behind it, and nothing is waived.
    ///
    /// # Errors
    /// If it claims to be less than what stands behind it, or cannot work.
    pub fn register(mut self, spec: ToolSpec) -> Result<Self, NotRegistered> {
        if self.entries.contains_key(&spec.id) {
            return Err(NotRegistered::Shipped(spec.id));
        }
        if spec.handler_type != HandlerType::Function {
            return Err(NotRegistered::NoHandler(spec.handler_type.name()));
        }
        let config = FunctionConfig::deserialize(&spec.handler_config)
            .map_err(|error| NotRegistered::Config(error.to_string()))?;
        let function = alias::resolve(&config.function).and_then(|id| self.entries.get(&id));
        let function = function.ok_or_else(|| NotRegistered::NoFunction(config.function.clone()))?;
        let name = || function.spec.id.to_string();
        let needed = function.spec.tier.max(alias::floor(&spec.id));
        if spec.tier < needed {
            return Err(NotRegistered::TierTooLow { function: name(), needed });
        }
        if spec.idempotent && !function.spec.may_run_again() {
            return Err(NotRegistered::NotIdempotent { function: name() });
        }
        if spec.reach < function.spec.reach {
            return Err(NotRegistered::Reach { function: name(), reach: function.spec.reach.name() });
        }
        let own = |reach: Reach| matches!(reach, Reach::Origin | Reach::Model);
        if own(function.spec.reach) || own(spec.reach) {
            return Err(NotRegistered::NoFunction(config.function));
        }
        let hidden = |sink: &&String| !spec.sinks.contains(sink) && !config.fixed.contains_key(*sink);
        if let Some(sink) = function.spec.sinks.iter().find(hidden) {
            return Err(NotRegistered::Less { function: name(), field: format!("`sinks` without `{sink}`") });
        }
        let claims = |(field, author): &(&String, &Author)| {
            **author != Author::External && function.spec.authorship.get(*field) != Some(author)
        };
        let less = match () {
            () if spec.output_trust > function.spec.output_trust => Some("`output_trust`".to_owned()),
            () if spec.validation_mode < function.spec.validation_mode => {
                Some("`validation_mode`".to_owned())
            }
            () if spec.cost.money < function.spec.cost.money => Some("`cost`".to_owned()),
            () if spec.cost.tokens < function.spec.cost.tokens => Some("`cost`".to_owned()),
            () => spec.authorship.iter().find(claims).map(|(field, _)| format!("`authorship` of `{field}`")),
        };
        if let Some(field) = less {
            return Err(NotRegistered::Less { function: name(), field });
        }
        if spec.timeout.is_zero() || spec.timeout > LONGEST {
            return Err(NotRegistered::Timeout);
        }
        Schema::compile(&spec.input_schema).map_err(|why| NotRegistered::Schema("input_schema", why))?;
        if let Some(schema) = &spec.output_schema {
            Schema::compile(schema).map_err(|why| NotRegistered::Schema("output_schema", why))?;
        }
        let taken = |name: &&String| spec.input_schema.pointer(&format!("/properties/{name}")).is_some();
        if let Some(name) = config.fixed.keys().find(taken) {
            return Err(NotRegistered::Fixed(name.clone()));
        }
        let (id, behind) = (spec.id.clone(), Some(function.spec.id.clone()));
        let entry = Entry { behind, ..Entry::new(|| spec, Arc::clone(&function.handler), config.fixed) };
        self.entries.insert(id, Arc::new(entry));
        Ok(self)
    }

    /// Without what somebody registered.
    #[must_use]
    pub fn shipped_only(mut self, shipped: &[String]) -> Self {
        self.entries.retain(|id, _| shipped.iter().any(|name| name == id.as_str()));
        self
    }

    pub(crate) fn entry(&self, id: &ToolId) -> Option<&Arc<Entry>> {
        self.entries.get(id)
    }

    #[must_use]
    pub fn spec(&self, id: &ToolId) -> Option<&ToolSpec> {
        self.entries.get(id).map(|entry| &*entry.spec)
    }

    /// What a decision about this tool names: another text is another tool.
    #[must_use]
    pub fn digest(&self, id: &ToolId) -> Option<Digest> {
        self.entries.get(id)?.kept().ok().map(|kept| kept.1.hash)
    }

    /// What is wrong with the form of these arguments, if anything.
    ///
    /// # Errors
    /// What is wrong, and what the tool takes.
    pub fn accepts(&self, id: &ToolId, args: &Value) -> Result<(), String> {
        self.entries.get(id).map_or(Ok(()), |entry| entry.accepts(args))
    }

    /// By id or by any other name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&ToolSpec> {
        alias::resolve(name).and_then(|id| self.entries.get(&id)).map(|entry| &*entry.spec)
    }

    /// The ids of all tools; none of them is described for that.
    pub fn ids(&self) -> impl Iterator<Item = &ToolId> {
        self.entries.keys()
    }

    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.entries.values().map(|entry| &*entry.spec)
    }
}
