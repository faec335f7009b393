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
    (looked_everywhere_for(call, record, path) && found_nothing(record)).then_some(Fate::Gone)
}

/// Whether a search was for this file alone, and nothing could hide it: a narrower search, or one that leaves something
/// out, does not show that a file is gone.
fn looked_everywhere_for(call: &Evidence, record: &Value, path: &str) -> bool {
    let Some(args) = call.args.as_object() else { return false };
    let names_it = |value: &Value| value.as_str().is_some_and(|asked| same(asked, path));
    let only_that = args.iter().all(|(name, value)| match name.as_str() {
        "name" | "pattern" | "path" => names_it(value),
        name => name == "limit",
    });
    let leaves_out = record.get("left_out").is_some_and(|left_out| !left_out.is_null());
    only_that && args.values().any(names_it) && !leaves_out
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

/// Whether a file has this text in it, as far as the calls tell, and the number of the call that does.
pub(crate) fn holds(found: Found<'_>, path: &str, text: &str) -> Option<(bool, u32)> {
    let mut calls: Vec<_> = about(found, path).collect();
    calls.reverse();
    let mut known = Known::default();
    for (number, call) in calls {
        if let Ok(record) = &call.outcome {
            known.learn(call, record, path, number, found.acting.contains(&call.tool));
        }
    }
    match &known.whole {
        Some(whole) => Some((whole.contains(text), known.call)),
        None => known.parts.iter().any(|part| part.contains(text)).then_some((true, known.call)),
    }
}

/// What is known of the text in one file.
#[derive(Default)]
struct Known {
    whole: Option<String>,
    /// Texts that are in it, where the whole is not known.
    parts: Vec<String>,
    /// The last call that told.
    call: u32,
}

impl Known {
    fn learn(&mut self, call: &Evidence, record: &Value, path: &str, number: u32, acts: bool) {
        let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
        let about_it = record.get("path").and_then(Value::as_str).is_some_and(|of| same(of, path));
        let fate = told(call, path);
        let is_part = PARTLY.iter().any(|name| call.args.get(name).is_some_and(|value| !value.is_null()));
        let (old, new) = (text(&call.args, "old"), text(&call.args, "new"));
        match (text(&call.args, "content"), old.zip(new)) {
            _ if fate == Some(Fate::Gone) => *self = Self { whole: Some(String::new()), ..Self::default() },
            _ if !about_it && fate.is_some() && acts => *self = Self::default(),
            _ if !about_it => return,
            (Some(content), _) => *self = Self { whole: Some(content), ..Self::default() },
            (None, Some((old, new))) => {
                self.whole = self.whole.take().map(|whole| whole.replace(&old, &new));
                self.parts = vec![new];
            }
            (None, None) => match text(record, "text") {
                Some(whole) if !is_part && !is_cut_off(record) => {
                    *self = Self { whole: Some(whole), ..Self::default() };
                }
                Some(part) => {
                    let matches = record.get("matches").and_then(Value::as_array).into_iter().flatten();
                    let lines = matches.filter_map(|found| text(found, "text"));
                    self.parts.extend(lines.chain(Some(part).filter(|part| !part.is_empty())));
                }
                None if acts => *self = Self::default(),
                None => return,
            },
        }
        self.call = number;
    }
}

/// Arguments of a read that shows only a part of a file.
const PARTLY: [&str; 5] = ["containing", "first", "last", "from", "to"];

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

    fn holds(evidence: &[Evidence], path: &str, text: &str) -> Option<bool> {
        super::holds(found(evidence), path, text).map(|(holds, _)| holds)
    }

    /// What is in a file follows from what was read and what was done to it since.
    #[test]
    fn the_text_of_a_file_is_followed_through_every_change() {
        let path = || json!({ "path": "a.md" });
        let with = |args: Value| {
            let mut all = path();
            all.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
            all
        };
        let wrote = |content: &str| call("write_file", with(json!({ "content": content })), path());
        let read = |text: &str| call("read_file", path(), with(json!({ "text": text })));
        let edited =
            |old: &str, new: &str| call("edit_file", with(json!({ "old": old, "new": new })), path());
        let deleted = || call("delete_file", path(), path());
        let moved = || call("move_files", json!({}), json!({ "moved": [{ "from": "a.md", "to": "b.md" }] }));
        let part = || {
            let record = with(json!({ "text": "", "matches": [{ "line": 1, "text": "Total 5" }] }));
            call("read_file", with(json!({ "containing": "Total" })), record)
        };
        let table = [
            (vec![wrote("Total 5")], "Total", Some(true)),
            (vec![wrote("Total 5"), deleted()], "Total", Some(false)),
            (vec![wrote("Total 5"), moved()], "Total", Some(false)),
            (vec![read("old words"), edited("old", "new")], "new words", Some(true)),
            (vec![read("old words"), edited("old", "new")], "old", Some(false)),
            (vec![edited("old", "new")], "new", Some(true)),
            (vec![edited("old", "new")], "words", None),
            (vec![wrote("Total 5"), part()], "Total", Some(true)),
            (vec![part()], "Total 5", Some(true)),
            (vec![part()], "other", None),
            (vec![call("read_file", path(), with(json!({ "text": "a", "truncated": true })))], "b", None),
        ];
        for (evidence, text, expected) in table {
            let acting =
                ["write_file", "edit_file", "delete_file", "move_files"].map(|tool| tool.parse().unwrap());
            let found = Found { evidence: &evidence, claim: "", acting: &acting };
            assert_eq!(
                super::holds(found, "./a.md", text).map(|(holds, _)| holds),
                expected,
                "{text}: {evidence:?}"
            );
        }
    }

    /// A file that is ignored, hidden or elsewhere is not gone because a search did not show it.
    #[test]
    fn a_search_that_could_not_have_seen_a_file_does_not_show_that_it_is_gone() {
        let nothing = json!({ "count": 0, "files": [], "complete": true });
        let mut leaves_out = nothing.clone();
        leaves_out["left_out"] = json!("hidden files, ignored files and links");
        let table = [
            (json!({ "name": "a.log" }), nothing.clone(), Some(Fate::Gone)),
            (json!({ "name": "a.log", "limit": 5 }), nothing.clone(), Some(Fate::Gone)),
            (json!({ "name": "a.log" }), leaves_out, None),
            (json!({ "name": "a.log", "under": "empty" }), nothing.clone(), None),
            (json!({ "name": "a.log", "larger_than": 1_000_000 }), nothing.clone(), None),
            (json!({ "name": "b.log" }), nothing.clone(), None),
            (json!({}), nothing, None),
        ];
        for (args, record, expected) in table {
            assert_eq!(fate(&[call("find_files", args.clone(), record)], "a.log"), expected, "{args}");
        }
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
        assert_eq!(holds(&[wrote], "a.md", "one"), Some(true));
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
