use std::collections::BTreeSet;
use std::ops::ControlFlow;

use domain::id::{NodeId, OriginId};

use super::bodies::{BodyReport, compare_bodies};
use crate::chain::{
    CheckThreads, Exported, Gap, Ledgers, Link, Pinned, Standing, StreamVerdict, Tip, Verification, Verifier,
};
use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{
    Access, AgentTask, Approval, AuditEntry, AuditHead, AuditPlace, Checkpoint, Commit, Duty, Event, Grant,
    GrantLog, Knock, TaskStep, ToolCall,
};
use crate::store::{Snapshot, StoreError};
use crate::table::Record;
use crate::value::{Ref, Value};

/// Rows read at once.
const PAGE: u32 = 2_048;

/// What is to be examined beyond the chain itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditScope<'a> {
    /// What somebody has kept elsewhere, to compare with.
    pub pinned: Option<&'a Pinned>,
    /// Whether to compare the entries with what was done.
    pub complete: bool,
    /// Whether to compare every body with its digest.
    pub bodies: bool,
}

/// What an examination found, all of it at one moment.
#[derive(Clone, Debug)]
pub struct AuditFindings {
    pub verification: Verification,
    /// What has no counterpart; only if that was asked for.
    pub gaps: Option<Vec<Gap>>,
    /// Only if that was asked for.
    pub bodies: Option<BodyReport>,
}

impl Ledger {
    /// Whether the head of the audit was sealed with this vault's keys; nothing if there is no head.
    ///
    /// # Errors
    /// If the database or a key cannot be read.
    pub async fn head_standing(&self) -> Result<Option<Standing>, StoreError> {
        let Some(head) = self.audit_head().await? else { return Ok(None) };
        Ok(Some(self.seal().standing(&head)?))
    }

    /// # Errors
    /// As [`Ledger::examine_audit`].
    pub async fn verify_audit(&self) -> Result<Verification, StoreError> {
        Ok(self.examine_audit(AuditScope::default()).await?.verification)
    }

    /// Walks every stream from its beginning to its sealed tip, and every checkpoint, and compares what the scope names.
    /// Others may write meanwhile: it is the record as it was at one moment.
    ///
    /// # Errors
    /// If the database or a secret cannot be read; a fault in the chain is a result, not an error.
    pub async fn examine_audit(&self, scope: AuditScope<'_>) -> Result<AuditFindings, StoreError> {
        let mut looks = Looks::default();
        loop {
            let before = self.epoch().await?;
            let found = self.examine(scope).await?;
            if looks.are_enough(found.verification.is_consistent(), before, self.epoch().await?) {
                return Ok(found);
            }
        }
    }

