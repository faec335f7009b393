//! What the records of calls say of files. A record is evidence whatever its tool is called: `path` is the file it is
//! about, `files` are those it found, `deleted`, `made` and `moved` those it changed, `count` or `matching_lines` how many;
//! that one file is gone goes by the tool's name.

use domain::call::{Evidence, FailureClass};
use serde_json::Value;

use crate::check::Found;

const DELETES: &str = "delete_file";

/// What a call that changed several files says of each: in which list, and where in it.
const CHANGED: [(&str, &str, Fate); 4] = [
    ("deleted", "path", Fate::Gone),
    ("made", "to", Fate::There),
    ("moved", "to", Fate::There),
    ("moved", "from", Fate::Gone),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    There,
    Gone,
}

/// What the last call that tells says of a file, and the number of that call.
pub(crate) fn fate(found: Found<'_>, path: &str) -> Option<(Fate, u32)> {
    about(found, path).find_map(|(number, call)| Some((told(call, path)?, number)))
}

/// The calls that may say something of a file, the newest one first. That it is there or gone after an act on it has
/// failed does not show that the act did it: then only acts after that one count.
fn about<'a>(found: Found<'a>, path: &str) -> impl Iterator<Item = (u32, &'a Evidence)> {
    let failed = found.newest_first().find(|(_, call)| {
        let ran = !matches!(&call.outcome, Err(failure) if failure.class == FailureClass::Refused);
        found.acting.contains(&call.tool) && ran && !call.is_ok() && aims_at(&call.args, path)
    });
    let failed = failed.map(|(number, _)| number);
    let counts = move |number: u32, call: &Evidence| {
        failed.is_none_or(|failed| number > failed && found.acting.contains(&call.tool))
    };
    found.newest_first().filter(move |(number, call)| counts(*number, call))
}

