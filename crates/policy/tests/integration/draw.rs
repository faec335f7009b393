//! Random policy sets and cases as JSON, in every form that the files allow. A failure is a seed.

use serde_json::{Map, Value, json};

pub(crate) struct Draw(u64);

/// Few words each, so that policies and cases often meet.
const TAGS: [&str; 3] = ["a", "b", "role:c"];
const RELATIONS: [&str; 2] = ["partner", "friend"];
const IDS: [&str; 3] = ["x", "y", "main"];
const PLATFORMS: [&str; 2] = ["mail", "chat"];
const TOOLS: [&str; 6] = ["calc", "shell", "calendar_read", "calendar_write", "credentials_list", "a"];
const GLOBS: [&str; 10] =
    ["*", "calc", "shell", "calendar_*", "*_read", "c*c", "*l*", "credentials_*", "a", "**"];
const TIMES: [&str; 7] = [
    "23:00-08:00",
    "09:00-17:00",
    "weekends",
    "weekdays",
    "mon,wed",
    "fri 22:30-06:15",
    "weekends 23:00-08:00",
];
const KEYS: [&str; 7] = [
    "main",
    "k",
    "p:{principal.name}",
    "{principal.id}",
    "{platform}:{container_id}",
    "{account}-{guild}",
    "{principal.relationship}/{principal.id}",
];

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// splitmix64
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    fn some(&mut self, of: &[&str], most: u64) -> Vec<Value> {
        (0..self.below(most + 1)).map(|_| json!(self.one(of))).collect()
    }

    /// Sets the field to what is drawn, in so many of a hundred cases.
    fn put(
        &mut self,
        to: &mut Map<String, Value>,
        percent: u64,
        field: &str,
        value: impl FnOnce(&mut Self) -> Value,
    ) {
        if self.chance(percent) {
            let value = value(self);
            to.insert(field.to_owned(), value);
        }
    }

    fn flag(&mut self) -> Value {
        json!(self.chance(70))
    }

    fn mark(&mut self) -> Value {
        if self.chance(50) { json!(self.chance(70)) } else { json!(self.one(&["h", "i"])) }
    }

    pub(crate) fn policies(&mut self) -> Value {
        let count = self.below(9);
        (0..count).map(|n| self.policy(n)).collect()
    }

    fn policy(&mut self, n: u64) -> Value {
        let mut policy = Map::new();
        policy.insert("name".into(), json!(format!("p{n}")));
        policy.insert("match".into(), self.matching());
        policy.insert("priority".into(), json!(self.below(6) * 20));
        let effect =
            self.one(&["allow", "allow", "allow", "allow", "allow", "allow", "ask", "deny", "ceiling"]);
        if effect == "ceiling" {
            policy.insert("ceiling".into(), json!(true));
        } else {
            policy.insert("effect".into(), json!(effect));
            self.put(&mut policy, 15, "ceiling", Self::flag);
            // Some variables are never known to some matches, which is a mistake and not a case.
            let plain = policy["match"]["principal"].as_object().is_none_or(|who| {
                !["unknown", "system", "webhook", "agent"].iter().any(|field| who.contains_key(*field))
            });
            let keys = if plain { &KEYS[..] } else { &KEYS[..2] };
            self.put(&mut policy, 25, "session", |draw| match draw.below(6) {
                0 => json!({ "persona": "atlas" }),
                1 => json!({ "persona": "atlas", "key": draw.one(keys) }),
                _ => json!({ "key": draw.one(keys) }),
            });
        }
        if effect == "deny" {
            self.put(&mut policy, 60, "pairing", |_| json!("once"));
        }
        self.put(&mut policy, 20, "enabled", Self::flag);
        self.put(&mut policy, 80, "permissions", Self::permissions);
        self.put(&mut policy, 30, "modifiers", Self::modifiers);
        Value::Object(policy)
    }

    fn matching(&mut self) -> Value {
        let mut matching = Map::new();
        self.put(&mut matching, 70, "principal", |draw| {
            let mut who = Map::new();
            draw.put(&mut who, 10, "is_owner", Self::flag);
            draw.put(&mut who, 30, "relationship", |draw| json!(draw.one(&RELATIONS)));
            draw.put(&mut who, 15, "tags", |draw| {
                if draw.chance(20) { json!(draw.one(&TAGS)) } else { draw.some(&TAGS, 2).into() }
            });
            draw.put(&mut who, 15, "id", |draw| json!(draw.one(&IDS)));
            draw.put(&mut who, 10, "unknown", Self::flag);
            draw.put(&mut who, 5, "system", Self::flag);
            draw.put(&mut who, 8, "webhook", Self::mark);
            draw.put(&mut who, 8, "agent", Self::mark);
            who.into()
        });
        self.put(&mut matching, 40, "conditions", |draw| {
            let count = draw.below(3);
            (0..count).map(|_| draw.condition()).collect()
        });
        matching.into()
    }

    fn condition(&mut self) -> Value {
        let mut condition = Map::new();
        self.put(&mut condition, 40, "platform", |draw| json!(draw.one(&PLATFORMS)));
        self.put(&mut condition, 30, "container_kind", |draw| json!(draw.one(&["dm", "group"])));
        self.put(&mut condition, 10, "account", |draw| json!(draw.one(&["home", "work"])));
        self.put(&mut condition, 10, "guild", |draw| json!(draw.one(&["g", "h"])));
        self.put(&mut condition, 10, "hook_id", |draw| json!(draw.one(&["h", "i"])));
        self.put(&mut condition, 10, "event_type", |draw| json!(draw.one(&["message", "timer"])));
        self.put(&mut condition, 40, "time", |draw| {
            let list = draw.chance(30);
            if list { json!([draw.one(&TIMES), draw.one(&TIMES)]) } else { json!(draw.one(&TIMES)) }
        });
        condition.into()
    }

    fn permissions(&mut self) -> Value {
        let mut permissions = Map::new();
        self.put(&mut permissions, 80, "tools", |draw| {
            if draw.chance(20) {
                return json!("*");
            }
            let mut tools = Map::new();
            draw.put(&mut tools, 90, "allow", |draw| draw.some(&GLOBS, 4).into());
            draw.put(&mut tools, 30, "deny", |draw| draw.some(&GLOBS, 2).into());
            tools.into()
        });
        self.put(&mut permissions, 40, "credentials", |draw| match draw.below(4) {
            0 => json!("*"),
            _ => draw.some(&["google", "github", "bank", "*"], 3).into(),
        });
        self.put(&mut permissions, 50, "data", |draw| {
            json!(draw.one(&["full", "full", "restricted", "none"]))
        });
        permissions.into()
    }

    fn modifiers(&mut self) -> Value {
        let mut modifiers = Map::new();
        self.put(&mut modifiers, 50, "queue_mode", |draw| {
            json!(draw.one(&["steer", "followup", "collect", "interrupt"]))
        });
        self.put(&mut modifiers, 50, "delay_response", Self::flag);
        self.put(&mut modifiers, 50, "trust", |draw| json!(draw.one(&["hostile", "standard", "system"])));
        modifiers.into()
    }

    pub(crate) fn case(&mut self) -> Value {
        let mut who = Map::new();
        self.put(&mut who, 80, "is_owner", Self::flag);
        self.put(&mut who, 80, "relationship", |draw| json!(draw.one(&RELATIONS)));
        self.put(&mut who, 80, "tags", |draw| draw.some(&TAGS, 3).into());
        self.put(&mut who, 80, "id", |draw| json!(draw.one(&IDS)));
        self.put(&mut who, 70, "name", |draw| json!(draw.one(&["Lea", "main", ""])));
        self.put(&mut who, 50, "unknown", Self::flag);
        self.put(&mut who, 50, "system", Self::flag);
        self.put(&mut who, 50, "webhook", Self::mark);
        self.put(&mut who, 50, "agent", Self::mark);
        self.put(&mut who, 10, "nobody knows this", Self::flag);
        let mut event = Map::new();
        self.put(&mut event, 80, "platform", |draw| json!(draw.one(&PLATFORMS)));
        self.put(&mut event, 80, "container_kind", |draw| json!(draw.one(&["dm", "group"])));
        self.put(&mut event, 60, "container_id", |draw| json!(draw.one(&["c-1", "c-2"])));
        self.put(&mut event, 60, "account", |draw| json!(draw.one(&["home", "work"])));
        self.put(&mut event, 60, "guild", |draw| json!(draw.one(&["g", "h"])));
        self.put(&mut event, 60, "hook_id", |draw| json!(draw.one(&["h", "i"])));
        self.put(&mut event, 60, "event_type", |draw| json!(draw.one(&["message", "timer"])));
        let mut line = Map::new();
        line.insert("principal".into(), who.into());
        line.insert("event".into(), event.into());
        self.put(&mut line, 80, "now", |draw| {
            let (month, day, hour) = (1 + draw.below(12), 1 + draw.below(28), draw.below(24));
            // Often on the minute at which something begins or ends.
            let minute = draw.one(&["00", "00", "15", "30", "59"]);
            let zone = draw.one(&["Z", "+11:00", "-03:30"]);
            json!(format!("{}-{month:02}-{day:02}T{hour:02}:{minute}:30{zone}", 1999 + draw.below(60)))
        });
        line.insert("tools".into(), json!(TOOLS));
        line.into()
    }
}
