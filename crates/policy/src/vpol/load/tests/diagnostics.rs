//! What somebody reads who made a mistake, word for word: file, line, column, what is wrong, what to do.

use super::own;
use crate::vpol::shipped;
use crate::yaml::{Origin, Source};

#[test]
fn every_mistake_is_reported_with_its_place_and_a_way_out() {
    for (name, text, expected) in CASES {
        let mistakes = own(text).expect_err(name);
        assert_eq!(mistakes.to_string(), *expected, "{name}");
    }
}

type Case = (&'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    (
        "fields that are missing",
        "- {}\n",
        "v.yaml:1:3: `name` is missing in a policy; a name tells it from the others
v.yaml:1:3: `applies_to` is missing in a policy; `applies_to: {}` is every call of every chain
v.yaml:1:3: `mode` is missing in a policy; `monitor`, `intercept` or `strict`
v.yaml:1:3: `priority` is missing in a policy; 0 is heard last and 100 first",
    ),
    (
        "words that are none",
        r#"- name: a
  applies_to: { principals: { relation: partner }, tools: [Shell, "!calc"], tiers: [write], data_classes: [pi], agents: ["a b"], attended: "no" }
  mode: moniter
  up_to: writesafe
  priority: 101
  rule: {}
"#,
        "v.yaml:2:31: there is no field `relation` in `principals`; there are `is_owner`, `relationship`, `tags`, `id`, `unknown`, `system`, `webhook` and `agent`
v.yaml:2:60: the glob `Shell` holds `S`, and so fits no tool; tools are written in small letters
v.yaml:2:67: the glob `!calc` holds `!`, and so fits no tool; name what it is about
v.yaml:2:85: `write` is none of the words for a tier; there are `read_only`, `write_safe`, `write_destructive` and `admin`
v.yaml:2:108: `pi` is none of the words for a data class; did you mean `pii`?
v.yaml:2:122: the glob `a b` holds ` `, and so fits no agent; make it several entries
v.yaml:2:140: `attended` is `true` or `false`, and not text; write `false`
v.yaml:3:9: `moniter` is none of the words for a mode; did you mean `monitor`?
v.yaml:4:10: `writesafe` is none of the words for a tier; did you mean `write_safe`?
v.yaml:5:13: a priority of 101 is not between 0 and 100
v.yaml:6:3: there is no field `rule` in a policy; did you mean `rules`?",
    ),
    (
        "rules that are none",
        r#"- name: a
  applies_to: {}
  mode: strict
  priority: 1
  rules:
    rate: 20 per hour
    budget: { calls: -1, money: 0.5, time: "10", coffee: 3, bytes_out: 1MB }
    hours: [noon, "25:00-26:00", mon]
    requires: [aproval, "role:", attended]
    rates: 1/h
"#,
        "v.yaml:6:11: `20 per hour` is no rate like `5/min`, `20/h` or `100/day`, from 1 to 1000000
v.yaml:7:22: `-1` is no amount of calls; write a whole number like `500`
v.yaml:7:33: an amount is text, and not a number; put it in quotation marks
v.yaml:7:44: `10` is no amount of time; write a time like `30s`, `10m` or `2h`
v.yaml:7:50: there is no field `coffee` in `budget`; there are `money`, `tokens`, `time`, `calls` and `bytes_out`
v.yaml:8:13: this is no time: `noon` is no day; did you mean `mon`?
v.yaml:8:19: this is no time: `25:00` is no time of day between `00:00` and `24:00`
v.yaml:9:16: `aproval` is none of the words for a requirement; did you mean `approval`?
v.yaml:9:25: `role:` is none of the words for a requirement; did you mean `role:…`?
v.yaml:10:5: there is no field `rates` in `rules`; did you mean `rate`?",
    ),
    (
        "lists that name nothing are not everything",
        "- { name: a, applies_to: { tools: [], agents: [] }, mode: strict, priority: 1 }\n",
        "v.yaml:1:35: this list is empty; leave it out, or name something
v.yaml:1:47: this list is empty; leave it out, or name something",
    ),
    (
        "what does not fit together",
        "- { name: a, applies_to: {}, mode: monitor, up_to: write_safe, priority: 1 }
- { name: strictest, applies_to: {}, mode: strict, priority: 2 }
- { name: a, applies_to: {}, mode: strict, priority: 3 }
",
        "v.yaml:1:52: monitor leaves every call alone, so `up_to` changes nothing; leave it out, or write `mode: intercept` or `strict`
v.yaml:2:11: `strictest` is the name of the policy that counts where no other applies; give it another name",
    ),
    (
        "a name that is taken",
        "- { name: a, applies_to: {}, mode: strict, priority: 2 }
- { name: a, applies_to: {}, mode: strict, priority: 3 }
",
        "v.yaml:2:11: another policy is called `a`, at v.yaml:1:11; give it a name of its own",
    ),
    (
        "examples that are none",
        r#"- name: a
  applies_to: {}
  mode: strict
  priority: 1
  examples:
    - {}
    - { expect: {} }
    - { expect: { answer: ask } }
    - { call: { tier: admin }, expect: { answer: asks } }
    - { call: { tool: shell, tier: admin, now: noon }, expect: { policy: a } }
"#,
        "v.yaml:6:7: `expect` is missing in an example; say what has to come out, like `expect: { policy: unattended }`
v.yaml:7:17: `expect` is empty; give a `policy`, an `answer` or both
v.yaml:8:27: `call` is missing in an example; an answer is about a call, like `call: { tool: shell, tier: admin }`
v.yaml:9:15: `tool` is missing in `call`; a call is of a tool, and of a tier
v.yaml:9:50: `asks` is none of the words for an answer; did you mean `ask`?
v.yaml:10:48: `noon` is no time like `2026-01-29T23:30:00+11:00`, with its offset",
    ),
    (
        "examples that do not come out",
        r#"- name: a
  applies_to: { agents: main }
  mode: intercept
  up_to: write_safe
  priority: 1
  rules: { hours: "09:00-17:00" }
  examples:
    - { agent: other, expect: { policy: a } }
    - { call: { tool: shell, tier: admin, now: "2026-01-29T12:00:00Z" }, expect: { answer: execute } }
    - { call: { tool: shell, tier: admin, now: "2026-01-29T12:00:00Z" }, expect: { answer: intercept } }
    - { call: { tool: shell, tier: admin, now: "2026-01-29T18:00:00Z" }, expect: { policy: a, answer: ask } }
"#,
        "v.yaml:8:41: an example does not come out: the policy should be `a`, and is `strictest` (no validation policy applies, so `strictest` counts: the owner is asked about every call)
v.yaml:9:92: an example does not come out: the answer should be `execute`, and is `intercept` (a intercepts above write_safe)
v.yaml:11:103: an example does not come out: the answer should be `ask`, and is `deny` (a allows it only at these hours: 09:00-17:00)",
    ),
];

#[test]
fn what_is_odd_and_no_mistake_is_noted() {
    let text = "\
- { name: a, applies_to: {}, mode: strict, priority: 5 }
- { name: b, applies_to: { agents: main, tools: shell }, mode: strict, priority: 5 }
";
    let notes: Vec<String> = own(text).unwrap().notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "v.yaml:1:11: `a` says neither whom nor where, so it is about everybody everywhere",
            "v.yaml:2:11: `b` governs some calls only, so the other calls of its chains are under no validation policy",
            "v.yaml:2:11: `b` has the priority of `a`, at v.yaml:1:11: the one that comes first counts",
        ]
    );
}

/// What ships says what ships: the owner's own policies may change it without being told off.
#[test]
fn the_owner_may_change_what_comes_out_of_shipped_examples() {
    let text = "- { name: mine, applies_to: {}, mode: strict, priority: 100 }";
    let own = Source { file: "own.yaml", text, origin: Origin::Own };
    let loaded = super::load(&[&shipped::FILES[..], &[own]].concat()).unwrap();
    assert_eq!(loaded.set.iter().count(), 4);
}
