//! Folders and files beneath one descriptor. The only module that asks the kernel for them.
//!
//! A folder is opened beneath the root without following any link (`openat2` with `RESOLVE_BENEATH` and
//! `RESOLVE_NO_SYMLINKS`). What is in it is then asked for by one plain name, relative to that descriptor and
//! again without following a link. So there is no moment between asking and opening in which somebody could
//! put a link into the way: a link that is swapped in is refused by the kernel itself.
//!
//! Where there is no `openat2` (an old kernel, a container that forbids it, another system), a folder is
//! reached component by component with `O_NOFOLLOW`. That is as safe, and slower; but where a link leads can
//! then not be asked safely, and so every link is refused.
//!
//! Not covered: a hard link inside is inside, whatever else it is linked to. A mount point inside is inside,
//! because people mount things into their folders on purpose.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use domain::Time;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, readlinkat};
use nix::libc::mode_t;
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};
use nix::unistd::Uid;

/// Only to go on from: it may be a folder that can be entered and not be listed.
#[cfg(target_os = "linux")]
const PASS: OFlag = OFlag::O_PATH.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PASS: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_CLOEXEC);

/// To see what is in a folder.
const LIST: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_CLOEXEC);

/// Opening a pipe or a terminal this way does not wait and does not take it over.
const READ: OFlag = OFlag::O_NONBLOCK.union(OFlag::O_NOCTTY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// How much of a folder the kernel shows at a time.
#[cfg(target_os = "linux")]
const LISTED_BYTES: usize = 32 * 1024;

/// A folder that is deeper than this below the root is none: the kernel's own limit on a path is 4,096 bytes.
const DEEPEST: usize = 4_096;

#[derive(Debug, Clone)]
pub(crate) struct Root {
    folder: Arc<OwnedFd>,
    /// Whether the kernel can be asked for several components at once.
    beneath: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    pub(crate) const fn device(self) -> u64 {
        self.device
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

/// What the kernel says about one thing. Equal before and after means: nobody touched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: FileId,
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    pub(crate) mode: mode_t,
    pub(crate) owner: (u32, u32),
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Seen {
    pub(crate) fn modified_at(&self) -> Time {
        time(self.modified)
    }

    /// When anything about it was changed, its rights too.
    pub(crate) fn changed_at(&self) -> Time {
        time(self.changed)
    }
}

fn time((seconds, nanos): (i64, i64)) -> Time {
    Time::from_micros(seconds.saturating_mul(1_000_000).saturating_add(nanos / 1_000))
}

impl From<FileStat> for Seen {
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::useless_conversion, reason = "on other systems a device is another kind of number")
    )]
    fn from(stat: FileStat) -> Self {
        let kind = match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFREG => Kind::File,
            SFlag::S_IFDIR => Kind::Folder,
            SFlag::S_IFLNK => Kind::Link,
            _ => Kind::Other,
        };
        Self {
            id: FileId { device: u64::try_from(stat.st_dev).unwrap_or_default(), inode: stat.st_ino },
            kind,
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            mode: stat.st_mode,
            owner: (stat.st_uid, stat.st_gid),
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

/// Why there is no descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    Os(Errno),
    /// It lies in one of the places that tools have to leave alone.
    Forbidden,
}

impl From<Errno> for Denied {
    fn from(errno: Errno) -> Self {
        Self::Os(errno)
    }
}

impl Root {
    pub(crate) fn new(path: &Path) -> Result<Self, Errno> {
        let folder = Arc::new(nix::fcntl::open(path, PASS, Mode::empty())?);
        // Whatever it is that stops this call: without it the careful way is taken.
        let beneath = open_beneath(&folder, Path::new("."), PASS, Links::Refused).is_ok();
        Ok(Self { folder, beneath })
    }

    pub(crate) fn id(&self) -> Result<FileId, Errno> {
        Ok(Seen::from(fstat(&self.folder)?).id)
    }

    pub(crate) fn identity(&self) -> Result<String, Errno> {
        let FileId { device, inode } = self.id()?;
        let found = self.folder.try_clone().and_then(|folder| File::from(folder).metadata());
        let made = found.and_then(|found| found.created()).ok();
        let made = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
        let made = made.map_or_else(|| "-".to_owned(), |made| made.as_nanos().to_string());
        Ok(format!("{device}:{inode}:{made}"))
    }

    pub(crate) fn follows_links(&self) -> bool {
        self.beneath
    }

    #[cfg(test)]
    pub(crate) fn without_openat2(self) -> Self {
        Self { beneath: false, ..self }
    }

    /// A folder, and no link on the way to it (`ELOOP`). `path` is plain: names only.
    pub(crate) fn folder(&self, path: &Path, forbidden: &BTreeSet<FileId>) -> Result<Folder, Denied> {
        self.open(path, PASS, forbidden)
    }

    fn open(&self, path: &Path, flags: OFlag, forbidden: &BTreeSet<FileId>) -> Result<Folder, Denied> {
        let descriptor = self.reach(path, flags)?;
        match self.climb(&descriptor, forbidden) {
            // A folder that we may not enter: nothing in it can be opened.
            Err(Denied::Os(Errno::EACCES)) if forbidden.is_empty() => {}
            climbed => climbed?,
        }
        Ok(Folder { descriptor })
    }

    fn reach(&self, path: &Path, flags: OFlag) -> Result<OwnedFd, Errno> {
        let whole = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        if self.beneath {
            open_beneath(&self.folder, whole, flags, Links::Refused)
        } else {
            openat(&self.step_by_step(whole)?, ".", flags, Mode::empty())
        }
    }

    /// A folder that can be listed, for somebody who goes from folder to folder. `above` is what was there, and not
    /// forbidden, when the folder above was opened the same way: if it still is the one above, so is nothing further up.
    pub(crate) fn listable(
        &self,
        path: &Path,
        above: Option<FileId>,
        forbidden: &BTreeSet<FileId>,
    ) -> Result<(Folder, Option<FileId>), Denied> {
        let descriptor = self.reach(path, LIST)?;
        let id = Seen::from(fstat(&descriptor)?).id;
        let known = above.is_some() && look(&descriptor, OsStr::new("..")).map(|seen| seen.id).ok() == above;
        if forbidden.contains(&id) || is_backup(&descriptor) {
            return Err(Denied::Forbidden);
        }
        if !known {
            self.climb(&descriptor, forbidden)?;
        }
        Ok((Folder { descriptor }, Some(id)))
    }

    fn step_by_step(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let mut here = openat(&self.folder, ".", PASS, Mode::empty())?;
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => here = step_into(&here, name)?,
                _ => return Err(Errno::EXDEV),
            }
        }
        Ok(here)
    }

    /// From the folder up to the root: none of them may be forbidden, and the root has to come.
    fn climb(&self, from: &OwnedFd, forbidden: &BTreeSet<FileId>) -> Result<(), Denied> {
        let root = self.id()?;
        let mut here = from.try_clone().map_err(|_full| Errno::EMFILE)?;
        for _ in 0..DEEPEST {
            let id = Seen::from(fstat(&here)?).id;
            if forbidden.contains(&id) || is_backup(&here) {
                return Err(Denied::Forbidden);
            }
            if id == root {
                return Ok(());
            }
            here = openat(&here, "..", PASS, Mode::empty())?;
        }
        Err(Denied::Os(Errno::EXDEV)) // it was moved out while we looked
    }

    /// Whether the root is a backup, or lies in one.
    pub(crate) fn is_in_backup(&self) -> Result<bool, Errno> {
        let mut here = openat(&self.folder, ".", PASS, Mode::empty())?;
        let mut last = None;
        for _ in 0..DEEPEST {
            let id = Some(Seen::from(fstat(&here)?).id);
            if is_backup(&here) {
                return Ok(true);
            }
            if last == id {
                break; // above the top there is the top
            }
            last = id;
            here = openat(&here, "..", PASS, Mode::empty())?;
        }
        Ok(false)
    }

    /// The root and every folder above it.
    pub(crate) fn lineage(&self) -> Result<Vec<FileId>, Errno> {
        let mut line = Vec::new();
        let mut here = openat(&self.folder, ".", PASS, Mode::empty())?;
        while line.len() < DEEPEST {
            let id = Seen::from(fstat(&here)?).id;
            if line.last() == Some(&id) {
                break; // above the top there is the top
            }
            line.push(id);
            here = openat(&here, "..", PASS, Mode::empty())?;
        }
        Ok(line)
    }

    /// Where `path` leads if links that stay inside are followed: relative to the root, free of links at the
    /// moment of the question, and never more than a hint, because it is opened without following any.
    #[cfg(target_os = "linux")]
    pub(crate) fn real_path(&self, path: &Path) -> Result<PathBuf, Errno> {
        if !self.beneath {
            return Err(Errno::ELOOP);
        }
        let target = open_beneath(&self.folder, path, OFlag::O_PATH | OFlag::O_CLOEXEC, Links::Inside)?;
        let inside = name_of(&target)?.strip_prefix(name_of(&self.folder)?).map(Path::to_path_buf);
        inside.map_err(|_outside| Errno::EXDEV)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn real_path(&self, _path: &Path) -> Result<std::path::PathBuf, Errno> {
        Err(Errno::ELOOP)
    }
}

