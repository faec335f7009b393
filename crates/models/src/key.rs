//! A key to somebody's server. It is shown nowhere, and overwritten when it is no longer needed.

use std::fmt;

use zeroize::Zeroizing;

#[derive(Clone, PartialEq, Eq)]
pub struct Key(Zeroizing<String>);

impl Key {
    #[must_use]
    pub fn new(key: String) -> Self {
        Self(Zeroizing::new(key))
    }

    /// Only for the header that it goes into.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
