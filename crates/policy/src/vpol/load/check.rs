//! One validation policy, read field by field. It comes out only if nothing in it is wrong.

use std::collections::BTreeMap;

use domain::budget::Unit;
use domain::{DataClass, Tier};

use super::example::{self, Example};
use crate::acl::load::matching::{time, whom};
use crate::acl::policy::Whom;
use crate::vpol::rules::{Rate, Requirement, Rules};
use crate::vpol::{Calls, Listed, Mode, Vpol, Whose};
use crate::yaml::entry::{self, POLICY};
use crate::yaml::{Desk, Fields, Globs, Node, Noted, Place, Read, Value, Wrong, nearest, shown};

const FIELDS: [&str; 7] = ["name", "applies_to", "mode", "up_to", "rules", "priority", "examples"];
const TOOLS: Globs = Globs { what: "a glob over tools", over: "tool", excluding: NAMED };
const AGENTS: Globs = Globs { what: "a glob over agents", over: "agent", excluding: NAMED };
const NAMED: &str = "name what it is about";

/// Nothing if anything in it is wrong; that is on the desk then.
pub(super) fn policy(desk: &mut Desk<'_>, node: &Node) -> Option<Read<Listed, Example>> {
    let before = desk.mistakes.len();
    let fields = desk.fields(node, POLICY, &FIELDS)?;
    let at = fields.get("name").map_or(node.at, |name| name.at);
    let name = entry::name(desk, node, &fields).unwrap_or_default();
    if name == Vpol::STRICTEST {
        desk.wrong(at, Wrong::Reserved(name.clone()), "give it another name".to_owned());
    }
    let applies_to = fields.get("applies_to");
    if applies_to.is_none() {
        desk.missing(node.at, "applies_to", POLICY, "`applies_to: {}` is every call of every chain");
    }
    let (applies_to, governs) = applies_to.and_then(|node| scope(desk, node)).unwrap_or_default();
    let mode = mode(desk, node, &fields);
    let up_to = up_to(desk, mode, &fields);
    let listed = Listed {
        vpol: Vpol {
            name: name.into(),
            mode: mode.unwrap_or(Mode::Strict),
            up_to,
            governs,
            rules: fields.get("rules").and_then(|node| rules(desk, node)).unwrap_or_default(),
        },
        applies_to,
        priority: entry::priority(desk, node, &fields).unwrap_or_default(),
    };
    let examples = entry::examples(desk, &fields, example::read);
    if desk.mistakes.len() > before {
        return None;
    }
    notes(desk, at, &listed);
    Some(Read { policy: listed, at, examples })
}

fn mode(desk: &mut Desk<'_>, policy: &Node, fields: &Fields<'_>) -> Option<Mode> {
    let Some(node) = fields.get("mode") else {
        desk.missing(policy.at, "mode", POLICY, "`monitor`, `intercept` or `strict`");
        return None;
    };
    desk.word(node, "a mode", &Mode::ALL.map(|mode| (mode.name(), mode)))
}

/// The least that can be meant, unless it is said.
fn up_to(desk: &mut Desk<'_>, mode: Option<Mode>, fields: &Fields<'_>) -> Tier {
    let node = fields.get("up_to");
    let given = node.and_then(|node| desk.word(node, "a tier", &tiers()));
    let (None | Some(Mode::Intercept | Mode::Strict)) = mode else {
        if let Some(node) = node.filter(|_| given.is_some_and(|tier| tier != Tier::Admin)) {
            let help = "leave it out, or write `mode: intercept` or `strict`".to_owned();
            desk.wrong(node.at, Wrong::IdleUpTo, help);
        }
        return Tier::Admin;
    };
    given.unwrap_or(Tier::ReadOnly)
}

