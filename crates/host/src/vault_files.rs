//! What the audit keeps outside the database, as files of the instance: one secret per epoch, the checkpoints, the tip.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use app::instance::paths::{InstancePaths, VaultOwner, VaultPaths};
use domain::{Digest, IdSource, Time};
use ledger::chain::{Secret, Tip, Vault};
use ledger::records::DatabaseStamp;

use crate::trusted_files::{self, LinkPolicy, TrustedFolder};
use crate::{files, key_files};

/// How long to wait for another process that holds the vault, and how often to look.
const WAITS: u32 = 200;
const WAIT: Duration = Duration::from_millis(50);

/// A restore puts other files in the place of these. A process that still has the old state open must not write to the new one:
/// everything here is done under a lock on the folder of keys, which a restore takes for itself before it moves that
/// folder aside, and only while the vault has the incarnation that this process has found when it came.
pub(crate) struct FileVault {
    pub(crate) paths: VaultPaths,
    /// Which database it belonged to then; nothing while it is being made.
    stamp: Option<DatabaseStamp>,
    /// Where a halt of this database may wait.
    halt_requests: Vec<PathBuf>,
    ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for FileVault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileVault").field("paths", &self.paths).finish_non_exhaustive()
    }
}

/// The vault while no restore changes anything.
struct EnteredVault {
    /// The folder of keys, locked; nothing while the vault is being made.
    lock: Option<File>,
    /// The folder that the stamp and the tip are in: both are read after one walk to it.
    folder: Option<TrustedFolder>,
}

impl EnteredVault {
    /// Reads a file of the vault's folder; nothing if it is not there.
    fn read(&self, path: &Path) -> io::Result<Option<String>> {
        match &self.folder {
            Some(folder) => key_files::read_in(folder, path),
            None => key_files::read(path),
        }
    }
}

impl FileVault {
    pub(crate) fn new(instance: &InstancePaths, owner: &VaultOwner, ids: &Arc<dyn IdSource>) -> Self {
        let paths = instance.vault(owner);
        // One that cannot be read belongs to no database.
        let stamp = read_stamp(&paths.stamp).unwrap_or_else(|_error| Some(DatabaseStamp::new("", 0)));
        Self { paths, stamp, halt_requests: list_halt_requests(instance, owner), ids: Arc::clone(ids) }
    }

    /// The same vault, before it is known which database it belongs to.
    pub(crate) fn unstamped(self) -> Self {
        Self { stamp: None, ..self }
    }

    /// Until what this returns is dropped, no restore changes anything.
    fn enter(&self) -> io::Result<EnteredVault> {
        if self.stamp.is_none() {
            return Ok(EnteredVault { lock: None, folder: None }); // it is being made
        }
        let replaced = || {
            let what = "this house was replaced by a restore; start again";
            io::Error::new(io::ErrorKind::StaleNetworkFileHandle, what)
        };
        let keys = match files::open_folder(&self.paths.keys) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(replaced()),
            keys => keys?,
        };
        wait_for_lock(|| keys.try_lock_shared())?;
        // Found only now: before the lock it may have been one that a restore has moved aside.
        let entered = EnteredVault { lock: Some(keys), folder: TrustedFolder::of(&self.paths.stamp)? };
        let stamp = parse_stamp(entered.read(&self.paths.stamp)?, &self.paths.stamp)?;
        if stamp == self.stamp { Ok(entered) } else { Err(replaced()) }
    }

    /// Whether another process has the keys for itself at this moment.
    pub(crate) fn is_locked(&self) -> bool {
        let locked = files::open_folder(&self.paths.keys).map(|folder| folder.try_lock_shared());
        matches!(locked, Ok(Err(TryLockError::WouldBlock)))
    }

    /// The epochs that have a secret, oldest first.
    pub(crate) fn epochs(&self) -> io::Result<Vec<u64>> {
        let folder = match std::fs::read_dir(&self.paths.keys) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        let mut epochs = Vec::new();
        for file in folder {
            epochs.extend(file?.file_name().to_str().and_then(VaultPaths::epoch_of));
        }
        epochs.sort_unstable();
        Ok(epochs)
    }

    /// Whether nothing was ever sealed with it.
    pub(crate) fn is_new(&self) -> io::Result<bool> {
        Ok(self.epochs()?.is_empty() && !self.paths.checkpoints.exists())
    }

    /// 256 random bits.
    fn random(&self) -> Digest {
        let (high, low) = (self.ids.bits(), self.ids.bits());
        let mut bytes = [0; 32];
        bytes
            .iter_mut()
            .zip(high.to_be_bytes().into_iter().chain(low.to_be_bytes()))
            .for_each(|(to, from)| *to = from);
        Digest::from_bytes(bytes)
    }

    /// Makes the first secret, of these bytes where there are some already; says whether it was made.
    pub(crate) fn begin(&self, from: Option<&str>) -> io::Result<bool> {
        let secret = from.map_or_else(|| self.random().to_string(), str::to_owned);
        key_files::make(&self.paths.key(1), &secret, &self.ids.bits().to_string())
    }
}

