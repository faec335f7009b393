//! The policies in force: those that ship, the files of the house, and what the owner has switched, made into one set that the
//! ledger keeps.
//!
//! As long as nothing of that has changed, the kept set is read back and no YAML is looked at. If something has, and all of it
//! is good, the new set takes the place of the old one, on record. If not:
//!
//! INVARIANT (last-good): a file with a mistake, and one that cannot be relied on, change nothing. The last set that was made
//! without a mistake stays in force, except for the policies whose file was deleted since; before there is one, what ships
//! does; if it was damaged, nothing is allowed.
//!
//! Start reading at [`active`]; whoever decides by it asks [`in_force`].

mod acl;
mod files;
mod fresh;
mod vpol;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;

use domain::{Digest, Time};
use ledger::records::{ActivePolicies, PolicySwitch};
use ledger::{Body, Ledger};
use policy::acl::PolicySet;
use policy::vpol::VpolSet;
use policy::yaml::{Origin, Source};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::host::InstanceHost;
pub(crate) use acl::told;
pub use files::{PolicyFile, PolicyKind, PolicyMistake};
pub(crate) use files::{PolicyFiles, SHIPPED};
pub(crate) use fresh::{PendingActivation, is_overtaken};
use kernel::{PoliciesInForce, PolicySource, Problem, Services};

/// Raised whenever loading makes something else of the same files.
const LOADING: u32 = 2;

/// A kind of policies, as a set. The default allows nothing: it is what counts when nobody knows what does.
pub(crate) trait PolicyRules: Serialize + DeserializeOwned + Clone + Default + Send {
    const KIND: PolicyKind;
    /// Whether `policy_switches` is about these.
    const SWITCHED: bool;

