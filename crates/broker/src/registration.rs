//! How somebody registers a tool: what they write, and what follows from what stands behind it.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::call::ToolId;
use domain::{Tier, Trust};
use serde::Deserialize;
use serde_json::Value;

use crate::registry::{NotRegistered, Registry};
use crate::tool::{
    Author, Category, Cost, DataClass, ExecutionMode, HandlerType, Level, Reach, ToolSpec, ValidationMode,
    defaults,
};

/// What a registration may say. What it leaves out is as the function behind it has it; nothing it says makes the tool
/// less than that.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    pub tool_id: ToolId,
    pub description: String,
    pub handler_config: Value,
    #[serde(default = "defaults::handler_type")]
    pub handler_type: HandlerType,
    pub category: Option<Category>,
    pub tier: Option<Tier>,
    pub execution_mode: Option<ExecutionMode>,
    #[serde(default = "defaults::validation_mode")]
    pub validation_mode: ValidationMode,
    #[serde(default = "defaults::everybody")]
    pub agent_access: Vec<String>,
    #[serde(default)]
    pub role_requirements: Vec<String>,
    pub context_bucket: Option<String>,
    pub data_class: Option<DataClass>,
    pub input_schema: Option<Value>,
    pub output_schema: Option<Value>,
    pub sinks: Option<Vec<String>>,
    pub authorship: Option<BTreeMap<String, Author>>,
    #[serde(default = "defaults::output_trust")]
    pub output_trust: Trust,
    pub reach: Option<Reach>,
    #[serde(default)]
    pub idempotent: bool,
    pub timeout_seconds: Option<u64>,
    #[serde(default)]
    pub cost: Cost,
}

impl Registration {
    /// The whole specification. It starts at level 0: a person looks at every call.
    ///
    /// # Errors
    /// If what stands behind it is not there.
    pub fn spec(self, registry: &Registry) -> Result<ToolSpec, NotRegistered> {
        let function = self.handler_config.get("function").and_then(Value::as_str).unwrap_or_default();
        let behind = registry.named(function).ok_or_else(|| NotRegistered::NoFunction(function.into()));
        let behind = match self.handler_type {
            HandlerType::Function => behind?,
            other => return Err(NotRegistered::NoHandler(other.name())),
        };
        let fixed = self.handler_config.get("fixed").and_then(Value::as_object);
        let is_fixed = |name: &String| fixed.is_some_and(|fixed| fixed.contains_key(name));
        let tier = self.tier.unwrap_or(behind.tier);
        let sinks = || behind.sinks.iter().filter(|sink| !is_fixed(sink)).cloned().collect();
        let schema = || without(&behind.input_schema, &is_fixed);
        Ok(ToolSpec {
            id: self.tool_id,
            description: self.description,
            category: self.category.unwrap_or(behind.category),
            tier,
            execution_mode: self.execution_mode.unwrap_or(ToolSpec::usual_mode(tier)),
            validation_mode: self.validation_mode,
            level: Level::ReviewAll,
            agent_access: self.agent_access,
            role_requirements: self.role_requirements,
            context_bucket: self.context_bucket,
            data_class: self.data_class.or(behind.data_class),
            handler_type: self.handler_type,
            input_schema: self.input_schema.unwrap_or_else(schema),
            output_schema: self.output_schema.or_else(|| behind.output_schema.clone()),
            sinks: self.sinks.unwrap_or_else(sinks),
            authorship: self.authorship.unwrap_or_else(|| behind.authorship.clone()),
            output_trust: self.output_trust,
            reach: self.reach.unwrap_or(behind.reach),
            idempotent: self.idempotent,
            timeout: self.timeout_seconds.map_or(behind.timeout, Duration::from_secs),
            cost: self.cost,
            output_bytes: behind.output_bytes,
            handler_config: self.handler_config,
        })
    }
}

/// A function's schema without the arguments that are fixed.
fn without(schema: &Value, is_fixed: &impl Fn(&String) -> bool) -> Value {
    let mut schema = schema.clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !is_fixed(name));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(|name| is_fixed(&name.to_owned())));
    }
    schema
}
