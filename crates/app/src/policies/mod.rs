//! The access policies: what is in force and why, what is applied and taken back, what is switched.

pub(crate) mod in_force;
mod replay;
mod vpol;

use std::collections::BTreeSet;

use domain::event::{ContainerKind, TERMINAL};
use domain::{Digest, Time};
use ledger::AuditEvent;
use ledger::audit_event::OWNER;
use ledger::records::{ActivePolicies, PolicySwitch};
use policy::acl::{Case, Effect, Loaded, Moment, Note, Policy, PolicySet, Scene, Who, load, shipped};
use policy::vpol::VpolSet;
use serde::Serialize;

use in_force::{ActivePolicySet, PartlyInForce, PendingActivation, PolicyFiles};
use kernel::Services;

use kernel::{Code, Problem};

use crate::App;

pub use in_force::{PolicyFile, PolicyKind, PolicyMistake, PolicyStatus};
pub use replay::{Replay, Replayed};

/// One policy in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AclLine {
    pub name: String,
    pub effect: Option<Effect>,
    pub ceiling: bool,
    pub priority: u8,
    pub enabled: bool,
    pub shipped: bool,
    /// The file it stands in; nothing where nobody knows any more.
    pub file: Option<String>,
}

/// What is in force, and what is wrong with the files if something is.
#[derive(Clone, Debug, Serialize)]
pub struct AclReport {
    pub standing: PolicyStatus,
    pub set: Digest,
    /// Since when exactly these policies are in force.
    pub since: Option<Time>,
    pub policies: Vec<AclLine>,
    pub mistakes: Vec<PolicyMistake>,
    /// Policies of the last good set that are not in force any more, because their file was deleted.
    pub deleted: Vec<String>,
}

/// Everything of one policy.
#[derive(Clone, Debug, Serialize)]
pub struct AclView {
    #[serde(flatten)]
    pub line: AclLine,
    pub policy: Policy,
}

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

/// Files of the house in which nothing is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AclCheck {
    pub policies: usize,
    pub files: usize,
    pub notes: Vec<String>,
}

/// Whether something is only tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apply {
    Try,
    Really,
}

/// The policies of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Policies<'a> {
    pub(crate) app: &'a App,
}

