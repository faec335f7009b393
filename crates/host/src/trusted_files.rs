//! Files that the program obeys: settings, policies, keys, the database and everything else of the instance.
//!
//! INVARIANT (trusted): what is read here belongs to the caller or to root, no other user can write it, and the same holds for
//! every folder and every link on the way to it, from `/` on. A folder in which all users make files of their own and
//! change no others (`/tmp`: sticky, owned by root or the caller) is fine on the way, and so is a group that has the name of
//! the caller or of root and no other members.
//!
//! The way is walked by descriptors, one name at a time, and what is read is the descriptor that was checked. Pipes,
//! devices and sockets are refused before they are opened: nothing here waits.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use app::{Code, Problem};
use nix::unistd::{Gid, Group, Uid, User};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// What the kernel says of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileAttributes {
    kind: FileType,
    uid: u32,
    gid: u32,
    mode: u32,
}

impl From<&Stat> for FileAttributes {
    fn from(stat: &Stat) -> Self {
        let kind = FileType::from_raw_mode(stat.st_mode);
        Self { kind, uid: stat.st_uid, gid: stat.st_gid, mode: stat.st_mode }
    }
}

/// Why something is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TrustFlaw {
    Owner(u32),
    Group(u32),
    Others,
    /// A folder in which all users make files is no folder for an instance.
    Shared,
}

/// A file or folder that is not trusted, and why. An [`io::Error`] carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedFile {
    path: PathBuf,
    found: FileAttributes,
    flaw: TrustFlaw,
}

/// Whose files count, and which groups have no members but them.
struct TrustedCaller<'a> {
    uid: u32,
    is_private: &'a dyn Fn(u32) -> bool,
}

/// What is looked at: something on the way, or what is at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathPosition {
    Way,
    End,
}

impl TrustedCaller<'_> {
    fn judge(&self, found: &FileAttributes, at: PathPosition) -> Result<(), TrustFlaw> {
        if found.uid != self.uid && found.uid != 0 {
            return Err(TrustFlaw::Owner(found.uid));
        }
        if found.kind == FileType::Symlink {
            return Ok(()); // only its owner changes where it leads
        }
        let is_shared = found.kind == FileType::Directory && found.mode & 0o1000 != 0;
        let (others, group) = (found.mode & 0o002 != 0, found.mode & 0o020 != 0);
        match at {
            PathPosition::Way if is_shared => Ok(()),
            PathPosition::End if is_shared && others => Err(TrustFlaw::Shared),
            _ if others => Err(TrustFlaw::Others),
            _ if group && !(self.is_private)(found.gid) => Err(TrustFlaw::Group(found.gid)),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for UntrustedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.flaw {
            TrustFlaw::Owner(uid) => write!(f, "{path} belongs to user {}, not to you", describe_user(*uid)),
            TrustFlaw::Group(gid) => write!(f, "group {} can write {path}", describe_group(*gid)),
            TrustFlaw::Others => write!(f, "others can write {path}"),
            TrustFlaw::Shared => write!(f, "all users can make files in {path}"),
        }
    }
}

impl std::error::Error for UntrustedFile {}

