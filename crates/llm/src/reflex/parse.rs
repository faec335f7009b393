//! The grammar: what to do × what × which × where, question after question.
//!
//! ```text
//! request  := courtesy* question (("," | "?" | "and" …)+ question)* courtesy*
//! question := [where ","] ( "how many" files | "list" (top | files) | "search" … "for" text in…
//!                         | "which" [is|are] (top | files) | "which" files "is" top | top )
//! top      := [the] [n] ("largest" | "newest") [n] [[of] files]
//! files    := [all] ([kind | ".ext"] "files" | "*.glob") (where | containing | named | matching)*
//! ```
//!
//! It reads from left to right and never skips a word. What cannot be read on is reported at the
//! furthest word that was reached, so the answer names what stood in the way. Files are read in
//! `files`, searching in `search`; what the questions mean together is decided in `resolve`.

use super::files::certain_folder;
use super::request::{Kind, Place, Rank, Show};
use super::token::Token;
use super::why::Why;
use super::words;

/// One question as it stands, before it is known what the others are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub what: What,
    pub of: Of,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Count,
    Show(Show),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// The files of the other question: `and which is the largest?`
    Same,
    Files(Said),
    Lines {
        path: String,
        text: String,
    },
}

/// Files as they are said: a place that is not named is not yet the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub kind: Option<Kind>,
    pub name: Option<String>,
    pub contains: Option<String>,
    pub place: Option<Place>,
}

/// Whether one or several files are spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    One,
    Several,
    Unsaid,
}

pub(super) fn questions(tokens: &[Token]) -> Result<Vec<Question>, Why> {
    let mut parser = Parser { tokens, at: 0, furthest: 0 };
    let mut questions = Vec::new();
    parser.courtesy();
    while parser.peek().is_some() {
        questions.push(parser.question()?);
        let separated = parser.separators()?;
        if !separated && parser.peek().is_some() {
            return Err(parser.stuck());
        }
    }
    if questions.is_empty() { Err(Why::NothingAsked) } else { Ok(questions) }
}

pub(super) struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    furthest: usize,
}

/// Reading.
impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// The word `ahead` words from here, in lower case.
    pub(super) fn word(&self, ahead: usize) -> Option<&str> {
        match self.tokens.get(self.at + ahead) {
            Some(Token::Word { lower, .. }) => Some(lower),
            _ => None,
        }
    }

    pub(super) const fn step(&mut self) {
        self.at += 1;
        if self.at > self.furthest {
            self.furthest = self.at;
        }
    }

    /// Takes the longest of these phrases that stands here.
    pub(super) fn eat(&mut self, phrases: &[&str]) -> bool {
        let mut longest = 0;
        for phrase in phrases {
            let fits =
                phrase.split(' ').enumerate().take_while(|&(i, word)| self.word(i) == Some(word)).count();
            self.furthest = self.furthest.max(self.at + fits);
            if fits == phrase.split(' ').count() {
                longest = longest.max(fits);
            }
        }
        self.at += longest;
        longest > 0
    }

    /// Whether it reads, from here; if not, nothing is taken.
    pub(super) fn attempt<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Option<T>, Why>,
    ) -> Result<Option<T>, Why> {
        let start = self.at;
        let result = read(self)?;
        if result.is_none() {
            self.at = start;
        }
        Ok(result)
    }

    pub(super) fn stuck(&self) -> Why {
        match self.tokens.get(self.furthest) {
            None => Why::EndsTooEarly,
            Some(Token::Quoted(text)) => Why::Unplaced(text.clone()),
            Some(Token::Mark(mark)) => Why::NotHere(mark.to_string()),
            Some(Token::Word { raw, lower }) if words::known(lower) => Why::NotHere(raw.clone()),
            Some(Token::Word { raw, .. }) => Why::UnknownWord(raw.clone()),
        }
    }

    fn mark(&mut self) -> bool {
        let mark = matches!(self.peek(), Some(Token::Mark(_)));
        if mark {
            self.step();
        }
        mark
    }

    fn courtesy(&mut self) {
        while self.mark() || self.eat(words::COURTESY) || self.eat(words::GREETING) {}
    }

    /// Whatever stands between two questions. Punctuation may also end the last one, `and` may not.
    fn separators(&mut self) -> Result<bool, Why> {
        let (mut marked, mut joined) = (false, false);
        loop {
            if self.mark() {
                marked = true;
            } else if self.eat(words::AND) {
                joined = true;
            } else if !self.eat(words::COURTESY) && !self.eat(words::GREETING) {
                break;
            }
        }
        if joined && self.peek().is_none() { Err(Why::EndsTooEarly) } else { Ok(marked || joined) }
    }
}

