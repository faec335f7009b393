//! What holds for every set of policies and every case.

use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::Config;

use super::super::permissions::Permissions;
use super::super::policy::{Matching, Policy};
use super::super::set::PolicySet;
use super::world::{self, TOOLS};
use crate::acl::{Access, Case, DataLevel, Effect};

const CREDENTIALS: [&str; 3] = ["g", "h", "nobody-names-it"];

/// How much an effect lets through.
const fn rank(effect: Effect) -> u8 {
    match effect {
        Effect::Deny => 0,
        Effect::Ask => 1,
        Effect::Allow => 2,
    }
}

fn within(less: &Permissions, more: &Permissions) -> bool {
    TOOLS.iter().all(|tool| !less.may(tool).is_yes() || more.may(tool).is_yes())
        && CREDENTIALS.iter().all(|name| !less.credentials.has(name) || more.credentials.has(name))
        && less.data <= more.data
}

fn no_more(less: &Access, more: &Access) -> bool {
    rank(less.effect) <= rank(more.effect) && within(&less.permissions, &more.permissions)
}

fn says(set: &PolicySet, case: &Case, effect: Effect) -> bool {
    set.iter().any(|policy| policy.matches(case) && policy.effect == Some(effect))
}

fn everywhere(policy: Policy) -> Policy {
    Policy { matching: Matching::default(), enabled: true, ..policy }
}