impl UntrustedFile {
    /// What an error says, if it says this.
    pub fn within(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// What puts it right, once the owner has seen what is in it. The rights of a folder of another user, and of `/`, are
    /// not the caller's to change: other programs rely on them.
    fn mend(&self, caller: u32) -> String {
        let path = quote(&self.path);
        let (is_own, is_file) = (self.found.uid == caller, self.found.kind == FileType::RegularFile);
        let is_top = self.path.parent().is_none();
        match self.flaw {
            TrustFlaw::Owner(_) if is_file => format!("sudo chown {caller} {path}"),
            TrustFlaw::Group(_) | TrustFlaw::Others if is_own && !is_top => format!("chmod go-w {path}"),
            TrustFlaw::Group(_) | TrustFlaw::Others if is_file => format!("sudo chmod go-w {path}"),
            TrustFlaw::Shared if !is_top => format!("mkdir -m 700 {}", quote(&self.path.join("regent"))),
            _ => "choose another folder: REGENT_HOME=<folder of your own>".into(),
        }
    }

    pub fn problem(&self) -> Problem {
        Problem::new(Code::UNTRUSTED, self.to_string())
            .safe("nothing was touched")
            .remedy(self.mend(Uid::effective().as_raw()))
            .remedy("regent explain R4009")
    }

    /// The finding's remedy, and what other problems add.
    pub fn hint(&self) -> String {
        format!("{self}; {}", self.mend(Uid::effective().as_raw()))
    }
}

/// What is wrong, with the command that mends it where that is known.
pub(crate) fn explain(error: &io::Error) -> String {
    UntrustedFile::within(error).map_or_else(|| error.to_string(), UntrustedFile::hint)
}

/// A path as a shell reads it.
pub(crate) fn quote(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if path.chars().all(is_plain) { path.into_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// A user in words: the name, where there is one, and the number.
pub(crate) fn describe_user(uid: u32) -> String {
    let name = User::from_uid(Uid::from_raw(uid)).ok().flatten().map(|user| user.name);
    name.map_or_else(|| uid.to_string(), |name| format!("{name} ({uid})"))
}

fn describe_group(gid: u32) -> String {
    let name = Group::from_gid(Gid::from_raw(gid)).ok().flatten().map(|group| group.name);
    name.map_or_else(|| gid.to_string(), |name| format!("{name} ({gid})"))
}

/// Whether a group is the own one of the caller or of root: their first, with their name, and without other members.
fn is_private(gid: u32) -> bool {
    let Some(group) = Group::from_gid(Gid::from_raw(gid)).ok().flatten() else { return false };
    let own = |uid: Uid| {
        let user = User::from_uid(uid).ok().flatten();
        user.is_some_and(|user| {
            user.gid == group.gid
                && user.name == group.name
                && group.mem.iter().all(|name| *name == user.name)
        })
    };
    own(Uid::effective()) || own(Uid::from_raw(0))
}

/// Whether a link at the end may lead to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkPolicy {
    Followed,
    Refused,
}

/// Where a walk came to.
enum WalkEnd {
    /// There is no such name. What is there of the way can be trusted.
    Missing,
    Folder,
    /// A file, and its name in the folder that the walk ended in.
    File {
        found: OwnedFd,
        name: OsString,
        path: PathBuf,
    },
}

const PASS: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const READ: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
const MOST_LINKS: usize = 40;

fn not_a_file() -> io::Error {
    io::Error::other("it is no file")
}

/// One walk from `/` to a path.
struct TrustedWalk<'a> {
    caller: TrustedCaller<'a>,
    here: OwnedFd,
    /// Where `here` is, free of links.
    at: PathBuf,
    /// The names to come, and the link that each is part of.
    left: VecDeque<(OsString, Option<PathBuf>)>,
    links: usize,
    /// What a folder is that the walk ends in.
    end: PathPosition,
}

fn open_root() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/", PASS | OFlags::DIRECTORY, Mode::empty())?)
}

fn name_of(part: Component<'_>) -> Option<OsString> {
    match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    }
}

impl<'a> TrustedWalk<'a> {
    fn new(path: &Path, caller: TrustedCaller<'a>) -> io::Result<Self> {
        let left =
            std::path::absolute(path)?.components().filter_map(name_of).map(|name| (name, None)).collect();
        Ok(Self {
            caller,
            here: open_root()?,
            at: PathBuf::from("/"),
            left,
            links: 0,
            end: PathPosition::End,
        })
    }

    /// Goes on from a folder that another walk came to.
    fn within(folder: &TrustedFolder, name: &OsStr, caller: TrustedCaller<'a>) -> io::Result<Self> {
        let left = VecDeque::from([(name.to_owned(), None)]);
        Ok(Self {
            caller,
            here: folder.here.try_clone()?,
            at: folder.at.clone(),
            left,
            links: 0,
            end: PathPosition::End,
        })
    }