    async fn epoch(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.audit_head().await?.map(|head| head.epoch))
    }

    async fn examine(&self, scope: AuditScope<'_>) -> Result<AuditFindings, StoreError> {
        let AuditScope { pinned, complete, bodies } = scope;
        let mut ledgers = complete.then(Ledgers::default);
        let seal = self.seal();
        // What stands outside is read first: the database may be ahead of it, never behind.
        let tip = seal.vault().tip()?;
        let outside = outside(&seal.vault().checkpoints()?)?;
        let mut snapshot = self.snapshot().await?;
        let checkpoints: Vec<Checkpoint> = all(&mut *snapshot, Select::all().ascending("epoch")).await?;
        let heads: Vec<AuditHead> = all(&mut *snapshot, Select::all()).await?;
        let own = seal.stream();
        let own_head = heads.iter().find(|head| head.stream == own);
        if let Some(head) = own_head {
            drop(seal.secret(head.epoch)?); // kept from here on, should another process end the epoch meanwhile
        }
        let mut verifier = Verifier::new(&checkpoints, &outside, pinned);
        let has_written = !all(&mut *snapshot, Select::<Commit>::all().limit(1)).await?.is_empty();
        if own_head.is_some() || heads.is_empty() {
            verifier.compare_keys(seal, own_head, pinned)?;
        }

        let expected = (has_written || tip.is_some()).then_some(own);
        let names = streams(&mut *snapshot, &heads, verifier.streams().chain(expected)).await?;
        let mut streams = Vec::with_capacity(names.len());
        for stream in names {
            let mut walk = verifier.walk(stream);
            walk.expect(tip.filter(|_| stream == own));
            let mut threads = CheckThreads::start(|link| match link {
                Some((link, check)) => {
                    walk.step_checked(link, check);
                    ledgers.iter_mut().for_each(|ledgers| ledgers.entry(link));
                }
                None => walk.stumble(),
            });
            each_link(&mut *snapshot, stream, 0, |link| {
                threads.take(link);
                ControlFlow::Continue(())
            })
            .await?;
            threads.finish();
            let head = heads.iter().find(|head| head.stream == stream);
            streams.push(walk.end(Some((head, seal)))?);
        }
        let walked: u64 = streams.iter().map(|verdict: &StreamVerdict| verdict.entries).sum();
        verifier.compare_count(walked, snapshot.count(AuditEntry::TABLE).await?);
        let gaps = match ledgers {
            Some(ledgers) => Some(compare(&mut *snapshot, ledgers).await?),
            None => None,
        };
        let bodies = match bodies {
            true => Some(compare_bodies(&mut *snapshot).await?),
            false => None,
        };
        Ok(AuditFindings { verification: verifier.finish(streams), gaps, bodies })
    }

    /// Shows that an entry leads to a checkpoint, or to the sealed tip where none has signed it yet.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn verify_from(&self, entry: &AuditEntry) -> Result<StreamVerdict, StoreError> {
        let mut looks = Looks::default();
        loop {
            let before = self.epoch().await?;
            let verdict = self.look_from(entry).await?;
            if looks.are_enough(verdict.faults.is_empty(), before, self.epoch().await?) {
                return Ok(verdict);
            }
        }
    }

    async fn look_from(&self, entry: &AuditEntry) -> Result<StreamVerdict, StoreError> {
        let outside = outside(&self.seal().vault().checkpoints()?)?;
        let mut snapshot = self.snapshot().await?;
        let checkpoints: Vec<Checkpoint> = all(&mut *snapshot, Select::all().ascending("epoch")).await?;
        let verifier = Verifier::new(&checkpoints, &outside, None);
        let until = verifier.signed_after(entry.stream, entry.seq);
        let before = Tip { seq: entry.seq.saturating_sub(1), hash: entry.prev_hash };
        let mut verdict = self.walk(&mut *snapshot, &verifier, entry.stream, before, until).await?;
        verdict.faults.extend(verifier.finish(Vec::new()).faults);
        Ok(verdict)
    }

    /// What has been written since the last checkpoint: how many entries, and whether they hang together.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn verify_since_checkpoint(&self) -> Result<StreamVerdict, StoreError> {
        let mut looks = Looks::default();
        loop {
            let before = self.epoch().await?;
            let verdict = self.look_since_checkpoint().await?;
            if looks.are_enough(verdict.faults.is_empty(), before, self.epoch().await?) {
                return Ok(verdict);
            }
        }
    }

    async fn look_since_checkpoint(&self) -> Result<StreamVerdict, StoreError> {
        let own = self.seal().stream();
        let last = self.seal().last_checkpoint()?;
        let signed = last.and_then(|last| last.heads.into_iter().find(|head| head.stream == own));
        let signed = signed.map_or(Tip::NONE, |head| Tip { seq: head.seq, hash: head.hash });
        let mut snapshot = self.snapshot().await?;
        self.walk(&mut *snapshot, &Verifier::new(&[], &[], None), own, signed, None).await
    }

    /// Walks a stream from one place to another, or to its sealed tip.
    async fn walk(
        &self,
        snapshot: &mut dyn Snapshot,
        verifier: &Verifier,
        stream: NodeId,
        after: Tip,
        until: Option<u64>,
    ) -> Result<StreamVerdict, StoreError> {
        let heads: Vec<AuditHead> = all(snapshot, Select::by("stream", &stream)).await?;
        let mut walk = verifier.walk(stream);
        walk.skip_to(after.seq, after.hash);
        each_link(snapshot, stream, after.seq, |link| {
            match link {
                Some(link) => walk.step(link),
                None => walk.stumble(),
            }
            if until.is_some_and(|until| walk.seq() >= until) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .await?;
        Ok(match until {
            Some(until) => walk.stop_at(until),
            None => walk.end(Some((heads.first(), self.seal())))?,
        })
    }

    /// Every checkpoint, oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn checkpoints(&self) -> Result<Vec<Checkpoint>, StoreError> {
        self.select(Select::all().ascending("epoch")).await
    }

    /// Does what earlier checkpoints could not do outside the database any more, because their process died.
    ///
    /// # Errors
    /// If the database cannot be read, or something of that cannot be done.
    pub async fn catch_up(&self) -> Result<(), StoreError> {
        let checkpoints = self.checkpoints().await?;
        Ok(self.seal().catch_up(&checkpoints)?)
    }

    /// The epoch whose checkpoint was the first to sign this entry.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn signed_by(&self, stream: NodeId, seq: u64) -> Result<Option<u64>, StoreError> {
        let signs = |checkpoint: &Checkpoint| {
            let heads = checkpoint.statement().map(|statement| statement.heads).unwrap_or_default();
            heads.iter().any(|head| head.stream == stream && head.seq >= seq)
        };
        Ok(self.checkpoints().await?.iter().find(|checkpoint| signs(checkpoint)).map(|first| first.epoch))
    }

    /// How far the chain of this house has come.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn audit_head(&self) -> Result<Option<AuditHead>, StoreError> {
        self.first(Select::by("stream", &self.seal().stream())).await
    }

    /// The whole record as lines of JSON, as it stands: what it is, every checkpoint, every entry.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn export_audit(
        &self,
        mut write: impl FnMut(String) -> ControlFlow<()> + Send,
    ) -> Result<(), StoreError> {
        let mut snapshot = self.snapshot().await?;
        let checkpoints: Vec<Checkpoint> = all(&mut *snapshot, Select::all().ascending("epoch")).await?;
        let heads: Vec<AuditHead> = all(&mut *snapshot, Select::all().ascending("stream")).await?;
        let mut beginning =
            [Exported::title()].into_iter().chain(checkpoints.iter().map(Exported::checkpoint));
        let mut flow = beginning.try_for_each(&mut write);
        for stream in streams(&mut *snapshot, &heads, std::iter::empty()).await? {
            if flow.is_continue() {
                each_link(&mut *snapshot, stream, 0, |link| {
                    flow = link.map_or(ControlFlow::Continue(()), |link| write(Exported::entry(link)));
                    flow
                })
                .await?;
            }
        }
        Ok(())
    }

    /// The stream of the house that began this database, if it is not this one.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn begun_by_another(&self) -> Result<Option<NodeId>, StoreError> {
        let heads: Vec<AuditHead> = self.select(Select::all()).await?;
        let own = self.seal().stream();
        Ok(heads.first().map(|head| head.stream).filter(|_| heads.iter().all(|head| head.stream != own)))
    }

    /// What was recorded about one thing, among all that followed from the same origin.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn audit_of(&self, origin: OriginId, subject: &str) -> Result<Vec<AuditEntry>, StoreError> {
        let entries = self.audit_from(origin).await?;
        Ok(entries.into_iter().filter(|entry| entry.subject == subject).collect())
    }

    /// What was recorded about everything that followed from one origin.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn audit_from(&self, origin: OriginId) -> Result<Vec<AuditEntry>, StoreError> {
        let own = Select::by("origin_id", &origin).filter("stream", Op::Eq, &self.seal().stream());
        self.select(own.ascending("seq")).await
    }

    /// The newest entries of this house, oldest of them first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn audit_tail(&self, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        let own = Select::by("stream", &self.seal().stream());
        let mut entries: Vec<AuditEntry> = self.select(own.descending("seq").limit(limit)).await?;
        entries.reverse();
        Ok(entries)
    }
}

