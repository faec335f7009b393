use serde_json::{Value, json};

use super::{NotACase, answer, moment};
use crate::acl::case::Moment;
use crate::acl::load::{Origin, Source, load};
use crate::acl::set::PolicySet;
use jiff::civil::Weekday::{Friday, Saturday, Thursday};

fn set(text: &str) -> PolicySet {
    load(&[Source { file: "p.yaml", text, origin: Origin::Own }]).unwrap().set
}

const EXAMPLE: &str = r#"
- name: partner-access
  match:
    principal: { relationship: partner }
    conditions:
      - { platform: discord, container_kind: dm }
  effect: allow
  permissions:
    tools: { allow: [web_search, "calendar_*"], deny: [shell, "credentials_*"] }
    credentials: [google]
    data: restricted
  session: { persona: atlas, key: "partner:{principal.name}" }
  modifiers: { queue_mode: collect, delay_response: true, trust: standard }
  priority: 80
"#;

/// The example of the specification, field by field.
#[test]
fn an_answer_says_everything() {
    let line = json!({
        "principal": { "relationship": "partner", "name": "Lea", "nobody knows this": 1 },
        "event": { "platform": "discord", "container_kind": "dm" },
        "tools": ["calendar_read", "shell", "calc"],
    });
    let expected = json!({
        "effect": "allow",
        "matched": ["partner-access"],
        "session": { "persona": "atlas", "key": "partner:Lea" },
        "permissions": {
            "allow": [{ "policy": "partner-access", "tools": ["web_search", "calendar_*"] }],
            "deny": [{ "policy": "partner-access", "tools": ["shell", "credentials_*"] }],
            "ceilings": [],
        },
        "may": { "calendar_read": true, "shell": false, "calc": false },
        "data": "restricted",
        "credentials": ["google"],
        "modifiers": { "queue_mode": "collect", "delay_response": true, "trust": "standard" },
        "reason": "`partner-access` allows it, and no policy denies it",
    });
    assert_eq!(answer(&set(EXAMPLE), &line), Ok(expected));
}

#[test]
fn what_nothing_matches_is_denied_with_the_reason() {
    let expected = json!({
        "effect": "deny",
        "matched": [],
        "session": null,
        "permissions": { "allow": [], "deny": [], "ceilings": [] },
        "may": { "calc": false },
        "data": "none",
        "credentials": [],
        "modifiers": {},
        "reason": "no policy matches, so the answer is no",
    });
    for line in [
        json!({ "tools": ["calc"] }),
        json!({ "principal": {}, "event": {}, "tools": ["calc"] }),
        json!({ "principal": null, "event": null, "now": null, "tools": ["calc"] }),
        json!({ "principal": { "relationship": "partner" }, "event": { "platform": "discord" }, "tools": ["calc"] }),
    ] {
        assert_eq!(answer(&set(EXAMPLE), &line).as_ref(), Ok(&expected), "{line}");
    }
}

#[test]
fn the_owner_is_asked_once_who_somebody_is() {
    let set = crate::acl::shipped::defaults().unwrap().set;
    let line =
        json!({ "principal": { "unknown": true }, "event": { "platform": "mail", "container_kind": "dm" } });
    let answer = answer(&set, &line).unwrap();
    assert_eq!(answer.get("pairing"), Some(&json!("once")));
    assert_eq!(answer.get("reason"), Some(&json!("`block-unknown` denies it")));
}

#[test]
fn now_is_read_in_its_own_zone() {
    let table = [
        ("2026-01-29T23:30:00+11:00", Some((Thursday, 23, 30))),
        ("2026-01-29T23:30:00-05:00", Some((Thursday, 23, 30))),
        ("2026-01-29T23:30:00Z", Some((Thursday, 23, 30))),
        ("2026-01-30T00:00:00.999+05:45", Some((Friday, 0, 0))),
        ("2024-02-29T00:00:00+00:00", Some((Thursday, 0, 0))),
        ("2026-01-31 12:00:00+01:00", Some((Saturday, 12, 0))),
        ("2026-01-29T23:30:00", None),
        ("2026-01-29", None),
        ("2026-02-30T00:00:00Z", None),
        ("2026-01-29T25:00:00Z", None),
        ("2026-01-29T23:30:00+01:00[Europe/Berlin]", None),
        ("yesterday", None),
        ("", None),
    ];
    for (text, expected) in table {
        let expected = expected.and_then(|(day, hour, minute)| Moment::new(day, hour, minute));
        assert_eq!(moment(text).ok(), expected, "{text}");
    }
}

#[test]
fn a_line_that_is_no_case_says_why() {
    let table: [(Value, &str); 9] = [
        (json!([]), "a case is an object with `principal` and `event`"),
        (json!({ "principal": 1 }), "`principal` is no object"),
        (json!({ "event": [] }), "`event` is no object"),
        (json!({ "principal": { "is_owner": "yes" } }), "`is_owner` is no `true` or `false`"),
        (json!({ "principal": { "id": 7 } }), "`id` is no text"),
        (json!({ "principal": { "tags": "x" } }), "`tags` is no list of texts"),
        (json!({ "principal": { "webhook": 1 } }), "`webhook` is no name, `true` or `false`"),
        (json!({ "event": { "container_kind": "channel" } }), "`container_kind` is no `dm` or `group`"),
        (json!({ "now": "soon" }), "`soon` is no time like `2026-01-29T23:30:00+11:00`, with its offset"),
    ];
    for (line, expected) in table {
        let wrong: NotACase = answer(&PolicySet::default(), &line).unwrap_err();
        assert_eq!(wrong.to_string(), expected, "{line}");
    }
}