    fn judge(&self, found: &OwnedFd, path: &Path, at: PathPosition) -> io::Result<FileAttributes> {
        self.judge_attributes(FileAttributes::from(&rustix::fs::fstat(found)?), path, at)
    }

    fn judge_attributes(
        &self,
        found: FileAttributes,
        path: &Path,
        at: PathPosition,
    ) -> io::Result<FileAttributes> {
        match self.caller.judge(&found, at) {
            Ok(()) => Ok(found),
            Err(flaw) => Err(io::Error::other(UntrustedFile { path: path.to_owned(), found, flaw })),
        }
    }

    fn run(&mut self, links: LinkPolicy) -> io::Result<WalkEnd> {
        self.judge(&self.here, &self.at, PathPosition::Way)?;
        while let Some((name, link)) = self.left.pop_front() {
            let path = match self.at.parent().filter(|_| name == "..") {
                Some(above) => above.to_owned(),
                None => self.at.join(&name),
            };
            let found = match (rustix::fs::openat(&self.here, &name, PASS, Mode::empty()), link) {
                (Ok(found), _) => found,
                // A link that leads nowhere is there: its owner meant something by it.
                (Err(Errno::NOENT), Some(link)) => {
                    let what = format!("{} is a link that leads nowhere", link.display());
                    return Err(io::Error::other(what));
                }
                (Err(Errno::NOENT), None) => return Ok(WalkEnd::Missing),
                (Err(error), _) => return Err(error.into()),
            };
            let is_end = self.left.is_empty();
            let attributes = FileAttributes::from(&rustix::fs::fstat(&found)?);
            match attributes.kind {
                FileType::Symlink if is_end && links == LinkPolicy::Refused => {
                    return Err(io::Error::other("it is a link; put the file itself there"));
                }
                FileType::Symlink => {
                    self.judge_attributes(attributes, &path, PathPosition::Way)?;
                    self.follow(&found, &path)?;
                }
                FileType::Directory => {
                    let position = if is_end { self.end } else { PathPosition::Way };
                    self.judge_attributes(attributes, &path, position)?;
                    (self.here, self.at) = (found, path);
                }
                _ if !is_end => return Ok(WalkEnd::Missing),
                FileType::RegularFile => {
                    return Ok(WalkEnd::File { found, name, path });
                }
                _ => return Err(not_a_file()),
            }
        }
        Ok(WalkEnd::Folder)
    }

    fn follow(&mut self, link: &OwnedFd, path: &Path) -> io::Result<()> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        let target = rustix::fs::readlinkat(link, "", Vec::new())?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            (self.here, self.at) = (open_root()?, PathBuf::from("/"));
        }
        let names: Vec<OsString> = target.components().filter_map(name_of).collect();
        names.into_iter().rev().for_each(|name| self.left.push_front((name, Some(path.to_owned()))));
        Ok(())
    }

    /// The file at its end, open for reading.
    fn open(mut self, links: LinkPolicy) -> io::Result<Option<File>> {
        let (name, path) = match self.run(links)? {
            WalkEnd::Missing => return Ok(None),
            WalkEnd::Folder => return Err(not_a_file()),
            WalkEnd::File { name, path, .. } => (name, path),
        };
        let file = match rustix::fs::openat(&self.here, &name, READ, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            file => file?,
        };
        // What counts is what was opened, not what had the name before.
        match self.judge(&file, &path, PathPosition::End)?.kind {
            FileType::RegularFile => Ok(Some(File::from(file))),
            _ => Err(not_a_file()),
        }
    }
}

/// A folder at the end of a trusted way, held open, so that several files in it need one walk.
#[derive(Debug)]
pub(crate) struct TrustedFolder {
    here: OwnedFd,
    /// Where it is, free of links.
    at: PathBuf,
}

