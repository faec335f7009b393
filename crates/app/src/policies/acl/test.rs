//! `acl test`.

use std::path::PathBuf;

use clap::Args;
use policy::acl::{PolicySet, filter, load};
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PolicyReplay;
use crate::operation::{
    Lifetime, LineFilter, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
    Output, Requirements, StreamEnd, answer_lines,
};
use crate::policies::named_files::{name_policy_file, read_policy_files, read_policy_text};

/// Who would be let in, with what, and why: cases in, decisions out
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct TestAccessPolicies {
    /// The policies, in YAML; those in force, if none is named (without a house: those that ship)
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub policies: Vec<PathBuf>,
    /// Instead of cases: what came in, as it was decided about and as it would be with these files applied
    #[arg(long)]
    #[serde(default)]
    pub events: bool,
    /// How far back: 24h, 7d or always
    #[arg(long, value_name = "TIME", default_value = "24h", requires = "events")]
    #[serde(default = "Lifetime::day")]
    pub since: Lifetime,
    /// Also those for which nothing would be different
    #[arg(long, requires = "events")]
    #[serde(default)]
    pub all: bool,
}

impl Operation for TestAccessPolicies {
    const SPEC: OperationSpec = OperationSpec::new(
        "acl test",
        OperationAccess::READ,
        &[
            r#"echo '{"principal":{"relationship":"partner"},"event":{"platform":"matrix","container_kind":"dm"},"tools":["web_search"]}' | regent acl test"#,
            "regent acl test --events --policies people.yaml",
        ],
    )
    .notes(
        r#"Each line is answered with {"effect","matched","session","permissions","may","data","credentials","modifiers","reason"}; a bad one with {"error","line"}.
All fields: docs/filters.md"#,
    );
    type Output = PolicyTest;

    fn requirements(&self) -> Requirements {
        // Which policies are in force stands in the database that the settings name.
        Requirements { instance: self.events, settings: self.events || self.policies.is_empty() }
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<PolicyTest, OperationError> {
        if self.events {
            return Ok(PolicyTest::Replay(self.replay(context).await?));
        }
        let policies = context.app.policies();
        let set = if self.policies.is_empty() {
            let set = policies.in_force().await?;
            context.io.note(&policies.render_warning(context.io.style().note_theme).await);
            set
        } else {
            read_policy_files(context.io, &self.policies, load)?.set
        };
        let safe = "all other lines were answered, and nothing was written";
        Ok(PolicyTest::Answers(answer_lines(context, safe, AccessCases(set)).await?))
    }
}

impl TestAccessPolicies {
    /// What the policies would have done to what came in.
    async fn replay(&self, context: &OperationContext<'_>) -> Result<PolicyReplay, OperationError> {
        let mut given = Vec::new();
        for file in &self.policies {
            given.push((name_policy_file(file)?, read_policy_text(context.io, file)?));
        }
        let replay = context.app.policies().replay(&given, self.since.0).await?;
        Ok(PolicyReplay { replay, all: self.all })
    }
}

/// Answers cases by these policies.
struct AccessCases(PolicySet);

impl LineFilter for AccessCases {
    type Answer = Value;

    async fn answer(&mut self, line: String) -> Result<Result<Value, String>, OperationError> {
        let case = domain::json::from_str(&line).map_err(|error| error.to_string());
        Ok(case.and_then(|case| filter::answer(&self.0, &case).map_err(|bad| bad.to_string())))
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum PolicyTest {
    /// Its answers are written already.
    Answers(StreamEnd),
    Replay(PolicyReplay),
}

impl Output for PolicyTest {
    fn render(&self, style: &Style<'_>) -> Page {
        match self {
            Self::Answers(summary) => summary.render(style),
            Self::Replay(replay) => replay.render(style),
        }
    }

    fn json_lines(&self) -> Vec<Value> {
        match self {
            Self::Answers(summary) => summary.json_lines(),
            Self::Replay(replay) => replay.json_lines(),
        }
    }

    fn exit(&self) -> u8 {
        match self {
            Self::Answers(summary) => summary.exit(),
            Self::Replay(replay) => replay.exit(),
        }
    }
}
