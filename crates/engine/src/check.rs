//! Whether a criterion is met, decided in code from the evidence. What an executor claims proves nothing.

use domain::call::{Evidence, FailureClass, ToolId};
use domain::criterion::{Basis, Check, Criterion, Verdict};
use regex::RegexBuilder;
use serde_json::Value;

use crate::files::{self, Fate};

/// What a compiled pattern may take: one that a model wrote must not fill the memory.
const PATTERN_BYTES: usize = 1 << 20;

/// What the attempts of one round left: the truth, and what is claimed of it.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    pub evidence: &'a [Evidence],
    pub claim: &'a str,
    /// Tools that act on the world. After one of them failed on a target, only a later success of one of them on the
    /// same target says anything about it.
    pub acting: &'a [ToolId],
}

impl<'a> Found<'a> {
    /// Each call with its number, the newest one first.
    pub(crate) fn newest_first(self) -> impl Iterator<Item = (u32, &'a Evidence)> {
        let number = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
        self.evidence.iter().enumerate().rev().map(move |(at, call)| (number(at), call))
    }
}

/// A criterion without a check needs a judge; without a judgement it is not met. A check that holds and that no call has
/// shown to hold leaves the criterion unverified.
#[must_use]
pub fn judge(criterion: &Criterion, found: Found<'_>) -> Verdict {
    let result = match &criterion.check {
        Some(check) => holds(check, found, true).or_else(|why| absence_is_an_answer(check, found).ok_or(why)),
        None => Err("no judge was asked".into()),
    };
    let (passed, basis, evidence) = match result {
        Ok(Held { basis: Some(Basis::Call(call)), text }) => (true, Some(Basis::Call(call)), text),
        Ok(Held { text, .. }) => (false, Some(Basis::Claim), format!("{text}; no call shows it")),
        Err(text) => (false, None, text),
    };
    let failure_class = (!passed && basis.is_none()).then(|| class(found.evidence));
    Verdict { criterion: criterion.text.clone(), passed, failure_class, evidence, basis }
}

