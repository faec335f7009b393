//! What a call would change, looked at before anybody is asked and before it runs.

use domain::Time;
use domain::canonical::{self, NotCanonical};
use domain::change::{Change, Standing};
use ledger::records::{Blob, Salt};

/// The world as it stands, and as the call would leave it. A handler gives it; nothing is changed by looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    pub change: Change,
    /// The bytes that would be gone, if they are few enough to be kept.
    pub content: Option<Vec<u8>>,
    pub diff: Option<Difference>,
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

impl Looked {
    /// Whether it can be taken back: nothing would be gone, or what would be gone is kept.
    #[must_use]
    pub const fn can_be_undone(&self) -> bool {
        self.content.is_some() || matches!(self.change.from, Standing::Nothing | Standing::Link { .. })
    }

    /// Without the bytes, and with the reason: the value of a secret is in no ledger.
    pub(crate) fn without_secret(mut self) -> Self {
        if let Standing::File(file) = &mut self.change.from {
            file.secret = true;
        }
        Self { content: None, diff: None, ..self }
    }

    /// The bodies to keep before the call may run; the last one is the change itself, which names the others.
    pub(crate) fn bodies(&self, salt: &Salt) -> Result<Vec<Blob>, NotCanonical> {
        let mut change = self.change.clone();
        let content = self.content.clone().map(|content| Blob::personal(content, salt));
        if let (Standing::File(file), Some(content)) = (&mut change.from, &content) {
            file.kept = Some(content.hash);
        }
        let change = Blob::personal(canonical::bytes(&change)?, salt);
        Ok(content.into_iter().chain([change]).collect())
    }
}
