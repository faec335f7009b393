//! The house itself: where it is, how it is set, whether it is well, what needs its owner.

mod authority;
pub mod backup;
mod carried;
mod expired;
mod halt;
mod keep;
pub mod paths;
mod resume_all;
pub mod settings;

use std::time::Duration;

use domain::Time;
use domain::task::Status;
use ledger::Ledger;
use serde::Serialize;

use kernel::{Code, JobReport, Problem, clock, page};
use ledger::chain::PublicKey;

pub use authority::{
    AuthorityReport, AuthorityReset, GROUP as AUTHORITY_GROUP, ResetAuthority, ShowAuthority,
};
pub use carried::AuthoritySnapshot;
pub use expired::ExpiredAuthority;
pub use halt::{HaltInstance, Halted};
pub use resume_all::{LiftHalt, Lifted};

use crate::App;
use crate::host::{Finding, FindingState, InstanceSetup};
use crate::operation::{OperationEntry, OperationGroup};
use crate::record::{AuditReport, Check, Why};
use crate::tasks::TaskLine;
use crate::tools::ToolLine;
use paths::VaultOwner;

/// Commands of one word that stop everything, and let it go on.
pub const HALT_GROUP: OperationGroup = OperationGroup {
    name: "",
    about: "",
    examples: &[],
    operations: &[OperationEntry::of::<HaltInstance>(), OperationEntry::of::<LiftHalt>()],
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Paths {
    pub settings: String,
    pub data: String,
    pub database: String,
    pub keys: String,
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    pub healthy: bool,
    pub findings: Vec<Finding>,
}

/// The meaning of a code, or of what an id names.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Explained {
    Code { code: Code, page: &'static str },
    Decision(Box<Why>),
}

/// The instance itself.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    pub(crate) app: &'a App,
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

    /// The audit's root, if this process has set up the instance: it is to be shown, once.
    #[must_use]
    pub fn new_root(self) -> Option<PublicKey> {
        self.app.host.new_root()
    }

    /// Whether this process found the audit damaged, and went on in a new epoch.
    #[must_use]
    pub fn healed(self) -> bool {
        self.app.kernel.opened_ledger().is_some_and(|ledger| ledger.healed())
    }

    /// How many durable transactions this process has waited for.
    #[must_use]
    pub fn barriers(self) -> u64 {
        self.app.kernel.opened_ledger().map_or(0, |ledger| ledger.barriers())
    }

    #[must_use]
    pub fn paths(self) -> Paths {
        let house = &self.app.paths;
        Paths {
            settings: house.settings_file().display().to_string(),
            data: house.data.display().to_string(),
            database: match self.app.settings.get("database.url") {
                "" => house.database().display().to_string(),
                url => settings::without_password(url),
            },
            keys: self
                .app
                .host
                .keys_folder()
                .unwrap_or_else(|| house.vault(&VaultOwner::File).keys)
                .display()
                .to_string(),
        }
    }

    /// What `tool-access.json` switches that is none of these tools: a slip there switches nothing off.
    #[must_use]
    pub fn unknown_switches(self, tools: &[ToolLine]) -> Vec<String> {
        let ids = || tools.iter().map(|line| line.tool.as_str());
        let switches = self.app.host.switches();
        let strangers = switches.named().filter(|name| ids().all(|id| id != name.as_str()));
        let told = strangers.map(|name| {
            let hint = settings::nearest(name.as_str(), ids());
            let hint = hint.map_or_else(String::new, |id| format!("; did you mean `{id}`?"));
            format!("tool-access.json: there is no tool `{name}`{hint}")
        });
        told.collect()
    }

    /// Whether there is a house already.
    #[must_use]
    pub fn exists(self) -> bool {
        self.app.host.is_furnished()
    }

    /// Sets the house up; on a complete house it changes nothing. `name` is how the owner wants to be called.
    ///
    /// # Errors
    /// If something cannot be made.
    #[tracing::instrument(level = "info", name = "instance.init", skip_all)]
    pub async fn init(self, name: &str) -> Result<InstanceSetup, Problem> {
        let fresh = !self.exists();
        let mut furnished = self.app.host.furnish(name).await?;
        self.app.kernel.ledger().await?;
        if fresh {
            furnished.made.push(self.paths().database);
        }
        Ok(furnished)
    }

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
        let healthy = findings.iter().all(|finding| finding.state != FindingState::Bad);
        if !healthy {
            findings.extend(self.recent_upgrade());
        }
        Diagnosis { healthy, findings }
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

    /// # Errors
    /// If there is no such code, or nothing is called like this.
    #[tracing::instrument(level = "info", name = "instance.explain", skip_all)]
    pub async fn explain(self, what: &str) -> Result<Explained, Problem> {
        if let Some(code) = Code::parse(what) {
            let page = page(code).unwrap_or_default();
            return Ok(Explained::Code { code, page });
        }
        if what.starts_with(['R', 'r']) && what.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) {
            return Err(Problem::new(Code::NO_SUCH_CODE, format!("there is no code `{what}`"))
                .remedy("regent explain R2001"));
        }
        Ok(Explained::Decision(Box::new(self.app.record().why(what).await?)))
    }
}
