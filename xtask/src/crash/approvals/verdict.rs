//! What must hold of calls that a person is asked about, whatever was killed and when.

use super::super::seen::{End, Seen, Sort};
use super::super::verdict::{Company, Invariant, Violation};
use super::case::Counted;
use super::world::{When, World};

/// How a process may end: as we wanted it, well, waiting, or with a refusal that the round explains.
pub(super) fn ended(seen: &Seen, company: Company) -> Option<Violation> {
    let wrong = |what: String| Some(Invariant::NoInternalError.violated(what));
    if seen.stderr.contains("panicked at") {
        return wrong(format!("`{}` panicked", seen.sort));
    }
    let resumed = seen.sort == Sort::Resume;
    let explained = match (&seen.end, seen.code()) {
        (End::Killed(_) | End::Exit(0), _) => true,
        // It waits. What it waits for is looked at in the house.
        (End::Exit(3), None | Some("R3005")) => resumed || seen.sort == Sort::Call,
        // Why it did not run, or was stopped, is judged with what is on record.
        (End::Exit(3), Some("R3002")) | (End::Exit(1), Some("R1002")) => resumed,
        (End::Exit(4), Some("R4011")) if seen.stopped_at.is_some() => true,
        (End::Exit(2), Some("R2007")) | (End::Exit(4), Some("R4011")) | (End::Exit(1), Some("R1012")) => {
            resumed && company == Company::InALoad
        }
        _ => false,
    };
    if explained {
        return None;
    }
    let code = seen.code().unwrap_or("no code");
    wrong(format!("`regent {}` ended with {:?} ({code})", seen.args.join(" "), seen.end))
}

/// One question as it is on record in the end, in the order of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) id: String,
    pub(super) status: String,
    /// `used`, `void`, or nothing.
    pub(super) fate: String,
}

impl Asked {
    fn is_leave(&self) -> bool {
        matches!(self.status.as_str(), "approved" | "modified")
    }
}

/// All that is known of one case when its round is over.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) world: World,
    pub(super) when: When,
    pub(super) asked: Vec<Asked>,
    /// The ends of its calls.
    pub(super) calls: Vec<String>,
    pub(super) counted: Counted,
    /// Whether the task is over; otherwise it waits.
    pub(super) over: bool,
}

impl Outcome {
    fn calls(&self, status: &str) -> u64 {
        count(self.calls.iter().filter(|call| *call == status))
    }

    pub(super) fn used(&self) -> u64 {
        count(self.asked.iter().filter(|asked| asked.fate == "used"))
    }

    pub(super) fn voided(&self) -> u64 {
        count(self.asked.iter().filter(|asked| asked.fate == "void"))
    }

    pub(super) fn effects(&self) -> u64 {
        self.counted.own + self.counted.other
    }

    pub(super) fn unknown(&self) -> u64 {
        self.calls("unknown")
    }

    /// Everything that does not hold.
    pub(super) fn check(&self) -> Vec<Violation> {
        let found = [self.only_what_was_approved(), self.as_it_says(), self.kept(), self.open()];
        let violated =
            |(invariant, what): (Invariant, String)| invariant.violated(format!("{what}: {self:?}"));
        found.into_iter().flatten().map(violated).collect()
    }

    /// The yeses that were used, by the file that they were for: since somebody wrote another one instead, that is what is
    /// asked about.
    fn yeses(&self) -> Counted {
        let mut yeses = Counted::default();
        let mut instead = false;
        for asked in &self.asked {
            instead |= asked.status == "modified";
            *(if instead { &mut yeses.other } else { &mut yeses.own }) += u64::from(asked.fate == "used");
        }
        yeses
    }

    /// No effect but one for each yes that was used, on the file that the yes was for.
    fn only_what_was_approved(&self) -> Option<(Invariant, String)> {
        let (did, may) = (self.counted, self.yeses());
        let more = did.own > may.own || did.other > may.other;
        more.then(|| (Invariant::Approved, format!("effects {did:?}, and yeses for {may:?}")))
    }

    /// The calls ended as often as a yes was used, and what they say they did they did once.
    fn as_it_says(&self) -> Option<(Invariant, String)> {
        let (finished, unknown, failed) = (self.calls("finished"), self.unknown(), self.calls("failed"));
        let effects = self.effects();
        if self.used() != finished + unknown + failed {
            return Some((Invariant::Approved, "not as many yeses used as calls were run".to_owned()));
        }
        let right = (finished..=finished + unknown).contains(&effects);
        (!right).then(|| {
            (Invariant::Once, format!("{effects} effects of {finished} calls finished, {unknown} unknown"))
        })
    }

    /// The first yes: used where nothing speaks against it, void where something does, and said so by a new question or by
    /// the end of the task.
    fn kept(&self) -> Option<(Invariant, String)> {
        let first = self.asked.first().filter(|first| first.is_leave())?;
        let modified = first.status == "modified";
        let (fate, questions, over) = match (self.world, self.when) {
            (World::Still | World::OffAndOn, _) => ("used", 1, true),
            (World::Overdue, _) => ("expired", 0, true), // nobody could say yes
            // Whoever wrote another file instead is not concerned; the tool they answered for is the one of then.
            (World::Content, _) | (World::Level, When::BeforeTheAnswer) if modified => ("used", 1, true),
            (World::Content | World::Level, _) => ("void", 2, self.over),
            (World::Off, _) => ("void", 1, true),
        };
        let held = first.fate == fate && self.asked.len() == questions && self.over == over;
        let what = || (Invariant::Approved, format!("the first yes should be {fate}, {questions} questions"));
        (!held).then(what)
    }

