//! `regent acl test`: one case as JSON in, the answer as JSON out. Fields that nobody knows are ignored.

use domain::alias;
use domain::event::ContainerKind;
use jiff::civil::DateTime;
use jiff::fmt::temporal::{Pieces, PiecesOffset};
use serde_json::{Map, Value, json};

use super::access::Access;
use super::case::{Case, Mark, Moment, Scene, Who};
use super::set::PolicySet;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACase {
    #[error("a case is an object with `principal` and `event`")]
    NotAnObject,
    #[error("`{0}` is no object")]
    NotAnObjectIn(&'static str),
    #[error("`{field}` is no {wanted}")]
    NotA { field: &'static str, wanted: &'static str },
    #[error(transparent)]
    Now(#[from] NotNow),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time like `2026-01-29T23:30:00+11:00`, with its offset")]
pub struct NotNow(String);

/// # Errors
/// Why the line is no case.
pub fn answer(set: &PolicySet, line: &Value) -> Result<Value, NotACase> {
    let access = set.decide(&case(line)?);
    let tools = line.as_object().map_or_else(|| Ok(Vec::new()), |line| texts(line, "tools"))?;
    Ok(shown(&access, &tools))
}

/// The local time of a moment that says its own offset.
///
/// # Errors
/// If it does not, or is no time.
pub fn moment(text: &str) -> Result<Moment, NotNow> {
    let wrong = || NotNow(text.chars().take(80).flat_map(char::escape_debug).collect());
    let pieces = Pieces::parse(text).ok().ok_or_else(wrong)?; // it would speak of more forms than ours
    let local = pieces.time().map(|time| DateTime::from_parts(pieces.date(), time)).ok_or_else(wrong)?;
    match pieces.offset() {
        Some(PiecesOffset::Zulu | PiecesOffset::Numeric(_)) if pieces.time_zone_annotation().is_none() => {
            Ok(Moment::of(local))
        }
        _ => Err(wrong()),
    }
}

fn shown(access: &Access, tools: &[String]) -> Value {
    let may: Map<String, Value> = tools.iter().map(|tool| (tool.clone(), may(access, tool).into())).collect();
    let mut shown = json!({
        "effect": access.effect,
        "matched": access.matched,
        "session": access.session,
        "permissions": access.permissions.own,
        "may": may,
        "data": access.permissions.data,
        "credentials": access.permissions.credentials,
        "modifiers": access.modifiers,
        "reason": access.why.to_string(),
    });
    if let (Some(pairing), Some(shown)) = (access.pairing, shown.as_object_mut()) {
        shown.insert("pairing".to_owned(), json!(pairing));
    }
    shown
}

/// By whatever name the tool is asked about.
fn may(access: &Access, tool: &str) -> bool {
    let id = alias::resolve(tool);
    access.permissions.may(id.as_ref().map_or(tool, |id| id.as_str())).is_yes()
}

/// The case of a line.
///
/// # Errors
/// Why the line is no case.
pub fn case(line: &Value) -> Result<Case, NotACase> {
    let line = line.as_object().ok_or(NotACase::NotAnObject)?;
    let empty = Map::new();
    let part = |field| match line.get(field) {
        None | Some(Value::Null) => Ok(&empty),
        Some(Value::Object(part)) => Ok(part),
        Some(_) => Err(NotACase::NotAnObjectIn(field)),
    };
    Ok(Case {
        principal: who(part("principal")?)?,
        event: scene(part("event")?)?,
        now: text(line, "now")?.as_deref().map(moment).transpose()?,
    })
}

pub(crate) fn who(principal: &Map<String, Value>) -> Result<Who, NotACase> {
    Ok(Who {
        is_owner: flag(principal, "is_owner")?,
        relationship: text(principal, "relationship")?,
        tags: texts(principal, "tags")?,
        id: text(principal, "id")?,
        name: text(principal, "name")?,
        unknown: flag(principal, "unknown")?,
        system: flag(principal, "system")?,
        webhook: mark(principal, "webhook")?,
        agent: mark(principal, "agent")?,
    })
}

fn scene(event: &Map<String, Value>) -> Result<Scene, NotACase> {
    let container_kind = match text(event, "container_kind")?.as_deref() {
        None => None,
        Some("dm") => Some(ContainerKind::Dm),
        Some("group") => Some(ContainerKind::Group),
        Some(_) => return Err(NotACase::NotA { field: "container_kind", wanted: "`dm` or `group`" }),
    };
    Ok(Scene {
        platform: text(event, "platform")?,
        container_kind,
        container_id: text(event, "container_id")?,
        account: text(event, "account")?,
        guild: text(event, "guild")?,
        hook_id: text(event, "hook_id")?,
        event_type: text(event, "event_type")?,
    })
}

pub(crate) fn text(of: &Map<String, Value>, field: &'static str) -> Result<Option<String>, NotACase> {
    match of.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(NotACase::NotA { field, wanted: "text" }),
    }
}

pub(crate) fn texts(of: &Map<String, Value>, field: &'static str) -> Result<Vec<String>, NotACase> {
    let wrong = || NotACase::NotA { field, wanted: "list of texts" };
    match of.get(field) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => {
            list.iter().map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

pub(crate) fn flag(of: &Map<String, Value>, field: &'static str) -> Result<Option<bool>, NotACase> {
    match of.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(NotACase::NotA { field, wanted: "`true` or `false`" }),
    }
}

fn mark(of: &Map<String, Value>, field: &'static str) -> Result<Option<Mark>, NotACase> {
    match of.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(is)) => Ok(Some(Mark::Is(*is))),
        Some(Value::String(name)) => Ok(Some(Mark::Named(name.clone()))),
        Some(_) => Err(NotACase::NotA { field, wanted: "name, `true` or `false`" }),
    }
}

#[cfg(test)]
mod tests;
