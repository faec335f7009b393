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

use domain::{Digest, Time};
use ledger::records::{ActivePolicies, PolicySwitch};
use ledger::{Body, Ledger};
use policy::acl::PolicySet;
use policy::vpol::VpolSet;
use policy::yaml::{Origin, Source};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::host::Host;
use crate::pipeline::Desk;
use crate::problem::Problem;
pub(crate) use acl::told;
pub(crate) use files::{Made, SHIPPED};
pub use files::{Mistaken, PolicyFile, PolicyKind};
pub(crate) use fresh::{Fresh, is_overtaken};

/// Raised whenever loading makes something else of the same files.
const LOADING: u32 = 2;

/// A kind of policies, as a set. The default allows nothing: it is what counts when nobody knows what does.
pub(crate) trait Rules: Serialize + DeserializeOwned + Clone + Default + Send {
    const KIND: PolicyKind;
    /// Whether `policy_switches` is about these.
    const SWITCHED: bool;

    fn shipped() -> &'static [Source<'static>];

    /// # Errors
    /// Everything that is wrong, never nothing.
    fn load(sources: &[Source<'_>]) -> Result<Self, Vec<Mistaken>>;

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
pub(crate) struct Active<S> {
    pub(crate) set: S,
    /// What the set is kept under.
    pub(crate) digest: Digest,
    pub(crate) standing: Standing,
    /// Since when this set is in force; nothing if it is from now on.
    pub(crate) since: Option<Time>,
    /// What keeps the files from being used; empty unless it does.
    pub(crate) mistakes: Vec<Mistaken>,
    /// The last good set as it is on record, if its policies are not all in force.
    pub(crate) partly: Option<PartlyInForce<S>>,
    /// What is to be written before anybody decides by it.
    pub(crate) fresh: Option<Fresh>,
}

/// A last good set of which some files were deleted since.
#[derive(Debug)]
pub(crate) struct PartlyInForce<S> {
    pub(crate) set: S,
    pub(crate) digest: Digest,
    /// The policies of it that are not in force.
    pub(crate) deleted: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Made from the files as they are now.
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
pub(crate) async fn active<S: Rules>(desk: &Desk, host: &dyn Host) -> Result<Active<S>, Problem> {
    let kept = desk.ledger.active_policies(S::KIND.name()).await?;
    let switches = if S::SWITCHED { desk.ledger.policy_switches().await? } else { Vec::new() };
    let made = Made::of::<S>(host.policies(S::KIND));
    let sources = made.digest(&switches)?;
    let found = match &kept {
        Some(kept) => read_back::<S>(&desk.ledger, kept).await?,
        None => Back::None,
    };
    let loading = Loading { kept: kept.as_ref(), switches: &switches, now: desk.now() };
    let (found, kept) = match (found, &kept) {
        (Back::Whole(set), Some(kept)) if sources == Some(kept.sources) => {
            return Ok(Active::as_kept(set, kept, Standing::Current, Vec::new()));
        }
        other => other,
    };
    let mistakes = match made.load::<S>() {
        Ok(set) => return loading.fresh(set, sources, &made, matches!(found, Back::Changed)),
        Err(mistakes) => mistakes,
    };
    match (found, kept) {
        (Back::Whole(set), Some(kept)) => last_good(set, kept, &made, mistakes),
        (_, None) => {
            let shipped = Made::of::<S>(Vec::new());
            // Never in a program that passed its tests.
            let set =
                shipped.load::<S>().map_err(|_mistakes| Problem::internal("what ships has mistakes"))?;
            // It is not kept as the last good one: nobody has said that these are all there are.
            let set = set.switched(&switches);
            let fresh = Fresh::without_row(&set)?;
            let (digest, standing) = (fresh.digest(), Standing::ShippedOnly);
            Ok(Active { set, digest, standing, since: None, mistakes, partly: None, fresh: Some(fresh) })
        }
        (_, Some(_)) => {
            let set = S::default();
            let fresh = Fresh::without_row(&set)?;
            let (digest, standing) = (fresh.digest(), Standing::Closed);
            Ok(Active { set, digest, standing, since: None, mistakes, partly: None, fresh: Some(fresh) })
        }
    }
}

/// What is left of the last good set. What is on record stays as it is: should a file come back, so do its policies.
fn last_good<S: Rules>(
    set: S,
    kept: &ActivePolicies,
    made: &Made,
    mistakes: Vec<Mistaken>,
) -> Result<Active<S>, Problem> {
    let deleted = made.deleted(&set);
    if deleted.is_empty() {
        return Ok(Active::as_kept(set, kept, Standing::LastGood, mistakes));
    }
    let left = set.clone().without(&deleted);
    let fresh = Fresh::without_row(&left)?;
    Ok(Active {
        digest: fresh.digest(),
        fresh: Some(fresh),
        partly: Some(PartlyInForce { set, digest: kept.policies, deleted }),
        ..Active::as_kept(left, kept, Standing::LastGood, mistakes)
    })
}

/// What to decide by. A set that replaces another is made durable first, by itself: nobody overwrites what somebody else has
/// put in force meanwhile. That of a new house is left to the caller, who calls [`Active::enter`] in any case.
///
/// # Errors
/// If the ledger fails.
pub(crate) async fn in_force<S: Rules>(desk: &Desk, host: &dyn Host) -> Result<Active<S>, Problem> {
    let active = active::<S>(desk, host).await?;
    match &active.fresh {
        Some(fresh) if fresh.replaces() => activate(desk, host, fresh::HOUSE).await.map(|(active, _)| active),
        _ => Ok(active),
    }
}

/// Puts what the files say now in force, whoever else does the same; says whether there was anything to write.
///
/// # Errors
/// If the ledger fails.
pub(crate) async fn activate<S: Rules>(
    desk: &Desk,
    host: &dyn Host,
    actor: &str,
) -> Result<(Active<S>, bool), Problem> {
    const TRIES: u32 = 20;
    let mut tries = 1..TRIES;
    loop {
        let mut active = active::<S>(desk, host).await?;
        let Some(fresh) = active.fresh.take() else { return Ok((active, false)) };
        let mut batch = desk.batch();
        fresh.expect(&mut batch);
        fresh.enter(actor, &mut batch);
        match desk.ledger.commit(batch).await {
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

impl<S> Active<S> {
    const fn as_kept(set: S, kept: &ActivePolicies, standing: Standing, mistakes: Vec<Mistaken>) -> Self {
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

/// All kinds of policies that decide about an event.
pub(crate) struct InForce {
    pub(crate) acl: Active<PolicySet>,
    pub(crate) vpol: Active<VpolSet>,
}

impl InForce {
    /// # Errors
    /// If the ledger fails.
    pub(crate) async fn now(desk: &Desk, host: &dyn Host) -> Result<Self, Problem> {
        Ok(Self { acl: in_force(desk, host).await?, vpol: in_force(desk, host).await? })
    }

    /// Enters what is new into the caller's batch, as [`Active::enter`] does.
    pub(crate) fn enter(&self, batch: &mut ledger::Batch) {
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
    fn fresh<S: Rules>(
        &self,
        set: S,
        sources: Option<Digest>,
        made: &Made,
        changed: bool,
    ) -> Result<Active<S>, Problem> {
        let sources = sources.ok_or_else(|| Problem::internal("a set was made from what cannot be read"))?;
        let set = set.switched(self.switches);
        let plain = made.files.is_empty() && self.switches.is_empty();
        let fresh = Fresh::of(&set, self.kept, sources, plain, self.now)?;
        let digest = fresh.digest();
        let same = self.kept.filter(|kept| kept.policies == digest);
        let in_vain = changed && same.is_some_and(|kept| kept.sources == sources);
        Ok(Active {
            set,
            digest,
            standing: Standing::Current,
            since: same.map(|kept| kept.at),
            mistakes: Vec::new(),
            partly: None,
            fresh: (!in_vain).then_some(fresh),
        })
    }
}

/// A kept set, as it was found.
enum Back<S> {
    None,
    Whole(S),
    /// It is gone, or another program's.
    Unusable,
    /// It is not what its name says.
    Changed,
}

async fn read_back<S: Rules>(ledger: &Ledger, kept: &ActivePolicies) -> Result<Back<S>, Problem> {
    Ok(match ledger.kept(&kept.policies).await? {
        Body::Whole { content, .. } => match serde_json::from_slice::<S>(&content) {
            Ok(set) => Back::Whole(set),
            Err(_) => Back::Unusable,
        },
        Body::Gone => Back::Unusable,
        Body::Changed => Back::Changed,
    })
}

/// As a loader wants them.
pub(crate) fn sources<'a>(labelled: &'a [(String, &'a str, Origin)]) -> Vec<Source<'a>> {
    labelled.iter().map(|(file, text, origin)| Source { file, text, origin: *origin }).collect()
}
