//! The constitution as the product keeps it: what violates a rule is refused, on record, on the bus, and comes out the
//! same when it is decided again. On every store.

use std::sync::Arc;

use app::Code;
use app::record::Again;
use app::record::Branch;

use domain::ask::Action;
use ledger::query::Select;
use ledger::records::{AuditEntry, CallStatus, ToolCall};
use ledger::table::Record;
use present::progress::list_events;
use serde_json::{Value, json};
use testkit::scripted::call;
use testkit::{Kept, Scripted, World};

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.unwrap();
    rows.into_iter().map(|row| T::from_row(row).unwrap()).collect()
}

/// The one call that is no delivery, and the rules that the audit says it violated, right after its refusal.
async fn refused(world: &World) -> (ToolCall, Vec<u64>) {
    let call =
        rows::<ToolCall>(world).await.into_iter().find(|call| call.tool_id.as_str() != "deliver").unwrap();
    assert_eq!(call.status, CallStatus::Refused);
    let audit =
        rows::<AuditEntry>(world).await.into_iter().skip_while(|entry| entry.kind != "call.refused").skip(1);
    let named = audit.take_while(|entry| entry.kind == "governance.rule_violated").map(|entry| {
        assert_eq!(entry.subject, call.id.to_string());
        let bytes: Value = serde_json::from_slice(&entry.bytes).unwrap();
        bytes.pointer("/detail/rule").and_then(Value::as_u64).unwrap()
    });
    let named = named.collect();
    (call, named)
}

async fn on_the_bus(world: &World) -> Vec<Value> {
    let mut tap = world.app.tasks().tap(Some(0)).await.unwrap();
    let steps = tap.now().await.unwrap();
    let events = steps.iter().flat_map(|tapped| list_events(tapped.task, tapped.step.as_ref().unwrap()));
    let events = events.map(|event| serde_json::to_value(event).unwrap());
    events.filter(|event| event.get("type") == Some(&json!("governance:rule_violated"))).collect()
}

fn leaves(because: &[Branch]) -> Vec<(&str, &str)> {
    because
        .iter()
        .flat_map(|branch| [vec![(branch.label, branch.text.as_str())], leaves(&branch.because)].concat())
        .collect()
}

/// `why` says which rule, everything is the same when it is decided again, and the record is whole.
async fn told_and_decided_again(world: &World, call: &ToolCall, says: &str) {
    let why = world.app.record().recheck(&call.id.to_string()).await.unwrap();
    let told = leaves(&why.because);
    assert!(told.iter().any(|(label, text)| *label == "refused" && text.contains(says)), "{told:?}");
    assert!(told.iter().any(|(label, text)| *label == "constitution" && text.contains(says)), "{told:?}");
    let recheck = why.recheck.unwrap();
    assert_eq!(recheck.count(|again| *again != Again::Same), 0, "{recheck:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_clears_the_record_not_even_the_owner_with_a_yes() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let report = world.call("audit:clear", json!({}), true).await.unwrap();
        assert_eq!(report.problem().map(|problem| problem.code), Some(Code::REFUSED), "{kept:?}");
        let (call, rules) = refused(&world).await;
        assert_eq!(rules, [3], "{kept:?}");
        let expected = json!({
            "seq": 4, "v": 1, "type": "governance:rule_violated", "rule": 3, "name": "audit immutable",
            "action": call.id, "task_id": call.task_id,
        });
        assert_eq!(on_the_bus(&world).await, [expected], "{kept:?}");
        told_and_decided_again(&world, &call, "rule 3, audit immutable").await;
    }
}

/// Under another name it is the same function.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_clears_the_record_by_another_name() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let tool = json!({
            "tool_id": "tidy_up", "description": "tidies up", "handler_config": { "function": "audit_clear" },
        });
        world.app.tools().register(&tool.to_string()).await.unwrap();
        world.call("tidy_up", json!({}), true).await.unwrap();
        assert_eq!(refused(&world).await.1, [3], "{kept:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_tries_is_told_which_rule() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.think(Arc::new(Scripted::new(|evidence| match evidence.first().map(|one| &one.outcome) {
            None => call("audit_clear", json!({})),
            Some(outcome) => Action::done(outcome.as_ref().unwrap_err().message.clone()),
        })));
        world.run("tidy up").await.unwrap();
        let (call, rules) = refused(&world).await;
        assert_eq!(rules, [3], "{kept:?}");
        told_and_decided_again(&world, &call, "the record cannot be cleared, by anybody").await;
        let ordinary = World::new(kept).await;
        ordinary.file("a.rs", "fn a() {}").run("how many Rust files are here?").await.unwrap();
        assert_eq!(on_the_bus(&ordinary).await, Vec::<Value>::new(), "{kept:?}");
    }
}
