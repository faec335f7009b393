//! What a call was looked at to change, before it was decided: it does exactly that, or nothing.

use domain::call::Failure;
use domain::change::{Change, Changes, Content, Standing};

use crate::staged::changed_meanwhile;

/// Nothing is expected by whoever only looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected<'a>(Option<&'a Changes>);

impl<'a> Expected<'a> {
    pub(crate) const fn new(changes: Option<&'a Changes>) -> Self {
        Self(changes)
    }

    /// What was to become of a name; `path` is what the caller calls it. Nothing where nobody has looked.
    ///
    /// # Errors
    /// If it was not among what was looked at.
    fn of(self, path: &str, shown: &str) -> Result<Option<&'a Change>, Failure> {
        let find = |changes: &'a Changes| changes.of(shown).ok_or_else(|| changed_meanwhile(path));
        self.0.map(find).transpose()
    }

    /// # Errors
    /// If something else is there than what was looked at.
    pub(crate) fn check(self, path: &str, shown: &str, from: &Standing) -> Result<(), Failure> {
        let same = self.of(path, shown)?.is_none_or(|change| change.from.is_as(from));
        if same { Ok(()) } else { Err(changed_meanwhile(path)) }
    }

    /// The same for all names together: what would change now is what was looked at, name by name.
    ///
    /// # Errors
    /// If one of them is not as it was, or they are others.
    pub(crate) fn check_all(self, now: &'a Changes) -> Result<(), Failure> {
        let Some(looked) = self.0 else { return Ok(()) };
        let same = |(now, then): &(&Change, &Change)| {
            (&now.path, &now.moved_from) == (&then.path, &then.moved_from)
                && now.from.is_as(&then.from)
                && now.to.is_as(&then.to)
        };
        let other = now.iter().zip(looked).find(|pair| !same(pair)).map(|(now, _)| now);
        let (now, looked) = (now.as_slice(), looked.as_slice());
        let more = now.get(looked.len()).or_else(|| looked.get(now.len()));
        let named = |change: &'a Change| change.moved_from.as_deref().unwrap_or(&change.path);
        other.or(more).map_or(Ok(()), |change| Err(changed_meanwhile(named(change))))
    }

    /// The file that has to come of it.
    ///
    /// # Errors
    /// If no file was to come of it.
    pub(crate) fn file(self, path: &str, shown: &str) -> Result<Option<&'a Content>, Failure> {
        match self.of(path, shown)?.map(|change| &change.to) {
            None => Ok(None),
            Some(Standing::File(content)) => Ok(Some(content)),
            Some(_) => Err(changed_meanwhile(path)),
        }
    }

    /// Whether a folder may be made on the way: one that was there when somebody looked was taken away since.
    pub(crate) fn may_make(self, folder: &str) -> bool {
        let made = |change: &Change| change.folders.iter().any(|known| known == folder);
        self.0.is_none_or(|changes| changes.iter().any(made))
    }
}

/// Of a call that nobody could look at before, though it can be looked at now. Nothing of what it changes would be kept.
pub(crate) fn unlooked() -> Failure {
    Failure::environmental("it could not be looked at before; nothing was done, ask again")
}
