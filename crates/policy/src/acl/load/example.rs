//! Examples that policies carry: a case, and what has to come out.

use std::collections::BTreeMap;

use super::desk::{Desk, Fields};
use super::matching::{KINDS, mark, owned, tags};
use super::mistake::{Place, Wrong};
use super::tree::{Node, Value};
use crate::acl::access::Access;
use crate::acl::case::{Case, Scene, Who};
use crate::acl::credentials::Credentials;
use crate::acl::filter;
use crate::acl::policy::{DataLevel, Effect};
use crate::acl::set::PolicySet;

pub(super) struct Example {
    case: Case,
    expected: Expected,
}

/// What is not said is not compared. Each with its place.
#[derive(Default)]
struct Expected {
    effect: Option<(Place, Effect)>,
    matched: Option<(Place, Vec<String>)>,
    /// The key; nothing for no session of a policy.
    session: Option<(Place, Option<String>)>,
    may: BTreeMap<String, (Place, bool)>,
    data: Option<(Place, DataLevel)>,
    credentials: Option<(Place, Credentials)>,
}

pub(super) fn read(desk: &mut Desk<'_>, node: &Node) -> Option<Example> {
    const OF: &str = "an example";
    let fields = desk.fields(node, OF, &["principal", "event", "now", "tools", "expect"])?;
    let principal = fields.get("principal").and_then(|node| who(desk, node)).unwrap_or_default();
    let event = fields.get("event").and_then(|node| scene(desk, node)).unwrap_or_default();
    let now = fields.get("now").and_then(|node| {
        let text = desk.text(node, "the time of an example")?;
        filter::moment(text).map_err(|wrong| desk.wrong(node.at, wrong, None)).ok()
    });
    let tools = fields.get("tools").and_then(|node| desk.texts(node, "a tool")).unwrap_or_default();
    let tools: Vec<&str> = tools.into_iter().map(|(_, tool)| tool).collect();
    let Some(node) = fields.get("expect") else {
        desk.missing(node.at, "expect", OF, "say what has to come out, like `expect: { effect: deny }`");
        return None;
    };
    let expected = expected(desk, node, &tools)?;
    Some(Example { case: Case { principal, event, now }, expected })
}

fn who(desk: &mut Desk<'_>, node: &Node) -> Option<Who> {
    const FIELDS: [&str; 9] =
        ["is_owner", "relationship", "tags", "id", "name", "unknown", "system", "webhook", "agent"];
    let fields = desk.fields(node, "`principal`", &FIELDS)?;
    Some(Who {
        is_owner: fields.get("is_owner").and_then(|node| desk.flag(node, "`is_owner`")),
        relationship: owned(desk, &fields, "`relationship`"),
        tags: tags(desk, &fields),
        id: owned(desk, &fields, "`id`"),
        name: owned(desk, &fields, "`name`"),
        unknown: fields.get("unknown").and_then(|node| desk.flag(node, "`unknown`")),
        system: fields.get("system").and_then(|node| desk.flag(node, "`system`")),
        webhook: fields.get("webhook").and_then(|node| mark(desk, node, "`webhook`")),
        agent: fields.get("agent").and_then(|node| mark(desk, node, "`agent`")),
    })
}

fn scene(desk: &mut Desk<'_>, node: &Node) -> Option<Scene> {
    const FIELDS: [&str; 7] =
        ["platform", "container_kind", "container_id", "account", "guild", "hook_id", "event_type"];
    let fields = desk.fields(node, "`event`", &FIELDS)?;
    let kind = fields.get("container_kind");
    Some(Scene {
        platform: owned(desk, &fields, "`platform`"),
        container_kind: kind.and_then(|node| desk.word(node, "a kind of container", &KINDS)),
        container_id: owned(desk, &fields, "`container_id`"),
        account: owned(desk, &fields, "`account`"),
        guild: owned(desk, &fields, "`guild`"),
        hook_id: owned(desk, &fields, "`hook_id`"),
        event_type: owned(desk, &fields, "`event_type`"),
    })
}

