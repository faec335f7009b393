//! `tasks follow`.

use clap::Args;
use kernel::TappedLine;
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::TaskStreamEvent;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    StreamEnd,
};

/// What every process does, as it becomes durable; until Ctrl-C
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct FollowTasks {
    /// Begin after this sequence number; 0 is the beginning. Without it: from now on
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(i64).range(0..))]
    #[schemars(range(min = 0))]
    pub after: Option<i64>,
}

impl Operation for FollowTasks {
    const SPEC: OperationSpec =
        OperationSpec::new("tasks follow", OperationAccess::READ, &["regent tasks follow --after 0 --json"])
            .route(HttpMethod::Get, "/steps");
    type Output = StreamEnd;

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        let mut tap = context.app.tasks().tap(self.after).await?;
        loop {
            for tapped in tap.next().await? {
                let line = tapped.line();
                let short = match context.io.reads_data() {
                    true => String::new(),
                    false => context.app.short(line.task).await?,
                };
                context.emit(&FollowedStep { line, short })?;
            }
        }
    }
}

/// A step of a task, just after it became durable.
#[derive(Debug)]
pub struct FollowedStep {
    pub line: TappedLine,
    /// The task; empty if the caller reads data.
    pub short: String,
}

impl Serialize for FollowedStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        TaskStreamEvent::Step(&self.line).serialize(serializer)
    }
}

impl Output for FollowedStep {
    fn render(&self, style: &Style<'_>) -> Page {
        let Self { line, short } = self;
        let when = line.at.map(|at| at.clock_time(style.zone)).unwrap_or_default();
        let input = line.input.unwrap_or("(erased or unreadable)");
        let mut page = Page::new();
        page.add(format!("{:>8} {short:<8} {when} {input}", line.seq));
        page
    }
}
