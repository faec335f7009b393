//! A backup is put in the place of the instance. It is set up and looked at in a scratch place first; what is there is copied;
//! then the two change places (`swap.rs`).

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::instance::AuthoritySnapshot;
use app::instance::backup::{Count, How, Manifest, Occasion, Present, Restored, SettingsFile};
use app::instance::paths::VaultOwner;
use app::instance::settings::{Layers, Settings};
use app::{Code, Problem};
use domain::probe::Silent;
use domain::{Digest, Time};
use ledger::records::DatabaseStamp;
use ledger::{AuditEvent, Batch, Ledger};
use ledger_sql::{Hold, PostgresHold, PostgresStore, SqliteStore, Tally};
use serde_json::{Value, json};

use crate::backup::{ExaminedCopy, count_rows, instance_in, read_manifest};
use crate::backup_list::ListedCopy;
use crate::file_drafts::FileDraft;
use crate::os_host::{OsHost, file_problem};
use crate::restore_swap::RestoreDecision;
use crate::vault_files::format_stamp;
use crate::vault_owner::read_stamp_of;
use crate::{files, policy_files, tool_access, trusted_files};

/// What is carried into the restored database.
enum CarriedAuthority {
    /// There was nothing before.
    Nothing,
    Snapshot(Box<AuthoritySnapshot>),
    /// What is there cannot be read or was changed by another program: nobody can tell whether it was halted.
    Unknown,
}

impl CarriedAuthority {
    fn enter(&self, backup: &AuthoritySnapshot, now: Time, batch: &mut Batch) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Snapshot(snapshot) => snapshot.carry_into(backup, now, batch),
            Self::Unknown => AuthoritySnapshot::halted(now).carry_into(backup, now, batch),
        }
    }
}

/// The instance that is there.
enum ReplacedInstance {
    None,
    Empty(Count),
    Lived(Count),
    Broken(Problem),
}

impl OsHost {
    pub(crate) async fn restore_backup(&self, from: &Path, how: How) -> Result<Restored, Problem> {
        self.check_trusted()?;
        self.find_owner().await?;
        self.settle().await?;
        if self.instance.restoring().exists() {
            let what = "a restore of another database was interrupted, and has to be finished first";
            return Err(Problem::new(Code::DATABASE_MISMATCH, what)
                .safe("nothing was changed")
                .remedy("regent explain R4036"));
        }
        let from = &std::path::absolute(from).unwrap_or_else(|_| from.to_owned());
        let (manifest, digest) = read_manifest(from)?;
        let old = self.inspect_present().await;
        self.check_same_instance(&manifest, &old)?;
        let scratch =
            if self.instance.data.is_dir() { self.instance.data.clone() } else { std::env::temp_dir() };
        if how == How::Really {
            self.discard_prepared();
            let data = &self.instance.data;
            files::make_folder(data).map_err(|error| file_problem("make", data, &error))?;
        }
        let scratch = if how == How::Really { &self.instance.data } else { &scratch };
        let examined = self.examine(scratch, from, &manifest).await?;
        let wrong = examined.lost.clone().or_else(|| examined.fault.clone());
        if let Some(wrong) = wrong {
            let what = format!("what is in the backup does not hold: {wrong}");
            return Err(Problem::new(Code::BACKUP_DAMAGED, what)
                .safe("nothing was changed")
                .remedy("regent explain R1006"));
        }
        self.stage("examined");
        let left = Value::Null;
        let mut trial =
            self.record(&AuditEvent::InstanceRestored { manifest: digest, left: &left, kept: None });
        let carrying = self.snapshot_carried(&old).await;
        let carried = carrying.enter(&examined.authority, self.clock.now(), &mut trial);
        let mut restored = Restored {
            carried,
            from: from.clone(),
            at: manifest.at,
            manifest: digest,
            counted: examined.counted.clone(),
            present: match &old {
                ReplacedInstance::None => None,
                ReplacedInstance::Empty(count) | ReplacedInstance::Lived(count) => {
                    Some(Present::Counted(count.clone()))
                }
                ReplacedInstance::Broken(problem) => Some(Present::Unreadable(problem.to_string())),
            },
            settings: self.settings_file(&examined),
            grants_revoked: examined.lapsed.grants(),
            switches: match tool_access::is_restored(&self.instance, &instance_in(examined.scratch.path())) {
                true => SettingsFile::PutBack,
                false => SettingsFile::Left,
            },
            policies: match policy_files::is_restored(&self.instance, &instance_in(examined.scratch.path())) {
                true => Some(SettingsFile::PutBack),
                false => policy_files::exists(&self.instance).then_some(SettingsFile::Left),
            },
            kept: None,
            done: false,
        };
        if how == How::Really {
            restored.kept = match self.is_remote() {
                true => self.replace_on_server(examined, digest, &mut restored).await?,
                false => self.replace_file(examined, digest, &old, &mut restored).await?,
            };
            restored.done = true;
            if restored.settings == SettingsFile::PutBack {
                let (from, to) = (from.join("regent.toml"), self.instance.settings_file());
                let put = files::make_folder(&self.instance.config)
                    .and_then(|()| trusted_files::read_text(&from))
                    .and_then(|text| crate::key_files::make(&to, &text.unwrap_or_default(), &self.unique()));
                put.map_err(|error| file_problem("make", &to, &error))?;
            }
        }
        Ok(restored)
    }

