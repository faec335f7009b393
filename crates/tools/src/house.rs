//! `audit_clear`: it is in the list, so that nobody looks for it elsewhere, and it always fails.

use async_trait::async_trait;
use broker::{Authorized, Category, Handler, Reach, Returned, ToolSpec};
use domain::Tier;
use domain::call::{Call, Failure};
use serde_json::{Value, json};

pub(crate) struct AuditClear;

pub(crate) fn spec() -> ToolSpec {
    #[expect(clippy::expect_used, reason = "it is written here, and a test reads it")]
    let id = "audit_clear".parse().expect("the id of a tool");
    ToolSpec {
        category: Category::System,
        reach: Reach::House,
        input_schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        ..ToolSpec::shipped(id, "cannot be done: the record is for ever", Tier::Admin)
    }
}

#[async_trait]
impl Handler for AuditClear {
    fn accepts(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }

    async fn call(&self, _: Authorized<Call>) -> Returned {
        Failure::logical("the record cannot be cleared, by anybody (rule 3)").into()
    }
}
