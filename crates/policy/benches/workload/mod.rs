//! The policies and cases that the benchmark times and `examples/decide.rs` counts: the same ones every time.

use std::fmt::Write as _;

use domain::event::ContainerKind;
use policy::acl::load::{Origin, Source, load};
use policy::acl::{Case, Moment, PolicySet, Scene, Who, shipped};

pub(crate) const POLICIES: usize = 100;
pub(crate) const PEOPLE: u64 = 1_000;

/// The shipped ones, and the owner's about single people, relationships, tags, places and times.
pub(crate) fn policies() -> PolicySet {
    let text = text();
    let own = Source { file: "bench.yaml", text: &text, origin: Origin::Own };
    let sources: Vec<Source<'_>> = shipped::FILES.into_iter().chain([own]).collect();
    let set = load(&sources).expect("policies").set;
    assert_eq!(set.iter().count(), POLICIES);
    set
}

pub(crate) fn text() -> String {
    let shipped = shipped::defaults().expect("policies").set.iter().count();
    let mut text = String::new();
    for n in 0..POLICIES - shipped {
        let matching = match n % 5 {
            0 => format!("principal: {{ id: p-{n} }}"),
            1 => format!("principal: {{ relationship: {} }}", relationship(n as u64)),
            2 => format!("principal: {{ tags: [\"group:{}\"] }}", n % 20),
            3 => format!(
                "principal: {{ is_owner: false }}, conditions: [{{ platform: p{}, time: \"22:00-07:00\" }}]",
                n % 7
            ),
            _ => format!("conditions: [{{ platform: p{}, container_kind: dm }}, {{ guild: g{n} }}]", n % 7),
        };
        let tools = "tools: { allow: [calc, web_search, \"calendar_*\", \"lists_*\"], deny: [shell, \"credentials_*\"] }";
        let text = &mut text;
        writeln!(text, "- name: own-{n}").expect("a String takes it");
        writeln!(text, "  match: {{ {matching} }}").expect("a String takes it");
        writeln!(text, "  effect: allow\n  priority: {}", n % 100).expect("a String takes it");
        writeln!(text, "  permissions: {{ {tools}, credentials: [google, github], data: restricted }}")
            .expect("a String takes it");
        writeln!(text, "  session: {{ key: \"s{n}:{{principal.id}}\" }}").expect("a String takes it");
    }
    text
}

/// Nothing but policies about everybody: each of them is heard, in every decision.
pub(crate) fn all_match() -> PolicySet {
    let policy = |n: usize| {
        format!(
            "- {{ name: p{n}, match: {{}}, effect: allow, priority: {n}, permissions: {{ tools: {{ allow: [calc, web_search, \
             \"calendar_*\", \"lists_*\"], deny: [shell] }}, credentials: [google], data: full }} }}\n"
        )
    };
    let text: String = (0..POLICIES).map(policy).collect();
    load(&[Source { file: "all.yaml", text: &text, origin: Origin::Own }]).expect("policies").set
}

/// Four of each person, elsewhere and at other times.
pub(crate) fn cases() -> Vec<Case> {
    (0..PEOPLE * 4).map(case).collect()
}

fn relationship(n: u64) -> &'static str {
    match n % 6 {
        0 => "partner",
        1 | 2 => "family",
        3 => "colleague",
        _ => "friend",
    }
}

fn case(n: u64) -> Case {
    let person = n % PEOPLE;
    let principal = Who {
        relationship: Some(relationship(person).to_owned()),
        tags: vec![format!("group:{}", person % 20), format!("group:{}", person % 13)],
        name: Some(format!("Person {person}")),
        ..if person == 0 { Who::owner("o-1") } else { Who::known(format!("p-{person}")) }
    };
    let kind = if n.is_multiple_of(3) { ContainerKind::Group } else { ContainerKind::Dm };
    let event = Scene {
        platform: Some(format!("p{}", n % 7)),
        container_kind: Some(kind),
        container_id: Some(format!("c-{}", n % 50)),
        guild: Some(format!("g{}", n % 90)),
        ..Scene::default()
    };
    let minute = u16::try_from(n * 97 % 10_080).expect("small");
    Case { principal, event, now: Moment::try_from(minute).ok() }
}
