//! `ggs step`: rounds in, directives of the solver out.

use clap::Args;
use domain::gradient::Params;
use engine::ggs::filter::{Answer, Filter};
use schemars::JsonSchema;
use serde::Deserialize;

use super::UNCHANGED;
use crate::operation::{
    LineFilter, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Requirements,
    StreamEnd, answer_lines,
};

/// Rounds in, what is to be done out; lines of the same task are its successive rounds
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct SolveRounds {}

impl Operation for SolveRounds {
    const SPEC: OperationSpec = OperationSpec::new(
        "ggs step",
        OperationAccess::READ,
        &[
            r#"echo '{"task":"t","elapsed_ms":30000,"outcomes":[{"subtask":"a","status":"failed","tool_calls":[{"tool":"read","target":"x"}],"criteria":[]}]}' | regent ggs step"#,
        ],
    )
    .notes(
        r#"Each line is answered with {"task","round","D","P","omega","L","grad_l","grad_gap","directive","prev_directive","blocked_tools","blocked_targets","worsening","law2","rationale"}; a bad one with {"error","line"}.
All fields: docs/filters.md"#,
    );
    type Output = StreamEnd;

    fn requirements(&self) -> Requirements {
        Requirements::NONE
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        answer_lines(context, UNCHANGED, RoundFilter(Filter::new(Params::default()))).await
    }
}

struct RoundFilter(Filter);

impl LineFilter for RoundFilter {
    type Answer = Answer;

    async fn answer(&mut self, line: String) -> Result<Result<Answer, String>, OperationError> {
        Ok(self.0.answer(&line).map_err(|bad| bad.to_string()))
    }
}