/// Where a halt of a database may wait: under its id, or where that was not known.
pub(crate) fn list_halt_requests(instance: &InstancePaths, owner: &VaultOwner) -> Vec<PathBuf> {
    let unknown = matches!(owner, VaultOwner::Server(_)).then_some(VaultOwner::ServerBefore);
    [owner].into_iter().chain(&unknown).map(|owner| instance.halt_request(owner)).collect()
}

/// Waits for a lock, and not for ever: the process that has it may have been stopped.
pub(crate) fn wait_for_lock(mut lock: impl FnMut() -> Result<(), TryLockError>) -> io::Result<()> {
    for _ in 0..WAITS {
        match lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process holds the keys and does not let go"))
}

/// Which database a vault belongs to.
pub(crate) fn read_stamp(path: &Path) -> io::Result<Option<DatabaseStamp>> {
    parse_stamp(key_files::read(path)?, path)
}

fn parse_stamp(text: Option<String>, path: &Path) -> io::Result<Option<DatabaseStamp>> {
    let Some(text) = text else { return Ok(None) };
    let stamp = text.split_once(' ').and_then(|(id, n)| Some(DatabaseStamp::new(id, n.parse().ok()?)));
    let none = || io::Error::new(io::ErrorKind::InvalidData, format!("{} names no database", path.display()));
    stamp.map(Some).ok_or_else(none)
}

/// As it is written to the file.
pub(crate) fn format_stamp(stamp: &DatabaseStamp) -> String {
    format!("{} {}", stamp.id, stamp.incarnation)
}

impl Vault for FileVault {
    fn stamp(&self) -> Option<&DatabaseStamp> {
        self.stamp.as_ref()
    }

    fn secret(&self, epoch: u64) -> io::Result<Option<Secret>> {
        let _entered = self.enter()?;
        read_secret(&self.paths.key(epoch))
    }

    fn authority_key(&self) -> io::Result<Secret> {
        let _entered = self.enter()?;
        let path = self.paths.authority_key();
        key_files::make(&path, &self.random().to_string(), &self.ids.bits().to_string())?;
        read_secret(&path)?.ok_or_else(|| io::Error::other(format!("{} vanished", path.display())))
    }

    fn make(&self, epoch: u64) -> io::Result<Secret> {
        let entered = self.enter()?;
        let path = self.paths.key(epoch);
        key_files::make(&path, &self.random().to_string(), &self.ids.bits().to_string())?;
        drop(entered);
        self.secret(epoch)?.ok_or_else(|| io::Error::other(format!("{} vanished", path.display())))
    }

    /// Without the lock: a halt counts whoever holds it. A request that cannot be understood is one all the same.
    fn halt_request(&self) -> io::Result<Option<Time>> {
        for path in &self.halt_requests {
            if let Some(at) = key_files::read(path)? {
                return Ok(Some(Time::from_micros(at.parse().unwrap_or(0))));
            }
        }
        Ok(None)
    }

    fn erase_before(&self, epoch: u64) -> io::Result<()> {
        let _entered = self.enter()?;
        for old in self.epochs()?.into_iter().filter(|old| *old < epoch) {
            key_files::erase(&self.paths.key(old))?;
        }
        Ok(())
    }

    fn tip(&self) -> io::Result<Option<Tip>> {
        let Some(text) = self.enter()?.read(&self.paths.tip)? else { return Ok(None) };
        let mut words = text.split(' ');
        let (seq, hash) =
            (words.next().and_then(|seq| seq.parse().ok()), words.next().and_then(|hash| hash.parse().ok()));
        Ok(seq.zip(hash).map(|(seq, hash)| Tip { seq, hash }))
    }

    /// Always as long, and written over in place: it is never half there. Nobody waits for the disk, for it is a lower bound.
    fn note(&self, tip: Tip) -> io::Result<()> {
        let _entered = self.enter()?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = files::open_to_write(&mut options, &self.paths.tip)?;
        file.write_all_at(format!("{:020} {}\n", tip.seq, tip.hash).as_bytes(), 0)
    }

    fn checkpoints(&self) -> io::Result<Vec<String>> {
        let _entered = self.enter()?;
        let text = read_whole_lines(&self.paths.checkpoints)?;
        Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let entered = self.enter()?;
        // Nobody else is in the middle of a line.
        entered.lock.iter().try_for_each(|keys| wait_for_lock(|| keys.try_lock()))?;
        let path = &self.paths.checkpoints;
        let whole = read_whole_lines(path)?.len() as u64;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let mut file = files::open_to_write(&mut options, path)?;
        file.set_len(whole)?; // half a line is left by whoever was killed in the middle of it
        file.seek(SeekFrom::End(0))?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_all()?;
        key_files::sync_folder(path)
    }
}

/// The key in a file; nothing if it was erased, or was never there.
fn read_secret(path: &Path) -> io::Result<Option<Secret>> {
    let Some(text) = key_files::read(path)?.filter(|text| text.is_empty() || !key_files::is_erased(text))
    else {
        return Ok(None);
    };
    let none = |_other| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{} does not hold a key", path.display()))
    };
    let digest: Digest = text.parse().map_err(none)?;
    Ok(Some(Secret::new(*digest.as_bytes())))
}

/// The file's text up to the end of its last whole line; nothing if it is not there.
fn read_whole_lines(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    if let Some(mut file) = trusted_files::open(path, LinkPolicy::Followed)? {
        file.read_to_string(&mut text)?;
    }
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    Ok(text)
}