fn expected(desk: &mut Desk<'_>, node: &Node, tools: &[&str]) -> Option<Expected> {
    const OF: &str = "`expect`";
    let fields = desk.fields(node, OF, &["effect", "matched", "session", "may", "data", "credentials"])?;
    let effects = Effect::ALL.map(|effect| (effect.name(), effect));
    let levels = DataLevel::ALL.map(|level| (level.name(), level));
    if fields.get("effect").is_none() {
        desk.missing(node.at, "effect", OF, "`allow`, `deny` or `ask`");
    }
    Some(Expected {
        effect: placed(&fields, "effect", |node| desk.word(node, "an effect", &effects)),
        matched: placed(&fields, "matched", |node| Some(names(desk, node, "the name of a policy"))),
        session: placed(&fields, "session", |node| match node.value {
            Value::Nothing => Some(None),
            _ => desk.text(node, "a session key").map(|key| Some(key.to_owned())),
        }),
        may: fields.get("may").map_or_else(BTreeMap::new, |node| may(desk, node, tools)),
        data: placed(&fields, "data", |node| desk.word(node, "a data level", &levels)),
        credentials: placed(&fields, "credentials", |node| {
            Some(Credentials::from_iter(names(desk, node, "a credential")))
        }),
    })
}

fn placed<T>(fields: &Fields<'_>, name: &str, read: impl FnOnce(&Node) -> Option<T>) -> Option<(Place, T)> {
    fields.get(name).and_then(|node| Some((node.at, read(node)?)))
}

fn names(desk: &mut Desk<'_>, node: &Node, what: &'static str) -> Vec<String> {
    let names = desk.texts(node, what).unwrap_or_default();
    names.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// `may: { calc: true, shell: false }`, or the list of those of `tools` that may be used.
fn may(desk: &mut Desk<'_>, node: &Node, tools: &[&str]) -> BTreeMap<String, (Place, bool)> {
    let mut may = BTreeMap::new();
    match &node.value {
        Value::Map(map) => {
            for (tool, flag) in map {
                let tool_id = desk.text(tool, "a tool").map(str::to_owned);
                if let (Some(id), Some(flag)) = (tool_id, desk.flag(flag, "what is expected of a tool")) {
                    may.insert(id, (tool.at, flag));
                }
            }
        }
        _ => {
            let allowed = names(desk, node, "a tool");
            for tool in tools.iter().copied().chain(allowed.iter().map(String::as_str)) {
                may.insert(tool.to_owned(), (node.at, allowed.iter().any(|allowed| allowed == tool)));
            }
        }
    }
    may
}

impl Example {
    /// What comes out differently, where it was expected.
    pub(super) fn check(&self, set: &PolicySet) -> Vec<(Place, Wrong)> {
        self.compare(&set.decide(&self.case))
    }

    fn compare(&self, access: &Access) -> Vec<(Place, Wrong)> {
        let Expected { effect, matched, session, may, data, credentials } = &self.expected;
        let mut found = Vec::new();
        let mut differs = |at: Place, what: &str, wanted: String, came: String| {
            if wanted != came {
                found.push((at, Wrong::Example { what: what.to_owned(), wanted, found: came }));
            }
        };
        if let Some((at, effect)) = effect {
            let came = format!("`{}` ({})", access.effect.name(), access.why);
            let same = *effect == access.effect;
            differs(
                *at,
                "the effect",
                if same { came.clone() } else { format!("`{}`", effect.name()) },
                came,
            );
        }
        if let Some((at, matched)) = matched {
            differs(*at, "what matches", listed(matched), listed(&access.matched));
        }
        if let Some((at, key)) = session {
            let came = access.session.as_ref().and_then(|placed| placed.key.as_deref());
            differs(*at, "the session", quoted(key.as_deref()), quoted(came));
        }
        if let Some((at, data)) = data {
            differs(
                *at,
                "the data level",
                quoted(Some(data.name())),
                quoted(Some(access.permissions.data.name())),
            );
        }
        if let Some((at, wanted)) = credentials {
            differs(
                *at,
                "the list of credentials",
                wanted.to_string(),
                access.permissions.credentials.to_string(),
            );
        }
        for (tool, (at, wanted)) in may {
            let verdict = access.permissions.may(tool);
            let word = |may: bool| if may { "allowed" } else { "refused" };
            let came = format!("{} ({verdict})", word(verdict.is_yes()));
            let same = *wanted == verdict.is_yes();
            differs(
                *at,
                &format!("`{tool}`"),
                if same { came.clone() } else { word(*wanted).to_owned() },
                came,
            );
        }
        found
    }
}

fn listed(names: &[impl std::borrow::Borrow<str>]) -> String {
    format!("[{}]", names.join(", "))
}

fn quoted(text: Option<&str>) -> String {
    text.map_or_else(|| "nothing".to_owned(), |text| format!("`{text}`"))
}