impl TrustedFolder {
    /// The folder that a file is in. `None`: it is not there.
    pub(crate) fn of(path: &Path) -> io::Result<Option<Self>> {
        let Some(folder) = path.parent() else { return Ok(None) };
        let mut walk = TrustedWalk::new(folder, identify_caller())?;
        walk.end = PathPosition::Way; // to the files in it
        match walk.run(LinkPolicy::Followed)? {
            WalkEnd::Folder => Ok(Some(Self { here: walk.here, at: walk.at })),
            WalkEnd::Missing | WalkEnd::File { .. } => Ok(None),
        }
    }

    /// A text file in it; nothing if it is not there. The folder and the file are judged as they are now.
    pub(crate) fn read_text(&self, name: &OsStr) -> io::Result<Option<String>> {
        let file = TrustedWalk::within(self, name, identify_caller())?.open(LinkPolicy::Followed)?;
        file.map(|file| read(&file, TEXT_BYTES).and_then(decode_utf8)).transpose()
    }
}

fn identify_caller() -> TrustedCaller<'static> {
    TrustedCaller { uid: Uid::effective().as_raw(), is_private: &is_private }
}

/// A file of the instance, open for reading; nothing if it is not there.
pub(crate) fn open(path: &Path, links: LinkPolicy) -> io::Result<Option<File>> {
    TrustedWalk::new(path, identify_caller())?.open(links)
}

/// Looks at a file that is opened elsewhere by its name; that it is not there is fine. It is not opened: closing a
/// database's file gives up every lock that the process holds on it.
pub(crate) fn check_file(path: &Path) -> io::Result<()> {
    let mut walk = TrustedWalk::new(path, identify_caller())?;
    match walk.run(LinkPolicy::Followed)? {
        WalkEnd::Missing => Ok(()),
        WalkEnd::Folder => Err(not_a_file()),
        WalkEnd::File { found, path, .. } => walk.judge(&found, &path, PathPosition::End).map(drop),
    }
}

/// Whether a folder of the instance is there. Where it is not, what is there of the way to it can be trusted.
pub(crate) fn check_folder(path: &Path) -> io::Result<bool> {
    match TrustedWalk::new(path, identify_caller())?.run(LinkPolicy::Followed)? {
        WalkEnd::Missing => Ok(false),
        WalkEnd::Folder => Ok(true),
        WalkEnd::File { .. } => Err(io::Error::other("it is no folder")),
    }
}

/// The bytes of a small file of the instance.
pub(crate) fn read_bytes(path: &Path, largest: u64) -> io::Result<Option<Vec<u8>>> {
    open(path, LinkPolicy::Followed)?.map(|file| read(&file, largest)).transpose()
}

/// A text file of the instance; nothing if it is not there.
pub(crate) fn read_text(path: &Path) -> io::Result<Option<String>> {
    read_bytes(path, TEXT_BYTES)?.map(decode_utf8).transpose()
}

/// Reads a text file that the owner named, in any folder and by any author. `None`: it is not there.
///
/// # Errors
/// If it cannot be read, is too large or is not UTF-8.
pub fn read_named_text(path: &Path) -> io::Result<Option<String>> {
    open_named(path)?.map(|file| read(&file, TEXT_BYTES).and_then(decode_utf8)).transpose()
}

/// A file that the owner named, open for reading. A pipe is not waited for.
pub(crate) fn open_named(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) if path.is_symlink() => {
            return Err(io::Error::other(format!("{} is a link that leads nowhere", path.display())));
        }
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        file => File::from(file?),
    };
    if file.metadata()?.is_file() { Ok(Some(file)) } else { Err(not_a_file()) }
}

const TEXT_BYTES: u64 = 1024 * 1024;

