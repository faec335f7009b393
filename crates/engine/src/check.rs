//! Whether a criterion is met, decided in code from the evidence. What an executor claims plays no part.

use domain::call::{Evidence, FailureClass};
use domain::criterion::{Check, Criterion, Verdict};
use regex::RegexBuilder;
use serde_json::Value;

use crate::files;

/// What a compiled pattern may take: one that a model wrote must not fill the memory.
const PATTERN_BYTES: usize = 1 << 20;

/// What one attempt left: the truth, and what is claimed of it.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    pub evidence: &'a [Evidence],
    pub claim: &'a str,
}

/// A criterion without a check needs a judge; what nobody judged is not met.
#[must_use]
pub fn judge(criterion: &Criterion, found: Found<'_>) -> Verdict {
    let evidence = found.evidence;
    let result = match &criterion.check {
        Some(check) => holds(check, found).or_else(|why| absence_is_an_answer(check, found).ok_or(why)),
        None => Err("nobody judged it".into()),
    };
    let passed = result.is_ok();
    let failure_class = (!passed).then(|| class(evidence));
    let (Ok(found) | Err(found)) = result;
    Verdict { criterion: criterion.text.clone(), passed, failure_class, evidence: found }
}

/// A search that ran and found nothing has answered: that nothing is there is no failure of whoever looked.
fn absence_is_an_answer(check: &Check, found: Found<'_>) -> Option<String> {
    let wants_something = matches!(check, Check::NotEmpty { .. });
    let searched = found.evidence.last().and_then(|last| Some((last, last.outcome.as_ref().ok()?)));
    let (last, record) = searched.filter(|_| wants_something)?;
    files::found_nothing(record).then(|| format!("{} ran and found nothing", last.tool))
}

/// From typed tool errors: if the last call failed, its own class; else the approach was wrong.
#[must_use]
pub fn class(evidence: &[Evidence]) -> FailureClass {
    match evidence.last().map(|last| &last.outcome) {
        Some(Err(failure)) if failure.class == FailureClass::Environmental => FailureClass::Environmental,
        // What authority refuses was the wrong approach.
        Some(Err(_) | Ok(_)) | None => FailureClass::Logical,
    }
}

