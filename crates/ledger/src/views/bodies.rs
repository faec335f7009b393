use domain::Digest;

use crate::committer::Ledger;
use crate::query::Select;
use crate::records::{Blob, Salt};
use crate::store::StoreError;

/// A body as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// It is what its name says; with the salt of the person whose it is.
    Whole { content: Vec<u8>, salt: Option<Salt> },
    /// It, or the salt of the person whose it is, was erased.
    Gone,
    /// There is something, and it is not what its name says.
    Changed,
}

impl Ledger {
    /// What is behind a digest. What is there is compared with its name: whoever changed it in the database is found
    /// out here.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn kept(&self, hash: &Digest) -> Result<Body, StoreError> {
        let Some(blob) = self.first(Select::<Blob>::by("hash", hash)).await? else { return Ok(Body::Gone) };
        let (again, salt) = match &blob.person {
            None => (Blob::public(blob.content), None),
            Some(person) => match self.salt_of(person).await? {
                Some(salt) => (Blob::personal(blob.content, &salt), Some(salt)),
                None => return Ok(Body::Gone),
            },
        };
        Ok(if again.hash == *hash { Body::Whole { content: again.content, salt } } else { Body::Changed })
    }

    /// The content behind a digest; nothing if it, or the salt of the person whose it is, was erased.
    ///
    /// # Errors
    /// If the database cannot be read, or the content is not what its name says.
    pub async fn body(&self, hash: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        match self.kept(hash).await? {
            Body::Whole { content, .. } => Ok(Some(content)),
            Body::Gone => Ok(None),
            Body::Changed => Err(StoreError::Corrupt(format!("the content called {hash} was changed"))),
        }
    }

    /// The same as text, for display.
    ///
    /// # Errors
    /// As [`Ledger::body`].
    pub async fn text(&self, hash: &Digest) -> Result<Option<String>, StoreError> {
        Ok(self.body(hash).await?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}
