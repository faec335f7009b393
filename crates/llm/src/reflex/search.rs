//! The grammar of searching: `search for TODO in src`, `search the Rust files for "fn main"`.

use super::files::is_file_name;
use super::parse::{LIST, Of, Parser, Question, Said};
use super::request::Place;
use super::token::Token;
use super::why::Why;
use super::words;

/// Where to search, as far as it has been said.
#[derive(Default)]
struct Within {
    said: Said,
    /// `files` have been spoken of, so a place is where they are.
    several: bool,
    file: Option<String>,
}

impl Parser<'_> {
    /// Behind `search`.
    pub(super) fn search(&mut self) -> Result<Question, Why> {
        if self.eat(words::FOR) {
            return self.search_for();
        }
        if matches!(self.peek(), Some(Token::Quoted(_))) && self.word(1) != Some("for") {
            return self.search_for();
        }
        if self.at_end() {
            return Err(Why::NoText);
        }
        let mut within = Within::default();
        if !self.within(&mut within)? {
            if let Some((said, _)) = self.files()? {
                within = Within { said, several: true, file: None };
            } else {
                within.said.place = Some(self.unmistakable_folder()?);
            }
        }
        if !self.eat(words::FOR) {
            return Err(if self.at_end() { Why::NoText } else { self.stuck() });
        }
        let text = self.text()?;
        found(within, text)
    }

    /// Behind `search for`.
    pub(super) fn search_for(&mut self) -> Result<Question, Why> {
        let first = self.peek().cloned();
        if let Some(Token::Word { raw, .. }) = first
            && let Some((said, _)) = self.files()?
        {
            let searched = said.contains.is_some();
            return if searched {
                Ok(Question { what: LIST, of: Of::Files(said) })
            } else {
                Err(Why::QuoteText(raw))
            };
        }
        let text = self.text()?;
        let mut within = Within::default();
        while self.within(&mut within)? {}
        found(within, text)
    }

    /// Without an `in` a bare word is no place: `search twitter for regent`.
    fn unmistakable_folder(&mut self) -> Result<Place, Why> {
        let quoted = matches!(self.peek(), Some(Token::Quoted(_)));
        match self.folder()? {
            Place::Folder(path) if !quoted && !path.contains(['/', '.']) => Err(Why::NotAFolder(path)),
            place => Ok(place),
        }
    }

    /// One more `in …`, if there is one.
    fn within(&mut self, within: &mut Within) -> Result<bool, Why> {
        if let Some(path) = self.in_a_file()? {
            return if within.file.replace(path).is_none() { Ok(true) } else { Err(Why::TwoPlaces) };
        }
        if let Some(said) = self.in_files()? {
            if within.several || (within.said.place.is_some() && said.place.is_some()) {
                return Err(Why::TwoPlaces);
            }
            let place = within.said.place.take().or_else(|| said.place.clone());
            (within.said, within.several) = (Said { place, ..said }, true);
            return Ok(true);
        }
        let Some(place) = self.place()? else { return Ok(false) };
        if within.said.place.replace(place).is_none() { Ok(true) } else { Err(Why::TwoPlaces) }
    }

    /// `in the file LICENSE`.
    fn in_a_file(&mut self) -> Result<Option<String>, Why> {
        self.attempt(|parser| {
            let a_file = parser.eat(words::IN) && parser.eat(words::THE_FILE);
            let named = parser.word(0).map_or(matches!(parser.peek(), Some(Token::Quoted(_))), words::names);
            if a_file && named { parser.path().map(Some) } else { Ok(None) }
        })
    }

    /// `in all Rust files under src`.
    fn in_files(&mut self) -> Result<Option<Said>, Why> {
        let files = self.attempt(|parser| if parser.eat(words::IN) { parser.files() } else { Ok(None) });
        Ok(files?.map(|(said, _)| said))
    }

    /// Quoted, or one word that can be nothing else.
    pub(super) fn text(&mut self) -> Result<String, Why> {
        self.eat(words::TEXT);
        if self.peek() == Some(&Token::Mark(':')) {
            self.step();
        }
        let text = match self.peek() {
            None | Some(Token::Mark(_)) => return Err(Why::NoText),
            Some(Token::Quoted(text)) if text.is_empty() => return Err(Why::NoText),
            Some(Token::Word { lower, .. }) if words::IN.contains(&&**lower) => return Err(Why::NoText),
            Some(Token::Quoted(text)) if text.contains(['\n', '\r']) => return Err(Why::TextOfManyLines),
            Some(Token::Quoted(text)) => text.clone(),
            Some(Token::Word { raw, lower })
                if !words::names(lower) || raw.contains(['.', '/', '\\', '*']) =>
            {
                return Err(Why::QuoteText(raw.clone()));
            }
            Some(Token::Word { raw, .. }) => raw.clone(),
        };
        let quoted = matches!(self.peek(), Some(Token::Quoted(_)));
        self.step();
        let goes_on = match self.peek() {
            Some(Token::Word { lower, .. }) => !words::known(lower),
            Some(Token::Mark(mark)) => !matches!(mark, '.' | ',' | '?'), // `println!` may be meant
            Some(Token::Quoted(_)) | None => false,
        };
        if goes_on && !quoted { Err(Why::QuoteText(text)) } else { Ok(text) }
    }
}

fn found(within: Within, text: String) -> Result<Question, Why> {
    let Within { mut said, several, file } = within;
    let named = match &said.place {
        Some(Place::Folder(path)) if !several && is_file_name(path) => Some(path.clone()),
        _ => None,
    };
    let of = match (file, named) {
        (Some(_), _) if several || said.place.is_some() => return Err(Why::TwoPlaces),
        (Some(path), _) | (None, Some(path)) => Of::Lines { path, text },
        (None, None) if said.contains.is_some() => return Err(Why::Twice("a text")),
        (None, None) => {
            if let Some(Place::Pattern(pattern)) = said.place {
                return Err(Why::PatternAlone(pattern));
            }
            said.contains = Some(text);
            Of::Files(said)
        }
    };
    Ok(Question { what: LIST, of })
}
