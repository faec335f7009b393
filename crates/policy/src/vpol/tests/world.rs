//! Policies, chains and calls by chance, few enough of each that they often meet.

use std::collections::BTreeMap;

use domain::{DataClass, Tier};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use proptest::sample::{select, subsequence};

use super::super::{
    Calls, Chain, Circumstances, Listed, Mode, Per, Rate, Requirement, Rules, Vpol, VpolSet, Whose,
};
use crate::acl::case::{Mark, Moment, Who};
use crate::acl::policy::Whom;
use crate::acl::when::When;

const TOOLS: [&str; 5] = ["shell", "write_file", "write_*", "*", "read_file"];

fn texts(of: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    subsequence(of, 0..=2).prop_map(|texts| texts.into_iter().map(str::to_owned).collect())
}

fn whom() -> impl Strategy<Value = Whom> {
    let relationship = prop::option::of(select(vec!["partner".to_owned(), "friend".to_owned()]));
    let agent =
        prop::option::of(prop_oneof![any::<bool>().prop_map(Mark::Is), Just(Mark::Named("re".into()))]);
    let flag = || prop::option::of(any::<bool>());
    (flag(), flag(), relationship, texts(&["vip", "role:x"]), agent).prop_map(
        |(is_owner, unknown, relationship, tags, agent)| Whom {
            is_owner,
            unknown,
            relationship,
            tags,
            agent,
            ..Whom::default()
        },
    )
}

fn whose() -> impl Strategy<Value = Whose> {
    let principals = prop::collection::vec(whom(), 0..3);
    (principals, texts(&["main", "re*"]), texts(&["billing", "roster"]), prop::option::of(any::<bool>()))
        .prop_map(|(principals, agents, buckets, attended)| Whose { principals, agents, buckets, attended })
}

pub(super) fn calls() -> impl Strategy<Value = Calls> {
    (texts(&TOOLS), subsequence(Tier::ALL.to_vec(), 0..=3), subsequence(DataClass::ALL.to_vec(), 0..=2))
        .prop_map(|(tools, tiers, data_classes)| Calls { tools, tiers, data_classes })
}

fn hours() -> impl Strategy<Value = When> {
    let written = vec!["weekends", "mon-wed", "09:00-17:00", "fri 23:00-08:00"];
    subsequence(written, 1..=2)
        .prop_map(|written| When::new(written.into_iter().map(str::to_owned).collect()).expect("times"))
}

fn requires() -> impl Strategy<Value = Vec<Requirement>> {
    let all = vec![
        Requirement::Approval,
        Requirement::Attended,
        Requirement::Reversible,
        Requirement::Role("x".into()),
    ];
    subsequence(all, 0..=4)
}

pub(super) fn rules() -> impl Strategy<Value = Rules> {
    let rate = (1..5_u32, select(Per::ALL.to_vec())).prop_map(|(calls, per)| Rate { calls, per });
    (prop::option::of(rate), prop::option::of(hours()), requires())
        .prop_map(|(rate, hours, requires)| Rules { rate, budget: BTreeMap::new(), hours, requires })
}

pub(super) fn vpol() -> impl Strategy<Value = Vpol> {
    (select(Mode::ALL.to_vec()), select(Tier::ALL.to_vec()), calls(), rules())
        .prop_map(|(mode, up_to, governs, rules)| Vpol { name: "p".into(), mode, up_to, governs, rules })
}

pub(super) fn set() -> impl Strategy<Value = VpolSet> {
    prop::collection::vec((vpol(), whose(), 0..4_u8), 0..6).prop_map(|policies| {
        let listed = policies.into_iter().enumerate().map(|(at, (vpol, applies_to, priority))| Listed {
            vpol: Vpol { name: format!("p{at}").into(), ..vpol },
            applies_to,
            priority,
        });
        VpolSet::new(listed.collect()).expect("a set")
    })
}

fn who() -> impl Strategy<Value = Who> {
    let relationship = prop::option::of(select(vec!["partner".to_owned(), "friend".to_owned()]));
    let agent =
        prop::option::of(prop_oneof![any::<bool>().prop_map(Mark::Is), Just(Mark::Named("re".into()))]);
    let flag = || prop::option::of(any::<bool>());
    (flag(), flag(), relationship, texts(&["vip", "role:x"]), agent).prop_map(
        |(is_owner, unknown, relationship, tags, agent)| Who {
            is_owner,
            unknown,
            relationship,
            tags,
            agent,
            ..Who::default()
        },
    )
}

pub(super) fn chain() -> impl Strategy<Value = Chain> {
    let bucket = prop::option::of(select(vec!["billing".to_owned(), "other".to_owned()]));
    let agent = select(vec!["main".to_owned(), "reggie".to_owned(), "x".to_owned()]);
    (who(), agent, bucket, any::<bool>()).prop_map(|(principal, agent, bucket, attended)| Chain {
        principal,
        agent,
        bucket,
        attended,
    })
}

/// A call that owns what it holds.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) tier: Tier,
    pub(super) data_class: Option<DataClass>,
    pub(super) hands_back: bool,
    pub(super) is_owner: bool,
    pub(super) roles: Vec<String>,
    pub(super) circumstances: Circumstances,
}

impl Call {
    pub(super) fn asked(&self) -> super::super::Asked<'_> {
        super::super::Asked {
            tool: &self.tool,
            tier: self.tier,
            data_class: self.data_class,
            hands_back: self.hands_back,
            is_owner: self.is_owner,
            roles: &self.roles,
            circumstances: self.circumstances,
        }
    }
}

pub(super) fn call() -> impl Strategy<Value = Call> {
    let local =
        prop::option::of((0..7 * 24 * 60_u16).prop_map(|minute| Moment::try_from(minute).expect("a minute")));
    let circumstances =
        (local, 0..6_u32, any::<bool>(), any::<bool>()).prop_map(|(local, started, attended, reversible)| {
            Circumstances { local, started, attended, reversible }
        });
    let tool = select(vec!["shell".to_owned(), "write_file".to_owned(), "calc".to_owned()]);
    let class = prop::option::of(select(DataClass::ALL.to_vec()));
    let rare = prop::bool::weighted(0.1);
    (tool, select(Tier::ALL.to_vec()), class, rare, any::<bool>(), texts(&["x", "y"]), circumstances)
        .prop_map(|(tool, tier, data_class, hands_back, is_owner, roles, circumstances)| Call {
            tool,
            tier,
            data_class,
            hands_back,
            is_owner,
            roles,
            circumstances,
        })
}