    /// What of the present database outlives the restore.
    async fn snapshot_carried(&self, old: &ReplacedInstance) -> CarriedAuthority {
        match old {
            // There was one, and it is gone.
            ReplacedInstance::None if self.vault_stamp().is_ok_and(|stamp| stamp.is_some()) => {
                return CarriedAuthority::Unknown;
            }
            ReplacedInstance::None | ReplacedInstance::Empty(_) => return CarriedAuthority::Nothing,
            ReplacedInstance::Broken(_) => return CarriedAuthority::Unknown,
            ReplacedInstance::Lived(_) => {}
        }
        let snapshot = async || -> Result<AuthoritySnapshot, Problem> {
            let ledger = Ledger::start(self.store().await?, self.seal()?, Arc::new(Silent));
            Ok(AuthoritySnapshot::of(&ledger).await?)
        };
        snapshot()
            .await
            .map_or(CarriedAuthority::Unknown, |snapshot| CarriedAuthority::Snapshot(Box::new(snapshot)))
    }

    /// What there is once no other process writes to it any more. Until then, another one may have halted everything, linked an
    /// address, or restored a backup itself.
    async fn reexamine(&self, restored: &Restored) -> Result<(DatabaseStamp, CarriedAuthority), Problem> {
        if self.instance.restoring().exists() {
            let what = "another restore of this instance is under way or was interrupted";
            return Err(Problem::new(Code::DATABASE_BUSY, what)
                .safe("nothing was changed")
                .remedy("regent doctor"));
        }
        // There was nothing, and without keys this instance has not written to it since.
        let is_new = restored.present.is_none() && !self.path_in_place("keys").exists();
        let carrying = match is_new {
            true => CarriedAuthority::Nothing,
            false => self.snapshot_carried(&self.inspect_present().await).await,
        };
        Ok((self.next_stamp().await?, carrying))
    }

    /// Which database it is after the restore: the same one, in its next incarnation.
    async fn next_stamp(&self) -> Result<DatabaseStamp, Problem> {
        let vault = self.vault_stamp().unwrap_or_default();
        // Opening would make it.
        let there = self.is_remote() || self.instance.database().exists();
        let found = match if there { self.store().await.ok() } else { None } {
            Some(store) => read_stamp_of(&*store).await.unwrap_or_default(),
            None => None, // or it does not open; its files are moved aside
        };
        let last = [&vault, &found].into_iter().flatten().map(|stamp| stamp.incarnation).max();
        let id = match self.owner() {
            VaultOwner::Server(id) => id,
            VaultOwner::File | VaultOwner::ServerBefore => {
                vault.or(found).map_or_else(|| self.new_id(), |stamp| stamp.id)
            }
        };
        Ok(DatabaseStamp::new(id, last.unwrap_or(0) + 1))
    }

