//! `regent vpol test`: one case as JSON in, the answer as JSON out. Fields that nobody knows are ignored.

use domain::{DataClass, Tier};
use serde_json::{Map, Value, json};

use super::case::{Call, Case};
use super::judge::{Circumstances, Word};
use super::pick::{Chain, Picked};
use super::set::VpolSet;
use crate::acl::filter::{self, flag, moment, text, texts, who};
use crate::admit::MAIN;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACase {
    #[error("a case is an object with `principal`, `attended` and, if you like, a `call`")]
    NotAnObject,
    #[error("`{0}` is no object")]
    NotAnObjectIn(&'static str),
    #[error("a call has a `{0}`")]
    Without(&'static str),
    #[error(transparent)]
    Field(#[from] filter::NotACase),
}

/// # Errors
/// Why the line is no case.
pub fn answer(set: &VpolSet, line: &Value) -> Result<Value, NotACase> {
    let (picked, word) = set.answer(&case(line)?);
    Ok(shown(&picked, word.as_ref()))
}

fn shown(Picked { vpol, why }: &Picked, word: Option<&Word>) -> Value {
    let mut shown = json!({
        "policy": vpol.name, "id": vpol.id(), "mode": vpol.mode, "up_to": vpol.up_to, "reason": why.to_string(),
    });
    if let (Some(word), Some(shown)) = (word, shown.as_object_mut()) {
        let mut call = json!({ "answer": word.answer(), "reason": word.reason(vpol) });
        if let (Some(instead), Some(call)) = (word.instead(), call.as_object_mut()) {
            call.insert("instead".to_owned(), instead.into());
        }
        shown.insert("call".to_owned(), call);
    }
    shown
}

/// The case of a line.
///
/// # Errors
/// Why the line is no case.
pub fn case(line: &Value) -> Result<Case, NotACase> {
    let line = line.as_object().ok_or(NotACase::NotAnObject)?;
    let part = |field| match line.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(part)) => Ok(Some(part)),
        Some(_) => Err(NotACase::NotAnObjectIn(field)),
    };
    Ok(Case {
        chain: Chain {
            principal: part("principal")?.map(who).transpose()?.unwrap_or_default(),
            agent: text(line, "agent")?.unwrap_or_else(|| MAIN.to_owned()),
            bucket: text(line, "bucket")?,
            attended: flag(line, "attended")?.unwrap_or_default(),
        },
        call: part("call")?.map(call).transpose()?,
    })
}

fn call(call: &Map<String, Value>) -> Result<Call, NotACase> {
    let tiers = Tier::ALL.map(|tier| (tier.name(), tier));
    let classes: Vec<(&str, DataClass)> = DataClass::ALL.iter().map(|class| (class.name(), *class)).collect();
    Ok(Call {
        tool: text(call, "tool")?.ok_or(NotACase::Without("tool"))?,
        tier: word(call, "tier", "tier", &tiers)?.ok_or(NotACase::Without("tier"))?,
        data_class: word(call, "data_class", "data class", &classes)?,
        roles: texts(call, "roles")?,
        circumstances: Circumstances {
            local: text(call, "now")?.as_deref().map(moment).transpose().map_err(filter::NotACase::from)?,
            started: number(call, "started")?,
            attended: false, // the chain says it
            reversible: flag(call, "reversible")?.unwrap_or_default(),
        },
    })
}

fn word<T: Copy>(
    of: &Map<String, Value>,
    field: &'static str,
    wanted: &'static str,
    words: &[(&str, T)],
) -> Result<Option<T>, filter::NotACase> {
    let Some(given) = text(of, field)? else { return Ok(None) };
    let found = words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| *meaning);
    found.map(Some).ok_or(filter::NotACase::NotA { field, wanted })
}

fn number(of: &Map<String, Value>, field: &'static str) -> Result<u32, filter::NotACase> {
    match of.get(field) {
        None | Some(Value::Null) => Ok(0),
        Some(number) => {
            let number = number.as_u64().and_then(|number| u32::try_from(number).ok());
            number.ok_or(filter::NotACase::NotA { field, wanted: "small whole number" })
        }
    }
}
