//! Walking a chain, entry by entry. What a store hands out is not trusted, and not copied either: a million entries
//! are a matter of seconds.

use domain::{Digest, Time};

use super::verify::Fault;
use crate::audit_event::AuditEventKind;
use crate::value::Ref;

/// A row of the audit, as it stands in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    pub stream: &'a str,
    pub seq: u64,
    pub bytes: &'a [u8],
    pub prev_hash: &'a [u8],
    pub hash: &'a [u8],
    pub at: Time,
    pub kind: &'a str,
    pub actor: &'a str,
    pub subject: &'a str,
    pub trust: Option<&'a str>,
    pub origin_id: Option<&'a str>,
    pub reason_id: Option<&'a str>,
    pub vpol_id: Option<&'a str>,
}

impl<'a> Link<'a> {
    /// The cells of a row of `audit`, in the order of its columns; nothing if they do not fit.
    #[must_use]
    pub fn of(cells: &[Ref<'a>]) -> Option<Self> {
        let &[
            Ref::Text(stream),
            Ref::Int(seq),
            Ref::Bytes(bytes),
            Ref::Bytes(prev_hash),
            Ref::Bytes(hash),
            Ref::Time(at),
            Ref::Text(kind),
            Ref::Text(actor),
            Ref::Text(subject),
            trust,
            origin_id,
            reason_id,
            vpol_id,
        ] = cells
        else {
            return None;
        };
        Some(Self {
            stream,
            seq: u64::try_from(seq).ok()?,
            bytes,
            prev_hash,
            hash,
            at,
            kind,
            actor,
            subject,
            trust: trust.text_or_null()?,
            origin_id: origin_id.text_or_null()?,
            reason_id: reason_id.text_or_null()?,
            vpol_id: vpol_id.text_or_null()?,
        })
    }

    /// What the entry says beyond its columns; nothing if it cannot be read.
    #[must_use]
    pub fn detail(&self) -> Option<serde_json::Value> {
        let mut entry: serde_json::Value = serde_json::from_slice(self.bytes).ok()?;
        entry.get_mut("detail").map(serde_json::Value::take)
    }
}

/// Walks a chain from any point on. Start from the beginning to check everything, or from an entry's own `prev_hash`
/// to show that this entry leads to the sealed tip.
#[derive(Debug)]
pub struct Walk {
    seq: u64,
    hash: Digest,
}

impl Default for Walk {
    fn default() -> Self {
        Self::after(0, Digest::ZERO)
    }
}

impl Walk {
    /// From the entry after this one.
    #[must_use]
    pub fn after(seq: u64, hash: Digest) -> Self {
        Self { seq, hash }
    }

    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    #[must_use]
    pub const fn hash(&self) -> Digest {
        self.hash
    }

    /// Takes a step, and goes on from the entry as it stands even where it is wrong: one fault does not hide another.
    /// `check` is what was found out about the entry alone.
    ///
    /// # Errors
    /// The first thing that is wrong with the entry.
    pub fn step(&mut self, link: &Link<'_>, check: EntryCheck) -> Result<(), Fault> {
        let (expected, seq) = (self.seq + 1, link.seq);
        let linked = link.prev_hash == self.hash.as_bytes();
        let hash = digest(link.hash);
        self.seq = seq;
        self.hash = hash.unwrap_or(Digest::ZERO);
        if seq != expected {
            return Err(Fault::Missing { from: expected, to: seq.saturating_sub(1) });
        }
        if !linked {
            return Err(Fault::Unlinked { seq });
        }
        match check {
            EntryCheck::Sound => {}
            EntryCheck::Changed => return Err(Fault::Changed { seq }),
            EntryCheck::Projection => return Err(Fault::Projection { seq }),
            EntryCheck::Unreadable => return Err(Fault::Unreadable { seq }),
        }
        if [AuditEventKind::AuditHealed, AuditEventKind::AuditDamaged]
            .iter()
            .any(|kind| kind.name() == link.kind)
        {
            return Err(Fault::Recorded { seq });
        }
        Ok(())
    }
}

/// What can be found out about an entry without the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryCheck {
    Sound,
    /// Its bytes do not give its hash.
    Changed,
    /// The columns do not say what it says.
    Projection,
    Unreadable,
}

