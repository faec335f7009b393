//! `init`.

use clap::Args;
use kernel::Problem;
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Instance;
use crate::host::InstanceSetup;
use crate::operation::{Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output};

/// Set up the house; not needed, the first command does it too
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct SetUpInstance {
    /// Ask nothing
    #[arg(long)]
    #[serde(default)]
    pub yes: bool,
}

impl Operation for SetUpInstance {
    const SPEC: OperationSpec = OperationSpec::new("init", OperationAccess::OWNER, &["regent init --yes"]);
    type Output = SetUpReport;

    /// One question at the most: how the owner wants to be called.
    async fn run(self, context: &OperationContext<'_>) -> Result<SetUpReport, OperationError> {
        let instance = context.app.instance();
        let name = if self.yes || instance.exists() {
            None
        } else {
            context.io.ask(&Page::new(), "What may I call you? (Enter: your user name)").await?
        };
        let setup = instance.init(name.as_deref().unwrap_or_default()).await?;
        // Whoever sees the notes is shown the root of every new instance, whatever the command.
        Ok(SetUpReport { setup, shows_root: !context.io.is_watched() })
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct SetUpReport {
    pub setup: InstanceSetup,
    #[serde(skip)]
    pub shows_root: bool,
}

impl Output for SetUpReport {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        let made = &self.setup.made;
        page.add_all(made.iter().map(|made| format!("made {}", inline(made))));
        if let Some(root) = self.setup.root.as_ref().filter(|_| self.shows_root) {
            page.add_note(format!("the root of the audit, to be kept elsewhere: {root}"));
        }
        if made.is_empty() {
            page.add("the house was complete, nothing was changed");
        }
        let run = style.note_theme.paint_command("regent run \"how many files are here?\"");
        page.add_note(format!("try: {run}"));
        page
    }
}

impl Instance<'_> {
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
}
