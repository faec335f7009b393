//! An older instance is brought forward: a copy is kept, the migration is rehearsed on another copy, and only then is the
//! instance itself touched, in one transaction. On PostgreSQL a copy is kept, too, and the transaction is the rehearsal: it is
//! looked at before it is committed, and nothing of it was ever there otherwise.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::instance::ExpiredAuthority;
use app::instance::backup::{How, Occasion, Upgrade};
use app::{Code, Problem};
use domain::id::Id;
use domain::probe::Silent;
use domain::{Digest, Time};
use ledger::audit_event::SYSTEM;
use ledger::{AuditEvent, AuditScope, Batch, CommitError, Ledger, Refusal};
use ledger_sql::{Hold, PostgresHold, PostgresStore, SqliteStore};

use crate::backup::{BackupDraft, SEALED_SCHEMA, count_rows, find_first_fault, is_confirmed};
use crate::backup_list::ListedCopy;
use crate::files;
use crate::os_host::OsHost;

impl OsHost {
    pub(crate) async fn run_upgrade(&self, how: How) -> Result<Upgrade, Problem> {
        if self.is_remote() { self.upgrade_server(how).await } else { self.upgrade_file(how).await }
    }

    async fn upgrade_file(&self, how: How) -> Result<Upgrade, Problem> {
        let (path, to) = (self.instance.database(), SqliteStore::known_schema());
        // Nobody writes from the copy to the end: what is kept is exactly what was brought forward. Whoever comes at the
        // same time waits, and finds it done.
        let hold = match how {
            How::Really => Some(Hold::take(&path).await?),
            How::Rehearse => None,
        };
        let from = match &hold {
            Some(hold) => hold.schema(),
            None => SqliteStore::schema_of(&path).await?.unwrap_or(to),
        };
        if from == to {
            if let Some(hold) = hold {
                hold.release().await?;
            }
            return Ok(unchanged_upgrade(to));
        }
        let refused = |problem| refused_upgrade(from, to, problem);
        let parent = self.instance.backups();
        self.stage("upgrade begins");
        let drafted = self.draft(&parent, Occasion::Upgrade, None).await.map_err(refused)?;
        let examined =
            self.examine(&parent, drafted.draft.path(), &drafted.manifest).await.map_err(refused)?;
        if let Some(lost) = examined.lost {
            return Err(refused(Problem::new(Code::UPGRADE_REFUSED, lost)));
        }
        // A fault in the audit was there before, because not a byte of it has changed. It is said by every `verify`; an
        // upgrade that refused it would lock the owner out.
        let upgrade = Upgrade {
            from,
            to,
            counted: Some(examined.counted),
            fault: examined.fault,
            kept: None,
            done: false,
        };
        drop(examined.scratch);
        let (lapsed, confirmed) = (examined.lapsed, examined.confirmed);
        let Some(hold) = hold else { return Ok(upgrade) };
        let (at, digest) = (drafted.manifest.at, drafted.digest);
        let kept = self.name_upgrade_copy(drafted, &parent, from)?;
        self.stage("migrate");
        let mut record = self.record(&AuditEvent::InstanceUpgraded { from, to, kept: Some(digest) });
        self.enter_seals(&lapsed, confirmed, &mut record);
        if let Err(error) = hold.migrate(Some(record), self.seal()?.into(), Arc::clone(&self.probe)).await {
            // Then it is a copy of nothing but the instance as it still is, and whoever tries again makes another.
            drop(files::remove(&kept));
            return Err(refused(error.into()));
        }
        self.stage("upgraded");
        self.list_upgrade_copy(at, &kept, digest);
        Ok(Upgrade { kept: Some(kept), done: true, ..upgrade })
    }