pub(super) fn tiers() -> [(&'static str, Tier); 4] {
    Tier::ALL.map(|tier| (tier.name(), tier))
}

pub(super) fn data_classes() -> Vec<(&'static str, DataClass)> {
    DataClass::ALL.iter().map(|class| (class.name(), *class)).collect()
}

/// Which chains come under it, and which calls of theirs it governs.
fn scope(desk: &mut Desk<'_>, node: &Node) -> Option<(Whose, Calls)> {
    const FIELDS: [&str; 7] =
        ["principals", "agents", "buckets", "attended", "tools", "tiers", "data_classes"];
    let fields = desk.fields(node, "`applies_to`", &FIELDS)?;
    // A list that is there and names nothing would otherwise be everything.
    for name in FIELDS {
        if let Some(node) = fields.get(name)
            && matches!(&node.value, Value::List(list) if list.is_empty())
        {
            desk.wrong(node.at, Wrong::Empty("this list"), "leave it out, or name something".to_owned());
        }
    }
    let whose = Whose {
        principals: fields.get("principals").map_or_else(Vec::new, |node| principals(desk, node)),
        agents: fields.get("agents").map_or_else(Vec::new, |node| desk.globs(node, AGENTS)),
        buckets: fields.get("buckets").map_or_else(Vec::new, |node| buckets(desk, node)),
        attended: fields.get("attended").and_then(|node| desk.flag(node, "`attended`")),
    };
    let governs = Calls {
        tools: fields.get("tools").map_or_else(Vec::new, |node| desk.tools(node, TOOLS)),
        tiers: fields.get("tiers").map_or_else(Vec::new, |node| desk.words(node, "a tier", &tiers())),
        data_classes: fields
            .get("data_classes")
            .map_or_else(Vec::new, |node| desk.words(node, "a data class", &data_classes())),
    };
    Some((whose, governs))
}

/// One map, or a list of them of which any may fit.
fn principals(desk: &mut Desk<'_>, node: &Node) -> Vec<Whom> {
    let entries = match &node.value {
        Value::List(_) => desk.list(node, "`principals`").unwrap_or_default().iter().collect(),
        _ => vec![node],
    };
    entries.into_iter().filter_map(|node| whom(desk, node, "`principals`")).collect()
}

fn buckets(desk: &mut Desk<'_>, node: &Node) -> Vec<String> {
    let names = desk.texts(node, "the name of a bucket").unwrap_or_default();
    names.into_iter().map(|(_, name)| name.to_owned()).collect()
}

fn rules(desk: &mut Desk<'_>, node: &Node) -> Option<Rules> {
    let fields = desk.fields(node, "`rules`", &["rate", "budget", "hours", "requires"])?;
    Some(Rules {
        rate: fields.get("rate").and_then(|node| rate(desk, node)),
        budget: fields.get("budget").and_then(|node| budget(desk, node)).unwrap_or_default(),
        hours: fields.get("hours").and_then(|node| time(desk, node, "`hours`")),
        requires: fields.get("requires").map_or_else(Vec::new, |node| requires(desk, node)),
    })
}

fn rate(desk: &mut Desk<'_>, node: &Node) -> Option<Rate> {
    let rate = desk.text(node, "a rate")?.parse();
    rate.map_err(|wrong: crate::vpol::rules::NotARate| desk.wrong(node.at, wrong, None)).ok()
}

/// Amounts as in the settings, but each for one chain.
fn budget(desk: &mut Desk<'_>, node: &Node) -> Option<BTreeMap<Unit, u64>> {
    let fields = desk.fields(node, "`budget`", &Unit::ALL.map(Unit::name))?;
    let mut budget = BTreeMap::new();
    for unit in Unit::ALL {
        let Some(node) = fields.get(unit.name()) else { continue };
        let written = match node.value {
            Value::Number(number) => Some(number.to_string()),
            _ => desk.text(node, "an amount").map(str::to_owned),
        };
        let Some(written) = written else { continue };
        match unit.amount(&written) {
            Some(amount) => drop(budget.insert(unit, amount)),
            None => {
                let wrong = Wrong::Amount { given: shown(&written), unit: unit.name() };
                desk.wrong(node.at, wrong, format!("write {}", unit.like()));
            }
        }
    }
    Some(budget)
}

fn requires(desk: &mut Desk<'_>, node: &Node) -> Vec<Requirement> {
    let mut requires = Vec::new();
    for (node, text) in desk.texts(node, "a requirement").unwrap_or_default() {
        match text.parse() {
            Ok(requirement) => requires.push(requirement),
            Err(crate::vpol::rules::NotARequirement { .. }) => {
                let wrong = Wrong::NoSuchWord { given: shown(text), what: "a requirement" };
                desk.wrong(node.at, wrong, nearest::suggest(text, &Requirement::WORDS));
            }
        }
    }
    requires
}

fn notes(desk: &mut Desk<'_>, at: Place, listed: &Listed) {
    let name = || listed.vpol.name.clone().into_owned();
    if listed.applies_to.is_everybodys() {
        desk.note(at, Noted::Everybody(name()));
    }
    if !listed.vpol.governs.are_all() {
        desk.note(at, Noted::Partly(name()));
    }
}
