//! What both of OpenAI's dialects share: the key, the errors, the models, the rules for strict schemas.
//!
//! - Error codes: <https://platform.openai.com/docs/guides/error-codes>
//! - Authentication: <https://platform.openai.com/docs/api-reference/authentication>
//! - Structured outputs, "Supported schemas": <https://platform.openai.com/docs/guides/structured-outputs>
//! - Models: <https://platform.openai.com/docs/api-reference/models>

use serde_json::{Value, json};

use crate::asked::Asked;
use crate::check::{Checked, bracketed, open_object};
use crate::denied::Denied;
use crate::script::Model;

/// When everything was made: there is no clock here.
pub(crate) const CREATED: u64 = 1_767_225_600;

pub(crate) fn admit(asked: &Asked, key: &str) -> Checked<()> {
    match asked.bearer() {
        None | Some("") => Err(Denied::NoKey),
        Some(given) if given != key => Err(Denied::WrongKey),
        Some(_) => Ok(()),
    }
}

/// `error` with `message`, `type`, `param` and `code`. `input` is what the dialect calls the prompt.
pub(crate) fn denied(denied: &Denied, input: &str) -> (u16, Value) {
    let (kind, param, code, message) = told(denied, input);
    let body = json!({"error": {"message": message, "type": kind, "param": param, "code": code}});
    (denied.status(), body)
}

type Told = (&'static str, Option<String>, Option<&'static str>, String);

fn told(denied: &Denied, input: &str) -> Told {
    const INVALID: &str = "invalid_request_error";
    const SERVER: &str = "server_error";
    let plain = |kind, message: &str| (kind, None, None, message.to_owned());
    match denied {
        Denied::NoJson => plain(INVALID, "We could not parse the JSON body of your request."),
        Denied::Missing(field) => {
            let field = bracketed(field);
            let message = format!("Missing required parameter: '{field}'.");
            (INVALID, Some(field), Some("missing_required_parameter"), message)
        }
        Denied::Wrong { field, why } => {
            let field = bracketed(field);
            let message = format!("Invalid value for '{field}': {why}.");
            (INVALID, Some(field), Some("invalid_value"), message)
        }
        // Chat Completions words it differently where it is not inside of something.
        Denied::Unknown(field) if input == "messages" && !field.contains('.') => {
            plain(INVALID, &format!("Unrecognized request argument supplied: {field}"))
        }
        Denied::UnsupportedValue { field, value } => {
            let message = format!(
                "Unsupported value: '{field}' does not support {value} with this model. Only the default (1) value is supported."
            );
            (INVALID, Some(field.clone()), Some("unsupported_value"), message)
        }
        Denied::Unknown(field) => {
            let field = bracketed(field);
            let message = format!("Unknown parameter: '{field}'.");
            (INVALID, Some(field), Some("unknown_parameter"), message)
        }
        Denied::Unsupported(field) => {
            let field = bracketed(field);
            let mut message = format!("Unsupported parameter: '{field}' is not supported with this model.");
            if field == "max_tokens" {
                message.push_str(" Use 'max_completion_tokens' instead.");
            }
            (INVALID, Some(field), Some("unsupported_parameter"), message)
        }
        Denied::UnsupportedFormat => {
            let param = if input == "input" { "text.format" } else { "response_format" };
            let message = format!(
                "Invalid parameter: '{param}' of type 'json_schema' is not supported with this model."
            );
            (INVALID, Some(param.to_owned()), None, message)
        }
        Denied::UnsupportedTools => {
            let message = "Unsupported parameter: 'tools' is not supported with this model.".to_owned();
            (INVALID, Some("tools".to_owned()), Some("unsupported_parameter"), message)
        }
        Denied::TooLong { tokens, limit } => {
            let message = if input == "input" {
                "Your input exceeds the context window of this model. Please adjust your input and try again."
                    .to_owned()
            } else {
                format!(
                    "This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens."
                )
            };
            (INVALID, Some(input.to_owned()), Some("context_length_exceeded"), message)
        }
        Denied::NoKey => plain(INVALID, "You didn't provide an API key."),
        Denied::WrongKey | Denied::Unauthorized => {
            (INVALID, None, Some("invalid_api_key"), "Incorrect API key provided: ***.".to_owned())
        }
        Denied::Payment => plain("insufficient_funds", "Payment is required to go on."),
        Denied::Quota => {
            let message =
                "You exceeded your current quota, please check your plan and billing details.".to_owned();
            ("insufficient_quota", None, Some("insufficient_quota"), message)
        }
        Denied::Forbidden => {
            let message = "Country, region, or territory not supported".to_owned();
            ("request_forbidden", None, Some("unsupported_country_region_territory"), message)
        }
        Denied::NoModel(model) => {
            let message = format!("The model `{model}` does not exist or you do not have access to it.");
            (INVALID, None, Some("model_not_found"), message)
        }
        Denied::NoPath => plain(INVALID, "Invalid URL"),
        Denied::TooLarge => plain(INVALID, "The request is too large."),
        Denied::RateLimited(_) => {
            ("requests", None, Some("rate_limit_exceeded"), "Rate limit reached for requests.".to_owned())
        }
        Denied::Internal => plain(SERVER, "The server had an error while processing your request."),
        Denied::BadGateway => plain(SERVER, "Bad gateway."),
        Denied::Unavailable(_) | Denied::Overloaded => {
            plain(SERVER, "The engine is currently overloaded, please try again later.")
        }
        Denied::Filtered => (INVALID, None, Some("content_filter"), "The response was filtered.".to_owned()),
    }
}

pub(crate) fn headers(number: u64) -> Vec<(&'static str, String)> {
    vec![("x-request-id", format!("req_double{number:08}")), ("openai-version", "2020-10-01".to_owned())]
}

pub(crate) fn models(models: &[Model]) -> Value {
    json!({"object": "list", "data": models.iter().map(model).collect::<Vec<_>>()})
}

pub(crate) fn model(model: &Model) -> Value {
    json!({"id": model.name, "object": "model", "created": CREATED, "owned_by": "double"})
}

/// Strict: every object closed, every property required, an object at the root.
pub(crate) fn strict(schema: &Value, param: &str, name: &str) -> Checked<()> {
    if schema.get("type") != Some(&"object".into()) {
        let why = format!("invalid schema for '{name}': schema must be a JSON Schema of 'type: \"object\"'");
        return Err(Denied::wrong(param, why));
    }
    match open_object(schema, true, "") {
        None => Ok(()),
        Some((at, missing)) => {
            let at = at.replace('.', "', '");
            let wants = if missing == "additionalProperties" {
                "'additionalProperties' is required to be supplied and to be false".to_owned()
            } else {
                format!(
                    "'required' is required to be supplied and to be an array including every key in properties, missing '{missing}'"
                )
            };
            Err(Denied::wrong(param, format!("invalid schema for '{name}': in context=({at}), {wants}")))
        }
    }
}

/// A model that thinks takes no sampling parameters and names its limit otherwise ("Reasoning models").
pub(crate) fn sampling(asked: &Asked, model: &Model, names: &[&str]) -> Checked<()> {
    let given = names.iter().find(|name| asked.body.get(**name).is_some_and(|value| !value.is_null()));
    match given {
        Some(name) if model.thinks => Err(Denied::Unsupported((*name).to_owned())),
        _ => Ok(()),
    }
}
