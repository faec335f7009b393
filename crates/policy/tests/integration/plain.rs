//! The specification read out loud, with no regard for speed.

use serde_json::{Map, Value, json};

pub(crate) fn answer(policies: &[Value], line: &Value) -> Value {
    let mut matched: Vec<&Value> = policies.iter().filter(|policy| matches(policy, line)).collect();
    matched.sort_by_key(|policy| -policy["priority"].as_i64().unwrap());

    // any deny ⇒ deny → else any ask ⇒ ask → else any allow ⇒ allow → no match ⇒ deny
    let says = |effect: &str| matched.iter().any(|policy| policy["effect"] == effect);
    let mut effect = "deny";
    for candidate in ["allow", "ask", "deny"] {
        if says(candidate) {
            effect = candidate;
        }
    }

    // The highest-priority allowing policy that has one. No key, no session, and then no access.
    let mut session = Value::Null;
    if effect != "deny" {
        let chosen =
            matched.iter().find(|policy| policy["effect"] == "allow" && !policy["session"].is_null());
        if let Some(policy) = chosen {
            let written = &policy["session"];
            match written["key"].as_str().map(|key| render(key, line)) {
                Some(None) if effect == "allow" => effect = "deny",
                Some(None) => {}
                Some(Some(key)) => session = json!({ "persona": written["persona"], "key": key }),
                None => session = json!({ "persona": written["persona"], "key": null }),
            }
        }
    }

    let allowed = effect == "allow";
    let mut may = Map::new();
    for tool in line["tools"].as_array().into_iter().flatten() {
        let tool = tool.as_str().unwrap();
        may.insert(tool.to_owned(), json!(allowed && may_use(&matched, tool)));
    }

    let mut modifiers = Map::new();
    for policy in &matched {
        for (key, value) in policy["modifiers"].as_object().into_iter().flatten() {
            modifiers.entry(key.clone()).or_insert(value.clone());
        }
    }

    let mut answer = json!({
        "effect": effect,
        "matched": matched.iter().map(|policy| policy["name"].clone()).collect::<Vec<_>>(),
        "session": session,
        "may": may,
        "data": if allowed { data(&matched) } else { "none" },
        "credentials": if allowed { credentials(&matched) } else { vec![] },
        "modifiers": modifiers,
    });
    let denying: Vec<_> = matched.iter().filter(|policy| policy["effect"] == "deny").collect();
    if !denying.is_empty() && denying.iter().all(|policy| policy["pairing"] == "once") {
        answer["pairing"] = json!("once");
    }
    answer
}

// ---- who and where

fn matches(policy: &Value, line: &Value) -> bool {
    if policy["enabled"] == false {
        return false;
    }
    let none = Map::new();
    let wanted = policy["match"]["principal"].as_object().unwrap_or(&none);
    if !wanted.iter().all(|(field, value)| principal_matches(field, value, &line["principal"][field])) {
        return false;
    }
    let conditions = policy["match"]["conditions"].as_array().map_or(&[][..], |list| list);
    conditions.is_empty()
        || conditions.iter().any(|condition| {
            condition.as_object().unwrap().iter().all(|(field, value)| match field.as_str() {
                "time" => {
                    line["now"].as_str().is_some_and(|now| any(value).iter().any(|time| in_time(time, now)))
                }
                field => line["event"][field] == *value,
            })
        })
}

fn principal_matches(field: &str, wanted: &Value, had: &Value) -> bool {
    match field {
        "tags" => {
            let had = had.as_array().map_or(&[][..], |list| list);
            any(wanted).iter().all(|tag| had.iter().any(|had| had == tag))
        }
        "webhook" | "agent" if *wanted == true => *had == true || had.is_string(),
        _ => had == wanted,
    }
}

/// A list, or one that is written without brackets.
fn any(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(list) => list.iter().map(|entry| entry.as_str().unwrap()).collect(),
        one => vec![one.as_str().unwrap()],
    }
}

// ---- when

/// Minute by minute: which days and windows is this minute of this day in?
fn in_time(time: &str, now: &str) -> bool {
    let number = |from: usize, to: usize| now[from..to].parse::<i64>().unwrap();
    let (today, minute) =
        (weekday(number(0, 4), number(5, 7), number(8, 10)), number(11, 13) * 60 + number(14, 16));
    let (days, window) = match time.rsplit_once(' ') {
        Some((days, window)) => (days, Some(window)),
        None if time.contains(':') => ("", Some(time)),
        None => (time, None),
    };
    let on = |day: i64| match days {
        "" => true,
        "weekends" => day >= 5,
        "weekdays" => day < 5,
        days => days.split(',').any(|name| {
            ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].iter().position(|day| *day == name)
                == usize::try_from(day).ok()
        }),
    };
    let Some(window) = window else { return on(today) };
    let clock = |text: &str| text[0..2].parse::<i64>().unwrap() * 60 + text[3..5].parse::<i64>().unwrap();
    let (from, to) = (clock(&window[0..5]), clock(&window[6..11]));
    if from < to {
        on(today) && from <= minute && minute < to
    } else {
        // This evening's night, or what is left of last night's.
        (on(today) && from <= minute) || (on((today + 6) % 7) && minute < to)
    }
}

