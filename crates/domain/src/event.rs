//! What comes in and goes out: the shape of an event before it is written down.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::canonical;
use crate::limits::NESTED_LEVELS;
use crate::time::Time;

/// The adapter and platform of the owner's own terminal.
pub const CLI: &str = "cli";
pub const TERMINAL: &str = "terminal";
/// The platform of the house itself.
pub const SYSTEM: &str = "system";
/// The adapter of webhooks; the account says which.
pub const WEBHOOK: &str = "webhook";

/// How the address of somebody who was erased begins, and a place that was. Nobody outside may send under such a name.
pub const ERASED: &str = "erased:";

/// Adapters that are part of the program. Nothing that is read from outside may claim to be one of
/// them: an event from the terminal speaks for the owner.
pub const RESERVED_ADAPTERS: [&str; 3] = [CLI, "timer", SYSTEM];
pub const RESERVED_PLATFORMS: [&str; 2] = [TERMINAL, SYSTEM];

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
    /// How far the adapter has read at its source, this event included; kept in the same batch.
    pub watermark: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnEvent {
    #[error("`{field}` is empty")]
    Empty { field: &'static str },
    #[error("`{field}` is a name of a-z, A-Z, 0-9, `.`, `_` and `-`, never an address: `{value}`")]
    NotAName { field: &'static str, value: String },
    #[error("`{field}` holds a control character: `{value}`")]
    Unprintable { field: &'static str, value: String },
    #[error("`content_type` is not a media type like `text/plain`: `{0}`")]
    NotAMediaType(String),
    #[error("`{field}` is longer than {most} bytes")]
    TooLong { field: &'static str, most: usize },
    #[error("`{field}` is an id of plain ASCII without spaces and `@`, never an address: `{value}`")]
    NotASourceId { field: &'static str, value: String },
    #[error("`{field}` begins with `{ERASED}`, which marks what was erased")]
    Erased { field: &'static str },
    #[error("`metadata` cannot be kept: {0}; write a large number as a text")]
    Metadata(String),
    #[error("`{0}` is reserved for the program itself; an adapter needs a name of its own")]
    Reserved(String),
}

impl Incoming {
    #[must_use]
    pub fn platform(&self) -> &str {
        self.platform.as_deref().unwrap_or(&self.adapter)
    }

    /// `{adapter}:{account}:{source_id}`, without the account where there is none. Colons of the id are then written
    /// as `%3A`, so that no id can look like an account and an id.
    #[must_use]
    pub fn key(&self) -> String {
        match &self.account {
            Some(account) => format!("{}:{account}:{}", self.adapter, self.source_id),
            None => format!("{}:{}", self.adapter, self.source_id.replace('%', "%25").replace(':', "%3A")),
        }
    }

    /// The media type as it may stand in a row for ever: one of the usual ones, without parameters. A sender chooses it,
    /// and what a sender chooses can be a message.
    #[must_use]
    pub fn kept_type(&self) -> &'static str {
        let given = self.content_type.as_deref().unwrap_or("text/plain");
        let essence = given.split_once(';').map_or(given, |(essence, _)| essence).trim();
        USUAL_TYPES.into_iter().find(|usual| usual.eq_ignore_ascii_case(essence)).unwrap_or(OTHER_TYPE)
    }

    /// The name of the webhook that it came by, if it came by one.
    #[must_use]
    pub fn webhook(&self) -> Option<&str> {
        self.account.as_deref().filter(|_| self.adapter == WEBHOOK)
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
        let own = RESERVED_ADAPTERS.into_iter().chain(RESERVED_PLATFORMS);
        for name in [self.adapter.as_str(), self.platform()] {
            if let Some(own) = own.clone().find(|own| looks_like(name, own)) {
                return Err(NotAnEvent::Reserved(own.into()));
            }
        }
        let (by_hook, of_hooks) = (self.adapter == WEBHOOK, self.platform() == WEBHOOK);
        let is_like_one = |name: &str| name != WEBHOOK && looks_like(name, WEBHOOK);
        if by_hook != of_hooks || is_like_one(&self.adapter) || is_like_one(self.platform()) {
            return Err(NotAnEvent::Reserved(WEBHOOK.into()));
        }
        if by_hook && self.account.is_none() {
            return Err(NotAnEvent::Empty { field: "account" });
        }
        let ids = [("source_id", &self.source_id), ("sender", &self.sender)];
        let optional = [("container_id", &self.container_id), ("watermark", &self.watermark)];
        let optional = optional.into_iter().filter_map(|(field, value)| Some((field, value.as_ref()?)));
        for (field, value) in ids.into_iter().chain(optional) {
            bounded(field, value)?;
            if value.chars().any(char::is_control) {
                return Err(NotAnEvent::Unprintable { field, value: value.escape_debug().to_string() });
            }
        }
        // It stands in a row for ever: an id that a server gave looks like one.
        if !self.source_id.bytes().all(|c| c.is_ascii_graphic() && c != b'@') {
            let value = self.source_id.escape_debug().to_string();
            return Err(NotAnEvent::NotASourceId { field: "source_id", value });
        }
        let container = self.container_id.as_ref().map(|container| ("container_id", container));
        for (field, value) in [("sender", &self.sender)].into_iter().chain(container) {
            if value.starts_with(ERASED) {
                return Err(NotAnEvent::Erased { field });
            }
        }
        if let Some(metadata) = &self.metadata {
            let kept = canonical::bytes_within(metadata, NESTED_LEVELS);
            kept.map_err(|error| NotAnEvent::Metadata(error.why().to_owned()))?;
        }
        match &self.content_type {
            Some(content_type) if !is_media_type(content_type) => Err(NotAnEvent::NotAMediaType(
                content_type.chars().take(80).flat_map(char::escape_debug).collect(),
            )),
            _ => Ok(()),
        }
    }
}

/// Media types that are kept as they are.
const USUAL_TYPES: [&str; 8] = [
    "text/plain",
    "text/html",
    "text/markdown",
    "text/csv",
    "text/calendar",
    "text/vcard",
    "application/json",
    "application/xml",
];
/// Any other one.
const OTHER_TYPE: &str = "application/octet-stream";

const NAME_BYTES: usize = 512;

fn bounded(field: &'static str, value: &str) -> Result<(), NotAnEvent> {
    match value.len() {
        0 => Err(NotAnEvent::Empty { field }),
        length if length > NAME_BYTES => Err(NotAnEvent::TooLong { field, most: NAME_BYTES }),
        _ => Ok(()),
    }
}

/// A word of ours that stands in rows for ever: no address fits, and no colon, which would let two different events
/// share one key.
fn name(field: &'static str, value: &str) -> Result<(), NotAnEvent> {
    bounded(field, value)?;
    if is_name(value) {
        return Ok(());
    }
    Err(NotAnEvent::NotAName { field, value: value.escape_debug().to_string() })
}

/// Whether a reader could take one name for the other: in other letters of either case, with digits for letters, `rn` for `m`,
/// `vv` for `w`, or with marks between them. Anything but ASCII is no name at all.
#[must_use]
pub fn looks_like(name: &str, own: &str) -> bool {
    let letters = |text: &str| -> String {
        let text = text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase());
        let text = text.map(|c| match c {
            '1' | 'i' => 'l',
            '0' => 'o',
            '3' => 'e',
            '5' => 's',
            '7' => 't',
            c => c,
        });
        text.collect::<String>().replace("rn", "m").replace("vv", "w")
    };
    letters(name) == letters(own)
}

/// Whether a text is a word like `my-server.example`: short, and of plain characters.
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=NAME_BYTES).contains(&text.len())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-'))
}

/// `type/subtype` with plain parameters, short: it stands in a row for ever too.
fn is_media_type(text: &str) -> bool {
    const LONGEST: usize = 100;
    let token = |c: u8| c.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&c);
    let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
    let plain = |c: u8| token(c) || b"=; \"".contains(&c);
    text.len() <= LONGEST
        && parameters.bytes().all(plain)
        && essence.trim_end().split_once('/').is_some_and(|(kind, subtype)| {
            !kind.is_empty() && !subtype.is_empty() && kind.bytes().all(token) && subtype.bytes().all(token)
        })
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
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
            watermark: None,
        }
    }

    #[test]
    fn the_key_names_adapter_account_and_source() {
        assert_eq!(telegram().key(), "telegram:home:8841");
        assert_eq!(Incoming { account: None, ..telegram() }.key(), "telegram:8841");
    }

    #[test]
    fn two_events_cannot_share_a_key_by_a_colon() {
        let no_account = Incoming { account: None, source_id: "home:8841".into(), ..telegram() };
        assert_eq!(no_account.key(), "telegram:home%3A8841");
        let escaped = Incoming { account: None, source_id: "home%3A8841".into(), ..telegram() };
        assert_ne!(no_account.key(), escaped.key());
        let forged = Incoming { account: Some("a:b".into()), ..telegram() };
        assert!(matches!(forged.check(), Err(NotAnEvent::NotAName { field: "account", .. })));
    }

    /// These stand in rows that are never erased.
    #[test]
    fn no_address_and_no_free_text_passes_as_a_name() {
        for account in ["lea@x.example", "lea and tom", "läa", "a\u{202e}b", "\u{1b}[2J"] {
            let event = Incoming { account: Some(account.into()), ..telegram() };
            assert!(matches!(event.check(), Err(NotAnEvent::NotAName { .. })), "{account}");
        }
        for (content_type, fits) in [
            ("text/plain", true),
            ("text/html; charset=utf-8", true),
            ("application/vnd.x+json", true),
            ("plain", false),
            ("text/", false),
            ("my diary/of today", false),
            ("text/plain\u{1b}", false),
        ] {
            let event = Incoming { content_type: Some(content_type.into()), ..telegram() };
            assert_eq!(event.check().is_ok(), fits, "{content_type}");
        }
    }

    /// So does the id at the source.
    #[test]
    fn no_address_passes_as_an_id_of_the_source() {
        for source_id in ["lea@x.example", "7 of lea", "läa", "<1@x>"] {
            let event = Incoming { source_id: source_id.into(), ..telegram() };
            assert!(matches!(event.check(), Err(NotAnEvent::NotASourceId { .. })), "{source_id}");
        }
        for source_id in ["8841", "7:4821", "$abc-_/+=:x", "1700000000.000100"] {
            assert_eq!(Incoming { source_id: source_id.into(), ..telegram() }.check(), Ok(()), "{source_id}");
        }
    }

    #[test]
    fn of_a_media_type_only_a_usual_one_is_kept() {
        for (given, kept) in [
            (None, "text/plain"),
            (Some("Text/HTML; charset=utf-8"), "text/html"),
            (Some("text/plain; name=\"lea.txt\""), "text/plain"),
            (Some("text/x-lea-writes-this"), "application/octet-stream"),
        ] {
            let event = Incoming { content_type: given.map(String::from), ..telegram() };
            assert_eq!(event.kept_type(), kept, "{given:?}");
        }
    }

    #[test]
    fn nobody_sends_under_the_name_of_somebody_erased() {
        let sender = Incoming { sender: "erased:i-1".into(), ..telegram() };
        assert_eq!(sender.check(), Err(NotAnEvent::Erased { field: "sender" }));
        let container = Incoming { container_id: Some("erased:l-1".into()), ..telegram() };
        assert_eq!(container.check(), Err(NotAnEvent::Erased { field: "container_id" }));
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
    fn a_name_that_looks_like_a_reserved_one_is_refused() {
        for (name, own) in [
            ("CLI", "cli"),
            ("Terminal", "terminal"),
            ("terminaI", "terminal"),
            ("t3rm1na1", "terminal"),
            ("SYSTEM", "system"),
            ("5ystem", "system"),
            ("sys-tem", "system"),
            ("Timer", "timer"),
            ("WEBHOOK", "webhook"),
            ("WebHook", "webhook"),
            ("web_h00k", "webhook"),
            ("vvebhook", "webhook"),
            ("VVEBH00K", "webhook"),
            ("systern", "system"),
            ("terrninal", "terminal"),
            ("t1rner", "timer"),
        ] {
            let refused = Err(NotAnEvent::Reserved(own.into()));
            let adapter = Incoming { adapter: name.into(), ..telegram() };
            assert_eq!(adapter.check(), refused, "{name}");
            assert_eq!(Incoming { platform: Some(name.into()), ..telegram() }.check(), refused, "{name}");
        }
        for name in ["ｃｌｉ", "сli", "terminаl", "webhооk", "cli\u{200b}", "ⅽli"] {
            let adapter = Incoming { adapter: name.into(), ..telegram() };
            assert!(matches!(adapter.check(), Err(NotAnEvent::NotAName { .. })), "{name}");
        }
        for name in ["click", "cli2", "terminals", "subsystem", "webhooks", "timers", "client", "mail"] {
            assert_eq!(Incoming { adapter: name.into(), ..telegram() }.check(), Ok(()), "{name}");
        }
    }

    /// What is said of a webhook is said of its name, so nothing else may pass as one.
    #[test]
    fn what_comes_by_a_webhook_says_so_in_both_places() {
        let hook = |adapter: &str, platform: &str| Incoming {
            adapter: adapter.into(),
            platform: Some(platform.into()),
            ..telegram()
        };
        let reserved = Err(NotAnEvent::Reserved("webhook".into()));
        assert_eq!(hook("webhook", "webhook").check(), Ok(()));
        assert_eq!(hook("webhook", "demo").check(), reserved);
        assert_eq!(hook("demo", "webhook").check(), reserved);
        let unnamed = Incoming { account: None, ..hook("webhook", "webhook") };
        assert_eq!(unnamed.check(), Err(NotAnEvent::Empty { field: "account" }));
    }

    #[test]
    fn metadata_that_could_not_be_read_again_is_refused() {
        let with = |metadata| Incoming { metadata: Some(metadata), ..telegram() };
        assert_eq!(with(serde_json::json!({ "id": 1_u64 << 53 })).check(), Ok(()));
        let deep = (0..65).fold(serde_json::Value::Null, |inner, _| serde_json::json!([inner]));
        for metadata in [serde_json::json!({ "id": u64::MAX }), deep] {
            assert!(matches!(with(metadata).check(), Err(NotAnEvent::Metadata(_))));
        }
    }

    #[test]
    fn empty_and_endless_names_are_refused() {
        let empty = Incoming { sender: String::new(), ..telegram() };
        assert_eq!(empty.check(), Err(NotAnEvent::Empty { field: "sender" }));
        let endless = Incoming { source_id: "x".repeat(513), ..telegram() };
        assert_eq!(endless.check(), Err(NotAnEvent::TooLong { field: "source_id", most: 512 }));
    }
}
