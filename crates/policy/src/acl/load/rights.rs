//! The permissions of a policy: globs over tools, names of credentials, a data level.

use std::collections::BTreeSet;

use crate::acl::credentials::Credentials;
use crate::acl::policy::{ALL, DataLevel, Rights, Tools};
use crate::yaml::{Desk, Globs, Node, Value, Wrong, shown};

const TOOLS: Globs =
    Globs { what: "a glob over tools", over: "tool", excluding: "put what is not allowed under `deny`" };

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
    let mut globs = |name| fields.get(name).map_or_else(Vec::new, |node| desk.tools(node, TOOLS));
    Tools { allow: globs("allow"), deny: globs("deny") }
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
