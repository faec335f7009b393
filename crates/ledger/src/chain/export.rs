//! The record as a stranger gets it: lines of JSON, first what it is, then the checkpoints, then every entry with its
//! columns. `docs/verify/verify.py` reads the same lines and shares no code with this.

use std::borrow::Cow;

use domain::id::NodeId;
use domain::{Digest, Time};
use serde::{Deserialize, Serialize};

use super::verify::{Pinned, StreamVerdict, StreamWalk, Verification, Verifier};
use super::walk::Link;
use crate::records::Checkpoint;

const FORMAT: &str = "regent-audit";
const VERSION: u32 = 1;
const UNSIGNED: &str =
    "it holds no checkpoint, so nothing in it is signed; make it with `regent audit export`";

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Line<'a> {
    Title { export: Cow<'a, str>, version: u32 },
    Checkpoint { checkpoint: Cow<'a, str>, signature: Cow<'a, str> },
    Entry(Box<Written<'a>>),
}

/// An entry with its columns, as the database holds them. What is damaged so that it is no text stands in hexadecimal digits, and is
/// found to be wrong by whoever verifies.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    stream: Cow<'a, str>,
    seq: u64,
    entry: Cow<'a, str>,
    prev_hash: Cow<'a, str>,
    hash: Cow<'a, str>,
    at: Cow<'a, str>,
    kind: Cow<'a, str>,
    actor: Cow<'a, str>,
    subject: Cow<'a, str>,
    trust: Option<Cow<'a, str>>,
    origin_id: Option<Cow<'a, str>>,
    reason_id: Option<Cow<'a, str>>,
    vpol_id: Option<Cow<'a, str>>,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_damaged| Cow::Owned(hex(bytes)), Cow::Borrowed)
}

/// What a text stands for, if it is written as we would write it.
fn as_written<T: std::str::FromStr + ToString>(text: &str) -> Option<T> {
    text.parse().ok().filter(|value: &T| value.to_string() == text)
}

