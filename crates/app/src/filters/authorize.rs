//! `authorize`: episodes in, decisions of the broker out.

use broker::episode::{Answered, Episode};
use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;

use super::UNCHANGED;
use crate::operation::{
    LineFilter, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Requirements,
    StreamEnd, answer_lines,
};

/// What the broker would say to a model's calls: episodes in, decisions out
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct AuthorizeEpisodes {}

impl Operation for AuthorizeEpisodes {
    const SPEC: OperationSpec = OperationSpec::new(
        "authorize",
        OperationAccess::READ,
        &[
            r#"echo '{"id":1,"request":"read notes.txt","tools":[{"name":"read","tier":"read_only","input_schema":{"properties":{"path":{}}}}],"steps":[{"tool":"read","args":{"path":"notes.txt"}}]}' | regent authorize"#,
        ],
    )
    .notes(
        r#"Each line is answered with {"id","steps":[{"tool","decision","layer","reason","provenance"}]}; a bad one with {"error","line"}.
All fields: docs/filters.md"#,
    );
    type Output = StreamEnd;

    fn requirements(&self) -> Requirements {
        Requirements::NONE
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        answer_lines(context, UNCHANGED, EpisodeFilter).await
    }
}

struct EpisodeFilter;

impl LineFilter for EpisodeFilter {
    type Answer = Answered;

    async fn answer(&mut self, line: String) -> Result<Result<Answered, String>, OperationError> {
        Ok(Episode::read(&line).and_then(Episode::play).map_err(|bad| bad.to_string()))
    }
}
