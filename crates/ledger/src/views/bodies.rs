use domain::Digest;

use crate::committer::Ledger;
use crate::query::Select;
use crate::records::Blob;
use crate::store::StoreError;

impl Ledger {
    /// The content behind a digest; nothing if it was erased.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn body(&self, hash: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.first(Select::<Blob>::by("hash", hash)).await?.map(|blob| blob.content))
    }

    /// The same as text, for display.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn text(&self, hash: &Digest) -> Result<Option<String>, StoreError> {
        Ok(self.body(hash).await?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}
