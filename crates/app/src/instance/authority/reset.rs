//! `authority reset`.

use clap::Args;
use kernel::{Code, Problem};
use ledger::{CommitError, Refusal};
use present::{Page, Style, inline, pluralize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rows::Rows;
use crate::instance::Instance;
use crate::instance::backup::How;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
};

/// How often it is looked again because another process has written meanwhile.
const TRIES: u32 = 5;

/// Withdraw every approval, grant, link, switch and tool registration, and halt
///
/// For after another program has written to the database. What lets somebody do something is withdrawn, because what that
/// program wrote cannot be told from the rest. Names and halts stay. Then link people again, switch policies again,
/// and lift the halt with `regent resume-all`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ResetAuthority {
    /// Say what would be withdrawn, and change nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// Do it without asking
    #[arg(long, conflicts_with = "dry_run")]
    #[serde(default)]
    pub yes: bool,
}

impl Operation for ResetAuthority {
    const SPEC: OperationSpec = OperationSpec::new(
        "authority reset",
        OperationAccess::OWNER,
        &["regent authority reset --dry-run", "regent authority reset --yes"],
    )
    .route(HttpMethod::Post, "/authority/reset");
    type Output = AuthorityReset;

    async fn run(self, context: &OperationContext<'_>) -> Result<AuthorityReset, OperationError> {
        if !self.dry_run && !self.yes {
            confirm(context).await?;
        }
        let how = if self.dry_run { How::Rehearse } else { How::Really };
        Ok(context.app.instance().reset_authority(how).await?)
    }
}

/// Shows what would be withdrawn, and asks.
async fn confirm(context: &OperationContext<'_>) -> Result<(), Problem> {
    let not = |what: &str| Problem::new(Code::NOT_CONFIRMED, what).safe("nothing was changed");
    let alone = || {
        not("it was not confirmed, and there is no terminal to ask at").remedy("regent authority reset --yes")
    };
    if !context.io.can_ask() {
        return Err(alone());
    }
    let mut page = Page::new();
    page.add_all(context.app.instance().reset_authority(How::Rehearse).await?.lines());
    match context.io.ask(&page, "Type `reset` to withdraw all of it:").await?.as_deref() {
        Some("reset") => Ok(()),
        Some(_) => Err(not("it was not confirmed")),
        None => Err(alone()),
    }
}

/// What a reset withdraws, or would. Nothing of it comes back by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuthorityReset {
    /// Open approval requests and unused yeses.
    pub approvals: usize,
    pub grants: usize,
    /// Addresses that were linked to a person.
    pub addresses: usize,
    /// People with a relationship, a trust or tags.
    pub people: usize,
    /// Policies that were switched, with what they were switched to.
    pub switches: Vec<String>,
    /// Tools that were registered, and levels that were set.
    pub tools: Vec<String>,
    /// Standing instructions.
    pub instructions: usize,
    /// Unfinished tasks: they are ended, because another program may have written what they would go on with.
    pub tasks: usize,
    pub done: bool,
}

impl Output for AuthorityReset {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.lines());
        if self.done {
            page.add_note(format!("  {}", style.note_theme.paint_command("regent resume-all")));
        }
        page
    }
}

impl AuthorityReset {
    fn lines(&self) -> Vec<String> {
        let Self { approvals, grants, addresses, people, switches, tools, instructions, tasks, done } = self;
        let verb = if *done { "withdrawn" } else { "would be withdrawn" };
        let addresses =
            pluralize(*addresses, "link of an address to a person", "links of addresses to people");
        let people = pluralize(*people, "relationship, trust or tag", "relationships, trusts or tags");
        let mut lines = vec![
            format!("{verb}:"),
            format!("  {}", pluralize(*approvals, "open or unused approval", "open or unused approvals")),
            format!("  {}", pluralize(*grants, "grant", "grants")),
            format!("  {addresses}"),
            format!("  {people} of people"),
        ];
        if *instructions > 0 {
            lines.push(format!(
                "  {}",
                pluralize(*instructions, "standing instruction", "standing instructions")
            ));
        }
        if *tasks > 0 {
            let verb = if *done { "ended" } else { "would be ended" };
            lines.push(format!("  {verb}: {}", pluralize(*tasks, "unfinished task", "unfinished tasks")));
        }
        lines.extend(switches.iter().map(|switch| format!("  policy switch: {}", inline(switch))));
        lines.extend(tools.iter().map(|tool| format!("  tool registration or level: {}", inline(tool))));
        lines.push(match done {
            true => "everything is halted; link people and switch policies again, then lift the halt".into(),
            false => "nothing was changed".into(),
        });
        lines
    }
}

impl Instance<'_> {
    /// Withdraws everything in the database that allows something, keeps what restricts, halts, and seals what is left. For the owner, after another program has written to the database: what it wrote cannot be told from the rest.
    ///
    /// # Errors
    /// If the ledger fails. Then everything is as it was.
    #[tracing::instrument(level = "info", name = "instance.reset_authority", skip_all)]
    pub async fn reset_authority(self, how: How) -> Result<AuthorityReset, Problem> {
        let mut tries = 1..TRIES;
        loop {
            let ledger = self.app.kernel.ledger().await?;
            let last = ledger.last_commit().await?.and_then(|commit| commit.seq.0).unwrap_or(0);
            let rows = Rows::read(ledger).await?;
            if how == How::Rehearse {
                return Ok(rows.report(false));
            }
            let now = self.app.kernel.now();
            let mut batch = self.app.kernel.batch_at(now);
            rows.withdraw(now, &mut batch);
            batch.expect_quiet(last).seal_existing();
            match ledger.commit(batch).await {
                Ok(_) => return Ok(rows.report(true)),
                Err(CommitError::Refused(Refusal::Disturbed)) if tries.next().is_some() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
