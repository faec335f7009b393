//! A decision that is made again from its own record says the same.

use std::sync::Arc;

use broker::{Context, Decided, Level, Policies, Prepared, Registry, ToolSpec};
use domain::call::Chooser;
use domain::id::CallId;
use domain::{Digest, Tier, Time, Trust};
use policy::vpol::Vpol;
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::door::world::{HIDDEN, Tool, World, batch, call, salt, spec};

/// A tool whose schema, and arguments whose names, are in the order that these numbers give.
fn tool(order: &[usize]) -> ToolSpec {
    let names = order.iter().map(|name| format!("n{name}"));
    let properties: Map<String, Value> = names.map(|name| (name, json!({ "type": "string" }))).collect();
    let input_schema = json!({
        "type": "object", "properties": properties, "required": ["n1"], "additionalProperties": false,
    });
    let sinks = vec!["n2".into(), "n0".into()];
    ToolSpec { input_schema, sinks, level: Level::ReviewAll, ..spec("works", Tier::WriteSafe) }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(json!(2.0)),
        Just(json!(-0.0)),
        Just(json!({ "b": 1, "a": [null, { "z": 1, "y": 2.50 }] })),
    ]
}

async fn body<T: DeserializeOwned>(world: &World, digest: Digest) -> T {
    serde_json::from_slice(&world.ledger.body(&digest).await.unwrap().unwrap()).unwrap()
}

async fn check(tool: ToolSpec, args: Value) {
    let world = World::with(Registry::default().with(tool, Arc::new(Tool("works"))), 0);
    let mut asked = call(7, "works", args);
    asked.chosen_by = Chooser::Model;
    let (salt, mut written) = (salt(), batch(1));
    let context = Context { agent: "main", trust: Trust::Operator, salt: &salt };
    let refused = Prepared::new(world.rule(asked), context, Time::from_micros(0)).unwrap_err();
    let first = refused.decision().clone();
    written.put(&salt);
    refused.enter(None, &mut written);
    world.ledger.commit(written).await.unwrap();

    let row = world.ledger.call(CallId::from_bits(7)).await.unwrap().unwrap();
    let decided: Decided = body(&world, row.decision).await;
    let inputs = decided.inputs.unwrap();
    let known: ToolSpec = body(&world, inputs.tool.unwrap()).await;
    let vpol = Vpol::DEFAULT_OWNER;
    let policies = Policies { frozen: Some(&vpol), of_now: None };
    let again = inputs.decide(Some(&known), policies, "x");
    assert_eq!((&first, &*again), (&decided.decision, &first));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_decision_follows_from_its_own_record(
        order in Just(vec![0_usize, 1, 2, 3]).prop_shuffle(),
        names in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle(),
        values in vec(value(), 0..5),
    ) {
        // Where a secret is in a name, it is hidden before anything is decided.
        let named = |name: &usize| if *name == 4 { format!("z{HIDDEN}") } else { format!("n{name}") };
        let args = names.iter().zip(values).map(|(name, value)| (named(name), value));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(tool(&order), Value::Object(args.collect())));
    }
}
