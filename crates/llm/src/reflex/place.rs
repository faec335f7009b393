//! Where.

use super::clause::Clause;
use super::token::Token;
use super::why::Why;
use super::words;

impl Clause<'_, '_> {
    pub(super) fn place(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        let direct = self.cursor.eat(words::DIRECTLY);
        if !direct && !self.cursor.eat(words::IN) {
            return Ok(false);
        }
        if self.cursor.eat(words::WORKSPACE) {
            self.said.said_here = true;
            self.said.files.direct |= direct;
            return Ok(true);
        }
        // `remove a.txt from archive.zip` is not about this folder.
        if self.said.changes() && self.cursor.file_literal()?.is_some() {
            return Err(self.cursor.stuck());
        }
        // `in all log files`, `in README.md`, `in which files`: the files themselves follow.
        if !direct && (self.cursor.length(&["which", "what", "how many"]) > 0 || self.files_follow()?) {
            return Ok(true);
        }
        match self.folders()? {
            Some(_)
                if !self.said.files.under.is_empty()
                    && (!self.said.joined || self.said.files.direct || direct) =>
            {
                Err(Why::TwoPlaces)
            }
            Some(_) if self.said.to.is_some() => Err(Why::TwoPlaces),
            Some(folders) => {
                self.said.named_until = self.cursor.at();
                self.said.files.under.extend(folders);
                self.said.files.direct |= direct;
                Ok(true)
            }
            None => {
                self.cursor.back_to(start);
                Ok(false)
            }
        }
    }

    fn files_follow(&mut self) -> Result<bool, Why> {
        let start = self.cursor.at();
        self.cursor.eat(&["the"]);
        let all = self.cursor.eat(words::ALL);
        let one = self.cursor.eat(&["the file", "file"]);
        let file = self.cursor.file_literal()?.is_some();
        let kind = !file && self.kind().is_some();
        let files = self.cursor.eat(words::FILES)
            || self.cursor.eat(words::FILE)
            || self.cursor.length(words::SOURCE) > 0;
        let same = self.cursor.length(words::THEM) > 0;
        self.cursor.back_to(start);
        Ok(file || files || one || (all && kind) || same)
    }

    /// `src`, `src and tests`, `the docs folder`.
    pub(super) fn folders(&mut self) -> Result<Option<Vec<String>>, Why> {
        let Some(first) = self.folder(true)? else { return Ok(None) };
        let mut folders = vec![first];
        // `in a, b and c` is a list; `in a, b` may go on with something else.
        let mut sure = (folders.len(), self.cursor.at());
        loop {
            let comma = self.cursor.eat_mark(&[',']);
            let and = self.cursor.eat(words::AND) || self.cursor.eat(words::OR);
            let deep = self.cursor.length(words::DEEP) > 0;
            let next = if (comma || and) && !deep { self.folder(false)? } else { None };
            let Some(folder) = next.filter(|_| !self.act_follows()) else { break };
            folders.push(folder);
            if and {
                sure = (folders.len(), self.cursor.at());
            }
        }
        folders.truncate(sure.0);
        self.cursor.back_to(sure.1);
        self.cursor.eat(&["folders", "directories"]);
        Ok(Some(folders))
    }

    /// `in src and zzz save it`: then what is no folder was the beginning of something else.
    fn act_follows(&self) -> bool {
        let acts = [
            words::SAVE,
            words::DELETE,
            words::COPY,
            words::MOVE,
            words::COUNT,
            words::LIST,
            words::SEARCH,
            words::READ,
        ];
        acts.iter().any(|act| self.cursor.length(act) > 0)
    }

    pub(super) fn folder(&mut self, first: bool) -> Result<Option<String>, Why> {
        let start = self.cursor.at();
        let the = self.cursor.eat(&["the", "my", "our", "your"]);
        // `in folders named tmp`: every one of them, wherever.
        if self.cursor.length(&["folders named", "folders called", "directories named", "directories called"])
            > 0
        {
            return Err(self.cursor.stuck());
        }
        let said = first && self.cursor.eat(words::A_FOLDER) || self.cursor.eat(&["folder", "directory"]);
        self.cursor.eat(words::NAMED);
        let name = match self.cursor.peek() {
            // A file's name is a folder only if it is said to be one.
            Some(Token::Quoted(text)) if super::literal::is_file_name(text) && !said => None,
            _ => self.cursor.folder_literal()?,
        };
        let behind = name.is_some() && self.cursor.eat(words::FOLDER);
        // `in src and the big ones`: what follows is more than a name.
        let more = self.cursor.length(&["one", "ones", "file", "files"]) > 0;
        let sure = said || behind || (!more && (first || !the));
        if name.is_some() && sure {
            return Ok(name);
        }
        self.cursor.back_to(start);
        Ok(None)
    }
}
