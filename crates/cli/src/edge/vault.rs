//! What the audit keeps outside the database, as files of the house: one secret per epoch, the checkpoints, the tip.

#![expect(clippy::disallowed_methods, reason = "the house's own files")]

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

use domain::{Digest, IdSource};
use ledger::chain::{Secret, Tip, Vault};
use runtime::{House, VaultPaths};

use super::trusted::{self, Links};
use super::{files, keys};

/// A restore puts other files in the place of these. Whoever still has the old house open must not write to the new one:
/// everything here is done under a lock on the folder of keys, which a restore takes for itself before it moves that
/// folder aside, and only while it is the folder that this process has found when it came.
pub(crate) struct FileVault {
    pub(crate) paths: VaultPaths,
    /// Device and number of the folder of keys, if there was one.
    opened: Option<(u64, u64)>,
    ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for FileVault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileVault").field("paths", &self.paths).finish_non_exhaustive()
    }
}

impl FileVault {
    pub(super) fn new(house: &House, remote: bool, ids: &Arc<dyn IdSource>) -> Self {
        let paths = house.vault(remote);
        let opened = number_of(&paths.keys);
        Self { paths, opened, ids: Arc::clone(ids) }
    }

    /// Until what this returns is dropped, no restore changes anything.
    fn enter(&self) -> io::Result<Option<File>> {
        if self.opened.is_none() {
            return Ok(None); // a house that is being made
        }
        let replaced = || {
            let what = "this house was replaced by a restore; start again";
            io::Error::new(io::ErrorKind::StaleNetworkFileHandle, what)
        };
        let folder = match files::open_folder(&self.paths.keys) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(replaced()),
            folder => folder?,
        };
        folder.lock_shared()?;
        if number_of(&self.paths.keys) == self.opened { Ok(Some(folder)) } else { Err(replaced()) }
    }

    /// The epochs that have a secret, oldest first.
    pub(super) fn epochs(&self) -> io::Result<Vec<u64>> {
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
    pub(super) fn is_new(&self) -> io::Result<bool> {
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
    pub(super) fn begin(&self, from: Option<&str>) -> io::Result<bool> {
        let secret = from.map_or_else(|| self.random().to_string(), str::to_owned);
        keys::make(&self.paths.key(1), &secret, &self.ids.bits().to_string())
    }
}

fn number_of(folder: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(folder).ok().map(|found| (found.dev(), found.ino()))
}

impl Vault for FileVault {
    fn secret(&self, epoch: u64) -> io::Result<Option<Secret>> {
        let _entered = self.enter()?;
        let path = self.paths.key(epoch);
        let Some(text) = keys::read(&path)?.filter(|text| text.is_empty() || !keys::is_erased(text)) else {
            return Ok(None);
        };
        let none = |_other| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{} does not hold a key", path.display()))
        };
        let digest: Digest = text.parse().map_err(none)?;
        Ok(Some(Secret::new(*digest.as_bytes())))
    }

    fn make(&self, epoch: u64) -> io::Result<Secret> {
        let entered = self.enter()?;
        let path = self.paths.key(epoch);
        keys::make(&path, &self.random().to_string(), &self.ids.bits().to_string())?;
        drop(entered);
        self.secret(epoch)?.ok_or_else(|| io::Error::other(format!("{} vanished", path.display())))
    }

    fn erase_before(&self, epoch: u64) -> io::Result<()> {
        let _entered = self.enter()?;
        for old in self.epochs()?.into_iter().filter(|old| *old < epoch) {
            keys::erase(&self.paths.key(old))?;
        }
        Ok(())
    }

    fn tip(&self) -> io::Result<Option<Tip>> {
        let _entered = self.enter()?;
        let Some(text) = keys::read(&self.paths.tip)? else { return Ok(None) };
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
        let text = whole_lines(&self.paths.checkpoints)?;
        Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let entered = self.enter()?;
        entered.iter().try_for_each(File::lock)?; // nobody else is in the middle of a line
        let path = &self.paths.checkpoints;
        let whole = whole_lines(path)?.len() as u64;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let mut file = files::open_to_write(&mut options, path)?;
        file.set_len(whole)?; // half a line is left by whoever was killed in the middle of it
        file.seek(SeekFrom::End(0))?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_all()?;
        keys::sync_folder(path)
    }
}

/// The file's text up to the end of its last whole line; nothing if it is not there.
fn whole_lines(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    if let Some(mut file) = trusted::open(path, Links::Followed)? {
        file.read_to_string(&mut text)?;
    }
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    Ok(text)
}
