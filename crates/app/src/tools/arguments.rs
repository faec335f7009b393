//! The arguments of a call as a person types them.

use kernel::{Code, Problem};
use present::inline;
use serde_json::{Map, Value};

use super::Tools;

impl Tools<'_> {
    /// Reads `path=a.txt` as the tool's schema has it, or all arguments from one JSON object.
    ///
    /// # Errors
    /// If there is no such tool, the arguments cannot be read, or the ledger fails.
    #[tracing::instrument(level = "info", name = "tools.read_arguments", skip_all)]
    pub async fn read_arguments(
        self,
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
            return read_object(text).map_err(bad);
        }
        let schema = self.show(tool).await?.spec.input_schema;
        let mut args = Map::new();
        for pair in given {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| bad(format!("`{pair}` is not of the form name=value")))?;
            if args.insert(name.to_owned(), read_value(&schema, name, value)).is_some() {
                return Err(bad(format!("`{name}` is given twice")));
            }
        }
        Ok(Value::Object(args))
    }
}

fn read_object(text: &str) -> Result<Value, String> {
    let value: Value = domain::json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => format!("--args: {}", domain::json::reason(&error)),
        _ => format!("--args is no JSON: {error}"),
    })?;
    if value.is_object() { Ok(value) } else { Err("--args is no JSON object".into()) }
}

/// A value as the schema has it: a text as it is, a list with or without brackets, everything else as JSON. What cannot be read
/// stays a text, and the schema refuses it later.
fn read_value(schema: &Value, name: &str, text: &str) -> Value {
    let field = schema.pointer(&format!("/properties/{}", name.replace('~', "~0").replace('/', "~1")));
    match field.map(name_type).as_deref() {
        Some("array") if !text.starts_with('[') => {
            text.split(',').filter(|_| !text.is_empty()).map(Value::from).collect()
        }
        Some("string" | "choice") | None => Value::from(text),
        Some(_) => domain::json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    }
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
