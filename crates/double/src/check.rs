//! Looking at the fields of a request, as a vendor's server does: what must be there, of which type, and what nobody knows.
//!
//! A place is written `messages.0.role`; dialects that write `messages[0].role` translate it ([`bracketed`]).

use serde_json::{Map, Value};

use crate::denied::Denied;

pub(crate) type Checked<T> = Result<T, Denied>;

/// An object in a request, and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    at: String,
    map: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value, at: impl Into<String>) -> Checked<Self> {
        let at = at.into();
        match value {
            Value::Object(map) => Ok(Self { at, map }),
            other => Err(mistyped(at, "an object", other)),
        }
    }

    /// Where a field of it is.
    pub(crate) fn place(&self, name: &str) -> String {
        if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) }
    }

    /// Null is as good as nothing.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn known(&self, names: &[&str]) -> Checked<()> {
        match self.map.keys().find(|key| !names.contains(&key.as_str())) {
            Some(key) => Err(Denied::Unknown(self.place(key))),
            None => Ok(()),
        }
    }

    pub(crate) fn need(&self, name: &str) -> Checked<&'a Value> {
        self.get(name).ok_or_else(|| Denied::Missing(self.place(name)))
    }

    fn typed<T>(&self, name: &str, what: &str, read: impl Fn(&'a Value) -> Option<T>) -> Checked<Option<T>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| mistyped(self.place(name), what, value))
    }

    pub(crate) fn string(&self, name: &str) -> Checked<Option<&'a str>> {
        self.typed(name, "a string", Value::as_str)
    }

    pub(crate) fn need_string(&self, name: &str) -> Checked<&'a str> {
        self.need(name)?;
        self.string(name).map(Option::unwrap_or_default)
    }

    pub(crate) fn boolean(&self, name: &str) -> Checked<Option<bool>> {
        self.typed(name, "a boolean", Value::as_bool)
    }

    pub(crate) fn number(&self, name: &str) -> Checked<Option<f64>> {
        self.typed(name, "a number", Value::as_f64)
    }

    pub(crate) fn whole(&self, name: &str) -> Checked<Option<u64>> {
        self.typed(name, "an integer", Value::as_u64)
    }

    /// Each with its place.
    pub(crate) fn array(&self, name: &str) -> Checked<Vec<(String, &'a Value)>> {
        let place = self.place(name);
        let found = self.typed(name, "an array", Value::as_array)?;
        Ok(found
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(at, value)| (format!("{place}.{at}"), value))
            .collect())
    }

    pub(crate) fn object(&self, name: &str) -> Checked<Option<Fields<'a>>> {
        self.get(name).map(|value| Fields::of(value, self.place(name))).transpose()
    }

    pub(crate) fn need_object(&self, name: &str) -> Checked<Fields<'a>> {
        Fields::of(self.need(name)?, self.place(name))
    }

    /// One of these words.
    pub(crate) fn word(&self, name: &str, of: &[&str]) -> Checked<Option<&'a str>> {
        match self.string(name)? {
            Some(word) if !of.contains(&word) => Err(Denied::wrong(
                self.place(name),
                format!("got {word:?}, expected one of {}", of.join(", ")),
            )),
            found => Ok(found),
        }
    }
}

fn mistyped(at: String, what: &str, got: &Value) -> Denied {
    let got = match got {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Denied::wrong(at, format!("expected {what}, but got {got} instead"))
}

/// `messages.0.role` as `messages[0].role`.
pub(crate) fn bracketed(place: &str) -> String {
    place.split('.').fold(String::new(), |mut written, part| {
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            written.push_str(&format!("[{part}]"));
        } else {
            if !written.is_empty() {
                written.push('.');
            }
            written.push_str(part);
        }
        written
    })
}

/// Letters, digits, `_` and `-`, at most so many: what vendors take for a name of a tool or of a schema.
pub(crate) fn named(place: String, name: &str, most: usize) -> Checked<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > most || !name.chars().all(plain) {
        return Err(Denied::wrong(
            place,
            format!("{name:?} does not match the pattern '^[a-zA-Z0-9_-]{{1,{most}}}$'"),
        ));
    }
    Ok(())
}

