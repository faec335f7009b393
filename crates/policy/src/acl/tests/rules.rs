//! Every rule of the specification as a table.

use serde_json::{Value, json};

use super::{decide, set};
use crate::acl::policy::{Pairing, QueueMode};
use crate::acl::{Credentials, DataLevel, Effect, Placed, Why, filter};
use domain::Trust;

/// Whether a policy with this `match` matches.
fn matches(matching: &str, line: &Value) -> bool {
    let set = set(&format!("- {{ name: a, match: {matching}, effect: allow, priority: 1 }}"));
    decide(&set, line).effect == Effect::Allow
}

#[test]
fn all_given_fields_of_the_principal_must_match() {
    let table = [
        ("{}", json!({}), true),
        ("{ is_owner: true }", json!({ "is_owner": true }), true),
        ("{ is_owner: true }", json!({ "is_owner": false }), false),
        ("{ is_owner: true }", json!({}), false),
        // What is not known is not false.
        ("{ is_owner: false }", json!({}), false),
        ("{ is_owner: false }", json!({ "is_owner": false }), true),
        ("{ relationship: partner }", json!({ "relationship": "partner" }), true),
        ("{ relationship: partner }", json!({ "relationship": "Partner" }), false),
        ("{ relationship: partner }", json!({ "relationship": "ex-partner" }), false),
        ("{ relationship: partner, is_owner: false }", json!({ "relationship": "partner" }), false),
        ("{ tags: [a] }", json!({ "tags": ["b", "a"] }), true),
        ("{ tags: [a, b] }", json!({ "tags": ["a"] }), false),
        ("{ tags: [a, b] }", json!({ "tags": ["a", "b", "c"] }), true),
        ("{ tags: [a] }", json!({}), false),
        ("{ tags: [] }", json!({}), true),
        ("{ id: x }", json!({ "id": "x" }), true),
        ("{ id: x }", json!({ "name": "x" }), false),
        ("{ unknown: true }", json!({ "unknown": true }), true),
        ("{ unknown: true }", json!({ "unknown": false }), false),
        ("{ system: true }", json!({ "system": true }), true),
        ("{ system: true }", json!({ "is_owner": true }), false),
        ("{ webhook: true }", json!({ "webhook": "github" }), true),
        ("{ webhook: true }", json!({ "webhook": true }), true),
        ("{ webhook: true }", json!({ "webhook": false }), false),
        ("{ webhook: true }", json!({}), false),
        ("{ webhook: false }", json!({ "webhook": false }), true),
        ("{ webhook: false }", json!({ "webhook": "github" }), false),
        ("{ webhook: github }", json!({ "webhook": "github" }), true),
        ("{ webhook: github }", json!({ "webhook": "gitlab" }), false),
        ("{ webhook: github }", json!({ "webhook": true }), false),
        ("{ agent: true }", json!({ "agent": "main" }), true),
        ("{ agent: main }", json!({ "agent": "main" }), true),
        ("{ agent: main }", json!({ "agent": "other" }), false),
    ];
    for (principal, who, expected) in table {
        let line = json!({ "principal": who });
        assert_eq!(matches(&format!("{{ principal: {principal} }}"), &line), expected, "{principal} {line}");
    }
}

#[test]
fn any_condition_may_match_and_all_its_fields_must() {
    let table = [
        ("[]", json!({}), true),
        ("[{}]", json!({}), true),
        ("[{ platform: discord }]", json!({ "platform": "discord" }), true),
        ("[{ platform: discord }]", json!({ "platform": "mail" }), false),
        ("[{ platform: discord }]", json!({}), false),
        ("[{ platform: mail }, { platform: discord }]", json!({ "platform": "discord" }), true),
        (
            "[{ platform: discord, container_kind: dm }]",
            json!({ "platform": "discord", "container_kind": "group" }),
            false,
        ),
        (
            "[{ platform: discord, container_kind: dm }]",
            json!({ "platform": "discord", "container_kind": "dm" }),
            true,
        ),
        ("[{ platform: discord, container_kind: dm }]", json!({ "platform": "discord" }), false),
        ("[{ account: home }]", json!({ "account": "home" }), true),
        ("[{ account: home }]", json!({ "account": "work" }), false),
        ("[{ guild: g }]", json!({ "guild": "g" }), true),
        ("[{ guild: g }]", json!({}), false),
        ("[{ hook_id: h }]", json!({ "hook_id": "h" }), true),
        ("[{ hook_id: h }]", json!({ "hook_id": "H" }), false),
        ("[{ event_type: timer }]", json!({ "event_type": "timer" }), true),
        ("[{ event_type: timer }]", json!({ "event_type": "message" }), false),
        ("[{ time: weekends }]", json!({}), false),
    ];
    for (conditions, event, expected) in table {
        let line = json!({ "event": event });
        assert_eq!(
            matches(&format!("{{ conditions: {conditions} }}"), &line),
            expected,
            "{conditions} {line}"
        );
    }
}