/// A checkpoint of another process erases the secret that the head was just sealed with: whoever was looking at that
/// moment sees a seal that nobody can check any more. What looks wrong is looked at again if the epoch has changed.
#[derive(Default)]
struct Looks(u32);

impl Looks {
    const MOST: u32 = 5;

    fn are_enough(&mut self, is_sound: bool, before: Option<u64>, after: Option<u64>) -> bool {
        self.0 += 1;
        is_sound || before == after || self.0 >= Self::MOST
    }
}

fn outside(lines: &[String]) -> Result<Vec<Checkpoint>, StoreError> {
    let read = |line: &String| {
        Checkpoint::from_line(line)
            .map_err(|error| StoreError::Vault(format!("a line of the checkpoints is unreadable: {error}")))
    };
    lines.iter().map(read).collect()
}

async fn all<T: Record>(snapshot: &mut dyn Snapshot, select: Select<T>) -> Result<Vec<T>, StoreError> {
    let rows = snapshot.select(&select.query).await?;
    rows.into_iter().map(|row| T::from_row(row).map_err(StoreError::from)).collect()
}

/// Every stream that there is a trace of. One whose head row was deleted still has its first entry.
async fn streams(
    snapshot: &mut dyn Snapshot,
    heads: &[AuditHead],
    expected: impl Iterator<Item = NodeId> + Send,
) -> Result<BTreeSet<NodeId>, StoreError> {
    let firsts: Vec<AuditPlace> = all(snapshot, Select::by("seq", &1_u64)).await?;
    let firsts = firsts.iter().filter_map(|first| first.stream.parse().ok());
    let names = heads.iter().map(|head| head.stream).chain(firsts);
    Ok(names.chain(expected).collect())
}

