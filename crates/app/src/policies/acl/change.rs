//! What applying or removing a file of policies changes.

use kernel::{Problem, Services};
use policy::acl::{Policy, PolicySet};
use present::{Page, Style, Tone, inline};
use serde::Serialize;

use crate::operation::{OperationContext, OperationError, Output};
use crate::policies::warning::PolicyWarnings;
use crate::policies::{Policies, PolicyMistake, in_force};
use ledger::audit_event::OWNER;

/// What applying or removing a file, or a switch, changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AclChange {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    /// Of those added and changed: switched off, and so without an effect.
    pub off: Vec<String>,
    pub notes: Vec<String>,
    /// Whether it was done; else this is what would be.
    pub done: bool,
    /// What keeps the files from being used all the same: then nothing has changed yet, but for what was deleted.
    pub mistakes: Vec<PolicyMistake>,
}

impl AclChange {
    pub(super) fn between(before: &PolicySet, after: &PolicySet) -> Self {
        let names = |policies: &mut dyn Iterator<Item = &Policy>| -> Vec<String> {
            policies.map(|policy| policy.name.clone()).collect()
        };
        let added = names(&mut after.iter().filter(|policy| before.get(&policy.name).is_none()));
        let changed = names(
            &mut after.iter().filter(|policy| before.get(&policy.name).is_some_and(|known| known != *policy)),
        );
        let off = names(&mut after.iter().filter(|policy| {
            !policy.enabled && (added.contains(&policy.name) || changed.contains(&policy.name))
        }));
        Self {
            removed: names(&mut before.iter().filter(|policy| after.get(&policy.name).is_none())),
            added,
            changed,
            off,
            notes: Vec::new(),
            done: false,
            mistakes: Vec::new(),
        }
    }

    fn summarize(&self) -> &'static str {
        match (self.done, self.is_none()) {
            (_, true) if !self.mistakes.is_empty() => {
                "what is in force stays as it is, as long as there are mistakes"
            }
            (true, false) if !self.mistakes.is_empty() => {
                "in force from now on; the rest stays as it is, as long as there are mistakes"
            }
            (true, false) => "in force from now on",
            (true, true) => "what is in force stays as it is",
            (false, false) => "this is what would change; nothing was written",
            (false, true) => "nothing would change, and nothing was written",
        }
    }

    #[must_use]
    pub fn is_none(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// A change with what the owner has to know afterwards.
#[derive(Debug, Serialize)]
pub struct PolicyFileChange {
    #[serde(flatten)]
    pub change: AclChange,
    #[serde(skip)]
    warnings: PolicyWarnings,
}

impl PolicyFileChange {
    pub(super) async fn new(
        context: &OperationContext<'_>,
        change: AclChange,
    ) -> Result<Self, OperationError> {
        let mut shown = Self { change, warnings: PolicyWarnings::default() };
        // Data say it in their fields.
        if shown.change.done && !context.io.reads_data() {
            match context.app.policies().warnings().await {
                Ok(warnings) => shown.warnings = warnings,
                Err(problem) => {
                    context.emit(&shown)?;
                    return Err(problem.into());
                }
            }
        }
        Ok(shown)
    }
}

impl Output for PolicyFileChange {
    fn render(&self, style: &Style<'_>) -> Page {
        let change = &self.change;
        let mut page = Page::new();
        let parts = [
            ("+", &change.added, Tone::Good),
            ("~", &change.changed, Tone::Attention),
            ("-", &change.removed, Tone::Bad),
        ];
        for (mark, names, tone) in parts {
            for name in names {
                let off = if change.off.contains(name) { "   switched off" } else { "" };
                page.add(format!("{} {name}{off}", style.theme.paint(mark, tone)));
            }
        }
        for note in &change.notes {
            page.add_note(format!("note: {}", inline(note)));
        }
        if change.done {
            page.append(self.warnings.render(style.note_theme));
        } else {
            for mistake in &change.mistakes {
                page.add_note(format!("! {}", inline(&mistake.what)));
            }
        }
        page.add_note(change.summarize());
        page
    }
}

impl Policies<'_> {
    pub(super) async fn put_in_force(
        self,
        services: &Services,
        change: &mut AclChange,
    ) -> Result<(), Problem> {
        let (active, _) = in_force::activate::<PolicySet>(services, &*self.app.host, OWNER).await?;
        change.done = true;
        // Somebody may have written another file meanwhile.
        change.mistakes = active.mistakes;
        Ok(())
    }
}