    async fn upgrade_server(&self, how: How) -> Result<Upgrade, Problem> {
        let to = PostgresStore::known_schema();
        let from = PostgresStore::schema_of(&self.server_url()?).await?.unwrap_or(to);
        if from == to {
            return Ok(unchanged_upgrade(to));
        }
        let refused = |problem| refused_upgrade(from, to, problem);
        let failed = |error: ledger::StoreError| refused(error.into());
        if how == How::Really {
            // From here on the database has secrets of its own beside it.
            let vault = self.vault();
            let made = files::make_folder(&vault.paths.keys);
            made.map_err(|error| crate::os_host::file_problem("make", &vault.paths.keys, &error))?;
            self.furnish_vault(&vault)?;
        }
        self.stage("upgrade begins");
        let hold = Arc::new(PostgresHold::take(&self.server_url()?).await?);
        if hold.schema() == to {
            return Ok(unchanged_upgrade(to)); // somebody else was faster
        }
        let before = hold.tally().await.map_err(failed)?;
        let node = self.node()?;
        if let Some(other) =
            before.heads.first().filter(|_| before.heads.iter().all(|head| head.stream != node.to_string()))
        {
            let stream = other.stream.parse().unwrap_or(node);
            return Err(CommitError::Refused(Refusal::OtherHouse { stream }).into());
        }
        let parent = self.instance.backups();
        // The transaction is the rehearsal. What is there is copied first all the same: the copy is the way back.
        let drafted = match how {
            How::Really => Some(self.draft_held(&parent, &hold).await.map_err(refused)?),
            How::Rehearse => None,
        };
        self.stage("migrate");
        hold.migrate().await.map_err(failed)?;
        self.stage("look at it");
        let ledger = Ledger::start(Arc::<PostgresHold>::clone(&hold) as _, self.seal()?, Arc::new(Silent));
        let older = before.schema < SEALED_SCHEMA;
        let scope = AuditScope { complete: older, ..AuditScope::default() };
        let found = ledger.examine_audit(scope).await.map_err(failed)?;
        let confirmed = older && is_confirmed(&found);
        let lapsed = ExpiredAuthority::in_house(&ledger).await.map_err(failed)?;
        if let Some(lost) = before.lost_in(&hold.tally().await.map_err(failed)?) {
            return Err(refused(Problem::new(Code::UPGRADE_REFUSED, lost)));
        }
        let upgrade = Upgrade {
            from,
            to,
            counted: Some(count_rows(&before, &node.to_string())),
            fault: find_first_fault(&found.verification),
            kept: None,
            done: how == How::Really,
        };
        let Some(drafted) = drafted else {
            hold.release().await.map_err(failed)?;
            return Ok(upgrade);
        };
        let (at, digest) = (drafted.manifest.at, drafted.digest);
        let mut record = self.record(&AuditEvent::InstanceUpgraded { from, to, kept: Some(digest) });
        self.enter_seals(&lapsed, confirmed, &mut record);
        let seal = self.seal()?;
        let after = hold.record(&record, &seal, &*self.probe).await.map_err(failed)?;
        let kept = self.name_upgrade_copy(drafted, &parent, from)?;
        self.stage("commit");
        // If only the answer was lost, the upgrade is done, and the next try finds nothing to do: the copy stays.
        hold.commit().await.map_err(failed)?;
        after.iter().for_each(|after| seal.settle(after));
        self.stage("upgraded");
        self.list_upgrade_copy(at, &kept, digest);
        Ok(Upgrade { kept: Some(kept), ..upgrade })
    }

    /// A copy of what is in a database that is held, tried by setting it up.
    async fn draft_held(&self, parent: &Path, hold: &PostgresHold) -> Result<BackupDraft, Problem> {
        let drafted = self.draft(parent, Occasion::Upgrade, Some(hold)).await?;
        let examined = self.examine(parent, drafted.draft.path(), &drafted.manifest).await?;
        match examined.lost {
            Some(lost) => Err(Problem::new(Code::UPGRADE_REFUSED, lost)),
            None => Ok(drafted),
        }
    }

    fn name_upgrade_copy(&self, drafted: BackupDraft, parent: &Path, from: i64) -> Result<PathBuf, Problem> {
        self.name(drafted, &parent.join(format!("{}-schema-{from}", self.dated_name("regent"))))
    }

    /// The upgrade is done, whatever becomes of this; the copy is found where it lies.
    fn list_upgrade_copy(&self, at: Time, kept: &Path, digest: Digest) {
        let (folder, occasion, manifest) = (kept.to_owned(), Occasion::Upgrade, Some(digest));
        drop(self.list(ListedCopy { at, folder, occasion, manifest, draft: None }));
    }

    /// Rows from before authority was sealed get their seals, if the audit confirms them.
    fn enter_seals(&self, lapsed: &ExpiredAuthority, confirmed: bool, batch: &mut Batch) {
        if confirmed {
            for token in lapsed.with_an_end(self.clock.now()) {
                batch.put(&token);
            }
            batch.seal_existing();
        }
    }

    /// One entry of the audit about the instance itself.
    pub(crate) fn record(&self, event: &AuditEvent<'_>) -> Batch {
        let now = self.clock.now();
        let mut batch = Batch::new(Id::dated(now, &*self.ids), now);
        // A copy of the instance holds the secret of this epoch, so the epoch is over.
        batch.audit(event.entry(SYSTEM, now)).end_epoch();
        batch
    }
}

fn unchanged_upgrade(schema: i64) -> Upgrade {
    Upgrade { from: schema, to: schema, counted: None, fault: None, kept: None, done: false }
}

/// What has a remedy of its own keeps its code; everything else is an instance that this program cannot take over.
fn refused_upgrade(from: i64, to: i64, problem: Problem) -> Problem {
    const OWN: [Code; 6] = [
        Code::DISK_FULL,
        Code::HOUSE,
        Code::DATABASE_BUSY,
        Code::DATABASE_DAMAGED,
        Code::DATABASE_AWAY,
        Code::DATABASE_CROWDED,
    ];
    let tried = format!("to bring the house from schema {from} to {to}, on a copy first");
    let safe = "the house is as it was; the program that made it still works on it";
    if OWN.contains(&problem.code) {
        return Problem { tried: Some(tried), safe: Some(safe.into()), ..problem };
    }
    let what = format!("the upgrade was refused in rehearsal: {}", problem.what);
    Problem::new(Code::UPGRADE_REFUSED, what).tried(tried).safe(safe).remedy("regent upgrade --check")
}
