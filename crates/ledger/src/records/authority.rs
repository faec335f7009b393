use domain::Digest;

use crate::table::record;

record! {
    /// The MAC over one row that carries authority; `authority/` says which do.
    AuthoritySeal in "authority_seals" by [key], Replace, Erasable {
        /// A MAC over the key of the row: it names the row and does not tell its address.
        key: Digest,
        kind: String,
        mac: Digest,
    }
}
