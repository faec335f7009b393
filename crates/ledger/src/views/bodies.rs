use domain::Digest;

use crate::committer::Ledger;
use crate::query::Select;
use crate::records::Blob;
use crate::store::StoreError;

impl Ledger {
    /// The content behind a digest; nothing if it, or the salt of the person whose it is, was erased. What is there
    /// is compared with its name first: whoever changed it in the database is found out here.
    ///
    /// # Errors
    /// If the database cannot be read, or the content is not what its name says.
    pub async fn body(&self, hash: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(blob) = self.first(Select::<Blob>::by("hash", hash)).await? else { return Ok(None) };
        let again = match &blob.person {
            None => Blob::public(blob.content),
            Some(person) => match self.salt_of(person).await? {
                Some(salt) => Blob::personal(blob.content, &salt),
                None => return Ok(None),
            },
        };
        if again.hash == *hash {
            Ok(Some(again.content))
        } else {
            Err(StoreError::Corrupt(format!("the content called {hash} was changed")))
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
