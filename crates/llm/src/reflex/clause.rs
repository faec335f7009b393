//! The grammar: a clause is what to do × what × which × where, each said once, in any order.
//!
//! ```text
//! request := clause (("," | "." | "?" | "and" | "then" …)+ clause)*
//! clause  := (act | noun | files | which | where | order | part | column | group | to | filler)*
//! ```
//!
//! The reading is greedy: at every place the longest piece that can stand there is taken. A word that no piece takes
//! stops it, so no word is ever skipped (INVARIANT never-guess). What the pieces mean together is `resolve`'s to say.

use super::cursor::Cursor;
use super::request::Function;
use super::said::{Act, Noun, Said};
use super::token::Token;
use super::why::Why;
use super::words::{self, Phrases};

pub(super) fn clauses(tokens: &[Token]) -> Result<Vec<Said>, Why> {
    let mut cursor = Cursor::new(tokens);
    let mut clauses = Vec::new();
    while cursor.eat(words::GREETING) || cursor.eat_mark(&[',', '!', '.']) {}
    let mut apart = false;
    while cursor.peek().is_some() {
        let mut clause = Clause { cursor: &mut cursor, fresh: true, said: Said { apart, ..Said::default() } };
        clause.read()?;
        clauses.push(clause.said);
        match cursor.between() {
            Some(stop) => apart = stop,
            None if cursor.peek().is_none() && !cursor.is_behind(words::AND) => {}
            None => return Err(cursor.stuck()),
        }
    }
    if clauses.is_empty() { Err(Why::NothingAsked) } else { Ok(clauses) }
}

impl Cursor<'_> {
    /// Whatever stands between two clauses, and whether it sets the second apart. `and` may not end a request.
    fn between(&mut self) -> Option<bool> {
        let (mut found, mut apart, start) = (false, false, self.at());
        let mut joined = false;
        loop {
            if self.eat_mark(&['.', '?', '!', ';']) || self.eat(words::THEN) {
                (found, apart) = (true, true);
            } else if self.eat_mark(&[',']) {
                found = true;
            } else if self.eat(words::AND) {
                (found, joined) = (true, true);
            } else if !(self.at() > start && (self.eat(words::COURTESY) || self.eat(words::THANKS))) {
                break;
            }
        }
        (found && !(joined && self.peek().is_none())).then_some(apart)
    }
}

pub(super) struct Clause<'a, 'b> {
    pub cursor: &'b mut Cursor<'a>,
    /// Whether nothing of it but courtesy has been read.
    pub fresh: bool,
    pub said: Said,
}

/// What a phrase without arguments says.
#[derive(Clone, Copy)]
enum Plain {
    Nothing,
    Count,
    List,
    Read,
    What,
    Search,
    Save,
    All,
    Act(Act),
    Noun(Noun),
    Takes,
    Headless,
    Deep,
    It,
    Rename,
    Any,
    Each,
    TopLevelHere,
    Contains,
    Long,
    AtEnd,
    Empty(bool),
    Workspace,
    TopLevel,
    Same,
    Ones,
    Types,
    Changed,
    AnyCase,
}

