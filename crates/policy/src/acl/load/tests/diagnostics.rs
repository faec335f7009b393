//! What somebody reads who made a mistake, word for word: file, line, column, what is wrong, what to do.

use super::own;

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
        "a list, not a map",
        r#"name: a
"#,
        r#"p.yaml:1:1: a policy file is a list of policies, and not a map; begin each policy with `- name: …`"#,
    ),
    (
        "no policy",
        r#"- 5
-
"#,
        r#"p.yaml:1:3: a policy is a map of fields, and not a number
p.yaml:2:2: a policy is a map of fields, and not empty"#,
    ),
    (
        "fields that are missing",
        r#"- {}
"#,
        r#"p.yaml:1:3: `name` is missing in a policy; a name tells it from the others
p.yaml:1:3: `match` is missing in a policy; `match: {}` is about everybody everywhere
p.yaml:1:3: only a ceiling can do without an effect; add `effect: allow`, `deny` or `ask`
p.yaml:1:3: `priority` is missing in a policy; 0 is heard last and 100 first"#,
    ),
    (
        "an unknown field",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1, enable: true}
"#,
        r#"p.yaml:1:70: there is no field `enable` in a policy; did you mean `enabled`?"#,
    ),
    (
        "an unknown field like no other",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1, colour: red}
"#,
        r#"p.yaml:1:70: there is no field `colour` in a policy; there are `name`, `match`, `effect`, `permissions`, `session`, `modifiers`, `priority`, `ceiling`, `enabled`, `pairing` and `examples`"#,
    ),
    (
        "a field twice",
        r#"- name: a
  match: {}
  effect: deny
  effect: allow
  priority: 1
"#,
        r#"p.yaml:4:3: the field `effect` stands here a second time; leave one of the two out"#,
    ),
    (
        "a merge key",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1}
- <<: {effect: allow}
  name: b
  match: {principal: {id: y}}
  effect: deny
  priority: 2
"#,
        r#"p.yaml:2:3: there is no field `<<` in a policy; write the fields out"#,
    ),
    (
        "a key that is no text",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1, 7: x}
"#,
        r#"p.yaml:1:70: the name of a field is text, and not a number"#,
    ),
    (
        "a name that is no kebab-case",
        r#"- {name: Partner_Access, match: {principal: {id: x}}, effect: allow, priority: 1}
- {name: "über", match: {principal: {id: x}}, effect: allow, priority: 1}
- {name: a--b, match: {principal: {id: x}}, effect: allow, priority: 1}
"#,
        r#"p.yaml:1:10: `Partner_Access` is no name in kebab-case; write `partner-access`
p.yaml:2:10: `über` is no name in kebab-case
p.yaml:3:10: `a--b` is no name in kebab-case; write `a-b`"#,
    ),
    (
        "a name that is taken",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1}
- {name: b, match: {principal: {id: y}}, effect: deny, priority: 2}
- {name: a, match: {principal: {id: z}}, effect: deny, priority: 3}
"#,
        r#"p.yaml:3:10: another policy is called `a`, at p.yaml:1:10; give it a name of its own"#,
    ),
    (
        "a misspelt deny never widens",
        r#"- name: a
  match: {principal: {id: x}}
  effect: allow
  priority: 1
  permissions:
    tools: {allow: ["*"], dney: [shell]}
"#,
        r#"p.yaml:6:27: there is no field `dney` in `tools`; did you mean `deny`?"#,
    ),
    (
        "an effect that is none",
        r#"- {name: a, match: {principal: {id: x}}, effect: permit, priority: 1}
- {name: b, match: {principal: {id: x}}, effect: alow, priority: 2}
"#,
        r#"p.yaml:1:50: `permit` is none of the words for an effect; there are `allow`, `deny` and `ask`
p.yaml:2:50: `alow` is none of the words for an effect; did you mean `allow`?"#,
    ),
    (
        "no effect and no ceiling",
        r#"- {name: a, match: {principal: {id: x}}, priority: 1}
"#,
        r#"p.yaml:1:3: only a ceiling can do without an effect; add `effect: allow`, `deny` or `ask`"#,
    ),
    (
        "priorities out of range",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 101}
