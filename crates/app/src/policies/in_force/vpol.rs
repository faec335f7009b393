//! Validation policies, as one kind of policies.

use std::collections::{BTreeMap, BTreeSet};

use ledger::records::PolicySwitch;
use policy::vpol::{self, VpolSet, shipped};
use policy::yaml::Source;

use super::{PolicyKind, PolicyMistake, PolicyRules, told};

impl PolicyRules for VpolSet {
    const KIND: PolicyKind = PolicyKind::Vpol;
    const SWITCHED: bool = false;

    fn shipped() -> &'static [Source<'static>] {
        &shipped::FILES
    }

    fn load(sources: &[Source<'_>]) -> Result<Self, Vec<PolicyMistake>> {
        vpol::load(sources).map(|loaded| loaded.set).map_err(|mistakes| told(&mistakes))
    }

    fn count(&self) -> usize {
        self.iter().count()
    }

    fn files(&self) -> &BTreeMap<String, String> {
        self.files()
    }

    fn without(self, names: &BTreeSet<String>) -> Self {
        self.without(names)
    }

    fn switched(self, _: &[PolicySwitch]) -> Self {
        self
    }
}
