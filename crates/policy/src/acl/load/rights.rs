//! The permissions of a policy: globs over tools, names of credentials, a data level.

use std::collections::BTreeSet;

use super::desk::{Desk, shown};
use super::mistake::Wrong;
use super::tree::{Node, Value};
use crate::acl::credentials::Credentials;
use crate::acl::policy::{ALL, DataLevel, Rights, Tools};

pub(super) fn read(desk: &mut Desk<'_>, node: &Node) -> Rights {
    let Some(fields) = desk.fields(node, "`permissions`", &["tools", "credentials", "data"]) else {
        return Rights::default();
    };
    let levels = DataLevel::ALL.map(|level| (level.name(), level));
    Rights {
        tools: fields.get("tools").map_or_else(Tools::default, |node| tools(desk, node)),
        credentials: fields.get("credentials").and_then(|node| credentials(desk, node)),
        data: fields.get("data").and_then(|node| desk.word(node, "a data level", &levels)),
    }
}

/// `tools: "*"` is short for `allow: ["*"]`.
fn tools(desk: &mut Desk<'_>, node: &Node) -> Tools {
    if matches!(&node.value, Value::Text(text) if text == ALL) {
        return Tools { allow: vec![ALL.to_owned()], deny: Vec::new() };
    }
    let Some(fields) = desk.fields(node, "`tools`", &["allow", "deny"]) else { return Tools::default() };
    let mut globs = |name| fields.get(name).map_or_else(Vec::new, |node| globs(desk, node));
    Tools { allow: globs("allow"), deny: globs("deny") }
}

fn globs(desk: &mut Desk<'_>, node: &Node) -> Vec<String> {
    let mut globs = Vec::new();
    for (node, glob) in desk.texts(node, "a glob over tools").unwrap_or_default() {
        match glob.chars().find(|c| !fits(*c)) {
            None => globs.push(glob.to_owned()),
            Some(found) => {
                let help = match found {
                    '!' => "put what is not allowed under `deny`",
                    '?' | '[' | ']' | '{' | '}' => "only `*` stands for other characters",
                    'A'..='Z' => "tools are written in small letters",
                    ',' | ' ' => "make it several entries",
                    _ => "tools are written in a-z, 0-9, `_`, `-`, `.`, `:` and `/`",
                };
                let glob = shown(glob);
                desk.wrong(node.at, Wrong::Glob { glob, found }, help.to_owned());
            }
        }
    }
    globs
}

const fn fits(c: char) -> bool {
    matches!(c, 'a'..='z' | '0'..='9' | '_' | '-' | '.' | ':' | '/' | '*')
}

fn credentials(desk: &mut Desk<'_>, node: &Node) -> Option<Credentials> {
    let mut names = BTreeSet::new();
    for (node, name) in desk.texts(node, "a credential")? {
        if name != ALL && name.contains('*') {
            let help = "`*` alone is all of them".to_owned();
            desk.wrong(node.at, Wrong::CredentialGlob(shown(name)), help);
        }
        names.insert(name.to_owned());
    }
    Some(names.into())
}
