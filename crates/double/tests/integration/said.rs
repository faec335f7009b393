//! The bytes of the same answer in every dialect, and of every denial: that they do not change by themselves.
//!

//! After a change on purpose: `UPDATE=1 cargo test -p double --test integration said`, and read the difference.

use std::path::Path;

use crate::common::Waits;
use double::{Denied, Dialect, Double, Fault, Reaction, RetryAfter, Said, Script, Usage};
use serde_json::json;

fn compare(name: &str, seen: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/said").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, seen).expect("a snapshot that can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == seen, "{name} is not what it was. Now it is:\n{seen}");
}

fn everything() -> Said {
    Said::text("Grüß dich.")
        .thinking("First I look.", "c2lnbmVk")
        .and_call("weather", json!({"city": "Ulm", "days": 3}))
        .and_call("time_of", json!({"zone": "Europe/Berlin"}))
        .using(Usage { input: 100, cached: 40, out: 30, thought: 10 })
}

#[test]
fn one_answer_is_the_same_bytes_as_ever_in_every_dialect() {
    for dialect in Dialect::ALL {
        let name = json!(dialect).as_str().expect("a name").to_owned();
        for (stream, kind) in [(false, "json"), (true, "txt")] {
            let double = Double::start(Script::new().otherwise(everything()));
            let seen = crate::common::ask(&double.url, dialect, stream, Waits::Long).expect("an answer");
            let head = format!("{} {}\n", seen.status, seen.header("content-type").unwrap_or_default());
            let body = if stream {
                seen.text().replace('\r', "␍")
            } else {
                serde_json::to_string_pretty(&seen.json()).expect("JSON") + "\n"
            };
            compare(&format!("{name}.{kind}"), &(head + &body));
        }
    }
}

fn denials() -> Vec<Denied> {
    vec![
        Denied::NoJson,
        Denied::Missing("messages.0.role".into()),
        Denied::Wrong { field: "messages.0.role".into(), why: "expected a string".into() },
        Denied::Unknown("generationConfig.colour".into()),
        Denied::Unknown("colour".into()),
        Denied::Unsupported("temperature".into()),
        Denied::UnsupportedValue { field: "temperature".into(), value: "0.2".into() },
        Denied::UnsupportedFormat,
        Denied::UnsupportedTools,
        Denied::TooLong { tokens: 208_310, limit: 200_000 },
        Denied::NoKey,
        Denied::WrongKey,
        Denied::Unauthorized,
        Denied::Payment,
        Denied::Quota,
        Denied::Forbidden,
        Denied::NoModel("no-such".into()),
        Denied::NoPath,
        Denied::TooLarge,
        Denied::RateLimited(Some(RetryAfter::Seconds(7))),
        Denied::RateLimited(Some(RetryAfter::Date("Fri, 31 Dec 2100 23:59:59 GMT".into()))),
        Denied::RateLimited(Some(RetryAfter::Millis(1500))),
        Denied::Internal,
        Denied::BadGateway,
        Denied::Unavailable(Some(RetryAfter::Seconds(1))),
        Denied::Overloaded,
        Denied::Filtered,
    ]
}

#[test]
fn every_denial_is_the_same_bytes_as_ever_in_every_dialect() {
    for dialect in Dialect::ALL {
        let name = json!(dialect).as_str().expect("a name").to_owned();
        let mut written = String::new();
        for denied in denials() {
            // Streamed or not: who is denied anything is told so before.
            let [whole, streamed] = [false, true].map(|stream| {
                let double =
                    Double::start(Script::new().otherwise(Reaction::from(Fault::Deny(denied.clone()))));
                crate::common::ask(&double.url, dialect, stream, Waits::Long).expect("an answer")
            });
            assert_eq!(
                (whole.status, whole.text()),
                (streamed.status, streamed.text()),
                "{dialect:?} {denied:?}"
            );
            let retry = ["retry-after", "retry-after-ms"]
                .into_iter()
                .find_map(|name| Some((name, whole.header(name)?)));
            let retry = retry.map(|(name, value)| format!(" {name}: {value}")).unwrap_or_default();
            written.push_str(&format!("{denied:?}\n{}{retry}\n{}\n\n", whole.status, whole.text()));
        }
        compare(&format!("denied-{name}.txt"), &written);
    }
}

#[test]
fn models_are_listed_as_ever_in_every_dialect() {
    let double = Double::start(Script::new());
    let mut written = String::new();
    for (dialect, path) in [
        (Dialect::Anthropic, "/v1/models"),
        (Dialect::Anthropic, "/v1/models/double-small"),
        (Dialect::Chat, "/v1/models"),
        (Dialect::Chat, "/v1/models/double-small"),
        (Dialect::Gemini, "/v1beta/models"),
        (Dialect::Gemini, "/v1/models/double-small"),
        (Dialect::Ollama, "/api/tags"),
        (Dialect::Ollama, "/api/version"),
        (Dialect::Ollama, "/"),
    ] {
        let seen = crate::common::get(&double.url, path, &crate::common::headers(dialect));
        written.push_str(&format!("{dialect:?} {path}\n{}\n{}\n\n", seen.status, seen.text()));
    }
    let shown = crate::common::post(&double.url, "/api/show", &[], &json!({"model": "double-thinker"}));
    written.push_str(&format!("Ollama /api/show\n{}\n{}\n", shown.status, shown.text()));
    compare("models.txt", &written);
}