    /// What is there, without changing it.
    async fn inspect_present(&self) -> ReplacedInstance {
        let counted = async || -> Result<Option<(Count, bool)>, Problem> {
            let none = match self.is_remote() {
                true => PostgresStore::schema_of(&self.server_url()?).await?.is_none(),
                false => !self.instance.database().exists(),
            };
            if none {
                return Ok(None);
            }
            let tally: Tally = self.tally_present().await?;
            let lived = tally.rows.get("commits").is_some_and(|commits| *commits > 0);
            if !lived && tally.heads.is_empty() && !self.path_in_place("keys").is_dir() {
                return Ok(None); // a schema, and nothing else yet
            }
            // Without its key it can be read, but neither copied as an instance nor written to.
            let stream = self.seal()?.stream().to_string();
            if !tally.heads.is_empty() && tally.heads.iter().all(|head| head.stream != stream) {
                return Err(Problem::new(Code::OTHER_HOUSE, "the database there was begun by another house"));
            }
            Ok(Some((count_rows(&tally, &stream), lived)))
        };
        match counted().await {
            Ok(None) => ReplacedInstance::None,
            Ok(Some((count, true))) => ReplacedInstance::Lived(count),
            Ok(Some((count, false))) => ReplacedInstance::Empty(count),
            Err(problem) => ReplacedInstance::Broken(problem),
        }
    }

    /// A backup of another instance does not go where something could be lost.
    fn check_same_instance(&self, manifest: &Manifest, old: &ReplacedInstance) -> Result<(), Problem> {
        // An instance that has lost its name does not open, and all of it is moved aside.
        let same = self.node().map_or(true, |node| node == manifest.node);
        match old {
            ReplacedInstance::None | ReplacedInstance::Empty(_) => Ok(()),
            ReplacedInstance::Lived(_) | ReplacedInstance::Broken(_) if same => Ok(()),
            ReplacedInstance::Lived(_) | ReplacedInstance::Broken(_) => {
                let what = format!("the backup is of another house ({})", manifest.node);
                Err(Problem::new(Code::BACKUP_OF_ANOTHER, what)
                    .safe("nothing was changed")
                    .remedy("regent explain R4025"))
            }
        }
    }

    /// Settings that name another database than the one the rows go to are not put back.
    fn settings_file(&self, examined: &ExaminedCopy) -> SettingsFile {
        let path = instance_in(examined.scratch.path()).settings_file();
        let text = trusted_files::read_text(&path).ok().flatten();
        let layered = text.filter(|_| !self.instance.settings_file().exists()).and_then(|text| {
            let file = Some((path.display().to_string(), text));
            Settings::layer(&Layers { file, environment: Vec::new(), flags: Vec::new() }).ok()
        });
        match layered {
            Some(settings) if settings.get("database.url") == self.database_url => SettingsFile::PutBack,
            _ => SettingsFile::Left,
        }
    }

    /// The old instance is held from its copy to its end: nothing that anybody was told is missing in the copy.
    async fn replace_file(
        &self,
        examined: ExaminedCopy,
        manifest: Digest,
        old: &ReplacedInstance,
        restored: &mut Restored,
    ) -> Result<Option<PathBuf>, Problem> {
        let hold = match old {
            ReplacedInstance::None | ReplacedInstance::Broken(_) => None,
            ReplacedInstance::Empty(_) | ReplacedInstance::Lived(_) => {
                Some(Hold::take(&self.instance.database()).await?)
            }
        };
        let (stamp, carrying) = self.reexamine(restored).await?;
        let kept = match &hold {
            Some(_) => Some(self.back_up_replaced().await?),
            None => None,
        };
        let kept_digest = kept.as_ref().map(|(_, digest)| *digest);
        self.record_restore(&examined, (manifest, kept_digest), (&stamp, &carrying), restored).await?;
        let alone = self.lock_keys()?;
        let decides = if hold.is_some() { RestoreDecision::Fence } else { RestoreDecision::Nothing };
        let something = matches!(old, ReplacedInstance::Broken(_)) || self.path_in_place("keys").exists();
        let keep_aside = kept.is_none() && something;
        let (marker, lock, aside) = self.mark(examined, decides, keep_aside)?;
        if let Some(hold) = hold {
            self.stage("fence the old house");
            hold.fence().await?;
        }
        self.stage("put in place");
        self.swap_files(&marker)?;
        drop((lock, alone));
        let moved = marker.keep_aside.then_some(aside);
        moved.iter().try_for_each(|moved| self.list_aside(moved))?;
        Ok(kept.map(|(folder, _)| folder).or(moved))
    }

