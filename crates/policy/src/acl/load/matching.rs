//! Whom and where a policy is about.

use domain::event::ContainerKind;

use crate::acl::case::Mark;
use crate::acl::policy::{Condition, Matching, Whom};
use crate::acl::when::{self, DAY_WORDS, NotATime, When};
use crate::yaml::{Desk, Fields, Node, Value, Wrong, nearest};

/// Nothing given is everybody, everywhere.
pub(crate) fn read(desk: &mut Desk<'_>, node: &Node) -> Option<Matching> {
    let fields = desk.fields(node, "`match`", &["principal", "conditions"])?;
    let principal =
        fields.get("principal").and_then(|node| whom(desk, node, "`principal`")).unwrap_or_default();
    let entries = fields.get("conditions").and_then(|node| desk.list(node, "`conditions`"));
    let conditions = entries.unwrap_or_default().iter().filter_map(|node| condition(desk, node)).collect();
    Some(Matching { principal, conditions })
}

/// `what` is the name of the field in backticks.
pub(crate) fn whom(desk: &mut Desk<'_>, node: &Node, what: &'static str) -> Option<Whom> {
    const FIELDS: [&str; 8] =
        ["is_owner", "relationship", "tags", "id", "unknown", "system", "webhook", "agent"];
    let fields = desk.fields(node, what, &FIELDS)?;
    Some(Whom {
        is_owner: fields.get("is_owner").and_then(|node| desk.flag(node, "`is_owner`")),
        relationship: owned(desk, &fields, "`relationship`"),
        tags: tags(desk, &fields),
        id: owned(desk, &fields, "`id`"),
        unknown: fields.get("unknown").and_then(|node| desk.flag(node, "`unknown`")),
        system: fields.get("system").and_then(|node| desk.flag(node, "`system`")),
        webhook: fields.get("webhook").and_then(|node| mark(desk, node, "`webhook`")),
        agent: fields.get("agent").and_then(|node| mark(desk, node, "`agent`")),
    })
}

/// A text, by the name of its field in backticks.
pub(crate) fn owned(desk: &mut Desk<'_>, fields: &Fields<'_>, name: &'static str) -> Option<String> {
    fields.get(name.trim_matches('`')).and_then(|node| desk.text(node, name)).map(str::to_owned)
}

pub(crate) fn tags(desk: &mut Desk<'_>, fields: &Fields<'_>) -> Vec<String> {
    let tags = fields.get("tags").and_then(|node| desk.texts(node, "a tag")).unwrap_or_default();
    tags.into_iter().map(|(_, tag)| tag.to_owned()).collect()
}

pub(crate) fn mark(desk: &mut Desk<'_>, node: &Node, what: &'static str) -> Option<Mark> {
    match node.value {
        Value::Flag(is) => Some(Mark::Is(is)),
        _ => desk.text(node, what).map(|name| Mark::Named(name.to_owned())),
    }
}

pub(super) const KINDS: [(&str, ContainerKind); 2] =
    [("dm", ContainerKind::Dm), ("group", ContainerKind::Group)];

fn condition(desk: &mut Desk<'_>, node: &Node) -> Option<Condition> {
    const FIELDS: [&str; 7] =
        ["platform", "container_kind", "account", "guild", "time", "hook_id", "event_type"];
    let fields = desk.fields(node, "a condition", &FIELDS)?;
    Some(Condition {
        platform: owned(desk, &fields, "`platform`"),
        container_kind: fields
            .get("container_kind")
            .and_then(|node| desk.word(node, "a kind of container", &KINDS)),
        account: owned(desk, &fields, "`account`"),
        guild: owned(desk, &fields, "`guild`"),
        time: fields.get("time").and_then(|node| time(desk, node, "`time`")),
        hook_id: owned(desk, &fields, "`hook_id`"),
        event_type: owned(desk, &fields, "`event_type`"),
    })
}

pub(crate) fn time(desk: &mut Desk<'_>, node: &Node, what: &'static str) -> Option<When> {
    let entries = desk.texts(node, "a time")?;
    let mut fit = true;
    for (node, entry) in &entries {
        if let Err(wrong) = when::parse(entry) {
            fit = false;
            let help = match &wrong {
                NotATime::NotADay(word) => Some(nearest::suggest(word, &DAY_WORDS)),
                _ => None, // the others show what would have been right
            };
            desk.wrong(node.at, wrong, help);
        }
    }
    if entries.is_empty() {
        desk.wrong(node.at, Wrong::Empty(what), None);
    }
    let written = entries.into_iter().map(|(_, entry)| entry.to_owned()).collect();
    if fit { When::new(written).ok() } else { None }
}
