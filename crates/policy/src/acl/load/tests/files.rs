//! Several files, notes, and what examples are checked with.

use super::{Origin, Source, load, own};
use crate::acl::PolicySet;
use crate::acl::shipped;

fn owns<'a>(files: &[(&'a str, &'a str)]) -> Vec<Source<'a>> {
    files.iter().map(|&(file, text)| Source { file, text, origin: Origin::Own }).collect()
}

/// Word for word what the specification shows, with something wrong in most places.
#[test]
fn all_mistakes_of_all_files_come_at_once_in_their_order() {
    let first = r#"
- name: partner_access
  match:
    principal: { relationship: partner }
    conditions:
      - { platform: discord, container_kind: direct, tiem: "23:00-08:00" }
  effect: alow
  permissions:
    tools: { allow: [web_search, "calendar_*"], denny: [shell] }
    data: some
  session: { persona: atlas, key: "partner:{principal.nam}" }
  modifiers: { trust: high }
  priority: 800
"#;
    let broken = "- name: x\n  match: [\n";
    let last = "- { name: y, match: {}, effect: allow, priority: 1 }\n- { name: y, match: {}, effect: deny, priority: 1 }\n";
    let mistakes = load(&owns(&[("a.yaml", first), ("b.yaml", broken), ("c.yaml", last)])).unwrap_err();
    let expected = "\
a.yaml:2:9: `partner_access` is no name in kebab-case; write `partner-access`
a.yaml:6:46: `direct` is none of the words for a kind of container; there are `dm` and `group`
a.yaml:6:54: there is no field `tiem` in a condition; did you mean `time`?
a.yaml:7:11: `alow` is none of the words for an effect; did you mean `allow`?
a.yaml:9:49: there is no field `denny` in `tools`; did you mean `deny`?
a.yaml:10:11: `some` is none of the words for a data level; did you mean `none`?
a.yaml:11:35: this is no session key: there is no variable `principal.nam`; did you mean `principal.name`?
a.yaml:12:23: `high` is none of the words for a level of trust; there are `hostile`, `untrusted`, `standard`, `verified`, `operator` and `system`
a.yaml:13:13: a priority of 800 is not between 0 and 100
b.yaml:2:10: this is not YAML: unclosed bracket '['
c.yaml:2:11: another policy is called `y`, at c.yaml:1:11; give it a name of its own";
    assert_eq!(mistakes.to_string(), expected);
    assert_eq!((mistakes.all.len(), mistakes.more), (11, 0));
}

#[test]
fn a_name_is_taken_over_all_files() {
    let (a, b) = (
        "- { name: x, match: {}, effect: deny, priority: 1 }",
        "\n- { name: x, match: {}, effect: allow, priority: 2 }",
    );
    let mistakes = load(&owns(&[("a.yaml", a), ("b.yaml", b)])).unwrap_err();
    assert_eq!(
        mistakes.to_string(),
        "b.yaml:2:11: another policy is called `x`, at a.yaml:1:11; give it a name of its own"
    );
}

#[test]
fn what_is_odd_and_no_mistake_is_noted() {
    let text = r#"
- { name: all, match: {}, effect: deny, priority: 5 }
- { name: also-all, match: { principal: {}, conditions: [{}] }, effect: ask, priority: 6 }
- { name: none, match: { principal: { tags: [], id: x }, conditions: [] }, effect: allow, priority: 5 }
- { name: cap, match: { principal: { id: x } }, ceiling: true, priority: 7 }
- { name: whole, match: { principal: { id: x } }, ceiling: true, priority: 8,
    permissions: { tools: "*", credentials: "*", data: full } }
"#;
    let notes: Vec<String> = own(text).unwrap().notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "p.yaml:2:11: `all` says neither whom nor where, so it is about everybody everywhere",
            "p.yaml:3:11: `also-all` says neither whom nor where, so it is about everybody everywhere",
            "p.yaml:4:11: `none` has the priority of `all`, at p.yaml:2:11: the one that comes first counts",
            "p.yaml:5:11: the ceiling `cap` names no tools, so none gets through under it",
            "p.yaml:5:11: the ceiling `cap` names no credentials, so none gets through under it",
            "p.yaml:5:11: the ceiling `cap` names no data, so none gets through under it",
        ]
    );
}

#[test]
fn short_forms_are_what_they_are_short_for() {
    let short = r#"
- name: a
  match: { principal: { tags: vip }, conditions: [{ time: weekends }] }
  effect: allow
  permissions: { tools: "*", credentials: "*" }
  priority: 1
"#;
    let long = r#"
- name: a
  match: { principal: { tags: [vip] }, conditions: [{ time: [weekends] }] }
  effect: allow
  enabled: true
  ceiling: false
  permissions: { tools: { allow: ["*"], deny: [] }, credentials: ["*"] }
  priority: 1
"#;
    assert_eq!(own(short).unwrap().set, own(long).unwrap().set);
}

#[test]
fn a_file_of_comments_has_no_policy_and_no_mistake() {
    for text in ["", "# nothing yet\n", "---\n", "[]\n", "\u{feff}"] {
        assert_eq!(own(text).unwrap().set, PolicySet::default(), "{text:?}");
    }
}

/// An example guards against policies in other files, too.
#[test]
fn the_owners_examples_are_decided_by_the_whole_set() {
    let guarded = r#"
- name: friends
  match: { principal: { relationship: friend } }
  effect: allow
  priority: 60
  examples:
    - { principal: { relationship: friend }, expect: { effect: allow, may: { shell: false } } }
"#;
    let widening = "- { name: all, match: { principal: { relationship: friend } }, effect: allow, permissions: { tools: '*' }, priority: 1 }";
    assert!(own(guarded).is_ok());
    let mistakes = load(&owns(&[("a.yaml", guarded), ("b.yaml", widening)])).unwrap_err();
    assert_eq!(
        mistakes.to_string(),
        "a.yaml:7:78: an example does not come out: `shell` should be refused, and is allowed (`all` allows it)"
    );
}

/// What ships says what ships: the owner's own policies may change it without being told off.
#[test]
fn the_owner_may_change_what_comes_out_of_shipped_examples() {
    let widening = "- { name: partner-shell, match: { principal: { relationship: partner } }, effect: deny, priority: 1 }";
    let own = Source { file: "own.yaml", text: widening, origin: Origin::Own };
    let loaded = load(&[&shipped::FILES[..], &[own]].concat()).unwrap();
    assert!(loaded.set.get("partner-shell").is_some());
}

#[test]
fn what_a_policy_does_that_is_off_is_seen_with_it_on() {
    let text = r#"
- name: off
  match: { principal: { id: x } }
  effect: allow
  priority: 1
  enabled: false
  examples:
    - { principal: { id: x }, expect: { effect: allow, matched: [off] } }
- name: on
  match: { principal: { id: x } }
  effect: ask
  priority: 2
  enabled: false
  examples:
    - { principal: { id: x }, expect: { effect: ask, matched: [on] } }
"#;
    assert!(own(text).is_ok());
}
