//! One round: a call that asks, people who answer, a world that may change, and whoever goes on with it; any of them may
//! be killed.

use std::time::Duration;

use super::super::aim::Fate;
use super::super::calls::last::Meeting;
use super::super::calls::verdict::NOBODY_KNOWS;
use super::super::random::Random;
use super::super::seen::{End, Seen, Sort};
use super::super::verdict::{Company, Invariant, Violation, stayed_silent};
use super::answers::{self, Word};
use super::case::Case;
use super::office::{Office, Told};
use super::verdict::Outcome;
use super::world::{When, World};

/// How often the unfinished is gone on with; only the first times may it be killed again.
const PASSES: usize = 8;
const PASSES_WITH_KILLS: usize = 3;
const KILLED_AGAIN_PERCENT: u64 = 60;
/// How often two processes want the same task at once: one of them gets it.
const RIVALS_PERCENT: u64 = 25;
const CALLER_KILLED_PERCENT: u64 = 35;
const MOST_ANSWERS: u64 = 8;
/// So many of a hundred times all who answer have read the question before any of them writes; the others are left to chance, and
/// to kills.
const TOGETHER_PERCENT: u64 = 30;
/// Nobody has looked anything up after this point that they write down.
const ANSWERING: Fate = Fate::Held { kind: "committing", nth: 1 };
/// How often somebody goes on while others still answer.
const MEANWHILE_PERCENT: u64 = 30;
/// How often nobody answers at all, how often a question that is still open then stays so, and how often the second one is
/// answered.
const UNANSWERED_PERCENT: u64 = 5;
const LEFT_OPEN_PERCENT: u64 = 10;
const ASKED_AGAIN_PERCENT: u64 = 70;
/// Milliseconds that a process which says nothing keeps its task in a round of that kind.
const LEASE: u64 = 150;
const STALE_PERCENT: u64 = 8;
/// Points that going on passes, more or less: where in it it is held.
const PLACES: u64 = 30;

/// Ends the round with what was found, if anything.
macro_rules! sound {
    ($found:expr) => {
        let found = $found;
        if !found.is_empty() {
            return Ok(found);
        }
    };
}

/// Takes what a house answered, or ends the round.
macro_rules! told {
    ($told:expr) => {
        match $told? {
            Ok(told) => told,
            Err(violation) => return Ok(vec![violation]),
        }
    };
}

