//! Where the nodes of one file are read into values. What does not fit is written down, and reading goes on.

use domain::alias;
use domain::is_unseen;

use super::limits::{LIST_ENTRIES, TEXT_BYTES};
use super::mistake::{Mistake, Note, Noted, Place, Wrong};
use super::nearest;
use super::tree::{Node, Value};

/// How much is shown of what somebody wrote, in characters.
const SHOWN: usize = 120;

pub(crate) struct Desk<'a> {
    pub(crate) file: &'a str,
    pub(crate) mistakes: Vec<Mistake>,
    pub(crate) notes: Vec<Note>,
}

/// Globs over names of one kind, for sentences about them.
#[derive(Clone, Copy)]
pub(crate) struct Globs {
    /// `a glob over tools`.
    pub(crate) what: &'static str,
    /// `tool`.
    pub(crate) over: &'static str,
    /// Where to say what is left out.
    pub(crate) excluding: &'static str,
}

/// The fields of one map that are known, each once.
pub(crate) struct Fields<'t> {
    found: Vec<(&'static str, &'t Node)>,
}

impl<'t> Fields<'t> {
    pub(crate) fn get(&self, name: &str) -> Option<&'t Node> {
        self.found.iter().find(|(found, _)| *found == name).map(|(_, node)| *node)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}

impl<'a> Desk<'a> {
    pub(crate) const fn new(file: &'a str) -> Self {
        Self { file, mistakes: Vec::new(), notes: Vec::new() }
    }

    pub(crate) fn wrong(&mut self, at: Place, wrong: impl Into<Wrong>, help: impl Into<Option<String>>) {
        let (wrong, help) = (wrong.into(), help.into());
        self.mistakes.push(Mistake { file: self.file.to_owned(), at, wrong, help });
    }

    pub(crate) fn note(&mut self, at: Place, noted: Noted) {
        self.notes.push(Note { file: self.file.to_owned(), at, noted });
    }

    fn not(&mut self, node: &Node, what: &'static str, wanted: &'static str, help: Option<String>) {
        self.wrong(node.at, Wrong::Not { what, wanted, found: node.kind() }, help);
    }

