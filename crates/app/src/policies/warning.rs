//! What the owner has to know of the policies in force, whatever they asked for.

use std::collections::BTreeSet;

use domain::event::{ContainerKind, TERMINAL};
use kernel::Problem;
use policy::acl::{Case, Effect, Moment, Scene, Who};
use policy::vpol::VpolSet;
use present::{Page, Theme, inline};

use super::Policies;
use super::in_force::{self, ActivePolicySet, PolicyKind, PolicyStatus};

/// What is to be known after a change.
#[derive(Clone, Debug, Default)]
pub(super) struct PolicyWarnings {
    owner_locked_out: bool,
    mistakes: Option<String>,
}

impl PolicyWarnings {
    pub(super) fn render(&self, theme: Theme) -> Page {
        let mut page = Page::new();
        if self.owner_locked_out {
            let what = "! you are not let in by these policies yourself: `regent run` will say R3001";
            page.add_note(format!("{what}; {}", theme.paint_command("regent acl list")));
        }
        page.append(render_mistakes(self.mistakes.as_deref(), theme));
        page
    }
}

fn render_mistakes(warning: Option<&str>, theme: Theme) -> Page {
    let mut page = Page::new();
    if let Some(warning) = warning {
        let command = theme.paint_command("regent acl validate");
        page.add_note(format!("! {}: {command}", inline(warning)));
    }
    page
}

impl Policies<'_> {
    /// # Errors
    /// If the ledger fails.
    pub(super) async fn warnings(self) -> Result<PolicyWarnings, Problem> {
        let owner_locked_out = !self.lets_owner_in().await?;
        Ok(PolicyWarnings { owner_locked_out, mistakes: self.warning().await })
    }

    /// A note for whoever works while the files are no good; an empty page where they are.
    pub async fn render_warning(self, theme: Theme) -> Page {
        render_mistakes(self.warning().await.as_deref(), theme)
    }

    /// Whether you are let in yourself, at your terminal, by what is in force; `regent acl` works in any case.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.lets_owner_in", skip_all)]
    pub async fn lets_owner_in(self) -> Result<bool, Problem> {
        let event = Scene {
            platform: Some(TERMINAL.into()),
            container_kind: Some(ContainerKind::Dm),
            ..Scene::default()
        };
        let principal = Who::owner("owner");
        let now = Some(Moment::of(self.app.kernel.now().local(self.app.kernel.zone())));
        let access = self.in_force().await?.decide(&Case { principal, event, now });
        Ok(access.effect == Effect::Allow)
    }

    /// One line for whoever works while the files are no good; nothing where they are.
    #[tracing::instrument(level = "info", name = "policies.warning", skip_all)]
    pub async fn warning(self) -> Option<String> {
        if !self.app.instance().exists() {
            return None;
        }
        // Without files of its own a house has nothing to be wrong, and a locked database is not waited for twice.
        let own = |kind| !self.app.host.policies(kind).is_empty();
        if !own(PolicyKind::Acl) && !own(PolicyKind::Vpol) {
            return None;
        }
        let services = self.app.kernel.services().await.ok()?;
        if own(PolicyKind::Acl)
            && let Some(warning) = self.warning_about(&self.look_at_acl(&services).await.ok()?)
        {
            return Some(warning);
        }
        if !own(PolicyKind::Vpol) {
            return None;
        }
        self.warning_about(&in_force::active::<VpolSet>(&services, &*self.app.host).await.ok()?)
    }

    fn warning_about<S>(self, active: &ActivePolicySet<S>) -> Option<String> {
        let files: BTreeSet<&str> = active.mistakes.iter().map(|mistake| mistake.file.as_str()).collect();
        let first = files.first()?;
        let count = active.mistakes.iter().filter(|mistake| mistake.file == **first).count();
        let mistakes = if count == 1 { "a mistake".to_owned() } else { format!("{count} mistakes") };
        let others = match files.len() {
            1 => String::new(),
            2 => ", and one more file is no better".to_owned(),
            more => format!(", and {} more files are no better", more - 1),
        };
        let counts = match (active.standing, active.since) {
            (PolicyStatus::LastGood, Some(since)) => {
                let of = since.date_time(self.app.kernel.zone());
                let without = match &active.deleted()[..] {
                    [] => String::new(),
                    [one] => format!(" without `{one}`, whose file was deleted"),
                    [first, others @ ..] => {
                        format!(" without `{first}` and {} more, whose files were deleted", others.len())
                    }
                };
                format!("the last good policies, of {of}, are in force{without}")
            }
            (PolicyStatus::Closed, _) => "the last good policies are damaged, so nobody is let in".to_owned(),
            _ => "the policies that ship are in force, and no others".to_owned(),
        };
        Some(format!("{first} has {mistakes}{others}; {counts}"))
    }
}
