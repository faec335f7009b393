//! The grammar of what, which and where: `all Rust files named main* under crates that contain "x"`.

use super::parse::{Number, Parser, Said};
use super::request::{Kind, Place};
use super::token::Token;
use super::why::Why;
use super::words;

/// What.
impl Parser<'_> {
    /// Files, and whether one or several are spoken of; none if no files are named here.
    pub(super) fn files(&mut self) -> Result<Option<(Said, Number)>, Why> {
        let Some((mut said, number)) = self.head()? else { return Ok(None) };
        self.narrowed(&mut said)?;
        if let Some(Place::Pattern(pattern)) = &said.place
            && (said.kind.is_some() || said.name.is_some() || said.contains.is_some())
        {
            return Err(Why::PatternAlone(pattern.clone()));
        }
        Ok(Some((said, number)))
    }

    /// `all the Rust source files`, `.toml files`, `*.rs`, `images`.
    fn head(&mut self) -> Result<Option<(Said, Number)>, Why> {
        self.attempt(|parser| {
            parser.eat(words::ALL);
            if parser.at_pattern() { parser.pattern_head().map(Some) } else { Ok(parser.bare_head()) }
        })
    }

    fn bare_head(&mut self) -> Option<(Said, Number)> {
        if let Some(number) = self.file_or_files() {
            return Some((Said::default(), number));
        }
        let (kind, lone) = self.kind()?;
        let said = Said { kind: Some(kind), ..Said::default() };
        self.eat(words::SOURCE);
        Some((said, self.file_or_files().or(lone)?))
    }

    /// A kind, and the number it stands for if no `files` has to follow.
    fn kind(&mut self) -> Option<(Kind, Option<Number>)> {
        let word = self.word(0)?;
        let of_table = |(label, extensions): (&str, &[&str])| Kind {
            label: label.into(),
            extensions: extensions.iter().map(|&extension| extension.into()).collect(),
        };
        let found = if let Some((one, plural)) = words::noun(word) {
            let number = if plural { Number::Several } else { Number::One };
            words::kind(one).map(|kind| (of_table(kind), Some(number)))
        } else if let Some(kind) = words::kind(word) {
            Some((of_table(kind), None))
        } else {
            let extension = self.extension(); // alone, `.github` may be a folder
            extension.map(|e| (Kind { label: format!(".{e}"), extensions: vec![e] }, None))
        };
        if found.is_some() {
            self.step();
        }
        found
    }

    /// `.toml`, in the case it is written in.
    fn extension(&self) -> Option<String> {
        let Some(Token::Word { raw, .. }) = self.peek() else { return None };
        let extension = raw.strip_prefix('.')?;
        let plain = !extension.is_empty() && extension.chars().all(char::is_alphanumeric);
        plain.then(|| extension.into())
    }

    fn file_or_files(&mut self) -> Option<Number> {
        if self.eat(&[words::FILES]) {
            Some(Number::Several)
        } else {
            self.eat(&[words::FILE]).then_some(Number::One)
        }
    }

    /// `*.rs`, which is about names, or `crates/**/*.toml`, which is about whole paths.
    fn pattern_head(&mut self) -> Result<(Said, Number), Why> {
        let mut said = Said::default();
        self.pattern(&mut said)?;
        Ok((said, self.file_or_files().unwrap_or(Number::Unsaid)))
    }

    fn at_pattern(&self) -> bool {
        match self.peek() {
            Some(Token::Word { raw, .. }) => is_pattern(raw),
            Some(Token::Quoted(text)) => is_pattern(text) && !text.contains(char::is_whitespace),
            Some(Token::Mark(_)) | None => false,
        }
    }

    fn pattern(&mut self, said: &mut Said) -> Result<(), Why> {
        if !self.at_pattern() {
            return Err(self.stuck());
        }
        let pattern = self.literal()?;
        if pattern.contains('/') {
            once(&mut said.place, Place::Pattern(pattern), Why::TwoPlaces)
        } else {
            once(&mut said.name, pattern, Why::Twice("a name"))
        }
    }

    /// A word or a quoted text as it is written, where it can be nothing else.
    fn literal(&mut self) -> Result<String, Why> {
        let (text, quoted) = match self.peek() {
            Some(Token::Quoted(text)) if !text.is_empty() => (text.clone(), true),
            Some(Token::Word { raw, .. }) => (raw.clone(), false),
            _ => return Err(self.stuck()),
        };
        self.step();
        if !quoted && is_pattern(&text) && self.peek() == Some(&Token::Mark('?')) {
            return Err(Why::QuotePattern(text));
        }
        Ok(text)
    }
}

