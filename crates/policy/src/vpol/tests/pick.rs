//! Which policy a chain comes under, and why.

use super::super::{Chain, Vpol, shipped};
use super::set;
use crate::acl::case::Who;

fn chain(principal: Who, attended: bool) -> Chain {
    Chain { principal, agent: "main".into(), bucket: None, attended }
}

#[test]
fn what_ships_is_for_everybody_about_whom_something_is_known() {
    let set = shipped::defaults().unwrap().set;
    let table = [
        (chain(Who::owner("o"), true), "default-owner", "`default-owner` applies, with priority 20"),
        (
            chain(Who::owner("o"), false),
            "unattended",
            "`unattended` applies, with priority 30, and comes before `default-owner`",
        ),
        (chain(Who::known("p"), true), "default-others", "`default-others` applies, with priority 10"),
        (chain(Who::unknown(), true), "default-others", "`default-others` applies, with priority 10"),
        (
            chain(Who::system(), false),
            "unattended",
            "`unattended` applies, with priority 30, and comes before `default-others`",
        ),
        (
            chain(Who::default(), true),
            "strictest",
            "no validation policy applies, so `strictest` counts: the owner is asked about every call",
        ),
    ];
    for (chain, name, reason) in table {
        let picked = set.pick(&chain);
        assert_eq!((picked.vpol.name.as_ref(), picked.why.to_string().as_str()), (name, reason), "{chain:?}");
    }
}

#[test]
fn every_field_that_is_given_has_to_fit() {
    let table = [
        ("principals: { relationship: partner }", true),
        ("principals: [{ relationship: friend }, { id: lea }]", true),
        ("principals: { relationship: partner, tags: [vip] }", false),
        ("principals: { webhook: false }", true),
        ("agents: main", true),
        ("agents: [\"re*\", \"ma*\"]", true),
        ("agents: \"re*\"", false),
        ("buckets: [billing, roster]", true),
        ("buckets: roster", false),
        ("attended: true", true),
        ("attended: false", false),
        ("agents: main, attended: false", false),
        // Which calls it governs decides nothing about which chains come under it.
        ("tools: shell, tiers: admin, data_classes: pii", true),
    ];
    let who = Who { relationship: Some("partner".into()), ..Who::known("lea") };
    let chain = Chain { bucket: Some("billing".into()), ..chain(who, true) };
    for (applies_to, fits) in table {
        let set =
            set(&format!("- {{ name: a, applies_to: {{ {applies_to} }}, mode: monitor, priority: 1 }}"));
        assert_eq!(set.pick(&chain).vpol.name == "a", fits, "{applies_to}");
    }
    let bucketless = Chain { bucket: None, ..chain };
    let set = set("- { name: a, applies_to: { buckets: billing }, mode: monitor, priority: 1 }");
    assert_eq!(set.pick(&bucketless).vpol, Vpol::strictest());
}

#[test]
fn the_highest_priority_counts_and_of_equal_ones_the_first() {
    let set = set("- { name: low, applies_to: {}, mode: monitor, priority: 1 }\n\
         - { name: first, applies_to: {}, mode: strict, priority: 9 }\n\
         - { name: second, applies_to: {}, mode: monitor, priority: 9 }\n");
    let picked = set.pick(&chain(Who::default(), false));
    assert_eq!(picked.vpol.name, "first");
    assert_eq!(picked.why.to_string(), "`first` applies, with priority 9, and comes before `second`, `low`");
}
