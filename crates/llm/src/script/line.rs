//! One line of a script, as it is written and as it is played.

use domain::ask::{Ask, Reply, Usage};
use serde::{Deserialize, Serialize};

use crate::model::{Place, Role};

/// Under which name a script's asks are counted, unless a line says otherwise.
const NAME: &str = "script";

/// As it is written. A coordinate that is misspelt would match everything, so it is refused.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    role: Option<Role>,
    round: Option<u32>,
    subtask: Option<u32>,
    attempt: Option<u32>,
    moves: Option<u32>,
    repair: Option<bool>,
    claim: Option<String>,

    text: Option<String>,
    reply: Option<Box<Reply>>,
    hang: Option<bool>,
    fail: Option<String>,
    decline: Option<String>,

    after_ms: Option<u64>,
    usage: Cost,
}

/// What an ask is said to have cost; what is not given is nothing.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Cost {
    model: Option<String>,
    tokens_in: u64,
    tokens_out: u64,
    cached: u64,
    latency_ms: u64,
    price: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Line {
    at: At,
    pub(super) does: Does,
    pub(super) after_ms: Option<u64>,
    pub(super) usage: Usage,
}

/// Where a line answers; what is not given matches anything.
#[derive(Clone, Debug)]
struct At {
    role: Option<Role>,
    round: Option<u32>,
    subtask: Option<u32>,
    attempt: Option<u32>,
    moves: Option<u32>,
    repair: Option<bool>,
    /// What a judge is asked to believe, word for word. A judge is not told which attempt it judges, so this is what tells
    /// two attempts apart that took the same number of calls.
    claim: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) enum Does {
    /// Read as any model's text is.
    Text(String),
    Reply(Box<Reply>),
    /// Never answers.
    Hang,
    /// It cannot be reached.
    Fail(String),
    Decline(String),
}

impl Line {
    pub(super) fn read(written: &str) -> Result<Self, String> {
        let Written {
            role,
            round,
            subtask,
            attempt,
            moves,
            repair,
            claim,
            text,
            reply,
            hang,
            fail,
            decline,
            after_ms,
            usage,
        } = serde_json::from_str(written).map_err(|error| error.to_string())?;
        let mut deeds = [
            text.map(Does::Text),
            reply.map(Does::Reply),
            hang.filter(|hang| *hang).map(|_| Does::Hang),
            fail.map(Does::Fail),
            decline.map(Does::Decline),
        ]
        .into_iter()
        .flatten();
        let (Some(does), None) = (deeds.next(), deeds.next()) else {
            return Err("it has to do one thing: text, reply, hang, fail or decline".into());
        };
        let at = At { role, round, subtask, attempt, moves, repair, claim };
        Ok(Self { at, does, after_ms, usage: usage.into() })
    }

    pub(super) fn matches(&self, place: Place, claim: Option<&str>) -> bool {
        fn fits<T: PartialEq>(wanted: Option<T>, is: T) -> bool {
            wanted.is_none_or(|wanted| wanted == is)
        }
        let at = &self.at;
        fits(at.role, place.role)
            && fits(at.round, place.round)
            && at.subtask.is_none_or(|subtask| place.subtask == Some(subtask))
            && fits(at.attempt, place.attempt)
            && fits(at.moves, place.moves)
            && fits(at.repair, place.repair)
            && at.claim.as_deref().is_none_or(|wanted| claim == Some(wanted))
    }
}

impl From<Cost> for Usage {
    fn from(Cost { model, tokens_in, tokens_out, cached, latency_ms, price }: Cost) -> Self {
        let model = model.unwrap_or_else(|| NAME.into());
        Self { model, tokens_in, tokens_out, cached, latency_ms, price }
    }
}

/// What an ask has cost that no line answers.
pub(super) fn no_usage() -> Usage {
    Cost::default().into()
}

/// A line as it is written down: everything that is known of where it stood.
#[derive(Serialize)]
pub(super) struct Recorded<'a> {
    #[serde(flatten)]
    place: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'a str>,
    reply: &'a Reply,
    usage: &'a Usage,
}

impl<'a> Recorded<'a> {
    pub(super) fn of(ask: &'a Ask, reply: &'a Reply, usage: &'a Usage) -> Self {
        Self { place: Place::of(ask), claim: super::claim(ask), reply, usage }
    }
}