/// 29 January 2026 is a Thursday.
#[test]
fn quiet_hours_go_over_midnight_in_the_zone_of_the_moment() {
    let table = [
        ("23:00-08:00", "2026-01-29T22:59:59+11:00", false),
        ("23:00-08:00", "2026-01-29T23:00:00+11:00", true),
        ("23:00-08:00", "2026-01-30T00:00:00+11:00", true),
        ("23:00-08:00", "2026-01-30T07:59:59+11:00", true),
        ("23:00-08:00", "2026-01-30T08:00:00+11:00", false),
        // The same instant, elsewhere: it is one in the afternoon.
        ("23:00-08:00", "2026-01-29T13:00:00+01:00", false),
        ("weekends", "2026-01-30T23:59:59Z", false),
        ("weekends", "2026-01-31T00:00:00Z", true),
        ("weekends", "2026-02-01T23:59:59Z", true),
        ("weekends", "2026-02-02T00:00:00Z", false),
        ("weekdays 09:00-17:00", "2026-01-30T16:59:00-08:00", true),
        ("weekdays 09:00-17:00", "2026-01-31T12:00:00-08:00", false),
        ("fri 23:00-08:00", "2026-01-31T07:00:00Z", true),
        ("[weekends, '23:00-08:00']", "2026-01-30T03:00:00Z", true),
    ];
    for (time, now, expected) in table {
        let line = json!({ "now": now });
        assert_eq!(
            matches(&format!("{{ conditions: [{{ time: {time} }}] }}"), &line),
            expected,
            "{time} {now}"
        );
    }
}

/// One policy per word, all about everybody: `effect@priority`.
fn of_effects(words: &str) -> String {
    let policy = |(n, word): (usize, &str)| {
        let (effect, priority) = word.split_once('@').unwrap();
        let off = if effect.starts_with('-') { ", enabled: false" } else { "" };
        let effect = match effect.trim_start_matches('-') {
            "ceiling" => "ceiling: true".to_owned(),
            effect => format!("effect: {effect}"),
        };
        format!("- {{ name: p{n}, match: {{}}, {effect}, priority: {priority}{off} }}\n")
    };
    words.split_whitespace().enumerate().map(policy).collect()
}

#[test]
fn deny_beats_ask_beats_allow_whatever_the_priority() {
    let denied = |by: &str| Why::Denied { by: by.into() };
    let asked = |by: &str| Why::Asked { by: by.into() };
    let allowed = |by: &str| Why::Allowed { by: by.into() };
    let table = [
        ("", Effect::Deny, Why::NothingMatches),
        ("allow@0", Effect::Allow, allowed("p0")),
        ("allow@100 deny@0", Effect::Deny, denied("p1")),
        ("allow@100 ask@0", Effect::Ask, asked("p1")),
        ("ask@100 deny@0", Effect::Deny, denied("p1")),
        ("allow@100 ask@50 deny@0", Effect::Deny, denied("p2")),
        ("deny@1 deny@2", Effect::Deny, denied("p1")),
        ("allow@1 allow@2 allow@2", Effect::Allow, allowed("p1")),
        ("allow@100 -deny@50", Effect::Allow, allowed("p0")),
        ("-allow@100", Effect::Deny, Why::NothingMatches),
        ("ceiling@100", Effect::Deny, Why::OnlyCeilings { by: "p0".into() }),
        ("ceiling@100 allow@1", Effect::Allow, allowed("p1")),
    ];
    for (words, effect, why) in table {
        let access = decide(&set(&of_effects(words)), &json!({}));
        assert_eq!((access.effect, access.why), (effect, why), "{words}");
    }
}

#[test]
fn matches_stand_by_priority_and_then_in_file_order() {
    let access = decide(&set(&of_effects("allow@5 allow@9 -allow@7 deny@5 ask@100 allow@9")), &json!({}));
    assert_eq!(access.matched, ["p4", "p1", "p5", "p0", "p3"]);
}

