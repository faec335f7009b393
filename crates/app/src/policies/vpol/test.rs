//! `vpol test`.

use std::path::PathBuf;

use clap::Args;
use policy::vpol::{VpolSet, filter};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::operation::{
    LineFilter, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Requirements,
    StreamEnd, answer_lines,
};

/// Which policy a chain would get, and what it says of a call: cases in, answers out
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct TestVpols {
    /// The policies, in YAML; those that count, if none is named
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub policies: Vec<PathBuf>,
}

impl Operation for TestVpols {
    const SPEC: OperationSpec = OperationSpec::new(
        "vpol test",
        OperationAccess::READ,
        &[
            r#"echo '{"principal":{"is_owner":true},"attended":false,"call":{"tool":"delete_file","tier":"write_destructive"}}' | regent vpol test"#,
        ],
    )
    .notes(
        r#"Each line is answered with {"policy","id","mode","up_to","reason","call":{"answer","reason","instead"}}; a bad one with {"error","line"}.
All fields: docs/filters.md"#,
    );
    type Output = StreamEnd;

    fn requirements(&self) -> Requirements {
        // Which policies are in force stands in the database that the settings name.
        Requirements { instance: false, settings: self.policies.is_empty() }
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        let set = context.app.policies().vpols_of(context.io, &self.policies).await?;
        answer_lines(context, "all other lines were answered, and nothing was written", VpolCases(set)).await
    }
}

/// Answers cases by these policies.
struct VpolCases(VpolSet);

impl LineFilter for VpolCases {
    type Answer = Value;

    async fn answer(&mut self, line: String) -> Result<Result<Value, String>, OperationError> {
        let case = domain::json::from_str(&line).map_err(|error| error.to_string());
        Ok(case.and_then(|case| filter::answer(&self.0, &case).map_err(|bad| bad.to_string())))
    }
}
