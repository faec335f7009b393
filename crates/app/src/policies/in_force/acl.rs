//! Access policies, as one kind of policies.

use std::collections::{BTreeMap, BTreeSet};

use ledger::records::PolicySwitch;
use policy::acl::load::Source;
use policy::acl::{self, Mistakes, PolicySet, Switch, shipped};

use super::{PolicyKind, PolicyMistake, PolicyRules};

impl PolicyRules for PolicySet {
    const KIND: PolicyKind = PolicyKind::Acl;
    const SWITCHED: bool = true;

    fn shipped() -> &'static [Source<'static>] {
        &shipped::FILES
    }

    fn load(sources: &[Source<'_>]) -> Result<Self, Vec<PolicyMistake>> {
        acl::load(sources).map(|loaded| loaded.set).map_err(|mistakes| told(&mistakes))
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

    fn switched(self, switches: &[PolicySwitch]) -> Self {
        switches.iter().fold(self, |set, switch| {
            let to = if switch.enabled { Switch::On } else { Switch::Off };
            Self::switched(&set, &switch.name, to).unwrap_or(set)
        })
    }
}

/// One line each; what is beyond the limit is counted under the last file.
pub(crate) fn told(mistakes: &Mistakes) -> Vec<PolicyMistake> {
    let mut all: Vec<PolicyMistake> = mistakes
        .all
        .iter()
        .map(|mistake| PolicyMistake { file: mistake.file.clone(), what: mistake.to_string() })
        .collect();
    if let (true, Some(last)) = (mistakes.more > 0, all.last()) {
        all.push(PolicyMistake { file: last.file.clone(), what: format!("and {} more", mistakes.more) });
    }
    all
}