const SESSIONS: &str = r#"
- { name: high, match: { conditions: [{ platform: a }] }, effect: allow, priority: 90, session: { key: "high:{guild}" } }
- { name: without, match: {}, effect: allow, priority: 99 }
- { name: cap, match: {}, ceiling: true, priority: 98, permissions: { tools: "*", credentials: "*", data: full } }
- { name: asking, match: { conditions: [{ account: ask }] }, effect: ask, priority: 97, session: { key: asked } }
- { name: low, match: {}, effect: allow, priority: 10, session: { persona: atlas } }
"#;

#[test]
fn the_session_is_that_of_the_highest_allowing_policy_which_has_one() {
    let placed = |persona: Option<&str>, key: Option<&str>| {
        Some(Placed { persona: persona.map(str::to_owned), key: key.map(str::to_owned) })
    };
    let table = [
        (json!({}), Effect::Allow, placed(Some("atlas"), None)),
        (json!({ "platform": "a", "guild": "g" }), Effect::Allow, placed(None, Some("high:g"))),
        // A missing variable is a denial, and not another session.
        (json!({ "platform": "a" }), Effect::Deny, None),
        // A policy that asks does not allow.
        (
            json!({ "account": "ask", "platform": "a", "guild": "g" }),
            Effect::Ask,
            placed(None, Some("high:g")),
        ),
        (json!({ "account": "ask", "platform": "a" }), Effect::Ask, None),
    ];
    for (event, effect, session) in table {
        let access = decide(&set(SESSIONS), &json!({ "event": event }));
        assert_eq!((access.effect, access.session), (effect, session), "{event}");
    }
    let access = decide(&set(SESSIONS), &json!({ "event": { "platform": "a" } }));
    assert_eq!(access.why.to_string(), "`high` makes the session key of `{guild}`, which is not known here");
    assert!(!access.permissions.may("calc").is_yes());
}

#[test]
fn a_yes_of_the_owner_counts_as_an_allow_and_lifts_no_denial() {
    let case =
        filter::case(&json!({ "event": { "account": "ask", "platform": "a", "guild": "g" } })).unwrap();
    let approved = set(SESSIONS).decide_approved(&case);
    assert_eq!(approved.effect, Effect::Allow);
    assert_eq!(approved.session.and_then(|placed| placed.key).as_deref(), Some("asked"));
    let denied = set(&of_effects("ask@9 deny@1")).decide_approved(&case);
    assert_eq!(denied.why, Why::Denied { by: "p1".into() });
}

#[test]
fn modifiers_are_collected_and_the_highest_priority_wins_each() {
    let text = r#"
- { name: a, match: {}, effect: allow, priority: 50, modifiers: { queue_mode: collect, trust: untrusted } }
- { name: b, match: {}, effect: allow, priority: 60, modifiers: { delay_response: true, queue_mode: steer } }
- { name: c, match: {}, ceiling: true, priority: 10, modifiers: { delay_response: false, trust: hostile } }
"#;
    let modifiers = decide(&set(text), &json!({})).modifiers;
    assert_eq!(modifiers.queue_mode, Some(QueueMode::Steer));
    assert_eq!(modifiers.delay_response, Some(true));
    assert_eq!(modifiers.trust, Some(Trust::Untrusted));
    // A policy lowers trust and never raises it.
    assert_eq!(modifiers.lower(Trust::Operator), Trust::Untrusted);
    assert_eq!(modifiers.lower(Trust::Hostile), Trust::Hostile);
}

/// Policies about everybody, by what they permit.
fn of_permissions(permissions: &[&str]) -> String {
    let policy = |(n, said): (usize, &&str)| {
        let (head, permissions) = said.split_once('|').unwrap_or(("effect: allow", said));
        format!(
            "- {{ name: p{n}, match: {{}}, {head}, priority: {}, permissions: {{ {permissions} }} }}\n",
            50 - n
        )
    };
    permissions.iter().enumerate().map(policy).collect()
}

