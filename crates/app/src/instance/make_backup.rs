//! `backup`.

use ledger::AuditEvent;
use ledger::audit_event::OWNER;
use std::path::{Path, PathBuf};

use clap::Args;
use kernel::Problem;
use present::{Page, Style, Tone, inline, pluralize};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Instance;
use super::backup::{Backup, How};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationIo, OperationSpec,
    Output,
};

/// Copy the whole house, and try whether the copy can be restored
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct MakeBackup {
    /// Where the copy's folder is made; without it: beside the house's data
    #[arg(long, value_name = "FOLDER")]
    pub to: Option<PathBuf>,
    /// Say what would be copied, and write nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
}

impl Operation for MakeBackup {
    const SPEC: OperationSpec =
        OperationSpec::new("backup", OperationAccess::OWNER, &["regent backup --to /mnt/usb"])
            .route(HttpMethod::Post, "/backups");
    type Output = Backup;

    async fn run(self, context: &OperationContext<'_>) -> Result<Backup, OperationError> {
        let to = self.to.map(|folder| locate(context.io, &folder));
        Ok(context.app.instance().backup(to.as_deref(), How::dry_run(self.dry_run)).await?)
    }
}

/// A folder as the caller typed it, seen from where the caller works.
pub(super) fn locate(io: &dyn OperationIo, folder: &Path) -> PathBuf {
    io.folder().map_or_else(|_| folder.to_owned(), |here| here.join(folder))
}

impl Output for Backup {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        let files = pluralize(self.files as u64, "file", "files");
        let what = format!("{}, {files}, {} kB", self.counted.describe(), self.bytes.div_ceil(1024));
        let folder = inline(&self.folder.display().to_string());
        page.add(match self.manifest {
            None => format!("would copy {what} to {folder}; nothing was written"),
            Some(_) if self.fault.is_some() => format!("{folder}\n{what}"),
            Some(_) => {
                format!("{folder}\n{what}; {}", style.theme.paint("tried by restoring it", Tone::Good))
            }
        });
        if let Some(fault) = &self.fault {
            let fault = inline(fault);
            page.add_note(format!(
                "the audit of this house is broken, and so is the copy's, which `restore` refuses: {fault}"
            ));
        }
        if self.secrets_left_out > 0 {
            let secrets = pluralize(self.secrets_left_out as u64, "secret", "secrets");
            page.add_note(format!(
                "{secrets} in `secrets` beside the settings: never copied, keep them elsewhere"
            ));
        }
        if self.manifest.is_some() {
            page.add_note(
                "whoever can read it can read everything, and holds the keys of the audit: keep it safe",
            );
        }
        page
    }
}

impl Instance<'_> {
    /// Makes a backup below `to`, or where backups are kept, and tries whether it can be restored.
    ///
    /// # Errors
    /// If there is no house, or it cannot be copied, or the copy is not as good as the house.
    #[tracing::instrument(level = "info", name = "instance.backup", skip_all)]
    pub async fn backup(self, to: Option<&Path>, how: How) -> Result<Backup, Problem> {
        self.needs_a_house("backed up")?;
        let services = self.app.kernel.services().await?;
        let backup = self.app.host.backup(to, how).await?;
        if let Some(manifest) = backup.manifest {
            let mut batch = services.batch();
            // Not the path: it can name a person, and an entry is for ever.
            let backed_up = AuditEvent::InstanceBackedUp { manifest, rows: backup.counted.rows };
            // The copy holds the secret of this epoch, so the epoch is over.
            batch.audit(backed_up.entry(OWNER, services.now())).end_epoch();
            services.ledger.commit(batch).await?;
        }
        Ok(backup)
    }
}
