//! A backup is put in the place of the house. It is set up and looked at in a scratch place first; what is there is copied;
//! then the two change places (`swap.rs`).

#![expect(clippy::disallowed_methods, reason = "the house's own files")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::probe::Silent;
use domain::{Digest, Time};
use ledger::records::DatabaseStamp;
use ledger::{Batch, Ledger};
use ledger_sql::{Hold, PostgresHold, PostgresStore, SqliteStore, Tally};
use runtime::keeping::{Count, How, Manifest, Occasion, Present, Restored, SettingsFile};
use runtime::settings::{Layers, Settings};
use runtime::{AuthoritySnapshot, Code, Problem, VaultOwner};
use serde_json::json;

use super::backup::{Examined, count, house_in, read_manifest};
use super::backup_list::ListedCopy;
use super::file_drafts::FileDraft;
use super::host::{OsHost, unusable};
use super::owner::stamp_of;
use super::swap::Decides;
use super::vault::stamp_text;
use super::{access, files, policies, trusted};

/// What is carried into the restored database.
enum Carrying {
    /// There was nothing before.
    Nothing,
    Snapshot(Box<AuthoritySnapshot>),
    /// What is there cannot be read or was changed by another program: nobody can tell whether it was halted.
    Unknown,
}

impl Carrying {
    fn enter(&self, backup: &AuthoritySnapshot, now: Time, batch: &mut Batch) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Snapshot(snapshot) => snapshot.carry_into(backup, now, batch),
            Self::Unknown => AuthoritySnapshot::halted(now).carry_into(backup, now, batch),
        }
    }
}

/// The house that is there.
enum Old {
    None,
    Empty(Count),
    Lived(Count),
    Broken(Problem),
}

impl OsHost {
    pub(super) async fn put_back(&self, from: &Path, how: How) -> Result<Restored, Problem> {
        self.is_ours()?;
        self.find_owner().await?;
        self.settle().await?;
        if self.house.restoring().exists() {
            let what = "a restore of another database was interrupted, and has to be finished first";
            return Err(Problem::new(Code::DATABASE_MISMATCH, what)
                .safe("nothing was changed")
                .remedy("regent explain R4036"));
        }
        let from = &std::path::absolute(from).unwrap_or_else(|_| from.to_owned());
        let (manifest, digest) = read_manifest(from)?;
        let old = self.old().await;
        self.same_house(&manifest, &old)?;
        let scratch = if self.house.data.is_dir() { self.house.data.clone() } else { std::env::temp_dir() };
        if how == How::Really {
            self.discard_prepared();
            let data = &self.house.data;
            files::make_folder(data).map_err(|error| unusable("make", data, &error))?;
        }
        let scratch = if how == How::Really { &self.house.data } else { &scratch };
        let examined = self.examine(scratch, from, &manifest).await?;
        let wrong = examined.lost.clone().or_else(|| examined.fault.clone());
        if let Some(wrong) = wrong {
            let what = format!("what is in the backup does not hold: {wrong}");
            return Err(Problem::new(Code::BACKUP_DAMAGED, what)
                .safe("nothing was changed")
                .remedy("regent explain R1006"));
        }
        self.stage("examined");
        let mut trial = self.record("house.restored", json!({}));
        let carrying = self.carrying(&old).await;
        let carried = carrying.enter(&examined.authority, self.clock.now(), &mut trial);
        let mut restored = Restored {
            carried,
            from: from.clone(),
            at: manifest.at,
            manifest: digest,
            counted: examined.counted.clone(),
            present: match &old {
                Old::None => None,
                Old::Empty(count) | Old::Lived(count) => Some(Present::Counted(count.clone())),
                Old::Broken(problem) => Some(Present::Unreadable(problem.to_string())),
            },
            settings: self.settings_file(&examined),
            grants_revoked: examined.lapsed.grants(),
            switches: match access::comes_back(&self.house, &house_in(examined.scratch.path())) {
                true => SettingsFile::PutBack,
                false => SettingsFile::Left,
            },
            policies: match policies::comes_back(&self.house, &house_in(examined.scratch.path())) {
                true => Some(SettingsFile::PutBack),
                false => policies::is_there(&self.house).then_some(SettingsFile::Left),
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
                let (from, to) = (from.join("regent.toml"), self.house.settings_file());
                let put = files::make_folder(&self.house.config)
                    .and_then(|()| trusted::text(&from))
                    .and_then(|text| super::keys::make(&to, &text.unwrap_or_default(), &self.unique()));
                put.map_err(|error| unusable("make", &to, &error))?;
            }
        }
        Ok(restored)
    }

