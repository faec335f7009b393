//! `upgrade`.

use clap::Args;
use kernel::Problem;
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Instance;
use super::backup::{Count, How, Upgrade};
use crate::operation::{Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output};

/// Bring the house forward to this program, or only try; the next command does it too
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct UpgradeInstance {
    /// Only rehearse it, and say what would happen
    #[arg(long, visible_alias = "dry-run")]
    #[serde(default, alias = "dry-run")]
    pub check: bool,
}

impl Operation for UpgradeInstance {
    const SPEC: OperationSpec =
        OperationSpec::new("upgrade", OperationAccess::OWNER, &["regent upgrade --check"]);
    type Output = Upgrade;

    async fn run(self, context: &OperationContext<'_>) -> Result<Upgrade, OperationError> {
        Ok(context.app.instance().upgrade(How::dry_run(self.check)).await?)
    }
}

impl Output for Upgrade {
    fn render(&self, _: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(match &self.counted {
            None => format!("schema {}: nothing to do", self.to),
            Some(_) if self.done => self.describe_done(),
            Some(counted) => format!(
                "schema {} → {}, {}, {}; nothing was changed",
                self.from,
                self.to,
                counted.describe(),
                self.describe_chain()
            ),
        });
        page
    }
}

impl Upgrade {
    /// What was done, with the way back.
    #[must_use]
    pub fn describe_done(&self) -> String {
        let kept = self.kept.as_ref().map(|folder| folder.display().to_string());
        let kept = kept.map(|folder| format!("; as it was before: {}", inline(&folder))).unwrap_or_default();
        let counted = self.counted.as_ref().map(Count::describe).unwrap_or_default();
        let (from, to, chain) = (self.from, self.to, self.describe_chain());
        format!("upgraded: schema {from} → {to}, {counted}, {chain}{kept}")
    }

    fn describe_chain(&self) -> String {
        match &self.fault {
            None => "chain verified".into(),
            Some(fault) => format!("the audit was broken before and still is: {}", inline(fault)),
        }
    }
}

impl Instance<'_> {
    /// Brings the house forward to this program's schema, or only says what would happen. The next command would do it, too.
    ///
    /// # Errors
    /// If there is no house, or the rehearsal refuses; then nothing was changed.
    #[tracing::instrument(level = "info", name = "instance.upgrade", skip_all)]
    pub async fn upgrade(self, how: How) -> Result<Upgrade, Problem> {
        self.needs_a_house("upgraded")?;
        self.app.host.upgrade(how).await
    }
}