fn line(line: &Line<'_>) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

/// The lines of an export.
#[derive(Debug)]
pub struct Exported;

impl Exported {
    #[must_use]
    pub fn title() -> String {
        line(&Line::Title { export: FORMAT.into(), version: VERSION })
    }

    #[must_use]
    pub fn checkpoint(checkpoint: &Checkpoint) -> String {
        let (bytes, signature) = (text(&checkpoint.bytes), hex(&checkpoint.signature));
        line(&Line::Checkpoint { checkpoint: bytes, signature: signature.into() })
    }

    #[must_use]
    pub fn entry(link: &Link<'_>) -> String {
        line(&Line::Entry(Box::new(Written {
            stream: link.stream.into(),
            seq: link.seq,
            entry: text(link.bytes),
            prev_hash: hex(link.prev_hash).into(),
            hash: hex(link.hash).into(),
            at: link.at.to_string().into(),
            kind: link.kind.into(),
            actor: link.actor.into(),
            subject: link.subject.into(),
            trust: link.trust.map(Cow::from),
            origin_id: link.origin_id.map(Cow::from),
            reason_id: link.reason_id.map(Cow::from),
            vpol_id: link.vpol_id.map(Cow::from),
        })))
    }

    /// Verifies an export: everything but the seal on the tip, which only the house can check.
    ///
    /// # Errors
    /// If it is no export at all.
    pub fn verify<E: std::fmt::Display>(
        lines: impl Iterator<Item = Result<String, E>>,
        pinned: Option<&Pinned>,
    ) -> Result<Verification, NotAnExport> {
        let mut reading = Reading { checkpoints: Vec::new(), pinned, verifier: None, streams: Vec::new() };
        for (at, line) in (1..).zip(lines) {
            let wrong = |why: String| NotAnExport { line: at, why };
            let line = line.map_err(|error| wrong(error.to_string()))?;
            let line: Line<'_> = serde_json::from_str(&line).map_err(|error| wrong(error.to_string()))?;
            reading.take(at, line).map_err(wrong)?;
        }
        if reading.checkpoints.is_empty() {
            return Err(NotAnExport { line: 1, why: UNSIGNED.into() });
        }
        reading.end()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct NotAnExport {
    line: usize,
    why: String,
}

struct Reading<'a> {
    checkpoints: Vec<Checkpoint>,
    pinned: Option<&'a Pinned>,
    verifier: Option<Verifier>,
    streams: Vec<(NodeId, StreamWalk)>,
}

impl Reading<'_> {
    fn take(&mut self, at: usize, line: Line<'_>) -> Result<(), String> {
        match line {
            Line::Title { export, version } if at == 1 && export == FORMAT && version == VERSION => Ok(()),
            Line::Title { .. } => Err("this is not an export that this program knows".into()),
            _ if at == 1 => Err("an export begins with what it is".into()),
            Line::Checkpoint { .. } if self.verifier.is_some() => {
                Err("checkpoints come before entries".into())
            }
            Line::Checkpoint { checkpoint, signature } => {
                let signature: Option<super::Signature> = as_written(&signature);
                let epoch = self.checkpoints.len() as u64 + 1;
                let bytes = checkpoint.into_owned().into_bytes();
                let signature = signature.map(super::Signature::to_vec).unwrap_or_default();
                let known = Checkpoint { epoch, bytes, signature };
                let epoch = known_epoch(&known).unwrap_or(epoch);
                self.checkpoints.push(Checkpoint { epoch, ..known });
                Ok(())
            }
            Line::Entry(written) => self.entry(&written),
        }
    }

    fn verifier(&mut self) -> &Verifier {
        let (checkpoints, pinned) = (&self.checkpoints, self.pinned);
        self.verifier.get_or_insert_with(|| Verifier::new(checkpoints, &[], pinned))
    }

    fn entry(&mut self, written: &Written<'_>) -> Result<(), String> {
        let stream: NodeId = written.stream.parse().map_err(|_other| "the stream has no name".to_owned())?;
        if !self.streams.iter().any(|(known, _)| *known == stream) {
            let walk = self.verifier().walk(stream);
            self.streams.push((stream, walk));
        }
        let hash =
            |text: &str| as_written::<Digest>(text).map(|hash| hash.as_bytes().to_vec()).unwrap_or_default();
        // What is no moment stands in no entry.
        let at = as_written(&written.at).unwrap_or(Time::from_micros(i64::MIN));
        let (prev_hash, hash) = (hash(&written.prev_hash), hash(&written.hash));
        let link = Link {
            stream: &written.stream,
            seq: written.seq,
            bytes: written.entry.as_bytes(),
            prev_hash: &prev_hash,
            hash: &hash,
            at,
            kind: &written.kind,
            actor: &written.actor,
            subject: &written.subject,
            trust: written.trust.as_deref(),
            origin_id: written.origin_id.as_deref(),
            reason_id: written.reason_id.as_deref(),
            vpol_id: written.vpol_id.as_deref(),
        };
        let canonical = serde_json::from_str::<serde_json::Value>(&written.entry).ok();
        let canonical = canonical.and_then(|entry| domain::canonical::bytes(&entry).ok());
        if let Some((_, walk)) = self.streams.iter_mut().find(|(known, _)| *known == stream) {
            if canonical.as_deref() != Some(written.entry.as_bytes()) {
                walk.stumble();
            }
            walk.step(&link);
        }
        Ok(())
    }

    fn end(mut self) -> Result<Verification, NotAnExport> {
        self.verifier();
        let named: Vec<NodeId> = self.verifier().streams().collect();
        for stream in named {
            if !self.streams.iter().any(|(known, _)| *known == stream) {
                let walk = self.verifier().walk(stream);
                self.streams.push((stream, walk));
            }
        }
        let unreadable = |error: std::io::Error| NotAnExport { line: 0, why: error.to_string() };
        let verdicts: Vec<StreamVerdict> = self
            .streams
            .into_iter()
            .map(|(_, walk)| walk.end(None))
            .collect::<Result<_, _>>()
            .map_err(unreadable)?;
        let verifier = self.verifier.unwrap_or_else(|| Verifier::new(&[], &[], self.pinned));
        Ok(verifier.finish(verdicts))
    }
}

fn known_epoch(checkpoint: &Checkpoint) -> Option<u64> {
    checkpoint.statement().map(|statement| statement.epoch)
}
