//! The one folder that the file tools may look into, and the only way to name something in it.
//!
//! INVARIANT (confined): whatever is read, listed or written was reached from the descriptor of the workspace
//! without following a link, see [`crate::confined`]. There is no gap between asking and opening: what is said
//! about a file comes from the descriptor that it is read from.
//!
//! A link that stays inside can be read through. Where it leads is asked once, and the answer is only a path,
//! which is then opened as any other. A link with an absolute target is refused, wherever it leads.
//!
//! Some places inside can be forbidden ([`Workspace::without`]): the house's own data, for one. They are
//! known by device and inode, asked anew for every folder that is opened, not by name. Copies of an instance are closed
//! wherever they lie: a backup holds the keys of the audit and everything that was ever said.

#![expect(clippy::disallowed_methods, reason = "this is where paths of the workspace meet the disk")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use domain::call::Failure;
use nix::errno::Errno;

use crate::confined::{Denied, FileId, Folder, Kind, Root, Seen};
use crate::names::{check_path, leads_out, too_long};
use crate::stopping;

#[derive(Clone, Debug)]
pub struct Workspace {
    /// Canonical when it was opened. For people, and to see whether another folder was put in its place.
    path: PathBuf,
    root: Root,
    forbidden: Vec<PathBuf>,
    /// Whether the whole workspace lies in a forbidden place, or in a backup.
    closed: bool,
}

/// A regular file, open for reading.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) seen: Seen,
    /// Relative to the workspace, free of links.
    pub(crate) path: PathBuf,
}

/// Where a file is or could be: a folder that is open, and a name in it.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) folder: Folder,
    pub(crate) name: &'a OsStr,
}

