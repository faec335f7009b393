//! What the records of calls say of files. A record is evidence whatever its tool is called: `path` is the file it is
//! about, `files` are those it found, `deleted`, `made` and `moved` those it changed, `count` or `matching_lines` how many;
//! that one file is gone goes by the tool's name.

use domain::call::Evidence;
use serde_json::Value;

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

/// What the last call that tells says of a file.
pub(crate) fn fate(evidence: &[Evidence], path: &str) -> Option<Fate> {
    evidence.iter().rev().find_map(|call| told(call, path))
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
pub(crate) fn content<'a>(evidence: &'a [Evidence], path: &str) -> Option<&'a str> {
    evidence.iter().rev().find_map(|call| {
        let record = call.outcome.as_ref().ok()?;
        let of = record.get("path").and_then(Value::as_str).filter(|of| same(of, path));
        of.and_then(|_| record.get("text").or_else(|| call.args.get("content"))?.as_str())
    })
}

/// How many files the last search found.
pub(crate) fn count(evidence: &[Evidence]) -> Option<u64> {
    evidence.iter().rev().find_map(|call| {
        let record = call.outcome.as_ref().ok()?;
        record.get("files")?;
        record.get("count")?.as_u64()
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
    use super::{Fate, content, fate};
    use domain::call::Evidence;
    use domain::id::CallId;
    use serde_json::{Value, json};

    fn call(tool: &str, args: Value, record: Value) -> Evidence {
        let (call, tool) = (CallId::from_bits(1), tool.parse().unwrap());
        Evidence { call, tool, args, outcome: Ok(record), took_ms: None }
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
