use domain::Digest;

use super::Salt;
use crate::table::record;

record! {
    /// A body, named by its content. The same content is kept once. Erasable.
    Blob in "blobs" by [hash], Keep, Personal; index [person] {
        hash: Digest,
        /// Whose content it is; whoever erases a person finds it by this.
        person: Option<String>,
        content: Vec<u8>,
    }
}

impl Blob {
    /// Content that belongs to nobody: policies, schemas, decisions without a person's words.
    #[must_use]
    pub fn public(content: Vec<u8>) -> Self {
        Self { hash: Digest::of(&content), person: None, content }
    }

    /// Content of a person. The salt stands before it, so that the hash repeats for the same person and
    /// means nothing to anybody once the salt is erased.
    #[must_use]
    pub fn personal(content: Vec<u8>, salt: &Salt) -> Self {
        let hash = Digest::of_parts(&[salt.salt.expose(), &content]);
        Self { hash, person: Some(salt.person.clone()), content }
    }
}
