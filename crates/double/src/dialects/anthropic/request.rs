//! What Messages takes, and what it does not.

use serde_json::{Value, json};

use crate::asked::{Asked, Tool};
use crate::check::{Checked, Fields, forbidden_keyword, named, open_object, texts};
use crate::denied::Denied;
use crate::dialects::{find, fits};
use crate::script::{Model, Script};

const OLD: &str = "2023-06-01";
const NEW: &str = "2026-10-21";
/// Parameters that the new version has no more.
const SAMPLING: &[&str] = &["temperature", "top_p", "top_k"];
const FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "system",
    "stream",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "tools",
    "tool_choice",
    "thinking",
    "metadata",
    "service_tier",
    "container",
    "output_config",
    "cache_control",
    "inference_geo",
    "context_management",
    "mcp_servers",
    "diagnostics",
    "speed",
    "user_profile_id",
    "workspace_id",
];
/// Keywords of JSON schema that structured outputs do not take ("JSON Schema limitations").
const NOT_IN_SCHEMAS: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "oneOf",
    "patternProperties",
    "minProperties",
    "maxProperties",
];

pub(crate) fn understand(asked: &mut Asked, script: &Script) -> Checked<()> {
    let version = asked.header("anthropic-version").map(str::to_owned);
    let version = version.ok_or_else(|| Denied::wrong("anthropic-version", "header is required"))?;
    if ![OLD, NEW].contains(&version.as_str()) {
        return Err(Denied::wrong("anthropic-version", format!("{version:?} is not a valid version")));
    }
    let body = asked.body.clone();
    let fields = Fields::of(&body, "")?;
    fields.known(FIELDS)?;
    asked.model = fields.need_string("model")?.to_owned();
    asked.stream = fields.boolean("stream")?.unwrap_or(false);
    let max_tokens = fields.need("max_tokens").and_then(|_| fields.whole("max_tokens"))?.unwrap_or_default();
    fields.need("messages")?;
    messages(asked, &fields, &version)?;
    if let Some(system) = fields.get("system") {
        texts(system).into_iter().for_each(|text| asked.add_system(text));
    }
    let model = find(script, asked)?;
    if max_tokens == 0 || max_tokens > model.output {
        let why = format!(
            "{max_tokens} > {}, which is the maximum allowed number of output tokens for {}",
            model.output, model.name
        );
        return Err(Denied::wrong("max_tokens", why));
    }
    tools(asked, &fields, model)?;
    thinking(&fields, max_tokens)?;
    sampling(&fields, model, &version)?;
    format(asked, &fields, model)?;
    fits(model, asked)
}

fn messages(asked: &mut Asked, fields: &Fields<'_>, version: &str) -> Checked<()> {
    let messages = fields.array("messages")?;
    if messages.is_empty() {
        return Err(Denied::wrong("messages", "at least one message is required"));
    }
    for (at, message) in messages {
        let message = Fields::of(message, at)?;
        message.known(&["role", "content", "cache_control"])?;
        message.need_string("role")?;
        let role = message.word("role", &["user", "assistant", "system"])?;
        let content = message.need("content")?;
        for text in texts(content) {
            match role {
                Some("user") => asked.add_user(text),
                Some("system") => asked.add_system(text),
                _ => {}
            }
        }
        if content.as_str() == Some("") || content.as_array().is_some_and(Vec::is_empty) {
            return Err(Denied::wrong(message.place("content"), "all messages must have non-empty content"));
        }
        for (at, block) in message.array("content").unwrap_or_default() {
            let block = Fields::of(block, at)?;
            block.need_string("type")?;
            // What the new version refuses in messages: documents of the model's, citations of the user's.
            let refused = match (role, block.string("type")?) {
                (Some("assistant"), Some("document")) => Some("type"),
                (Some("user"), Some("text"))
                    if block.get("citations").is_some_and(|found| *found != json!([])) =>
                {
                    Some("citations")
                }
                _ => None,
            };
            if let Some(field) = refused.filter(|_| version == NEW) {
                return Err(Denied::wrong(block.place(field), format!("not permitted in API version {NEW}")));
            }
            if block.string("type")? == Some("text") && block.need_string("text")?.is_empty() {
                return Err(Denied::wrong(block.place("text"), "text content blocks must be non-empty"));
            }
        }
    }
    Ok(())
}

