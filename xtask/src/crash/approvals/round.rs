//! One round: a call that asks, people who answer, a world that may change, and whoever goes on with it; any of them may
//! be killed. Then what is on record is compared with what was counted.

use super::super::aim::Fate;
use super::super::calls::verdict::NOBODY_KNOWS;
use super::super::random::Random;
use super::super::seen::{End, Seen, Sort};
use super::super::verdict::{Company, Invariant};
use super::case::{Case, Counted};
use super::cut::{Step, sound};
use super::going_on::PASSES;
use super::office::{Office, Waiting};
use super::verdict::Outcome;
use super::world::{When, World};

const CALLER_KILLED_PERCENT: u64 = 35;
/// How often the second question is answered.
const ASKED_AGAIN_PERCENT: u64 = 70;
const STALE_PERCENT: u64 = 8;

impl Office<'_> {
    pub(super) fn round(&mut self, random: &mut Random) -> Step {
        self.site.trace.clear();
        let mut case = self.case(random)?;
        let stale = match self.site.stage.without.as_deref() {
            None => random.chance(STALE_PERCENT),
            Some(guard) => guard == "fence",
        };
        let (world, when) = if stale { (World::Still, When::AfterTheAnswer) } else { World::draw(random) };
        let waiting = self.asking(&case, world, random)?;
        self.nothing_happened(&case)?;
        let Some(waiting) = waiting else {
            self.tally.never_taken += 1;
            return Ok(());
        };
        if when == When::BeforeTheAnswer {
            self.turn(world, &mut case)?;
        }
        if stale {
            self.approved(&case, &waiting)?;
            self.held(&case, &waiting.task, random)?;
        } else {
            self.answers(&case, &waiting, (world, when), random)?;
        }
        if when == When::AfterTheAnswer {
            self.turn(world, &mut case)?;
        }
        self.go_on(&case, &waiting.task, random)?;
        let again = self.question(&waiting.task)?.filter(|again| *again != waiting.question);
        if let Some(question) = again.filter(|_| random.chance(ASKED_AGAIN_PERCENT)) {
            self.tally.asked_again += 1;
            self.approved(&case, &Waiting { question, ..waiting.clone() })?;
            self.go_on(&case, &waiting.task, random)?;
        }
        self.judged(&case, &waiting.task, world, when)?;
        self.turn_back(world, &case)?;
        self.closed(&case, &waiting.task)
    }

    /// The call, by a process that may be killed, gone on with until it waits. Nothing if it never became durable.
    fn asking(&mut self, case: &Case, world: World, random: &mut Random) -> Step<Option<Waiting>> {
        // What was never asked shows little, and where time is short none is lost.
        let killed = world != World::Overdue && random.chance(CALLER_KILLED_PERCENT);
        let fate = if killed { self.site.draw(Sort::Call, random) } else { Fate::Spared };
        self.open_for_short(world == World::Overdue);
        let call = self.process(Sort::Call, case.call(), fate);
        let seen = self.watch(vec![call], Company::Alone, &|| Ok(()));
        self.open_for_short(false);
        let begun = seen?.iter().any(Seen::committed);
        for pass in 0..PASSES {
            let unfinished = match self.unfinished(case)? {
                None if pass == 0 && !begun => return Ok(None),
                None => break,
                Some(unfinished) => unfinished,
            };
            if unfinished.waits {
                return self.first_question(unfinished.task).map(Some);
            }
            let resume = self.resume(&unfinished.task, self.again(pass, random));
            self.watch(vec![resume], Company::Alone, &|| Ok(()))?;
        }
        Err(Invariant::Finished.violated(format!("the call on `{}` never asked anybody", case.file())).into())
    }

    /// A task that waits for the first time has asked one question.
    fn first_question(&self, task: String) -> Step<Waiting> {
        match self.asked(&task)?.as_slice() {
            [one] => Ok(Waiting { task, question: one.id.clone() }),
            several => {
                let what = format!("{task} waits for {} answers", several.len());
                Err(Invariant::OneAnswer.violated(what).into())
            }
        }
    }

    fn nothing_happened(&self, case: &Case) -> Step {
        let counted = case.count(&self.site.effects.all()?);
        if counted == Counted::default() {
            return Ok(());
        }
        let what = format!("nobody was asked, or has answered, and `{}` has {counted:?}", case.file());
        Err(Invariant::Approved.violated(what).into())
    }

    /// All that is on record of a case, against what was counted.
    fn judged(&mut self, case: &Case, task: &str, world: World, when: When) -> Step {
        let over = self.unfinished(case)?.is_none();
        let counted = case.count(&self.site.effects.all()?);
        let (asked, calls) = (self.asked(task)?, self.calls(task)?);
        let outcome = Outcome { world, when, asked, calls, counted, over };
        self.tally.add(&outcome);
        sound(outcome.check())?;
        if over { self.said(task, &outcome) } else { Ok(()) }
    }

    /// Whoever asks again is told in words why it did not run, or that nobody knows.
    fn said(&self, task: &str, outcome: &Outcome) -> Step {
        let rejected = outcome.asked.iter().any(|asked| asked.status == "rejected");
        let (exit, words) = match outcome.world {
            _ if rejected => (3, "said no"),
            World::Overdue => (3, "nobody answered in time"),
            World::Off => (3, "switched off"),
            _ if outcome.unknown() > 0 => (1, NOBODY_KNOWS),
            _ => return Ok(()),
        };
        let (end, _, stderr) = self.site.ask(&["resume", task])?;
        if end == End::Exit(exit) && stderr.contains(words) {
            return Ok(());
        }
        let what = format!("`{words}` is not said of {task} ({end:?}): {stderr}");
        Err(Invariant::Reported.violated(what).into())
    }

    /// What was left open is answered with no, and ends.
    fn closed(&mut self, case: &Case, task: &str) -> Step {
        let Some(open) = self.question(task)? else { return Ok(()) };
        let before = case.count(&self.site.effects.all()?);
        for args in [["approvals", "reject", open.as_str()].as_slice(), &["resume", task]] {
            self.site.ask(args)?;
        }
        let after = case.count(&self.site.effects.all()?);
        let over = self.unfinished(case)?.is_none();
        if over && before == after {
            return Ok(());
        }
        let what = format!("{task} was answered with no: over {over}, {before:?}, then {after:?}");
        Err(Invariant::Approved.violated(what).into())
    }
}
