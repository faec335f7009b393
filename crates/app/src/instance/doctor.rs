//! `doctor`.

use std::time::Duration;

use clap::Args;
use domain::Time;
use kernel::{Code, Problem, clock};
use ledger::Ledger;
use present::{Page, Style, Tone, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Instance;
use crate::host::{Finding, FindingState};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    Requirements,
};
use crate::record::Check;

/// Look at everything and say what to do about it
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ExamineInstance {}

impl Operation for ExamineInstance {
    const SPEC: OperationSpec = OperationSpec::new("doctor", OperationAccess::READ, &["regent doctor"])
        .route(HttpMethod::Get, "/doctor");
    type Output = Diagnosis;

    fn requirements(&self) -> Requirements {
        Requirements::INSTANCE
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<Diagnosis, OperationError> {
        Ok(context.app.instance().doctor().await)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    pub healthy: bool,
    pub findings: Vec<Finding>,
}

impl Output for Diagnosis {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        for finding in &self.findings {
            let (word, tone) = match finding.state {
                FindingState::Ok => ("ok", Tone::Good),
                FindingState::Warn => ("note", Tone::Attention),
                FindingState::Bad => ("BAD", Tone::Bad),
            };
            let word = style.theme.paint(&format!("{word:<5}"), tone);
            page.add(format!("{word} {:<10} {}", finding.name, inline(&finding.what)));
            if let Some(remedy) = &finding.remedy {
                page.add(format!("                 {}", style.theme.paint_command(&inline(remedy))));
            }
        }
        page
    }

    fn problem(&self) -> Option<Problem> {
        (!self.healthy).then(|| Problem::new(Code::UNHEALTHY, "something needs you, see above"))
    }
}

fn is_healthy(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.state != FindingState::Bad)
}

impl Instance<'_> {
    /// Looks at everything, and says what to do about what it finds. It changes nothing but opening the ledger
    /// where there is one.
    #[tracing::instrument(level = "info", name = "instance.doctor", skip_all)]
    pub async fn doctor(self) -> Diagnosis {
        let mut findings = self.app.host.inspect();
        findings.extend(self.app.mistakes.iter().map(|mistake| Finding {
            name: "settings",
            state: FindingState::Bad,
            what: mistake.clone(),
            remedy: Some("regent explain R2006".into()),
        }));
        if self.exists() {
            findings.extend(self.examine_ledger().await);
        }
        if !is_healthy(&findings) {
            findings.extend(self.recent_upgrade());
        }
        // If the settings are wrong, it is not known which model is meant.
        let is_mistake = |finding: &Finding| finding.name == "settings" && finding.state == FindingState::Bad;
        if !findings.iter().any(is_mistake) {
            findings.extend(self.app.model_admin.diagnose().await);
        }
        Diagnosis { healthy: is_healthy(&findings), findings }
    }

    async fn examine_ledger(self) -> Vec<Finding> {
        let bad = |name, problem: Problem| Finding {
            name,
            state: FindingState::Bad,
            what: problem.what.clone(),
            remedy: Some(format!("regent explain {}", problem.code)),
        };
        let ok = |name, what| Finding { name, state: FindingState::Ok, what, remedy: None };
        let ledger = match self.app.kernel.ledger().await {
            Ok(ledger) => ledger,
            Err(problem) => return vec![bad("ledger", problem)],
        };
        let described = match ledger.describe().await {
            Ok(described) => described,
            Err(error) => return vec![bad("ledger", error.into())],
        };
        let warn = |what| Finding {
            name: "ledger",
            state: FindingState::Warn,
            what,
            remedy: Some("docs/ledger.md, \"PostgreSQL\"".into()),
        };
        let mut findings = vec![ok("ledger", described.what)];
        findings.extend(described.warnings.into_iter().map(warn));
        let audit = match self.app.record().verify(&Check::default()).await {
            Ok(report) => match report.problem() {
                None => ok("audit", format!("{} entries, {}", report.entries, report.verdict)),
                Some(problem) => bad("audit", problem),
            },
            Err(problem) => bad("audit", problem),
        };
        findings.push(audit);
        // Only where something is wrong.
        findings.extend(match self.verify_authority().await {
            Ok(report) => report.problem().map(|problem| bad("authority", problem)),
            Err(problem) => Some(bad("authority", problem)),
        });
        findings.extend(self.examine_clock(ledger).await);
        // Only where something is wrong.
        findings.extend(self.app.policies().warning().await.map(|what| Finding {
            name: "policies",
            state: FindingState::Bad,
            what,
            remedy: Some("regent acl validate".into()),
        }));
        findings
    }

    /// Only where the clock went back: what is dated by it is not to be relied on.
    async fn examine_clock(self, ledger: &Ledger) -> Option<Finding> {
        const RECENT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
        let now = self.app.kernel.now();
        let date = |at: Time| at.date_time(self.app.kernel.zone());
        let warn = |what, remedy: &str| {
            Some(Finding { name: "clock", state: FindingState::Warn, what, remedy: Some(remedy.into()) })
        };
        let last = ledger.last_commit().await.ok().flatten();
        if let Some(last) = last.filter(|last| last.at.is_after(now)) {
            let what = format!(
                "it says {}, and the newest record was written {}: one of the two is wrong",
                date(now),
                date(last.at)
            );
            return warn(what, "set the clock of this machine; docs/ledger.md, \"Clocks\"");
        }
        let jumps = clock::jumps(ledger).await.unwrap_or_default();
        let jump = jumps.into_iter().rfind(|jump| now.is_within(jump.to, jump.to.plus(RECENT)))?;
        let what = format!("it went back from {} to {}", date(jump.from), date(jump.to));
        warn(what, "regent audit list; docs/ledger.md, \"Clocks\"")
    }
}
