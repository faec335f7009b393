//! The files of a restored database change places with the old ones so that a kill at any moment leaves the one or the other.
//!
//! The file `restoring` says that a restore is under way, of which database, and what it moves where. Until the old database is
//! fenced (no batch can be written to it any more), the process that finds that file takes the restore back; from then on it
//! carries it on. On PostgreSQL the committed transaction takes the place of the fence.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use app::instance::paths::VaultOwner;
use app::{Code, Problem};
use domain::Digest;
use ledger::records::AuditEntry;
use ledger::{Op, Select, Store as _};
use ledger_sql::{Hold, PostgresStore};
use serde::{Deserialize, Serialize};

use crate::backup::{ExaminedCopy, NAMES, instance_in};
use crate::file_drafts::FileDraft;
use crate::os_host::{OsHost, file_problem};
use crate::trusted_files::LinkPolicy;
use crate::vault_files::wait_for_lock;
use crate::vault_owner::read_stamp_of;
use crate::{files, policy_files, tool_access, trusted_files};

/// How long to wait for another process that is putting an instance in place, and how often to look.
const WAITS: u32 = 100;
const WAIT: Duration = Duration::from_millis(100);

/// The database and what SQLite keeps beside it.
const DATABASE: [&str; 3] = ["regent.db", "regent.db-wal", "regent.db-shm"];

/// What the file `restoring` says. Paths are names in the data folder.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RestoreMarker {
    /// Where the restored instance lies.
    scratch: String,
    /// Where the files of the old one go.
    aside: String,
    /// Whether they stay there: there is no backup of them.
    pub(crate) keep_aside: bool,
    /// What is put in place.
    puts: Vec<String>,
    decides: RestoreDecision,
    /// Which database is restored; the versions before did not say.
    #[serde(default)]
    database: Option<RestoredDatabase>,
}

/// The database that a restore is about: no other one's keys are touched, whatever the settings name by now.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RestoredDatabase {
    File,
    Server { id: String },
}

/// What tells whether the restore is carried on or taken back.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum RestoreDecision {
    /// The old database is fenced, or was moved aside already.
    Fence,
    /// The database on the server has this incarnation.
    Incarnation(u64),
    /// This entry stands in the server's audit: what the versions before compared.
    Entry { stream: String, seq: u64, hash: Digest },
    /// There was no instance that could be written to.
    Nothing,
}

impl OsHost {
    /// From here on, and until what this returns is dropped, nobody who has the instance open reads or writes what lies
    /// beside the database; afterwards it is not theirs any more.
    pub(crate) fn lock_keys(&self) -> Result<Option<File>, Problem> {
        let keys = self.path_in_place("keys");
        let locked =
            files::open_folder(&keys).and_then(|folder| wait_for_lock(|| folder.try_lock()).map(|()| folder));
        match locked {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(file_problem("lock", &keys, &error)),
        }
    }