    fn shipped() -> &'static [Source<'static>];

    /// # Errors
    /// Everything that is wrong, never nothing.
    fn load(sources: &[Source<'_>]) -> Result<Self, Vec<PolicyMistake>>;

    fn count(&self) -> usize;

    /// In which file of the house each policy stood when the set was made; nothing of what ships.
    fn files(&self) -> &BTreeMap<String, String>;

    /// The same set without these policies.
    #[must_use]
    fn without(self, names: &BTreeSet<String>) -> Self;

    /// The same set with some of its policies switched; names that are none of its are passed over.
    #[must_use]
    fn switched(self, switches: &[PolicySwitch]) -> Self;
}

/// What decides now, and why it is that.
#[derive(Debug)]
pub(crate) struct ActivePolicySet<S> {
    pub set: S,
    /// What the set is kept under.
    pub digest: Digest,
    pub standing: PolicyStatus,
    /// Since when this set is in force; nothing if it is from now on.
    pub since: Option<Time>,
    /// What keeps the files from being used; empty unless it does.
    pub mistakes: Vec<PolicyMistake>,
    /// The last good set as it is on record, if its policies are not all in force.
    pub partly: Option<PartlyInForce<S>>,
    /// What is to be written before anybody decides by it.
    pub fresh: Option<PendingActivation>,
}

/// A last good set of which some files were deleted since.
#[derive(Debug)]
pub(crate) struct PartlyInForce<S> {
    pub set: S,
    pub digest: Digest,
    /// The policies of it that are not in force.
    pub deleted: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyStatus {
    /// PolicyFiles from the files as they are now.
    Current,
    /// The files have mistakes: the last good set, without the policies whose file was deleted.
    LastGood,
    /// The files have mistakes, and there never was a good set: what ships.
    ShippedOnly,
    /// The files have mistakes, and the last good set is damaged: nothing is allowed.
    Closed,
}

/// Looks at what is in force, and writes nothing.
///
/// # Errors
/// If the ledger cannot be read.
pub(crate) async fn active<S: PolicyRules>(
    services: &Services,
    host: &dyn InstanceHost,
) -> Result<ActivePolicySet<S>, Problem> {
    let kept = services.ledger.active_policies(S::KIND.name()).await?;
    let switches = if S::SWITCHED { services.ledger.policy_switches().await? } else { Vec::new() };
    let made = PolicyFiles::of::<S>(host.policies(S::KIND));
    let sources = made.digest(&switches)?;
    let found = match &kept {
        Some(kept) => read_back::<S>(&services.ledger, kept).await?,
        None => StoredSet::None,
    };
    let loading = Loading { kept: kept.as_ref(), switches: &switches, now: services.now() };
    let (found, kept) = match (found, &kept) {
        (StoredSet::Whole(set), Some(kept)) if sources == Some(kept.sources) => {
            return Ok(ActivePolicySet::as_kept(set, kept, PolicyStatus::Current, Vec::new()));
        }
        other => other,
    };
    let mistakes = match made.load::<S>() {
        Ok(set) => return loading.fresh(set, sources, &made, matches!(found, StoredSet::Changed)),
        Err(mistakes) => mistakes,
    };
    match (found, kept) {
        (StoredSet::Whole(set), Some(kept)) => last_good(set, kept, &made, mistakes),
        (_, None) => {
            let shipped = PolicyFiles::of::<S>(Vec::new());
            // Never in a program that passed its tests.
            let set =
                shipped.load::<S>().map_err(|_mistakes| Problem::internal("what ships has mistakes"))?;
            // It is not kept as the last good one: nobody has said that these are all there are.
            let set = set.switched(&switches);
            let fresh = PendingActivation::without_row(&set)?;
            let (digest, standing) = (fresh.digest(), PolicyStatus::ShippedOnly);
            Ok(ActivePolicySet {
                set,
                digest,
                standing,
                since: None,
                mistakes,
                partly: None,
                fresh: Some(fresh),
            })
        }
        (_, Some(_)) => {
            let set = S::default();
            let fresh = PendingActivation::without_row(&set)?;
            let (digest, standing) = (fresh.digest(), PolicyStatus::Closed);
            Ok(ActivePolicySet {
                set,
                digest,
                standing,
                since: None,
                mistakes,
                partly: None,
                fresh: Some(fresh),
            })
        }
    }
}

/// What is left of the last good set. What is on record stays as it is: should a file come back, so do its policies.
fn last_good<S: PolicyRules>(
    set: S,
    kept: &ActivePolicies,
    made: &PolicyFiles,
    mistakes: Vec<PolicyMistake>,
) -> Result<ActivePolicySet<S>, Problem> {
    let deleted = made.deleted(&set);
    if deleted.is_empty() {
        return Ok(ActivePolicySet::as_kept(set, kept, PolicyStatus::LastGood, mistakes));
    }
    let left = set.clone().without(&deleted);
    let fresh = PendingActivation::without_row(&left)?;
    Ok(ActivePolicySet {
        digest: fresh.digest(),
        fresh: Some(fresh),
        partly: Some(PartlyInForce { set, digest: kept.policies, deleted }),
        ..ActivePolicySet::as_kept(left, kept, PolicyStatus::LastGood, mistakes)
    })
}

/// What to decide by. A set that replaces another is made durable first, by itself: nobody overwrites what somebody else has
/// put in force meanwhile. That of a new house is left to the caller, who calls [`ActivePolicySet::enter`] in any case.
///
/// # Errors
/// If the ledger fails.
pub(crate) async fn in_force<S: PolicyRules>(
    services: &Services,
    host: &dyn InstanceHost,
) -> Result<ActivePolicySet<S>, Problem> {
    let active = active::<S>(services, host).await?;
    match &active.fresh {
        Some(fresh) if fresh.replaces() => {
            activate(services, host, fresh::HOUSE).await.map(|(active, _)| active)
        }
        _ => Ok(active),
    }
}

/// Puts what the files say now in force, whoever else does the same; says whether there was anything to write.
///
/// # Errors
/// If the ledger fails.
pub(crate) async fn activate<S: PolicyRules>(
    services: &Services,
    host: &dyn InstanceHost,
    actor: &str,
) -> Result<(ActivePolicySet<S>, bool), Problem> {
    const TRIES: u32 = 20;
    let mut tries = 1..TRIES;
    loop {
        let mut active = active::<S>(services, host).await?;
        let Some(fresh) = active.fresh.take() else { return Ok((active, false)) };
        let mut batch = services.batch();
        fresh.expect(&mut batch);
        fresh.enter(actor, &mut batch);
        match services.ledger.commit(batch).await {
            Ok(_) => {
                active.since = fresh.since().or(active.since);
                return Ok((active, true));
            }
            // Somebody was faster: what there is now is looked at again.
            Err(error) if is_overtaken(&error) && tries.next().is_some() => {}
            Err(error) => return Err(error.into()),
        }
    }
}

impl<S> ActivePolicySet<S> {
    const fn as_kept(
        set: S,
        kept: &ActivePolicies,
        standing: PolicyStatus,
        mistakes: Vec<PolicyMistake>,
    ) -> Self {
        let (digest, since) = (kept.policies, Some(kept.at));
        Self { set, digest, standing, since, mistakes, partly: None, fresh: None }
    }

    /// The policies of the last good set that are not in force, because their file was deleted.
    pub(crate) fn deleted(&self) -> Vec<String> {
        self.partly.iter().flat_map(|partly| &partly.deleted).cloned().collect()
    }

    /// Enters what is new into the caller's batch: the set, that it is in force, and the record of that.
    pub(crate) fn enter(&self, batch: &mut ledger::Batch) {
        if let Some(fresh) = &self.fresh {
            fresh.enter(fresh::HOUSE, batch);
        }
    }
}

/// Makes the policies in force from the files of the host.
pub(crate) struct FilePolicies(pub(crate) Arc<dyn InstanceHost>);

/// Both kinds of policies, as they decide now.
struct BothKinds {
    acl: ActivePolicySet<PolicySet>,
    vpol: ActivePolicySet<VpolSet>,
}

#[async_trait]
impl PolicySource for FilePolicies {
    async fn in_force(&self, services: &Services) -> Result<Box<dyn PoliciesInForce>, Problem> {
        let (acl, vpol) = (in_force(services, &*self.0).await?, in_force(services, &*self.0).await?);
        Ok(Box::new(BothKinds { acl, vpol }))
    }
}

impl PoliciesInForce for BothKinds {
    fn acl(&self) -> (&PolicySet, Digest) {
        (&self.acl.set, self.acl.digest)
    }

    fn vpol(&self) -> (&VpolSet, Digest) {
        (&self.vpol.set, self.vpol.digest)
    }

    fn enter(&self, batch: &mut ledger::Batch) {
        self.acl.enter(batch);
        self.vpol.enter(batch);
    }
}

/// What a set that has just been made is compared with.
struct Loading<'a> {
    kept: Option<&'a ActivePolicies>,
    switches: &'a [PolicySwitch],
    now: Time,
}

impl Loading<'_> {
    /// What was changed in the database stays so: nothing that is written under its name would be kept.
    fn fresh<S: PolicyRules>(
        &self,
        set: S,
        sources: Option<Digest>,
        made: &PolicyFiles,
        changed: bool,
    ) -> Result<ActivePolicySet<S>, Problem> {
        let sources = sources.ok_or_else(|| Problem::internal("a set was made from what cannot be read"))?;
        let set = set.switched(self.switches);
        let plain = made.files.is_empty() && self.switches.is_empty();
        let fresh = PendingActivation::of(&set, self.kept, sources, plain, self.now)?;
        let digest = fresh.digest();
        let same = self.kept.filter(|kept| kept.policies == digest);
        let in_vain = changed && same.is_some_and(|kept| kept.sources == sources);
        Ok(ActivePolicySet {
            set,
            digest,
            standing: PolicyStatus::Current,
            since: same.map(|kept| kept.at),
            mistakes: Vec::new(),
            partly: None,
            fresh: (!in_vain).then_some(fresh),
        })
    }
}

/// A kept set, as it was found.
enum StoredSet<S> {
    None,
    Whole(S),
    /// It is gone, or another program's.
    Unusable,
    /// It is not what its name says.
    Changed,
}

async fn read_back<S: PolicyRules>(ledger: &Ledger, kept: &ActivePolicies) -> Result<StoredSet<S>, Problem> {
    Ok(match ledger.kept(&kept.policies).await? {
        Body::Whole { content, .. } => match serde_json::from_slice::<S>(&content) {
            Ok(set) => StoredSet::Whole(set),
            Err(_) => StoredSet::Unusable,
        },
        Body::Gone => StoredSet::Unusable,
        Body::Changed => StoredSet::Changed,
    })
}

/// As a loader wants them.
pub(crate) fn sources<'a>(labelled: &'a [(String, &'a str, Origin)]) -> Vec<Source<'a>> {
    labelled.iter().map(|(file, text, origin)| Source { file, text, origin: *origin }).collect()
}
