//! Secrets: in at the boundary, and nowhere else.

use broker::{Answer, Context, Layer, Prepared, Registration, Registry};
use domain::call::{Failure, Outcome};
use domain::change::Standing;
use domain::{Time, Trust};
use ledger::records::CallStatus;
use serde_json::{Value, json};

use crate::door::world::{HIDDEN, World, batch, call, registry, salt};

/// With a tool `bank` that gives `function` the secret.
fn configured(function: &str, secret: &str) -> Registry {
    let registration: Registration = serde_json::from_value(json!({
        "tool_id": "bank", "description": "for a test",
        "handler_config": { "function": function, "fixed": { "key": format!("Bearer {{{{secret:{secret}}}}}") } },
    }))
    .unwrap();
    let all = registry();
    let spec = registration.spec(&all).unwrap();
    all.register(spec).unwrap()
}

async fn ended(function: &str, secret: &str, args: Value) -> (CallStatus, Outcome) {
    let mut world = World::with(configured(function, secret), 0);
    let ended = world.ended(call(7, "bank", args)).await;
    let everything = world.everything().await;
    assert!(everything.contains("for a test"), "it looks where something stands");
    assert!(!everything.contains(HIDDEN), "the value of a secret is on record");
    ended
}

#[tokio::test]
async fn the_handler_gets_the_value_and_nobody_else_sees_it() {
    // What comes back from the handler proves that it got the value, and is hidden again.
    let echo = json!({ "echo": { "n": 1, "key": "Bearer [secret:bank]" } });
    assert_eq!(ended("works", "bank", json!({ "n": 1 })).await, (CallStatus::Finished, Ok(echo)));

    let said = r#"it says no to {"key":"Bearer [secret:bank]"}"#;
    let failed = (CallStatus::Failed, Err(Failure::environmental(said)));
    assert_eq!(ended("fails", "bank", json!({})).await, failed);

    let missing = "the secret `mail` that the tool needs is not there";
    let failed = (CallStatus::Failed, Err(Failure::environmental(missing)));
    assert_eq!(ended("works", "mail", json!({})).await, failed);
}

#[tokio::test]
async fn a_placeholder_that_a_caller_wrote_is_text() {
    let args = json!({ "note": "{{secret:bank}}" });
    let echo = json!({ "echo": { "note": "{{secret:bank}}", "key": "Bearer [secret:bank]" } });
    assert_eq!(ended("works", "bank", args.clone()).await, (CallStatus::Finished, Ok(echo)));

    let mut world = World::new();
    let echo = Ok(json!({ "echo": args }));
    assert_eq!(world.ended(call(7, "works", args)).await, (CallStatus::Finished, echo));
}

#[tokio::test]
async fn what_a_handler_leaves_behind_or_proposes_is_hidden_too() {
    let made = json!({ "made": true });
    assert_eq!(ended("leaves", "bank", json!({})).await, (CallStatus::Finished, Ok(made)));
    let proposed = Failure::refused("no", vec!["ask at Bearer [secret:bank]".into()]);
    assert_eq!(ended("proposes", "bank", json!({})).await, (CallStatus::Failed, Err(proposed)));
}

/// It is denied, and what is kept of it names the secret: also where the schema's complaint would have quoted it.
#[tokio::test]
async fn a_call_that_carries_the_value_is_denied_and_kept_without_it() {
    let leaks = "the value of the secret `bank` stands in the arguments";
    let table = [
        (json!({ "note": HIDDEN }), Layer::PrimeDirectives, leaks),
        (json!({ "note": [{ HIDDEN: 1 }] }), Layer::PrimeDirectives, leaks),
        (
            json!(format!("x{HIDDEN}")),
            Layer::Schema,
            "the arguments do not fit the tool: they are no object with names",
        ),
        (
            json!({ "key": "mine" }),
            Layer::Schema,
            "the arguments do not fit the tool: `key` is fixed by the registration",
        ),
    ];
    for (args, layer, reason) in table {
        let world = World::with(configured("works", "bank"), 0);
        let ruled = world.rule(call(7, "bank", args));
        let word = ruled.decision().deciding().unwrap();
        assert_eq!(
            (ruled.decision().answer, word.layer, word.reason.as_str()),
            (Answer::Deny, layer, reason)
        );
        let salt = salt();
        let context = Context { agent: "main", trust: Trust::Operator, salt: &salt };
        let mut records = batch(1);
        Prepared::new(ruled, context, Time::from_micros(0)).unwrap_err().enter(None, &mut records);
        world.ledger.commit(records).await.unwrap();
        let everything = world.everything().await;
        assert!(everything.contains(reason.split('"').next().unwrap()), "it looks where something stands");
        assert!(!everything.contains(HIDDEN), "{reason}");
    }
}

/// What would be gone cannot be kept then, and why is on record.
#[tokio::test]
async fn a_file_that_holds_the_value_is_looked_at_and_not_kept() {
    for (content, secret) in [("plain".to_owned(), false), (format!("key = {HIDDEN}"), true)] {
        let args = json!({ "there": content });
        let looked = World::new().broker.look(&"writes".parse().unwrap(), &args).await.unwrap().unwrap();
        let [sight] = looked.names.as_slice() else { panic!("{looked:?}") };
        let Standing::File(from) = &sight.change.from else { panic!("{looked:?}") };
        assert_eq!((from.secret, sight.content.is_none(), looked.can_be_undone()), (secret, secret, !secret));
    }
}