    /// Writes the file `restoring`, locked before it has its name.
    pub(crate) fn mark(
        &self,
        examined: ExaminedCopy,
        decides: RestoreDecision,
        keep_aside: bool,
    ) -> Result<(RestoreMarker, File, PathBuf), Problem> {
        self.stage("mark");
        let (path, remote) = (self.instance.restoring(), self.is_remote());
        let failed = |error| file_problem("write", &path, &error);
        let scratch = examined.scratch.path().to_owned();
        let aside =
            self.instance.backups().join(format!("{}-{}", self.dated_name("replaced"), self.unique()));
        files::make_folder(&aside).map_err(failed)?;
        files::sync(&self.instance.backups()).map_err(failed)?;
        let puts = NAMES.iter().filter(|name| !(remote && **name == DATABASE[0]));
        let puts = puts.filter(|name| scratch.join(name).exists()).map(|name| (*name).to_owned()).collect();
        let named = |path: &Path| -> String {
            path.strip_prefix(&self.instance.data).unwrap_or(path).to_string_lossy().into_owned()
        };
        let database = Some(match self.owner() {
            VaultOwner::Server(id) => RestoredDatabase::Server { id },
            VaultOwner::File | VaultOwner::ServerBefore => RestoredDatabase::File,
        });
        let (scratch_name, aside_name) = (named(&scratch), named(&aside));
        let marker =
            RestoreMarker { scratch: scratch_name, aside: aside_name, keep_aside, puts, decides, database };
        files::sync(&scratch.join("keys")).map_err(failed)?;
        files::sync(&scratch).map_err(failed)?;
        files::sync(&self.instance.data).map_err(failed)?;
        // While there may be no room for it, the old instance is still there.
        let switches = self.instance.tool_access();
        tool_access::prepare(&self.instance, &instance_in(&scratch))
            .map_err(|error| file_problem("make", &switches, &error))?;
        policy_files::prepare(&self.instance, &instance_in(&scratch))
            .map_err(|error| file_problem("make", &self.instance.policies(), &error))?;
        let text =
            serde_json::to_vec(&marker).map_err(|error| Problem::new(Code::INTERNAL, error.to_string()))?;
        let draft = FileDraft::write(&path, &text, &self.unique()).map_err(failed)?;
        self.stage("place the marker");
        let lock = draft.replace().map_err(failed)?;
        // From here on the scratch place belongs to the marker.
        drop(examined.scratch.leave());
        Ok((marker, lock, aside))
    }

