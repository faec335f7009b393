//! A backup is put in the place of the house. It is set up and looked at in a scratch place first; what is there is copied;
//! then the two change places so that a kill at any moment leaves the one or the other.
//!
//! The file `restoring` says that a restore is under way and what it moves where. Until the old database is fenced (no
//! batch can be written to it any more, whoever has it open), whoever finds that file takes the restore back; from then
//! on whoever finds it carries it on. On PostgreSQL the committed transaction takes the place of the fence.

#![expect(clippy::disallowed_methods, reason = "the house's own files")]

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::Digest;
use ledger::records::AuditEntry;
use ledger::{Op, Select, Store as _};
use ledger_sql::{Hold, PostgresHold, PostgresStore, SqliteStore, Tally};
use runtime::keeping::{Count, How, Manifest, Occasion, Present, Restored, SettingsFile};
use runtime::settings::{Layers, Settings};
use runtime::{Code, Problem};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::backup::{Examined, NAMES, count, house_in, read_manifest};
use super::backup_list::ListedCopy;
use super::file_drafts::FileDraft;
use super::host::{OsHost, unusable};
use super::trusted::Links;
use super::{access, files, policies, trusted};

/// How long to wait for another process that is putting a house in place, and how often to look.
const WAITS: u32 = 300;
const WAIT: Duration = Duration::from_millis(100);

/// The database and what SQLite keeps beside it.
const DATABASE: [&str; 3] = ["regent.db", "regent.db-wal", "regent.db-shm"];

/// What the file `restoring` says. Paths are names in the data folder.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    /// Where the restored house lies.
    scratch: String,
    /// Where the files of the old one go.
    aside: String,
    /// Whether they stay there: there is no backup of them.
    keep_aside: bool,
    /// What is put in place.
    puts: Vec<String>,
    decides: Decides,
}

/// What tells whether the restore is carried on or taken back.
#[derive(Debug, Serialize, Deserialize)]
enum Decides {
    /// The old database is fenced, or was moved aside already.
    Fence,
    /// This entry stands in the server's audit.
    Entry { stream: String, seq: u64, hash: Digest },
    /// There was no house that could be written to.
    Nothing,
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
        self.settle().await?;
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
        let mut restored = Restored {
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
                true => self.replace_on_server(examined, digest, &restored).await?,
                false => self.replace_file(examined, digest, &old, &restored).await?,
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
            // Without its key it can be read, but neither copied as a house nor written to.
            let stream = self.seal()?.stream().to_string();
            let tally: Tally = self.present().await?;
            if !tally.heads.is_empty() && tally.heads.iter().all(|head| head.stream != stream) {
                return Err(Problem::new(Code::OTHER_HOUSE, "the database there was begun by another house"));
            }
            let lived = tally.rows.get("commits").is_some_and(|commits| *commits > 0);
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
        restored: &Restored,
    ) -> Result<Option<PathBuf>, Problem> {
        let hold = match old {
            Old::None | Old::Broken(_) => None,
            Old::Empty(_) | Old::Lived(_) => Some(Hold::take(&self.house.database()).await?),
        };
        let kept = match &hold {
            Some(_) => Some(self.copy_of_old().await?),
            None => None,
        };
        self.write_down(&examined, manifest, kept.as_ref().map(|(_, digest)| *digest), restored).await?;
        let alone = self.alone()?;
        let decides = if hold.is_some() { Decides::Fence } else { Decides::Nothing };
        let (marker, lock, aside) = self.mark(examined, decides, matches!(old, Old::Broken(_)))?;
        if let Some(hold) = hold {
            self.stage("fence the old house");
            hold.fence().await?;
        }
        self.stage("put in place");
        self.swap(&marker)?;
        drop((lock, alone));
        let moved = matches!(old, Old::Broken(_)).then_some(aside);
        if let Some(moved) = &moved {
            let (at, occasion) = (self.clock.now(), Occasion::Restore);
            self.list(ListedCopy { at, folder: moved.clone(), occasion, manifest: None, draft: None })?;
        }
        Ok(kept.map(|(folder, _)| folder).or(moved))
    }

