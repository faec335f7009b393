//! Checkpoints: an epoch's last word. It signs where every stream stands, hangs on the checkpoint before, and names
//! the key of the epoch that follows; then its secret is erased.

use std::fmt;
use std::io;
use std::str::FromStr;

use domain::id::NodeId;
use domain::{Digest, Time};
use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::records::Checkpoint;

/// What a checkpoint says. Its canonical form is what is signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    pub at: Time,
    pub epoch: u64,
    pub heads: Vec<SignedHead>,
    /// The public key of the next epoch.
    pub next: PublicKey,
    /// The digest of the statement before; zeros for the first.
    pub previous: Digest,
    /// The public key of this epoch; that of the first is the root.
    pub public: PublicKey,
}

/// Where a stream stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedHead {
    pub hash: Digest,
    pub seq: u64,
    pub stream: NodeId,
}

/// What is signed: never something that could be taken for another kind of message.
pub(super) fn message(bytes: &[u8]) -> Vec<u8> {
    [b"regent/checkpoint\n".as_slice(), bytes].concat()
}

impl Checkpoint {
    /// What it says; nothing if it cannot be read.
    #[must_use]
    pub fn statement(&self) -> Option<Statement> {
        serde_json::from_slice(&self.bytes).ok()
    }

    /// Whether the key that it names signed exactly these bytes.
    #[must_use]
    pub fn is_signed(&self, statement: &Statement) -> bool {
        let Ok(signature) = <[u8; 64]>::try_from(self.signature.as_slice()) else { return false };
        let signature = ed25519_dalek::Signature::from_bytes(&signature);
        VerifyingKey::from_bytes(&statement.public.0)
            .is_ok_and(|key| key.verify_strict(&message(&self.bytes), &signature).is_ok())
    }

    /// As it stands outside the database, on a line of its own: what was signed, to the byte, and the signature.
    ///
    /// # Errors
    /// If it is damaged so that it has no such form.
    pub fn to_line(&self) -> io::Result<String> {
        let checkpoint = std::str::from_utf8(&self.bytes).map_err(io::Error::other)?.to_owned();
        let signature = Signature(self.signature.as_slice().try_into().map_err(io::Error::other)?);
        Ok(serde_json::to_string(&Line { checkpoint, signature })?)
    }

    /// # Errors
    /// If the line is no checkpoint.
    pub fn from_line(line: &str) -> io::Result<Self> {
        let Line { checkpoint, signature } = serde_json::from_str(line)?;
        let statement: Statement = serde_json::from_str(&checkpoint)?;
        Ok(Self { epoch: statement.epoch, bytes: checkpoint.into_bytes(), signature: signature.to_vec() })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    checkpoint: String,
    signature: Signature,
}

/// An Ed25519 public key, as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a public key: 64 hexadecimal digits are needed")]
pub struct NotAKey(String);

impl FromStr for PublicKey {
    type Err = NotAKey;
    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let digits: Digest = text.parse().map_err(|_other| NotAKey(text.into()))?;
        Ok(Self(*digits.as_bytes()))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Digest::from_bytes(self.0).fmt(f)
    }
}

/// An Ed25519 signature, as 128 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl Signature {
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub fn to_vec(self) -> Vec<u8> {
        self.0.to_vec()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a signature: 128 hexadecimal digits are needed")]
pub struct NotASignature;

impl FromStr for Signature {
    type Err = NotASignature;
    fn from_str(text: &str) -> Result<Self, NotASignature> {
        let halves = text.split_at_checked(64).ok_or(NotASignature)?;
        let half = |text: &str| text.parse::<Digest>().map_err(|_other| NotASignature);
        let mut bytes = [0; 64];
        let (first, second) = (half(halves.0)?, half(halves.1)?);
        bytes
            .iter_mut()
            .zip(first.as_bytes().iter().chain(second.as_bytes()))
            .for_each(|(to, from)| *to = *from);
        Ok(Self(bytes))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

macro_rules! as_text {
    ($($type:ty),+) => {$(
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}
as_text!(PublicKey, Signature);
