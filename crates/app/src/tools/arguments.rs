//! The arguments of a call, as a person types them.

use kernel::{Code, Problem};
use present::inline;
use serde_json::{Map, Value};

use crate::App;

/// `path=a.txt`, each read as the tool's schema has it, or one JSON object.
///
/// # Errors
/// If they are not of this form, or there is no such tool.
pub async fn read_arguments(
    app: &App,
    tool: &str,
    given: &[String],
    whole: Option<&str>,
) -> Result<Value, Problem> {
    let bad = |why: String| {
        Problem::new(Code::BAD_ARGUMENTS, why)
            .safe("nothing was done")
            .remedy(format!("regent tools show {tool}"))
    };
    if let Some(text) = whole {
        let unreadable = |error: serde_json::Error| match error.classify() {
            serde_json::error::Category::Data => bad(format!("--args: {}", domain::json::reason(&error))),
            _ => bad(format!("--args is no JSON: {error}")),
        };
        let value: Value = domain::json::from_str(text).map_err(unreadable)?;
        return if value.is_object() { Ok(value) } else { Err(bad("--args is no JSON object".into())) };
    }
    let schema = app.tools().show(tool).await?.spec.input_schema;
    let mut args = Map::new();
    for pair in given {
        let (name, value) =
            pair.split_once('=').ok_or_else(|| bad(format!("`{pair}` is not of the form name=value")))?;
        let field = schema.pointer(&format!("/properties/{}", name.replace('~', "~0").replace('/', "~1")));
        let value = match field.map(name_type).as_deref() {
            Some("array") if !value.starts_with('[') => split_list(value),
            // Whatever is no text is written as JSON; what does not read as such is left to the schema to refuse.
            Some(kind) if kind != "string" && kind != "choice" => {
                domain::json::from_str(value).unwrap_or_else(|_| Value::from(value))
            }
            _ => Value::from(value),
        };
        if args.insert(name.to_owned(), value).is_some() {
            return Err(bad(format!("`{name}` is given twice")));
        }
    }
    Ok(Value::Object(args))
}

/// A list without the brackets: `rs,toml`.
fn split_list(value: &str) -> Value {
    value.split(',').filter(|_| !value.is_empty()).map(Value::from).collect()
}

/// The type of a field of a schema, in a word or two.
pub(super) fn name_type(field: &Value) -> String {
    match field.get("type") {
        Some(Value::String(kind)) => inline(kind),
        Some(Value::Array(kinds)) => {
            let kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            kinds.map(inline).collect::<Vec<_>>().join(" or ")
        }
        _ if field.get("enum").is_some() || field.get("oneOf").is_some() => "choice".into(),
        _ => "any".into(),
    }
}