impl Office<'_> {
    pub(super) fn round(&mut self, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        self.site.trace.clear();
        let mut case = self.case(random)?;
        let stale = match self.site.stage.without.as_deref() {
            None => random.chance(STALE_PERCENT),
            Some(guard) => guard == "fence",
        };
        let (world, when) = if stale { (World::Still, When::AfterTheAnswer) } else { World::draw(random) };
        let Some((task, question)) = told!(self.asking(&case, world, random)) else {
            self.tally.never_taken += 1;
            return self.nothing_happened(&case);
        };
        sound!(self.nothing_happened(&case)?);
        if when == When::BeforeTheAnswer {
            self.turn(world, &mut case)?;
        }
        if stale {
            sound!(self.answered(&case, &task, &question, vec![Word::Approve])?);
            sound!(self.held(&case, &task, random)?);
        } else {
            sound!(self.answers(&case, &task, &question, (world, when), random)?);
        }
        if when == When::AfterTheAnswer {
            self.turn(world, &mut case)?;
        }
        sound!(self.go_on(&case, &task, random)?);
        let again = told!(self.question(&task)).filter(|again| *again != question);
        if let Some(again) = again.filter(|_| random.chance(ASKED_AGAIN_PERCENT)) {
            self.tally.asked_again += 1;
            sound!(self.answered(&case, &task, &again, vec![Word::Approve])?);
            sound!(self.go_on(&case, &task, random)?);
        }
        let found = self.judged(&case, &task, world, when)?;
        self.turn_back(world, &case)?;
        sound!(found);
        self.closed(&case, &task)
    }

    /// The call, by a process that may be killed, gone on with until it waits. Nothing if it never became durable.
    fn asking(&mut self, case: &Case, world: World, random: &mut Random) -> Told<Option<(String, String)>> {
        // What was never asked shows little, and where time is short none is lost.
        let killed = world != World::Overdue && random.chance(CALLER_KILLED_PERCENT);
        let fate = if killed { self.site.draw(Sort::Call, random) } else { Fate::Spared };
        self.open_for_short(world == World::Overdue);
        let call = self.process(Sort::Call, case.call(), fate);
        let (seen, found) = self.watch(vec![call], Company::Alone, &|| Ok(()))?;
        self.open_for_short(false);
        if let Some(violation) = found.into_iter().next() {
            return Ok(Err(violation));
        }
        let begun = seen.iter().any(Seen::committed);
        for pass in 0..PASSES {
            let unfinished = match self.unfinished(case)? {
                Err(violation) => return Ok(Err(violation)),
                Ok(None) if pass == 0 && !begun => return Ok(Ok(None)),
                Ok(None) => break,
                Ok(Some(unfinished)) => unfinished,
            };
            if unfinished.waits {
                return Ok(self.first_question(unfinished.task)?.map(Some));
            }
            let fate = self.again(pass, random);
            let resume = self.resume(&unfinished.task, fate);
            let (_, found) = self.watch(vec![resume], Company::Alone, &|| Ok(()))?;
            if let Some(violation) = found.into_iter().next() {
                return Ok(Err(violation));
            }
        }
        Ok(Err(Invariant::Finished.violated(format!("the call on `{}` never asked anybody", case.file()))))
    }

    /// A task that waits for the first time has asked one question.
    fn first_question(&self, task: String) -> Told<(String, String)> {
        Ok(match self.asked(&task)?.as_slice() {
            [one] => Ok((task, one.id.clone())),
            several => {
                Err(Invariant::OneAnswer.violated(format!("{task} waits for {} answers", several.len())))
            }
        })
    }

    /// Several answer, perhaps while somebody goes on already; then one more, unless it is left open.
    fn answers(
        &mut self,
        case: &Case,
        task: &str,
        question: &str,
        (world, when): (World, When),
        random: &mut Random,
    ) -> anyhow::Result<Vec<Violation>> {
        if random.chance(UNANSWERED_PERCENT) {
            return Ok(Vec::new());
        }
        let words = (0..random.between(1, MOST_ANSWERS)).map(|_| Word::draw(random)).collect::<Vec<_>>();
        let percent =
            if self.site.stage.without.as_deref() == Some("stamp") { 100 } else { TOGETHER_PERCENT };
        let together = words.len() > 1 && random.chance(percent);
        let fates: Vec<Fate> = words
            .iter()
            .map(|_| if together { ANSWERING } else { self.site.draw(Sort::Answer, random) })
            .collect();
        let mut load: Vec<_> = words
            .iter()
            .zip(fates)
            .map(|(word, fate)| self.process(Sort::Answer, word.args(question, case), fate))
            .collect();
        let settled = world == World::Still || when == When::BeforeTheAnswer;
        if !together && settled && random.chance(MEANWHILE_PERCENT) {
            load.push(self.resume(task, self.site.draw(Sort::Resume, random)));
        }
        let meeting = Meeting::of(words.len());
        let (seen, found) = self.watch(load, Company::InALoad, &|| meeting.join())?;
        sound!(found);
        sound!(self.settled(task, &words, seen)?);
        if told!(self.question(task)).as_deref() == Some(question) && !random.chance(LEFT_OPEN_PERCENT) {
            let word = random.pick(&[Word::Approve, Word::Approve, Word::Modify, Word::Reject]).copied();
            return self.answered(case, task, question, word.into_iter().collect());
        }
        Ok(Vec::new())
    }

    /// Whoever answers here is left alone.
    fn answered(
        &mut self,
        case: &Case,
        task: &str,
        question: &str,
        words: Vec<Word>,
    ) -> anyhow::Result<Vec<Violation>> {
        let load =
            words.iter().map(|word| self.process(Sort::Answer, word.args(question, case), Fate::Spared));
        let (seen, found) = self.watch(load.collect(), Company::Alone, &|| Ok(()))?;
        sound!(found);
        self.settled(task, &words, seen)
    }

    /// Judges the answers to one question by where it stands now.
    fn settled(&mut self, task: &str, words: &[Word], seen: Vec<Seen>) -> anyhow::Result<Vec<Violation>> {
        let asked = self.asked(task)?;
        let question = words.first().and(seen.first()).and_then(|seen| seen.args.get(2).cloned());
        let status = asked.iter().find(|asked| Some(&asked.id) == question.as_ref());
        let status = status.map_or("lost", |asked| asked.status.as_str());
        let answered: Vec<(Word, Seen)> = words.iter().copied().zip(seen).collect();
        let (settled, found) = answers::judge(&answered, status);
        self.tally.answers += u64::try_from(answered.len())?;
        self.tally.won += settled.won;
        self.tally.told += settled.told;
        Ok(found)
    }

    /// Goes on at least once, until the task is over or waits for somebody who has not answered.
    fn go_on(&mut self, case: &Case, task: &str, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        for pass in 0..PASSES {
            let Some(unfinished) = told!(self.unfinished(case)) else { return Ok(Vec::new()) };
            if pass > 0 && unfinished.waits && told!(self.question(task)).is_some() {
                return Ok(Vec::new());
            }
            case.undo(&self.site.workspace())?;
            let rivals = pass < PASSES_WITH_KILLS && random.chance(RIVALS_PERCENT);
            let (each, company) = if rivals { (2, Company::InALoad) } else { (1, Company::Alone) };
            let load = (0..each).map(|_| self.resume(task, self.again(pass, random))).collect();
            let (_, found) = self.watch(load, company, &|| Ok(()))?;
            sound!(found);
        }
        Ok(vec![Invariant::Finished.violated(format!("{task} is unfinished after {PASSES} passes"))])
    }

    fn again(&self, pass: usize, random: &mut Random) -> Fate {
        let killed = pass < PASSES_WITH_KILLS && random.chance(KILLED_AGAIN_PERCENT);
        if killed { self.site.draw(Sort::Resume, random) } else { Fate::Spared }
    }

    /// Whoever goes on is held until its lease is over and another has ended the task. It must notice when it wakes.
    fn held(&mut self, case: &Case, task: &str, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        let place = usize::try_from(random.below(PLACES))?;
        let mut first = self.resume(task, Fate::Stop { place });
        first.lease = Some(LEASE);
        let others = std::sync::Mutex::new(Vec::new());
        let office = &*self;
        let take_over = || -> anyhow::Result<()> {
            std::thread::sleep(Duration::from_millis(LEASE + LEASE / 3));
            if matches!(office.unfinished(case)?, Ok(None)) {
                return Ok(());
            }
            case.undo(&office.site.workspace())?;
            let mut second = office.resume(task, Fate::Spared);
            second.lease = Some(LEASE);
            let (_, seen) = office.site.watch(second, &|| Ok(()))?;
            others.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(seen);
            case.undo(&office.site.workspace())?;
            Ok(())
        };
        let (_, held) = office.site.watch(first, &take_over)?;
        let others = others.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut found = Vec::new();
        if held.stopped_at.is_some() && !others.is_empty() {
            found.extend(stayed_silent(&held));
        }
        found.extend(self.witnessed(&held, Company::Alone));
        for other in others {
            found.extend(self.witnessed(&other, Company::Alone));
        }
        Ok(found)
    }

    fn nothing_happened(&self, case: &Case) -> anyhow::Result<Vec<Violation>> {
        let counted = case.count(&self.site.effects.all()?);
        let what = format!("nobody was asked, or has answered, and `{}` has {counted:?}", case.file());
        let quiet = counted == super::case::Counted::default();
        Ok(if quiet { Vec::new() } else { vec![Invariant::Approved.violated(what)] })
    }

    /// All that is on record of a case, against what was counted.
    fn judged(
        &mut self,
        case: &Case,
        task: &str,
        world: World,
        when: When,
    ) -> anyhow::Result<Vec<Violation>> {
        let over = told!(self.unfinished(case)).is_none();
        let counted = case.count(&self.site.effects.all()?);
        let outcome =
            Outcome { world, when, asked: self.asked(task)?, calls: self.calls(task)?, counted, over };
        self.tally.add(&outcome);
        let mut found = outcome.check();
        if over && found.is_empty() {
            found.extend(self.said(task, &outcome)?);
        }
        Ok(found)
    }

    /// Whoever asks again is told in words why it did not run, or that nobody knows.
    fn said(&self, task: &str, outcome: &Outcome) -> anyhow::Result<Option<Violation>> {
        let rejected = outcome.asked.iter().any(|asked| asked.status == "rejected");
        let (exit, words) = match outcome.world {
            _ if rejected => (3, "said no"),
            World::Overdue => (3, "nobody answered in time"),
            World::Off => (3, "switched off"),
            _ if outcome.unknown() > 0 => (1, NOBODY_KNOWS),
            _ => return Ok(None),
        };
        let (end, _, stderr) = self.site.ask(&["resume", task])?;
        let told = end == End::Exit(exit) && stderr.contains(words);
        let what =
            || Invariant::Reported.violated(format!("`{words}` is not said of {task} ({end:?}): {stderr}"));
        Ok((!told).then(what))
    }

    /// What was left open is answered with no, and ends.
    fn closed(&mut self, case: &Case, task: &str) -> anyhow::Result<Vec<Violation>> {
        let Some(open) = told!(self.question(task)) else { return Ok(Vec::new()) };
        let before = case.count(&self.site.effects.all()?);
        for args in [vec!["approvals", "reject", &open], vec!["resume", task]] {
            self.site.ask(&args)?;
        }
        let after = case.count(&self.site.effects.all()?);
        let over = told!(self.unfinished(case)).is_none();
        let what = format!("{task} was answered with no: over {over}, {before:?}, then {after:?}");
        Ok(if over && before == after { Vec::new() } else { vec![Invariant::Approved.violated(what)] })
    }
}