impl Policies<'_> {
    /// Every access policy in force, as they are heard.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.list", skip_all)]
    pub async fn list(self) -> Result<AclReport, Problem> {
        let active = self.active_acl().await?;
        let (policies, deleted) = (self.acl_lines(&active.set), active.deleted());
        let ActivePolicySet { standing, digest, since, mistakes, .. } = active;
        Ok(AclReport { standing, set: digest, since, policies, mistakes, deleted })
    }

    /// # Errors
    /// If there is no such policy, or the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.show", skip_all)]
    pub async fn show(self, name: &str) -> Result<AclView, Problem> {
        let active = self.active_acl().await?;
        let policy = active.set.get(name).cloned().ok_or_else(|| no_such_policy(&active.set, name))?;
        let line = self.acl_lines(&active.set).into_iter().find(|line| line.name == name);
        let line = line.ok_or_else(|| no_such_policy(&active.set, name))?;
        Ok(AclView { line, policy })
    }

    /// The set in force; in a place without a house, what ships. It makes no house.
    ///
    /// # Errors
    /// If the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.in_force", skip_all)]
    pub async fn in_force(self) -> Result<PolicySet, Problem> {
        if self.app.instance().exists() {
            return Ok(self.look_at_acl(&self.app.kernel.services().await?).await?.set);
        }
        shipped::defaults().map(|loaded| loaded.set).map_err(Problem::internal)
    }

    /// What is wrong with the files of the house, or how many policies there are with what is to be known about them.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn check(self) -> Result<AclCheck, Problem> {
        let made = PolicyFiles::of::<PolicySet>(self.app.host.policies(PolicyKind::Acl));
        let loaded = loaded(&made).map_err(|mistakes| wrong(&mistakes))?;
        let own = loaded.files.values().filter(|file| !file.starts_with(in_force::SHIPPED)).count();
        Ok(AclCheck { policies: own, files: made.files.len(), notes: noted(&loaded.notes) })
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

    /// The set that would be in force with these files applied, each a name and its text; that in force, if there are none.
    ///
    /// # Errors
    /// Everything that is wrong with them or with the files beside them, or if the ledger fails.
    pub(super) async fn with_sources(self, given: &[(String, String)]) -> Result<PolicySet, Problem> {
        if given.is_empty() {
            return self.in_force().await;
        }
        let mut files = self.app.host.policies(PolicyKind::Acl);
        for (file, text) in given {
            is_a_name(file)?;
            files.retain(|known| known.name != *file);
            files.push(PolicyFile { name: file.clone(), text: Ok(text.clone()) });
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let loaded = loaded(&PolicyFiles::of::<PolicySet>(files)).map_err(|mistakes| wrong(&mistakes))?;
        let switches = self.app.kernel.services().await?.ledger.policy_switches().await?;
        Ok(in_force::PolicyRules::switched(loaded.set, &switches))
    }

    /// Puts a file of policies in force, in place of whatever was applied under its name.
    ///
    /// # Errors
    /// Everything that is wrong with it or with the files beside it; or if it cannot be written.
    #[tracing::instrument(level = "info", name = "policies.apply", skip_all)]
    pub async fn apply(self, file: &str, text: &str, apply: Apply) -> Result<AclChange, Problem> {
        is_a_name(file)?;
        let mut files = self.app.host.policies(PolicyKind::Acl);
        files.retain(|known| known.name != file);
        files.push(PolicyFile { name: file.to_owned(), text: Ok(text.to_owned()) });
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let made = PolicyFiles::of::<PolicySet>(files);
        let loaded = loaded(&made).map_err(|mistakes| wrong(&mistakes))?;
        let services = self.app.kernel.services().await?;
        let before = self.look_at_acl(&services).await?;
        let switches = services.ledger.policy_switches().await?;
        let after = in_force::PolicyRules::switched(loaded.set, &switches);
        let mut change = AclChange::between(&before.set, &after);
        change.notes = noted(&loaded.notes);
        if apply == Apply::Really {
            self.app.host.put_policies(PolicyKind::Acl, file, text)?;
            self.put_in_force(&services, &mut change).await?;
        }
        Ok(change)
    }

    /// Takes a file of policies out again.
    ///
    /// # Errors
    /// If there is none of this name, or it cannot be taken away.
    #[tracing::instrument(level = "info", name = "policies.remove", skip_all)]
    pub async fn remove(self, file: &str, apply: Apply) -> Result<AclChange, Problem> {
        let mut files = self.app.host.policies(PolicyKind::Acl);
        if !files.iter().any(|known| known.name == file && !file.is_empty()) {
            return Err(Problem::new(
                Code::NO_SUCH_POLICY,
                format!("there is no file `{file}` in policies/acl"),
            )
            .safe("nothing was changed")
            .remedy("regent acl list"));
        }
        files.retain(|known| known.name != file);
        let services = self.app.kernel.services().await?;
        let before = self.look_at_acl(&services).await?;
        let switches = services.ledger.policy_switches().await?;
        let made = PolicyFiles::of::<PolicySet>(files);
        let mut change = match loaded(&made) {
            Ok(loaded) => {
                let after = in_force::PolicyRules::switched(loaded.set, &switches);
                AclChange { notes: noted(&loaded.notes), ..AclChange::between(&before.set, &after) }
            }
            // The rest is no better: what is in force stays so, but for what stands in this file.
            Err(mistakes) => {
                let after = before.set.clone().without(&made.deleted(&before.set));
                AclChange { mistakes, ..AclChange::between(&before.set, &after) }
            }
        };
        if apply == Apply::Really {
            self.app.host.take_policies(PolicyKind::Acl, file)?;
            self.put_in_force(&services, &mut change).await?;
        }
        Ok(change)
    }

    /// Switches a policy on or off, whatever its file says. Where the files have mistakes it counts for the last good set.
    ///
    /// # Errors
    /// If there is no such policy, or the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.switch", skip_all)]
    pub async fn switch(self, name: &str, enabled: bool) -> Result<AclLine, Problem> {
        const TRIES: u32 = 20;
        let services = self.app.kernel.services().await?;
        let mut tries = 1..TRIES;
        loop {
            let (active, _) = in_force::activate::<PolicySet>(&services, &*self.app.host, OWNER).await?;
            active.set.get(name).ok_or_else(|| no_such_policy(&active.set, name))?;
            // What is on record is switched: a policy whose file was deleted is left out of that again.
            let (set, digest) = match active.partly {
                Some(PartlyInForce { set, digest, .. }) => (set, digest),
                None => (active.set, active.digest),
            };
            let row = PolicySwitch { name: name.to_owned(), enabled, at: services.now() };
            let before = services.ledger.policy_switches().await?;
            let kept = services.ledger.active_policies(PolicyKind::Acl.name()).await?;
            let Some(kept) = kept.filter(|kept| kept.policies == digest) else {
                // Somebody has put others in force a moment ago.
                if tries.next().is_some() {
                    continue;
                } else {
                    return Err(Problem::internal("policies change all the time"));
                }
            };
            let set = in_force::PolicyRules::switched(set, std::slice::from_ref(&row));
            let sources = self.sources_switched(&kept, &before, &row)?;
            let fresh = PendingActivation::of(&set, Some(&kept), sources, false, services.now())?;
            let mut batch = services.batch();
            batch.put(&row).audit(AuditEvent::PolicySwitched(&row).entry(OWNER, services.now()));
            fresh.expect(&mut batch);
            fresh.enter(OWNER, &mut batch);
            match services.ledger.commit(batch).await {
                Ok(_) => {
                    let line = self.acl_lines(&set).into_iter().find(|line| line.name == name);
                    return line.ok_or_else(|| no_such_policy(&set, name));
                }
                Err(error) if in_force::is_overtaken(&error) && tries.next().is_some() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// From what a switched set is made: the files and the switches; or, where it is the last good set of other files, that.
    fn sources_switched(
        self,
        kept: &ActivePolicies,
        before: &[PolicySwitch],
        row: &PolicySwitch,
    ) -> Result<Digest, Problem> {
        let made = PolicyFiles::of::<PolicySet>(self.app.host.policies(PolicyKind::Acl));
        let mut after: Vec<PolicySwitch> =
            before.iter().filter(|known| known.name != row.name).cloned().collect();
        after.push(row.clone());
        match (made.digest(before)?, made.digest(&after)?) {
            (Some(then), Some(now)) if then == kept.sources => Ok(now),
            _ => {
                let from = (kept.sources, &row.name, row.enabled);
                Ok(Digest::of(&domain::canonical::bytes(&from).map_err(Problem::internal)?))
            }
        }
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

    pub(super) async fn look_at_acl(
        self,
        services: &Services,
    ) -> Result<ActivePolicySet<PolicySet>, Problem> {
        in_force::active(services, &*self.app.host).await
    }

    /// What is in force; whoever asks puts it there, if the files are others than before.
    async fn active_acl(self) -> Result<ActivePolicySet<PolicySet>, Problem> {
        Ok(in_force::activate(&self.app.kernel.services().await?, &*self.app.host, OWNER).await?.0)
    }

    async fn put_in_force(self, services: &Services, change: &mut AclChange) -> Result<(), Problem> {
        let (active, _) = in_force::activate::<PolicySet>(services, &*self.app.host, OWNER).await?;
        change.done = true;
        // Somebody may have written another file meanwhile.
        change.mistakes = active.mistakes;
        Ok(())
    }

    fn acl_lines(self, set: &PolicySet) -> Vec<AclLine> {
        let known = |made: &PolicyFiles| loaded(made).map(|loaded| loaded.files);
        let own = PolicyFiles::of::<PolicySet>(self.app.host.policies(PolicyKind::Acl));
        let shipped = || known(&PolicyFiles::of::<PolicySet>(Vec::new())).unwrap_or_default();
        // Where the files are no good, a policy of yours stands where it stood, if that file is still there.
        let files = known(&own).unwrap_or_else(|_mistakes| {
            let then = set.files().clone().into_iter().filter(|(_, file)| own.has(file) == Some(true));
            shipped().into_iter().chain(then).collect()
        });
        let is_shipped = |file: &String| file.starts_with(in_force::SHIPPED);
        let lines = set.iter().map(|policy| AclLine {
            name: policy.name.clone(),
            effect: policy.effect,
            ceiling: policy.ceiling,
            priority: policy.priority,
            enabled: policy.enabled,
            shipped: files.get(&policy.name).is_some_and(is_shipped),
            file: files.get(&policy.name).cloned(),
        });
        lines.collect()
    }
}

impl AclChange {
    fn between(before: &PolicySet, after: &PolicySet) -> Self {
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

    #[must_use]
    pub fn is_none(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// What is made of these files, with where everything stands.
fn loaded(made: &PolicyFiles) -> Result<Loaded, Vec<PolicyMistake>> {
    let unreadable = made.unreadable();
    if !unreadable.is_empty() {
        return Err(unreadable);
    }
    load(&in_force::sources(&made.labelled())).map_err(|mistakes| in_force::told(&mistakes))
}

/// What is to be known of the owner's own files.
fn noted(notes: &[Note]) -> Vec<String> {
    let own = notes.iter().filter(|note| !note.file.starts_with(in_force::SHIPPED));
    own.map(ToString::to_string).collect()
}

fn wrong(mistakes: &[PolicyMistake]) -> Problem {
    let lines: Vec<&str> = mistakes.iter().map(|mistake| mistake.what.as_str()).collect();
    Problem::new(Code::BAD_POLICY, lines.join("\n"))
        .safe("nothing was changed: the policies in force are as they were")
        .remedy("regent explain R2023")
}

fn no_such_policy(set: &PolicySet, name: &str) -> Problem {
    let hint = crate::instance::settings::nearest(name, set.iter().map(|policy| policy.name.as_str()));
    let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Problem::new(Code::NO_SUCH_POLICY, format!("no policy is called `{name}`{hint}"))
        .safe("nothing was changed")
        .remedy("regent acl list")
}

/// A file that is applied must be one that is read afterwards, and nowhere else than in its folder.
fn is_a_name(file: &str) -> Result<(), Problem> {
    const LONGEST: usize = 100;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let ends = file.ends_with(".yaml") || file.ends_with(".yml");
    if ends && file.len() <= LONGEST && !file.starts_with('.') && file.chars().all(plain) {
        return Ok(());
    }
    let what = format!("`{file}` is no name for a policy file; call it like `people.yaml`");
    Err(Problem::new(Code::BAD_POLICY, what).safe("nothing was changed").remedy("regent explain R2023"))
}