/// What was found, as `Ok` if it is what the check wants.
fn holds(check: &Check, found: Found<'_>) -> Result<String, String> {
    let evidence = found.evidence;
    match check {
        Check::ToolCalled { tool } => {
            let calls: Vec<_> = evidence.iter().filter(|call| call.tool == *tool).collect();
            match calls.iter().filter(|call| call.outcome.is_ok()).count() {
                0 if calls.is_empty() => Err(format!("{tool} was not called")),
                0 => Err(format!("{tool} failed")),
                n => Ok(format!("{tool} ran {n} time{}", if n == 1 { "" } else { "s" })),
            }
        }
        Check::JsonPath { pointer, equals } => {
            let found = at(evidence, pointer)?;
            ok_if(found == equals, format!("{pointer} is {found}"))
        }
        Check::NumberInRange { pointer, min, max } => {
            let found = at(evidence, pointer)?;
            let number = found.as_f64().ok_or_else(|| format!("{pointer} is {found}, not a number"))?;
            let inside = min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
            ok_if(inside, format!("{pointer} is {found}"))
        }
        Check::NotEmpty { pointer } => {
            let found = at(evidence, pointer)?;
            let empty = match found {
                Value::Null => true,
                Value::String(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                Value::Object(fields) => fields.is_empty(),
                Value::Bool(_) | Value::Number(_) => false,
            };
            ok_if(!empty, format!("{pointer} is {}", if empty { "empty" } else { "there" }))
        }
        Check::ExitCode { code } => {
            let ended = evidence.iter().rev().find_map(Evidence::exit_code);
            let ended = ended.ok_or("no call has an exit code")?;
            ok_if(ended == *code, format!("the exit code is {ended}"))
        }
        Check::FileExists { path } => match files::fate(evidence, path) {
            Some(files::Fate::There) => Ok(format!("`{path}` is there")),
            Some(files::Fate::Gone) => Err(format!("`{path}` is gone")),
            None => Err(format!("no call shows that `{path}` is there")),
        },
        Check::FileAbsent { path } => match files::fate(evidence, path) {
            Some(files::Fate::Gone) => Ok(format!("`{path}` is gone")),
            Some(files::Fate::There) => Err(format!("`{path}` is there")),
            None => Err(format!("no call shows that `{path}` is gone")),
        },
        Check::FileContains { path, text } => match files::content(evidence, path) {
            Some(content) => ok_if(
                content.contains(text.as_str()),
                match content.contains(text.as_str()) {
                    true => format!("`{path}` holds it"),
                    false => format!("`{path}` does not hold it"),
                },
            ),
            None => Err(format!("no call shows what is in `{path}`")),
        },
        Check::FileCount { min, max } => {
            let count = files::count(evidence).ok_or("no search counted files")?;
            let inside = min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max);
            ok_if(inside, format!("{count} files were found"))
        }
        Check::Regex { pointer, pattern } => {
            let text = match pointer {
                Some(pointer) => match at(evidence, pointer)? {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                },
                None => found.claim.to_owned(),
            };
            let compiled = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build();
            let compiled = compiled.map_err(|error| format!("the pattern cannot be used: {error}"))?;
            let matches = compiled.is_match(&text);
            ok_if(matches, format!("/{pattern}/ {}", if matches { "matches" } else { "does not match" }))
        }
        Check::AllOf(checks) => {
            let found: Result<Vec<_>, _> = checks.iter().map(|check| holds(check, found)).collect();
            found.map(|found| found.join("; "))
        }
        Check::AnyOf(checks) => {
            let found: Vec<_> = checks.iter().map(|check| holds(check, found)).collect();
            let unmet =
                || found.iter().filter_map(|found| found.clone().err()).collect::<Vec<_>>().join("; ");
            found.iter().find_map(|found| found.clone().ok()).ok_or_else(unmet)
        }
        Check::Not(check) => match holds(check, found) {
            Ok(found) => Err(found),
            Err(found) => Ok(found),
        },
    }
}

fn ok_if(met: bool, found: String) -> Result<String, String> {
    if met { Ok(found) } else { Err(found) }
}

/// The value at a JSON pointer in the record of the last call that succeeded.
fn at<'a>(evidence: &'a [Evidence], pointer: &str) -> Result<&'a Value, String> {
    let record = evidence.iter().rev().find_map(|call| call.outcome.as_ref().ok());
    let record = record.ok_or("no call succeeded")?;
    record.pointer(pointer).ok_or_else(|| format!("the result has no {pointer}"))
}

#[cfg(test)]
mod tests {
    use super::{Found, judge};
    use domain::call::{Evidence, Failure, FailureClass, Outcome};
    use domain::criterion::{Check, Criterion, Mode};
    use domain::id::CallId;
    use serde_json::json;

    fn evidence(outcome: Outcome) -> Vec<Evidence> {
        let tool = "find_files".parse().unwrap();
        vec![Evidence { call: CallId::from_bits(1), tool, args: json!({}), outcome, took_ms: None }]
    }