impl Workspace {
    /// # Errors
    /// If there is no folder at `root`, or it cannot be read.
    pub fn new(root: PathBuf) -> Result<Self, Failure> {
        let shown = root.display();
        let path = fs::canonicalize(&root).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failure::environmental(format!("`{shown}` does not exist")),
            _ => unreadable(&shown.to_string(), &error),
        })?;
        let root = Root::new(&path).map_err(|errno| match errno {
            Errno::ENOTDIR => Failure::environmental(format!("`{shown}` is not a folder")),
            _ => unreadable(&shown.to_string(), &errno.into()),
        })?;
        // What is above it and cannot be read could be anything.
        let closed = root.is_in_backup().unwrap_or(true);
        Ok(Self { path, root, forbidden: Vec::new(), closed })
    }

    /// The same workspace, in which the folders at these absolute places are neither read nor written.
    #[must_use]
    pub fn without(mut self, places: &[PathBuf]) -> Self {
        self.forbidden.extend_from_slice(places);
        let known = self.known_forbidden();
        // A lineage that cannot be read could contain anything.
        self.closed |= self.root.lineage().map_or(true, |line| line.iter().any(|id| known.contains(id)));
        self
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// The folder that was opened, whatever its path leads to now: device, inode and, where the file system knows it, when
    /// it was made.
    pub(crate) fn identity(&self) -> String {
        self.root.identity().unwrap_or_else(|errno| format!("unknown: {errno}"))
    }

    /// Whether its path still leads to the folder that was opened, and not to another one put in its place.
    pub(crate) fn is_in_place(&self) -> bool {
        let found = fs::metadata(&self.path).map(|found| FileId::of(&found));
        found.is_ok_and(|found| self.root.id() == Ok(found))
    }

    #[cfg(test)]
    pub(crate) fn without_openat2(self) -> Self {
        Self { root: self.root.without_openat2(), ..self }
    }

    fn known_forbidden(&self) -> BTreeSet<FileId> {
        self.forbidden
            .iter()
            .filter_map(|place| fs::metadata(place).ok())
            .map(|found| FileId::of(&found))
            .collect()
    }

    /// A folder by its path relative to the workspace, no links followed.
    pub(crate) fn folder_at(&self, path: &Path) -> Result<Folder, Denied> {
        if self.closed {
            return Err(Denied::Forbidden);
        }
        self.root.folder(path, &self.known_forbidden())
    }

    /// For somebody who opens many folders: what is forbidden is asked now, and at the end whether that still holds.
    pub(crate) fn ground(&self) -> Ground<'_> {
        Ground { workspace: self, forbidden: self.known_forbidden() }
    }

    pub(crate) fn is_forbidden(&self, folder: &Folder) -> Result<bool, Errno> {
        let id = folder.seen()?.id;
        Ok(self.closed || folder.is_backup() || self.known_forbidden().contains(&id))
    }

    /// A regular file, for reading. Opening a pipe or a device could wait for ever; it is refused.
    pub(crate) fn file(&self, relative: &str) -> Result<Opened, Failure> {
        let opened = self.inside(relative, |path| self.open(path))?;
        let opened = opened.ok_or_else(|| missing(relative))?;
        match opened.seen.kind {
            Kind::File => Ok(opened),
            Kind::Folder => Err(Failure::logical(format!("`{relative}` is a folder, not a file"))),
            Kind::Link | Kind::Other => Err(not_regular(relative)),
        }
    }

    /// The path of a folder, free of links and relative to the workspace.
    pub(crate) fn folder(&self, relative: &str) -> Result<PathBuf, Failure> {
        match self.look_up(relative)? {
            Some((path, Kind::Folder)) => Ok(path),
            Some(_) => Err(Failure::logical(format!("`{relative}` is not a folder"))),
            None => Err(missing(relative)),
        }
    }

    /// For those to whom a missing path is an answer: where it is, and what.
    pub(crate) fn look_up(&self, relative: &str) -> Result<Option<(PathBuf, Kind)>, Failure> {
        self.inside(relative, |path| {
            let (parent, name) = split(path);
            let kind = match name {
                Some(name) => self.folder_at(parent)?.look(name)?.kind,
                None => self.folder_at(path)?.seen()?.kind,
            };
            match kind {
                Kind::Link => Err(Denied::Os(Errno::ELOOP)),
                // Opened once, because it may be a forbidden one.
                Kind::Folder => self.folder_at(path).map(|_open| (path.to_path_buf(), kind)),
                Kind::File | Kind::Other => Ok((path.to_path_buf(), kind)),
            }
        })
    }

    fn open(&self, path: &Path) -> Result<Opened, Denied> {
        let (parent, name) = split(path);
        let (file, seen) = match name {
            Some(name) => self.folder_at(parent)?.open(name)?,
            None => {
                let folder = self.folder_at(path)?;
                (File::from(folder.listable()?), folder.seen()?)
            }
        };
        Ok(Opened { file, seen, path: path.into() })
    }

    /// Asks with the plain path, and if a link is in the way, once more with where the link leads.
    fn inside<T>(
        &self,
        relative: &str,
        ask: impl Fn(&Path) -> Result<T, Denied>,
    ) -> Result<Option<T>, Failure> {
        check_path(relative)?;
        let path = tidied(relative);
        let done = match ask(&path) {
            Err(Denied::Os(Errno::ELOOP)) if self.root.follows_links() => {
                self.root.real_path(&path).map_err(Denied::Os).and_then(|real| ask(&real))
            }
            other => other,
        };
        match done {
            Ok(found) => Ok(Some(found)),
            Err(Denied::Os(Errno::ENOENT | Errno::ENOTDIR)) => Ok(None),
            Err(Denied::Os(Errno::ELOOP)) if !self.root.follows_links() => Err(through_a_link(relative)),
            Err(Denied::Os(Errno::ENXIO)) => Err(not_regular(relative)), // what opening a socket says
            Err(denied) => Err(refused(relative, denied)),
        }
    }

    /// Where something is to be changed: no link on the way to it at all.
    pub(crate) fn place<'a>(&self, relative: &'a str) -> Result<Place<'a>, Failure> {
        let path = Path::new(relative);
        let (Some(name), parent) = (path.file_name(), path.parent().unwrap_or(Path::new(""))) else {
            return Err(Failure::logical(format!("`{relative}` is a folder, not a file")));
        };
        let parent = tidied(&parent.to_string_lossy());
        match self.folder_at(&parent) {
            Ok(folder) => Ok(Place { folder, name }),
            Err(Denied::Os(Errno::ENOENT | Errno::ENOTDIR)) => Err(missing(relative)),
            Err(Denied::Os(Errno::ELOOP)) => Err(through_a_link(relative)),
            Err(denied) => Err(refused(relative, denied)),
        }
    }
}

/// A workspace while it is walked through.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) workspace: &'a Workspace,
    forbidden: BTreeSet<FileId>,
}

impl Ground<'_> {
    /// A folder that can be listed, and what to give for `above` when one of those in it is opened.
    pub(crate) fn listable(
        &self,
        path: &Path,
        above: Option<FileId>,
    ) -> Result<(Folder, Option<FileId>), Denied> {
        if self.workspace.closed {
            return Err(Denied::Forbidden);
        }
        self.workspace.root.listable(path, above, &self.forbidden)
    }

    /// # Errors
    /// If other places are forbidden now than at the beginning: then nobody knows what was seen.
    pub(crate) fn check_unchanged(&self) -> Result<(), Failure> {
        if self.workspace.known_forbidden() == self.forbidden {
            Ok(())
        } else {
            Err(Failure::environmental("places that are closed to tools were moved meanwhile; ask again"))
        }
    }
}

