//! A tool that takes as long as it is told, and nothing else.

use std::time::Duration;

use async_trait::async_trait;
use broker::{Authorized, Handler, Reach, Returned, ToolSpec};
use domain::Tier;
use domain::call::{Call, Failure};
use serde_json::{Value, json};

pub(crate) struct Sleeper;

pub(crate) fn spec() -> ToolSpec {
    let id = "sleep".parse().expect("the id of a tool");
    ToolSpec { reach: Reach::Nothing, ..ToolSpec::shipped(id, "takes its time", Tier::ReadOnly) }
}

#[async_trait]
impl Handler for Sleeper {
    fn accepts(&self, args: &Value) -> Result<(), String> {
        args.get("ms").and_then(Value::as_u64).map(drop).ok_or_else(|| "`ms` is missing".into())
    }

    async fn call(&self, call: Authorized<Call>) -> Returned {
        let ms = call.call().args.get("ms").and_then(Value::as_u64);
        let Some(ms) = ms else { return Failure::logical("how long?").into() };
        tokio::time::sleep(Duration::from_millis(ms)).await;
        Ok(json!({ "slept": ms })).into()
    }
}