const PLAIN: &[(Phrases, Plain)] = &[
    (words::THANKS, Plain::Nothing),
    (words::NO_HEADER, Plain::Headless),
    (words::DEEP, Plain::Deep),
    (&["it", "its", "that file", "this file", "this"], Plain::It),
    (words::HAVE_IT, Plain::Same),
    (words::COUNT, Plain::Count),
    (words::SIZE, Plain::Act(Act::Size)),
    (words::LINES, Plain::Noun(Noun::Lines)),
    (words::WORDS, Plain::Noun(Noun::Words)),
    (words::TIMES, Plain::Noun(Noun::Times)),
    (words::ROWS, Plain::Noun(Noun::Rows)),
    (words::COLUMNS, Plain::Noun(Noun::Columns)),
    (words::TYPES, Plain::Types),
    (words::HASH, Plain::Act(Act::Hash("sha256"))),
    (words::SHA512, Plain::Act(Act::Hash("sha512"))),
    (words::DELETE, Plain::Act(Act::Delete)),
    (words::COPY, Plain::Act(Act::Copy)),
    (words::MOVE, Plain::Act(Act::Move)),
    (words::RENAME, Plain::Rename),
    (words::SAVE, Plain::Save),
    (words::SEARCH, Plain::Search),
    (words::READ, Plain::Read),
    (words::LIST, Plain::List),
    (words::WHICH, Plain::List),
    (words::WHAT, Plain::What),
    (words::HAVE, Plain::Workspace),
    (words::NOT_EMPTY, Plain::Empty(false)),
    (words::EMPTY, Plain::Empty(true)),
    (words::HERE, Plain::Workspace),
    (words::TOP_LEVEL, Plain::TopLevel),
    (words::TOP_LEVEL_HERE, Plain::TopLevelHere),
    (words::THEM, Plain::Same),
    (words::THEIR, Plain::Same),
    (words::ONES, Plain::Ones),
    (words::NAMES, Plain::Noun(Noun::Names)),
    (words::ALL, Plain::All),
    (words::ANY, Plain::Any),
    (words::EACH, Plain::Each),
    (words::TAKES, Plain::Takes),
    (&["contain", "contains", "include", "includes"], Plain::Contains),
    (words::LONG, Plain::Long),
    (&["called", "named"], Plain::AtEnd),
    (words::ANY_CASE, Plain::AnyCase),
    (words::CHANGED, Plain::Changed),
    (words::FILLER, Plain::Nothing),
];

impl Clause<'_, '_> {
    fn read(&mut self) -> Result<(), Why> {
        self.opening();
        loop {
            if self.cursor.eat_mark(&[':', '=']) {
                continue;
            }
            if self.at_separator() {
                if self.goes_on()? {
                    continue;
                }
                return Ok(());
            }
            if self.cursor.peek().is_none() {
                return Ok(());
            }
            if self.piece()? || self.plain()? {
                continue;
            }
            return Err(self.cursor.stuck());
        }
    }

    /// `is there`, `do we have`: a question about whether, if nothing stands before it. `first` before an act only says
    /// that others follow.
    fn opening(&mut self) {
        let first = self.cursor.length(&["first", "first of all"]);
        let acts =
            [words::COPY, words::MOVE, words::DELETE, words::LIST, words::COUNT, words::SAVE, words::SEARCH];
        if first > 0 && acts.iter().any(|act| self.cursor.length_at(act, first) > 0) {
            self.cursor.eat(&["first", "first of all"]);
        }
        self.courtesy();
        if self.cursor.length(&["which of", "which one of", "what of"]) > 0 {
            let verbs = (2..16)
                .map_while(|ahead| self.cursor.word(ahead))
                .find(|word| matches!(*word, "is" | "was" | "has" | "are" | "were" | "have"));
            self.said.single = matches!(verbs, Some("is" | "was" | "has"));
        }
        let length = self.cursor.length(words::EXISTS);
        if length > 0 && length >= self.longest().0 {
            self.cursor.eat(words::EXISTS);
            self.said.act = Some(Act::Exists);
            self.fresh = false;
        }
    }

    fn courtesy(&mut self) {
        loop {
            let order = self.cursor.length(words::ORDER);
            let length = self.cursor.length(words::COURTESY);
            if length > 0 {
                self.said.asking |= length > order;
                self.cursor.eat(words::COURTESY);
            } else if !(self.cursor.eat(words::THANKS) || self.cursor.eat_mark(&[',', ':'])) {
                return;
            }
        }
    }

    fn at_separator(&self) -> bool {
        match self.cursor.peek() {
            Some(Token::Mark(mark)) => matches!(mark, '.' | '?' | '!' | ';' | ','),
            _ => self.cursor.length(words::AND) > 0 || self.cursor.length(words::THEN) > 0,
        }
    }

