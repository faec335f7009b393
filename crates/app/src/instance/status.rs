//! `status`.

use clap::Args;
use domain::Time;
use domain::task::Status;
use kernel::Problem;
use present::{Page, Style, Tone, format_span, inline, pluralize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Instance;
use crate::host::FindingState;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};
use crate::record::{AuditReport, Check};
use crate::tasks::TaskLine;

/// What needs you, and how the house is doing
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ShowStatus {}

impl Operation for ShowStatus {
    const SPEC: OperationSpec = OperationSpec::new("status", OperationAccess::READ, &["regent status"])
        .route(HttpMethod::Get, "/status")
        .mcp();
    type Output = StatusReport;

    async fn run(self, context: &OperationContext<'_>) -> Result<StatusReport, OperationError> {
        Ok(context.app.instance().status().await?)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct StatusReport {
    /// Since when everything stands still, if it does.
    pub halted: Option<Time>,
    /// Questions that wait for a person, and when the first of them expires.
    pub questions: u64,
    /// Senders about whom the owner is asked.
    pub wanting_in: u64,
    pub first_expires: Option<Time>,
    /// What was asked for and is not over, begun or not.
    pub unfinished: Vec<TaskLine>,
    pub today: usize,
    pub stopped_today: usize,
    pub audit: AuditReport,
    pub warnings: Vec<String>,
}

impl Output for StatusReport {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = self.render_attention(style);
        let halted = if self.halted.is_some() { "halted" } else { "not halted" };
        page.add(format!("  now      {}; {halted}", count_unfinished(&self.unfinished)));
        let today = pluralize(self.today, "task", "tasks");
        page.add(format!("  today    {today}, {} stopped", self.stopped_today));
        page.add(format!("  audit    {}", describe_audit(&self.audit, style.now)));
        page
    }
}

impl StatusReport {
    /// What needs the owner, each with the command for it.
    fn render_attention(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        let theme = style.theme;
        let attention = theme.paint("!", Tone::Attention);
        let approvals = theme.paint_command("regent approvals list");
        if let Some(since) = self.halted {
            let command = theme.paint_command("regent resume-all");
            page.add(format!("{attention} halted   since {}   {command}", since.date_time(style.zone)));
        }
        if let Some(first) = self.first_expires {
            let open = pluralize(self.questions, "approval", "approvals");
            let left = first.since(style.now);
            let left = if left.is_zero() { "now".to_owned() } else { format!("in {}", format_span(left)) };
            page.add(format!("{attention} you      {open} open, the first expires {left}   {approvals}"));
        }
        if self.wanting_in > 0 {
            let senders = pluralize(self.wanting_in, "sender wants in", "senders want in");
            page.add(format!("{attention} you      {senders}   {approvals}"));
        }
        for task in &self.unfinished {
            page.add(format!("{attention} {}", task.row(style)));
            let resume = format!("regent resume {}", task.short);
            page.add(format!("           {}", theme.paint_command(&resume)));
        }
        for warning in &self.warnings {
            let command = theme.paint_command("regent doctor");
            page.add(format!("{attention} house    {}   {command}", inline(warning)));
        }
        page
    }
}

/// `2 begun, 1 waiting for you, 3 queued`.
fn count_unfinished(unfinished: &[TaskLine]) -> String {
    let count = |which: Status| unfinished.iter().filter(|line| line.status == which).count();
    let groups = [
        (count(Status::Running), "begun"),
        (count(Status::Waiting), "waiting for you"),
        (count(Status::Queued), "queued"),
    ];
    let groups = groups.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let groups: Vec<String> = groups.collect();
    if groups.is_empty() { "nothing unfinished".to_owned() } else { groups.join(", ") }
}

fn describe_audit(report: &AuditReport, now: Time) -> String {
    if !report.is_sound() {
        return format!("BROKEN, {}   regent audit verify", pluralize(report.entries, "entry", "entries"));
    }
    let signed = report.last_checkpoint.map_or_else(
        || "no checkpoint yet".to_owned(),
        |at| format!("last checkpoint {} ago", format_span(now.since(at))),
    );
    format!("{} to {}, {signed}", report.verdict, report.entries)
}

impl Instance<'_> {
    /// What needs the owner first.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "instance.status", skip_all)]
    pub async fn status(self) -> Result<StatusReport, Problem> {
        const SHOWN: u32 = 20;
        let ledger = self.app.kernel.ledger().await?;
        let mut unfinished = Vec::new();
        for task in ledger.unfinished(SHOWN).await? {
            unfinished.push(self.app.tasks().line(task).await?);
        }
        let midnight = self.midnight();
        let today = ledger.tasks_since(midnight).await?;
        let stopped_today = today.iter().filter(|task| task.status == Status::Stopped).count();
        let findings = self.app.host.inspect();
        let warnings = findings
            .into_iter()
            .filter(|finding| finding.state != FindingState::Ok)
            .map(|finding| finding.what);
        let now = self.app.kernel.now();
        Ok(StatusReport {
            questions: ledger.count_open_approvals(now).await?,
            wanting_in: ledger.count_open_knocks(now).await?,
            first_expires: ledger.open_approvals(now, 1).await?.first().map(|asked| asked.timeout_at),
            halted: ledger.halted().await?.map(|halt| halt.at),
            unfinished,
            today: today.len(),
            stopped_today,
            audit: self.app.record().verify(&Check::default()).await?,
            warnings: warnings.chain(self.app.policies().warning().await).collect(),
        })
    }

    /// The beginning of today, where the owner lives.
    fn midnight(self) -> Time {
        let now = self.app.kernel.now();
        let day = jiff::Timestamp::from_microsecond(now.micros())
            .ok()
            .map(|stamp| stamp.to_zoned(self.app.kernel.zone().clone()));
        let start = day.and_then(|day| day.start_of_day().ok());
        start.map_or(now, |start| Time::from_micros(start.timestamp().as_microsecond()))
    }
}