/// Which and where, in any order, each at most once.
impl Parser<'_> {
    fn narrowed(&mut self, said: &mut Said) -> Result<(), Why> {
        loop {
            if self.eat(words::THERE) {
                continue;
            } else if self.eat(words::NAMED) {
                let name = self.name()?;
                once(&mut said.name, name, Why::Twice("a name"))?;
            } else if self.eat(words::MATCHING) {
                self.pattern(said)?;
            } else if self.eat(words::CONTAINING) {
                let text = self.text()?;
                once(&mut said.contains, text, Why::Twice("a text"))?;
            } else if let Some(place) = self.place_behind_are()? {
                once(&mut said.place, place, Why::TwoPlaces)?;
            } else {
                return Ok(());
            }
        }
    }

    /// `in src`, `are in src`, `that are here`.
    fn place_behind_are(&mut self) -> Result<Option<Place>, Why> {
        let place = self.attempt(|parser| {
            parser.eat(words::THAT_ARE);
            parser.place()
        });
        place?.map(certain_folder).transpose()
    }

    pub(super) fn place(&mut self) -> Result<Option<Place>, Why> {
        if self.eat(words::HERE) {
            return Ok(Some(Place::Workspace));
        }
        if !self.eat(words::IN) {
            return Ok(None);
        }
        self.folder().map(Some)
    }

    /// `src`, `the src folder`, `this folder`.
    pub(super) fn folder(&mut self) -> Result<Place, Why> {
        if self.eat(words::WORKSPACE) {
            return Ok(Place::Workspace);
        }
        let the = self.eat(words::THE);
        if self.eat(words::FOLDER) {
            return self.path().map(|path| Place::Folder(path + "/"));
        }
        let path = self.path()?;
        match self.eat(words::FOLDER) {
            true => Ok(Place::Folder(path + "/")),
            false if the && !path.contains('/') => Err(Why::NotAFolder(path)),
            false => Ok(Place::Folder(path)),
        }
    }

    /// A folder or a file; a word of the grammar is one only if it is quoted or written with a `/`.
    pub(super) fn path(&mut self) -> Result<String, Why> {
        if let Some(Token::Word { raw, lower }) = self.peek() {
            if is_pattern(raw) {
                return Err(Why::PatternAlone(raw.clone()));
            }
            if !words::names(lower) || words::number(lower).is_some() {
                return Err(Why::NotAFolder(raw.clone()));
            }
        }
        self.literal()
    }

    /// A name may have stars; in brackets and braces a glob would read more than a name says.
    fn name(&mut self) -> Result<String, Why> {
        if self.word(0).is_some_and(|word| !words::names(word)) {
            return Err(self.stuck());
        }
        let name = self.literal()?;
        if name.contains(['/', '\\', '[', ']', '{', '}']) { Err(Why::NotAName(name)) } else { Ok(name) }
    }
}

fn once<T>(slot: &mut Option<T>, value: T, again: Why) -> Result<(), Why> {
    if slot.replace(value).is_none() { Ok(()) } else { Err(again) }
}

/// Several files are not in a file: `README.md` is a folder only if it is written `README.md/`.
pub(super) fn certain_folder(place: Place) -> Result<Place, Why> {
    match place {
        Place::Folder(path) if is_file_name(&path) => Err(Why::NotAFolder(path)),
        place => Ok(place),
    }
}

/// `README.md` and `docs/a.txt`, but neither `.github` nor `v1.2` nor `site.d/`.
pub(super) fn is_file_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}