    /// Whether what stands behind a comma or an `and` still belongs to this clause: something that narrows the same
    /// files, or what is still missing.
    fn goes_on(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        let comma = self.cursor.eat_mark(&[',']);
        let and = self.cursor.eat(words::AND);
        if !(comma || and) {
            return Ok(false);
        }
        while self.cursor.eat(words::COURTESY) || self.cursor.eat(words::THANKS) {}
        self.said.joined = and;
        let nothing_yet = comma && !self.said.asks() && self.cursor.peek().is_some();
        let goes_on = nothing_yet || self.missing() || self.more()? || self.narrowing()?;
        self.said.joined = false;
        if !goes_on {
            self.cursor.back_to(start);
        } else if self.cursor.ends_with_name() {
            self.said.named_until = self.cursor.at();
        }
        Ok(goes_on)
    }

    /// `what is the minimum and the maximum price`: the column comes after both.
    fn missing(&self) -> bool {
        let the = usize::from(self.cursor.word(0) == Some("the"));
        let function = [words::SUM, words::MEAN, words::MIN, words::MAX]
            .iter()
            .any(|f| self.cursor.length_at(f, the) > 0);
        !self.said.functions.is_empty() && self.said.column.is_none() && function
    }

    /// Phrases without an argument of their own, the longest one first.
    fn plain(&mut self) -> Result<bool, Why> {
        let (length, plain) = self.longest();
        let Some(plain) = plain else { return Ok(false) };
        let thanks = self.cursor.length(words::THANKS) == length;
        (0..length).for_each(|_| self.cursor.step());
        self.take(plain)?;
        self.fresh &= thanks;
        Ok(true)
    }

    /// How long the longest phrase without an argument is that stands here: what has one must not be shorter.
    pub(super) fn plain_length(&self) -> usize {
        self.longest().0
    }

    /// The first of the longest.
    fn longest(&self) -> (usize, Option<Plain>) {
        PLAIN.iter().fold((0, None), |best, &(phrases, plain)| {
            let length = self.cursor.length(phrases);
            if length > best.0 { (length, Some(plain)) } else { best }
        })
    }

    fn take(&mut self, plain: Plain) -> Result<(), Why> {
        let said = &mut self.said;
        match plain {
            Plain::Nothing => {}
            Plain::Count => said.count = true,
            Plain::List => said.list = true,
            Plain::What => (said.list, said.what) = (true, true),
            // `which files read a.txt`: somebody else does.
            Plain::Read if said.list || said.headed => return Err(Why::TwoActs),
            Plain::Read => (said.list, said.reads) = (true, true),
            Plain::Search => said.search = true,
            Plain::Save => said.save = true,
            Plain::All => said.all = true,
            Plain::Same => said.same = true,
            Plain::Ones => (said.list, said.same) = (true, true),
            Plain::Changed => said.changed = true,
            Plain::Any if self.cursor.word(0) == Some("of") => return Err(Why::NotHere("any".into())),
            Plain::Any => said.any = true,
            Plain::Each => (said.all, said.each) = (true, true),
            Plain::Deep => said.deep = true,
            Plain::It => (said.same, said.it) = (true, true),
            Plain::Headless => said.headless = true,
            Plain::Rename => {
                said.renames = true;
                return self.act(Act::Move);
            }
            Plain::Act(act) => return self.act(act),
            Plain::TopLevelHere if said.files.under.is_empty() => {
                (said.said_here, said.files.direct) = (true, true);
                said.files.under.push(".".into());
            }
            Plain::TopLevelHere => return Err(Why::TwoPlaces),
            Plain::Noun(Noun::Names) => {
                said.list = true;
                said.noun = said.noun.or(Some(Noun::Names));
            }
            // Lines can be empty, too, and those are not counted here.
            Plain::Noun(_) if said.files.empty.is_some() && !said.headed => {
                return Err(Why::NotHere("empty".into()));
            }
            Plain::Noun(noun) => match said.noun {
                None | Some(Noun::Names) => said.noun = Some(noun),
                // `how many times does … in the lines`: one thing is counted.
                Some(before) if before == noun => {}
                Some(_) => return Err(Why::Twice("what is counted")),
            },
            Plain::Takes => said.takes = true,
            // `how many words does it contain`; with nothing counted, a text is missing.
            Plain::Contains if said.noun.is_some() || !said.files.under.is_empty() => {}
            Plain::Contains => return Err(Why::NoText),
            Plain::Long if said.noun == Some(Noun::Lines) => {}
            Plain::Long => return Err(Why::NotHere("long".into())),
            // `what are the empty files called?`
            Plain::AtEnd if self.cursor.peek().is_none_or(|token| matches!(token, Token::Mark(_))) => {}
            Plain::AtEnd => return Err(Why::NoText),
            Plain::Empty(_) if said.noun.is_some_and(|noun| noun != Noun::Names) && !said.headed => {
                return Err(Why::NotHere("empty".into()));
            }
            Plain::Empty(empty) => once(&mut said.files.empty, empty, Why::Twice("whether they are empty"))?,
            Plain::Workspace => said.said_here = true,
            Plain::TopLevel => said.files.direct = true,
            Plain::Types => {
                said.headed = true;
                once(&mut said.by, super::said::Key::Extension("type".into()), Why::Twice("a grouping"))?;
            }
            Plain::AnyCase => match (&mut said.text, &mut said.files.contains, &mut said.files.lacks) {
                (Some(text), ..) => text.needle.any_case = true,
                (_, Some(needle), _) | (_, _, Some(needle)) => needle.any_case = true,
                _ => return Err(Why::NoText),
            },
        }
        Ok(())
    }