    fn found(evidence: &[Evidence]) -> Found<'_> {
        Found { evidence, claim: "3 files" }
    }

    fn pointer(text: &str) -> String {
        text.into()
    }

    #[test]
    fn each_check_can_pass_and_can_fail() {
        let record = json!({
            "count": 3, "files": [{ "path": "a.rs" }], "complete": true, "left": [], "exit_code": 2, "text": "one\ntwo",
            "path": "notes.md",
        });
        let seen = evidence(Ok(record));
        let path = || "./notes.md".to_owned();
        let regex = |pointer: Option<&str>, pattern: &str| Check::Regex {
            pointer: pointer.map(Into::into),
            pattern: pattern.into(),
        };
        let called = |tool: &str| Check::ToolCalled { tool: tool.parse().unwrap() };
        let equals = |path, equals| Check::JsonPath { pointer: pointer(path), equals };
        let range = |min, max| Check::NumberInRange { pointer: pointer("/count"), min, max };
        let table = [
            (Check::ExitCode { code: 2 }, true),
            (Check::ExitCode { code: 0 }, false),
            (Check::FileExists { path: "a.rs".into() }, true),
            (Check::FileExists { path: path() }, true),
            (Check::FileExists { path: "b.rs".into() }, false),
            (Check::FileAbsent { path: path() }, false),
            (Check::FileAbsent { path: "b.rs".into() }, false), // nobody looked for it
            (Check::FileContains { path: path(), text: "two".into() }, true),
            (Check::FileContains { path: path(), text: "three".into() }, false),
            (Check::FileContains { path: "a.rs".into(), text: "two".into() }, false),
            (Check::FileCount { min: Some(3), max: Some(3) }, true),
            (Check::FileCount { min: Some(4), max: None }, false),
            (regex(Some("/text"), "^one"), true),
            (regex(Some("/text"), "^two"), false),
            (regex(None, r"\d+ files"), true),
            (regex(None, r"\d+ folders"), false),
            (regex(None, "("), false),
            (regex(None, r"(\w{1000}){1000}"), false),
            (called("find_files"), true),
            (called("read_file"), false),
            (equals("/complete", json!(true)), true),
            (equals("/complete", json!(false)), false),
            (equals("/absent", json!(null)), false),
            (range(Some(3.0), Some(3.0)), true),
            (range(Some(4.0), None), false),
            (range(None, Some(2.0)), false),
            (Check::NumberInRange { pointer: pointer("/files"), min: None, max: None }, false),
            (Check::NotEmpty { pointer: pointer("/files/0/path") }, true),
            (Check::NotEmpty { pointer: pointer("/left") }, false),
            (Check::AllOf(vec![called("find_files"), range(None, None)]), true),
            (Check::AllOf(vec![called("find_files"), called("glob")]), false),
            (Check::AnyOf(vec![called("glob"), called("find_files")]), true),
            (Check::AnyOf(vec![called("glob")]), false),
            (Check::AnyOf(Vec::new()), false),
            (Check::Not(Box::new(called("glob"))), true),
            (Check::Not(Box::new(called("find_files"))), false),
        ];
        for (check, passed) in table {
            let verdict = judge(&Criterion::checked("c", check.clone()), found(&seen));
            assert_eq!(verdict.passed, passed, "{check:?}: {}", verdict.evidence);
        }
    }

    #[test]
    fn a_failed_call_proves_nothing_and_its_class_is_kept() {
        let failed = evidence(Err(Failure::environmental("no such folder")));
        let called = Criterion::checked("it ran", Check::ToolCalled { tool: "find_files".parse().unwrap() });
        let verdict = judge(&called, found(&failed));
        assert_eq!((verdict.passed, verdict.failure_class), (false, Some(FailureClass::Environmental)));
        assert_eq!(verdict.evidence, "find_files failed");
    }

    #[test]
    fn what_nobody_judged_is_not_met() {
        let vague = Criterion { text: "it reads well".into(), mode: Mode::Plausible, check: None };
        assert!(!judge(&vague, found(&evidence(Ok(json!({}))))).passed);
    }

    /// "An empty search result from a real search is a valid answer", and nothing else that is empty is.
    #[test]
    fn an_empty_search_is_an_answer_and_an_empty_record_is_none() {
        let table = [
            (Ok(json!({ "count": 0, "files": [], "complete": true })), true),
            (Ok(json!({ "matching_lines": 0, "matches": [], "truncated": false })), true),
            (Ok(json!({ "count": 0, "files": [], "complete": false })), false), // it did not see everything
            (Ok(json!({ "files": [] })), false), // nothing says that it searched
            (Err(Failure::environmental("no such folder")), false),
        ];
        for (outcome, passed) in table {
            let seen = evidence(outcome.clone());
            let wants =
                Criterion::checked("one is named", Check::NotEmpty { pointer: "/files/0/path".into() });
            assert_eq!(judge(&wants, found(&seen)).passed, passed, "{outcome:?}");
            // A number that was asked for is not met by nothing.
            let five = Check::NumberInRange { pointer: "/count".into(), min: Some(5.0), max: None };
            assert!(!judge(&Criterion::checked("five", five), found(&seen)).passed, "{outcome:?}");
        }
    }
}
