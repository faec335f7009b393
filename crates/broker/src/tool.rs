//! What the broker knows of a tool, and how it is reached.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
pub use domain::DataClass;
use domain::call::{Call, Failure, ToolId};
use domain::{Digest, Tier, Trust, canonical};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::door::Authorized;
use crate::looked::Looked;
use crate::returned::Returned;

/// How much a tool is watched: 0 reviews every call, 4 none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    ReviewAll,
    Sampled,
    ReviewedAfter,
    SpotChecked,
    Autonomous,
}

impl Level {
    pub const ALL: [Self; 5] =
        [Self::ReviewAll, Self::Sampled, Self::ReviewedAfter, Self::SpotChecked, Self::Autonomous];

    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident: $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

words! {
    /// What becomes of a call that every other layer lets pass.
    ExecutionMode:
    Auto = "auto",
    /// A person looks first.
    Review = "review",
    Disabled = "disabled",
}

words! {
    /// What the tool itself asks of a validation policy.
    ValidationMode:
    /// Only log.
    Monitor = "monitor",
    /// A person looks first; a grant satisfies it.
    Intercept = "intercept",
    /// The owner is asked each time.
    Strict = "strict",
}

words! {
    /// The six kinds of tools of the rabs seed.
    Category:
    Operations = "operations",
    Comms = "comms",
    Hr = "hr",
    Finance = "finance",
    Data = "data",
    System = "system",
}

words! {
    /// What stands behind a tool. Only functions of this program so far.
    HandlerType:
    Function = "function",
    Script = "script",
    Http = "http",
    Sql = "sql",
    Mcp = "mcp",
    /// A language model that the loop asks.
    Model = "model",
}

words! {
    /// How far its effects reach.
    Reach:
    /// It computes.
    Nothing = "nothing",
    /// Files of the workspace, which it cannot leave.
    Workspace = "workspace",
    /// Whoever the chain began with; the address is fixed by the origin.
    Origin = "origin",
    /// A language model that the owner has chosen, and which may be told such data: whether it may is checked with the
    /// arguments. It hears what it is asked; it does nothing.
    Model = "model",
    /// Regent itself: settings, trust, the record.
    House = "house",
    /// Bytes leave the machine, or nobody knows.
    Outside = "outside",
}

words! {
    /// Who wrote a field of a result.
    Author:
    /// We: ids, sizes, counts.
    System = "system",
    Owner = "owner",
    /// Whoever called it: an argument that comes back.
    Caller = "caller",
    /// Somebody else, or nobody knows.
    External = "external",
}

/// What one call may use at the most; it is reserved before the call, and settled after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cost {
    /// Millionths of the house's currency.
    pub money: u64,
    pub tokens: u64,
    /// What leaves the machine besides the arguments.
    #[serde(skip_serializing_if = "is_none")]
    pub bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks this way")]
const fn is_none(bytes: &u64) -> bool {
    *bytes == 0
}

/// What is known of a tool. A decision names the digest of it, and it is kept: a registry that says something else
/// later does not change what was decided from. Fields that were added later have what an older one meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub id: ToolId,
    pub description: String,
    #[serde(default = "defaults::category")]
    pub category: Category,
    pub tier: Tier,
    #[serde(default = "defaults::execution_mode")]
    pub execution_mode: ExecutionMode,
    #[serde(default = "defaults::validation_mode")]
    pub validation_mode: ValidationMode,
    pub level: Level,
    /// Globs over the names of agents.
    #[serde(default = "defaults::everybody")]
    pub agent_access: Vec<String>,
    #[serde(default)]
    pub role_requirements: Vec<String>,
    #[serde(default)]
    pub context_bucket: Option<String>,
    /// Nothing where it handles no data of anybody.
    #[serde(default)]
    pub data_class: Option<DataClass>,
    #[serde(default = "defaults::handler_type")]
    pub handler_type: HandlerType,
    #[serde(default)]
    pub handler_config: Value,
    #[serde(default = "defaults::anything")]
    pub input_schema: Value,
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// Arguments that decide where something goes, what is touched, how much.
    pub sinks: Vec<String>,
    /// Who wrote which field of the result, by its path without list positions; what is not named is external.
    #[serde(default)]
    pub authorship: BTreeMap<String, Author>,
    #[serde(default = "defaults::output_trust")]
    pub output_trust: Trust,
    #[serde(default = "defaults::reach")]
    pub reach: Reach,
    /// Running it twice does the same as running it once.
    pub idempotent: bool,
    pub timeout: Duration,
    #[serde(default)]
    pub cost: Cost,
    /// What a result may have at the most.
    #[serde(default = "defaults::output_bytes")]
    pub output_bytes: usize,
}