/// Zeller, with Monday as 0.
fn weekday(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month < 3 { (year - 1, month + 12) } else { (year, month) };
    let saturday_is_0 = (day + 13 * (month + 1) / 5 + year + year / 4 - year / 100 + year / 400) % 7;
    (saturday_is_0 + 5) % 7
}

// ---- session keys

fn render(key: &str, line: &Value) -> Option<String> {
    let variables = [
        ("{principal.name}", &line["principal"]["name"]),
        ("{principal.id}", &line["principal"]["id"]),
        ("{principal.relationship}", &line["principal"]["relationship"]),
        ("{platform}", &line["event"]["platform"]),
        ("{container_id}", &line["event"]["container_id"]),
        ("{account}", &line["event"]["account"]),
        ("{guild}", &line["event"]["guild"]),
    ];
    let mut rendered = key.to_owned();
    for (variable, value) in variables {
        if rendered.contains(variable) {
            let value = value.as_str().filter(|value| !value.is_empty())?;
            rendered = rendered
                .replace(variable, &value.replace('%', "%25").replace(':', "%3A").replace(' ', "%20"));
        }
    }
    // The owner's own session is for who is put there in so many words, and never for a group.
    let may_be_main = key == "main" && line["event"]["container_kind"] != "group";
    (rendered != "main" || may_be_main).then_some(rendered)
}

// ---- how far

fn may_use(matched: &[&Value], tool: &str) -> bool {
    let some_allow =
        matched.iter().any(|policy| policy["effect"] == "allow" && listed(policy, "allow", tool));
    let no_deny = !matched.iter().any(|policy| listed(policy, "deny", tool));
    let closed = |policy: &Value| policy["ceiling"] == true || globs(policy, "deny").contains(&"*");
    let every_ceiling =
        matched.iter().filter(|policy| closed(policy)).all(|policy| listed(policy, "allow", tool));
    some_allow && no_deny && every_ceiling
}

fn globs<'a>(policy: &'a Value, side: &str) -> Vec<&'a str> {
    match &policy["permissions"]["tools"] {
        Value::String(all) if side == "allow" => vec![all],
        Value::Object(tools) => tools.get(side).map(any).unwrap_or_default(),
        _ => vec![],
    }
}

fn listed(policy: &Value, side: &str, tool: &str) -> bool {
    let counted = |glob: &&str| side == "allow" || *glob != "*";
    globs(policy, side).into_iter().filter(counted).any(|glob| fits(glob.as_bytes(), tool.as_bytes()))
}

fn fits(glob: &[u8], name: &[u8]) -> bool {
    match glob.first() {
        None => name.is_empty(),
        Some(b'*') => (0..=name.len()).any(|skipped| fits(&glob[1..], &name[skipped..])),
        Some(letter) => name.first() == Some(letter) && fits(&glob[1..], &name[1..]),
    }
}

/// Intersection of those that name any; a ceiling names all that gets through, and one without an effect gives nothing.
fn credentials(matched: &[&Value]) -> Vec<String> {
    let named = |policy: &Value| match &policy["permissions"]["credentials"] {
        Value::Null => None,
        list => Some(any(list).into_iter().map(str::to_owned).collect::<Vec<_>>()),
    };
    let both = |one: Vec<String>, other: Vec<String>| -> Vec<String> {
        if one.iter().any(|name| name == "*") {
            other
        } else if other.iter().any(|name| name == "*") {
            one
        } else {
            one.into_iter().filter(|name| other.contains(name)).collect()
        }
    };
    let giving = matched.iter().filter(|policy| !policy["effect"].is_null());
    let mut left = giving.filter_map(|policy| named(policy)).reduce(both).unwrap_or_default();
    for ceiling in matched.iter().filter(|policy| policy["ceiling"] == true) {
        left = both(left, named(ceiling).unwrap_or_default());
    }
    if left.iter().any(|name| name == "*") {
        return vec!["*".to_owned()];
    }
    left.sort();
    left.dedup();
    left
}

fn data(matched: &[&Value]) -> &'static str {
    let level = |policy: &Value| match policy["permissions"]["data"].as_str() {
        None => None,
        Some("full") => Some(2),
        Some("restricted") => Some(1),
        Some(_) => Some(0),
    };
    let giving = matched.iter().filter(|policy| !policy["effect"].is_null());
    let mut left = giving.filter_map(|policy| level(policy)).min().unwrap_or(0);
    for ceiling in matched.iter().filter(|policy| policy["ceiling"] == true) {
        left = left.min(level(ceiling).unwrap_or(0));
    }
    ["none", "restricted", "full"][left]
}
