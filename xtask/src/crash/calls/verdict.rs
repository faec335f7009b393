//! What must hold of calls that change something, whatever was killed and when.

use super::super::seen::{End, Seen, Sort};
use super::super::verdict::{Company, Invariant, Violation};
use super::deed::Deed;

/// What whoever asks is told where nobody knows.
pub(in crate::crash) const NOBODY_KNOWS: &str = "it may have run, and it is not tried again";

/// What may be in the way of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Standing {
    #[default]
    Free,
    /// Its budget may be used up.
    Limited,
    /// The house may be halted.
    Halted,
}

/// How a process may end: as we wanted it, well, or with a refusal that the round explains.
pub(super) fn ended(seen: &Seen, company: Company, standing: Standing) -> Option<Violation> {
    let wrong = |what: String| Some(Invariant::NoInternalError.violated(what));
    if seen.stderr.contains("panicked at") {
        return wrong(format!("`{}` panicked", seen.sort));
    }
    let resumed = seen.sort == Sort::Resume;
    let explained = match (&seen.end, seen.code()) {
        (End::Killed(_) | End::Exit(0), _) => true,
        (End::Exit(4), Some("R4011")) if seen.stopped_at.is_some() => true,
        (End::Exit(2), Some("R2007")) | (End::Exit(4), Some("R4011")) => {
            resumed && company == Company::InALoad
        }
        // Why it stopped is judged with what is on record.
        (End::Exit(1), Some("R1002")) => resumed,
        (End::Exit(3), Some("R3004")) => standing == Standing::Limited,
        (End::Exit(3), Some("R3003")) => standing == Standing::Halted,
        _ => false,
    };
    if explained {
        return None;
    }
    let code = seen.code().unwrap_or("no code");
    wrong(format!("`regent {}` ended with {:?} ({code})", seen.args.join(" "), seen.end))
}

/// What is on record about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) task: String,
    /// The call and its status; nothing if its task never came so far.
    pub(super) call: Option<(String, String)>,
}

/// How a call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::crash) enum Outcome {
    /// Nothing was promised, nothing is on record, nothing happened.
    NeverTaken,
    Finished,
    Failed,
    Refused,
    /// With so many effects.
    Unknown(u64),
}

/// The heart of it: a call has ended, as it says on record, and happened as often as that allows.
pub(super) fn outcome(deed: &Deed, record: Option<&Record>, effects: u64) -> Result<Outcome, Violation> {
    let file = deed.file();
    let status = record.and_then(|record| record.call.as_ref()).map(|(_, status)| status.as_str());
    let (outcome, most) = match (record, status) {
        (None, _) if deed.begun => {
            let what = format!("the call on `{file}` was taken down and is not on record");
            return Err(Invariant::Finished.violated(what));
        }
        (None, _) => (Outcome::NeverTaken, 0),
        (_, Some("finished")) => (Outcome::Finished, 1),
        (_, Some("failed")) => (Outcome::Failed, 0),
        (_, Some("refused")) => (Outcome::Refused, 0),
        (_, Some("unknown")) => (Outcome::Unknown(effects), 1),
        (Some(Record { task, .. }), other) => {
            let status = other.unwrap_or("nowhere");
            let what = format!("the task {task} is over and its call on `{file}` is {status}");
            return Err(Invariant::Finished.violated(what));
        }
    };
    if effects > most || (outcome == Outcome::Finished && effects != 1) {
        return Err(
            Invariant::Once.violated(format!("`{file}`: {effects} effects of a call that is {outcome:?}"))
        );
    }
    if deed.said_done && outcome != Outcome::Finished {
        return Err(Invariant::Reported.violated(format!("`{file}` was said to be done and is {outcome:?}")));
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::super::deed::Kind;
    use super::*;

    fn record(status: Option<&str>) -> Record {
        Record { task: "t-1".into(), call: status.map(|status| ("c-1".into(), status.into())) }
    }

    #[test]
    fn a_call_has_ended_and_happened_as_often_as_that_allows() {
        type Row = (Option<Option<&'static str>>, u64, Option<Outcome>);
        let table: [Row; 13] = [
            (None, 0, Some(Outcome::NeverTaken)),
            (None, 1, None),
            (Some(None), 0, None),
            (Some(Some("started")), 0, None),
            (Some(Some("finished")), 0, None),
            (Some(Some("finished")), 1, Some(Outcome::Finished)),
            (Some(Some("finished")), 2, None),
            (Some(Some("failed")), 0, Some(Outcome::Failed)),
            (Some(Some("failed")), 1, None),
            (Some(Some("refused")), 1, None),
            (Some(Some("unknown")), 0, Some(Outcome::Unknown(0))),
            (Some(Some("unknown")), 1, Some(Outcome::Unknown(1))),
            (Some(Some("unknown")), 2, None),
        ];
        for (status, effects, expected) in table {
            let record = status.map(record);
            let found = outcome(&Deed::new(1, Kind::Create), record.as_ref(), effects).ok();
            assert_eq!(found, expected, "{record:?}, {effects}");
        }
    }

    #[test]
    fn what_was_promised_must_be_there() {
        let begun = Deed { begun: true, ..Deed::new(1, Kind::Create) };
        assert!(outcome(&begun, None, 0).is_err());
        let done = Deed { said_done: true, ..Deed::new(1, Kind::Create) };
        assert!(outcome(&done, Some(&record(Some("unknown"))), 1).is_err());
    }

    #[test]
    fn only_what_the_round_explains_is_accepted() {
        let seen = |sort, end, code: &str| Seen {
            sort,
            args: Vec::new(),
            points: Vec::new(),
            stopped_at: None,
            end,
            stdout: String::new(),
            stderr: format!("error {code}: something"),
        };
        let table = [
            (Sort::Call, End::Exit(0), "", Company::Alone, Standing::Free, true),
            (Sort::Call, End::Exit(1), "R1002", Company::Alone, Standing::Free, false),
            (Sort::Resume, End::Exit(1), "R1002", Company::Alone, Standing::Free, true),
            (Sort::Call, End::Exit(3), "R3004", Company::Alone, Standing::Limited, true),
            (Sort::Call, End::Exit(3), "R3004", Company::Alone, Standing::Halted, false),
            (Sort::Call, End::Exit(3), "R3003", Company::Alone, Standing::Halted, true),
            (Sort::Resume, End::Exit(4), "R4011", Company::InALoad, Standing::Free, true),
            (Sort::Resume, End::Exit(4), "R4011", Company::Alone, Standing::Free, false),
            (Sort::Call, End::Hung, "", Company::Alone, Standing::Free, false),
        ];
        for (sort, end, code, company, standing, right) in table {
            let seen = seen(sort, end, code);
            assert_eq!(ended(&seen, company, standing).is_none(), right, "{seen:?} {standing:?}");
        }
    }
}
