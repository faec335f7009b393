//! What a call was looked at to change, before it was decided: it does exactly that, or nothing.

use domain::call::Failure;
use domain::change::{Change, Content, Standing};

use crate::staged::changed_meanwhile;

/// Nothing is expected by whoever only looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected<'a>(Option<&'a Change>);

impl<'a> Expected<'a> {
    pub(crate) const fn new(change: Option<&'a Change>) -> Self {
        Self(change)
    }

    /// # Errors
    /// If something else is there than what was looked at.
    pub(crate) fn check(self, path: &str, shown: &str, from: &Standing) -> Result<(), Failure> {
        let same = self.0.is_none_or(|change| change.path == shown && change.from.is_as(from));
        if same { Ok(()) } else { Err(changed_meanwhile(path)) }
    }

    /// The file that has to come of it.
    ///
    /// # Errors
    /// If no file was to come of it.
    pub(crate) fn file(self, path: &str) -> Result<Option<&'a Content>, Failure> {
        match self.0.map(|change| &change.to) {
            None => Ok(None),
            Some(Standing::File(content)) => Ok(Some(content)),
            Some(_) => Err(changed_meanwhile(path)),
        }
    }

    /// Whether a folder may be made on the way: one that was there when somebody looked was taken away since.
    pub(crate) fn may_make(self, folder: &str) -> bool {
        self.0.is_none_or(|change| change.folders.iter().any(|known| known == folder))
    }
}

/// Of a call that nobody could look at before, though it can be looked at now. Nothing of what it changes would be kept.
pub(crate) fn unlooked() -> Failure {
    Failure::environmental("it could not be looked at before; nothing was done, ask again")
}