    /// A no, or no answer, is kept as it is.
    fn open(&self) -> Option<(Invariant, String)> {
        let first = self.asked.first().filter(|first| !first.is_leave())?;
        let over = matches!(first.status.as_str(), "rejected" | "expired");
        let held = first.fate.is_empty() && self.asked.len() == 1 && self.over == over && self.effects() == 0;
        (!held).then(|| (Invariant::Approved, format!("nobody said yes, and it is {}", first.status)))
    }
}

fn count<T>(all: impl Iterator<Item = T>) -> u64 {
    u64::try_from(all.count()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(status: &str, fate: &str) -> Asked {
        Asked { id: "a-1".into(), status: status.into(), fate: fate.into() }
    }

    fn outcome(asked: &[Asked], calls: &[&str], own: u64, other: u64) -> Outcome {
        Outcome {
            world: World::Still,
            when: When::AfterTheAnswer,
            asked: asked.to_vec(),
            calls: calls.iter().map(|call| (*call).to_owned()).collect(),
            counted: Counted { own, other },
            over: true,
        }
    }

    #[test]
    fn an_effect_needs_a_yes_for_exactly_this_call() {
        let (used, modified) = (asked("approved", "used"), asked("modified", "used"));
        let table = [
            (outcome(std::slice::from_ref(&used), &["finished"], 1, 0), true),
            (outcome(std::slice::from_ref(&used), &["finished"], 2, 0), false),
            (outcome(std::slice::from_ref(&used), &["finished"], 0, 0), false),
            (outcome(std::slice::from_ref(&used), &["finished"], 0, 1), false),
            (outcome(std::slice::from_ref(&used), &["unknown"], 0, 0), true),
            (outcome(std::slice::from_ref(&used), &["unknown"], 1, 0), true),
            (outcome(std::slice::from_ref(&modified), &["refused", "finished"], 0, 1), true),
            (outcome(std::slice::from_ref(&modified), &["refused", "finished"], 1, 0), false),
            (outcome(&[asked("rejected", "")], &["refused"], 0, 0), true),
            (outcome(&[asked("rejected", "")], &["refused"], 1, 0), false),
            (outcome(&[asked("approved", "")], &["waiting"], 0, 0), false), // a yes that got lost
            (outcome(&[asked("pending", "")], &["waiting"], 0, 0), false),  // and yet it is over
        ];
        for (outcome, right) in table {
            assert_eq!(outcome.check().is_empty(), right, "{outcome:?}");
        }
    }

    #[test]
    fn where_the_world_is_another_the_yes_is_void_and_says_so() {
        let (used, void) = (asked("approved", "used"), asked("approved", "void"));
        let in_world = |world, of: Outcome| Outcome { world, ..of };
        let again = outcome(&[void.clone(), used.clone()], &["finished"], 1, 0);
        let waits =
            Outcome { over: false, ..outcome(&[void.clone(), asked("pending", "")], &["waiting"], 0, 0) };
        let instead = outcome(&[asked("modified", "void"), used.clone()], &["refused", "finished"], 0, 1);
        let under_the_old = outcome(std::slice::from_ref(&used), &["finished"], 1, 0);
        let refused = outcome(std::slice::from_ref(&void), &["refused"], 0, 0);
        for (outcome, right) in [
            (in_world(World::Content, again.clone()), true),
            (in_world(World::Content, waits.clone()), true),
            (in_world(World::Level, waits), true),
            (in_world(World::Level, instead), true),
            (in_world(World::Content, under_the_old.clone()), false),
            (in_world(World::Off, refused.clone()), true),
            (in_world(World::Off, under_the_old), false),
            (in_world(World::Still, refused), false),
            (in_world(World::OffAndOn, again), false),
        ] {
            assert_eq!(outcome.check().is_empty(), right, "{outcome:?}");
        }
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
            stderr: if code.is_empty() { String::new() } else { format!("error {code}: something") },
        };
        let table = [
            (Sort::Call, End::Exit(3), "", Company::Alone, true),
            (Sort::Call, End::Exit(3), "R3002", Company::Alone, false),
            (Sort::Resume, End::Exit(3), "R3002", Company::Alone, true),
            (Sort::Resume, End::Exit(4), "R4011", Company::InALoad, true),
            (Sort::Resume, End::Exit(4), "R4011", Company::Alone, false),
            (Sort::Resume, End::Exit(1), "R1012", Company::Alone, false),
            (Sort::Resume, End::Exit(4), "R4099", Company::InALoad, false),
            (Sort::Resume, End::Hung, "", Company::InALoad, false),
        ];
        for (sort, end, code, company, right) in table {
            let seen = seen(sort, end, code);
            assert_eq!(ended(&seen, company).is_none(), right, "{seen:?}");
        }
    }
}