- {name: b, match: {principal: {id: x}}, effect: allow, priority: -1}
- {name: c, match: {principal: {id: x}}, effect: allow, priority: "50"}
- {name: d, match: {principal: {id: x}}, effect: allow, priority: 5.5}
"#,
        r#"p.yaml:1:67: a priority of 101 is not between 0 and 100
p.yaml:2:67: a priority of -1 is not between 0 and 100
p.yaml:3:67: a priority is a small whole number, and not text; leave out the quotation marks
p.yaml:4:67: a priority is a small whole number, and not a number; without a fraction, and not that large"#,
    ),
    (
        "principal fields",
        r#"- name: a
  match:
    principal: {is_owner: yes, owner: true, relationship: 7, tags: [1], id: "", unknown: null, webhook: [x]}
  effect: allow
  priority: 1
"#,
        r#"p.yaml:3:27: `is_owner` is `true` or `false`, and not text; write `true`
p.yaml:3:32: there is no field `owner` in `principal`; there are `is_owner`, `relationship`, `tags`, `id`, `unknown`, `system`, `webhook` and `agent`
p.yaml:3:59: `relationship` is text, and not a number; put it in quotation marks
p.yaml:3:69: a tag is text, and not a number; put it in quotation marks
p.yaml:3:77: `id` is empty
p.yaml:3:90: `unknown` is `true` or `false`, and not empty
p.yaml:3:105: `webhook` is text, and not a list"#,
    ),
    (
        "conditions",
        r#"- name: a
  match:
    conditions:
      - {platform: 5, container_kind: channel, server: x}
      - {container_kind: groups}
      - discord
  effect: allow
  priority: 1
"#,
        r#"p.yaml:4:20: `platform` is text, and not a number; put it in quotation marks
p.yaml:4:39: `channel` is none of the words for a kind of container; there are `dm` and `group`
p.yaml:4:48: there is no field `server` in a condition; there are `platform`, `container_kind`, `account`, `guild`, `time`, `hook_id` and `event_type`
p.yaml:5:26: `groups` is none of the words for a kind of container; did you mean `group`?
p.yaml:6:9: a condition is a map of fields, and not text"#,
    ),
    (
        "conditions that are no list",
        r#"- {name: a, match: {conditions: {platform: x}}, effect: allow, priority: 1}
"#,
        r#"p.yaml:1:33: `conditions` is a list, and not a map"#,
    ),
    (
        "times",
        r#"- name: a
  match:
    conditions:
      - time: 25:00-08:00
      - time: [weekends, funday, 08:00-08:00]
      - time: 23:00
      - time: []
  effect: allow
  priority: 1
"#,
        r#"p.yaml:4:15: this is no time: `25:00` is no time of day between `00:00` and `24:00`
p.yaml:5:26: this is no time: `funday` is no day; there are `weekdays`, `weekends`, `mon`, `tue`, `wed`, `thu`, `fri`, `sat` and `sun`
p.yaml:5:34: this is no time: `08:00-08:00` begins and ends at once: the whole day is `00:00-24:00`
p.yaml:6:15: this is no time: `23:00` is no window like `23:00-08:00`
p.yaml:7:15: `time` is empty"#,
    ),
    (
        "globs",
        r#"- name: a
  match: {principal: {id: x}}
  effect: allow
  priority: 1
  permissions:
    tools:
      allow: ["read?", "!shell", Shell, "a, b", "ä*"]
      deny: ["", 5, [x]]
"#,
        r#"p.yaml:7:15: the glob `read?` holds `?`, and so fits no tool; only `*` stands for other characters
p.yaml:7:24: the glob `!shell` holds `!`, and so fits no tool; put what is not allowed under `deny`
p.yaml:7:34: the glob `Shell` holds `S`, and so fits no tool; tools are written in small letters
p.yaml:7:41: the glob `a, b` holds `,`, and so fits no tool; make it several entries
p.yaml:7:49: the glob `ä*` holds `ä`, and so fits no tool; tools are written in a-z, 0-9, `_`, `-`, `.`, `:` and `/`
p.yaml:8:14: a glob over tools is empty
p.yaml:8:18: a glob over tools is text, and not a number; put it in quotation marks
p.yaml:8:21: a glob over tools is text, and not a list"#,
    ),
    (
        "tools that are no map",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1, permissions: {tools: all}}
