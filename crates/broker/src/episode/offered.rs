//! A tool as an episode describes it, and what the broker takes it for.

use async_trait::async_trait;
use domain::call::{Call, Failure, ToolId};
use domain::{Tier, Trust};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::alias;
use crate::door::Authorized;
use crate::returned::Returned;
use crate::tool::{Handler, HandlerType, Level, Reach, ToolSpec, defaults};

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Offered {
    pub(super) name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Option<Value>,
    #[serde(default)]
    output_schema: Option<Value>,
    #[serde(default)]
    tier: Option<Tier>,
    #[serde(default)]
    annotations: Option<Annotations>,
    #[serde(default)]
    sinks: Option<Vec<String>>,
    #[serde(default)]
    output_trust: Option<Trust>,
    #[serde(default, deserialize_with = "level")]
    level: Option<Level>,
}

/// What an MCP server says of a tool. Hints: they may come from whoever wrote the server.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Annotations {
    read_only_hint: Option<bool>,
    destructive_hint: Option<bool>,
    idempotent_hint: Option<bool>,
    open_world_hint: Option<bool>,
}

fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Level>, D::Error> {
    let Some(number) = Option::<u8>::deserialize(deserializer)? else { return Ok(None) };
    let unknown = || serde::de::Error::custom(format!("`level` is 0 to 4, not {number}"));
    Level::from_number(number).ok_or_else(unknown).map(Some)
}

impl Offered {
    /// The id that its name stands for. A name that is none gets one that cannot be another tool's: by its place.
    pub(super) fn id(&self, number: u32) -> ToolId {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        alias::resolve(&self.name).unwrap_or_else(|| {
            let shown: String = self.name.chars().take(40).map(plain).collect();
            let made_up = format!("{shown}--{number}").parse();
            #[expect(clippy::expect_used, reason = "at most 40 plain letters, two dashes and ten digits")]
            made_up.expect("the id of a tool")
        })
    }

    /// Vetted tools (level 2). Hints make a tool less only where that cannot hurt.
    pub(super) fn spec(&self, id: ToolId) -> ToolSpec {
        let hints = self.annotations.unwrap_or_default();
        let hinted = match (hints.read_only_hint, hints.destructive_hint) {
            (Some(true), _) => Tier::ReadOnly,
            (_, Some(true)) => Tier::WriteDestructive,
            _ => Tier::WriteSafe,
        };
        let floor = alias::resolve(&self.name.to_lowercase()).map_or(Tier::ReadOnly, |id| alias::floor(&id));
        let tier = self.tier.unwrap_or(hinted).max(floor);
        // A closed world may still be a bank: only what reads there lets nothing leave.
        let closed = hints.open_world_hint == Some(false) && tier == Tier::ReadOnly;
        ToolSpec {
            level: self.level.unwrap_or(Level::ReviewedAfter),
            // Nobody says whose data it handles, so a data level has nothing to say.
            data_class: None,
            handler_type: HandlerType::Mcp,
            input_schema: self.input_schema.clone().unwrap_or_else(defaults::anything),
            output_schema: self.output_schema.clone(),
            sinks: self.sinks.clone().unwrap_or_default(),
            output_trust: self.output_trust.unwrap_or(Trust::Untrusted),
            reach: if closed { Reach::Workspace } else { Reach::Outside },
            idempotent: tier == Tier::ReadOnly || hints.idempotent_hint == Some(true),
            ..ToolSpec::shipped(id, self.description.as_deref().unwrap_or_default(), tier)
        }
    }
}

/// Stands behind the tools of an episode: nothing of it ever runs.
pub(super) struct Never;

#[async_trait]
impl Handler for Never {
    fn accepts(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }

    async fn call(&self, _: Authorized<Call>) -> Returned {
        Failure::logical("nothing of an episode runs").into()
    }
}
