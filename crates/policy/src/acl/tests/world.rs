//! Random policies and cases, few words each, so that they often meet.

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use proptest::sample::select;

use domain::Trust;
use domain::event::ContainerKind;

use super::super::policy::{
    Condition, Matching, Modifiers, Pairing, Policy, QueueMode, Rights, Session, Tools, Whom,
};
use super::super::set::PolicySet;
use crate::acl::key::Key;
use crate::acl::when::When;
use crate::acl::{Case, Credentials, DataLevel, Effect, Mark, Moment, Scene, Who};

pub(super) const TOOLS: [&str; 5] = ["calc", "shell", "calendar_read", "calendar_write", "credentials_list"];
const GLOBS: [&str; 7] = ["*", "calc", "shell", "calendar_*", "*_read", "c*", "credentials_*"];

fn text(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(words).prop_map(str::to_owned)
}

fn maybe<T: std::fmt::Debug + Clone>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.25, of)
}

fn mark() -> impl Strategy<Value = Mark> {
    prop_oneof![any::<bool>().prop_map(Mark::Is), text(&["h", "i"]).prop_map(Mark::Named)]
}

fn whom() -> impl Strategy<Value = Whom> {
    let tags = prop::collection::vec(text(&["a", "b"]), 0..2);
    let flags = (maybe(any::<bool>()), maybe(any::<bool>()), maybe(any::<bool>()));
    (flags, maybe(text(&["partner", "friend"])), tags, maybe(text(&["x", "y"])), maybe(mark()), maybe(mark()))
        .prop_map(|((is_owner, unknown, system), relationship, tags, id, webhook, agent)| Whom {
            is_owner,
            relationship,
            tags,
            id,
            unknown,
            system,
            webhook,
            agent,
        })
}

fn kind() -> impl Strategy<Value = ContainerKind> {
    select(vec![ContainerKind::Dm, ContainerKind::Group])
}

fn condition() -> impl Strategy<Value = Condition> {
    let times = select(vec!["23:00-08:00", "weekends", "mon,tue 09:00-17:00"]);
    let time = times.prop_map(|time| When::new(vec![time.into()]).unwrap());
    (maybe(text(&["mail", "chat"])), maybe(kind()), maybe(text(&["home"])), maybe(time)).prop_map(
        |(platform, container_kind, account, time)| Condition {
            platform,
            container_kind,
            account,
            time,
            ..Condition::default()
        },
    )
}

fn rights() -> impl Strategy<Value = Rights> {
    let globs = |most| prop::collection::vec(select(GLOBS.to_vec()).prop_map(str::to_owned), 0..most);
    let credentials = prop::collection::vec(text(&["g", "h", "*"]), 0..3).prop_map(Credentials::from_iter);
    (globs(3), globs(2), maybe(credentials), maybe(select(DataLevel::ALL.to_vec()))).prop_map(
        |(allow, deny, credentials, data)| Rights { tools: Tools { allow, deny }, credentials, data },
    )
}

fn modifiers() -> impl Strategy<Value = Modifiers> {
    (maybe(select(QueueMode::ALL.to_vec())), maybe(any::<bool>()), maybe(select(Trust::ALL.to_vec())))
        .prop_map(|(queue_mode, delay_response, trust)| Modifiers { queue_mode, delay_response, trust })
}

/// What it does, apart from its name: allow is what happens most.
fn effect() -> impl Strategy<Value = (Option<Effect>, bool)> {
    prop_oneof![
        8 => Just((Some(Effect::Allow), false)),
        2 => Just((Some(Effect::Allow), true)),
        2 => Just((None, true)),
        1 => Just((Some(Effect::Ask), false)),
        1 => Just((Some(Effect::Deny), false)),
    ]
}

pub(super) fn policy() -> impl Strategy<Value = Policy> {
    let matching = (whom(), prop::collection::vec(condition(), 0..3));
    let key = select(vec!["k", "k:{principal.id}", "{platform}:{container_id}"]);
    let session = maybe(key.prop_map(|key| Session { persona: None, key: Some(Key::new(key).unwrap()) }));
    (matching, effect(), rights(), session, modifiers(), 0..5_u8, prop::bool::weighted(0.9)).prop_map(
        |((principal, conditions), (effect, ceiling), permissions, session, modifiers, priority, enabled)| {
            Policy {
                name: String::new(),
                matching: Matching { principal, conditions },
                effect,
                permissions,
                session: session.filter(|_| effect.is_some()),
                modifiers,
                priority,
                ceiling,
                enabled,
                pairing: Some(Pairing::Once).filter(|_| effect == Some(Effect::Deny) && priority > 2),
            }
        },
    )
}

pub(super) fn policies() -> impl Strategy<Value = Vec<Policy>> {
    prop::collection::vec(policy(), 0..8).prop_map(named)
}

pub(super) fn named(policies: Vec<Policy>) -> Vec<Policy> {
    let name = |(n, policy): (usize, Policy)| Policy { name: format!("p{n}"), ..policy };
    policies.into_iter().enumerate().map(name).collect()
}

pub(super) fn set(policies: &[Policy]) -> PolicySet {
    PolicySet::new(named(policies.to_vec())).unwrap()
}

pub(super) fn case() -> impl Strategy<Value = Case> {
    let known = |of| prop::option::weighted(0.8, of);
    let flag = || prop::option::weighted(0.8, any::<bool>());
    let who = (
        (flag(), flag(), flag()),
        known(text(&["partner", "friend"]).boxed()),
        prop::collection::vec(text(&["a", "b"]), 0..3),
        known(text(&["x", "y"]).boxed()),
        prop::option::weighted(0.8, mark()),
        prop::option::weighted(0.8, mark()),
    );
    let who = who.prop_map(|((is_owner, unknown, system), relationship, tags, id, webhook, agent)| Who {
        is_owner,
        relationship,
        tags,
        name: id.clone(),
        id,
        unknown,
        system,
        webhook,
        agent,
    });
    let scene = (
        known(text(&["mail", "chat"]).boxed()),
        prop::option::weighted(0.8, kind()),
        known(text(&["home"]).boxed()),
    );
    let scene = scene.prop_map(|(platform, container_kind, account)| Scene {
        container_id: platform.clone(),
        platform,
        container_kind,
        account,
        ..Scene::default()
    });
    let now =
        prop::option::weighted(0.8, (0..10_080_u16).prop_map(|minute| Moment::try_from(minute).unwrap()));
    (who, scene, now).prop_map(|(principal, event, now)| Case { principal, event, now })
}
