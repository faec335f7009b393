//! What comes in and goes out: the shape of an event before it is written down.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// The adapter and platform of the owner's own terminal.
pub const CLI: &str = "cli";
pub const TERMINAL: &str = "terminal";

/// Adapters that are part of the program. Nothing that is read from outside may claim to be one of
/// them: an event from the terminal speaks for the owner.
pub const RESERVED_ADAPTERS: [&str; 3] = [CLI, "timer", "system"];
pub const RESERVED_PLATFORMS: [&str; 2] = [TERMINAL, "system"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    In,
    Out,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContainerKind {
    #[default]
    Dm,
    Group,
}

/// An event as an adapter hands it over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incoming {
    pub adapter: String,
    /// An id that the server or we gave, never one that the sender can choose.
    pub source_id: String,
    pub platform: Option<String>,
    pub account: Option<String>,
    #[serde(default)]
    pub container_kind: ContainerKind,
    pub container_id: Option<String>,
    pub sender: String,
    pub content: String,
    pub content_type: Option<String>,
    pub occurred_at: Option<Time>,
    pub metadata: Option<serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnEvent {
    #[error("`{field}` is empty")]
    Empty { field: &'static str },
    #[error("`{field}` has a colon, a blank or a control character: `{value}`")]
    Unusable { field: &'static str, value: String },
    #[error("`{field}` is longer than {most} bytes")]
    TooLong { field: &'static str, most: usize },
    #[error("`{0}` is reserved for the program itself; an adapter needs a name of its own")]
    Reserved(String),
}

impl Incoming {
    #[must_use]
    pub fn platform(&self) -> &str {
        self.platform.as_deref().unwrap_or(&self.adapter)
    }

    /// `{adapter}:{account}:{source_id}`, without the account where there is none.
    #[must_use]
    pub fn key(&self) -> String {
        match &self.account {
            Some(account) => format!("{}:{account}:{}", self.adapter, self.source_id),
            None => format!("{}:{}", self.adapter, self.source_id),
        }
    }

    /// Whether an adapter outside the program may hand this over.
    ///
    /// # Errors
    /// The first field that cannot be used, and why.
    pub fn check(&self) -> Result<(), NotAnEvent> {
        name("adapter", &self.adapter)?;
        name("platform", self.platform())?;
        if let Some(account) = &self.account {
            name("account", account)?;
        }
        let reserved = RESERVED_ADAPTERS.iter().find(|&&own| own == self.adapter);
        let reserved = reserved.or_else(|| RESERVED_PLATFORMS.iter().find(|&&own| own == self.platform()));
        if let Some(own) = reserved {
            return Err(NotAnEvent::Reserved((*own).into()));
        }
        for (field, value) in [("source_id", &self.source_id), ("sender", &self.sender)] {
            bounded(field, value)?;
            if value.chars().any(char::is_control) {
                return Err(NotAnEvent::Unusable { field, value: value.escape_debug().to_string() });
            }
        }
        Ok(())
    }
}

const NAME_BYTES: usize = 512;

fn bounded(field: &'static str, value: &str) -> Result<(), NotAnEvent> {
    match value.len() {
        0 => Err(NotAnEvent::Empty { field }),
        length if length > NAME_BYTES => Err(NotAnEvent::TooLong { field, most: NAME_BYTES }),
        _ => Ok(()),
    }
}

/// A part of a key: a colon in it would let two different events share one key.
fn name(field: &'static str, value: &str) -> Result<(), NotAnEvent> {
    bounded(field, value)?;
    if value.chars().any(|c| c == ':' || c.is_whitespace() || c.is_control()) {
        return Err(NotAnEvent::Unusable { field, value: value.escape_debug().to_string() });
    }
    Ok(())
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::In => "in",
            Self::Out => "out",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ContainerKind, Incoming, NotAnEvent};

    fn telegram() -> Incoming {
        Incoming {
            adapter: "telegram".into(),
            source_id: "8841".into(),
            platform: None,
            account: Some("home".into()),
            container_kind: ContainerKind::Dm,
            container_id: None,
            sender: "@lea".into(),
            content: "hello".into(),
            content_type: None,
            occurred_at: None,
            metadata: None,
        }
    }

    #[test]
    fn the_key_names_adapter_account_and_source() {
        assert_eq!(telegram().key(), "telegram:home:8841");
        assert_eq!(Incoming { account: None, ..telegram() }.key(), "telegram:8841");
    }

    #[test]
    fn two_events_cannot_share_a_key_by_a_colon_in_a_name() {
        let forged = Incoming { account: Some("a:b".into()), ..telegram() };
        assert!(matches!(forged.check(), Err(NotAnEvent::Unusable { field: "account", .. })));
    }

    #[test]
    fn nobody_outside_speaks_for_the_terminal() {
        let as_adapter = Incoming { adapter: "cli".into(), ..telegram() };
        let as_platform = Incoming { platform: Some("terminal".into()), ..telegram() };
        assert_eq!(as_adapter.check(), Err(NotAnEvent::Reserved("cli".into())));
        assert_eq!(as_platform.check(), Err(NotAnEvent::Reserved("terminal".into())));
        assert_eq!(telegram().check(), Ok(()));
    }

    #[test]
    fn empty_and_endless_names_are_refused() {
        let empty = Incoming { sender: String::new(), ..telegram() };
        assert_eq!(empty.check(), Err(NotAnEvent::Empty { field: "sender" }));
        let endless = Incoming { source_id: "x".repeat(513), ..telegram() };
        assert_eq!(endless.check(), Err(NotAnEvent::TooLong { field: "source_id", most: 512 }));
    }
}
