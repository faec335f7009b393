//! Whether a criterion is met, decided in code from the evidence. What an executor claims plays no part.

use domain::call::{Evidence, FailureClass};
use domain::criterion::{Check, Criterion, Verdict};
use serde_json::Value;

/// A criterion without a check needs a judge; there is none yet, and what nobody judged is not met.
#[must_use]
pub fn judge(criterion: &Criterion, evidence: &[Evidence]) -> Verdict {
    let result = match &criterion.check {
        Some(check) => holds(check, evidence),
        None => Err("nobody judged it".into()),
    };
    let passed = result.is_ok();
    let failure_class = (!passed).then(|| class(evidence));
    let (Ok(found) | Err(found)) = result;
    Verdict { criterion: criterion.text.clone(), passed, failure_class, evidence: found }
}

/// From typed tool errors: if the last call failed, its own class; else the approach was wrong.
fn class(evidence: &[Evidence]) -> FailureClass {
    match evidence.last().map(|last| &last.outcome) {
        Some(Err(failure)) if failure.class == FailureClass::Environmental => FailureClass::Environmental,
        // What authority refuses was the wrong approach.
        Some(Err(_) | Ok(_)) | None => FailureClass::Logical,
    }
}

/// What was found, as `Ok` if it is what the check wants.
fn holds(check: &Check, evidence: &[Evidence]) -> Result<String, String> {
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
        Check::AllOf(checks) => {
            let found: Result<Vec<_>, _> = checks.iter().map(|check| holds(check, evidence)).collect();
            found.map(|found| found.join("; "))
        }
        Check::AnyOf(checks) => {
            let found: Vec<_> = checks.iter().map(|check| holds(check, evidence)).collect();
            let unmet =
                || found.iter().filter_map(|found| found.clone().err()).collect::<Vec<_>>().join("; ");
            found.iter().find_map(|found| found.clone().ok()).ok_or_else(unmet)
        }
        Check::Not(check) => match holds(check, evidence) {
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
    use super::judge;
    use domain::call::{Evidence, Failure, FailureClass, Outcome};
    use domain::criterion::{Check, Criterion, Mode};
    use domain::id::CallId;
    use serde_json::json;

    fn evidence(outcome: Outcome) -> Vec<Evidence> {
        let tool = "find_files".parse().unwrap();
        vec![Evidence { call: CallId::from_bits(1), tool, args: json!({}), outcome }]
    }

    fn pointer(text: &str) -> String {
        text.into()
    }

    #[test]
    fn each_check_can_pass_and_can_fail() {
        let found =
            evidence(Ok(json!({ "count": 3, "files": [{ "path": "a.rs" }], "complete": true, "left": [] })));
        let called = |tool: &str| Check::ToolCalled { tool: tool.parse().unwrap() };
        let equals = |path, equals| Check::JsonPath { pointer: pointer(path), equals };
        let range = |min, max| Check::NumberInRange { pointer: pointer("/count"), min, max };
        let table = [
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
            let verdict = judge(&Criterion::checked("c", check.clone()), &found);
            assert_eq!(verdict.passed, passed, "{check:?}: {}", verdict.evidence);
        }
    }

    #[test]
    fn a_failed_call_proves_nothing_and_its_class_is_kept() {
        let failed = evidence(Err(Failure::environmental("no such folder")));
        let called = Criterion::checked("it ran", Check::ToolCalled { tool: "find_files".parse().unwrap() });
        let verdict = judge(&called, &failed);
        assert_eq!((verdict.passed, verdict.failure_class), (false, Some(FailureClass::Environmental)));
        assert_eq!(verdict.evidence, "find_files failed");
    }

    #[test]
    fn what_nobody_judged_is_not_met() {
        let vague = Criterion { text: "it reads well".into(), mode: Mode::Plausible, check: None };
        assert!(!judge(&vague, &evidence(Ok(json!({})))).passed);
    }
}