fn read(file: &File, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = file.take(largest + 1).read_to_end(&mut bytes)?;
    if length as u64 > largest {
        return Err(io::Error::other(format!("it is larger than {largest} bytes")));
    }
    Ok(bytes)
}

fn decode_utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_not_text| io::Error::other("it is not UTF-8"))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "files of the tests")]
mod tests {
    use super::{
        FileAttributes, LinkPolicy, PathPosition, TrustFlaw, TrustedCaller, TrustedFolder, UntrustedFile,
        check_file, check_folder, open, read_text,
    };
    use rustix::fs::FileType;
    use std::ffi::OsStr;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    const ME: u32 = 1000;
    const OWN_GROUP: u32 = 100;

    fn me() -> TrustedCaller<'static> {
        TrustedCaller { uid: ME, is_private: &|gid| gid == OWN_GROUP }
    }

    #[test]
    fn what_is_trusted_and_why_the_rest_is_not() {
        let (file, directory, link) = (FileType::RegularFile, FileType::Directory, FileType::Symlink);
        type Row = (FileType, u32, u32, u32, PathPosition, Result<(), TrustFlaw>);
        let table: &[Row] = &[
            (file, ME, 7, 0o600, PathPosition::End, Ok(())),
            (file, ME, 7, 0o644, PathPosition::End, Ok(())),
            (file, 0, 0, 0o644, PathPosition::End, Ok(())),
            (file, 1001, 7, 0o600, PathPosition::End, Err(TrustFlaw::Owner(1001))),
            (file, ME, 7, 0o666, PathPosition::End, Err(TrustFlaw::Others)),
            (file, ME, 7, 0o602, PathPosition::End, Err(TrustFlaw::Others)),
            (file, ME, 7, 0o1602, PathPosition::End, Err(TrustFlaw::Others)),
            (file, ME, 7, 0o660, PathPosition::End, Err(TrustFlaw::Group(7))),
            (file, ME, OWN_GROUP, 0o660, PathPosition::End, Ok(())),
            (file, ME, OWN_GROUP, 0o662, PathPosition::End, Err(TrustFlaw::Others)),
            (directory, ME, 7, 0o755, PathPosition::Way, Ok(())),
            (directory, 0, 0, 0o1777, PathPosition::Way, Ok(())),
            (directory, ME, 7, 0o1777, PathPosition::Way, Ok(())),
            (directory, 0, 7, 0o1770, PathPosition::Way, Ok(())),
            (directory, 1001, 7, 0o1777, PathPosition::Way, Err(TrustFlaw::Owner(1001))),
            (directory, 0, 0, 0o777, PathPosition::Way, Err(TrustFlaw::Others)),
            (directory, 0, 7, 0o775, PathPosition::Way, Err(TrustFlaw::Group(7))),
            (directory, 0, 0, 0o1777, PathPosition::End, Err(TrustFlaw::Shared)),
            (directory, ME, 7, 0o1770, PathPosition::End, Err(TrustFlaw::Group(7))),
            (directory, ME, 7, 0o777, PathPosition::End, Err(TrustFlaw::Others)),
            (link, ME, 7, 0o777, PathPosition::Way, Ok(())),
            (link, 0, 0, 0o777, PathPosition::Way, Ok(())),
            (link, 1001, 7, 0o777, PathPosition::Way, Err(TrustFlaw::Owner(1001))),
        ];
        for (kind, uid, gid, mode, at, expected) in table {
            let found = FileAttributes { kind: *kind, uid: *uid, gid: *gid, mode: *mode };
            assert_eq!(me().judge(&found, *at), *expected, "{found:?} {at:?}");
        }
    }

    #[test]
    fn a_remedy_is_a_command_for_what_the_caller_owns_and_another_folder_otherwise() {
        let (file, directory, link) = (FileType::RegularFile, FileType::Directory, FileType::Symlink);
        let other = "choose another folder: REGENT_HOME=<folder of your own>";
        let table = [
            ("/a/b", directory, ME, TrustFlaw::Others, "chmod go-w /a/b"),
            ("/a/b", directory, ME, TrustFlaw::Group(7), "chmod go-w /a/b"),
            ("/a b/it's", file, ME, TrustFlaw::Others, r"chmod go-w '/a b/it'\''s'"),
            ("/a;x", directory, ME, TrustFlaw::Others, "chmod go-w '/a;x'"),
            ("/a/b", directory, 0, TrustFlaw::Others, other),
            ("/a/b", directory, 0, TrustFlaw::Group(7), other),
            ("/a/b", directory, 1001, TrustFlaw::Owner(1001), other),
            ("/a/b", link, 1001, TrustFlaw::Owner(1001), other),
            ("/", directory, 0, TrustFlaw::Others, other),
            ("/", directory, ME, TrustFlaw::Others, other),
            ("/", directory, 1001, TrustFlaw::Owner(1001), other),
            ("/", directory, 0, TrustFlaw::Shared, other),
            ("/a b", directory, 0, TrustFlaw::Shared, "mkdir -m 700 '/a b/regent'"),
            ("/a/b c", file, 1001, TrustFlaw::Owner(1001), "sudo chown 1000 '/a/b c'"),
            ("/a/b", file, 0, TrustFlaw::Others, "sudo chmod go-w /a/b"),
        ];
        for (path, kind, uid, flaw, expected) in table {
            let found = FileAttributes { kind, uid, gid: 7, mode: 0 };
            let untrusted = UntrustedFile { path: path.into(), found, flaw };
            assert_eq!(untrusted.mend(ME), expected, "{untrusted:?}");
        }
    }

    fn mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("mode");
    }

    #[test]
    fn a_file_is_read_only_if_it_and_everything_on_the_way_is_trusted() {
        let place = tempfile::tempdir().expect("folder");
        let (above, instance) = (place.path().join("a"), place.path().join("a/b"));
        std::fs::create_dir_all(&instance).expect("folders");
        let path = instance.join("regent.toml");
        assert_eq!(read_text(&path).expect("nothing"), None);
        std::fs::write(&path, "x").expect("write");
        assert_eq!(read_text(&path).expect("a text").as_deref(), Some("x"));
        let flawed = |path: &Path, flawed: &Path| {
            let error = read_text(path).expect_err("not trusted");
            let found = UntrustedFile::within(&error).unwrap_or_else(|| panic!("{error}"));
            assert_eq!((found.path.as_path(), &found.flaw), (flawed, &TrustFlaw::Others));
            assert!(found.hint().ends_with(&format!("; chmod go-w {}", flawed.display())));
            assert!(check_file(path).is_err());
        };
        for (which, bad, good) in [(&path, 0o666, 0o600), (&instance, 0o757, 0o700), (&above, 0o757, 0o755)] {
            mode(which, bad);
            flawed(&path, which);
            mode(which, good);
        }
        mode(&above, 0o1777);
        assert_eq!(read_text(&path).expect("a text").as_deref(), Some("x"), "everybody has their own there");
        assert!(check_folder(&above).is_err(), "but it is no folder for an instance");
        assert!(
            check_folder(&instance).expect("a folder") && !check_folder(&instance.join("new")).expect("none")
        );
        mode(&above, 0o757);
        assert!(check_folder(&above.join("new")).is_err(), "another user could make it first");
    }

    #[test]
    fn files_of_a_folder_that_is_held_are_judged_as_they_are_when_they_are_read() {
        let place = tempfile::tempdir().expect("folder");
        let instance = place.path().join("a");
        std::fs::create_dir(&instance).expect("folder");
        let path = instance.join("tip");
        std::fs::write(&path, "x").expect("write");
        symlink("tip", instance.join("link")).expect("link");
        let folder = TrustedFolder::of(&path).expect("trusted").expect("a folder");
        let read = |name: &str| folder.read_text(OsStr::new(name));
        for (name, expected) in [("tip", Some("x")), ("link", Some("x")), ("missing", None)] {
            assert_eq!(read(name).expect("a text").as_deref(), expected, "{name}");
        }
        for (which, bad, good) in [(&path, 0o666, 0o600), (&instance, 0o757, 0o700)] {
            mode(which, bad);
            let error = read("tip").expect_err("not trusted");
            let found = UntrustedFile::within(&error).expect("a finding");
            assert_eq!((found.path.as_path(), &found.flaw), (which.as_path(), &TrustFlaw::Others));
            mode(which, good);
        }
        std::fs::rename(&instance, place.path().join("aside")).expect("rename");
        assert_eq!(read("tip").expect("a text").as_deref(), Some("x"), "it is still the same folder");
        assert!(TrustedFolder::of(&path).expect("nothing").is_none());
        std::fs::write(&instance, "").expect("write");
        assert!(TrustedFolder::of(&path).expect("nothing").is_none(), "a file is no folder");
    }

    #[test]
    fn links_are_followed_along_a_trusted_way_only() {
        let place = tempfile::tempdir().expect("folder");
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir_all(at("real/deep")).expect("folders");
        std::fs::write(at("real/deep/f"), "x").expect("write");
        symlink("real", at("relative")).expect("link");
        symlink(at("real/deep"), at("absolute")).expect("link");
        symlink("../deep/../deep/f", at("real/deep/dots")).expect("link");
        symlink("loop", at("loop")).expect("link");
        symlink("nowhere", at("dangling")).expect("link");
        for name in ["relative/deep/f", "absolute/f", "absolute/dots", "real/../absolute/dots"] {
            assert_eq!(
                read_text(&at(name)).unwrap_or_else(|error| panic!("{name}: {error}")).as_deref(),
                Some("x")
            );
        }
        assert_eq!(read_text(&at("relative/missing")).expect("nothing"), None);
        assert_eq!(read_text(&at("real/deep/f/below")).expect("nothing"), None);
        assert!(read_text(&at("loop")).is_err());
        let nowhere = read_text(&at("dangling")).expect_err("nowhere").to_string();
        assert_eq!(nowhere, format!("{} is a link that leads nowhere", at("dangling").display()));
        let link = open(&at("absolute/dots"), LinkPolicy::Refused).expect_err("a link").to_string();
        assert_eq!(link, "it is a link; put the file itself there");
        mode(&at("real"), 0o757);
        assert!(read_text(&at("absolute/f")).is_err(), "what it leads to lies in an open folder");
    }

    #[test]
    fn a_link_of_another_user_is_not_followed() {
        if !nix::unistd::Uid::effective().is_root() {
            return eprintln!("skipped: only root can give a link away");
        }
        let place = tempfile::tempdir().expect("folder");
        std::fs::write(place.path().join("f"), "x").expect("write");
        let link = place.path().join("link");
        symlink("f", &link).expect("link");
        assert!(read_text(&link).is_ok());
        std::os::unix::fs::lchown(&link, Some(1001), None).expect("lchown");
        let error = read_text(&link).expect_err("not trusted");
        assert_eq!(UntrustedFile::within(&error).map(|found| &found.flaw), Some(&TrustFlaw::Owner(1001)));
    }

    #[test]
    fn a_pipe_or_a_device_is_refused_and_not_waited_for() {
        let place = tempfile::tempdir().expect("folder");
        let pipe = place.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o600)).expect("pipe");
        for path in [&pipe, Path::new("/dev/null"), place.path()] {
            assert_eq!(
                read_text(path).expect_err("no file").to_string(),
                "it is no file",
                "{}",
                path.display()
            );
            assert!(check_file(path).is_err());
        }
        assert!(super::read_named_text(&pipe).is_err());
        let mut options = std::fs::OpenOptions::new();
        assert!(crate::files::open_to_write(options.append(true), &pipe).is_err());
    }
}
