use domain::Digest;

use crate::table::record;

record! {
    /// What makes the hashes of one person's content meaningless once it is erased. The person is an
    /// entity, or an identity as long as nobody knows whose it is.
    Salt in "salts" by [person], Append {
        person: String,
        salt: Digest,
    }
}
