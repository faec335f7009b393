//! The ten layers, in the order in which they speak.

use domain::call::{Chooser, target};
use domain::change::Changes;
use domain::id::GrantId;
use domain::task::MustNot;
use domain::{Tier, Trust};
use policy::acl::{self, WhyNot};
use policy::tier::{Caller, Verdict};
use policy::vpol::{self, Circumstances, Vpol};
use serde_json::Value;

use super::{Answer, DataLevel, DecisionView, Layer, matches, own_words};
use crate::access::Switch;
use crate::grant::Enough;
use crate::tool::{DataClass, ExecutionMode, Level, Reach, ToolSpec, ValidationMode};

/// What a layer says.
pub(super) struct Said {
    pub(super) answer: Answer,
    pub(super) reason: String,
    pub(super) instead: Option<String>,
    /// What a grant has to be worth to answer a review in a person's place.
    pub(super) enough: Enough,
    /// The grant that it relies on.
    pub(super) granted: Option<GrantId>,
}

pub(super) type Ask = fn(&DecisionView<'_>, &ToolSpec) -> Said;

pub(super) const ALL: [(Layer, Ask); 10] = [
    (Layer::Registered, registered),
    (Layer::Schema, schema),
    (Layer::Access, access),
    (Layer::Trust, trust),
    (Layer::Tier, tier),
    (Layer::Vpol, vpol),
    (Layer::PrimeDirectives, prime_directives),
    (Layer::Provenance, provenance),
    (Layer::Plan, plan),
    (Layer::Level, level),
];

fn yes(reason: impl Into<String>) -> Said {
    let (reason, instead, enough) = (reason.into(), None, Enough::Never);
    Said { answer: Answer::Execute, reason, instead, enough, granted: None }
}

fn deny(reason: impl Into<String>, instead: impl Into<String>) -> Said {
    let instead = Some(instead.into());
    Said { answer: Answer::Deny, instead, ..yes(reason) }
}

/// A person is asked, whatever was granted.
fn review(reason: impl Into<String>) -> Said {
    Said { answer: Answer::Review, ..yes(reason) }
}

/// A person is asked, unless a grant answers: for what can destroy something, only one that names the very values.
fn review_unless_granted(reason: impl Into<String>, tier: Tier) -> Said {
    Said { enough: enough(tier), ..review(reason) }
}

const fn enough(tier: Tier) -> Enough {
    match tier {
        Tier::ReadOnly | Tier::WriteSafe => Enough::Covered,
        Tier::WriteDestructive => Enough::Pinned,
        Tier::Admin => Enough::Never,
    }
}

fn registered(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    let id = &tool.id;
    let on = format!("the owner can switch it on: `regent tools enable {id}`");
    match facts.inputs.switch {
        Switch::Off => deny(format!("{id} is switched off in tool-access.json"), on),
        Switch::OffByEnvironment => {
            deny(format!("{id} is switched off by REGENT_TOOLS_OFF"), "the owner can start without it")
        }
        Switch::Unreadable => deny(
            "tool-access.json cannot be read, so nothing runs",
            "the owner can put it right: `regent doctor`",
        ),
        Switch::On if tool.execution_mode == ExecutionMode::Disabled => {
            deny(format!("{id} is registered as disabled"), "the owner can register it with another mode")
        }
        Switch::On => yes(format!("{id} is registered and switched on")),
    }
}

fn schema(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    match &facts.inputs.form {
        Ok(()) => yes("the arguments have the form the tool takes"),
        Err(why) => deny(format!("the arguments do not fit the tool: {why}"), takes(tool)),
    }
}

/// What the tool takes, in a line.
fn takes(tool: &ToolSpec) -> String {
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = tool.input_schema.get("properties").and_then(Value::as_object) else {
        return format!("see what it takes: `regent tools show {}`", tool.id);
    };
    let named = properties.keys().map(|name| {
        if required.contains(&name.as_str()) { format!("`{name}`") } else { format!("`{name}` (optional)") }
    });
    format!("{} takes {}", tool.id, named.collect::<Vec<_>>().join(", "))
}

fn access(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    let concludes = facts.inputs.call.subtask.is_none() && facts.inputs.call.chosen_by == Chooser::Rule;
    if tool.reach == Reach::Origin && !concludes {
        return deny("only a task itself hands its result back, when it is over", "finish with the result");
    }
    if tool.reach == Reach::Model && facts.inputs.call.chosen_by != Chooser::Rule {
        return deny("only the loop asks a model", "ask in your own words");
    }
    if !tool.agent_access.iter().any(|glob| matches(glob, &facts.inputs.agent)) {
        let who = tool.agent_access.join(", ");
        let who = if who.is_empty() { "nobody".to_owned() } else { who };
        return deny(
            format!("the agent {} may not use {}", facts.inputs.agent, tool.id),
            format!("it is open to: {who}"),
        );
    }
    let lacks = |role: &&String| !facts.inputs.principal.is_owner() && !facts.inputs.roles.contains(role);
    if let Some(role) = tool.role_requirements.iter().find(lacks) {
        return deny(format!("{} needs the role `{role}`", tool.id), "somebody who has that role can ask");
    }
    let kept_back = |name: &&String| !facts.inputs.permissions.credentials.has(name);
    if let Some(name) = facts.inputs.needs.iter().find(kept_back) {
        return deny(
            format!("{} uses the secret `{name}`, which is not for this principal", tool.id),
            "a tool without it",
        );
    }
    permitted(facts, tool)
}

/// What policies allow, and what was granted beyond that: never past a denial or a ceiling.
fn permitted(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    if tool.reach == Reach::Origin {
        return yes("whoever was let in is answered");
    }
    if tool.reach == Reach::Model {
        return yes("what was let in is thought about");
    }
    let why = match facts.inputs.permissions.may(tool.id.as_str()) {
        acl::Verdict::May { by } => return yes(format!("`{by}` allows {}", tool.id)),
        acl::Verdict::MayNot(why) => why,
    };
    let grant = facts.grant(tool).filter(|(_, worth)| *worth >= enough(facts.tier(tool)));
    if let Some((granted, _)) = grant {
        let id = granted.id.to_string();
        let with = facts.inputs.permissions.clone().and_granted(&id, vec![tool.id.to_string()]);
        if with.may(tool.id.as_str()).is_yes() {
            return Said {
                granted: Some(granted.id),
                ..yes(format!("no policy allows {}; granted by {id}", tool.id))
            };
        }
    }
    let allowed = facts.inputs.permissions.allowed();
    let instead = match (&why, allowed.is_empty()) {
        (WhyNot::NobodyAllows, false) => format!("allowed are: {}", allowed.join(", ")),
        (WhyNot::NobodyAllows, true) => "nothing is allowed here; ask the owner".to_owned(),
        (WhyNot::Denied { by } | WhyNot::BeyondCeiling { by }, _) => {
            format!("the owner can change it: `regent acl show {by}`")
        }
    };
    deny(format!("the admission does not allow {}: {why}", tool.id), instead)
}

fn caller(facts: &DecisionView<'_>) -> Caller {
    Caller {
        trust: facts.inputs.trust,
        known: facts.inputs.principal.entity().is_some(),
        owner_directly: facts.directly(),
    }
}

fn spoken(verdict: Verdict, otherwise: String, tier: Tier, trust: Trust) -> Said {
    match verdict {
        Verdict::Execute => yes(otherwise),
        Verdict::Review(why) => review_unless_granted(why.to_string(), tier),
        Verdict::Deny(why) => {
            let most = Tier::ALL.into_iter().rfind(|tier| tier.needs() <= trust && *tier != Tier::Admin);
            deny(why.to_string(), format!("a tool of tier {}", most.unwrap_or(Tier::ReadOnly)))
        }
    }
}

fn trust(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    let tier = facts.tier(tool);
    let enough = format!("trust {} is enough for {tier}", facts.inputs.trust);
    spoken(policy::tier::trust(caller(facts), tier), enough, tier, facts.inputs.trust)
}

fn tier(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    let tier = facts.tier(tool);
    spoken(policy::tier::tier(caller(facts), tier), format!("{tier} asks nobody"), tier, facts.inputs.trust)
}

/// The chain's policy as it was frozen and as it would be now, the tool's own mode, and what may still be used up.
fn vpol(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    let Some(vpol) = facts.policies.frozen else {
        return deny("the chain names no validation policy that is known", "ask the owner");
    };
    if let Some(exhausted) = &facts.inputs.exhausted {
        return deny(exhausted.to_string(), exhausted.remedy());
    }
    let frozen = judged(vpol, facts.inputs.circumstances, facts, tool);
    let of_chain = match facts.policies.of_now.zip(facts.inputs.of_now.map(|of_now| of_now.started)) {
        None => frozen,
        Some((now, started)) => {
            let said = judged(now, Circumstances { started, ..facts.inputs.circumstances }, facts, tool);
            let reason = format!("{}, as the policies are now", said.reason);
            stricter(frozen, Said { reason, ..said })
        }
    };
    let tier = facts.tier(tool);
    let of_tool = match tool.validation_mode {
        ValidationMode::Monitor => return of_chain,
        ValidationMode::Intercept => {
            review_unless_granted("the tool's own mode is intercept: a person looks first", tier)
        }
        ValidationMode::Strict => review("the tool's own mode is strict: the owner is asked each time"),
    };
    stricter(of_chain, of_tool)
}

fn judged(policy: &Vpol, circumstances: Circumstances, facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    let tier = facts.tier(tool);
    let word = policy.judge(&vpol::Asked {
        tool: tool.id.as_str(),
        tier,
        data_class: tool.data_class,
        // Neither answering nor thinking is what a policy about calls means.
        hands_back: matches!(tool.reach, Reach::Origin | Reach::Model),
        is_owner: facts.inputs.principal.is_owner(),
        roles: &facts.inputs.roles,
        circumstances,
    });
    let reason = word.reason(policy);
    match word.answer() {
        vpol::Answer::Execute => yes(reason),
        vpol::Answer::Intercept => review_unless_granted(reason, tier),
        vpol::Answer::Ask => review(reason),
        vpol::Answer::Deny => deny(reason, word.instead().unwrap_or_default()),
    }
}

/// Of two that say the same, the one that is harder to answer in a person's place.
fn stricter(one: Said, other: Said) -> Said {
    let how = |said: &Said| (said.answer, said.enough);
    if how(&other) > how(&one) { other } else { one }
}

/// Secrets and data levels are looked at; the directives themselves are not built yet, so nothing that writes outside,
/// leaves the machine or changes the house is let through unseen. What only reads outside for the owner may, if every
/// argument, sink or not, stands in the owner's words: then nothing leaves that they did not write.
fn prime_directives(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    if let Some(name) = &facts.inputs.leaks {
        let reason = format!("the value of the secret `{name}` stands in the arguments");
        return deny(reason, "leave it out: a tool that needs it gets it from the broker");
    }
    let reached = match (facts.inputs.permissions.data, tool.data_class) {
        (DataLevel::Full, _) | (_, None) => true,
        (DataLevel::Restricted, Some(class)) => class == DataClass::Logistics,
        (DataLevel::None, Some(_)) => false,
    };
    if !reached {
        let class = tool.data_class.map_or("", DataClass::name);
        return deny(format!("data of the class {class} is not for this principal"), "ask the owner");
    }
    match tool.reach {
        Reach::Nothing => yes("it only computes; no directives are built yet"),
        Reach::Workspace => yes("nothing leaves the workspace; no directives are built yet"),
        Reach::Model => yes("it is told to a model that the owner has chosen for such data"),
        Reach::Origin if facts.inputs.principal.is_owner() => {
            yes("it answers the owner at their own terminal")
        }
        Reach::Origin | Reach::House | Reach::Outside if facts.directly() => {
            yes("the owner does it with their own hand; no directives are built yet")
        }
        Reach::House | Reach::Outside if reads_with_the_owners_words(facts, tool) => {
            yes("it only reads, and nothing leaves that the owner did not write; no directives are built yet")
        }
        Reach::Origin | Reach::Outside => {
            review("no directives are built yet, so a person looks at what leaves")
        }
        Reach::House => review("no directives are built yet, so a person looks at what changes the house"),
    }
}

fn reads_with_the_owners_words(facts: &DecisionView<'_>, tool: &ToolSpec) -> bool {
    let words = own_words::of(facts.request);
    facts.inputs.principal.is_owner()
        && facts.tier(tool) == Tier::ReadOnly
        && own_words::unexplained_argument(tool, &facts.inputs.call.args, words).is_none()
}

/// Not built yet: a sink of what writes or leaves that is not written word for word in the owner's request is reviewed
/// whenever a model chose it. What is put under a dot-name is reviewed whatever the request says.
fn provenance(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    let dot_name = facts.inputs.changes.iter().flat_map(Changes::iter).find(|change| change.fills_dot_name());
    if let Some(change) = dot_name.filter(|_| !facts.directly()) {
        let reason =
            format!("{} has a dot-name, which other programs obey: a person looks first", change.path);
        return Said { instead: Some("a name without a dot before it".into()), ..review(reason) };
    }
    match facts.inputs.call.chosen_by {
        Chooser::Rule => return yes("a rule of the program chose it from the request's own words"),
        Chooser::Owner { .. } if facts.inputs.principal.is_owner() => return yes("the owner wrote it"),
        Chooser::Owner { .. } | Chooser::Model => {}
    }
    if facts.tier(tool) == Tier::ReadOnly && tool.reach != Reach::Outside {
        return yes("it only reads here, and nothing leaves");
    }
    match own_words::unexplained_sink(tool, &facts.inputs.call.args, own_words::of(facts.request)) {
        None => yes("every sink is written word for word in the owner's request"),
        Some(sink) => {
            let reason = format!("a model chose `{sink}`, and the owner's request does not name it");
            // What stays in the workspace, and can be taken back, may be granted by its place; of anything else a grant
            // has to name the value.
            let tier = facts.tier(tool);
            let contained = tool.reach == Reach::Workspace && tier <= Tier::WriteSafe;
            let enough = if contained { Enough::Covered } else { Enough::Pinned };
            let instead = Some(format!("a value of `{sink}` that the owner wrote"));
            Said { instead, enough, ..review(reason) }
        }
    }
}

/// What did not work in this task is not tried again; nobody's yes makes it work.
fn plan(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    let forbids = |must_not: &MustNot| {
        let target = target(tool.sinks.first().map(String::as_str), &facts.inputs.call.args);
        must_not.forbids(tool.id.as_str(), Some(&target))
    };
    match forbids(&facts.inputs.must_not) {
        None => yes("the plan forbids nothing"),
        Some(why) => deny(why, "another tool, or another target"),
    }
}

fn level(facts: &DecisionView<'_>, tool: &ToolSpec) -> Said {
    if facts.directly() {
        return yes("the owner does it with their own hand");
    }
    if tool.execution_mode == ExecutionMode::Review {
        return review_unless_granted(format!("{} is registered to be reviewed", tool.id), facts.tier(tool));
    }
    let number = tool.level as u8;
    match tool.level {
        Level::ReviewAll | Level::Sampled => {
            review_unless_granted(format!("level {number}: a person looks before it runs"), facts.tier(tool))
        }
        Level::ReviewedAfter | Level::SpotChecked | Level::Autonomous => {
            yes(format!("level {number}: it has earned running unasked"))
        }
    }
}