/// Whether a text anywhere in the arguments is this path.
fn aims_at(args: &Value, path: &str) -> bool {
    match args {
        Value::String(text) => same(text, path),
        Value::Array(items) => items.iter().any(|item| aims_at(item, path)),
        Value::Object(fields) => fields.values().any(|field| aims_at(field, path)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn told(call: &Evidence, path: &str) -> Option<Fate> {
    let record = call.outcome.as_ref().ok()?;
    if record.get("path").and_then(Value::as_str).is_some_and(|of| same(of, path)) {
        return Some(if call.tool.as_str() == DELETES { Fate::Gone } else { Fate::There });
    }
    if named(record).any(|of| same(of, path)) {
        return Some(Fate::There);
    }
    if let Some((.., fate)) = CHANGED.iter().find(|(list, name, _)| lists(record, list, name, path)) {
        return Some(*fate);
    }
    let asked = ["name", "pattern", "path"].iter().filter_map(|name| call.args.get(name)?.as_str());
    let looked_for_it = asked.into_iter().any(|asked| same(asked, path));
    (looked_for_it && found_nothing(record)).then_some(Fate::Gone)
}

fn named(record: &Value) -> impl Iterator<Item = &str> {
    let files = record.get("files").and_then(Value::as_array).into_iter().flatten();
    files.filter_map(|file| file.get("path").unwrap_or(file).as_str())
}

fn lists(record: &Value, list: &str, name: &str, path: &str) -> bool {
    let mut listed = record.get(list).and_then(Value::as_array).into_iter().flatten();
    listed.any(|entry| entry.get(name).and_then(Value::as_str).is_some_and(|of| same(of, path)))
}

fn same(one: &str, other: &str) -> bool {
    let plain = |path: &'_ str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    plain(one) == plain(other)
}

/// What the last call that tells says is in a file.
pub(crate) fn content<'a>(found: Found<'a>, path: &str) -> Option<(&'a str, u32)> {
    about(found, path).find_map(|(number, call)| {
        let record = call.outcome.as_ref().ok()?;
        record.get("path").and_then(Value::as_str).filter(|of| same(of, path))?;
        let text = record.get("text").or_else(|| call.args.get("content"))?.as_str()?;
        Some((text, number))
    })
}

/// How many files the last search found.
pub(crate) fn count(found: Found<'_>) -> Option<(u64, u32)> {
    found.newest_first().find_map(|(number, call)| {
        let record = call.outcome.as_ref().ok()?;
        record.get("files")?;
        Some((record.get("count")?.as_u64()?, number))
    })
}

/// A search that saw everything it was to see, and found nothing.
pub(crate) fn found_nothing(record: &Value) -> bool {
    let number = |name: &str| record.get(name).and_then(Value::as_u64);
    let none = number("count").or_else(|| number("matching_lines")) == Some(0);
    none && !is_cut_off(record)
}

/// Whether a record says of itself that there is more than it shows, or that it could not see everything.
pub(crate) fn is_cut_off(record: &Value) -> bool {
    let says = |name: &str, value: bool| record.get(name).and_then(Value::as_bool) == Some(value);
    says("truncated", true) || says("complete", false) || says("interrupted", true)
}

#[cfg(test)]
mod tests {
    use super::{Fate, Found};
    use domain::call::{Evidence, Failure};
    use domain::id::CallId;
    use serde_json::{Value, json};

    fn call(tool: &str, args: Value, record: Value) -> Evidence {
        let (call, tool) = (CallId::from_bits(1), tool.parse().unwrap());
        Evidence { call, tool, args, outcome: Ok(record), took_ms: None }
    }

    fn found(evidence: &[Evidence]) -> Found<'_> {
        Found { evidence, claim: "", acting: &[] }
    }

    fn fate(evidence: &[Evidence], path: &str) -> Option<Fate> {
        super::fate(found(evidence), path).map(|(fate, _)| fate)
    }

    fn content<'a>(evidence: &'a [Evidence], path: &str) -> Option<&'a str> {
        super::content(found(evidence), path).map(|(content, _)| content)
    }

    /// A look afterwards does not show that an act has done what it failed to do.
    #[test]
    fn after_a_failed_act_on_a_file_only_a_later_act_on_it_counts() {
        let gone = || call("delete_file", json!({ "path": "a.md" }), json!({ "path": "a.md" }));
        let failed = || Evidence { outcome: Err(Failure::environmental("busy")), ..gone() };
        let looked = || call("find_files", json!({ "name": "a.md" }), json!({ "count": 0, "files": [] }));
        let other = || call("delete_file", json!({ "path": "b.md" }), json!({ "path": "b.md" }));
        let acting = ["delete_file".parse().unwrap()];
        let table = [
            (vec![looked()], Some(Fate::Gone)),
            (vec![failed(), looked()], None),
            (vec![looked(), failed()], None),
            (vec![failed(), other(), looked()], None),
            (vec![failed(), gone()], Some(Fate::Gone)),
        ];
        for (evidence, expected) in table {
            let found = Found { evidence: &evidence, claim: "a.md is deleted", acting: &acting };
            assert_eq!(super::fate(found, "a.md").map(|(fate, _)| fate), expected, "{evidence:?}");
        }
    }

    #[test]
    fn the_last_call_that_tells_decides_what_became_of_a_file() {
        let wrote =
            call("write_file", json!({ "path": "a.md", "content": "one" }), json!({ "path": "a.md" }));
        let gone = call("delete_file", json!({ "path": "a.md" }), json!({ "path": "a.md", "what": "file" }));
        let looked = call("find_files", json!({ "name": "a.md" }), json!({ "count": 0, "files": [] }));
        assert_eq!(fate(std::slice::from_ref(&wrote), "./a.md"), Some(Fate::There));
        assert_eq!(fate(&[wrote.clone(), gone.clone()], "a.md"), Some(Fate::Gone));
        assert_eq!(fate(&[gone, wrote.clone()], "a.md"), Some(Fate::There));
        assert_eq!(fate(std::slice::from_ref(&looked), "a.md"), Some(Fate::Gone));
        assert_eq!(fate(&[looked], "b.md"), None);
        assert_eq!(content(&[wrote], "a.md"), Some("one"));
    }

    #[test]
    fn a_call_that_changed_several_files_tells_of_each() {
        let deleted =
            call("delete_files", json!({}), json!({ "deleted": [{ "path": "a" }, { "path": "b" }] }));
        let moved = call("move_files", json!({}), json!({ "moved": [{ "from": "c", "to": "d/c" }] }));
        let made = call("copy_files", json!({}), json!({ "made": [{ "from": "e", "to": "f" }] }));
        let all = [deleted, moved, made];
        let table = [
            ("a", Some(Fate::Gone)),
            ("./b", Some(Fate::Gone)),
            ("c", Some(Fate::Gone)),
            ("d/c", Some(Fate::There)),
            ("e", None),
            ("f", Some(Fate::There)),
        ];
        for (path, expected) in table {
            assert_eq!(fate(&all, path), expected, "{path}");
        }
    }
}