    async fn replace_on_server(
        &self,
        examined: Examined,
        manifest: Digest,
        restored: &Restored,
    ) -> Result<Option<PathBuf>, Problem> {
        // Makes the schema if there is none.
        drop(PostgresStore::open(&self.database_url).await?);
        let hold = PostgresHold::take(&self.database_url).await?;
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
        self.write_down(&examined, manifest, kept.as_ref().map(|(_, digest)| *digest), restored).await?;
        let database = house_in(examined.scratch.path()).database();
        let tally = SqliteStore::tally(&database).await?;
        let head =
            tally.heads.first().ok_or_else(|| Problem::new(Code::BACKUP_DAMAGED, "it has no audit"))?;
        let alone = self.alone()?;
        let decides = Decides::Entry { stream: head.stream.clone(), seq: head.seq, hash: head.hash };
        let (marker, lock, _) = self.mark(examined, decides, false)?;
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
        Ok(kept.map(|(folder, _)| folder))
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
        manifest: Digest,
        kept: Option<Digest>,
        restored: &Restored,
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
        let database = house_in(examined.scratch.path()).database();
        Hold::take(&database).await?.migrate(Some(&record), &examined.seal, &domain::probe::Silent).await?;
        files::sync(&database).map_err(|error| unusable("write", &database, &error))
    }

