//! Examples that validation policies carry: a chain, perhaps a call of it, and what has to come out.

use super::check::{data_classes, tiers};
use crate::acl::filter::moment;
use crate::acl::load::example::{placed, quoted, who};
use crate::acl::load::matching::owned;
use crate::admit::MAIN;
use crate::vpol::case::{Call, Case};
use crate::vpol::pick::Picked;
use crate::vpol::{Answer, Chain, Circumstances, VpolSet};
use crate::yaml::{Desk, Node, Place, Wrong};

pub(super) struct Example {
    case: Case,
    policy: Option<(Place, String)>,
    answer: Option<(Place, Answer)>,
}

const OF: &str = "an example";

pub(super) fn read(desk: &mut Desk<'_>, node: &Node) -> Option<Example> {
    const FIELDS: [&str; 6] = ["principal", "agent", "bucket", "attended", "call", "expect"];
    let fields = desk.fields(node, OF, &FIELDS)?;
    let chain = Chain {
        principal: fields.get("principal").and_then(|node| who(desk, node)).unwrap_or_default(),
        agent: owned(desk, &fields, "`agent`").unwrap_or_else(|| MAIN.to_owned()),
        bucket: owned(desk, &fields, "`bucket`"),
        attended: fields.get("attended").and_then(|node| desk.flag(node, "`attended`")).unwrap_or_default(),
    };
    let call = fields.get("call");
    let asked = call.and_then(|node| self::call(desk, node));
    let Some(expect) = fields.get("expect") else {
        desk.missing(
            node.at,
            "expect",
            OF,
            "say what has to come out, like `expect: { policy: unattended }`",
        );
        return None;
    };
    let fields = desk.fields(expect, "`expect`", &["policy", "answer"])?;
    if fields.is_empty() {
        desk.wrong(expect.at, Wrong::Empty("`expect`"), "give a `policy`, an `answer` or both".to_owned());
    }
    let answers = Answer::ALL.map(|answer| (answer.name(), answer));
    let answer = placed(&fields, "answer", |node| desk.word(node, "an answer", &answers));
    if let (Some((at, _)), None) = (&answer, call) {
        desk.missing(*at, "call", OF, "an answer is about a call, like `call: { tool: shell, tier: admin }`");
    }
    let policy = |node: &Node| desk.text(node, "the name of a policy").map(str::to_owned);
    Some(Example { case: Case { chain, call: asked }, policy: placed(&fields, "policy", policy), answer })
}

fn call(desk: &mut Desk<'_>, node: &Node) -> Option<Call> {
    const FIELDS: [&str; 7] = ["tool", "tier", "data_class", "roles", "now", "started", "reversible"];
    const OF: &str = "`call`";
    let fields = desk.fields(node, OF, &FIELDS)?;
    for needed in ["tool", "tier"] {
        if fields.get(needed).is_none() {
            desk.missing(node.at, needed, OF, "a call is of a tool, and of a tier");
        }
    }
    let tool = owned(desk, &fields, "`tool`");
    let tier = fields.get("tier").and_then(|node| desk.word(node, "a tier", &tiers()));
    let data_class = fields.get("data_class");
    let data_class = data_class.and_then(|node| desk.word(node, "a data class", &data_classes()));
    let roles = fields.get("roles").and_then(|node| desk.texts(node, "a role")).unwrap_or_default();
    let local = fields.get("now").and_then(|node| {
        let text = desk.text(node, "the time of an example")?;
        moment(text).map_err(|wrong| desk.wrong(node.at, wrong, None)).ok()
    });
    let started = fields.get("started").and_then(|node| desk.number(node, "`started`"));
    let reversible = fields.get("reversible").and_then(|node| desk.flag(node, "`reversible`"));
    Some(Call {
        tool: tool?,
        tier: tier?,
        data_class,
        roles: roles.into_iter().map(|(_, role)| role.to_owned()).collect(),
        circumstances: Circumstances {
            local,
            started: started.map_or(0, |started| u32::try_from(started).unwrap_or(u32::MAX)),
            attended: false, // the chain says it
            reversible: reversible.unwrap_or_default(),
        },
    })
}

impl Example {
    /// What comes out differently, where it was expected.
    pub(super) fn check(&self, set: &VpolSet) -> Vec<(Place, Wrong)> {
        let (Picked { vpol, why }, word) = set.answer(&self.case);
        let mut found = Vec::new();
        let mut differs = |at: Place, what: &str, wanted: &str, came: String| {
            let (what, wanted) = (what.to_owned(), quoted(Some(wanted)));
            found.push((at, Wrong::Example { what, wanted, found: came }));
        };
        if let Some((at, wanted)) = self.policy.as_ref().filter(|(_, wanted)| *wanted != vpol.name) {
            differs(*at, "the policy", wanted, format!("`{}` ({why})", vpol.name));
        }
        if let (Some((at, wanted)), Some(word)) = (self.answer, word)
            && wanted != word.answer()
        {
            let came = format!("`{}` ({})", word.answer().name(), word.reason(&vpol));
            differs(at, "the answer", wanted.name(), came);
        }
        found
    }
}
