//! What generateContent takes, and what it does not.

use serde_json::{Map, Value, json};

use crate::asked::{Asked, Tool};
use crate::check::{Checked, Fields, bracketed, named, texts, unknown_keyword};
use crate::denied::Denied;
use crate::dialects::{find, fits};
use crate::script::{Model, Script};

const FIELDS: &[&str] = &[
    "model",
    "contents",
    "tools",
    "toolConfig",
    "safetySettings",
    "systemInstruction",
    "generationConfig",
    "cachedContent",
    "serviceTier",
    "store",
];
const CONFIG: &[&str] = &[
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "_responseJsonSchema",
    "responseModalities",
    "candidateCount",
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseLogprobs",
    "logprobs",
    "enableEnhancedCivicAnswers",
    "speechConfig",
    "thinkingConfig",
    "imageConfig",
    "mediaResolution",
    "audioTranscriptionConfig",
    "continuationToken",
];
/// What `Schema` has: a part of OpenAPI, not of JSON schema.
const SCHEMA: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];

pub(crate) fn understand(asked: &mut Asked, script: &Script) -> Checked<()> {
    let path = asked.path.split('?').next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    let (name, method) = last.rsplit_once(':').ok_or(Denied::NoPath)?;
    let (name, method) = (name.to_owned(), method.to_owned());
    asked.stream = match method.as_str() {
        "generateContent" => false,
        "streamGenerateContent" => true,
        _ => return Err(Denied::NoPath),
    };
    asked.model = name;
    let body = camel(&asked.body, false);
    let fields = Fields::of(&body, "")?;
    fields.known(FIELDS)?;
    contents(asked, &fields)?;
    let model = find(script, asked)?;
    tools(asked, &fields, model)?;
    if let Some(config) = fields.object("generationConfig")? {
        generation(asked, &config, model)?;
    }
    fits(model, asked)
}

fn contents(asked: &mut Asked, fields: &Fields<'_>) -> Checked<()> {
    let contents = fields.array("contents")?;
    if contents.is_empty() {
        return Err(Denied::Missing("contents".to_owned()));
    }
    for (at, content) in contents {
        let content = Fields::of(content, at)?;
        content.known(&["parts", "role"])?;
        let role = content.string("role")?.unwrap_or("user");
        if !["user", "model", "function"].contains(&role) {
            return Err(Denied::wrong(content.place("role"), "Please use a valid role: user, model."));
        }
        let parts = content.array("parts")?;
        if parts.is_empty() {
            return Err(Denied::Missing(content.place("parts")));
        }
        for (at, part) in parts {
            let part = Fields::of(part, at)?;
            part.known(&[
                "text",
                "thought",
                "thoughtSignature",
                "inlineData",
                "fileData",
                "functionCall",
                "functionResponse",
                "executableCode",
                "codeExecutionResult",
                "videoMetadata",
                "partMetadata",
                "mediaResolution",
            ])?;
            if let Some(response) = part.object("functionResponse")? {
                response.need_string("name")?;
                asked.add_user(&response.need("response")?.to_string());
            }
            if role != "model" {
                asked.add_user(part.string("text")?.unwrap_or_default());
            }
        }
    }
    if let Some(system) = fields.object("systemInstruction")? {
        system.known(&["parts", "role"])?;
        texts(system.get("parts").unwrap_or(&Value::Null))
            .into_iter()
            .for_each(|text| asked.add_system(text));
    }
    Ok(())
}

fn tools(asked: &mut Asked, fields: &Fields<'_>, model: &Model) -> Checked<()> {
    for (at, tool) in fields.array("tools")? {
        let tool = Fields::of(tool, at)?;
        for (at, function) in tool.array("functionDeclarations")? {
            let function = Fields::of(function, at)?;
            function.known(&[
                "name",
                "description",
                "parameters",
                "parametersJsonSchema",
                "behavior",
                "response",
                "responseJsonSchema",
            ])?;
            let name = function.need_string("name")?;
            named(function.place("name"), name, 64)?;
            let (parameters, schema) = (function.get("parameters"), function.get("parametersJsonSchema"));
            if let Some(parameters) = parameters {
                known_schema(parameters, &function.place("parameters"))?;
                if schema.is_some() {
                    let why = "parameters and parameters_json_schema must not both be set";
                    return Err(Denied::wrong(function.place("parameters"), why));
                }
            }
            let description = function.string("description")?.unwrap_or_default().to_owned();
            let schema =
                parameters.or(schema).cloned().unwrap_or_else(|| json!({"type": "OBJECT", "properties": {}}));
            asked.tools.push(Tool { name: name.to_owned(), description, schema });
        }
    }
    if !asked.tools.is_empty() && !model.tools {
        return Err(Denied::UnsupportedTools);
    }
    if let Some(config) = fields.object("toolConfig")? {
        config.known(&["functionCallingConfig", "retrievalConfig", "includeServerSideToolInvocations"])?;
        if let Some(calling) = config.object("functionCallingConfig")? {
            calling.known(&["mode", "allowedFunctionNames", "streamFunctionCallArguments"])?;
            let mode = calling.word("mode", &["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"])?;
            let names = calling.array("allowedFunctionNames")?;
            if !names.is_empty() && !["ANY", "VALIDATED"].contains(&mode.unwrap_or_default()) {
                let why = "should only be set when the mode is ANY or VALIDATED";
                return Err(Denied::wrong(calling.place("allowedFunctionNames"), why));
            }
        }
    }
    Ok(())
}

