//! From a model's text to a typed reply. It is tolerant of how something is said and strict about what: a field that
//! has to be guessed makes the reply unusable, and the reason says which field.
//!
//! Start reading at [`Form::read`].

mod check;
mod executor;
mod judge;
mod perceiver;
mod planner;

use domain::ask::{Ask, Reply, Unanswered, Want};
use domain::limits::NESTED_LEVELS;
use domain::{Text, canonical};
use serde_json::{Map, Value};

use super::lenient;

/// What a model may write in one reply. Nothing of a longer one is looked at.
pub const REPLY_BYTES: usize = 1 << 20;

/// What is shown of a value that was not wanted.
const NAMED_CHARS: usize = 60;

/// Which reply is wanted, with what has to be known to read it.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    Perceiver { request: Text },
    Planner,
    Executor,
    Judge,
}

/// Why a value is no reply of the form.
#[derive(Debug, PartialEq, Eq)]
enum Misfit {
    /// It is something else.
    Foreign,
    /// It is meant as the reply, and this is wrong with it.
    Wrong(String),
}

impl From<String> for Misfit {
    fn from(why: String) -> Self {
        Self::Wrong(why)
    }
}

impl Form {
    pub(crate) fn of(ask: &Ask) -> Self {
        match &ask.want {
            Want::Perceive { request, .. } => Self::Perceiver { request: request.clone() },
            Want::Plan { .. } => Self::Planner,
            Want::Act { .. } => Self::Executor,
            Want::Judge { .. } => Self::Judge,
        }
    }

    /// # Errors
    /// Why the text cannot be used, so that a model can do better.
    pub(crate) fn read(&self, text: &str) -> Result<Reply, Unanswered> {
        self.read_redacted(text, &|_| ())
    }

    /// The same; `redact` takes out of every value what must be in none.
    ///
    /// # Errors
    /// As [`Form::read`].
    pub(crate) fn read_redacted(&self, text: &str, redact: &dyn Fn(&mut Value)) -> Result<Reply, Unanswered> {
        if text.len() > REPLY_BYTES {
            let why = format!("the reply has {} bytes, more than {REPLY_BYTES}", text.len());
            return Err(Unanswered::unusable(why));
        }
        let mut found = lenient::find(text);
        found.iter_mut().flatten().for_each(redact);
        self.first_that_fits(found).map_err(Unanswered::unusable)
    }

    fn first_that_fits(&self, found: Result<Vec<Value>, String>) -> Result<Reply, String> {
        let found = found.map_err(|why| format!("{why}; {}", self.wanted()))?;
        let mut wrong = None;
        for value in &found {
            match self.reply(value).and_then(kept) {
                Ok(reply) => return Ok(reply),
                Err(Misfit::Wrong(why)) => wrong = wrong.or(Some(why)),
                Err(Misfit::Foreign) => {}
            }
        }
        Err(wrong.unwrap_or_else(|| {
            let what =
                if found.iter().all(Value::is_array) { "it is a list" } else { "it is another object" };
            format!("{what}; {}", self.wanted())
        }))
    }

    fn reply(&self, value: &Value) -> Result<Reply, Misfit> {
        match self {
            Self::Perceiver { request } => perceiver::read(value, request).map(Reply::Perceived),
            Self::Planner => planner::read(value),
            Self::Executor => executor::read(value).map(Reply::Acted),
            Self::Judge => judge::read(value).map(Reply::Judged),
        }
    }

    const fn wanted(&self) -> &'static str {
        match self {
            Self::Perceiver { .. } => "wanted is one JSON object with `task`, `answer` or `question`",
            Self::Planner => "wanted is one JSON object with `subtasks`, `question` or `impossible`",
            Self::Executor => "wanted is one JSON object with `tool` and `args`, or with `output`",
            Self::Judge => "wanted is one JSON object with `verdicts`",
        }
    }
}

/// A reply is kept in a journal: what could not be read from there is no reply.
fn kept(reply: Reply) -> Result<Reply, Misfit> {
    match canonical::bytes_within(&reply, NESTED_LEVELS) {
        Ok(_) => Ok(reply),
        Err(error) => Err(Misfit::Wrong(format!(
            "it cannot be kept: {}; write a large number as a text, and nest less deeply",
            error.why()
        ))),
    }
}

/// The fields of one object, and what it is called in a reason.
#[derive(Clone, Copy)]
struct Fields<'a> {
    at: &'a str,
    map: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    fn of(at: &'a str, value: &'a Value) -> Result<Self, String> {
        let map = value.as_object().ok_or_else(|| format!("{at} is {}, not an object", named(value)))?;
        Ok(Self { at, map })
    }

    /// The first of these names that is there; `null` is not there.
    fn any(&self, names: &[&str]) -> Option<&'a Value> {
        names.iter().find_map(|name| self.map.get(*name).filter(|value| !value.is_null()))
    }

    /// A text, without blanks around it; an empty one is not there.
    fn text(&self, names: &[&str]) -> Result<Option<String>, String> {
        let Some(value) = self.any(names) else { return Ok(None) };
        match value.as_str() {
            Some(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            None => Err(format!("{} is {}, not a text", self.path(names), named(value))),
        }
    }

    fn needed_text(&self, names: &[&str]) -> Result<String, String> {
        self.text(names)?.ok_or_else(|| format!("{} is missing or empty", self.path(names)))
    }

    /// A list; what stands alone is a list of one.
    fn list(&self, names: &[&str]) -> &'a [Value] {
        match self.any(names) {
            None => &[],
            Some(Value::Array(values)) => values,
            Some(value) => std::slice::from_ref(value),
        }
    }

    fn path(&self, names: &[&str]) -> String {
        let name = names.first().copied().unwrap_or_default();
        if self.at.is_empty() { format!("`{name}`") } else { format!("`{name}` of {}", self.at) }
    }
}

/// An object at the top; anything else is no reply at all.
fn top(value: &Value) -> Result<Fields<'_>, Misfit> {
    value.as_object().map(|map| Fields { at: "", map }).ok_or(Misfit::Foreign)
}

/// The one of these fields that is there. Beside another an empty text says nothing: models that are held to a form fill
/// what they do not use that way.
fn only_one<'n>(fields: Fields<'_>, names: &[&'n str]) -> Result<&'n str, Misfit> {
    let there: Vec<_> = names.iter().copied().filter(|name| fields.any(&[name]).is_some()).collect();
    let says_nothing = |name: &str| {
        let text = fields.any(&[name]).and_then(Value::as_str);
        text.is_some_and(|text| text.trim().is_empty())
    };
    let full: Vec<_> = there.iter().copied().filter(|name| !says_nothing(name)).collect();
    match (there.as_slice(), full.as_slice()) {
        ([], _) => Err(Misfit::Foreign),
        ([one], _) | (_, [one]) => Ok(one),
        ([one, another, ..], _) => {
            Err(Misfit::Wrong(format!("it has both `{one}` and `{another}`; write one of them")))
        }
    }
}

/// A whole number from 0, also where it is written as a text.
fn number(value: &Value) -> Option<u32> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64().and_then(|number| u32::try_from(number).ok()),
    }
}

/// A value as it is named in a reason.
fn named(value: &Value) -> String {
    let written = value.to_string();
    let short: String = written.chars().take(NAMED_CHARS).collect();
    if short.len() < written.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