/// The texts of a content that is a string or a list of parts, in the order of the parts.
pub(crate) fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts
            .iter()
            .flat_map(|part| match (part.get("text"), part.get("content"), part.get("output")) {
                (Some(Value::String(text)), _, _) => vec![text.as_str()],
                // A result of a tool holds its own content.
                (_, Some(inner), _) | (_, _, Some(inner)) => texts(inner),
                _ => Vec::new(),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// What strict modes ask of each object in a schema; the first that is not so, as its place and what is wrong.
pub(crate) fn open_object(schema: &Value, all_required: bool, at: &str) -> Option<(String, String)> {
    let map = schema.as_object()?;
    let is_object = map.get("type").is_some_and(|kind| {
        kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
    });
    if is_object {
        if map.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Some((at.to_owned(), "additionalProperties".to_owned()));
        }
        let required: Vec<&Value> =
            map.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        let properties = map.get("properties").and_then(Value::as_object);
        let missing =
            properties.into_iter().flat_map(Map::keys).find(|key| !required.iter().any(|r| r == key));
        if let Some(missing) = missing.filter(|_| all_required) {
            return Some((at.to_owned(), missing.clone()));
        }
    }
    children(map, at).into_iter().find_map(|(at, child)| open_object(child, all_required, &at))
}

/// The first keyword in a schema that is not among these, as its place and name.
pub(crate) fn unknown_keyword(schema: &Value, known: &[&str], at: &str) -> Option<(String, String)> {
    let map = schema.as_object()?;
    if let Some(key) = map.keys().find(|key| !known.contains(&key.as_str())) {
        return Some((at.to_owned(), key.clone()));
    }
    children(map, at).into_iter().find_map(|(at, child)| unknown_keyword(child, known, &at))
}

/// The first keyword in a schema that is not taken, as its place and name.
pub(crate) fn forbidden_keyword(
    schema: &Value,
    is_forbidden: &dyn Fn(&str, &Value) -> bool,
    at: &str,
) -> Option<(String, String)> {
    let map = schema.as_object()?;
    if let Some((key, _)) = map.iter().find(|(key, value)| is_forbidden(key, value)) {
        return Some((at.to_owned(), key.clone()));
    }
    children(map, at).into_iter().find_map(|(at, child)| forbidden_keyword(child, is_forbidden, &at))
}

fn children<'a>(map: &'a Map<String, Value>, at: &str) -> Vec<(String, &'a Value)> {
    let mut children = Vec::new();
    for keyword in ["properties", "$defs", "definitions"] {
        let named = map.get(keyword).and_then(Value::as_object).into_iter().flatten();
        children.extend(named.map(|(name, child)| (format!("{at}.{keyword}.{name}"), child)));
    }
    for keyword in ["anyOf", "allOf", "oneOf"] {
        let listed = map.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate();
        children.extend(listed.map(|(number, child)| (format!("{at}.{keyword}.{number}"), child)));
    }
    children.extend(map.get("items").map(|child| (format!("{at}.items"), child)));
    children
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{bracketed, forbidden_keyword, open_object, texts};

    #[test]
    fn places_are_written_both_ways() {
        for (place, written) in
            [("messages.0.role", "messages[0].role"), ("model", "model"), ("a.1.b.22", "a[1].b[22]")]
        {
            assert_eq!(bracketed(place), written);
        }
    }

    #[test]
    fn objects_that_are_open_are_found_at_any_depth() {
        let inner =
            json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false});
        let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": inner}}, "required": ["a"], "additionalProperties": false});
        assert_eq!(open_object(&schema, false, "$"), None);
        assert_eq!(open_object(&schema, true, "$"), Some(("$.properties.a.items".into(), "b".into())));
        assert_eq!(
            open_object(&json!({"type": "object"}), false, "$"),
            Some(("$".into(), "additionalProperties".into()))
        );
        let bounded = json!({"anyOf": [{"type": "integer", "minimum": 1}]});
        assert_eq!(
            forbidden_keyword(&bounded, &|key, _| key == "minimum", "$"),
            Some(("$.anyOf.0".into(), "minimum".into()))
        );
    }

    #[test]
    fn texts_are_found_in_strings_parts_and_results() {
        let content = json!([{"type": "text", "text": "a"}, {"type": "tool_result", "content": [{"type": "text", "text": "b"}]}]);
        assert_eq!(texts(&content), ["a", "b"]);
        assert_eq!(texts(&json!("c")), ["c"]);
    }
}
