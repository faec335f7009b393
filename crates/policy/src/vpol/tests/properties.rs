//! What holds of every policy, chain and call.

use domain::Tier;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::Index;
use proptest::test_runner::Config;

use super::super::{Answer, Calls, Chain, Listed, Mode, Requirement, Rules, Vpol, VpolSet, Whose};
use super::world::{call, calls, chain, rules, set, vpol};
use crate::acl::case::{Mark, Who};
use crate::acl::policy::Whom;

/// The pick, told once more and with nothing of it used: of all that fit the best, whatever the order they stand in.
fn plain_pick(set: &VpolSet, chain: &Chain) -> String {
    let mut best: Option<&Listed> = None;
    for listed in set.iter() {
        if plain_fits(&listed.applies_to, chain) && best.is_none_or(|best| listed.priority > best.priority) {
            best = Some(listed);
        }
    }
    best.map_or("strictest".to_owned(), |listed| listed.vpol.name.to_string())
}

fn plain_fits(whose: &Whose, chain: &Chain) -> bool {
    let glob = |glob: &String| match glob.strip_suffix('*') {
        Some(beginning) => chain.agent.starts_with(beginning),
        None => *glob == chain.agent,
    };
    if !whose.principals.is_empty() && !whose.principals.iter().any(|whom| plain_is(whom, &chain.principal)) {
        return false;
    }
    if !whose.agents.is_empty() && !whose.agents.iter().any(glob) {
        return false;
    }
    if !whose.buckets.is_empty() && !chain.bucket.iter().any(|bucket| whose.buckets.contains(bucket)) {
        return false;
    }
    whose.attended.is_none() || whose.attended == Some(chain.attended)
}

fn plain_is(whom: &Whom, who: &Who) -> bool {
    let agent = match (&whom.agent, &who.agent) {
        (None, _) => true,
        (Some(Mark::Is(true)), Some(Mark::Named(_))) => true,
        (asked, had) => asked == had,
    };
    (whom.is_owner.is_none() || whom.is_owner == who.is_owner)
        && (whom.unknown.is_none() || whom.unknown == who.unknown)
        && (whom.relationship.is_none() || whom.relationship == who.relationship)
        && whom.tags.iter().all(|tag| who.tags.iter().any(|had| had == tag))
        && agent
}

/// The same policy, in one respect stricter.
fn stricter(vpol: &Vpol, which: Index, more: &Rules) -> Vpol {
    let mut strict = vpol.clone();
    match which.index(7) {
        0 => strict.mode = Mode::Strict,
        1 => strict.mode = strict.mode.max(Mode::Intercept),
        2 => strict.up_to = Tier::ReadOnly,
        3 => strict.governs = Calls::ALL,
        4 => strict.rules.requires.extend(more.requires.clone()),
        5 => {
            if let Some(rate) = &mut strict.rules.rate {
                rate.calls = 1;
            } else {
                strict.rules.rate = more.rate;
            }
        }
        _ => {
            if strict.rules.hours.is_none() {
                strict.rules.hours.clone_from(&more.hours);
            }
        }
    }
    strict
}

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_pick_is_what_a_plain_reading_of_the_rule_gives(set in set(), chain in chain()) {
        let picked = set.pick(&chain);
        prop_assert_eq!(picked.vpol.name.as_ref(), plain_pick(&set, &chain));
        let kept: VpolSet = serde_json::from_str(&serde_json::to_string(&set).unwrap()).unwrap();
        prop_assert_eq!(kept.pick(&chain), picked);
    }

    #[test]
    fn nobody_is_left_without_a_policy(chain in chain(), call in call()) {
        let picked = VpolSet::default().pick(&chain);
        prop_assert_eq!(&picked.vpol, &Vpol::strictest());
        prop_assert!(call.hands_back || picked.vpol.judge(&call.asked()).answer() >= Answer::Ask);
    }

    #[test]
    fn a_stricter_policy_never_allows_more(
        vpol in vpol(), which in any::<Index>(), more in rules(), call in call(),
    ) {
        let strict = stricter(&vpol, which, &more);
        let (then, now) = (vpol.judge(&call.asked()), strict.judge(&call.asked()));
        prop_assert!(now.answer() >= then.answer(), "{then:?} {now:?} {strict:?}");
    }

    #[test]
    fn more_started_or_less_known_never_allows_more(vpol in vpol(), call in call(), which in any::<Index>()) {
        let mut worse = call.clone();
        match which.index(5) {
            0 => worse.circumstances.started += 1,
            1 => worse.circumstances.attended = false,
            2 => worse.circumstances.reversible = false,
            3 => worse.circumstances.local = None,
            _ => (worse.roles, worse.is_owner) = (Vec::new(), false),
        }
        prop_assert!(vpol.judge(&worse.asked()).answer() >= vpol.judge(&call.asked()).answer());
    }

    #[test]
    fn outside_hours_over_the_rate_or_without_what_is_required_nothing_governed_runs(
        vpol in vpol(), call in call(),
    ) {
        let (asked, at) = (call.asked(), call.circumstances);
        let answer = vpol.judge(&asked).answer();
        if call.hands_back || !vpol.governs.cover(&asked) {
            return Ok(());
        }
        let closed = vpol.rules.hours.as_ref().is_some_and(|hours| {
            at.local.is_none_or(|now| !hours.holds(now.minute_of_week()))
        });
        let too_often = vpol.rules.rate.is_some_and(|rate| at.started >= rate.calls);
        let alone = vpol.rules.requires.contains(&Requirement::Attended) && !at.attended;
        prop_assert_eq!(answer == Answer::Deny || !(closed || too_often || alone), true);
        if vpol.rules.requires.contains(&Requirement::Approval) {
            prop_assert!(answer >= Answer::Ask);
        }
    }

    /// What it does not govern it does not judge, and what it does it judges alike, whatever else it governs.
    #[test]
    fn the_scope_decides_whether_and_never_how(vpol in vpol(), other in calls(), call in call()) {
        let (asked, moved) = (call.asked(), Vpol { governs: other, ..vpol.clone() });
        if vpol.governs.cover(&asked) == moved.governs.cover(&asked) {
            prop_assert_eq!(vpol.judge(&asked), moved.judge(&asked));
        }
    }

    #[test]
    fn when_it_opens_is_the_next_minute_at_which_it_holds(rules in rules(), call in call()) {
        let (Some(hours), Some(now)) = (rules.hours, call.circumstances.local) else { return Ok(()) };
        if hours.holds(now.minute_of_week()) {
            return Ok(());
        }
        const WEEK: u16 = 7 * 24 * 60;
        let next = (1..WEEK).map(|later| (now.minute_of_week() + later) % WEEK).find(|minute| hours.holds(*minute));
        prop_assert_eq!(hours.opens(now).map(|opens| opens.minute_of_week()), next);
    }
}