    /// Carries on or takes back a restore that was cut off; waits for one that is under way.
    pub(crate) async fn settle(&self) -> Result<(), Problem> {
        let path = self.instance.restoring();
        let failed = |error| file_problem("read", &path, &error);
        let mut waits = 0..WAITS;
        loop {
            let Some(file) = trusted_files::open(&path, LinkPolicy::Refused).map_err(failed)? else {
                return Ok(());
            };
            // Complete as soon as it has its name.
            let Some(text) = trusted_files::read_text(&path).map_err(failed)? else { return Ok(()) };
            let marker: RestoreMarker = serde_json::from_str(&text)
                .map_err(|error| file_problem("read", &path, &std::io::Error::other(error)))?;
            if !self.is_about_this_database(&marker).await? {
                return Ok(()); // it is finished when the settings name its database again
            }
            match file.try_lock() {
                Ok(()) if files::is_named(&file, &path).map_err(failed)? => {}
                Ok(()) => continue, // it is over
                Err(TryLockError::WouldBlock) if waits.next().is_some() => {
                    tokio::time::sleep(WAIT).await;
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Problem::new(Code::DATABASE_BUSY, "another process is restoring this house")
                        .safe("nothing was changed")
                        .remedy("regent doctor"));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            let _alone = self.lock_keys()?;
            if self.is_decided(&marker).await? {
                self.swap_files(&marker)?
            } else {
                self.take_back(&marker)?
            }
            return Ok(());
        }
    }

    /// Whether a restore that was cut off is about the database that the settings name.
    async fn is_about_this_database(&self, marker: &RestoreMarker) -> Result<bool, Problem> {
        Ok(match (&marker.database, self.owner()) {
            (Some(RestoredDatabase::File), VaultOwner::File) => true,
            (Some(RestoredDatabase::Server { id }), VaultOwner::Server(own)) => *id == own,
            (Some(_), _) => false,
            // Of a version before. On a server, only the entry tells whether this is the one.
            (None, VaultOwner::File) => !matches!(marker.decides, RestoreDecision::Entry { .. }),
            (None, VaultOwner::ServerBefore) => self.is_decided(marker).await?,
            (None, VaultOwner::Server(_)) => false,
        })
    }

    async fn is_decided(&self, marker: &RestoreMarker) -> Result<bool, Problem> {
        // Files of the old one were moved already.
        let aside = self.instance.data.join(&marker.aside);
        if files::list_names(&aside).is_ok_and(|names| !names.is_empty()) {
            return Ok(true);
        }
        match &marker.decides {
            RestoreDecision::Incarnation(expected) => {
                let server = PostgresStore::open(&self.server_url()?).await?;
                Ok(read_stamp_of(&server).await?.is_some_and(|stamp| stamp.incarnation == *expected))
            }
            RestoreDecision::Nothing => Ok(true),
            RestoreDecision::Fence => {
                let (database, moved) =
                    (self.instance.database(), self.instance.data.join(&marker.aside).join(DATABASE[0]));
                Ok(moved.exists() || !database.exists() || Hold::is_fenced(&database).await?)
            }
            RestoreDecision::Entry { stream, seq, hash } => {
                let server = PostgresStore::open(&self.server_url()?).await?;
                let entry = Select::<AuditEntry>::by("seq", seq).filter("stream", Op::Eq, stream);
                let found = server.select(&entry.filter("hash", Op::Eq, hash).query).await?;
                Ok(!found.is_empty())
            }
        }
    }

    /// Old files go aside, new ones in their place. It can be cut off anywhere and begun again: as long as a new one lies
    /// in the scratch place, what has its name is old.
    pub(crate) fn swap_files(&self, marker: &RestoreMarker) -> Result<(), Problem> {
        let data = &self.instance.data;
        let (scratch, aside) = (data.join(&marker.scratch), data.join(&marker.aside));
        let moved = |from: PathBuf, to: PathBuf| -> Result<(), Problem> {
            self.stage("move a file");
            std::fs::rename(&from, &to).map_err(|error| file_problem("move", &from, &error))
        };
        let durable =
            |folder: &Path| files::sync(folder).map_err(|error| file_problem("write", folder, &error));
        files::make_folder(&aside).map_err(|error| file_problem("make", &aside, &error))?;
        // Before the instance: it is never there without them.
        self.stage("put switches back");
        tool_access::put_in_place(&self.instance)
            .map_err(|error| file_problem("make", &self.instance.tool_access(), &error))?;
        policy_files::put_in_place(&self.instance)
            .map_err(|error| file_problem("make", &self.instance.policies(), &error))?;
        for name in NAMES.iter().filter(|name| !(self.is_remote() && **name == DATABASE[0])) {
            let (new, put) = (scratch.join(name), marker.puts.iter().any(|put| put == name));
            if put && !new.exists() {
                continue; // it is in its place
            }
            let old: &[&str] = if *name == DATABASE[0] { &DATABASE } else { &[name] };
            for old in old.iter().filter(|old| self.path_in_place(old).exists()) {
                moved(self.path_in_place(old), aside.join(old))?;
            }
            // The log of the old database must be gone for good before the new one has its name.
            let place = self.path_in_place(name);
            let folder = place.parent().unwrap_or(data);
            files::make_folder(folder).map_err(|error| file_problem("make", folder, &error))?;
            durable(&aside)?;
            durable(folder)?;
            if put {
                moved(new, place.clone())?;
            }
            durable(folder)?;
        }
        durable(data)?;
        if !marker.keep_aside {
            files::remove(&aside).map_err(|error| file_problem("remove", &aside, &error))?;
        }
        self.remove_marker(&scratch)
    }

    /// The instance was not touched yet.
    fn take_back(&self, marker: &RestoreMarker) -> Result<(), Problem> {
        let aside = self.instance.data.join(&marker.aside);
        files::remove(&aside).map_err(|error| file_problem("remove", &aside, &error))?;
        self.remove_marker(&self.instance.data.join(&marker.scratch))
    }

    fn remove_marker(&self, scratch: &Path) -> Result<(), Problem> {
        self.stage("tidy up");
        let path = self.instance.restoring();
        let failed = |error| file_problem("remove", &path, &error);
        tool_access::discard(&self.instance).map_err(failed)?;
        policy_files::discard(&self.instance).map_err(failed)?;
        files::remove(scratch).map_err(failed)?;
        files::remove(&path).map_err(failed)?;
        files::sync(&self.instance.data).map_err(failed)
    }
}
