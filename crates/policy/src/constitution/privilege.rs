//! Rule 4: the call has passed the first three layers of authorisation, by a reckoning of its own.

use domain::glob::matches;
use domain::{Tier, Trust};

use super::{Action, Answered, Hand, Why};
use crate::acl::permissions::{Bounds, Said};
use crate::acl::{Credentials, Permissions};

/// What the first layers look at, as facts and not as what they said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Privilege<'a> {
    /// The id under which the tool is registered, if it is.
    pub registered: Option<&'a str>,
    pub on: bool,
    /// Whether the arguments have the form that the tool takes.
    pub fits: bool,
    pub agent: &'a str,
    /// Globs over agents.
    pub agents: &'a [String],
    pub roles: &'a [String],
    pub needs_roles: &'a [String],
    pub needs_credentials: &'a [String],
    /// How far the chain may go, every link of it.
    pub permissions: &'a Permissions,
    /// Whether a grant of the owner covers this very call, and is worth enough for what it can do.
    pub granted: bool,
    pub answer: Answering,
}

/// Whether a call speaks to whoever the chain began with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answering {
    No,
    /// It hands the result of a task back, when it is over.
    InTurn,
    /// Before the task is over, or for somebody else than the task.
    OutOfTurn,
}

pub(super) fn least(action: &Action<'_>) -> Option<Why> {
    access(action).or_else(|| trust(action)).or_else(|| confirmed(action))
}

/// Registered, of the right form, and the agent's, the principal's and the whole chain's to use.
fn access(action: &Action<'_>) -> Option<Why> {
    let facts = &action.privilege;
    let Some(tool) = facts.registered else { return Some(Why::NotRegistered) };
    let covered = |globs: &[String], name: &str| globs.iter().any(|glob| matches(glob, name));
    let owner = action.behind.principal.is_some_and(domain::principal::Principal::is_owner);
    let in_role = owner || facts.needs_roles.iter().all(|role| facts.roles.contains(role));
    let may_know = match &facts.permissions.credentials {
        Credentials::All => true,
        Credentials::Only(names) => facts.needs_credentials.iter().all(|name| names.contains(name)),
    };
    // Whoever was let in is answered.
    let within = facts.answer == Answering::InTurn || within(facts, tool);
    let table = [
        (facts.on, Why::SwitchedOff),
        (facts.fits, Why::WrongForm),
        (facts.answer != Answering::OutOfTurn, Why::OutOfTurn),
        (covered(facts.agents, facts.agent), Why::NotForThisAgent),
        (in_role, Why::NotInThisRole),
        (may_know, Why::NotThisSecret),
        (within, Why::BeyondTheChain),
    ];
    table.into_iter().find(|(holds, _)| !holds).map(|(_, why)| why)
}

/// Every link allows it, none denies it, and no ceiling is below it. A grant allows in the last link's place, and in no
/// other's.
fn within(facts: &Privilege<'_>, tool: &str) -> bool {
    let Permissions { own, within, .. } = facts.permissions;
    let covers = |said: &Said| said.tools().iter().any(|glob| matches(glob, tool));
    let open = |link: &Bounds| !link.deny.iter().any(covers) && link.ceilings.iter().all(covers);
    let allows = |link: &Bounds| {
        link.allow.iter().any(covers) && link.before.iter().all(|then| then.iter().any(covers))
    };
    open(own) && (allows(own) || facts.granted) && within.iter().all(|link| open(link) && allows(link))
}

/// The trust reaches the tier's. Somebody known who is one step short needs somebody's answer, as much as it can harm.
fn trust(action: &Action<'_>) -> Option<Why> {
    // Who is not trusted at all is not trusted either: rule 5 says the rest.
    let has = action.behind.trust.unwrap_or(Trust::Hostile);
    let by_owner = action.tier == Tier::Admin && action.hand == Hand::Owner;
    let needs = if by_owner { Trust::Operator } else { action.tier.needs() };
    let known = action.behind.principal.is_some_and(|principal| principal.entity().is_some());
    let one_step = known && (has as u8) + 1 == needs as u8;
    let enough = has >= needs || (one_step && action.answered >= answer_for(action.tier));
    (!enough).then_some(Why::TrustTooLow { has, needs })
}

/// What can destroy something, or changes the house, runs after a yes.
fn confirmed(action: &Action<'_>) -> Option<Why> {
    let harms = action.tier > Tier::WriteSafe;
    (harms && action.answered < answer_for(action.tier)).then_some(Why::NobodyConfirmed)
}

/// The least that answers in a person's place.
const fn answer_for(tier: Tier) -> Answered {
    match tier {
        Tier::ReadOnly | Tier::WriteSafe => Answered::Grant,
        Tier::WriteDestructive => Answered::PinnedGrant,
        Tier::Admin => Answered::Person,
    }
}