/// A search that ran and found nothing has answered: that nothing is there is no failure of whoever looked.
fn absence_is_an_answer(check: &Check, found: Found<'_>) -> Option<Held> {
    let Check::NotEmpty { pointer } = check else { return None };
    let (number, last) = found.newest_first().next()?;
    let (record, list) = (last.outcome.as_ref().ok()?, pointer.split('/').nth(1)?);
    let nothing = record.get(list).is_some() && files::found_nothing(record);
    let text = format!("{} ran and found nothing", last.tool);
    nothing.then_some(Held { text, basis: Some(Basis::Call(number)) })
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

/// A check, or the opposite of one, that holds.
struct Held {
    text: String,
    /// Nothing where it would hold without any call.
    basis: Option<Basis>,
}

/// What was found, as `Ok` if the check holds, or if it does not and that is wanted (`to_hold` is false).
fn holds(check: &Check, found: Found<'_>, to_hold: bool) -> Result<Held, String> {
    let each = |parts: &[Check]| -> Vec<_> { parts.iter().map(|part| holds(part, found, to_hold)).collect() };
    match check {
        Check::Not(check) => holds(check, found, !to_hold),
        Check::AllOf(parts) if to_hold => all(each(parts)),
        Check::AnyOf(parts) if !to_hold => all(each(parts)),
        Check::AllOf(parts) | Check::AnyOf(parts) => any(each(parts)),
        Check::FileExists { path } => fate(found, path, if to_hold { Fate::There } else { Fate::Gone }),
        Check::FileAbsent { path } => fate(found, path, if to_hold { Fate::Gone } else { Fate::There }),
        single => {
            let Seen { met, text, basis } = look(single, found)?;
            // That something is not so proves nothing by itself, unless a record has to say so.
            let basis = basis.filter(|_| to_hold || single.needs_a_record());
            if met == to_hold { Ok(Held { text, basis }) } else { Err(text) }
        }
    }
}

fn all(parts: Vec<Result<Held, String>>) -> Result<Held, String> {
    let parts: Vec<Held> = parts.into_iter().collect::<Result<_, _>>()?;
    // A part that is only claimed makes the whole a claim.
    let basis = parts.iter().filter_map(|part| part.basis).min();
    Ok(Held { text: parts.into_iter().map(|part| part.text).collect::<Vec<_>>().join("; "), basis })
}

fn any(parts: Vec<Result<Held, String>>) -> Result<Held, String> {
    let mut unmet = Vec::new();
    let mut best: Option<Held> = None;
    for part in parts {
        match part {
            Ok(held) if best.as_ref().is_none_or(|best| held.basis > best.basis) => best = Some(held),
            Ok(_) => {}
            Err(why) => unmet.push(why),
        }
    }
    best.ok_or_else(|| unmet.join("; "))
}

fn fate(found: Found<'_>, path: &str, wanted: Fate) -> Result<Held, String> {
    let is = |fate: Fate| if fate == Fate::There { "there" } else { "gone" };
    match files::fate(found, path) {
        Some((fate, call)) => {
            let text = format!("`{path}` is {}", is(fate));
            if fate == wanted { Ok(Held { text, basis: Some(Basis::Call(call)) }) } else { Err(text) }
        }
        None => Err(format!("no call shows that `{path}` is {}", is(wanted))),
    }
}

/// What one single check comes to.
struct Seen {
    met: bool,
    text: String,
    /// Nothing where no record says it.
    basis: Option<Basis>,
}

/// `Err` where nothing says whether it is met.
fn look(check: &Check, found: Found<'_>) -> Result<Seen, String> {
    let by = |call: u32, met: bool, text: String| Ok(Seen { met, text, basis: Some(Basis::Call(call)) });
    match check {
        Check::ToolCalled { tool } => Ok(called(tool, found)),
        Check::JsonPath { pointer, equals } => {
            with_value(found, pointer, |value| (value == equals, format!("{pointer} is {value}")))
        }
        Check::NumberInRange { pointer, min, max } => {
            with_value(found, pointer, |value| match value.as_f64() {
                None => (false, format!("{pointer} is {value}, not a number")),
                Some(number) => {
                    let inside = min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
                    (inside, format!("{pointer} is {value}"))
                }
            })
        }
        Check::NotEmpty { pointer } => with_value(found, pointer, |value| {
            let empty = match value {
                Value::Null => true,
                Value::String(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                Value::Object(fields) => fields.is_empty(),
                Value::Bool(_) | Value::Number(_) => false,
            };
            (!empty, format!("{pointer} is {}", if empty { "empty" } else { "there" }))
        }),
        Check::ExitCode { code } => {
            let ended = found.newest_first().find_map(|(number, call)| Some((call.exit_code()?, number)));
            let (ended, call) = ended.ok_or("no call has an exit code")?;
            by(call, ended == *code, format!("the exit code is {ended}"))
        }
        Check::FileContains { path, text } => {
            let held = files::holds(found, path, text);
            let (met, call) = held.ok_or_else(|| format!("no call shows whether `{path}` holds it"))?;
            by(call, met, format!("`{path}` {}", if met { "holds it" } else { "does not hold it" }))
        }
        Check::FileCount { min, max } => {
            let (count, call) = files::count(found).ok_or("no search counted files")?;
            let inside = min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max);
            by(call, inside, format!("{count} files were found"))
        }
        Check::Regex { pointer, pattern } => {
            let compiled = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build();
            let compiled = compiled.map_err(|error| format!("the pattern cannot be used: {error}"))?;
            let matches = |text: &str| {
                let met = compiled.is_match(text);
                (met, format!("/{pattern}/ {}", if met { "matches" } else { "does not match" }))
            };
            match pointer {
                Some(pointer) => with_value(found, pointer, |value| match value {
                    Value::String(text) => matches(text),
                    other => matches(&other.to_string()),
                }),
                None => {
                    let (met, text) = matches(found.claim);
                    Ok(Seen { met, text, basis: Some(Basis::Claim) })
                }
            }
        }
        // They are made of others, or go by what became of a file.
        Check::AllOf(_)
        | Check::AnyOf(_)
        | Check::Not(_)
        | Check::FileExists { .. }
        | Check::FileAbsent { .. } => Err("this is not one single check".into()),
    }
}

/// Of a tool that acts, the last run counts; of one that only looks, any that succeeded.
fn called(tool: &ToolId, found: Found<'_>) -> Seen {
    let calls: Vec<_> = found.newest_first().filter(|(_, call)| call.tool == *tool).collect();
    let failed = found.acting.contains(tool) && calls.first().is_some_and(|(_, call)| !call.is_ok());
    let ran = || calls.iter().filter(|(_, call)| call.is_ok());
    let runs = ran().count();
    let text = match runs {
        _ if calls.is_empty() => format!("{tool} was not called"),
        0 => format!("{tool} failed"),
        _ if failed => format!("{tool} failed the last time"),
        1 => format!("{tool} ran 1 time"),
        n => format!("{tool} ran {n} times"),
    };
    Seen { met: runs > 0 && !failed, text, basis: ran().next().map(|(number, _)| Basis::Call(*number)) }
}

/// Looks at the value at a JSON pointer in the record of the last call that succeeded. A record without it does not meet
/// the check, and does not prove its opposite.
fn with_value(
    found: Found<'_>,
    pointer: &str,
    look: impl FnOnce(&Value) -> (bool, String),
) -> Result<Seen, String> {
    let record = found.newest_first().find_map(|(number, call)| Some((number, call.outcome.as_ref().ok()?)));
    let (call, record) = record.ok_or("no call succeeded")?;
    Ok(match record.pointer(pointer) {
        Some(value) => {
            let (met, text) = look(value);
            Seen { met, text, basis: Some(Basis::Call(call)) }
        }
        None => Seen { met: false, text: format!("the result has no {pointer}"), basis: None },
    })
}

#[cfg(test)]
mod tests {
    use super::{Found, judge};
    use domain::call::{Evidence, Failure, FailureClass, Outcome};
    use domain::criterion::{Basis, Check, Criterion, Mode, Verdict};
    use domain::id::CallId;
    use proptest::collection::vec;
    use proptest::prelude::{Just, ProptestConfig, Strategy, prop_assert, prop_oneof, proptest};
    use proptest::sample::select;
    use serde_json::json;

    fn evidence(outcome: Outcome) -> Vec<Evidence> {
        let tool = "find_files".parse().unwrap();
        vec![Evidence { call: CallId::from_bits(1), tool, args: json!({}), outcome, took_ms: None }]
    }

    fn found(evidence: &[Evidence]) -> Found<'_> {
        Found { evidence, claim: "3 files", acting: &[] }
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
            (regex(None, r"\d+ files"), false), // that is claimed
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
            (Check::Not(Box::new(called("glob"))), false), // that proves nothing
            (Check::AllOf(vec![called("find_files"), Check::Not(Box::new(called("glob")))]), true),
            (Check::Not(Box::new(Check::FileExists { path: "a.rs".into() })), false),
            (Check::Not(Box::new(Check::FileAbsent { path: "a.rs".into() })), true),
            (Check::Not(Box::new(Check::Not(Box::new(called("find_files"))))), true),
            (Check::AllOf(Vec::new()), false),
            (Check::AllOf(vec![called("find_files"), regex(None, r"\d+ files")]), false), // a part is claimed
            (Check::Not(Box::new(Check::FileContains { path: path(), text: "three".into() })), true),
            (Check::Not(Box::new(Check::FileContains { path: path(), text: "two".into() })), false),
            (Check::Not(Box::new(Check::ExitCode { code: 0 })), true),
            (Check::AllOf(vec![called("find_files"), regex(None, r"\d+ folders")]), false),
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
            (Ok(json!({ "matching_lines": 0, "matches": [], "truncated": false })), false), // it has no list of files
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

    /// Any check that a model could write, over three tools, two files and one pointer.
    fn checks() -> impl Strategy<Value = Check> {
        let tool = select(vec!["find_files", "delete_file", "nosuch"]);
        let path = || select(vec!["a.md", "b.md"]).prop_map(str::to_owned);
        let at = || "/count".to_owned();
        let single = prop_oneof![
            tool.prop_map(|tool| Check::ToolCalled { tool: tool.parse().unwrap() }),
            Just(Check::JsonPath { pointer: at(), equals: json!(0) }),
            Just(Check::NumberInRange { pointer: at(), min: None, max: None }),
            Just(Check::NotEmpty { pointer: at() }),
            Just(Check::ExitCode { code: 0 }),
            path().prop_map(|path| Check::FileExists { path }),
            path().prop_map(|path| Check::FileAbsent { path }),
            path().prop_map(|path| Check::FileContains { path, text: String::new() }),
            Just(Check::FileCount { min: None, max: None }),
            Just(Check::Regex { pointer: Some(at()), pattern: ".*".into() }),
            claims(),
        ];
        grown(single)
    }

    /// What only looks at the claim, or at what was not done.
    fn claims() -> impl Strategy<Value = Check> {
        let claimed = |pattern: &str| Check::Regex { pointer: None, pattern: pattern.into() };
        let not_called = Check::Not(Box::new(Check::ToolCalled { tool: "nosuch".parse().unwrap() }));
        select(vec![claimed("deleted"), claimed("kept"), not_called, Check::AllOf(Vec::new())])
    }

    fn grown(single: impl Strategy<Value = Check> + 'static) -> impl Strategy<Value = Check> {
        single.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(Check::AllOf),
                vec(inner.clone(), 0..3).prop_map(Check::AnyOf),
                inner.prop_map(|check| Check::Not(Box::new(check))),
            ]
        })
    }

    fn calls(succeed: bool) -> impl Strategy<Value = Vec<Evidence>> {
        let one = (select(vec!["find_files", "delete_file", "read_file"]), select(vec!["a.md", "b.md"]));
        let one = one.prop_map(move |(tool, path)| {
            let record = json!({ "path": path, "count": 0, "files": [path], "text": "", "exit_code": 0 });
            Evidence {
                call: CallId::from_bits(1),
                tool: tool.parse().unwrap(),
                args: json!({ "path": path }),
                outcome: if succeed { Ok(record) } else { Err(Failure::environmental("no")) },
                took_ms: None,
            }
        });
        vec(one, 0..4)
    }

    fn verdict(check: Check, evidence: &[Evidence]) -> Verdict {
        let acting = ["delete_file".parse().unwrap()];
        let found = Found { evidence, claim: "I have deleted it", acting: &acting };
        judge(&Criterion::checked("it is deleted", check), found)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

        /// Without a call that succeeded nothing is proved, whatever is claimed and whatever was tried.
        #[test]
        fn nothing_is_proved_without_a_call_that_succeeded(check in checks(), failed in calls(false)) {
            let wants_something = check.wants_something();
            let verdict = verdict(check, &failed);
            prop_assert!(!verdict.passed, "{verdict:?}");
            prop_assert!(wants_something || verdict.basis.is_none_or(|basis| basis == Basis::Claim));
        }

        /// What only looks at the claim, or at what was not done, is proved by no call; nor is it as a part of more.
        #[test]
        fn a_claim_is_never_proved(check in grown(claims()), other in checks(), made in calls(true)) {
            let claimed = Check::Regex { pointer: None, pattern: "deleted".into() };
            prop_assert!(!verdict(Check::AllOf(vec![claimed, other]), &made).passed);
            prop_assert!(!verdict(check, &made).passed);
        }

        /// A check that is refused in a plan is one that holds where nothing is there; any other does not.
        #[test]
        fn a_check_that_wants_something_fails_or_is_claimed_where_nothing_is(check in checks()) {
            let (wants_something, verdict) = (check.wants_something(), verdict(check, &[]));
            let held_by_nothing = verdict.is_unverified() && !verdict.evidence.contains("match");
            prop_assert!(!(wants_something && held_by_nothing), "{verdict:?}");
        }
    }
}
