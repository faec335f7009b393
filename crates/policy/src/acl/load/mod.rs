//! From YAML to a [`PolicySet`], or to all mistakes at once. A file with a mistake gives no set at all: the caller keeps the
//! last good one, so nothing that cannot be read ever allows anything.
//!
//! Mistakes in the form of a file (it is no YAML, it is too large) hide the others in that file, and only there. Examples are
//! decided by the whole set, so they are checked once nothing else is wrong.

mod check;
mod desk;
mod example;
mod matching;
mod mistake;
mod nearest;
mod rights;
mod tree;

use std::collections::BTreeMap;

pub use mistake::{Mistake, Mistakes, Note, Noted, Place, Wrong};

use super::limits::{FILE_BYTES, FILES, POLICIES, REPORTED, SET_BYTES};
use super::policy::Policy;
use super::set::{PolicySet, Switch};
use check::Read;
use desk::Desk;
use tree::Value;

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub set: PolicySet,
    pub notes: Vec<Note>,
    /// In which file each policy stands, by its name.
    pub files: BTreeMap<String, String>,
}

/// # Errors
/// Everything that is wrong.
pub fn load(sources: &[Source<'_>]) -> Result<Loaded, Mistakes> {
    let mut loading = Loading::default();
    loading.bound(sources);
    // Beyond the limit nothing is read: the mistake above says so.
    for (number, source) in sources.iter().take(FILES).enumerate() {
        let desk = loading.file(number, source);
        loading.mistakes.extend(desk.mistakes.into_iter().map(|mistake| (number, mistake)));
        loading.notes.extend(desk.notes.into_iter().map(|note| (number, note)));
    }
    loading.names(sources);
    loading.finish(sources)
}

#[derive(Default)]
struct Loading {
    /// With the number of its file.
    read: Vec<(usize, Read)>,
    mistakes: Vec<(usize, Mistake)>,
    notes: Vec<(usize, Note)>,
    bytes: usize,
}

impl Loading {
    fn wrong(&mut self, number: usize, source: &Source<'_>, at: Place, wrong: Wrong, help: Option<String>) {
        self.mistakes.push((number, Mistake { file: source.file.to_owned(), at, wrong, help }));
    }

    fn bound(&mut self, sources: &[Source<'_>]) {
        if let Some(source) = sources.get(FILES) {
            self.wrong(
                FILES,
                source,
                Place::START,
                Wrong::TooManyFiles,
                Some("put several policies into one".into()),
            );
        }
    }

    /// Reads one file, as far as it can be read.
    fn file<'a>(&mut self, number: usize, source: &Source<'a>) -> Desk<'a> {
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
            self.read.extend(check::policy(&mut desk, node).map(|read| (number, read)));
        }
        desk
    }

    /// Names are unique over all files, and so should priorities be.
    fn names(&mut self, sources: &[Source<'_>]) {
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let mut priorities: BTreeMap<u8, (&str, String)> = BTreeMap::new();
        let mut taken = Vec::new();
        for (number, Read { policy: Policy { name, priority, .. }, at, .. }) in &self.read {
            let Some(source) = sources.get(*number) else { continue };
            let place = format!("{}:{at}", source.file);
            if let Some(first) = names.get(name.as_str()) {
                let wrong = Wrong::NameTaken { name: name.clone(), first: first.clone() };
                taken.push((*number, source, *at, wrong));
                continue;
            }
            if let Some((first, place)) = priorities.get(priority) {
                let (name, first, place) = (name.clone(), (*first).to_owned(), place.clone());
                let noted = Noted::SamePriority { name, first, place };
                self.notes.push((*number, Note { file: source.file.to_owned(), at: *at, noted }));
            } else {
                priorities.insert(*priority, (name, place.clone()));
            }
            names.insert(name, place);
        }
        for (number, source, at, wrong) in taken {
            self.wrong(number, source, at, wrong, Some("give it a name of its own".to_owned()));
        }
    }

    fn finish(mut self, sources: &[Source<'_>]) -> Result<Loaded, Mistakes> {
        if self.mistakes.is_empty() {
            self.examples(sources);
        }
        let Self { read, mistakes, mut notes, .. } = self;
        if let Some(mistakes) = Mistakes::of(mistakes) {
            return Err(mistakes);
        }
        notes.sort_by_key(|(number, note)| (*number, note.at));
        let notes = notes.into_iter().map(|(_, note)| note).take(REPORTED).collect();
        let file = |(number, Read { policy, .. }): &(usize, Read)| {
            Some((policy.name.clone(), sources.get(*number)?.file.to_owned()))
        };
        let files = read.iter().filter_map(file).collect();
        let set = PolicySet::new(read.into_iter().map(|(_, read)| read.policy).collect());
        set.map(|set| Loaded { set, notes, files }).map_err(|wrong| {
            // The checks above are stricter than a set's own; this says so instead of relying on it.
            let (file, at) = ("policies".to_owned(), Place::START);
            Mistakes { all: vec![Mistake { file, at, wrong: wrong.into(), help: None }], more: 0 }
        })
    }

    fn examples(&mut self, sources: &[Source<'_>]) {
        let shipped =
            |number: &usize| sources.get(*number).is_some_and(|source| source.origin == Origin::Shipped);
        let of = |wanted: &dyn Fn(&usize) -> bool| {
            let policies = self.read.iter().filter(|(number, _)| wanted(number));
            PolicySet::new(policies.map(|(_, read)| read.policy.clone()).collect()).unwrap_or_default()
        };
        let (all, ours) = (of(&|_| true), of(&shipped));
        let mut differing = Vec::new();
        for (number, Read { policy, examples, .. }) in &self.read {
            let set = if shipped(number) { &ours } else { &all };
            // What a policy does that is switched off until wanted is seen with it switched on.
            let switched = (!policy.enabled).then(|| set.switched(&policy.name, Switch::On)).flatten();
            let set = switched.as_ref().unwrap_or(set);
            let found = examples.iter().flat_map(|example| example.check(set));
            differing.extend(found.map(|(at, wrong)| (*number, at, wrong)));
        }
        for (number, at, wrong) in differing {
            if let Some(source) = sources.get(number) {
                self.wrong(number, source, at, wrong, None);
            }
        }
    }
}

#[cfg(test)]
mod tests;
