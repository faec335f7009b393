//! Typed ids: 128 bits, printed with a letter for their kind (`t-k7q2…`), accepted as any unique prefix.
//!
//! At the edge they are random, inside a task they derive from (task, step, ordinal), so that a replay
//! gives the same ids. An id carries no time: order comes from the ledger's sequence.

use std::fmt::{self, Write as _};
use std::hash::Hash;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::Digest;
use crate::time::Time;

/// Where ids and other identifying randomness come from: given, so that a test can count.
pub trait IdSource: Send + Sync {
    fn bits(&self) -> u128;
}

/// The kind of thing an id names.
pub trait Kind: Copy + Eq + Ord + Hash + fmt::Debug + Send + Sync + 'static {
    const LETTER: char;
    const NAME: &'static str;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $alias:ident $letter:literal $name:literal;)+) => {
        /// The markers behind [`Id`]: never values, only types.
        pub mod kind {
            $($(#[$doc])* #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)] pub enum $kind {}
            impl super::Kind for $kind {
                const LETTER: char = $letter;
                const NAME: &'static str = $name;
            })+
        }
        $($(#[$doc])* pub type $alias = Id<kind::$kind>;)+

        /// What kind of id a letter stands for, if any.
        #[must_use]
        pub fn name_of(letter: char) -> Option<&'static str> {
            match letter { $($letter => Some($name),)+ _ => None }
        }
    };
}

kinds! {
    /// One question to a person, about one call.
    Approval ApprovalId 'a' "approval";
    /// One batch handed to the ledger.
    Batch BatchId 'b' "batch";
    /// One call of a tool.
    Call CallId 'c' "call";
    /// One decision to admit an event or not.
    Admission AdmissionId 'd' "admission";
    /// One event, in or out.
    Event EventId 'e' "event";
    /// One leave that a person gave for calls to come.
    Grant GrantId 'g' "grant";
    /// One address under which somebody speaks.
    Identity IdentityId 'i' "identity";
    /// One question to the owner about somebody who wants in.
    Knock KnockId 'k' "knock";
    /// Where an event happened: account, container, thread.
    Place PlaceId 'l' "place";
    /// One installation or worker; it names an audit stream.
    Node NodeId 'n' "node";
    /// The O-Tag: what really happened first.
    Origin OriginId 'o' "origin";
    /// A person, persona, agent, webhook or system.
    Entity EntityId 'p' "entity";
    /// The R-Tag: why this decision.
    Reason ReasonId 'r' "reason";
    /// One node of a plan.
    Subtask SubtaskId 's' "subtask";
    /// One run of the control loop.
    Task TaskId 't' "task";
    /// The V-Pol: under which authority.
    Vpol VpolId 'v' "validation policy";
}

/// Crockford's alphabet in lower case: no i, l, o, u, so nothing reads like something else.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 26 × 5 bits hold 128.
const DIGITS: usize = 26;

pub struct Id<K>(u128, PhantomData<K>);

impl<K: Kind> Id<K> {
    #[must_use]
    pub fn random(source: &dyn IdSource) -> Self {
        Self::from_bits(source.bits())
    }

    /// For ids that nobody types: 48 bits of the time in milliseconds, then 80 random ones. Ids that are made together
    /// stand together in an index, and a durable write touches one page of it and not many. No order is read from it.
    #[must_use]
    pub fn dated(now: Time, source: &dyn IdSource) -> Self {
        const RANDOM: u32 = 80;
        let millis = u128::from(now.micros().unsigned_abs() / 1_000);
        Self::from_bits((millis << RANDOM) | (source.bits() >> (u128::BITS - RANDOM)))
    }

    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits, PhantomData)
    }

    /// The id of what has a name of its own: the same name gives the same id, wherever and whenever.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::from_digest(Digest::of_parts(&[b"regent/name/", &[K::LETTER as u8], name.as_bytes()]))
    }

    /// The id of the `ordinal`-th thing of this kind that step `n` of a parent brings forth. The same
    /// step derives the same id whenever it is folded.
    #[must_use]
    pub fn derived<P: Kind>(parent: Id<P>, n: u64, ordinal: u32) -> Self {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(b"regent/id/");
        bytes.push(P::LETTER as u8);
        bytes.extend_from_slice(&parent.0.to_be_bytes());
        bytes.extend_from_slice(&n.to_be_bytes());
        bytes.extend_from_slice(&ordinal.to_be_bytes());
        bytes.push(K::LETTER as u8);
        Self::from_digest(Digest::of(&bytes))
    }

    /// The id of something that is fully described by its content.
    #[must_use]
    pub fn from_digest(digest: Digest) -> Self {
        let mut bits = 0_u128;
        for &byte in digest.as_bytes().iter().take(16) {
            bits = bits << 8 | u128::from(byte);
        }
        Self::from_bits(bits)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Left-aligned: 26 digits are 130 bits, the last digit carries two zero bits.
        let digit = |five: u128| ALPHABET.get((five & 31) as usize).copied().unwrap_or(b'0');
        let mut digits = [digit(self.0 << 2); DIGITS];
        for (place, shift) in digits.iter_mut().zip((3..=123).rev().step_by(5)) {
            *place = digit(self.0 >> shift);
        }
        // In one piece: ids are written often, and a call for each digit costs far more than the digit.
        f.write_char(K::LETTER)?;
        f.write_char('-')?;
        f.write_str(std::str::from_utf8(&digits).map_err(|_no_text| fmt::Error)?)
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the id of a {expected}")]
pub struct NotAnId {
    pub text: String,
    pub expected: &'static str,
}

impl<K: Kind> FromStr for Id<K> {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let wrong = || NotAnId { text: text.into(), expected: K::NAME };
        let digits = text.strip_prefix(K::LETTER).and_then(|t| t.strip_prefix('-')).ok_or_else(wrong)?;
        if digits.len() != DIGITS {
            return Err(wrong());
        }
        let mut bits = 0_u128;
        for (i, digit) in digits.bytes().enumerate() {
            let five = ALPHABET.iter().position(|&a| a == digit).ok_or_else(wrong)? as u128;
            bits = if i < DIGITS - 1 {
                bits << 5 | five
            } else if five & 3 == 0 {
                bits << 3 | five >> 2
            } else {
                return Err(wrong());
            };
        }
        Ok(Self::from_bits(bits))
    }
}

impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A prefix that a person typed: `t-k7`, any length, any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    pub letter: char,
    pub text: String,
}

impl FromStr for Prefix {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let wrong = || NotAnId { text: text.into(), expected: "task, call, event or reason" };
        let text = text.to_ascii_lowercase();
        let mut chars = text.chars();
        let letter = chars.next().filter(|&letter| name_of(letter).is_some()).ok_or_else(wrong)?;
        let digits = chars.as_str().strip_prefix('-').ok_or_else(wrong)?;
        let known = digits.bytes().all(|digit| ALPHABET.contains(&digit));
        if digits.is_empty() || digits.len() > DIGITS || !known {
            return Err(wrong());
        }
        Ok(Self { letter, text })
    }
}

/// The fewest characters (at least four digits) that tell `id` from its neighbours in id order.
#[must_use]
pub fn shortest<'a>(id: &'a str, neighbours: &[&str]) -> &'a str {
    const LETTER_DASH_AND_FOUR: usize = 6;
    let shared =
        neighbours.iter().map(|other| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count());
    let length = shared.max().map_or(0, |shared| shared + 1).max(LETTER_DASH_AND_FOUR);
    id.get(..length).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::{CallId, EventId, Id, Prefix, TaskId, kind, shortest};
    use proptest::prelude::{any, proptest};

    #[test]
    fn an_id_is_a_letter_and_26_digits() {
        assert_eq!(TaskId::from_bits(0).to_string(), "t-00000000000000000000000000");
        assert_eq!(CallId::from_bits(u128::MAX).to_string(), "c-zzzzzzzzzzzzzzzzzzzzzzzzzw");
    }

    #[test]
    fn an_id_of_another_kind_is_refused() {
        let event = EventId::from_bits(7).to_string();
        assert_eq!(
            event.parse::<TaskId>().unwrap_err().to_string(),
            format!("`{event}` is not the id of a task")
        );
    }

    #[test]
    fn a_name_gives_one_id_and_another_kind_another() {
        let id = Id::<kind::Event>::named("telegram:home:8841");
        assert_eq!(id, Id::named("telegram:home:8841"));
        assert_ne!(id, Id::named("telegram:home:8842"));
        assert_ne!(
            id.to_string().get(2..),
            Id::<kind::Task>::named("telegram:home:8841").to_string().get(2..)
        );
    }

    #[test]
    fn dated_ids_of_one_moment_begin_alike_and_differ() {
        struct Hashed(std::sync::atomic::AtomicU64);
        impl crate::IdSource for Hashed {
            fn bits(&self) -> u128 {
                let n = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                Id::<kind::Batch>::named(&n.to_string()).0
            }
        }
        let (source, now) = (Hashed(0.into()), crate::Time::from_micros(1_800_000_000_000_123));
        let ids = [0; 3].map(|_| Id::<kind::Batch>::dated(now, &source).to_string());
        assert!(ids.iter().all(|id| id.get(..11) == ids[0].get(..11)), "{ids:?}");
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    }

    #[test]
    fn derived_ids_differ_in_every_input_and_never_by_chance() {
        let task = TaskId::from_bits(1);
        let first: CallId = Id::derived(task, 3, 0);
        assert_eq!(first, Id::derived(task, 3, 0));
        assert_ne!(first, Id::derived(task, 3, 1));
        assert_ne!(first, Id::derived(task, 4, 0));
        assert_ne!(first, Id::derived(TaskId::from_bits(2), 3, 0));
        assert_ne!(first.to_string().get(2..), Id::<kind::Event>::derived(task, 3, 0).to_string().get(2..));
    }

    #[test]
    fn a_prefix_needs_a_known_letter_and_digits() {
        assert_eq!("T-K7".parse(), Ok(Prefix { letter: 't', text: "t-k7".into() }));
        for bad in ["", "t", "t-", "x-k7", "t-u", "t-ü", "k7q2"] {
            assert!(bad.parse::<Prefix>().is_err(), "{bad}");
        }
    }

    #[test]
    fn short_ids_grow_only_as_far_as_they_must() {
        assert_eq!(shortest("t-k7q2m3xd", &[]), "t-k7q2");
        assert_eq!(shortest("t-k7q2m3xd", &["t-9dmv0000", "t-k7q30000"]), "t-k7q2");
        assert_eq!(shortest("t-k7q2m3xd", &["t-k7q2m000"]), "t-k7q2m3");
    }

    proptest! {
        #[test]
        fn printing_and_reading_is_the_identity(bits in any::<u128>()) {
            let id = TaskId::from_bits(bits);
            assert_eq!(id.to_string().parse(), Ok(id));
        }

        #[test]
        fn text_order_is_id_order(a in any::<u128>(), b in any::<u128>()) {
            let (a, b) = (TaskId::from_bits(a), TaskId::from_bits(b));
            assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }
    }
}