"#,
        r#"p.yaml:1:91: `tools` is a map of fields, and not text"#,
    ),
    (
        "credentials and data",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1, permissions: {credentials: ["goo*"], data: fulll}}
"#,
        r#"p.yaml:1:98: `goo*` is a glob, and credentials are named one by one; `*` alone is all of them
p.yaml:1:113: `fulll` is none of the words for a data level; did you mean `full`?"#,
    ),
    (
        "session keys",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1, session: {key: "p:{principal.nmae}"}}
- {name: b, match: {principal: {id: x}}, effect: allow, priority: 1, session: {key: "p:{platform"}}
- {name: c, match: {principal: {id: x}}, effect: allow, priority: 1, session: {}}
- {name: d, match: {principal: {id: x}}, effect: allow, priority: 1, session: {key: ""}}
- {name: e, match: {principal: {id: x}}, effect: allow, priority: 1, session: {key: "{text}"}}
"#,
        r#"p.yaml:1:85: this is no session key: there is no variable `principal.nmae`; did you mean `principal.name`?
p.yaml:2:85: this is no session key: a brace is not closed, or closed and never opened
p.yaml:3:79: `session` is empty; give a `persona`, a `key` or both
p.yaml:4:85: a session key is empty
p.yaml:5:85: this is no session key: there is no variable `text`; there are `principal.name`, `principal.id`, `principal.relationship`, `platform`, `container_id`, `account` and `guild`"#,
    ),
    (
        "a variable that is never known",
        r#"- {name: a, match: {principal: {unknown: true}}, effect: allow, priority: 1, session: {key: "u:{principal.name}"}}
- {name: b, match: {principal: {webhook: github}}, effect: allow, priority: 2, session: {key: "{principal.relationship}"}}
"#,
        r#"p.yaml:1:87: `{principal.name}` is never known where `unknown` is true, and a key needs it; take a variable that is there, like `{platform}`
p.yaml:2:89: `{principal.relationship}` is never known where `webhook` is true, and a key needs it; take a variable that is there, like `{platform}`"#,
    ),
    (
        "modifiers",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1, modifiers: {queue_mode: colect, delay_response: 1, trust: standart, trust_level: x}}
"#,
        r#"p.yaml:1:94: `colect` is none of the words for a queue mode; did you mean `collect`?