fn generation(asked: &mut Asked, config: &Fields<'_>, model: &Model) -> Checked<()> {
    config.known(CONFIG)?;
    config.whole("maxOutputTokens")?;
    if config.number("temperature")?.is_some_and(|value| !(0.0..=2.0).contains(&value)) {
        return Err(Denied::wrong(config.place("temperature"), "must be in the range [0.0, 2.0]"));
    }
    let plain = config.get("responseSchema");
    let json_schema = config.get("responseJsonSchema").or_else(|| config.get("_responseJsonSchema"));
    let mime = config.string("responseMimeType")?;
    if (plain.is_some() || json_schema.is_some())
        && mime != Some("application/json")
        && mime != Some("text/x.enum")
    {
        let why = "response_schema is only supported with response_mime_type application/json";
        return Err(Denied::wrong(config.place("responseMimeType"), why));
    }
    if mime == Some("application/json") && !model.schema {
        return Err(Denied::UnsupportedFormat);
    }
    if let Some(schema) = plain {
        known_schema(schema, &config.place("responseSchema"))?;
    }
    if let Some(thinking) = config.object("thinkingConfig")? {
        thinking.known(&["includeThoughts", "thinkingBudget", "thinkingLevel"])?;
        if !model.thinks {
            return Err(Denied::Unsupported("Thinking".to_owned()));
        }
    }
    asked.schema = plain.or(json_schema).cloned();
    Ok(())
}

fn known_schema(schema: &Value, at: &str) -> Checked<()> {
    match unknown_keyword(schema, SCHEMA, at) {
        Some((place, keyword)) => Err(Denied::Unknown(format!("{place}.{keyword}"))),
        None => Ok(()),
    }
}

/// Names in `camelCase`. What is the user's own (properties of a schema, arguments, JSON schemas) is left as it is.
fn camel(value: &Value, is_user_s: bool) -> Value {
    const USER_S: &[&str] = &[
        "properties",
        "args",
        "response",
        "parametersJsonSchema",
        "responseJsonSchema",
        "_responseJsonSchema",
        "partMetadata",
    ];
    match value {
        Value::Array(values) => values.iter().map(|value| camel(value, is_user_s)).collect(),
        Value::Object(map) => {
            let written = map.iter().map(|(name, value)| {
                let name = if is_user_s { name.clone() } else { camel_name(name) };
                let value = match name.as_str() {
                    // The names are the user's, what they stand for is a schema again.
                    "properties" if !is_user_s => properties(value),
                    name if USER_S.contains(&name) => camel(value, true),
                    _ => camel(value, is_user_s),
                };
                (name, value)
            });
            Value::Object(written.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn properties(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), camel(value, false))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn camel_name(name: &str) -> String {
    let mut written = String::new();
    let mut upper = false;
    for (at, c) in name.chars().enumerate() {
        if c == '_' && at > 0 {
            upper = true;
        } else {
            written.push(if upper { c.to_ascii_uppercase() } else { c });
            upper = false;
        }
    }
    written
}

/// A place as errors write it: `generation_config.response_schema`.
pub(crate) fn snake(place: &str) -> String {
    let written = place.chars().fold(String::new(), |mut written, c| {
        if c.is_ascii_uppercase() {
            written.push('_');
        }
        written.push(c.to_ascii_lowercase());
        written
    });
    bracketed(&written)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{camel, snake};

    #[test]
    fn names_are_taken_either_way_and_the_users_own_are_left() {
        let given = json!({"generation_config": {"response_schema": {"properties": {"my_field": {"min_items": 1}}}, "_responseJsonSchema": {"a_b": 1}}});
        let wanted = json!({"generationConfig": {"responseSchema": {"properties": {"my_field": {"minItems": 1}}}, "_responseJsonSchema": {"a_b": 1}}});
        assert_eq!(camel(&given, false), wanted);
        assert_eq!(snake("generationConfig.responseSchema.0"), "generation_config.response_schema[0]");
    }
}