/// What to do.
impl Parser<'_> {
    fn question(&mut self) -> Result<Question, Why> {
        let place = self.place()?.map(certain_folder).transpose()?;
        if place.is_some() {
            self.courtesy();
        }
        let mut question = self.asked()?;
        match (&mut question.of, place) {
            (_, None) => {}
            (Of::Files(Said { place: place @ None, .. }), Some(leading)) => *place = Some(leading),
            (Of::Files(_), Some(_)) => return Err(Why::TwoPlaces),
            (Of::Same | Of::Lines { .. }, Some(_)) => return Err(Why::WhichFiles),
        }
        Ok(question)
    }

    fn asked(&mut self) -> Result<Question, Why> {
        if self.eat(words::SEARCH) {
            self.search()
        } else if self.eat(words::GREP) {
            self.search_for()
        } else if self.eat(words::LIST) {
            self.eat(words::TO_WHOM);
            if self.eat(words::COUNT) {
                self.count()
            } else if self.eat(words::WHICH) {
                self.which()
            } else {
                self.shown()
            }
        } else if self.eat(words::COUNT) {
            self.count()
        } else if self.eat(words::WHICH) {
            self.which()
        } else {
            self.top(Number::Unsaid)?.ok_or_else(|| self.stuck())
        }
    }

    /// Behind `how many`.
    fn count(&mut self) -> Result<Question, Why> {
        let out_of = self.eat(words::OF);
        if let Some((said, _)) = self.files()? {
            return Ok(Question { what: What::Count, of: Of::Files(said) });
        }
        let them = self.eat(words::THEM);
        while self.eat(words::THERE) {}
        let same = them || (!out_of && self.at_end());
        if same { Ok(Question { what: What::Count, of: Of::Same }) } else { Err(self.stuck()) }
    }

    /// Behind `which` or `what`.
    fn which(&mut self) -> Result<Question, Why> {
        if let Some(number) = self.copula() {
            return if self.eat(words::COUNT) { self.count() } else { self.which_are(number) };
        }
        self.eat(words::OF);
        let n = self.number(); // also the `one` of `which one is the largest`
        let of = match self.files()? {
            Some((said, _)) => Of::Files(said),
            None if n.is_some() || self.eat(words::ONE) || self.eat(words::THEM) => Of::Same,
            None => return Err(self.stuck()),
        };
        let Some(number) = self.copula() else {
            let list = n.is_none() && of != Of::Same;
            return if list { Ok(Question { what: LIST, of }) } else { Err(self.stuck()) };
        };
        self.eat(words::THE);
        let n = if n.is_some() { n } else { self.number() };
        let rank = self.rank().ok_or_else(|| self.stuck())?;
        Ok(Question { what: best(rank, n, number)?, of })
    }

    /// Behind `which are`. `what are the TOML files` asks for a list, `what are TOML files` for an
    /// explanation.
    fn which_are(&mut self, number: Number) -> Result<Question, Why> {
        if let Some(top) = self.top(number)? {
            return Ok(top);
        }
        let the = self.word(0).is_some_and(|word| words::THE.contains(&word));
        if the && number == Number::Several { self.shown() } else { Err(self.stuck()) }
    }

    /// Behind a verb: some of the files by rank, or all.
    fn shown(&mut self) -> Result<Question, Why> {
        if let Some(top) = self.top(Number::Unsaid)? {
            return Ok(top);
        }
        let of = match self.files()? {
            Some((said, _)) => Of::Files(said),
            None if self.eat(words::THEM) => Of::Same,
            None => return Err(self.stuck()),
        };
        Ok(Question { what: LIST, of })
    }

    fn top(&mut self, copula: Number) -> Result<Option<Question>, Why> {
        let ranked = self.attempt(|parser| {
            parser.eat(words::THE);
            parser.eat(words::TOP);
            let n = parser.number();
            Ok(parser.rank().map(|rank| (rank, n)))
        });
        let Some((rank, n)) = ranked? else { return Ok(None) };
        let n = if n.is_some() { n } else { self.number() };
        let same = self.eat(words::ONE);
        let out_of = !same && self.eat(words::OF);
        let (of, number) = match self.files()? {
            Some(_) if same => return Err(self.stuck()),
            Some((said, number)) if !out_of && number != Number::Unsaid => (Of::Files(said), number),
            Some((said, _)) => (Of::Files(said), copula),
            None if out_of => return Err(self.stuck()),
            None => (Of::Same, copula),
        };
        Ok(Some(Question { what: best(rank, n, number)?, of }))
    }

    fn copula(&mut self) -> Option<Number> {
        if self.eat(words::IS) { Some(Number::One) } else { self.eat(words::ARE).then_some(Number::Several) }
    }

    fn rank(&mut self) -> Option<Rank> {
        if self.eat(words::LARGEST) {
            Some(Rank::Largest)
        } else {
            self.eat(words::NEWEST).then_some(Rank::Newest)
        }
    }

    fn number(&mut self) -> Option<u32> {
        let number = words::number(self.word(0)?)?;
        self.step();
        Some(number)
    }

    pub(super) fn at_end(&self) -> bool {
        match self.peek() {
            None | Some(Token::Mark(_)) => true,
            Some(Token::Word { lower, .. }) => words::AND.contains(&lower.as_str()),
            Some(Token::Quoted(_)) => false,
        }
    }
}

pub(super) const LIST: What = What::Show(Show::List);

/// `the largest` is one; `the largest files` is no number at all.
fn best(rank: Rank, said: Option<u32>, number: Number) -> Result<What, Why> {
    let n = match (said, number) {
        (Some(n), _) if (1..=words::MOST).contains(&n) => n,
        (Some(_), _) => return Err(Why::OutOfRange(rank)),
        (None, Number::Several) => return Err(Why::HowManyOf(rank)),
        (None, Number::One | Number::Unsaid) => 1,
    };
    Ok(What::Show(Show::Top(rank, n)))
}
