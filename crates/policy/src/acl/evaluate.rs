//! The rule of access control, in one pass: collect what matches, the strictest effect counts, everything else is gathered
//! from the same matches.

use super::access::{Access, Placed, Why};
use super::case::{Case, Mark, Scene, Who};
use super::key::NoKey;
use super::permissions::{Bounds, Permissions, Said};
use super::policy::{
    ALL, Condition, Credentials, DataLevel, Effect, Modifiers, Pairing, Policy, Session, Whom,
};
use super::set::PolicySet;

/// Whether the owner has been asked about this case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    NotAsked,
    SaidYes,
}

impl PolicySet {
    /// INVARIANT (deny-by-default): what no policy allows is denied, a deny beats an ask, and an ask beats an allow.
    #[must_use]
    pub fn decide(&self, case: &Case) -> Access {
        self.weigh(case, Owner::NotAsked)
    }

    /// The same after the owner said yes to what was asked: a policy that asks counts as one that allows. A deny stays one.
    #[must_use]
    pub fn decide_approved(&self, case: &Case) -> Access {
        self.weigh(case, Owner::SaidYes)
    }

    fn weigh(&self, case: &Case, owner: Owner) -> Access {
        let matched: Vec<&Policy> = self.iter().filter(|policy| policy.matches(case)).collect();
        let heard = Heard { matched: &matched, owner };
        let (mut effect, mut why) = heard.effect();
        let mut session = None;
        if effect != Effect::Deny {
            match heard.session(case) {
                Ok(placed) => session = placed,
                // What waits for the owner has no session yet; whether it can have one is seen when it is approved.
                Err(_) if effect == Effect::Ask => {}
                Err(reason) => (effect, why) = (Effect::Deny, reason),
            }
        }
        let allowed = effect == Effect::Allow;
        Access {
            effect,
            session,
            permissions: if allowed { heard.permissions() } else { Permissions::none() },
            modifiers: matched.iter().fold(Modifiers::default(), |found, policy| found.or(policy.modifiers)),
            pairing: heard.pairing(effect),
            matched: matched.iter().map(|policy| policy.name.clone()).collect(),
            why,
        }
    }
}

/// The policies that matched, the highest priority first.
struct Heard<'a> {
    matched: &'a [&'a Policy],
    owner: Owner,
}

impl<'a> Heard<'a> {
    fn says(&self, policy: &Policy) -> Option<Effect> {
        match (policy.effect, self.owner) {
            (Some(Effect::Ask), Owner::SaidYes) => Some(Effect::Allow),
            (effect, _) => effect,
        }
    }

    fn saying(&self, effect: Effect) -> impl Iterator<Item = &'a Policy> {
        self.matched.iter().copied().filter(move |policy| self.says(policy) == Some(effect))
    }

    fn ceilings(&self) -> impl Iterator<Item = &'a Policy> {
        self.matched.iter().copied().filter(|policy| policy.ceiling)
    }

    fn effect(&self) -> (Effect, Why) {
        let first = |effect| self.saying(effect).next().map(|policy| policy.name.clone());
        if let Some(by) = first(Effect::Deny) {
            (Effect::Deny, Why::Denied { by })
        } else if let Some(by) = first(Effect::Ask) {
            (Effect::Ask, Why::Asked { by })
        } else if let Some(by) = first(Effect::Allow) {
            (Effect::Allow, Why::Allowed { by })
        } else if let Some(ceiling) = self.matched.first() {
            (Effect::Deny, Why::OnlyCeilings { by: ceiling.name.clone() })
        } else {
            (Effect::Deny, Why::NothingMatches)
        }
    }

    /// That of the highest-priority allowing policy which has one. A key that cannot be made is a reason to deny: without
    /// it the event would land in a session that nobody chose.
    fn session(&self, case: &Case) -> Result<Option<Placed>, Why> {
        let own = |policy: &'a Policy| Some((policy, policy.session.as_ref()?));
        let Some((policy, Session { persona, key })) = self.saying(Effect::Allow).find_map(own) else {
            return Ok(None);
        };
        let no_key = |why: NoKey| Why::NoSession { by: policy.name.clone(), why };
        let key = key.as_ref().map(|key| key.render(case)).transpose().map_err(no_key)?;
        Ok(Some(Placed { persona: persona.clone(), key }))
    }

    fn permissions(&self) -> Permissions {
        let own = Bounds {
            allow: self.saying(Effect::Allow).filter_map(|policy| said(policy, allows(policy))).collect(),
            deny: self.matched.iter().filter_map(|policy| said(policy, denies(policy))).collect(),
            ceilings: self
                .matched
                .iter()
                .filter(|policy| policy.is_closed())
                .map(|policy| cap(policy))
                .collect(),
        };
        Permissions { own, within: Vec::new(), credentials: self.credentials(), data: self.data() }
    }

    /// Those that all who name any have in common, and every ceiling names. A ceiling that names none lets none through:
    /// what it does not name is beyond it.
    fn credentials(&self) -> Credentials {
        let named = self.granting().filter_map(|policy| policy.permissions.credentials.as_ref());
        let common = named.cloned().reduce(|common, more| common.and(&more)).unwrap_or(Credentials::NONE);
        self.ceilings().fold(common, |left, ceiling| {
            left.and(ceiling.permissions.credentials.as_ref().unwrap_or(&Credentials::NONE))
        })
    }

    /// The lowest that anybody states, and no more than any ceiling states.
    fn data(&self) -> DataLevel {
        let lowest = self.granting().filter_map(|policy| policy.permissions.data).min().unwrap_or_default();
        self.ceilings().fold(lowest, |left, ceiling| left.min(ceiling.permissions.data.unwrap_or_default()))
    }

    /// All but ceilings without an effect, which take away and never give.
    fn granting(&self) -> impl Iterator<Item = &'a Policy> {
        self.matched.iter().copied().filter(|policy| policy.effect.is_some())
    }

    /// Only if every policy that denies would be answered by it: knowing who somebody is does not lift any other denial.
    fn pairing(&self, effect: Effect) -> Option<Pairing> {
        let mut denying = self.saying(Effect::Deny).map(|policy| policy.pairing);
        let first = denying.next().flatten().filter(|_| effect == Effect::Deny)?;
        denying.all(|pairing| pairing.is_some()).then_some(first)
    }
}

