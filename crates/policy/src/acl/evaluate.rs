//! The rule of access control, in one pass: collect what matches, the strictest effect counts, everything else is gathered
//! from the same matches.

use super::access::{Access, Placed, Why};
use super::case::{Case, Mark, Scene, Who};
use super::credentials::Credentials;
use super::key::NoKey;
use super::permissions::{Bounds, Permissions};
use super::policy::{Condition, DataLevel, Effect, Modifiers, Pairing, Policy, Rights, Session, Whom};
use super::set::{PolicySet, Rule};

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
        let matched: Vec<&Rule> = self.rules.iter().filter(|rule| rule.policy.matches(case)).collect();
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
            modifiers: matched
                .iter()
                .fold(Modifiers::default(), |found, rule| found.or(rule.policy.modifiers)),
            pairing: heard.pairing(effect),
            matched: matched.iter().map(|rule| rule.name.clone()).collect(),
            why,
        }
    }
}

/// The policies that matched, the highest priority first.
struct Heard<'a> {
    matched: &'a [&'a Rule],
    owner: Owner,
}

impl<'a> Heard<'a> {
    fn says(&self, policy: &Policy) -> Option<Effect> {
        match (policy.effect, self.owner) {
            (Some(Effect::Ask), Owner::SaidYes) => Some(Effect::Allow),
            (effect, _) => effect,
        }
    }

    fn saying(&self, effect: Effect) -> impl Iterator<Item = &'a Rule> {
        self.matched.iter().copied().filter(move |rule| self.says(&rule.policy) == Some(effect))
    }

    fn ceilings(&self) -> impl Iterator<Item = &'a Rights> {
        self.matched.iter().filter(|rule| rule.policy.ceiling).map(|rule| &rule.policy.permissions)
    }

    fn effect(&self) -> (Effect, Why) {
        let first = |effect| self.saying(effect).next().map(|rule| rule.policy.name.clone());
        if let Some(by) = first(Effect::Deny) {
            (Effect::Deny, Why::Denied { by })
        } else if let Some(by) = first(Effect::Ask) {
            (Effect::Ask, Why::Asked { by })
        } else if let Some(by) = first(Effect::Allow) {
            (Effect::Allow, Why::Allowed { by })
        } else if let Some(ceiling) = self.matched.first() {
            (Effect::Deny, Why::OnlyCeilings { by: ceiling.policy.name.clone() })
        } else {
            (Effect::Deny, Why::NothingMatches)
        }
    }

    /// That of the highest-priority allowing policy which has one. A key that cannot be made is a reason to deny: without
    /// it the event would land in a session that nobody chose.
    fn session(&self, case: &Case) -> Result<Option<Placed>, Why> {
        let own = |rule: &'a Rule| Some((&rule.policy, rule.policy.session.as_ref()?));
        let Some((policy, Session { persona, key })) = self.saying(Effect::Allow).find_map(own) else {
            return Ok(None);
        };
        let no_key = |why: NoKey| Why::NoSession { by: policy.name.clone(), why };
        let key = key.as_ref().map(|key| key.render(case)).transpose().map_err(no_key)?;
        Ok(Some(Placed { persona: persona.clone(), key }))
    }

    fn permissions(&self) -> Permissions {
        let own = Bounds {
            before: Vec::new(),
            allow: self.saying(Effect::Allow).filter_map(|rule| rule.allow.clone()).collect(),
            deny: self.matched.iter().filter_map(|rule| rule.deny.clone()).collect(),
            ceilings: self.matched.iter().filter_map(|rule| rule.cap.clone()).collect(),
        };
        Permissions { own, within: Vec::new(), credentials: self.credentials(), data: self.data() }
    }

    /// Those that all who name any have in common, and every ceiling names. A ceiling that names none lets none through:
    /// what it does not name is beyond it.
    fn credentials(&self) -> Credentials {
        let named = || self.granting().filter_map(|rights| rights.credentials.as_ref());
        let capping = || self.ceilings().map(|rights| rights.credentials.as_ref());
        if named().next().is_none() {
            return Credentials::NONE;
        }
        named().map(Some).chain(capping()).fold(Credentials::All, |left, list| match list {
            Some(list) => left.and(list),
            None => Credentials::NONE,
        })
    }

    /// The lowest that anybody states, and no more than any ceiling states.
    fn data(&self) -> DataLevel {
        let lowest = self.granting().filter_map(|rights| rights.data).min().unwrap_or_default();
        self.ceilings().fold(lowest, |left, rights| left.min(rights.data.unwrap_or_default()))
    }

    /// All but ceilings without an effect, which take away and never give.
    fn granting(&self) -> impl Iterator<Item = &'a Rights> {
        self.matched.iter().filter(|rule| rule.policy.effect.is_some()).map(|rule| &rule.policy.permissions)
    }

    /// Only if every policy that denies would be answered by it: knowing who somebody is does not lift any other denial.
    fn pairing(&self, effect: Effect) -> Option<Pairing> {
        let mut denying = self.saying(Effect::Deny).map(|rule| rule.policy.pairing);
        let first = denying.next().flatten().filter(|_| effect == Effect::Deny)?;
        denying.all(|pairing| pairing.is_some()).then_some(first)
    }
}

impl Policy {
    #[must_use]
    pub fn matches(&self, case: &Case) -> bool {
        let anywhere = self.matching.conditions.is_empty();
        self.enabled
            && self.matching.principal.is(&case.principal)
            && (anywhere || self.matching.conditions.iter().any(|condition| condition.holds(case)))
    }
}

impl Whom {
    pub(crate) fn is(&self, who: &Who) -> bool {
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
