//! What ships, and the precedence that the design promises.

use serde_json::{Value, json};

use super::super::shipped;
use super::decide;
use crate::acl::policy::Pairing;
use crate::acl::{Effect, PolicySet, Switch, filter, key};

fn defaults() -> PolicySet {
    shipped::defaults().unwrap_or_else(|mistakes| panic!("{mistakes}")).set
}

#[test]
fn what_ships_is_without_a_mistake() {
    let set = defaults();
    let listed: Vec<_> = set
        .iter()
        .map(|policy| {
            let effect = policy.effect.map_or("-", Effect::name);
            let kind = if policy.ceiling { "ceiling" } else { "" };
            let off = if policy.enabled { "" } else { "off" };
            format!("{} {} {effect} {kind} {off}", policy.priority, policy.name).trim_end().to_owned()
        })
        .collect();
    assert_eq!(
        listed,
        [
            "100 owner-full-access allow",
            "95 owner-in-group allow",
            "90 group-chat-restrictions allow ceiling",
            "85 quiet-hours - ceiling off",
            "80 partner-access allow",
            "70 family-access allow",
            "60 friends-access allow",
            "60 webhooks allow",
            "55 trusted-hook allow",
            "55 untrusted-hook - ceiling",
            "50 system-timer allow",
            "40 agent-to-agent allow",
            "10 block-unknown deny",
        ]
    );
}

fn partner() -> Value {
    json!({ "relationship": "partner", "is_owner": false, "unknown": false, "id": "p-1", "name": "Lea" })
}

fn group() -> Value {
    json!({ "platform": "telegram", "container_kind": "group", "container_id": "g-7" })
}

#[test]
fn a_partner_in_a_group_gets_the_groups_ceiling_and_session() {
    let set = defaults();
    let alone = decide(
        &set,
        &json!({ "principal": partner(), "event": { "platform": "telegram", "container_kind": "dm" } }),
    );
    assert!(alone.permissions.may("calendar_read").is_yes());
    assert!(alone.permissions.credentials.has("google"));
    assert_eq!(alone.session.and_then(|placed| placed.key).as_deref(), Some("partner:p-1"));

    let among = decide(&set, &json!({ "principal": partner(), "event": group() }));
    assert_eq!(among.matched, ["group-chat-restrictions", "partner-access"]);
    assert_eq!(
        among.permissions.may("calendar_read").to_string(),
        "it is beyond what `group-chat-restrictions` lets through, whoever allows it"
    );
    assert!(!among.permissions.credentials.has("google"));
    assert_eq!(among.session.and_then(|placed| placed.key).as_deref(), Some("telegram:group:g-7"));
}

#[test]
fn the_owner_in_a_group_never_lands_in_main() {
    let set = defaults();
    let owner = json!({ "is_owner": true, "id": "o-1", "name": "Sam" });
    let alone = json!({ "principal": owner, "event": { "platform": "telegram", "container_kind": "dm" } });
    let access = decide(&set, &alone);
    assert_eq!((access.effect, &access.session), (Effect::Allow, &None));
    assert_eq!(key::without_a_policy(&filter::case(&alone).unwrap()).as_deref(), Ok("main"));

    let among = decide(&set, &json!({ "principal": owner, "event": group() }));
    assert_eq!(among.session.and_then(|placed| placed.key).as_deref(), Some("telegram:group:g-7"));
    assert!(!among.permissions.may("shell").is_yes());
    // Not even if nobody can say which group it is.
    let nameless =
        json!({ "principal": owner, "event": { "platform": "telegram", "container_kind": "group" } });
    assert_eq!(decide(&set, &nameless).effect, Effect::Deny);
}

#[test]
fn an_unknown_sender_is_denied_and_the_owner_asked_once() {
    let set = defaults();
    for event in [group(), json!({ "platform": "mail", "container_kind": "dm" }), json!({})] {
        let access = decide(&set, &json!({ "principal": { "unknown": true }, "event": event }));
        assert_eq!((access.effect, access.pairing), (Effect::Deny, Some(Pairing::Once)), "{event}");
        assert_eq!(access.session, None);
    }
    // Somebody known whom no policy lets in is denied, and nobody is asked.
    let access = decide(
        &set,
        &json!({ "principal": { "unknown": false, "id": "p-9" }, "event": { "container_kind": "dm" } }),
    );
    assert_eq!((access.effect, access.pairing), (Effect::Deny, None));
}

#[test]
fn quiet_hours_cap_and_let_nobody_in() {
    let set = defaults().switched("quiet-hours", Switch::On).unwrap();
    let at = |who: Value, now: &str| {
        decide(
            &set,
            &json!({ "principal": who, "event": { "platform": "mail", "container_kind": "dm" }, "now": now }),
        )
    };
    let night = at(partner(), "2026-01-30T03:00:00+11:00");
    assert_eq!(night.effect, Effect::Allow);
    assert_eq!(night.modifiers.delay_response, Some(true));
    assert!(!night.permissions.may("web_search").is_yes());
    // The same instant where it is afternoon.
    assert!(at(partner(), "2026-01-29T17:00:00+01:00").permissions.may("web_search").is_yes());
    let stranger = json!({ "is_owner": false, "unknown": false, "id": "p-9" });
    assert_eq!(at(stranger, "2026-01-30T03:00:00+11:00").effect, Effect::Deny);
    let owner = json!({ "is_owner": true, "id": "o-1" });
    assert!(at(owner, "2026-01-30T03:00:00+11:00").permissions.may("web_search").is_yes());
}

#[test]
fn what_is_no_person_is_let_in_as_far_as_it_is_marked() {
    let set = defaults();
    let hook = |tags: Value| {
        decide(
            &set,
            &json!({ "principal": { "webhook": "shop", "name": "shop", "tags": tags }, "event": { "platform": "webhook" } }),
        )
    };
    let (plain, trusted, untrusted) =
        (hook(json!([])), hook(json!(["hook:trusted"])), hook(json!(["hook:untrusted"])));
    for (access, tools) in
        [(&plain, "+calc -web_search"), (&trusted, "+calc +web_search -shell"), (&untrusted, "-calc")]
    {
        assert_eq!(access.session.as_ref().and_then(|placed| placed.key.as_deref()), Some("webhook:shop"));
        for word in tools.split_whitespace() {
            let (expected, tool) = word.split_at(1);
            assert_eq!(access.permissions.may(tool).is_yes(), expected == "+", "{tool} {access:?}");
        }
    }
    assert_eq!(plain.modifiers.trust, None);
    assert_eq!(untrusted.modifiers.trust, Some(domain::Trust::Untrusted));
}