    async fn replace_on_server(
        &self,
        examined: ExaminedCopy,
        manifest: Digest,
        restored: &mut Restored,
    ) -> Result<Option<PathBuf>, Problem> {
        // Makes the schema if there is none.
        drop(PostgresStore::open(&self.server_url()?).await?);
        self.find_owner().await?;
        self.note_place()?;
        let hold = PostgresHold::take(&self.server_url()?).await?;
        let (stamp, carrying) = self.reexamine(restored).await?;
        let kept = match &restored.present {
            Some(Present::Counted(_)) => Some(self.back_up_replaced().await?),
            Some(Present::Unreadable(why)) => {
                let what = format!("what is in the database cannot be copied first: {why}");
                return Err(Problem::new(Code::BACKUP_FAILED, what)
                    .safe("nothing was changed")
                    .remedy("regent doctor"));
            }
            None => None,
        };
        let kept_digest = kept.as_ref().map(|(_, digest)| *digest);
        self.record_restore(&examined, (manifest, kept_digest), (&stamp, &carrying), restored).await?;
        let database = instance_in(examined.scratch.path()).database();
        let tally = SqliteStore::tally(&database).await?;
        let alone = self.lock_keys()?;
        let keep_aside = kept.is_none() && self.path_in_place("keys").exists();
        let decides = RestoreDecision::Incarnation(stamp.incarnation);
        let (marker, lock, aside) = self.mark(examined, decides, keep_aside)?;
        self.stage("replace rows");
        hold.replace_by(&database).await?;
        if let Some(lost) = tally.lost_in(&hold.tally().await?) {
            return Err(Problem::new(Code::BACKUP_FAILED, lost)
                .safe("nothing was changed")
                .remedy("regent doctor"));
        }
        self.stage("commit");
        hold.commit().await?;
        self.stage("put in place");
        self.swap_files(&marker)?;
        drop((lock, alone));
        let moved = marker.keep_aside.then_some(aside);
        moved.iter().try_for_each(|moved| self.list_aside(moved))?;
        Ok(kept.map(|(folder, _)| folder).or(moved))
    }

    /// The files of what was there, where there is no backup of them.
    fn list_aside(&self, folder: &Path) -> Result<(), Problem> {
        let (at, occasion) = (self.clock.now(), Occasion::Restore);
        self.list(ListedCopy { at, folder: folder.to_owned(), occasion, manifest: None, draft: None })
    }

    async fn back_up_replaced(&self) -> Result<(PathBuf, Digest), Problem> {
        let parent = self.instance.backups();
        let (drafted, ..) = self.draft_and_examine(&parent, Occasion::Restore).await?;
        let digest = drafted.digest;
        let folder = self.keep(drafted, &parent.join(format!("{}-replaced", self.dated_name("regent"))))?;
        Ok((folder, digest))
    }

    /// The restored instance says of itself that it was, and what it left behind.
    async fn record_restore(
        &self,
        examined: &ExaminedCopy,
        (manifest, kept): (Digest, Option<Digest>),
        (stamp, carrying): (&DatabaseStamp, &CarriedAuthority),
        restored: &mut Restored,
    ) -> Result<(), Problem> {
        self.stage("write it down");
        let left = match &restored.present {
            Some(Present::Counted(count)) => json!(count.audit),
            Some(Present::Unreadable(_)) => json!("unreadable"),
            None => json!(null),
        };
        let mut record = self.record(&AuditEvent::InstanceRestored { manifest, left: &left, kept });
        examined.lapsed.enter(self.clock.now(), &mut record);
        restored.carried = carrying.enter(&examined.authority, self.clock.now(), &mut record);
        record.put(stamp);
        if examined.confirmed {
            record.seal_existing();
        }
        let instance = instance_in(examined.scratch.path());
        let database = instance.database();
        Hold::take(&database)
            .await?
            .migrate(Some(record), Arc::clone(&examined.seal), Arc::new(Silent))
            .await?;
        // A record that is refused does not keep an upgrade back; here it would leave the halt and the keys behind.
        let store = SqliteStore::open(&database).await?;
        let written = read_stamp_of(&store).await?;
        store.close().await;
        if written.as_ref() != Some(stamp) {
            let what = "what is in force now cannot be entered into the backup";
            return Err(Problem::new(Code::BACKUP_FAILED, what)
                .safe("nothing was changed")
                .remedy("regent doctor"));
        }
        files::sync(&database).map_err(|error| file_problem("write", &database, &error))?;
        let path = instance.vault(&VaultOwner::File).stamp;
        let stamped = FileDraft::write(&path, format_stamp(stamp).as_bytes(), &self.unique())
            .and_then(FileDraft::replace);
        stamped.map(drop).map_err(|error| file_problem("write", &path, &error))
    }
}