p.yaml:1:118: `delay_response` is `true` or `false`, and not a number
p.yaml:1:128: `standart` is none of the words for a level of trust; did you mean `standard`?
p.yaml:1:138: there is no field `trust_level` in `modifiers`; there are `queue_mode`, `delay_response` and `trust`"#,
    ),
    (
        "pairing without a denial",
        r#"- {name: a, match: {principal: {id: x}}, effect: allow, priority: 1, pairing: once}
- {name: b, match: {principal: {id: y}}, effect: deny, priority: 2, pairing: twice}
"#,
        r#"p.yaml:1:79: pairing answers a denial, and this policy does not deny; leave it out, or write `effect: deny`
p.yaml:2:78: `twice` is none of the words for pairing; there is `once`"#,
    ),
    (
        "a session that is never used",
        r#"- {name: a, match: {principal: {id: x}}, ceiling: true, priority: 1, session: {key: k}}
"#,
        r#"p.yaml:1:79: a ceiling without an effect admits nobody, so its session is never used; leave it out, or write `effect: allow`"#,
    ),
    (
        "a bare number where text belongs",
        r#"- name: a
  match: {conditions: [{guild: 0x10}, {account: 007}, {platform: true}]}
  effect: deny
  priority: 1
"#,
        r#"p.yaml:2:32: `guild` is text, and not a number; put it in quotation marks
p.yaml:2:49: `account` is text, and not a number; put it in quotation marks
p.yaml:2:66: `platform` is text, and not `true` or `false`; put it in quotation marks"#,
    ),
    (
        "texts that nobody sees",
        r#"- {name: a, match: {principal: {relationship: "part\u200bner"}}, effect: allow, priority: 1}
"#,
        r#"p.yaml:1:47: `relationship` holds a character that nobody sees"#,
    ),
    (
        "examples that are malformed",
        r#"- name: a
  match: {principal: {id: x}}
  effect: allow
  priority: 1
  examples:
    - {principal: {id: x}}
    - {principal: {idd: x}, event: {kind: dm}, now: noon, expect: {effect: maybe}}
    - {expect: {may: {calc: 1}}}
"#,
        r#"p.yaml:6:7: `expect` is missing in an example; say what has to come out, like `expect: { effect: deny }`
p.yaml:7:20: there is no field `idd` in `principal`; did you mean `id`?
p.yaml:7:37: there is no field `kind` in `event`; there are `platform`, `container_kind`, `container_id`, `account`, `guild`, `hook_id` and `event_type`
p.yaml:7:53: `noon` is no time like `2026-01-29T23:30:00+11:00`, with its offset
p.yaml:7:76: `maybe` is none of the words for an effect; there are `allow`, `deny` and `ask`
p.yaml:8:16: `effect` is missing in `expect`; `allow`, `deny` or `ask`
p.yaml:8:29: what is expected of a tool is `true` or `false`, and not a number"#,
    ),
    (
        "examples that do not come out",
        r#"- name: a
  match: {principal: {id: x}}
  effect: allow
  priority: 1
  permissions: {tools: {allow: ["*"], deny: [shell]}}
  session: {key: "s:{principal.id}"}
  examples:
    - principal: {id: x}
      expect:
        effect: deny
        matched: [b]
        session: s:y
        may: {calc: true, shell: true}
        data: full
        credentials: [google]
    - {principal: {id: y}, expect: {effect: allow}}
    - {principal: {id: x}, tools: [calc, shell], expect: {effect: allow, may: [shell]}}
"#,
        r#"p.yaml:10:17: an example does not come out: the effect should be `deny`, and is `allow` (`a` allows it, and no policy denies it)
p.yaml:11:18: an example does not come out: what matches should be [b], and is [a]
p.yaml:12:18: an example does not come out: the session should be `s:y`, and is `s:x`
p.yaml:13:27: an example does not come out: `shell` should be allowed, and is refused (`a` denies it)
p.yaml:14:15: an example does not come out: the data level should be `full`, and is `none`
p.yaml:15:22: an example does not come out: the list of credentials should be [google], and is []
p.yaml:16:45: an example does not come out: the effect should be `allow`, and is `deny` (no policy matches, so the answer is no)
p.yaml:17:79: an example does not come out: `calc` should be refused, and is allowed (`a` allows it)
p.yaml:17:79: an example does not come out: `shell` should be allowed, and is refused (`a` denies it)"#,
    ),
    (
        "not YAML",
        r#"- {name: a
- x
"#,
        r#"p.yaml:1:3: this is not YAML: unclosed bracket '{'"#,
    ),
    (
        "a tab",
        r#"- name: a
	match: {}
"#,
        r#"p.yaml:1:9: this is not YAML: while scanning a plain scalar, found a tab"#,
    ),
    (
        "an anchor that is not there",
        r#"- *a
"#,
        r#"p.yaml:1:3: this is not YAML: alias references unknown anchor"#,
    ),
    (
        "an alias of itself",
        r#"- &a [*a]
"#,
        r#"p.yaml:1:7: aliases stand for too much here; an alias cannot stand for itself"#,
    ),
    (
        "a second document",
        r#"- {}
---
- {}
"#,
        r#"p.yaml:3:1: a second document begins here; leave out the `---`, or make it a file of its own"#,
    ),
    (
        "a tag",
        r#"- !policy {name: a}
"#,
        r#"p.yaml:1:11: tags are not understood here; leave the tag out"#,
    ),
];
