//! What the tools return, as agreed with them.

use serde_json::{Value, json};

pub(super) const MODIFIED: &str = "2026-11-15T08:30:00Z";

/// A file that nothing was looked for in.
pub(super) fn file(path: &str) -> Value {
    sized(path, 9)
}

pub(super) fn sized(path: &str, bytes: u64) -> Value {
    json!({
        "path": path, "bytes": bytes, "modified": MODIFIED, "utf8": true, "matching_lines": null, "matches": [],
        "lines": null, "words": null, "occurrences": null,
    })
}

/// The same with more of it known.
pub(super) fn with(mut record: Value, more: Value) -> Value {
    let Value::Object(more) = more else { panic!("no object: {more}") };
    record.as_object_mut().unwrap().extend(more);
    record
}

pub(super) fn found(count: u64, files: &[Value]) -> Value {
    json!({
        "count": count, "bytes": 9 * count, "files": files, "complete": true, "unreadable": 0,
        "left_out": "hidden files, ignored files and links", "binary_skipped": 0, "lines": null, "words": null,
        "occurrences": null, "matching_lines": null, "groups": null, "more_groups": 0, "truncated_matches": false,
    })
}

/// Just these.
pub(super) fn all(paths: &[&str]) -> Value {
    found(paths.len() as u64, &paths.iter().map(|path| file(path)).collect::<Vec<_>>())
}

pub(super) fn read(path: &str, text: &str, shown: &[(u64, &str)]) -> Value {
    let shown: Vec<_> = shown.iter().map(|(line, text)| json!({ "line": line, "text": text })).collect();
    json!({
        "path": path, "bytes": 20, "lines": 9, "text": text, "truncated": false, "valid_utf8": true,
        "matching_lines": null, "matches": [], "shown": shown,
    })
}

pub(super) fn stats(count: u64, rows: u64) -> Value {
    json!({
        "path": "data/sales.csv", "column": "Price", "rows": rows, "matching_rows": rows, "count": count, "empty": 0,
        "sum": "12.50", "mean": "3.125", "min": "-1", "max": "7",
    })
}

pub(super) fn columns() -> Value {
    let column = |name: &str| json!({ "name": name, "kind": "text", "non_empty": 3, "examples": ["x"] });
    json!({
        "path": "data/sales.csv", "format": "csv", "separator": ",", "rows": 3,
        "columns": [column("id"), column("region"), column("Price")],
    })
}

pub(super) fn groups(different: u64, empty: u64, listed: &[(&str, u64)]) -> Value {
    let listed: Vec<_> =
        listed.iter().map(|(value, count)| json!({ "value": value, "count": count })).collect();
    json!({
        "path": "data/sales.csv", "column": "region", "rows": 9, "matching_rows": 9, "empty": empty,
        "groups": different, "listed": listed,
    })
}

pub(super) fn hashed() -> Value {
    json!({ "algorithm": "sha256", "hex": "00ff", "bytes": 9 })
}

pub(super) fn calculated(result: &str, exact: bool) -> Value {
    json!({ "result": result, "exact": exact })
}

pub(super) fn deleted(paths: &[&str]) -> Value {
    let one = |path: &&str| json!({ "path": path, "what": "file", "bytes": 9, "digest": "00" });
    json!({ "deleted": paths.iter().map(one).collect::<Vec<_>>(), "count": paths.len() })
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<Value> {
    pairs.iter().map(|(from, to)| json!({ "from": from, "to": to })).collect()
}

pub(super) fn copied(made: &[(&str, &str)]) -> Value {
    json!({ "made": pairs(made), "count": made.len() })
}

pub(super) fn renamed(moved: &[(&str, &str)]) -> Value {
    json!({ "moved": pairs(moved), "count": moved.len() })
}

pub(super) fn written(path: &str) -> Value {
    json!({ "path": path, "bytes": 9, "created": true, "digest": "00", "diff": "" })
}
