//! `restore`.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::tz::TimeZone;
use kernel::{Code, Problem};
use present::{Page, Style, inline, pluralize};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Instance;
use super::backup::{How, Present, Restored, SettingsFile};
use super::make_backup::locate;
use crate::operation::{Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output};

/// Put a backup in the place of this house; what is there is copied first
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct RestoreBackup {
    /// The folder of a backup
    pub folder: PathBuf,
    /// Try it in a scratch place, and say what would be replaced
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// Ask nothing
    #[arg(long)]
    #[serde(default)]
    pub yes: bool,
}

impl Operation for RestoreBackup {
    const SPEC: OperationSpec = OperationSpec::new(
        "restore",
        OperationAccess::OWNER,
        &["regent restore --dry-run /mnt/usb/regent-20261116T051805Z"],
    );
    type Output = Restored;

    async fn run(self, context: &OperationContext<'_>) -> Result<Restored, OperationError> {
        let folder = locate(context.io, &self.folder);
        if !self.dry_run && !self.yes {
            confirm(context, &folder).await?;
        }
        Ok(context.app.instance().restore(&folder, How::dry_run(self.dry_run)).await?)
    }
}

/// Shows the person who calls what would be replaced, and asks them.
async fn confirm(context: &OperationContext<'_>, folder: &Path) -> Result<(), Problem> {
    let unconfirmed = |what: &str| {
        Problem::new(Code::UNCONFIRMED, what)
            .safe("nothing was changed")
            .remedy("regent restore --dry-run FOLDER")
            .remedy("regent restore --yes FOLDER")
    };
    if !context.io.can_ask() {
        return Err(unconfirmed("it was not confirmed, and nobody is at a terminal"));
    }
    let preview = context.app.instance().restore(folder, How::Rehearse).await?;
    let page = preview.page(context.app.zone());
    let answer = context.io.ask(&page, "Type `restore` to replace what is there:").await?;
    if answer.is_some_and(|answer| answer == "restore") {
        return Ok(());
    }
    Err(unconfirmed("it was not confirmed"))
}

impl Output for Restored {
    fn render(&self, style: &Style<'_>) -> Page {
        self.page(style.zone)
    }
}

impl Restored {
    fn page(&self, zone: &TimeZone) -> Page {
        let mut page = Page::new();
        page.add(format!(
            "backup of {}: schema {}, {}, {} in the audit",
            self.at.date_time(zone),
            self.counted.schema,
            self.counted.describe(),
            pluralize(self.counted.audit_entries(), "entry", "entries")
        ));
        page.add(self.describe_replaced());
        let files = [("settings", self.settings), ("switches of tools", self.switches)];
        for (what, file) in files.into_iter().chain(self.policies.map(|file| ("policies", file))) {
            page.add(match file {
                SettingsFile::PutBack => format!("{what}: put back"),
                SettingsFile::Left => format!("{what}: left as they are"),
            });
        }
        if self.grants_revoked > 0 {
            let grants = pluralize(self.grants_revoked, "grant", "grants");
            page.add(format!(
                "{grants} in it: revoked, because that may have happened since; `regent grants list`"
            ));
        }
        if !self.carried.is_empty() {
            let verb = if self.done { "was" } else { "would be" };
            page.add(format!("what the backup does not know, and {verb} carried over:"));
            page.add_all(self.carried.iter().map(|line| format!("  {}", inline(line))));
        }
        match (&self.kept, self.done) {
            (Some(kept), _) => page.add(format!("what was there: {}", inline(&kept.display().to_string()))),
            (None, true) => {}
            (None, false) => page.add("nothing was changed"),
        }
        page
    }

    fn describe_replaced(&self) -> String {
        let verb = if self.done { "replaced" } else { "would replace" };
        match &self.present {
            None => format!("{verb} nothing: there was no house"),
            Some(Present::Unreadable(why)) => {
                format!("{verb} a house that does not open ({}); its files are moved aside", inline(why))
            }
            Some(Present::Counted(now)) => {
                let newer = now.audit_entries().saturating_sub(self.counted.audit_entries());
                let newer = match newer {
                    0 => "nothing in its audit is newer".into(),
                    newer => format!("its audit is {} ahead, which go", pluralize(newer, "entry", "entries")),
                };
                format!("{verb} the house that is there: {}; {newer}", now.describe())
            }
        }
    }
}

impl Instance<'_> {
    /// Puts a backup in the place of this house, or only says what would be replaced.
    ///
    /// # Errors
    /// If it is no backup, is damaged, or belongs to another house while this one is not empty.
    #[tracing::instrument(level = "info", name = "instance.restore", skip_all)]
    pub async fn restore(self, from: &Path, how: How) -> Result<Restored, Problem> {
        self.app.host.restore(from, how).await
    }
}