    /// What of the present database outlives the restore.
    async fn carrying(&self, old: &Old) -> Carrying {
        match old {
            // There was one, and it is gone.
            Old::None if self.vault_stamp().is_ok_and(|stamp| stamp.is_some()) => return Carrying::Unknown,
            Old::None | Old::Empty(_) => return Carrying::Nothing,
            Old::Broken(_) => return Carrying::Unknown,
            Old::Lived(_) => {}
        }
        let snapshot = async || -> Result<AuthoritySnapshot, Problem> {
            let ledger = Ledger::start(self.store().await?, self.seal()?, Arc::new(Silent));
            Ok(AuthoritySnapshot::of(&ledger).await?)
        };
        snapshot().await.map_or(Carrying::Unknown, |snapshot| Carrying::Snapshot(Box::new(snapshot)))
    }

    /// What there is once no other process writes to it any more. Until then, another one may have halted everything, linked an
    /// address, or restored a backup itself.
    async fn look_again(&self, restored: &Restored) -> Result<(DatabaseStamp, Carrying), Problem> {
        if self.house.restoring().exists() {
            let what = "another restore of this instance is under way or was interrupted";
            return Err(Problem::new(Code::DATABASE_BUSY, what)
                .safe("nothing was changed")
                .remedy("regent doctor"));
        }
        // There was nothing, and without keys this instance has not written to it since.
        let is_new = restored.present.is_none() && !self.in_place("keys").exists();
        let carrying = match is_new {
            true => Carrying::Nothing,
            false => self.carrying(&self.old().await).await,
        };
        Ok((self.next_stamp().await?, carrying))
    }

