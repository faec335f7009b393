//! `forget`.

use clap::Args;
use kernel::{Code, Problem};
use present::{Page, Style, Tone, inline, pluralize};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Forget, Forgotten};
use crate::instance::KeptBackup;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// Erase everything that is kept of a person
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ForgetPerson {
    /// Who: an address as platform:identifier, a name, or any unique beginning of an identity's or entity's id
    #[arg(long, value_name = "WHO")]
    pub person: String,
    /// Only count what would go, and change nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// Do not ask; needed where there is no terminal
    #[arg(long, conflicts_with = "dry_run")]
    #[serde(default)]
    pub yes: bool,
}

impl Operation for ForgetPerson {
    const SPEC: OperationSpec = OperationSpec::new(
        "forget",
        OperationAccess::OWNER,
        &["regent forget --person demo:lea --dry-run", "regent forget --person demo:lea"],
    )
    .route(HttpMethod::Post, "/forget")
    .notes("What goes, what stays and what it does not reach: docs/erasure.md");
    type Output = Forgotten;

    async fn run(self, context: &OperationContext<'_>) -> Result<Forgotten, OperationError> {
        if !self.dry_run && !self.yes {
            self.confirm(context).await?;
        }
        let how = if self.dry_run { Forget::DryRun } else { Forget::ForGood };
        let forgotten = context.app.people().forget(&self.person, how).await?;
        if forgotten.cleaned == Some(false) {
            context.emit(&forgotten)?;
            let what = "the words are erased; the database's file is cleaned by the next `regent tick`";
            return Err(Problem::new(Code::NOT_CLEAN, what).remedy("regent tick").into());
        }
        Ok(forgotten)
    }
}

impl ForgetPerson {
    /// Nothing is erased without the typed address, or if there is no person to ask for it.
    async fn confirm(&self, context: &OperationContext<'_>) -> Result<(), OperationError> {
        let refuse = |what: &str| Problem::new(Code::NOT_CONFIRMED, what).safe("nothing was erased");
        if !context.io.can_ask() {
            let what = "nobody can be asked here: there is no terminal";
            return Err(refuse(what).remedy("regent forget --person <who> --yes").into());
        }
        let counted = context.app.people().forget(&self.person, Forget::DryRun).await?;
        if counted.gone.is_nothing() {
            return Ok(()); // there is nothing to ask about
        }
        let page = counted.render(&context.io.style());
        let prompt = "This cannot be undone. To erase all of it, type the address:";
        let answer = context.io.ask(&page, prompt).await?.unwrap_or_default();
        if answer == "yes" || counted.addresses.contains(&answer) {
            return Ok(());
        }
        Err(refuse("what was typed is not their address").into())
    }
}

impl Output for Forgotten {
    fn render(&self, style: &Style<'_>) -> Page {
        let Self { person, dry_run, addresses, gone, events, backups, .. } = self;
        let mut page = Page::new();
        if gone.is_nothing() {
            page.add(format!("nothing is left of {person}"));
        } else {
            let verb = if *dry_run { "would be erased" } else { "erased" };
            page.add(format!("{verb}: {person}"));
            page.add_all(addresses.iter().map(|address| format!("  address            {}", inline(address))));
            let counts = gone.by_table().into_iter().filter(|(_, count)| *count > 0);
            page.add_all(counts.map(|(table, count)| format!("  {table:<18} {count}")));
            let stay = pluralize(*events, "event stays, without", "events stay, without");
            page.add(format!("  {stay} words and sender"));
        }
        if !backups.is_empty() {
            let title = "backups that still hold them; delete these yourself:";
            page.add(style.theme.paint(title, Tone::Attention));
            page.add_all(backups.iter().map(|kept| describe_backup(kept, style)));
        }
        page
    }
}

fn describe_backup(kept: &KeptBackup, style: &Style<'_>) -> String {
    let (at, folder) = (kept.at.date_time(style.zone), inline(&kept.folder.display().to_string()));
    let unfinished = if kept.unfinished { "  (unfinished)" } else { "" };
    let away = if kept.there { "" } else { "  (not there now)" };
    format!("  {at}  {folder}{unfinished}{away}")
}
