//! `tick`.

use clap::Args;
use kernel::admit::AdmissionCounts;
use kernel::{Code, JobReport, JobState, Problem};
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Instance;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    StreamEnd, json_each,
};

/// Do what the house does by itself now and then, if it is due; by hand or from cron
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct RunJobs {}

impl Operation for RunJobs {
    const SPEC: OperationSpec =
        OperationSpec::new("tick", OperationAccess::RUN, &["regent tick"]).route(HttpMethod::Post, "/tick");
    type Output = StreamEnd;

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        let OperationContext { app, io } = *context;
        io.note(&app.policies().render_warning(io.style().note_theme).await);
        context.emit(&AdmissionReport { admitted: app.events().admit_waiting().await? })?;
        let jobs = JobList(app.instance().tick().await?);
        context.emit(&jobs)?;
        match jobs.find_failure() {
            Some(what) => Err(Problem::new(Code::DUTY, what).remedy("regent doctor").into()),
            None => Ok(StreamEnd::default()),
        }
    }
}

/// What was decided about the events that had come in.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AdmissionReport {
    pub admitted: AdmissionCounts,
}

impl Output for AdmissionReport {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        let AdmissionCounts { allowed, denied, held, asked } = self.admitted;
        if self.admitted.all() > 0 {
            let counts = format!("{allowed} let in, {denied} not, {held} held until you answer");
            page.add(format!("{:<10} {counts}", "events"));
        }
        if held + asked > 0 {
            page.add_note(style.note_theme.paint_command("regent approvals list"));
        }
        page
    }
}

/// What came of each background job.
#[derive(Clone, Debug, Serialize)]
pub struct JobList(pub Vec<JobReport>);

impl JobList {
    /// The last job that failed, and why.
    fn find_failure(&self) -> Option<String> {
        self.0.iter().rev().find_map(|job| match &job.state {
            JobState::Failed { why, .. } => Some(format!("{}: {why}", job.duty)),
            _ => None,
        })
    }
}

impl Output for JobList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.0.iter().map(|job| {
            let state = match &job.state {
                JobState::Done { next_due } => format!("done, next {}", next_due.date_time(style.zone)),
                JobState::Failed { next_due, .. } => {
                    format!("failed, next {}", next_due.date_time(style.zone))
                }
                JobState::Waits { next_due } => format!("not due before {}", next_due.date_time(style.zone)),
                JobState::Elsewhere => "another process is at it".into(),
                JobState::Idle => "nothing to do".into(),
            };
            format!("{:<10} {state}", job.duty)
        }));
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.0)
    }
}

impl Instance<'_> {
    /// Runs the background jobs that are due.
    ///
    /// # Errors
    /// If the ledger fails. A job that failed is a report.
    #[tracing::instrument(level = "info", name = "instance.tick", skip_all)]
    pub async fn tick(self) -> Result<Vec<JobReport>, Problem> {
        self.app.kernel.tick().await
    }
}
