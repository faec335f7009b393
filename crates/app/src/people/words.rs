//! What may be said of somebody: names, words and addresses as the owner types them.

use domain::event::{ContainerKind, Incoming, WEBHOOK};
use domain::id::Prefix;
use domain::unseen::is_unseen;

use super::OWNER;
use kernel::{Code, Problem};

const NAME_BYTES: usize = 200;
const WORD_BYTES: usize = 64;
/// Tags of one person.
pub(super) const TAGS: usize = 64;

pub(super) fn bad(what: impl Into<String>) -> Problem {
    Problem::new(Code::BAD_PERSON, what).safe("nothing was changed").remedy("regent people list")
}

/// A name that can be typed back, and is none of the other ways to name somebody.
pub(super) fn name(text: &str) -> Result<(), Problem> {
    let shown = text.escape_debug();
    if text.trim().is_empty() {
        return Err(bad("a name is needed"));
    }
    if text.len() > NAME_BYTES {
        return Err(bad(format!("a name has at most {NAME_BYTES} bytes")));
    }
    if text.trim() != text || text.chars().any(is_unseen) {
        return Err(bad(format!("`{shown}` holds characters that nobody sees, or blanks at an end")));
    }
    if text.eq_ignore_ascii_case(OWNER) {
        return Err(bad(format!("`{shown}` is how the owner is named, who is somebody already")));
    }
    if text.contains(':') || text.parse::<Prefix>().is_ok() {
        return Err(bad(format!("`{shown}` looks like an address or an id; a name has no colon in it")));
    }
    Ok(())
}

/// `partner`, `old-friend`.
pub(super) fn relationship(text: &str) -> Result<(), Problem> {
    if is_word(text, "-") {
        return Ok(());
    }
    let shown = text.escape_debug();
    Err(bad(format!("`{shown}` is no relationship: one word of a-z, 0-9 and `-`, like `partner`")))
}

/// `owner`, `relationship:partner`, `tag:role:billing`.
pub(crate) fn check_label(text: &str) -> Result<(), Problem> {
    match text.split_once(':') {
        Some(("relationship", word)) => relationship(word),
        Some(("tag", word)) => tag(word),
        _ => Ok(()),
    }
}

/// `role:billing`, `hook:trusted`, `gardener`.
pub(super) fn tag(text: &str) -> Result<(), Problem> {
    if is_word(text, "-_.:") {
        return Ok(());
    }
    let shown = text.escape_debug();
    Err(bad(format!("`{shown}` is no tag: a-z, 0-9, `-`, `_`, `.` and `:`, like `role:billing`")))
}

/// Begins and ends with a letter or a digit, and never has two of the others in a row.
fn is_word(text: &str, joints: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= WORD_BYTES
        && text.chars().all(|c| plain(c) || joints.contains(c))
        && text.split(|c| joints.contains(c)).all(|part| !part.is_empty())
}

/// `platform:identifier`; whatever could not have sent an event is no address.
pub(super) fn address(text: &str) -> Result<(&str, &str), Problem> {
    let shown = text.escape_debug();
    let parts =
        text.split_once(':').filter(|(platform, identifier)| !platform.is_empty() && !identifier.is_empty());
    let Some((platform, identifier)) = parts else {
        return Err(bad(format!("`{shown}` is no address: platform:identifier, like `demo:lea`")));
    };
    // The address of a webhook is its name.
    let is_hook = platform == WEBHOOK;
    let sent = Incoming {
        adapter: if is_hook { WEBHOOK } else { "people" }.into(),
        source_id: "1".into(),
        platform: Some(platform.into()),
        account: is_hook.then(|| identifier.into()),
        container_kind: ContainerKind::Dm,
        container_id: None,
        sender: identifier.into(),
        content: String::new(),
        content_type: None,
        occurred_at: None,
        metadata: None,
        watermark: None,
    };
    sent.check().map_err(|why| bad(format!("`{shown}` can be nobody's address: {why}")))?;
    Ok((platform, identifier))
}

/// An address as part of a command that somebody may copy: whoever chose it does not choose what a shell makes of it.
pub(super) fn typed(address: &str) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@:._+-/".contains(c);
    if address.chars().all(plain) { address } else { "<address>" }
}