proptest! {
    #![proptest_config(Config { cases: 600, failure_persistence: None, ..Config::default() })]

    #[test]
    fn deny_by_default_and_deny_beats_ask_beats_allow(policies in world::policies(), case in world::case()) {
        let set = world::set(&policies);
        let access = set.decide(&case);
        let keyless = matches!(access.why, crate::acl::Why::NoSession { .. });
        let expected = if says(&set, &case, Effect::Deny) {
            Effect::Deny
        } else if says(&set, &case, Effect::Ask) {
            Effect::Ask
        } else if says(&set, &case, Effect::Allow) && !keyless {
            Effect::Allow
        } else {
            Effect::Deny
        };
        prop_assert_eq!(access.effect, expected);
        if access.effect != Effect::Allow {
            prop_assert_eq!(access.permissions, Permissions::none());
        }
    }

    #[test]
    fn what_is_let_through_somebody_allows_nobody_denies_and_every_ceiling_allows(
        policies in world::policies(), case in world::case(),
    ) {
        let set = world::set(&policies);
        let access = set.decide(&case);
        let matched: Vec<_> = set.iter().filter(|policy| policy.matches(&case)).collect();
        for tool in TOOLS.iter().filter(|tool| access.permissions.may(tool).is_yes()) {
            let fits = |globs: &[String]| globs.iter().any(|glob| domain::glob::matches(glob, tool));
            prop_assert!(matched.iter().any(|policy| fits(&policy.permissions.tools.allow)));
            for policy in &matched {
                let tools = &policy.permissions.tools;
                let denied: Vec<String> = tools.deny.iter().filter(|glob| *glob != "*").cloned().collect();
                prop_assert!(!fits(&denied));
                prop_assert!(!policy.ceiling || fits(&tools.allow));
            }
        }
        for ceiling in matched.iter().filter(|policy| policy.ceiling) {
            prop_assert!(access.permissions.data <= ceiling.permissions.data.unwrap_or(DataLevel::None));
        }
    }

    #[test]
    fn one_more_deny_never_allows_more(
        policies in world::policies(), more in world::policy(), at in any::<prop::sample::Index>(), case in world::case(),
    ) {
        let mut stricter = policies.clone();
        let more = Policy { effect: Some(Effect::Deny), session: None, ..more };
        stricter.insert(at.index(policies.len() + 1), more);
        prop_assert!(no_more(&world::set(&stricter).decide(&case), &world::set(&policies).decide(&case)));
    }

    /// A ceiling without an effect of its own.
    #[test]
    fn one_more_ceiling_never_allows_more(
        policies in world::policies(), more in world::policy(), at in any::<prop::sample::Index>(), case in world::case(),
    ) {
        let mut stricter = policies.clone();
        let more = Policy { effect: None, ceiling: true, session: None, pairing: None, ..more };
        stricter.insert(at.index(policies.len() + 1), everywhere(more));
        prop_assert!(no_more(&world::set(&stricter).decide(&case), &world::set(&policies).decide(&case)));
    }

    #[test]
    fn a_policy_made_a_ceiling_never_allows_more(
        policies in world::policies(), at in any::<prop::sample::Index>(), case in world::case(),
    ) {
        let mut stricter = policies.clone();
        if !stricter.is_empty() {
            let at = at.index(stricter.len());
            stricter[at].ceiling = true;
        }
        prop_assert!(no_more(&world::set(&stricter).decide(&case), &world::set(&policies).decide(&case)));
    }

    #[test]
    fn one_more_glob_under_deny_never_allows_more(
        policies in world::policies(), at in any::<prop::sample::Index>(), tool in prop::sample::select(TOOLS.to_vec()),
        case in world::case(),
    ) {
        let mut stricter = policies.clone();
        if !stricter.is_empty() {
            let at = at.index(stricter.len());
            stricter[at].permissions.tools.deny.push(tool.to_owned());
        }
        prop_assert!(no_more(&world::set(&stricter).decide(&case), &world::set(&policies).decide(&case)));
    }

    /// One that takes nothing away itself: no ceiling, no deny, no credentials or data to share, no key that fails.
    #[test]
    fn an_allow_that_is_switched_off_never_allows_more(
        policies in world::policies(), more in world::policy(), at in any::<prop::sample::Index>(), case in world::case(),
    ) {
        let mut plain = Policy { effect: Some(Effect::Allow), ceiling: false, session: None, pairing: None, ..more };
        plain.permissions.tools.deny.clear();
        (plain.permissions.credentials, plain.permissions.data) = (None, None);
        let mut with = policies.clone();
        with.insert(at.index(policies.len() + 1), plain.clone());
        let off = with.iter().map(|policy| {
            if *policy == plain { Policy { enabled: false, ..policy.clone() } } else { policy.clone() }
        });
        let off: Vec<_> = off.collect();
        // A session that cannot be made is a denial of its own, and depends on nothing that was switched off here.
        prop_assert!(no_more(&world::set(&off).decide(&case), &world::set(&with).decide(&case)));
    }

    #[test]
    fn a_worker_never_exceeds_its_manager_however_deep(
        sets in prop::collection::vec(world::policies(), 3), case in world::case(),
    ) {
        let permissions: Vec<Permissions> =
            sets.iter().map(|policies| world::set(policies).decide_approved(&case).permissions).collect();
        let [a, b, c] = permissions.as_slice() else { panic!("three") };
        prop_assert_eq!(a.within(b).within(c), a.within(&b.within(c)));
        prop_assert!(within(&a.within(a), a) && within(a, &a.within(a)));
        let granted = a.within(b).and_granted("g-1", vec!["*".into()]);
        prop_assert!(TOOLS.iter().all(|tool| !granted.may(tool).is_yes() || b.may(tool).is_yes()));
        prop_assert_eq!(a.within(b).within(b), a.within(b));
        // The same principal later: never further than then, and what is granted to them is granted to both.
        let narrowed = a.no_further_than(b);
        prop_assert!(within(&narrowed, a) && within(&narrowed, b));
        prop_assert_eq!(narrowed.no_further_than(b), narrowed.clone());
        for tool in TOOLS {
            let both = a.may(tool).is_yes() && b.may(tool).is_yes();
            prop_assert_eq!(narrowed.may(tool).is_yes(), both);
            let all = || vec!["*".to_owned()];
            let granted = |of: &Permissions| of.clone().and_granted("g-1", all()).may(tool).is_yes();
            prop_assert_eq!(granted(&narrowed), granted(a) && granted(b));
        }
        let all = a.within(b).within(c);
        for outer in [a, b, c] {
            prop_assert!(within(&all, outer));
        }
        for tool in TOOLS {
            let each = [a, b, c].iter().all(|one| one.may(tool).is_yes());
            prop_assert_eq!(all.may(tool).is_yes(), each);
        }
    }

    #[test]
    fn the_owners_yes_lifts_nothing_but_the_question(policies in world::policies(), case in world::case()) {
        let set = world::set(&policies);
        let (before, after) = (set.decide(&case), set.decide_approved(&case));
        match before.effect {
            Effect::Ask => prop_assert!(after.effect != Effect::Ask),
            _ => prop_assert_eq!(before, after),
        }
    }

    #[test]
    fn what_was_kept_decides_the_same(policies in world::policies(), case in world::case()) {
        let set = world::set(&policies);
        let kept: PolicySet = serde_json::from_str(&serde_json::to_string(&set).unwrap()).unwrap();
        prop_assert_eq!(&kept, &set);
        let access = set.decide(&case);
        prop_assert_eq!(kept.decide(&case), access.clone());
        let read: Access = serde_json::from_str(&serde_json::to_string(&access).unwrap()).unwrap();
        prop_assert_eq!(read, access);
        let read: Case = serde_json::from_str(&serde_json::to_string(&case).unwrap()).unwrap();
        prop_assert_eq!(read, case);
    }
}
