//! All files of one set, read together. A file with a mistake gives nothing at all: the caller keeps the last good set, so
//! nothing that cannot be read ever allows anything.
//!
//! Mistakes in the form of a file (it is no YAML, it is too large) hide the others in that file, and only there. Examples are
//! decided by the whole set, so they are checked once nothing else is wrong.

use std::collections::BTreeMap;

use super::desk::Desk;
use super::limits::{FILE_BYTES, FILES, POLICIES, REPORTED, SET_BYTES};
use super::mistake::{Mistake, Mistakes, Note, Noted, Place, Wrong};
use super::tree::{self, Node, Value};

/// One file, as somebody else has read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    pub file: &'a str,
    pub text: &'a str,
    pub origin: Origin,
}

/// Whose file it is. Examples of shipped files are checked among shipped files only: the owner's policies may well change
/// what comes out of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Shipped,
    Own,
}

/// What every entry has, whatever it is about.
pub(crate) trait Entry: Clone {
    fn name(&self) -> &str;
    fn priority(&self) -> u8;
}

/// One entry without a mistake, where its name stands, and its examples.
pub(crate) struct Read<P, E> {
    pub(crate) policy: P,
    pub(crate) at: Place,
    pub(crate) examples: Vec<E>,
}

/// What was read of all files, and what is wrong with them. Everything is with the number of its file.
pub(crate) struct Files<'s, P, E> {
    sources: &'s [Source<'s>],
    read: Vec<(usize, Read<P, E>)>,
    mistakes: Vec<(usize, Mistake)>,
    notes: Vec<(usize, Note)>,
    bytes: usize,
}

impl<'s, P: Entry, E> Files<'s, P, E> {
    /// Reads every file as far as it can be read, entry by entry.
    pub(crate) fn read(
        sources: &'s [Source<'s>],
        entry: impl Fn(&mut Desk<'_>, &Node) -> Option<Read<P, E>>,
    ) -> Self {
        let mut files = Self { sources, read: Vec::new(), mistakes: Vec::new(), notes: Vec::new(), bytes: 0 };
        if sources.len() > FILES {
            files.wrong(
                FILES,
                Place::START,
                Wrong::TooManyFiles,
                Some("put several policies into one".into()),
            );
        }
        // Beyond the limit nothing is read: the mistake above says so.
        for (number, source) in sources.iter().take(FILES).enumerate() {
            let desk = files.file(number, source, &entry);
            files.mistakes.extend(desk.mistakes.into_iter().map(|mistake| (number, mistake)));
            files.notes.extend(desk.notes.into_iter().map(|note| (number, note)));
        }
        files.names();
        files
    }

    fn wrong(&mut self, number: usize, at: Place, wrong: Wrong, help: Option<String>) {
        let Some(source) = self.sources.get(number) else { return };
        self.mistakes.push((number, Mistake { file: source.file.to_owned(), at, wrong, help }));
    }