fn said<'a>(policy: &Policy, tools: impl Iterator<Item = &'a String>) -> Option<Said> {
    let tools: Vec<String> = tools.cloned().collect();
    (!tools.is_empty()).then(|| Said { policy: policy.name.clone(), tools })
}

fn allows(policy: &Policy) -> impl Iterator<Item = &String> {
    policy.permissions.tools.allow.iter()
}

fn denies(policy: &Policy) -> impl Iterator<Item = &String> {
    policy.permissions.tools.deny.iter().filter(|denied| *denied != ALL)
}

/// A ceiling without any tool stays one.
fn cap(policy: &Policy) -> Said {
    Said { policy: policy.name.clone(), tools: allows(policy).cloned().collect() }
}

impl Policy {
    #[must_use]
    pub fn matches(&self, case: &Case) -> bool {
        let anywhere = self.matching.conditions.is_empty();
        self.enabled
            && self.matching.principal.is(&case.principal)
            && (anywhere || self.matching.conditions.iter().any(|condition| condition.holds(case)))
    }

    /// Whether nothing beyond its own `allow` gets through.
    fn is_closed(&self) -> bool {
        self.ceiling || self.permissions.tools.deny.iter().any(|denied| denied == ALL)
    }
}

impl Whom {
    fn is(&self, who: &Who) -> bool {
        let mark = |asked: &Option<Mark>, had: &Option<Mark>| match (asked, had) {
            (None, _) => true,
            (Some(asked), Some(had)) => asked.covers(had),
            (Some(_), None) => false,
        };
        asks(self.is_owner, who.is_owner)
            && asks(self.relationship.as_deref(), who.relationship.as_deref())
            && asks(self.id.as_deref(), who.id.as_deref())
            && asks(self.unknown, who.unknown)
            && asks(self.system, who.system)
            && mark(&self.webhook, &who.webhook)
            && mark(&self.agent, &who.agent)
            && self.tags.iter().all(|tag| who.tags.contains(tag))
    }
}

impl Condition {
    fn holds(&self, case: &Case) -> bool {
        let Scene { platform, container_kind, account, guild, hook_id, event_type, .. } = &case.event;
        let in_time = match (&self.time, case.now) {
            (None, _) => true,
            (Some(time), Some(now)) => time.holds(now.minute_of_week()),
            (Some(_), None) => false,
        };
        asks(self.platform.as_deref(), platform.as_deref())
            && asks(self.container_kind, *container_kind)
            && asks(self.account.as_deref(), account.as_deref())
            && asks(self.guild.as_deref(), guild.as_deref())
            && asks(self.hook_id.as_deref(), hook_id.as_deref())
            && asks(self.event_type.as_deref(), event_type.as_deref())
            && in_time
    }
}

/// What is not asked for fits; what is asked for and not known does not.
fn asks<T: PartialEq>(asked: Option<T>, had: Option<T>) -> bool {
    asked.is_none() || asked == had
}
