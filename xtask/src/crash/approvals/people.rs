//! Those who answer: several at once, perhaps while somebody goes on already, any of them killed.

use super::super::aim::Fate;
use super::super::calls::last::Meeting;
use super::super::random::Random;
use super::super::seen::{Seen, Sort};
use super::super::verdict::Company;
use super::answers::{self, Word};
use super::case::Case;
use super::cut::{Step, sound};
use super::office::{Office, Waiting};
use super::world::{When, World};

const MOST_ANSWERS: u64 = 8;
/// So many of a hundred times all who answer have read the question before any of them writes; the others are left to
/// chance, and to kills.
const TOGETHER_PERCENT: u64 = 30;
/// From here on nobody reads anything that they decide by.
const ANSWERING: Fate = Fate::Held { kind: "committing", nth: 1 };
/// How often somebody goes on while others still answer.
const MEANWHILE_PERCENT: u64 = 30;
/// How often nobody answers at all, and how often a question that is still open in the end stays so.
const UNANSWERED_PERCENT: u64 = 5;
const LEFT_OPEN_PERCENT: u64 = 10;
/// What is said in the end, where those who said something were killed.
const LAST_WORDS: [Word; 4] = [Word::Approve, Word::Approve, Word::Modify, Word::Reject];

impl Office<'_> {
    pub(super) fn answers(
        &mut self,
        case: &Case,
        waiting: &Waiting,
        (world, when): (World, When),
        random: &mut Random,
    ) -> Step {
        if random.chance(UNANSWERED_PERCENT) {
            return Ok(());
        }
        let words: Vec<Word> = (0..random.between(1, MOST_ANSWERS)).map(|_| Word::draw(random)).collect();
        let always = self.site.stage.without.as_deref() == Some("stamp");
        let together = words.len() > 1 && (always || random.chance(TOGETHER_PERCENT));
        let mut load = Vec::new();
        for word in &words {
            let fate = if together { ANSWERING } else { self.site.draw(Sort::Answer, random) };
            load.push(self.process(Sort::Answer, word.args(&waiting.question, case), fate));
        }
        let settled = world == World::Still || when == When::BeforeTheAnswer;
        if !together && settled && random.chance(MEANWHILE_PERCENT) {
            load.push(self.resume(&waiting.task, self.site.draw(Sort::Resume, random)));
        }
        let meeting = Meeting::of(words.len());
        let seen = self.watch(load, Company::InALoad, &|| meeting.join())?;
        self.settled(waiting, &words, seen)?;
        let open = self.question(&waiting.task)?.as_ref() == Some(&waiting.question);
        if open && !random.chance(LEFT_OPEN_PERCENT) {
            let word = random.pick(&LAST_WORDS).copied().unwrap_or(Word::Approve);
            return self.answered(case, waiting, word);
        }
        Ok(())
    }

    pub(super) fn approved(&mut self, case: &Case, waiting: &Waiting) -> Step {
        self.answered(case, waiting, Word::Approve)
    }

    /// Whoever answers here is left alone.
    fn answered(&mut self, case: &Case, waiting: &Waiting, word: Word) -> Step {
        let answer = self.process(Sort::Answer, word.args(&waiting.question, case), Fate::Spared);
        let seen = self.watch(vec![answer], Company::Alone, &|| Ok(()))?;
        self.settled(waiting, &[word], seen)
    }

    /// Judges the answers to one question by where it stands now. Whoever went on meanwhile comes after them.
    fn settled(&mut self, waiting: &Waiting, words: &[Word], seen: Vec<Seen>) -> Step {
        let asked = self.asked(&waiting.task)?;
        let ours = asked.iter().find(|asked| asked.id == waiting.question);
        let status = ours.map_or("lost", |asked| asked.status.as_str());
        let answered: Vec<(Word, Seen)> = words.iter().copied().zip(seen).collect();
        let (settled, found) = answers::judge(&answered, status);
        self.tally.answers += u64::try_from(answered.len())?;
        self.tally.won += settled.won;
        self.tally.told += settled.told;
        sound(found)
    }
}