/// What the kernel calls it now. Without `/proc` there is no answer, and then links are refused.
#[cfg(target_os = "linux")]
fn name_of(descriptor: &OwnedFd) -> Result<PathBuf, Errno> {
    use std::os::fd::AsRawFd;
    let link = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    nix::fcntl::readlink(link.as_str()).map(PathBuf::from).map_err(|_no_proc| Errno::ELOOP)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    Refused,
    Inside,
}

#[cfg(target_os = "linux")]
fn open_beneath(folder: &OwnedFd, path: &Path, flags: OFlag, links: Links) -> Result<OwnedFd, Errno> {
    use nix::fcntl::{OpenHow, ResolveFlag, openat2};
    let mut resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS;
    if links == Links::Refused {
        resolve |= ResolveFlag::RESOLVE_NO_SYMLINKS;
    }
    let how = OpenHow::new().flags(flags).resolve(resolve);
    // The kernel says "again" if something was renamed while it followed a `..` in a link.
    (0..32)
        .map(|_| openat2(folder, path, how))
        .find(|done| !matches!(done, Err(Errno::EAGAIN)))
        .unwrap_or(Err(Errno::EAGAIN))
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(_: &OwnedFd, _: &Path, _: OFlag, _: Links) -> Result<OwnedFd, Errno> {
    Err(Errno::ENOSYS)
}

fn step_into(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    openat(folder, name, PASS | OFlag::O_NOFOLLOW, Mode::empty()).map_err(|errno| {
        // A link is "no directory" here, as a file is. They are told apart for the message alone.
        let is_link = || look(folder, name).is_ok_and(|seen| seen.kind == Kind::Link);
        if errno == Errno::ENOTDIR && is_link() { Errno::ELOOP } else { errno }
    })
}

/// Whether a folder is a copy of an instance, with its keys. It is recognised by its mark, also after it was moved
/// or copied; the copies of earlier versions have none and are recognised by what is in them. Only files of the caller and
/// of root count: another user who can write to a folder above does not close what is below.
fn is_backup(folder: &OwnedFd) -> bool {
    let caller = Uid::effective().as_raw();
    let counts = |seen: Seen| seen.kind == Kind::File && (seen.owner.0 == caller || seen.owner.0 == 0);
    let has = |name: &str| look(folder, OsStr::new(name)).is_ok_and(counts);
    has(domain::BACKUP_MARK)
        || (["regent.db", "node", MANIFEST].into_iter().all(has) && holds_manifest(folder).unwrap_or(true))
}

const MANIFEST: &str = "manifest.json";

/// Whether the manifest begins as those of Regent do: its members are in order, and the first two are `at` and `audit`.
fn holds_manifest(folder: &OwnedFd) -> std::io::Result<bool> {
    const BEGINNING: u64 = 128;
    let (mut beginning, file) = (Vec::new(), openat(folder, MANIFEST, READ, Mode::empty())?);
    File::from(file).take(BEGINNING).read_to_end(&mut beginning)?;
    let beginning = String::from_utf8_lossy(&beginning);
    Ok(beginning.starts_with(r#"{"at":"#) && beginning.contains(r#","audit":"#))
}

fn look(folder: &OwnedFd, name: &OsStr) -> Result<Seen, Errno> {
    fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).map(Seen::from)
}

/// A folder beneath the root, wherever it is moved.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
}

impl Folder {
    pub(crate) fn seen(&self) -> Result<Seen, Errno> {
        fstat(&self.descriptor).map(Seen::from)
    }

    pub(crate) fn is_backup(&self) -> bool {
        is_backup(&self.descriptor)
    }

    /// What is there under this name; of a link, the link itself.
    pub(crate) fn look(&self, name: &OsStr) -> Result<Seen, Errno> {
        look(&self.descriptor, plain(name)?)
    }

    pub(crate) fn enter(&self, name: &OsStr) -> Result<Self, Errno> {
        step_into(&self.descriptor, plain(name)?).map(|descriptor| Self { descriptor })
    }

    /// For reading, and what it is. The caller looks at the kind before it reads.
    pub(crate) fn open(&self, name: &OsStr) -> Result<(File, Seen), Errno> {
        let descriptor = openat(&self.descriptor, plain(name)?, READ, Mode::empty())?;
        let seen = Seen::from(fstat(&descriptor)?);
        Ok((File::from(descriptor), seen))
    }

    /// A new file for writing; nobody else's (`EEXIST`).
    pub(crate) fn create(&self, name: &OsStr, mode: Mode) -> Result<File, Errno> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        openat(&self.descriptor, plain(name)?, flags, mode).map(File::from)
    }

    /// A new file without a name, which is gone when it is closed. Not every file system can.
    #[cfg(target_os = "linux")]
    pub(crate) fn create_unnamed(&self, mode: Mode) -> Result<File, Errno> {
        let flags = OFlag::O_WRONLY | OFlag::O_TMPFILE | OFlag::O_CLOEXEC;
        openat(&self.descriptor, ".", flags, mode).map(File::from)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn create_unnamed(&self, _: Mode) -> Result<File, Errno> {
        Err(Errno::ENOTSUP)
    }

    /// What a link says, which is not where it leads.
    pub(crate) fn read_link(&self, name: &OsStr) -> Result<OsString, Errno> {
        readlinkat(&self.descriptor, plain(name)?)
    }

    /// The same folder, so that it can be listed and flushed.
    pub(crate) fn listable(&self) -> Result<OwnedFd, Errno> {
        openat(&self.descriptor, ".", LIST, Mode::empty())
    }

    /// Shows everything in a folder that was opened to be listed, in no order, and what it is where the disk says so
    /// right away. The buffer is for the kernel, and can be used again.
    #[cfg(target_os = "linux")]
    pub(crate) fn each(
        &self,
        buffer: &mut Vec<u8>,
        mut show: impl FnMut(&OsStr, Option<Kind>) -> ControlFlow<()>,
    ) -> Result<(), Errno> {
        use rustix::fs::{FileType, RawDir};
        use std::os::unix::ffi::OsStrExt;
        buffer.clear();
        buffer.reserve(LISTED_BYTES);
        let mut entries = RawDir::new(&self.descriptor, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(|errno| Errno::from_raw(errno.raw_os_error()))?;
            let kind = match entry.file_type() {
                FileType::RegularFile => Some(Kind::File),
                FileType::Directory => Some(Kind::Folder),
                FileType::Symlink => Some(Kind::Link),
                FileType::Unknown => None,
                _ => Some(Kind::Other),
            };
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") && show(OsStr::from_bytes(name), kind).is_break() {
                break;
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn each(
        &self,
        _buffer: &mut Vec<u8>,
        mut show: impl FnMut(&OsStr, Option<Kind>) -> ControlFlow<()>,
    ) -> Result<(), Errno> {
        use nix::dir::{Dir, Type};
        use std::os::unix::ffi::OsStrExt;
        for entry in Dir::from_fd(self.listable()?)?.iter() {
            let entry = entry?;
            let kind = entry.file_type().map(|kind| match kind {
                Type::File => Kind::File,
                Type::Directory => Kind::Folder,
                Type::Symlink => Kind::Link,
                _ => Kind::Other,
            });
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") && show(OsStr::from_bytes(name), kind).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Whether nothing at all is in it.
    pub(crate) fn is_empty(&self) -> Result<bool, Errno> {
        let mut empty = true;
        let listed = Self { descriptor: self.listable()? };
        listed.each(&mut Vec::new(), |_, _| {
            empty = false;
            ControlFlow::Break(())
        })?;
        Ok(empty)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// One name, which cannot lead anywhere else.
fn plain(name: &OsStr) -> Result<&OsStr, Errno> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(only)), None) if only == name => Ok(name),
        _ => Err(Errno::EXDEV),
    }
}