/// Visits the entries of a stream after this one, in order; nothing for a row that is no entry.
async fn each_link(
    snapshot: &mut dyn Snapshot,
    stream: NodeId,
    after: u64,
    mut visit: impl FnMut(Option<&Link<'_>>) -> ControlFlow<()> + Send,
) -> Result<(), StoreError> {
    let mut last = after;
    loop {
        let select = Select::<AuditEntry>::by("stream", &stream).filter("seq", Op::Gt, &last);
        let (mut rows, mut stopped) = (0, false);
        let mut take = |cells: &[Ref<'_>]| {
            rows += 1;
            if let Some(Ref::Int(seq)) = cells.get(1) {
                last = u64::try_from(*seq).unwrap_or(last + 1);
            }
            stopped = stopped || visit(Link::of(cells).as_ref()).is_break();
        };
        snapshot.scan(&select.ascending("seq").limit(PAGE).query, &mut take).await?;
        if rows < PAGE || stopped {
            return Ok(());
        }
    }
}

/// Visits every record of a table in the order of a column that is unique.
async fn each<T: Record>(
    snapshot: &mut dyn Snapshot,
    column: &'static str,
    mut visit: impl FnMut(&T) + Send,
) -> Result<(), StoreError> {
    let at = T::TABLE.position(column).unwrap_or(0);
    let mut after: Option<Value> = None;
    loop {
        let select = Select::<T>::all();
        let select = match &after {
            Some(value) => select.filter_value(column, Op::Gt, value.clone()),
            None => select,
        };
        let rows = snapshot.select(&select.ascending(column).limit(PAGE).query).await?;
        after = rows.last().and_then(|row| row.get(at).cloned());
        let last = rows.len() < PAGE as usize;
        for row in rows {
            visit(&T::from_row(row)?);
        }
        if last {
            return Ok(());
        }
    }
}

async fn compare(snapshot: &mut dyn Snapshot, mut ledgers: Ledgers) -> Result<Vec<Gap>, StoreError> {
    each::<Event>(snapshot, "seq", |event| ledgers.event(event)).await?;
    each::<Access>(snapshot, "id", |access| ledgers.admission(access)).await?;
    each::<Knock>(snapshot, "id", |knock| ledgers.knock(knock)).await?;
    each::<ToolCall>(snapshot, "id", |call| ledgers.call(call)).await?;
    each::<TaskStep>(snapshot, "seq", |step| ledgers.step(step)).await?;
    each::<AgentTask>(snapshot, "task_id", |task| ledgers.task(task)).await?;
    each::<Duty>(snapshot, "name", |duty| ledgers.duty(duty)).await?;
    each::<Approval>(snapshot, "id", |approval| ledgers.approval(approval)).await?;
    each::<Grant>(snapshot, "id", |grant| ledgers.grant(grant)).await?;
    each::<GrantLog>(snapshot, "seq", |log| ledgers.grant_log(log)).await?;
    Ok(ledgers.finish())
}

#[cfg(test)]
mod tests {
    use super::Looks;

    #[test]
    fn what_looks_wrong_is_looked_at_again_only_while_the_epoch_changes() {
        let (one, two) = (Some(1), Some(2));
        assert!(Looks::default().are_enough(true, one, two), "it is sound");
        assert!(Looks::default().are_enough(false, one, one), "it is wrong, and nobody signed meanwhile");
        let mut looks = Looks::default();
        let again = (1..Looks::MOST).all(|_| !looks.are_enough(false, one, two));
        assert!(again && looks.are_enough(false, one, two), "not for ever");
    }
}
