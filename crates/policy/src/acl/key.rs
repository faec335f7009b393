//! Session keys with variables: `partner:{principal.name}`.

use std::borrow::Cow;

use domain::event::ContainerKind;
use domain::unseen::is_unseen;
use serde::{Deserialize, Serialize};

use super::case::Case;
use super::limits::KEY_BYTES;

/// What may stand between braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variable {
    PrincipalName,
    PrincipalId,
    PrincipalRelationship,
    Platform,
    ContainerId,
    Account,
    Guild,
}

impl Variable {
    pub const ALL: [Self; 7] = [
        Self::PrincipalName,
        Self::PrincipalId,
        Self::PrincipalRelationship,
        Self::Platform,
        Self::ContainerId,
        Self::Account,
        Self::Guild,
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrincipalName => "principal.name",
            Self::PrincipalId => "principal.id",
            Self::PrincipalRelationship => "principal.relationship",
            Self::Platform => "platform",
            Self::ContainerId => "container_id",
            Self::Account => "account",
            Self::Guild => "guild",
        }
    }

    /// An empty text is as good as none: two cases without a name must not share a key. What separates the parts of a key,
    /// and what nobody sees, is written out: nobody gets into another session by what they, or their group, are called.
    fn of(self, case: &Case) -> Option<Cow<'_, str>> {
        let (who, scene) = (&case.principal, &case.event);
        let text = match self {
            Self::PrincipalName => &who.name,
            Self::PrincipalId => &who.id,
            Self::PrincipalRelationship => &who.relationship,
            Self::Platform => &scene.platform,
            Self::ContainerId => &scene.container_id,
            Self::Account => &scene.account,
            Self::Guild => &scene.guild,
        };
        text.as_deref().filter(|text| !text.is_empty()).map(written_out)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAKey {
    #[error("a session key cannot be empty")]
    Empty,
    #[error("there is no variable `{0}`")]
    NoVariable(String),
    #[error("a brace is not closed, or closed and never opened")]
    Unbalanced,
}

/// Why a key cannot be made for a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoKey {
    /// The case does not have it.
    Without(Variable),
    TooLong,
    /// What somebody is called would have put them into the owner's own session.
    Main,
    /// What is answered in a group is read by everybody.
    MainInAGroup,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key {
    written: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Is(Variable),
}

/// The owner's session. A key says it in so many words, or not at all.
pub const MAIN: &str = "main";

impl Key {
    /// # Errors
    /// What is wrong with the template.
    pub fn new(written: impl Into<String>) -> Result<Self, NotAKey> {
        let written = written.into();
        let mut parts = Vec::new();
        let mut rest = written.as_str();
        while let Some((text, opened)) = rest.split_once('{') {
            let (name, after) = opened.split_once('}').ok_or(NotAKey::Unbalanced)?;
            let variable = Variable::ALL.into_iter().find(|variable| variable.name() == name);
            parts.push(Part::Text(plain(text)?));
            parts.push(Part::Is(variable.ok_or_else(|| NotAKey::NoVariable(name.to_owned()))?));
            rest = after;
        }
        parts.push(Part::Text(plain(rest)?));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        if parts.is_empty() { Err(NotAKey::Empty) } else { Ok(Self { written, parts }) }
    }

    pub fn variables(&self) -> impl Iterator<Item = Variable> {
        self.parts.iter().filter_map(|part| match part {
            Part::Is(variable) => Some(*variable),
            Part::Text(_) => None,
        })
    }

    /// # Errors
    /// Why there is no key for this case.
    pub fn render(&self, case: &Case) -> Result<String, NoKey> {
        let mut key = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => key.push_str(text),
                Part::Is(variable) => key.push_str(&variable.of(case).ok_or(NoKey::Without(*variable))?),
            }
        }
        if key.len() > KEY_BYTES {
            return Err(NoKey::TooLong);
        }
        match (key == MAIN, self.written == MAIN, case.event.container_kind) {
            (true, false, _) => Err(NoKey::Main),
            (true, true, Some(ContainerKind::Group)) => Err(NoKey::MainInAGroup),
            _ => Ok(key),
        }
    }
}

fn written_out(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b':' | b'%')) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, ':' | '%') || c.is_whitespace() || is_unseen(c) {
            written.extend(c.to_string().bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            written.push(c);
        }
    }
    Cow::Owned(written)
}

fn plain(text: &str) -> Result<String, NotAKey> {
    if text.contains('}') { Err(NotAKey::Unbalanced) } else { Ok(text.to_owned()) }
}

/// Where an event goes if no policy gives a key.
///
/// # Errors
/// Why there is no key for this case.
pub fn without_a_policy(case: &Case) -> Result<String, NoKey> {
    let (kind, last) = match (case.event.container_kind, case.principal.is_owner) {
        (Some(ContainerKind::Group), _) => ("group", Variable::ContainerId),
        (Some(ContainerKind::Dm), Some(true)) => return Ok(MAIN.to_owned()),
        _ => ("dm", Variable::PrincipalId),
    };
    let text = |variable: Variable| variable.of(case).ok_or(NoKey::Without(variable));
    let key = format!("{}:{kind}:{}", text(Variable::Platform)?, text(last)?);
    if key.len() > KEY_BYTES { Err(NoKey::TooLong) } else { Ok(key) }
}

impl TryFrom<String> for Key {
    type Error = NotAKey;

    fn try_from(written: String) -> Result<Self, NotAKey> {
        Self::new(written)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.written
    }
}

#[cfg(test)]
mod tests;