#[test]
fn credentials_are_what_all_who_name_any_have_in_common() {
    let only = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Credentials>();
    let table: [(&[&str], Credentials); 10] = [
        (&["data: full"], only(&[])),
        (&["credentials: [a, b]"], only(&["a", "b"])),
        (&["credentials: [a, b]", "data: full"], only(&["a", "b"])),
        (&["credentials: [a, b]", "credentials: [b, c]"], only(&["b"])),
        (&["credentials: [a]", "credentials: [b]"], only(&[])),
        (&["credentials: '*'", "credentials: [b]"], only(&["b"])),
        (&["credentials: ['*']", "credentials: '*'"], Credentials::All),
        // An empty list is a list.
        (&["credentials: []", "credentials: [b]"], only(&[])),
        // A ceiling that names none lets none through, and one that only caps gives none.
        (&["credentials: [a, b]", "effect: allow, ceiling: true|tools: '*'"], only(&[])),
        (&["data: full", "ceiling: true|credentials: [a]"], only(&[])),
    ];
    for (permissions, expected) in table {
        let access = decide(&set(&of_permissions(permissions)), &json!({}));
        assert_eq!(access.permissions.credentials, expected, "{permissions:?}");
    }
}

#[test]
fn data_is_the_lowest_that_anybody_states() {
    let table: [(&[&str], DataLevel); 8] = [
        (&["tools: '*'"], DataLevel::None),
        (&["data: full"], DataLevel::Full),
        (&["data: full", "tools: '*'"], DataLevel::Full),
        (&["data: full", "data: restricted"], DataLevel::Restricted),
        (&["data: none", "data: full"], DataLevel::None),
        (&["data: full", "ceiling: true|data: restricted"], DataLevel::Restricted),
        (&["data: full", "ceiling: true|tools: '*'"], DataLevel::None),
        (&["tools: '*'", "ceiling: true|data: full"], DataLevel::None),
    ];
    for (permissions, expected) in table {
        let access = decide(&set(&of_permissions(permissions)), &json!({}));
        assert_eq!(access.permissions.data, expected, "{permissions:?}");
    }
}

/// The precise rule, tool by tool: `+` may be used.
#[test]
fn a_tool_needs_an_allow_no_deny_and_every_ceiling() {
    let table: [(&[&str], &str); 12] = [
        (&["data: full"], "-calc -shell"),
        (&["tools: '*'"], "+calc +shell"),
        (&["tools: { allow: [calc] }"], "+calc -shell"),
        (&["tools: { allow: [calc] }", "tools: { allow: [shell] }"], "+calc +shell"),
        (&["tools: '*'", "tools: { deny: [shell] }"], "+calc -shell"),
        (&["tools: '*'", "tools: { deny: ['s*'] }"], "+calc -shell -search"),
        // Everything denied: only its own gets through.
        (&["tools: '*'", "tools: { deny: ['*'] }"], "-calc -shell"),
        (&["tools: '*'", "tools: { allow: [calc], deny: ['*'] }"], "+calc -shell"),
        (&["tools: '*'", "tools: { allow: [calc, shell], deny: ['*', shell] }"], "+calc -shell"),
        (
            &["tools: { allow: [shell] }", "effect: allow, ceiling: true|tools: { allow: [calc] }"],
            "+calc -shell",
        ),
        (&["tools: { allow: [shell] }", "ceiling: true|tools: { allow: [calc] }"], "-calc -shell"),
        (
            &["tools: '*'", "ceiling: true|tools: { allow: [c*] }", "ceiling: true|tools: { allow: ['*c'] }"],
            "+calc -cat",
        ),
    ];
    for (permissions, tools) in table {
        let access = decide(&set(&of_permissions(permissions)), &json!({}));
        for word in tools.split_whitespace() {
            let (expected, tool) = word.split_at(1);
            assert_eq!(access.permissions.may(tool).is_yes(), expected == "+", "{permissions:?} {tool}");
        }
    }
}

#[test]
fn what_is_held_or_denied_uses_nothing() {
    for effect in ["ask", "deny"] {
        let text = of_permissions(&[
            "tools: '*', credentials: '*', data: full",
            &format!("effect: {effect}|data: full"),
        ]);
        let access = decide(&set(&text), &json!({}));
        assert_eq!(access.permissions, crate::acl::Permissions::none(), "{effect}");
    }
}

#[test]
fn pairing_is_for_denials_that_it_would_answer() {
    let text = r#"
- { name: pair, match: {}, effect: deny, pairing: once, priority: 10 }
- { name: bar, match: { conditions: [{ platform: barred }] }, effect: deny, priority: 90 }
- { name: low, match: { conditions: [{ platform: low }] }, effect: deny, priority: 1 }
"#;
    assert_eq!(decide(&set(text), &json!({})).pairing, Some(Pairing::Once));
    for platform in ["barred", "low"] {
        assert_eq!(
            decide(&set(text), &json!({ "event": { "platform": platform } })).pairing,
            None,
            "{platform}"
        );
    }
}
