//! What: the files themselves, by kind, by name, or the folder they are in.

use super::clause::Clause;
use super::request::Kind;
use super::said::{Act, Noun};
use super::token::Token;
use super::why::Why;
use super::words;

impl Clause<'_, '_> {
    pub(super) fn heads(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        if self.cursor.length(words::TYPES) > 0 {
            return Ok(false);
        }
        // `the images folder` is a place, whatever images are.
        if self.cursor.length_at(words::FOLDER, 1) > 0 && self.folder_head()? {
            return Ok(true);
        }
        if let Some(path) = self.file()? {
            // `which files are in a.txt`.
            if self.said.headed && self.said.plural == Some(true) && self.said.paths.is_empty() {
                return Err(Why::SameFiles);
            }
            self.said.paths.push(path);
            self.more_paths()?;
            self.head(false);
            return Ok(true);
        }
        if let Some(pattern) = self.pattern()? {
            let files = self.cursor.eat(words::FILES);
            self.glob(pattern)?;
            self.head(files || self.said.all);
            self.said.all = true;
            return Ok(true);
        }
        if self.said.number.is_none()
            && self.said.rank.is_none()
            && let Some(number) = self.counted_head()
        {
            self.said.number = Some(number);
            return Ok(true);
        }
        let kinds = self.kinds();
        let source = self.cursor.eat(words::SOURCE);
        let scripts = kinds.is_some() && self.cursor.eat(words::KIND_FILES);
        let plural = if scripts || self.cursor.eat(words::FILES) {
            Some(true)
        } else if kinds.is_some() && self.cursor.eat(words::KIND_FILE) || self.cursor.eat(words::FILE) {
            Some(false)
        } else {
            None
        };
        let lone = kinds.as_ref().and_then(|(_, lone)| *lone).filter(|_| !source);
        if let Some(plural) = plural.or(lone) {
            if source && kinds.is_none() {
                self.cursor.back_to(start);
                return Ok(false);
            }
            for kind in kinds.into_iter().flat_map(|(kinds, _)| kinds) {
                self.said.files.kinds.push(kind);
            }
            if self.said.headed && !self.said.paths.is_empty() {
                return Ok(true); // `the file notes.txt`, `a.txt file`
            }
            if self.said.headed {
                return Err(Why::Twice("what the files are"));
            }
            self.head(plural);
            return Ok(true);
        }
        self.cursor.back_to(start);
        if self.cursor.length(words::EVERYTHING) > 0 && !self.said.headed {
            self.cursor.eat(words::EVERYTHING);
            self.said.all = true;
            self.head(true);
            return Ok(true);
        }
        self.folder_head()
    }

    /// `three CSV files`: what they are ranked by is said behind them.
    fn counted_head(&mut self) -> Option<u32> {
        let at = self.cursor.at();
        let number = self.cursor.number().filter(|_| self.cursor.word(0) != Some("of"));
        let behind = self.cursor.at();
        let follows = number.is_some() && (self.kinds().is_some() || self.cursor.length(words::FILES) > 0);
        self.cursor.back_to(if follows { behind } else { at });
        number.filter(|_| follows)
    }

    fn head(&mut self, plural: bool) {
        let said = &mut self.said;
        said.headed = true;
        said.plural = Some(plural);
        said.lines_first |= said.noun == Some(Noun::Lines) && said.paths.is_empty() && said.text.is_none();
    }

    /// `folders`, or one that is named: `the images folder`, `a folder called images`, `size of docs`.
    fn folder_head(&mut self) -> Result<bool, Why> {
        if self.cursor.length(words::FOLDERS) > 0 && !self.said.headed {
            self.cursor.eat(words::FOLDERS);
            self.said.files.folders = true;
            self.head(true);
            self.folders_of()?;
            return Ok(true);
        }
        let start = self.cursor.at();
        let said = self.cursor.eat(words::FOLDER);
        let named = self.cursor.eat(words::NAMED);
        if let Some(folder) = self.cursor.folder_literal()? {
            let behind = self.cursor.eat(words::FOLDER);
            let size =
                self.said.act == Some(Act::Size) && !self.said.headed && self.said.files.under.is_empty();
            let slash = self.cursor_slash(start);
            self.said.sized |= size && !(said || behind || slash);
            if said || behind || size || slash {
                return self.named_folder(folder, named || said || behind).map(|()| true);
            }
        } else if said && !self.said.headed && !named {
            self.said.files.folders = true;
            self.head(false);
            return Ok(true);
        }
        self.cursor.back_to(start);
        Ok(false)
    }

    /// `the subfolders of docs`.
    fn folders_of(&mut self) -> Result<(), Why> {
        let start = self.cursor.at();
        let folders = if self.cursor.eat(&["of"]) { self.folders()? } else { None };
        match folders {
            Some(folders) => self.said.files.under.extend(folders),
            None => self.cursor.back_to(start),
        }
        Ok(())
    }

