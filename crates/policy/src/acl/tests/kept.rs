//! A set as the ledger keeps it.

use serde_json::json;

use super::super::shipped;
use super::set;
use crate::acl::set::NotASet;
use crate::acl::{Access, Case, PolicySet, Switch};

#[test]
fn a_set_comes_back_as_it_was_kept_and_under_the_same_digest() {
    let set = shipped::defaults().unwrap().set;
    let json = serde_json::to_string(&set).unwrap();
    let read: PolicySet = serde_json::from_str(&json).unwrap();
    assert_eq!(read, set);
    assert_eq!(read.digest().unwrap(), set.digest().unwrap());
}

#[test]
fn the_digest_is_of_what_is_said_and_not_of_how_it_is_written() {
    let one = set(
        "- { name: a, match: {}, effect: allow, priority: 1 }\n- { name: b, match: {}, effect: deny, priority: 2 }",
    );
    let other = set(
        "# the same\n- priority: 2\n  effect: deny\n  match: {}\n  name: b\n- { name: a, match: {}, effect: allow, priority: 1, enabled: true }",
    );
    assert_eq!(one.digest().unwrap(), other.digest().unwrap());
    let off = one.switched("b", Switch::Off).unwrap();
    assert_ne!(one.digest().unwrap(), off.digest().unwrap());
    assert_eq!(off.switched("b", Switch::On), Some(one.clone()));
    assert_eq!(one.switched("c", Switch::On), None);
}

/// Which file a policy came from is kept with it; sets of older programs do not say, and are read.
#[test]
fn a_set_knows_the_files_of_its_policies_and_what_ships_has_none() {
    let one = set(
        "- { name: a, match: {}, effect: allow, priority: 1 }\n- { name: b, match: {}, effect: deny, priority: 2 }",
    );
    let names: Vec<_> = one.files().keys().map(String::as_str).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(shipped::defaults().unwrap().set.files().is_empty());
    let read: PolicySet = serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap();
    assert_eq!(read, one);
    let older = one.clone().from_files(std::collections::BTreeMap::new());
    let json = serde_json::to_string(&older).unwrap();
    assert!(!json.contains("files"), "{json}");
    assert_eq!(serde_json::from_str::<PolicySet>(&json).unwrap(), older);
    let left = one.without(&["a".to_owned(), "c".to_owned()].into());
    assert_eq!(left.iter().map(|policy| policy.name.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(left.files().len(), 1);
}

#[test]
fn what_was_not_kept_by_us_is_not_read() {
    let policy = |more: &str| format!(r#"{{"name":"a","match":{{"principal":{{}}}},"priority":1{more}}}"#);
    let table = [
        (policy(r#","effect":"allow""#), true),
        (policy(r#","ceiling":true"#), true),
        (policy(""), false),
        (policy(r#","effect":"allow","dney":[]"#), false),
        (policy(r#","effect":"allow","permissions":{"tools":{"dney":["shell"]}}"#), false),
        (policy(r#","effect":"allow","session":{"key":"{nobody}"}"#), false),
        (policy(r#","effect":"allow","match":{}"#), false),
        (policy(r#","effect":"allow""#).replace(":1", ":101"), false),
    ];
    for (policy, fits) in table {
        let json = format!(r#"{{"policies":[{policy}]}}"#);
        assert_eq!(serde_json::from_str::<PolicySet>(&json).is_ok(), fits, "{json}");
    }
    let twice: Vec<_> = set("- { name: a, match: {}, effect: allow, priority: 1 }").iter().cloned().collect();
    assert_eq!(PolicySet::new([twice.clone(), twice].concat()), Err(NotASet::Twice("a".into())));
}

#[test]
fn an_answer_is_kept_as_plain_texts() {
    let set = set(
        "- { name: a, match: {}, effect: allow, priority: 2, permissions: { tools: { allow: [calc], deny: [shell] } } }\n\
         - { name: b, match: {}, effect: allow, priority: 1 }",
    );
    let access = set.decide(&Case::default());
    let kept = json!({
        "effect": "allow",
        "matched": ["a", "b"],
        "session": null,
        "permissions": {
            "own": {
                "allow": [{ "policy": "a", "tools": ["calc"] }],
                "deny": [{ "policy": "a", "tools": ["shell"] }],
                "ceilings": [],
            },
            "credentials": [],
            "data": "none",
        },
        "modifiers": {},
        "pairing": null,
        "why": { "allowed": { "by": "a" } },
    });
    assert_eq!(serde_json::to_value(&access).unwrap(), kept);
    assert_eq!(serde_json::from_value::<Access>(kept).unwrap(), access);
}