    /// Which database it is after the restore: the same one, in its next incarnation.
    async fn next_stamp(&self) -> Result<DatabaseStamp, Problem> {
        let vault = self.vault_stamp().unwrap_or_default();
        // Opening would make it.
        let there = self.is_remote() || self.house.database().exists();
        let found = match if there { self.store().await.ok() } else { None } {
            Some(store) => stamp_of(&*store).await.unwrap_or_default(),
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
    async fn old(&self) -> Old {
        let counted = async || -> Result<Option<(Count, bool)>, Problem> {
            let none = match self.is_remote() {
                true => PostgresStore::schema_of(&self.database_url).await?.is_none(),
                false => !self.house.database().exists(),
            };
            if none {
                return Ok(None);
            }
            let tally: Tally = self.present().await?;
            let lived = tally.rows.get("commits").is_some_and(|commits| *commits > 0);
            if !lived && tally.heads.is_empty() && !self.in_place("keys").is_dir() {
                return Ok(None); // a schema, and nothing else yet
            }
            // Without its key it can be read, but neither copied as a house nor written to.
            let stream = self.seal()?.stream().to_string();
            if !tally.heads.is_empty() && tally.heads.iter().all(|head| head.stream != stream) {
                return Err(Problem::new(Code::OTHER_HOUSE, "the database there was begun by another house"));
            }
            Ok(Some((count(&tally, &stream), lived)))
        };
        match counted().await {
            Ok(None) => Old::None,
            Ok(Some((count, true))) => Old::Lived(count),
            Ok(Some((count, false))) => Old::Empty(count),
            Err(problem) => Old::Broken(problem),
        }
    }

    /// A backup of another house does not go where something could be lost.
    fn same_house(&self, manifest: &Manifest, old: &Old) -> Result<(), Problem> {
        // A house that has lost its name does not open, and all of it is moved aside.
        let same = self.node().map_or(true, |node| node == manifest.node);
        match old {
            Old::None | Old::Empty(_) => Ok(()),
            Old::Lived(_) | Old::Broken(_) if same => Ok(()),
            Old::Lived(_) | Old::Broken(_) => {
                let what = format!("the backup is of another house ({})", manifest.node);
                Err(Problem::new(Code::BACKUP_OF_ANOTHER, what)
                    .safe("nothing was changed")
                    .remedy("regent explain R4025"))
            }
        }
    }

    /// Settings that name another database than the one the rows go to are not put back.
    fn settings_file(&self, examined: &Examined) -> SettingsFile {
        let path = house_in(examined.scratch.path()).settings_file();
        let text = trusted::text(&path).ok().flatten();
        let layered = text.filter(|_| !self.house.settings_file().exists()).and_then(|text| {
            let file = Some((path.display().to_string(), text));
            Settings::layer(&Layers { file, environment: Vec::new(), flags: Vec::new() }).ok()
        });
        match layered {
            Some(settings) if settings.get("database.url") == self.database_url => SettingsFile::PutBack,
            _ => SettingsFile::Left,
        }
    }

    /// The old house is held from its copy to its end: nothing that anybody was told is missing in the copy.
    async fn replace_file(
        &self,
        examined: Examined,
        manifest: Digest,
        old: &Old,
        restored: &mut Restored,
    ) -> Result<Option<PathBuf>, Problem> {
        let hold = match old {
            Old::None | Old::Broken(_) => None,
            Old::Empty(_) | Old::Lived(_) => Some(Hold::take(&self.house.database()).await?),
        };
        let (stamp, carrying) = self.look_again(restored).await?;
        let kept = match &hold {
            Some(_) => Some(self.copy_of_old().await?),
            None => None,
        };
        let kept_digest = kept.as_ref().map(|(_, digest)| *digest);
        self.write_down(&examined, (manifest, kept_digest), (&stamp, &carrying), restored).await?;
        let alone = self.alone()?;
        let decides = if hold.is_some() { Decides::Fence } else { Decides::Nothing };
        let something = matches!(old, Old::Broken(_)) || self.in_place("keys").exists();
        let keep_aside = kept.is_none() && something;
        let (marker, lock, aside) = self.mark(examined, decides, keep_aside)?;
        if let Some(hold) = hold {
            self.stage("fence the old house");
            hold.fence().await?;
        }
        self.stage("put in place");
        self.swap(&marker)?;
        drop((lock, alone));
        let moved = marker.keep_aside.then_some(aside);
        moved.iter().try_for_each(|moved| self.list_aside(moved))?;
        Ok(kept.map(|(folder, _)| folder).or(moved))
    }

    async fn replace_on_server(
        &self,
        examined: Examined,
        manifest: Digest,
        restored: &mut Restored,
    ) -> Result<Option<PathBuf>, Problem> {
        // Makes the schema if there is none.
        drop(PostgresStore::open(&self.database_url).await?);
        self.find_owner().await?;
        self.note_place()?;
        let hold = PostgresHold::take(&self.database_url).await?;
        let (stamp, carrying) = self.look_again(restored).await?;
        let kept = match &restored.present {
            Some(Present::Counted(_)) => Some(self.copy_of_old().await?),
            Some(Present::Unreadable(why)) => {
                let what = format!("what is in the database cannot be copied first: {why}");
                return Err(Problem::new(Code::BACKUP_FAILED, what)
                    .safe("nothing was changed")
                    .remedy("regent doctor"));
            }
            None => None,
        };
        let kept_digest = kept.as_ref().map(|(_, digest)| *digest);
        self.write_down(&examined, (manifest, kept_digest), (&stamp, &carrying), restored).await?;
        let database = house_in(examined.scratch.path()).database();
        let tally = SqliteStore::tally(&database).await?;
        let alone = self.alone()?;
        let keep_aside = kept.is_none() && self.in_place("keys").exists();
        let decides = Decides::Incarnation(stamp.incarnation);
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
        self.swap(&marker)?;
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

    async fn copy_of_old(&self) -> Result<(PathBuf, Digest), Problem> {
        let parent = self.house.backups();
        let (drafted, ..) = self.tried_draft(&parent, Occasion::Restore).await?;
        let digest = drafted.digest;
        let folder = self.keep(drafted, &parent.join(format!("{}-replaced", self.dated("regent"))))?;
        Ok((folder, digest))
    }

    /// The restored house says of itself that it was, and what it left behind.
    async fn write_down(
        &self,
        examined: &Examined,
        (manifest, kept): (Digest, Option<Digest>),
        (stamp, carrying): (&DatabaseStamp, &Carrying),
        restored: &mut Restored,
    ) -> Result<(), Problem> {
        self.stage("write it down");
        let left = match &restored.present {
            Some(Present::Counted(count)) => json!(count.audit),
            Some(Present::Unreadable(_)) => json!("unreadable"),
            None => json!(null),
        };
        let mut record =
            self.record("house.restored", json!({ "manifest": manifest, "left": left, "kept": kept }));
        examined.lapsed.enter(self.clock.now(), &mut record);
        restored.carried = carrying.enter(&examined.authority, self.clock.now(), &mut record);
        record.put(stamp);
        if examined.confirmed {
            record.seal_existing();
        }
        let house = house_in(examined.scratch.path());
        let database = house.database();
        Hold::take(&database).await?.migrate(Some(&record), &examined.seal, &Silent).await?;
        // A record that is refused does not keep an upgrade back; here it would leave the halt and the keys behind.
        let store = SqliteStore::open(&database).await?;
        let written = stamp_of(&store).await?;
        store.close().await;
        if written.as_ref() != Some(stamp) {
            let what = "what is in force now cannot be entered into the backup";
            return Err(Problem::new(Code::BACKUP_FAILED, what)
                .safe("nothing was changed")
                .remedy("regent doctor"));
        }
        files::sync(&database).map_err(|error| unusable("write", &database, &error))?;
        let path = house.vault(&VaultOwner::File).stamp;
        let stamped = FileDraft::write(&path, stamp_text(stamp).as_bytes(), &self.unique())
            .and_then(FileDraft::replace);
        stamped.map(drop).map_err(|error| unusable("write", &path, &error))
    }
}
