//! One policy, read field by field. A policy comes out only if nothing in it is wrong.

use domain::Trust;

use super::example::{self, Example};
use super::matching::{self, owned};
use super::rights;
use crate::acl::case::Mark;
use crate::acl::key::{Key, NotAKey, Variable};
use crate::acl::policy::{Condition, Effect, Modifiers, Pairing, Policy, QueueMode, Rights, Session, Whom};
use crate::yaml::entry::{self, POLICY};
use crate::yaml::{Desk, Fields, Node, Noted, Place, Read, Wrong, nearest};

const FIELDS: [&str; 11] = [
    "name",
    "match",
    "effect",
    "permissions",
    "session",
    "modifiers",
    "priority",
    "ceiling",
    "enabled",
    "pairing",
    "examples",
];

/// Nothing if anything in it is wrong; that is on the desk then.
pub(super) fn policy(desk: &mut Desk<'_>, node: &Node) -> Option<Read<Policy, Example>> {
    let before = desk.mistakes.len();
    let fields = desk.fields(node, POLICY, &FIELDS)?;
    let at = fields.get("name").map_or(node.at, |name| name.at);
    let name = entry::name(desk, node, &fields);
    let matching = match fields.get("match") {
        Some(node) => matching::read(desk, node),
        None => {
            desk.missing(node.at, "match", POLICY, "`match: {}` is about everybody everywhere");
            None
        }
    };
    let ceiling = fields.get("ceiling").and_then(|node| desk.flag(node, "`ceiling`"));
    let effect = fields
        .get("effect")
        .and_then(|node| desk.word(node, "an effect", &Effect::ALL.map(|effect| (effect.name(), effect))));
    if fields.get("effect").is_none() && ceiling != Some(true) {
        desk.wrong(node.at, Wrong::NoEffect, "add `effect: allow`, `deny` or `ask`".to_owned());
    }
    let policy = Policy {
        name: name.unwrap_or_default(),
        matching: matching.unwrap_or_default(),
        effect,
        permissions: fields.get("permissions").map_or_else(Rights::default, |node| rights::read(desk, node)),
        session: fields.get("session").and_then(|node| session(desk, node)),
        modifiers: fields.get("modifiers").and_then(|node| modifiers(desk, node)).unwrap_or_default(),
        priority: entry::priority(desk, node, &fields).unwrap_or_default(),
        ceiling: ceiling.unwrap_or_default(),
        enabled: fields.get("enabled").and_then(|node| desk.flag(node, "`enabled`")).unwrap_or(true),
        pairing: fields
            .get("pairing")
            .and_then(|node| desk.word(node, "pairing", &[("once", Pairing::Once)])),
    };
    fits_together(desk, &policy, &fields);
    let examples = entry::examples(desk, &fields, example::read);
    if desk.mistakes.len() > before {
        return None;
    }
    notes(desk, at, &policy);
    Some(Read { policy, at, examples })
}

fn session(desk: &mut Desk<'_>, node: &Node) -> Option<Session> {
    let fields = desk.fields(node, "`session`", &["persona", "key"])?;
    if fields.is_empty() {
        desk.wrong(node.at, Wrong::Empty("`session`"), "give a `persona`, a `key` or both".to_owned());
    }
    let persona = owned(desk, &fields, "`persona`");
    let key = fields.get("key").and_then(|node| {
        let text = desk.text(node, "a session key")?;
        let key = Key::new(text);
        key.map_err(|wrong| {
            let names = Variable::ALL.map(Variable::name);
            let help = match &wrong {
                NotAKey::NoVariable(name) => Some(nearest::suggest(name, &names)),
                NotAKey::Unbalanced | NotAKey::Empty => None,
            };
            desk.wrong(node.at, wrong, help);
        })
        .ok()
    });
    Some(Session { persona, key })
}

fn modifiers(desk: &mut Desk<'_>, node: &Node) -> Option<Modifiers> {
    let fields = desk.fields(node, "`modifiers`", &["queue_mode", "delay_response", "trust"])?;
    let modes = QueueMode::ALL.map(|mode| (mode.name(), mode));
    let levels = Trust::ALL.map(|trust| (trust.name(), trust));
    Some(Modifiers {
        queue_mode: fields.get("queue_mode").and_then(|node| desk.word(node, "a queue mode", &modes)),
        delay_response: fields.get("delay_response").and_then(|node| desk.flag(node, "`delay_response`")),
        trust: fields.get("trust").and_then(|node| desk.word(node, "a level of trust", &levels)),
    })
}

/// What is right for itself and not together.
fn fits_together(desk: &mut Desk<'_>, policy: &Policy, fields: &Fields<'_>) {
    let denies = matches!(policy.effect, Some(Effect::Deny))
        || (fields.get("effect").is_some() && policy.effect.is_none());
    if let Some(node) = fields.get("pairing").filter(|_| !denies) {
        desk.wrong(node.at, Wrong::IdlePairing, "leave it out, or write `effect: deny`".to_owned());
    }
    let Some(node) = fields.get("session") else { return };
    if fields.get("effect").is_none() && policy.ceiling {
        desk.wrong(node.at, Wrong::IdleSession, "leave it out, or write `effect: allow`".to_owned());
    }
    let whom = &policy.matching.principal;
    let is = |mark: &Option<Mark>| matches!(mark, Some(Mark::Is(true) | Mark::Named(_)));
    let nobody = [
        ("unknown", whom.unknown == Some(true), Variable::PrincipalId),
        ("unknown", whom.unknown == Some(true), Variable::PrincipalName),
        ("unknown", whom.unknown == Some(true), Variable::PrincipalRelationship),
        ("system", whom.system == Some(true), Variable::PrincipalRelationship),
        ("webhook", is(&whom.webhook), Variable::PrincipalRelationship),
        ("agent", is(&whom.agent), Variable::PrincipalRelationship),
    ];
    let key = policy.session.as_ref().and_then(|session| session.key.as_ref());
    for variable in key.iter().flat_map(|key| key.variables()) {
        if let Some((because, ..)) = nobody.iter().find(|(_, holds, missing)| *holds && *missing == variable)
        {
            let help = "take a variable that is there, like `{platform}`".to_owned();
            desk.wrong(node.at, Wrong::NeverKnown { variable: variable.name(), because }, help);
        }
    }
}

fn notes(desk: &mut Desk<'_>, at: Place, policy: &Policy) {
    let everybody = policy.matching.principal == Whom::default()
        && (policy.matching.conditions.is_empty()
            || policy.matching.conditions.contains(&Condition::default()));
    if everybody {
        desk.note(at, Noted::Everybody(policy.name.clone()));
    }
    if policy.ceiling {
        let Rights { tools, credentials, data } = &policy.permissions;
        let unnamed = [
            ("tools", tools.allow.is_empty()),
            ("credentials", credentials.is_none()),
            ("data", data.is_none()),
        ];
        for (what, _) in unnamed.into_iter().filter(|(_, unnamed)| *unnamed) {
            desk.note(at, Noted::Closed { name: policy.name.clone(), what });
        }
    }
}