    fn cursor_slash(&self, start: usize) -> bool {
        self.cursor.said_since(start).ends_with('/')
    }

    /// Whether there is such a folder, or what is in it.
    fn named_folder(&mut self, folder: String, said: bool) -> Result<(), Why> {
        if self.said.act == Some(Act::Exists) && said && !self.said.headed {
            let (parent, name) =
                folder.rsplit_once('/').map_or((None, folder.as_str()), |(p, n)| (Some(p), n));
            self.said.files.folders = true;
            self.said.files.names.push(name.to_owned());
            self.said.files.under.extend(parent.map(str::to_owned));
            self.said.files.direct |= parent.is_some();
            self.head(false);
            return Ok(());
        }
        if self.said.to.is_some() || !self.said.files.under.is_empty() && !self.said.joined {
            return Err(Why::TwoPlaces);
        }
        self.said.files.under.push(folder);
        Ok(())
    }

    /// Kinds, and the number they stand for if no `files` has to follow.
    fn kinds(&mut self) -> Option<(Vec<Kind>, Option<bool>)> {
        let (first, _) = self.kind()?;
        let mut lone = self.lone();
        let mut kinds = vec![first];
        loop {
            let start = self.cursor.at();
            let comma = self.cursor.eat_mark(&[',']);
            let joined = self.cursor.eat(words::AND)
                || self.cursor.eat(words::OR)
                || comma
                || self.cursor.length(&["image", "images", "picture", "pictures", "photo", "photos"]) > 0;
            self.cursor.eat(&["the"]);
            let before = self.cursor.at();
            let picture = before == start;
            match self.kind().filter(|_| joined) {
                // `jpg pictures` are those pictures that are JPEGs.
                Some(_) if picture => lone = self.lone().or(lone),
                Some((kind, _)) => {
                    // `Rust files and Python files` ends the first one's list; it is the next clause's.
                    lone = self.lone();
                    kinds.push(kind);
                }
                None => {
                    self.cursor.back_to(start);
                    break;
                }
            }
        }
        let files = self.cursor.length(words::FILES)
            + self.cursor.length(words::FILE)
            + self.cursor.length(words::SOURCE)
            > 0;
        if kinds.len() > 1 && !files && lone.is_none() {
            return None;
        }
        Some((kinds, lone))
    }

    /// Whether the word just read stands for the files themselves, and for how many.
    fn lone(&self) -> Option<bool> {
        words::noun(self.cursor.before()?).map(|(_, plural)| plural)
    }

    /// One kind, and whether it can stand without `files`.
    pub(super) fn kind(&mut self) -> Option<(Kind, bool)> {
        let word = self.cursor.word(0)?;
        let of_table = |(label, extensions): (&str, &[&str])| Kind {
            label: label.into(),
            extensions: extensions.iter().map(|&extension| extension.into()).collect(),
        };
        let found = if let Some((one, _)) = words::noun(word) {
            words::kind(one).map(|kind| (of_table(kind), true))
        } else if let Some(kind) = words::kind(word) {
            Some((of_table(kind), false))
        } else {
            self.extension().map(|e| (Kind { label: format!(".{e}"), extensions: vec![e] }, false))
        };
        if found.is_some() {
            self.cursor.step();
        }
        found
    }

    /// `.toml`, in the case it is written in.
    fn extension(&self) -> Option<String> {
        let Some(Token::Word { raw, .. }) = self.cursor.peek() else { return None };
        let extension = raw.strip_prefix('.').or_else(|| raw.strip_prefix("*."))?;
        let plain = !extension.is_empty() && extension.chars().all(char::is_alphanumeric);
        let globbed = raw.starts_with('*');
        (plain && !globbed).then(|| extension.into())
    }

    /// A file by its name; the words of a name with blanks stand together if a name comes of it: `notes/my plan.txt`.
    fn file(&mut self) -> Result<Option<String>, Why> {
        let start = self.cursor.at();
        self.cursor.eat(words::FILE);
        self.cursor.eat(words::NAMED);
        let found = self.cursor.file_literal()?;
        if found.is_none() {
            self.cursor.back_to(start);
        }
        Ok(found)
    }

    /// `a.txt, b.txt and c.txt`.
    fn more_paths(&mut self) -> Result<(), Why> {
        loop {
            let start = self.cursor.at();
            let comma = self.cursor.eat_mark(&[',']);
            let and = self.cursor.eat(words::AND);
            let next = if comma || and { self.cursor.file_literal()? } else { None };
            match next {
                Some(path) => self.said.paths.push(path),
                None => {
                    self.cursor.back_to(start);
                    return Ok(());
                }
            }
        }
    }
}