    fn file<'a>(
        &mut self,
        number: usize,
        source: &Source<'a>,
        entry: impl Fn(&mut Desk<'_>, &Node) -> Option<Read<P, E>>,
    ) -> Desk<'a> {
        let mut desk = Desk::new(source.file);
        self.bytes = self.bytes.saturating_add(source.text.len());
        if source.text.len() > FILE_BYTES {
            desk.wrong(Place::START, Wrong::TooLarge, None);
            return desk;
        }
        if self.bytes > SET_BYTES {
            desk.wrong(Place::START, Wrong::SetTooLarge, None);
            return desk;
        }
        let tree = match tree::read(source.text) {
            Ok(tree) => tree,
            Err((at, wrong, help)) => {
                desk.wrong(at, wrong, help);
                return desk;
            }
        };
        let policies = match &tree.value {
            Value::Nothing => return desk, // comments alone
            Value::List(policies) => policies,
            _ => {
                let wrong =
                    Wrong::Not { what: "a policy file", wanted: "a list of policies", found: tree.kind() };
                desk.wrong(tree.at, wrong, "begin each policy with `- name: …`".to_owned());
                return desk;
            }
        };
        for node in policies {
            if self.read.len() >= POLICIES {
                desk.wrong(node.at, Wrong::TooManyPolicies, None);
                break;
            }
            self.read.extend(entry(&mut desk, node).map(|read| (number, read)));
        }
        desk
    }

    /// Names are unique over all files, and so should priorities be.
    fn names(&mut self) {
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let mut priorities: BTreeMap<u8, (&str, String)> = BTreeMap::new();
        let mut taken = Vec::new();
        for (number, Read { policy, at, .. }) in &self.read {
            let Some(source) = self.sources.get(*number) else { continue };
            let (name, priority) = (policy.name(), policy.priority());
            let place = format!("{}:{at}", source.file);
            if let Some(first) = names.get(name) {
                taken.push((*number, *at, Wrong::NameTaken { name: name.to_owned(), first: first.clone() }));
                continue;
            }
            if let Some((first, place)) = priorities.get(&priority) {
                let (name, first, place) = (name.to_owned(), (*first).to_owned(), place.clone());
                let noted = Noted::SamePriority { name, first, place };
                self.notes.push((*number, Note { file: source.file.to_owned(), at: *at, noted }));
            } else {
                priorities.insert(priority, (name, place.clone()));
            }
            names.insert(name, place);
        }
        for (number, at, wrong) in taken {
            self.wrong(number, at, wrong, Some("give it a name of its own".to_owned()));
        }
    }

    /// Checks the examples of every entry, unless something else is wrong already. `set_of` makes a set of entries, `check`
    /// says what comes out differently from it, where that was expected.
    pub(crate) fn check_examples<S>(
        mut self,
        set_of: impl Fn(Vec<P>) -> S,
        check: impl Fn(&Read<P, E>, &S) -> Vec<(Place, Wrong)>,
    ) -> Self {
        if !self.mistakes.is_empty() {
            return self;
        }
        let shipped =
            |number: usize| self.sources.get(number).is_some_and(|source| source.origin == Origin::Shipped);
        let of = |wanted: &dyn Fn(usize) -> bool| {
            let policies = self.read.iter().filter(|(number, _)| wanted(*number));
            set_of(policies.map(|(_, read)| read.policy.clone()).collect())
        };
        let (all, ours) = (of(&|_| true), of(&shipped));
        let mut differing = Vec::new();
        for (number, read) in &self.read {
            let set = if shipped(*number) { &ours } else { &all };
            differing.extend(check(read, set).into_iter().map(|(at, wrong)| (*number, at, wrong)));
        }
        for (number, at, wrong) in differing {
            self.wrong(number, at, wrong, None);
        }
        self
    }

    /// In which file each entry stands, by its name.
    pub(crate) fn named(&self) -> BTreeMap<String, String> {
        let file = |(number, read): &(usize, Read<P, E>)| {
            Some((read.policy.name().to_owned(), self.sources.get(*number)?.file.to_owned()))
        };
        self.read.iter().filter_map(file).collect()
    }

    /// The same for the owner's own entries alone.
    pub(crate) fn own(&self) -> BTreeMap<String, String> {
        let own = |file: &str| {
            self.sources.iter().any(|source| source.file == file && source.origin == Origin::Own)
        };
        self.named().into_iter().filter(|(_, file)| own(file)).collect()
    }

    /// The set that everything makes together, with what there is to know about it.
    pub(crate) fn finish<S, W: Into<Wrong>>(
        self,
        set_of: impl FnOnce(Vec<P>) -> Result<S, W>,
    ) -> Result<(S, Vec<Note>), Mistakes> {
        let Self { read, mistakes, mut notes, .. } = self;
        if let Some(mistakes) = Mistakes::of(mistakes) {
            return Err(mistakes);
        }
        notes.sort_by_key(|(number, note)| (*number, note.at));
        let notes = notes.into_iter().map(|(_, note)| note).take(REPORTED).collect();
        let set = set_of(read.into_iter().map(|(_, read)| read.policy).collect());
        set.map(|set| (set, notes)).map_err(|wrong| {
            // The checks above are stricter than a set's own; this says so instead of relying on it.
            let (file, at) = ("policies".to_owned(), Place::START);
            Mistakes { all: vec![Mistake { file, at, wrong: wrong.into(), help: None }], more: 0 }
        })
    }
}