    /// From here on, and until what this returns is dropped, nobody who has the house open reads or writes what lies
    /// beside the database; afterwards it is not theirs any more.
    pub(super) fn alone(&self) -> Result<Option<File>, Problem> {
        let keys = self.in_place("keys");
        match files::open_folder(&keys).and_then(|folder| folder.lock().map(|()| folder)) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unusable("lock", &keys, &error)),
        }
    }

    /// Writes the file `restoring`, locked before it has its name.
    fn mark(
        &self,
        examined: Examined,
        decides: Decides,
        keep_aside: bool,
    ) -> Result<(Marker, File, PathBuf), Problem> {
        self.stage("mark");
        let (path, remote) = (self.house.restoring(), self.is_remote());
        let failed = |error| unusable("write", &path, &error);
        let scratch = examined.scratch.path().to_owned();
        let aside = self.house.backups().join(format!("{}-{}", self.dated("replaced"), self.unique()));
        files::make_folder(&aside).map_err(failed)?;
        files::sync(&self.house.backups()).map_err(failed)?;
        let puts = NAMES.iter().filter(|name| !(remote && **name == DATABASE[0]));
        let puts = puts.filter(|name| scratch.join(name).exists()).map(|name| (*name).to_owned()).collect();
        let named = |path: &Path| -> String {
            path.strip_prefix(&self.house.data).unwrap_or(path).to_string_lossy().into_owned()
        };
        let marker = Marker { scratch: named(&scratch), aside: named(&aside), keep_aside, puts, decides };
        files::sync(&scratch.join("keys")).map_err(failed)?;
        files::sync(&scratch).map_err(failed)?;
        files::sync(&self.house.data).map_err(failed)?;
        // While there may be no room for it, the old house is still there.
        let switches = self.house.tool_access();
        access::prepare(&self.house, &house_in(&scratch))
            .map_err(|error| unusable("make", &switches, &error))?;
        policies::prepare(&self.house, &house_in(&scratch))
            .map_err(|error| unusable("make", &self.house.policies(), &error))?;
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
    pub(super) async fn settle(&self) -> Result<(), Problem> {
        let path = self.house.restoring();
        let failed = |error| unusable("read", &path, &error);
        let mut waits = 0..WAITS;
        loop {
            let Some(file) = trusted::open(&path, Links::Refused).map_err(failed)? else { return Ok(()) };
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
            let text = trusted::text(&path).map_err(failed)?.unwrap_or_default();
            let marker: Marker = serde_json::from_str(&text)
                .map_err(|error| unusable("read", &path, &std::io::Error::other(error)))?;
            let _alone = self.alone()?;
            if self.is_decided(&marker).await? {
                self.swap(&marker)?
            } else {
                self.take_back(&marker)?
            }
            return Ok(());
        }
    }

    async fn is_decided(&self, marker: &Marker) -> Result<bool, Problem> {
        match &marker.decides {
            Decides::Nothing => Ok(true),
            Decides::Fence => {
                let (database, moved) =
                    (self.house.database(), self.house.data.join(&marker.aside).join(DATABASE[0]));
                Ok(moved.exists() || !database.exists() || Hold::is_fenced(&database).await?)
            }
            Decides::Entry { stream, seq, hash } => {
                let server = PostgresStore::open(&self.database_url).await?;
                let entry = Select::<AuditEntry>::by("seq", seq).filter("stream", Op::Eq, stream);
                let found = server.select(&entry.filter("hash", Op::Eq, hash).query).await?;
                Ok(!found.is_empty())
            }
        }
    }

    /// Old files go aside, new ones in their place. It can be cut off anywhere and begun again: as long as a new one lies
    /// in the scratch place, what has its name is old.
    fn swap(&self, marker: &Marker) -> Result<(), Problem> {
        let data = &self.house.data;
        let (scratch, aside) = (data.join(&marker.scratch), data.join(&marker.aside));
        let moved = |from: PathBuf, to: PathBuf| -> Result<(), Problem> {
            self.stage("move a file");
            std::fs::rename(&from, &to).map_err(|error| unusable("move", &from, &error))
        };
        let durable = |folder: &Path| files::sync(folder).map_err(|error| unusable("write", folder, &error));
        files::make_folder(&aside).map_err(|error| unusable("make", &aside, &error))?;
        // Before the house: it is never there without them.
        self.stage("put switches back");
        access::put_back(&self.house).map_err(|error| unusable("make", &self.house.tool_access(), &error))?;
        policies::put_back(&self.house).map_err(|error| unusable("make", &self.house.policies(), &error))?;
        for name in NAMES.iter().filter(|name| !(self.is_remote() && **name == DATABASE[0])) {
            let (new, put) = (scratch.join(name), marker.puts.iter().any(|put| put == name));
            if put && !new.exists() {
                continue; // it is in its place
            }
            let old: &[&str] = if *name == DATABASE[0] { &DATABASE } else { &[name] };
            for old in old.iter().filter(|old| self.in_place(old).exists()) {
                moved(self.in_place(old), aside.join(old))?;
            }
            // The log of the old database must be gone for good before the new one has its name.
            let place = self.in_place(name);
            let folder = place.parent().unwrap_or(data);
            files::make_folder(folder).map_err(|error| unusable("make", folder, &error))?;
            durable(&aside)?;
            durable(folder)?;
            if put {
                moved(new, place.clone())?;
            }
            durable(folder)?;
        }
        durable(data)?;
        if !marker.keep_aside {
            files::remove(&aside).map_err(|error| unusable("remove", &aside, &error))?;
        }
        self.unmark(&scratch)
    }

    /// The house was not touched yet.
    fn take_back(&self, marker: &Marker) -> Result<(), Problem> {
        let aside = self.house.data.join(&marker.aside);
        files::remove(&aside).map_err(|error| unusable("remove", &aside, &error))?;
        self.unmark(&self.house.data.join(&marker.scratch))
    }

    fn unmark(&self, scratch: &Path) -> Result<(), Problem> {
        self.stage("tidy up");
        let path = self.house.restoring();
        let failed = |error| unusable("remove", &path, &error);
        access::discard(&self.house).map_err(failed)?;
        policies::discard(&self.house).map_err(failed)?;
        files::remove(scratch).map_err(failed)?;
        files::remove(&path).map_err(failed)?;
        files::sync(&self.house.data).map_err(failed)
    }
}