    /// What changes files stands at the beginning of its clause, so that nobody who asks about it, `which files did I
    /// delete`, is taken at a word.
    fn act(&mut self, act: Act) -> Result<(), Why> {
        let said = &mut self.said;
        match said.act {
            _ if act.changes()
                && (said.asking
                    || said.act.is_some()
                    || said.asks()
                    || said.is_about_files()
                    || !self.fresh) =>
            {
                return Err(Why::NoOrder);
            }
            Some(before) if before.changes() && before != act => return Err(Why::TwoActs),
            // `check whether … exists`, `how big`.
            Some(Act::Exists) | None => said.act = Some(act),
            Some(before) if before == act => {}
            Some(_) => return Err(Why::TwoActs),
        }
        Ok(())
    }

    /// Pieces with arguments. Two names side by side, `to zzz b.txt`, belong to nobody.
    fn piece(&mut self) -> Result<bool, Why> {
        let (at, literal) = (self.cursor.at(), self.cursor.peek().is_some_and(Token::is_literal));
        let behind = at > 0 && at == self.said.named_until;
        if behind && literal && !self.cursor.is_at_phrase() {
            return Err(self.cursor.stuck());
        }
        if behind && self.starts_files() {
            self.cursor.back_to(at - 1); // the name is what nobody expects here
            return Err(self.cursor.stuck());
        }
        let taken = self.any_piece()?;
        self.fresh &= !taken;
        if taken && self.cursor.ends_with_name() {
            self.said.named_until = self.cursor.at();
        }
        Ok(taken)
    }

    /// `in zzz all log files`: what the files are does not follow right behind a name.
    fn starts_files(&mut self) -> bool {
        let heads = [words::FILES, words::FILE, words::ALL, words::EACH, words::KIND_FILES];
        let at = self.cursor.at();
        let found = heads.iter().any(|heads| self.cursor.length(heads) > 0) || self.kind().is_some();
        self.cursor.back_to(at);
        found
    }

    fn any_piece(&mut self) -> Result<bool, Why> {
        Ok(self.part()
            || self.goal()?
            || self.narrowing()?
            || self.group()?
            || self.condition()?
            || self.statistic()?
            || self.ranking()
            || self.told()?
            || self.heads()?
            || self.of_rows())
    }

    pub(super) fn function(&mut self) -> Option<Function> {
        let table = [
            (words::SUM, Function::Sum),
            (words::MEAN, Function::Mean),
            (words::MIN, Function::Min),
            (words::MAX, Function::Max),
        ];
        let (length, function) = table.into_iter().fold((0, None), |best, (phrases, function)| {
            let length = self.cursor.length(phrases);
            if length > best.0 { (length, Some((phrases, function))) } else { best }
        });
        let (phrases, function) = function.filter(|_| length >= self.plain_length())?;
        self.cursor.eat(phrases);
        Some(function)
    }
}

pub(super) fn once<T>(slot: &mut Option<T>, value: T, again: Why) -> Result<(), Why> {
    if slot.replace(value).is_none() { Ok(()) } else { Err(again) }
}