/// Without `.` and double `/`.
pub(crate) fn tidied(relative: &str) -> PathBuf {
    Path::new(relative).components().filter(|part| *part != Component::CurDir).collect()
}

/// The same, as it is kept and shown.
pub(crate) fn shown(relative: &str) -> String {
    tidied(relative).to_string_lossy().into_owned()
}

fn split(path: &Path) -> (&Path, Option<&OsStr>) {
    (path.parent().unwrap_or(Path::new("")), path.file_name())
}

fn missing(relative: &str) -> Failure {
    Failure::environmental(format!("`{relative}` does not exist in the workspace"))
}

pub(crate) fn not_regular(relative: &str) -> Failure {
    Failure::logical(format!("`{relative}` is not a regular file"))
}

pub(crate) fn through_a_link(relative: &str) -> Failure {
    Failure::logical(format!("a link is on the way to `{relative}`; name the place that it leads to"))
}

pub(crate) fn unreadable(path: &str, error: &io::Error) -> Failure {
    if stopping::is_stopped(error) {
        return stopping::stopped();
    }
    Failure::environmental(format!("`{path}` cannot be read: {}", error.kind()))
}

pub(crate) fn refused(relative: &str, denied: Denied) -> Failure {
    match denied {
        Denied::Forbidden => Failure::logical(format!("`{relative}` is closed to tools")),
        Denied::Os(Errno::EXDEV) => leads_out(relative),
        Denied::Os(Errno::ENAMETOOLONG) => too_long(relative),
        Denied::Os(errno) => unreadable(relative, &errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::Workspace;
    use crate::testing::Tree;
    use domain::call::Failure;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_path_in_the_workspace_is_where_its_links_lead() {
        let tree = Tree::new(&[("src/main.rs", ""), ("ä b;rm -rf $(x).txt", "")]);
        symlink("src", tree.path("link")).unwrap();
        let table = [
            (".", ""),
            ("./", ""),
            ("src", "src"),
            ("./src/", "src"),
            ("src/main.rs", "src/main.rs"),
            ("link/main.rs", "src/main.rs"),
            ("ä b;rm -rf $(x).txt", "ä b;rm -rf $(x).txt"),
        ];
        for (asked, expected) in table {
            let found = tree.workspace().look_up(asked).unwrap().map(|(path, _)| path);
            assert_eq!(found, Some(expected.into()), "{asked}");
        }
    }

    const MANIFEST: &str = r#"{"at":"2026-11-16T05:18:05.000000Z","audit":null,"chain":"","format":1}"#;

    fn is_closed(tree: &Tree) -> bool {
        tree.workspace().file("sub/a").is_err()
    }

    #[test]
    fn a_folder_is_a_backup_by_its_mark_or_by_the_manifest_of_an_older_one() {
        let theirs = r#"{"name":"my extension","version":"1"}"#;
        let table: [(&[(&str, &str)], bool); 6] = [
            (&[(".regent-backup", "")], true),
            (&[(".regent-backup/below", "")], false),
            (&[("manifest.json", MANIFEST), ("regent.db", ""), ("node", "")], true),
            (&[("manifest.json", theirs), ("regent.db", ""), ("node", "")], false),
            (&[("manifest.json", MANIFEST), ("regent.db", ""), ("node/below", "")], false),
            (&[("manifest.json", MANIFEST), ("node", "")], false),
        ];
        for (files, expected) in table {
            let tree = Tree::new(&[("sub/a", "")]);
            files.iter().for_each(|(name, content)| tree.write(format!("sub/{name}"), content));
            assert_eq!(is_closed(&tree), expected, "{files:?}");
        }
        let tree = Tree::new(&[("sub/a", ""), ("mark", "")]);
        symlink("../mark", tree.path("sub/.regent-backup")).unwrap();
        assert!(!is_closed(&tree), "a link is no mark");
    }

    /// Another user can make files in a folder above, such as `/tmp`.
    #[test]
    fn files_of_another_user_close_nothing() {
        if !nix::unistd::Uid::effective().is_root() {
            return eprintln!("skipped: only root can give a file away");
        }
        let tree = Tree::new(&[("sub/a", ""), ("sub/.regent-backup", "")]);
        let above = || Workspace::new(tree.path("sub")).unwrap().file("a");
        assert!(is_closed(&tree) && above().is_err());
        std::os::unix::fs::chown(tree.path("sub/.regent-backup"), Some(1001), None).unwrap();
        assert!(!is_closed(&tree) && above().is_ok());
        for name in ["manifest.json", "regent.db", "node"] {
            tree.write(format!("sub/{name}"), MANIFEST);
        }
        for name in ["manifest.json", "regent.db", "node"] {
            assert!(is_closed(&tree));
            std::os::unix::fs::chown(tree.path(format!("sub/{name}")), Some(1001), None).unwrap();
            assert!(!is_closed(&tree), "{name}");
            std::os::unix::fs::chown(tree.path(format!("sub/{name}")), Some(0), None).unwrap();
        }
    }

    /// The same in both ways of asking, except where a link could be followed.
    #[test]
    fn everything_else_is_refused_with_its_reason() {
        let tree = Tree::new(&[("a/b.txt", "")]);
        symlink("/etc", tree.path("out")).unwrap();
        symlink("nowhere", tree.path("dangling")).unwrap();
        symlink("loop", tree.path("loop")).unwrap();
        symlink("b.txt", tree.path("a/link")).unwrap();
        symlink(tree.path("a"), tree.path("absolute")).unwrap();
        mkfifo(&tree.path("fifo"), Mode::S_IRWXU).unwrap();
        let _socket = UnixListener::bind(tree.path("socket")).unwrap();
        let (careful, quick) = (tree.workspace().clone().without_openat2(), tree.workspace());
        let logical = |message: &str| Failure::logical(message);
        let environmental = |message: &str| Failure::environmental(message);
        let long = "n".repeat(256);
        let too_long =
            format!("`{}…` is too long: a name may have 255 bytes and a path 4095", "n".repeat(40));
        let table = [
            ("", logical("the path is empty; write `.` for the workspace itself")),
            ("/etc/passwd", logical("`/etc/passwd` is absolute; write it relative to the workspace")),
            ("..", logical("`..` leads out of the workspace")),
            ("../x", logical("`../x` leads out of the workspace")),
            ("./../x", logical("`./../x` contains `..`; write the path without it")),
            ("a/../a", logical("`a/../a` contains `..`; write the path without it")),
            ("a\0b", logical("`a\\0b` contains a control character")),
            ("a\nb", logical("`a\\nb` contains a control character")),
            ("a\u{9b}b", logical("`a\\u{9b}b` contains a control character")),
            (".", logical("`.` is a folder, not a file")),
            ("a", logical("`a` is a folder, not a file")),
            ("fifo", logical("`fifo` is not a regular file")),
            ("socket", logical("`socket` is not a regular file")),
            (&long, logical(&too_long)),
            ("docs", environmental("`docs` does not exist in the workspace")),
            ("a/b.txt/c", environmental("`a/b.txt/c` does not exist in the workspace")),
        ];
        for (asked, expected) in table {
            for workspace in [quick, &careful] {
                assert_eq!(workspace.file(asked).unwrap_err(), expected, "{asked:?}");
            }
        }
        let a_loop = "cannot be read: filesystem loop or indirection limit (e.g. symlink loop)";
        let links = [
            ("out", logical("`out` leads out of the workspace")),
            ("out/hostname", logical("`out/hostname` leads out of the workspace")),
            ("absolute/b.txt", logical("`absolute/b.txt` leads out of the workspace")),
            ("dangling", environmental("`dangling` does not exist in the workspace")),
            ("loop", environmental(&format!("`loop` {a_loop}"))),
        ];
        for (asked, expected) in links {
            assert_eq!(quick.file(asked).unwrap_err(), expected, "{asked:?}");
            let refused = format!("a link is on the way to `{asked}`; name the place that it leads to");
            assert_eq!(careful.file(asked).unwrap_err(), logical(&refused));
        }
        assert!(quick.file("a/link").is_ok() && careful.file("a/link").is_err());
        assert!(quick.file("a/b.txt").is_ok() && careful.file("a/b.txt").is_ok());
    }

    #[test]
    fn a_neighbour_with_the_same_beginning_is_outside() {
        let tree = Tree::new(&[("work/a", ""), ("work-secret/b", "")]);
        symlink("../work-secret", tree.path("work/link")).unwrap();
        let workspace = Workspace::new(tree.path("work")).unwrap();
        let refused = workspace.file("link/b").unwrap_err();
        assert_eq!(refused, Failure::logical("`link/b` leads out of the workspace"));
    }

    #[test]
    fn a_workspace_is_a_folder_that_exists() {
        let tree = Tree::new(&[("file", "")]);
        for (name, expected) in [("file", "is not a folder"), ("none", "does not exist")] {
            let path = tree.path(name);
            let message = format!("`{}` {expected}", path.display());
            assert_eq!(Workspace::new(path).unwrap_err(), Failure::environmental(message));
        }
    }
}