fn tools(asked: &mut Asked, fields: &Fields<'_>, model: &Model) -> Checked<()> {
    for (at, tool) in fields.array("tools")? {
        let tool = Fields::of(tool, at)?;
        tool.known(&[
            "type",
            "name",
            "description",
            "input_schema",
            "cache_control",
            "strict",
            "defer_loading",
            "allowed_callers",
            "input_examples",
            "eager_input_streaming",
        ])?;
        let name = tool.need_string("name")?;
        named(tool.place("name"), name, 128)?;
        let schema = tool.need("input_schema")?;
        if schema.get("type") != Some(&"object".into()) {
            return Err(Denied::wrong(tool.place("input_schema.type"), "Input should be 'object'"));
        }
        if tool.boolean("strict")? == Some(true) {
            strict(schema, &tool.place("input_schema"))?;
        }
        let description = tool.string("description")?.unwrap_or_default().to_owned();
        asked.tools.push(Tool { name: name.to_owned(), description, schema: schema.clone() });
    }
    if !asked.tools.is_empty() && !model.tools {
        return Err(Denied::UnsupportedTools);
    }
    if let Some(choice) = fields.object("tool_choice")? {
        choice.need_string("type")?;
        let kind = choice.word("type", &["auto", "any", "tool", "none"])?.unwrap_or_default();
        if asked.tools.is_empty() {
            return Err(Denied::wrong("tool_choice", "may only be specified while providing `tools`"));
        }
        if kind == "tool" {
            let name = choice.need_string("name")?;
            if !asked.tools.iter().any(|tool| tool.name == name) {
                return Err(Denied::wrong(
                    "tool_choice",
                    format!("tool {name:?} not found in provided tools"),
                ));
            }
        }
        // "Extended thinking with tool use": only auto and none go with it.
        let thinks =
            fields.object("thinking")?.and_then(|thinking| thinking.get("type")) == Some(&"enabled".into());
        if thinks && ["any", "tool"].contains(&kind) {
            return Err(Denied::wrong("thinking", "may not be enabled when tool_choice forces tool use"));
        }
    }
    Ok(())
}

fn thinking(fields: &Fields<'_>, max_tokens: u64) -> Checked<()> {
    let Some(thinking) = fields.object("thinking")? else { return Ok(()) };
    thinking.need_string("type")?;
    if thinking.word("type", &["enabled", "disabled", "adaptive", "between_tools"])? == Some("enabled") {
        let budget =
            thinking.need("budget_tokens").and_then(|_| thinking.whole("budget_tokens"))?.unwrap_or_default();
        if budget < 1024 {
            return Err(Denied::wrong(
                "thinking.enabled.budget_tokens",
                "Input should be greater than or equal to 1024",
            ));
        }
        if budget >= max_tokens {
            return Err(Denied::wrong("max_tokens", "must be greater than `thinking.budget_tokens`"));
        }
    }
    Ok(())
}

fn sampling(fields: &Fields<'_>, model: &Model, version: &str) -> Checked<()> {
    for name in SAMPLING {
        let Some(value) = fields.number(name)? else { continue };
        if version == NEW {
            return Err(Denied::Unknown((*name).to_owned()));
        }
        if model.thinks {
            return Err(Denied::Unsupported((*name).to_owned()));
        }
        if *name == "temperature" && !(0.0..=1.0).contains(&value) {
            return Err(Denied::wrong("temperature", "range: 0..1"));
        }
    }
    Ok(())
}

fn format(asked: &mut Asked, fields: &Fields<'_>, model: &Model) -> Checked<()> {
    let Some(config) = fields.object("output_config")? else { return Ok(()) };
    config.known(&["effort", "format"])?;
    config.word("effort", &["low", "medium", "high", "xhigh", "max"])?;
    let Some(format) = config.object("format")? else { return Ok(()) };
    format.known(&["type", "schema"])?;
    format.need_string("type")?;
    format.word("type", &["json_schema"])?;
    let schema = format.need("schema")?;
    if !model.schema {
        return Err(Denied::UnsupportedFormat);
    }
    strict(schema, "output_config.format.schema")?;
    asked.schema = Some(schema.clone());
    Ok(())
}

/// Of `minItems`, only 0 and 1.
fn is_not_taken(keyword: &str, value: &Value) -> bool {
    NOT_IN_SCHEMAS.contains(&keyword)
        || (keyword == "minItems" && value.as_u64().is_some_and(|least| least > 1))
}

fn strict(schema: &Value, at: &str) -> Checked<()> {
    if let Some((place, _)) = open_object(schema, false, at) {
        let why = "For 'object' type, 'additionalProperties' must be explicitly set to false";
        return Err(Denied::wrong(place, why));
    }
    if let Some((place, keyword)) = forbidden_keyword(schema, &is_not_taken, at) {
        return Err(Denied::wrong(place, format!("property '{keyword}' is not supported")));
    }
    Ok(())
}
