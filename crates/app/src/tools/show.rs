//! `tools show`.

use broker::access::Switch;
use broker::{ToolSpec, alias};
use clap::Args;
use kernel::Problem;
use present::{Page, Style, inline, shorten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::name_type;
use super::{Tools, known, line};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Everything that is known of one tool
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowTool {
    /// Its id, or another name it is known by
    pub tool: String,
}

impl Operation for ShowTool {
    const SPEC: OperationSpec = OperationSpec::new(
        "tools show",
        OperationAccess::READ,
        &["regent tools show write_file", "regent tools show file:read --json"],
    )
    .route(HttpMethod::Get, "/tools/{tool}");
    type Output = ToolView;

    async fn run(self, context: &OperationContext<'_>) -> Result<ToolView, OperationError> {
        Ok(context.app.tools().show(&self.tool).await?)
    }
}

/// Everything that is known of one tool.
#[derive(Clone, Debug, Serialize)]
pub struct ToolView {
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// As the rabs seed calls the tier.
    pub risk_level: domain::tier::RiskLevel,
    pub switch: Switch,
    pub shipped: bool,
    /// Other names that are understood.
    pub aliases: Vec<&'static str>,
    pub alignment_score_90d: Option<f64>,
}

impl Output for ToolView {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(self.lines(style).join("\n"));
        page
    }
}

impl ToolView {
    fn lines(&self, style: &Style<'_>) -> Vec<String> {
        let Self { spec, risk_level, switch, shipped, aliases, alignment_score_90d } = self;
        let list = |items: &[String]| {
            if items.is_empty() { "none".to_owned() } else { inline(&items.join(", ")) }
        };
        let on = match switch {
            Switch::On => "on",
            Switch::Off => "off (tool-access.json)",
            Switch::OffByEnvironment => "off (REGENT_TOOLS_OFF)",
            Switch::Unreadable => "off: tool-access.json cannot be read",
        };
        let score = alignment_score_90d.map_or_else(|| "none yet".to_owned(), |score| format!("{score:.2}"));
        let again = if spec.may_run_again() { "may run again after a crash" } else { "never runs twice" };
        let ships = if *shipped { ", ships with the program" } else { "" };
        let mut lines = vec![
            style.theme.paint_command(spec.id.as_str()),
            format!("  {}", inline(&spec.description)),
            format!("  switch       {on}"),
            format!("  tier         {} (risk level {})", spec.tier, risk_level.name()),
            format!(
                "  mode         {}, validation {}",
                spec.execution_mode.name(),
                spec.validation_mode.name()
            ),
            format!("  level        {} of 4, alignment over 90 days {score}", spec.level as u8),
            format!("  category     {}", spec.category.name()),
            format!("  data class   {}", spec.data_class.map_or("none", broker::DataClass::name)),
            format!("  reaches      {}", spec.reach.name()),
            format!("  agents       {}", list(&spec.agent_access)),
            format!("  roles        {}", list(&spec.role_requirements)),
            format!("  sinks        {}", list(&spec.sinks)),
            format!("  crash        {again}"),
            format!("  at most      {:?}, {} bytes of result", spec.timeout, spec.output_bytes),
            format!("  behind it    {}{ships}", spec.handler_type.name()),
        ];
        if !aliases.is_empty() {
            lines.push(format!("  also called  {}", aliases.join(", ")));
        }
        if !spec.handler_config.is_null() {
            lines.push(format!("  configured   {}", inline(&spec.handler_config.to_string())));
        }
        lines.push(format!("takes\n{}", describe_fields(&spec.input_schema)));
        if let Some(schema) = &spec.output_schema {
            lines.push(format!("gives\n{}", describe_fields(schema)));
        }
        lines
    }
}

/// The fields of a schema, one per line; `--json` has it whole.
fn describe_fields(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let needed = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let line = |(name, field): (&String, &Value)| {
        let about = field.get("description").and_then(Value::as_str).unwrap_or_default();
        let name = if needed(name) { name.clone() } else { format!("[{name}]") };
        format!("  {:<14} {:<10} {}", inline(&name), name_type(field), shorten(about, 90))
    };
    let lines: Vec<String> = properties.into_iter().flatten().map(line).collect();
    if lines.is_empty() { "  anything: see `--json`".into() } else { lines.join("\n") }
}

impl Tools<'_> {
    /// # Errors
    /// If there is no such tool, or the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "tools.show", skip_all)]
    pub async fn show(self, name: &str) -> Result<ToolView, Problem> {
        let tool_set = self.tool_set().await?;
        let spec = known(&tool_set, name)?.clone();
        let row = self.row(&spec.id).await?;
        let line = line(&tool_set, &spec, &self.app.host.switches());
        let aliases = alias::ARI.iter().filter(|(_, id, _)| *id == spec.id.as_str());
        Ok(ToolView {
            risk_level: spec.tier.risk_level(),
            switch: line.switch,
            shipped: line.shipped,
            aliases: aliases.map(|(alias, ..)| *alias).collect(),
            alignment_score_90d: row.and_then(|row| row.alignment_score_90d).map(f64::from),
            spec,
        })
    }
}
