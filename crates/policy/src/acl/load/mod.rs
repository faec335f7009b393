//! From YAML to a [`PolicySet`], or to all mistakes at once ([`crate::yaml`]).

mod check;
pub(crate) mod example;
pub(crate) mod matching;
mod rights;

use std::collections::BTreeMap;

pub use crate::yaml::{Mistake, Mistakes, Note, Noted, Origin, Place, Source, Wrong};

use super::policy::Policy;
use super::set::{PolicySet, Switch};
use crate::yaml::{Entry, Files, Read};
use example::Example;

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
    let files = Files::read(sources, check::policy);
    let files = files.check_examples(|policies| PolicySet::new(policies).unwrap_or_default(), check_examples);
    let named = files.named();
    let own = files.own();
    let (set, notes) = files.finish(PolicySet::new)?;
    Ok(Loaded { set: set.from_files(own), notes, files: named })
}

/// What a policy does that is switched off until wanted is seen with it switched on.
fn check_examples(read: &Read<Policy, Example>, set: &PolicySet) -> Vec<(Place, Wrong)> {
    let Read { policy, examples, .. } = read;
    let switched = (!policy.enabled).then(|| set.switched(&policy.name, Switch::On)).flatten();
    let set = switched.as_ref().unwrap_or(set);
    examples.iter().flat_map(|example| example.check(set)).collect()
}

impl Entry for Policy {
    fn name(&self) -> &str {
        &self.name
    }

    fn priority(&self) -> u8 {
        self.priority
    }
}

#[cfg(test)]
mod tests;