impl ToolSpec {
    /// What it is and can do, whatever it is called, however it is described and however much it is watched.
    #[must_use]
    pub fn nature(&self) -> Digest {
        let nature = serde_json::json!({
            "handler": self.handler_type, "config": self.handler_config, "tier": self.tier, "reach": self.reach,
            "sinks": self.sinks, "data": self.data_class,
        });
        // A configuration without a canonical form is like no other, and what was granted for it holds for none.
        canonical::bytes(&nature).map_or(Digest::ZERO, |bytes| Digest::of(&bytes))
    }
}

pub(crate) mod defaults {
    use super::{Category, ExecutionMode, HandlerType, Reach, ValidationMode};
    use domain::Trust;
    use domain::limits::OUTPUT_BYTES;
    use serde_json::{Value, json};

    pub(crate) const fn category() -> Category {
        Category::Operations
    }
    pub(crate) const fn execution_mode() -> ExecutionMode {
        ExecutionMode::Auto
    }
    pub(crate) const fn validation_mode() -> ValidationMode {
        ValidationMode::Monitor
    }
    pub(crate) fn everybody() -> Vec<String> {
        vec!["*".into()]
    }
    pub(crate) const fn handler_type() -> HandlerType {
        HandlerType::Function
    }
    pub(crate) fn anything() -> Value {
        json!({ "type": "object" })
    }
    pub(crate) const fn output_trust() -> Trust {
        Trust::Untrusted
    }
    pub(crate) const fn reach() -> Reach {
        Reach::Outside
    }
    pub(crate) const fn output_bytes() -> usize {
        OUTPUT_BYTES
    }
}

impl ToolSpec {
    /// After a crash, a call that was started and not finished may be run again only if that cannot do
    /// harm. Any other is unknown, and a person is told.
    #[must_use]
    pub fn may_run_again(&self) -> bool {
        self.tier == Tier::ReadOnly || self.idempotent
    }

    /// What everything of a tier is unless somebody says otherwise: what is above `write_safe` waits for a person.
    #[must_use]
    pub const fn usual_mode(tier: Tier) -> ExecutionMode {
        match tier {
            Tier::ReadOnly | Tier::WriteSafe => ExecutionMode::Auto,
            Tier::WriteDestructive | Tier::Admin => ExecutionMode::Review,
        }
    }

    /// The level that ships with a tool we vetted ourselves.
    #[must_use]
    pub const fn vetted_level(tier: Tier) -> Level {
        match tier {
            Tier::ReadOnly => Level::Autonomous,
            Tier::WriteSafe | Tier::WriteDestructive | Tier::Admin => Level::ReviewedAfter,
        }
    }

    /// A tool of ours as it ships, before it says more about itself.
    #[must_use]
    pub fn shipped(id: ToolId, description: &str, tier: Tier) -> Self {
        Self {
            id,
            description: description.into(),
            category: Category::Operations,
            tier,
            execution_mode: Self::usual_mode(tier),
            validation_mode: ValidationMode::Monitor,
            level: Self::vetted_level(tier),
            agent_access: defaults::everybody(),
            role_requirements: Vec::new(),
            context_bucket: None,
            data_class: Some(DataClass::Logistics),
            handler_type: HandlerType::Function,
            handler_config: Value::Null,
            input_schema: defaults::anything(),
            output_schema: None,
            sinks: Vec::new(),
            authorship: BTreeMap::new(),
            output_trust: Trust::Untrusted,
            reach: Reach::Workspace,
            idempotent: tier == Tier::ReadOnly,
            timeout: domain::limits::FILE_TOOL,
            cost: Cost::default(),
            output_bytes: domain::limits::OUTPUT_BYTES,
        }
    }
}

/// What stands behind a tool. Only the broker calls it (clippy's list guards that inside our own code, the type
/// everywhere).
#[async_trait]
pub trait Handler: Send + Sync {
    /// Whether these arguments have the form that the tool takes, beyond its schema; the reason if not.
    fn accepts(&self, args: &Value) -> Result<(), String>;

    /// Whether the schemas of its tool were made from the very types it reads and returns: then whatever fits the types
    /// fits the schemas, and compiling them would tell nothing new.
    fn is_typed(&self) -> bool {
        false
    }

    /// What this very call may use at the most, where that is not the same for all of them.
    fn cost(&self, _args: &Value) -> Option<Cost> {
        None
    }

    /// What this very call can do, where that is worse than the tool in general: replacing a file is not creating one.
    fn tier(&self, _args: &Value) -> Option<Tier> {
        None
    }

    /// What this call would change, as it stands now. Nothing is changed by looking, and nothing comes back from a tool
    /// that cannot say what it changes. INVARIANT (looked): one that can changes nothing without having been looked at.
    ///
    /// # Errors
    /// If the call is going to fail, or it cannot be looked at now.
    async fn look(&self, _args: &Value) -> Result<Option<Looked>, Failure> {
        Ok(None)
    }

    /// Which place it acts in, where that is one folder of several: a yes that was given for one holds for no other,
    /// whatever its path is.
    fn place(&self) -> Option<String> {
        None
    }

    async fn call(&self, call: Authorized<Call>) -> Returned;
}
