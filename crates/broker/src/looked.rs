//! What a call would change, looked at before anybody is asked and before it runs.

use std::collections::BTreeSet;

use domain::Time;
use domain::canonical::{self, NotCanonical};
use domain::change::{Change, Changes, Standing};
use ledger::records::{Blob, Salt};

/// The world as it stands, and as the call would leave it. A handler gives it; nothing is changed by looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// Every name that it changes, in the order in which it does.
    pub names: Vec<Sight>,
    /// Where it changes the text of one file.
    pub diff: Option<Difference>,
}

/// One name, as it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    pub change: Change,
    /// The bytes that would be gone, if they are few enough to be kept.
    pub content: Option<Vec<u8>>,
    /// When what is there was changed the last time.
    pub modified: Option<Time>,
}

/// What is different, for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub text: String,
    /// Whether the text shows all of it.
    pub whole: bool,
    pub lines_added: u64,
    pub lines_removed: u64,
}

impl Sight {
    /// Whether it can be taken back: nothing would be gone, or what would be gone is kept.
    #[must_use]
    pub const fn can_be_undone(&self) -> bool {
        self.content.is_some() || matches!(self.change.from, Standing::Nothing | Standing::Link { .. })
    }

    /// Without the bytes, and with the reason: the value of a secret is in no ledger.
    fn without_secret(mut self) -> Self {
        if let Standing::File(file) = &mut self.change.from {
            file.secret = true;
        }
        Self { content: None, ..self }
    }

    fn holds(&self, secret: &impl Fn(&str) -> bool) -> bool {
        self.content.as_deref().is_some_and(|content| secret(&String::from_utf8_lossy(content)))
    }
}

impl Looked {
    #[must_use]
    pub fn changes(&self) -> Changes {
        self.names.iter().map(|sight| sight.change.clone()).collect()
    }

    /// Whether all of it can be taken back.
    #[must_use]
    pub fn can_be_undone(&self) -> bool {
        self.names.iter().all(Sight::can_be_undone)
    }

    /// Nothing of it holds a secret: neither the bytes that would be kept, nor what is shown.
    pub(crate) fn without(self, secret: impl Fn(&str) -> bool) -> Self {
        let shown = self.diff.as_ref().is_some_and(|diff| secret(&diff.text));
        let held = shown || self.names.iter().any(|sight| sight.holds(&secret));
        let names = self.names.into_iter();
        let names = names.map(|sight| match shown || sight.holds(&secret) {
            true => sight.without_secret(),
            false => sight,
        });
        Self { names: names.collect(), diff: self.diff.filter(|_| !held) }
    }

    /// The bodies to keep before the call may run; the last one says what changes, and names the others.
    pub(crate) fn bodies(&self, salt: &Salt) -> Result<Vec<Blob>, NotCanonical> {
        let (mut bodies, mut known) = (Vec::new(), BTreeSet::new());
        let keep = |sight: &Sight| {
            let mut change = sight.change.clone();
            let content = sight.content.clone().map(|content| Blob::personal(content, salt));
            if let (Standing::File(file), Some(content)) = (&mut change.from, &content) {
                file.kept = Some(content.hash);
            }
            // Files with the same bytes are kept once.
            bodies.extend(content.filter(|content| known.insert(content.hash)));
            change
        };
        let changes: Changes = self.names.iter().map(keep).collect();
        bodies.push(Blob::personal(canonical::bytes(&changes)?, salt));
        Ok(bodies)
    }
}

impl From<Sight> for Looked {
    fn from(sight: Sight) -> Self {
        Self { names: vec![sight], diff: None }
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Looked, Sight, Standing};
    use domain::Digest;
    use domain::change::{Changes, Content};
    use ledger::records::{Salt, SaltBytes};

    fn sight(path: &str, content: &str) -> Sight {
        let from = Standing::File(Content::new(Digest::of(content.as_bytes()), 1, 0o644));
        let change = Change::new(path.into(), from, Standing::Nothing);
        Sight { change, content: Some(content.into()), modified: None }
    }

    fn salt() -> Salt {
        Salt { person: "somebody".into(), salt: SaltBytes::new(Digest::of(b"salt")) }
    }

    /// What holds a secret is not kept, and the others are.
    #[test]
    fn each_name_is_looked_at_on_its_own() {
        let looked = Looked { names: vec![sight("a", "plain"), sight("b", "secret")], diff: None };
        let looked = looked.without(|text| text == "secret");
        let kept: Vec<_> =
            looked.names.iter().map(|sight| (sight.content.is_some(), sight.can_be_undone())).collect();
        assert_eq!((kept, looked.can_be_undone()), (vec![(true, true), (false, false)], false));
        let changes = looked.changes();
        let Standing::File(from) = &changes.of("b").unwrap().from else { panic!("{changes:?}") };
        assert!(from.secret);
    }

    #[test]
    fn the_same_bytes_are_kept_once_and_each_name_says_where() {
        let looked = Looked { names: vec![sight("a", "1"), sight("b", "1"), sight("c", "2")], diff: None };
        let bodies = looked.bodies(&salt()).unwrap();
        let [one, two, changes] = bodies.as_slice() else { panic!("{bodies:?}") };
        let changes: Changes = serde_json::from_slice(&changes.content).unwrap();
        let kept = |change: &Change| match &change.from {
            Standing::File(file) => file.kept,
            _ => None,
        };
        let kept: Vec<_> = changes.iter().map(kept).collect();
        assert_eq!(kept, [Some(one.hash), Some(one.hash), Some(two.hash)]);
    }
}
