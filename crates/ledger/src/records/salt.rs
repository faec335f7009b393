use domain::Digest;

use crate::table::record;
use crate::value::{Cell, Kind, Value};

/// Random bytes that must not be printed: with them, hashes of a person's content could be guessed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SaltBytes(Digest);

impl SaltBytes {
    #[must_use]
    pub const fn new(bytes: Digest) -> Self {
        Self(bytes)
    }

    pub(crate) const fn expose(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

impl std::fmt::Debug for SaltBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(not shown)")
    }
}

impl Cell for SaltBytes {
    const KIND: Kind = Kind::Bytes;
    fn to_value(&self) -> Value {
        self.0.to_value()
    }
    fn from_value(value: Value) -> Result<Self, Value> {
        Digest::from_value(value).map(Self)
    }
}

#[cfg(feature = "conformance")]
impl crate::sample::SampleCell for SaltBytes {
    fn sample(n: u64) -> Self {
        Self(Digest::sample(n))
    }
}

record! {
    /// What makes the hashes of one person's content meaningless once it is erased. The person is an
    /// entity, or an identity as long as nobody knows whose it is.
    Salt in "salts" by [person], Append, Personal {
        person: String,
        salt: SaltBytes,
    }
}
