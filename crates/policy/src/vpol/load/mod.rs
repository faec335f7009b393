//! From YAML to a [`VpolSet`], or to all mistakes at once ([`crate::yaml`]).

mod check;
mod example;

use super::set::{Listed, VpolSet};
use crate::yaml::{Entry, Files, Mistakes, Note, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    pub set: VpolSet,
    pub notes: Vec<Note>,
}

/// # Errors
/// Everything that is wrong.
pub fn load(sources: &[Source<'_>]) -> Result<Loaded, Mistakes> {
    let files = Files::read(sources, check::policy).check_examples(
        |policies| VpolSet::new(policies).unwrap_or_default(),
        |read, set| read.examples.iter().flat_map(|example| example.check(set)).collect(),
    );
    let own = files.own();
    let (set, notes) = files.finish(VpolSet::new)?;
    Ok(Loaded { set: set.from_files(own), notes })
}

impl Entry for Listed {
    fn name(&self) -> &str {
        &self.vpol.name
    }

    fn priority(&self) -> u8 {
        self.priority
    }
}

#[cfg(test)]
mod tests;
