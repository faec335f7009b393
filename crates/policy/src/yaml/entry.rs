//! The fields that every entry of a policy file has.

use super::desk::{Desk, Fields, shown};
use super::limits::{EXAMPLES, TOP};
use super::mistake::Wrong;
use super::tree::Node;

/// What an entry is called in a sentence.
pub(crate) const POLICY: &str = "a policy";

pub(crate) fn name(desk: &mut Desk<'_>, policy: &Node, fields: &Fields<'_>) -> Option<String> {
    let Some(node) = fields.get("name") else {
        desk.missing(policy.at, "name", POLICY, "a name tells it from the others");
        return None;
    };
    let name = desk.text(node, "the name of a policy")?;
    if is_kebab(name) {
        return Some(name.to_owned());
    }
    let help = kebab(name).map(|kebab| format!("write `{kebab}`"));
    desk.wrong(node.at, Wrong::NotKebab(shown(name)), help);
    None
}

fn is_kebab(name: &str) -> bool {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.split('-').all(word)
}

/// The same name as it should have been written, if that can be said.
fn kebab(name: &str) -> Option<String> {
    let mut kebab = String::new();
    for c in name.chars() {
        match c {
            'A'..='Z' => {
                if kebab.ends_with(|c: char| c.is_ascii_lowercase()) {
                    kebab.push('-');
                }
                kebab.push(c.to_ascii_lowercase());
            }
            'a'..='z' | '0'..='9' => kebab.push(c),
            ' ' | '_' | '.' | '-' | '/' if kebab.is_empty() || kebab.ends_with('-') => {}
            ' ' | '_' | '.' | '-' | '/' => kebab.push('-'),
            _ => return None,
        }
    }
    let kebab = kebab.trim_end_matches('-').to_owned();
    is_kebab(&kebab).then_some(kebab)
}

pub(crate) fn priority(desk: &mut Desk<'_>, policy: &Node, fields: &Fields<'_>) -> Option<u8> {
    let Some(node) = fields.get("priority") else {
        desk.missing(policy.at, "priority", POLICY, "0 is heard last and 100 first");
        return None;
    };
    let number = desk.number(node, "a priority")?;
    let priority = u8::try_from(number).ok().filter(|priority| *priority <= TOP);
    if priority.is_none() {
        desk.wrong(node.at, Wrong::Priority(number), None);
    }
    priority
}

pub(crate) fn examples<E>(
    desk: &mut Desk<'_>,
    fields: &Fields<'_>,
    read: impl Fn(&mut Desk<'_>, &Node) -> Option<E>,
) -> Vec<E> {
    let Some(node) = fields.get("examples") else { return Vec::new() };
    let list = desk.list(node, "`examples`").and_then(|list| desk.at_most(EXAMPLES, node.at, list));
    list.unwrap_or_default().iter().filter_map(|node| read(desk, node)).collect()
}
