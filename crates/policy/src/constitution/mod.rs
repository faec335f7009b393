//! The constitution: six rules over the facts of one action, one predicate each.
//!
//! A second look, and an independent one. It takes no layer's answer: it is told the facts, and refuses what the layers
//! should never have let pass, as if they were wrong. Nothing configures it, no vote, grant or yes overrides it; a yes is
//! one of its facts, and counts only where a rule says so.
//!
//! It does not decide whether a call runs (`broker`), and does not look anything up. Start reading at [`check`].

mod loopback;
mod privilege;
mod violation;

use std::net::IpAddr;

pub use domain::constitution::Rule;
use domain::principal::Principal;
use domain::source::Source;
use domain::{Tier, Trust};

pub use loopback::is_loopback;
pub use privilege::{Answering, Privilege};
pub use violation::{Violation, Why};

/// What clears the record. The name is known so that it can be refused, whoever asks and whatever stands behind it.
const CLEARS_THE_RECORD: &str = "audit_clear";

/// What changes who owns the house or what governs it, whatever its registration says of itself.
const CHANGES_THE_HOUSE: [&str; 2] = ["config_modify", "trust_escalate"];

/// The facts about one action.
#[derive(Clone, Debug, PartialEq)]
pub struct Action<'a> {
    /// Every name it goes by: as it was called, as it is registered, and that of the function behind it.
    pub names: Vec<&'a str>,
    /// What this very call can do.
    pub tier: Tier,
    pub scope: Scope,
    pub hand: Hand,
    pub answered: Answered,
    pub behind: Behind<'a>,
    pub privilege: Privilege<'a>,
    /// A sink that neither the owner's words nor a rule of the program explain, so that only content can have meant it.
    pub unexplained: Option<&'a str>,
    /// Addresses at which it would listen, or whose connections it would accept.
    pub listens: &'a [IpAddr],
}

/// How far an effect goes, as far as a rule asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// It stays where it can be taken back.
    Contained,
    /// Regent itself: settings, trust, the record.
    House,
    /// Somebody else gets to see it.
    Leaves,
}

/// Who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// The owner, directly: they are the principal, the words are theirs, and nobody chose in between.
    Owner,
    /// An agent, a rule of the program, or somebody else.
    Other,
}

/// Who has answered for this action. Ordered: a later one is worth more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answered {
    Nobody,
    /// A grant that covers it.
    Grant,
    /// A grant that the owner wrote by hand, with the very values.
    PinnedGrant,
    /// A person has said yes to this very call.
    Person,
}

/// Who stands behind an action, and whose words it began with. None of it may come from the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind<'a> {
    pub principal: Option<&'a Principal>,
    pub trust: Option<Trust>,
    pub source: &'a Source,
}

type Predicate = fn(&Action<'_>) -> Option<Why>;

const PREDICATES: [(Rule, Predicate); 6] = [
    (Rule::CreatorPrimacy, creator_primacy),
    (Rule::LoopbackOnly, loopback_only),
    (Rule::ContentIsNotCommand, content_is_not_command),
    (Rule::AuditImmutable, audit_immutable),
    (Rule::LeastPrivilege, privilege::least),
    (Rule::TrustRequired, trust_required),
];

/// What this action violates, each rule at most once, in the order of their numbers.
#[must_use]
pub fn check(action: &Action<'_>) -> Vec<Violation> {
    let broken = PREDICATES.iter().filter_map(|(rule, broken)| Some((*rule, broken(action)?)));
    broken.map(|(rule, why)| Violation { rule, why }).collect()
}

/// Rules that are violated by trying, whether or not anything else stops it. The others are about what would be done:
/// where that is denied anyway, they have held.
#[must_use]
pub const fn is_violated_by_trying(rule: Rule) -> bool {
    matches!(rule, Rule::CreatorPrimacy | Rule::AuditImmutable)
}

fn goes_by(action: &Action<'_>, name: &str) -> bool {
    action.names.contains(&name)
}

/// Rule 0. What nobody may at all is rule 3's.
fn creator_primacy(action: &Action<'_>) -> Option<Why> {
    let writes_house = action.scope == Scope::House && action.tier > Tier::ReadOnly;
    let named = CHANGES_THE_HOUSE.iter().any(|name| goes_by(action, name));
    let changes = action.tier == Tier::Admin || writes_house || named;
    let theirs = action.hand == Hand::Owner || goes_by(action, CLEARS_THE_RECORD);
    (changes && !theirs).then_some(Why::NotTheOwnersHand)
}

/// Rule 1.
fn loopback_only(action: &Action<'_>) -> Option<Why> {
    action.listens.iter().find(|address| !is_loopback(**address)).map(|address| Why::NotLoopback(*address))
}

/// Rule 2. What stays here may be answered by a grant for its place; of anything else somebody has to name the value.
fn content_is_not_command(action: &Action<'_>) -> Option<Why> {
    let decides = action.tier > Tier::ReadOnly || action.scope == Scope::Leaves;
    let contained = action.scope == Scope::Contained && action.tier <= Tier::WriteSafe;
    let enough = if contained { Answered::Grant } else { Answered::PinnedGrant };
    let sink = action.unexplained.filter(|_| decides && action.hand != Hand::Owner)?;
    (action.answered < enough).then(|| Why::OnlyContentMeantIt { sink: sink.to_owned() })
}

/// Rule 3. That rows cannot be changed is the ledger's matter; here nobody gets to ask for it.
fn audit_immutable(action: &Action<'_>) -> Option<Why> {
    goes_by(action, CLEARS_THE_RECORD).then_some(Why::ClearsTheRecord)
}

/// Rule 5.
fn trust_required(action: &Action<'_>) -> Option<Why> {
    let Behind { principal, trust, source } = action.behind;
    let (Some(principal), Some(trust)) = (principal, trust) else { return Some(Why::NobodyBehindIt) };
    let vouched = match source {
        Source::Owner => principal.is_owner(),
        Source::Principal { entity, trust: given } => *entity == principal.entity() && trust <= *given,
        Source::System => true,
        // What began with content has nobody behind it but the content.
        Source::Tool { .. } | Source::Model => false,
    };
    // Nobody can have raised the trust of somebody whom nobody knows.
    let raised = *principal == Principal::Unknown && trust > Trust::Untrusted;
    (!vouched || raised).then_some(Why::VouchedForByTheMessage)
}

#[cfg(test)]
mod tests;
