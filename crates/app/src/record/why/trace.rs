//! `why`.

use clap::Args;
use kernel::{Code, Problem};
use present::{Page, Style, pluralize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::render_recheck::render_recheck;
use super::{Why, render_why};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};
use crate::record::{Again, differs};

/// Why something happened: from the effect back to its origin
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct TraceOrigin {
    /// A task, call, event, reason or admission
    pub id: String,
    /// Decide everything again from what was recorded; exit 1 if something differs
    #[arg(long)]
    #[serde(default)]
    pub recheck: bool,
}

impl Operation for TraceOrigin {
    const SPEC: OperationSpec = OperationSpec::new(
        "why",
        OperationAccess::READ,
        &["regent why t-k7q2", "regent why t-k7q2 --recheck"],
    )
    .route(HttpMethod::Get, "/why/{id}")
    .mcp();
    type Output = OriginTrace;

    async fn run(self, context: &OperationContext<'_>) -> Result<OriginTrace, OperationError> {
        let record = context.app.record();
        let mut why = match self.recheck {
            true => record.recheck(&self.id).await?,
            false => record.why(&self.id).await?,
        };
        for line in why.recheck.iter_mut().flat_map(|recheck| &mut recheck.lines) {
            line.short = context.app.short(&line.id).await?;
        }
        Ok(OriginTrace { why, asked: self.id })
    }
}

/// The chain behind one thing, as the answer to a question.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct OriginTrace {
    pub why: Why,
    /// The id as the caller wrote it.
    #[serde(skip)]
    pub asked: String,
}

impl Output for OriginTrace {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(render_why(&self.why, &self.asked, style));
        if let Some(recheck) = &self.why.recheck {
            page.append(render_recheck(recheck, style));
        }
        page
    }

    fn problem(&self) -> Option<Problem> {
        let recheck = self.why.recheck.as_ref().filter(|recheck| !recheck.holds)?;
        let count = recheck.count(Again::is_held_against) as u64;
        Some(differs(Code::RECHECK_DIFFERS, &pluralize(count, "thing differs", "things differ")))
    }
}