    /// The fields of a map. Unknown ones are mistakes: a misspelt `deny` must not allow anything.
    pub(crate) fn fields<'t>(
        &mut self,
        node: &'t Node,
        of: &'static str,
        known: &[&'static str],
    ) -> Option<Fields<'t>> {
        let Value::Map(map) = &node.value else {
            self.not(node, of, "a map of fields", None);
            return None;
        };
        let mut found: Vec<(&'static str, &'t Node)> = Vec::new();
        for (key, value) in map {
            let Value::Text(name) = &key.value else {
                self.not(key, "the name of a field", "text", None);
                continue;
            };
            match known.iter().find(|known| *known == name) {
                Some(known) if found.iter().any(|(found, _)| found == known) => {
                    let help = "leave one of the two out".to_owned();
                    self.wrong(key.at, Wrong::SecondField(name.clone()), help);
                }
                Some(known) => found.push((known, value)),
                None => {
                    let help = match name.as_str() {
                        "<<" => "write the fields out".to_owned(),
                        _ => nearest::suggest(name, known),
                    };
                    self.wrong(key.at, Wrong::NoField { field: shown(name), of }, help);
                }
            }
        }
        Some(Fields { found })
    }

    pub(crate) fn missing(&mut self, at: Place, field: &'static str, of: &'static str, help: &str) {
        self.wrong(at, Wrong::Missing { field, of }, help.to_owned());
    }

    pub(crate) fn flag(&mut self, node: &Node, what: &'static str) -> Option<bool> {
        if let Value::Flag(flag) = node.value {
            return Some(flag);
        }
        let help = match &node.value {
            Value::Text(text) => match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "true" => Some("write `true`".to_owned()),
                "no" | "off" | "false" => Some("write `false`".to_owned()),
                _ => None,
            },
            _ => None,
        };
        self.not(node, what, "`true` or `false`", help);
        None
    }

    pub(crate) fn number(&mut self, node: &Node, what: &'static str) -> Option<i64> {
        if let Value::Number(number) = node.value {
            return Some(number);
        }
        let help = match &node.value {
            Value::Text(text) if text.parse::<i64>().is_ok() => {
                Some("leave out the quotation marks".to_owned())
            }
            Value::OtherNumber => Some("without a fraction, and not that large".to_owned()),
            _ => None,
        };
        self.not(node, what, "a small whole number", help);
        None
    }

    /// Text of one line, not empty and not too long. A bare number is none: `0x10` or `007` would not stay what was written.
    pub(crate) fn text<'t>(&mut self, node: &'t Node, what: &'static str) -> Option<&'t str> {
        let Value::Text(text) = &node.value else {
            let quotable = matches!(node.value, Value::Number(_) | Value::OtherNumber | Value::Flag(_));
            self.not(node, what, "text", quotable.then(|| "put it in quotation marks".to_owned()));
            return None;
        };
        let wrong = if text.is_empty() {
            Wrong::Empty(what)
        } else if text.len() > TEXT_BYTES {
            Wrong::TooLong(what)
        } else if text.chars().any(is_unseen) {
            Wrong::Unseen(what)
        } else {
            return Some(text);
        };
        self.wrong(node.at, wrong, None);
        None
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        node: &Node,
        what: &'static str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let text = self.text(node, what)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let wrong = Wrong::NoSuchWord { given: shown(text), what };
            self.wrong(node.at, wrong, nearest::suggest(text, &names));
        }
        found
    }

    pub(crate) fn list<'t>(&mut self, node: &'t Node, what: &'static str) -> Option<&'t [Node]> {
        let Value::List(list) = &node.value else {
            let help = matches!(node.value, Value::Text(_)).then(|| "put it in brackets: `[…]`".to_owned());
            self.not(node, what, "a list", help);
            return None;
        };
        self.at_most(LIST_ENTRIES, node.at, list)
    }

    /// The list, unless it is too long.
    pub(crate) fn at_most<'t>(&mut self, most: usize, at: Place, list: &'t [Node]) -> Option<&'t [Node]> {
        if list.len() <= most {
            return Some(list);
        }
        self.wrong(at, Wrong::TooMany { found: list.len(), most }, None);
        None
    }

    /// A list of texts, or one text for a list of one.
    pub(crate) fn texts<'t>(
        &mut self,
        node: &'t Node,
        what: &'static str,
    ) -> Option<Vec<(&'t Node, &'t str)>> {
        if matches!(node.value, Value::Text(_)) {
            return Some(vec![(node, self.text(node, what)?)]);
        }
        let list = self.list(node, what)?;
        Some(list.iter().filter_map(|entry| Some((entry, self.text(entry, what)?))).collect())
    }

    /// A list of a few words, or one of them for a list of one.
    pub(crate) fn words<T: Copy>(&mut self, node: &Node, what: &'static str, words: &[(&str, T)]) -> Vec<T> {
        let nodes: Vec<&Node> = match &node.value {
            Value::Text(_) => vec![node],
            _ => self.list(node, what).unwrap_or_default().iter().collect(),
        };
        nodes.into_iter().filter_map(|node| self.word(node, what, words)).collect()
    }

    /// A list of globs over tools, as globs over their ids: other names of tools are understood.
    pub(crate) fn tools(&mut self, node: &Node, over: Globs) -> Vec<String> {
        let mut tools: Vec<String> = Vec::new();
        for glob in self.globs(node, over).iter().flat_map(|glob| alias::globs(glob)) {
            if !tools.contains(&glob) {
                tools.push(glob);
            }
        }
        tools
    }

    /// A list of globs that can fit something.
    pub(crate) fn globs(&mut self, node: &Node, Globs { what, over, excluding }: Globs) -> Vec<String> {
        const fn fits(c: char) -> bool {
            matches!(c, 'a'..='z' | '0'..='9' | '_' | '-' | '.' | ':' | '/' | '*')
        }
        let mut globs = Vec::new();
        for (node, glob) in self.texts(node, what).unwrap_or_default() {
            let Some(found) = glob.chars().find(|c| !fits(*c)) else {
                globs.push(glob.to_owned());
                continue;
            };
            let help = match found {
                '!' => excluding.to_owned(),
                '?' | '[' | ']' | '{' | '}' => "only `*` stands for other characters".to_owned(),
                'A'..='Z' => format!("{over}s are written in small letters"),
                ',' | ' ' => "make it several entries".to_owned(),
                _ => format!("{over}s are written in a-z, 0-9, `_`, `-`, `.`, `:` and `/`"),
            };
            self.wrong(node.at, Wrong::Glob { glob: shown(glob), found, over }, help);
        }
        globs
    }
}

/// What somebody wrote, short and without anything that a terminal would act on.
pub(crate) fn shown(text: &str) -> String {
    let mut short = String::new();
    for c in text.chars().take(SHOWN) {
        if is_unseen(c) { short.extend(c.escape_unicode()) } else { short.push(c) }
    }
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}