/// Checks entries alone: most of what a verification costs.
#[derive(Debug, Default)]
pub struct EntryChecker {
    writing: Writing,
}

impl EntryChecker {
    pub fn check(&mut self, link: &Link<'_>) -> EntryCheck {
        if digest(link.hash) != Some(Digest::of_parts(&[link.prev_hash, link.bytes])) {
            EntryCheck::Changed
        } else if self.writing.says(link) {
            EntryCheck::Sound
        } else if serde_json::from_slice::<super::Entry>(link.bytes).is_ok() {
            EntryCheck::Projection
        } else {
            EntryCheck::Unreadable
        }
    }
}

fn digest(bytes: &[u8]) -> Option<Digest> {
    bytes.try_into().ok().map(Digest::from_bytes)
}

/// Writes what the columns say in the form in which entries are hashed: around the detail, which has no column, that
/// must be what the entry's bytes are. Cheaper than reading the entry, and nothing is passed over.
#[derive(Debug, Default)]
struct Writing {
    text: Vec<u8>,
    /// The second that was written last, and how: entries that follow each other share it.
    second: Option<(i64, String)>,
}

impl Writing {
    fn says(&mut self, link: &Link<'_>) -> bool {
        self.text.clear();
        self.text.extend_from_slice(b"{\"actor\":");
        self.string(link.actor);
        self.text.extend_from_slice(b",\"at\":\"");
        self.time(link.at);
        self.text.extend_from_slice(b"\",\"detail\":");
        let Some(rest) = link.bytes.strip_prefix(self.text.as_slice()) else { return false };
        self.text.clear();
        let named = [
            ("kind", Some(link.kind)),
            ("origin_id", link.origin_id),
            ("reason_id", link.reason_id),
            ("stream", Some(link.stream)),
            ("subject", Some(link.subject)),
            ("trust", link.trust),
            ("vpol_id", link.vpol_id),
        ];
        for (name, value) in named {
            self.text.extend_from_slice(b",\"");
            self.text.extend_from_slice(name.as_bytes());
            self.text.extend_from_slice(b"\":");
            match value {
                Some(value) => self.string(value),
                None => self.text.extend_from_slice(b"null"),
            }
        }
        self.text.push(b'}');
        rest.strip_suffix(self.text.as_slice())
            .is_some_and(|detail| serde_json::from_slice::<serde::de::IgnoredAny>(detail).is_ok())
    }

    /// As RFC 8785 writes it, which is as `serde_json` does.
    fn string(&mut self, text: &str) {
        let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if text.bytes().all(plain) {
            self.text.push(b'"');
            self.text.extend_from_slice(text.as_bytes());
            self.text.push(b'"');
        } else {
            self.text.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
        }
    }

    fn time(&mut self, at: Time) {
        const SECOND: i64 = 1_000_000;
        let (second, mut micros) = (at.micros().div_euclid(SECOND), at.micros().rem_euclid(SECOND));
        if self.second.as_ref().is_none_or(|(known, _)| *known != second) {
            let whole = Time::from_micros(second.saturating_mul(SECOND)).to_string();
            self.second = Some((second, whole.strip_suffix("000000Z").unwrap_or(&whole).to_owned()));
        }
        if let Some((_, whole)) = &self.second {
            self.text.extend_from_slice(whole.as_bytes());
        }
        let mut digits = [b'0'; 6];
        for digit in digits.iter_mut().rev() {
            *digit += u8::try_from(micros % 10).unwrap_or(0);
            micros /= 10;
        }
        self.text.extend_from_slice(&digits);
        self.text.push(b'Z');
    }
}
