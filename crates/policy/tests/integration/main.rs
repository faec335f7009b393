//! A second evaluator of access policies, written straight from the specification, compared with ours on thousands of
//! random sets and cases.
//!
//! It works on raw JSON and shares no type and no helper with `policy`: not the globs, not the calendar, not the templates.
//! `draw` makes the sets and cases, `plain` answers them, and this file compares.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails loudly, and reads JSON that it has drawn itself"
)]

mod draw;
mod plain;

use policy::acl::load::{Origin, Source, load};
use policy::acl::{PolicySet, filter};
use serde_json::{Value, json};

use draw::Draw;

const SETS: u64 = 2_000;
const CASES: usize = 6;

fn loaded(policies: &Value) -> PolicySet {
    let text = serde_json::to_string(policies).expect("JSON");
    let source = Source { file: "drawn.yaml", text: &text, origin: Origin::Own };
    load(&[source]).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}")).set
}

/// The fields that both answer. `permissions` has a form of our own, and shows in `may`; the reason is a sentence.
const COMPARED: [&str; 8] =
    ["effect", "matched", "session", "may", "data", "credentials", "modifiers", "pairing"];

#[test]
fn both_answer_the_same() {
    let mut seen = Seen::default();
    for seed in 0..SETS {
        let mut draw = Draw::new(seed);
        let policies = draw.policies();
        let set = loaded(&policies);
        for _ in 0..CASES {
            let line = draw.case();
            let ours = filter::answer(&set, &line).expect("a case");
            let theirs = plain::answer(policies.as_array().expect("a list"), &line);
            for field in COMPARED {
                assert_eq!(
                    ours.get(field),
                    theirs.get(field),
                    "seed {seed}, {field}\n{}\n{line}\nours {ours}\ntheirs {theirs}",
                    serde_json::to_string_pretty(&policies).expect("JSON"),
                );
            }
            seen.count(&ours);
        }
    }
    seen.check();
}

/// What the comparison came by. One that never sees an `ask` says nothing about it.
#[derive(Debug, Default)]
struct Seen {
    allow: usize,
    ask: usize,
    deny: usize,
    keyless: usize,
    sessions: usize,
    may: usize,
    may_not: usize,
    credentials: usize,
    all_credentials: usize,
    restricted: usize,
    pairing: usize,
    matched: usize,
}

impl Seen {
    fn count(&mut self, answer: &Value) {
        let is = |field: &str, value: Value| usize::from(answer.get(field) == Some(&value));
        let long = |field: &str| answer[field].as_array().map_or(0, Vec::len);
        self.allow += is("effect", json!("allow"));
        self.ask += is("effect", json!("ask"));
        self.deny += is("effect", json!("deny"));
        self.keyless += usize::from(answer["reason"].as_str().is_some_and(|why| why.contains("session key")));
        self.sessions += usize::from(!answer["session"].is_null());
        let allowed = answer["effect"] == "allow";
        let may = answer["may"].as_object().expect("an object").values();
        let yes = may.clone().filter(|may| **may == json!(true)).count();
        self.may += yes;
        self.may_not += if allowed { may.count() - yes } else { 0 };
        self.credentials += usize::from(long("credentials") > 0);
        self.all_credentials += is("credentials", json!(["*"]));
        self.restricted += is("data", json!("restricted"));
        self.pairing += is("pairing", json!("once"));
        self.matched += usize::from(long("matched") > 2);
    }

    fn check(&self) {
        let all = [
            self.allow,
            self.ask,
            self.deny,
            self.keyless,
            self.sessions,
            self.may,
            self.may_not,
            self.credentials,
            self.all_credentials,
            self.restricted,
            self.pairing,
            self.matched,
        ];
        assert!(all.iter().all(|count| *count >= 50), "{self:?}");
    }
}
