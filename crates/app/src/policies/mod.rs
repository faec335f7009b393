//! The policies: what is in force and why, what is applied and taken back, what is switched.

pub mod acl;
pub(crate) mod in_force;
mod named_files;
pub mod vpol;
mod warning;

use kernel::{Code, Problem, Services};
use ledger::audit_event::OWNER;
use policy::acl::{Loaded, Note, PolicySet, load, shipped};

use crate::App;
use in_force::{ActivePolicySet, PolicyFiles};

pub use acl::{AclChange, AclLine, AclReport, AclView, Replay, Replayed};
pub use in_force::{PolicyFile, PolicyKind, PolicyMistake, PolicyStatus};
pub use named_files::PolicyCheck;

/// Whether something is only tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apply {
    Try,
    Really,
}

impl Apply {
    const fn from_dry_run(dry_run: bool) -> Self {
        if dry_run { Self::Try } else { Self::Really }
    }
}

/// The policies of an instance.
#[derive(Clone, Copy, Debug)]
pub struct Policies<'a> {
    pub(crate) app: &'a App,
}

impl Policies<'_> {
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
    let hint = crate::nearest::find_nearest(name, set.iter().map(|policy| policy.name.as_str()));
    let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Problem::new(Code::NO_SUCH_POLICY, format!("no policy is called `{name}`{hint}"))
        .safe("nothing was changed")
        .remedy("regent acl list")
}
