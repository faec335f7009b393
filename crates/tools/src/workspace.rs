//! The one folder that the file tools may look into, and the only way to name something in it.
//!
//! INVARIANT (confined): a path that [`Workspace::resolve`] returns exists and lies in the workspace,
//! links included. It holds for the moment of the question; closing the gap between asking and opening
//! is a later piece of work.

#![expect(clippy::disallowed_methods, reason = "this is where paths of the workspace meet the disk")]

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use domain::call::Failure;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Canonical.
    root: PathBuf,
}

impl Workspace {
    /// # Errors
    /// If there is no folder at `root`, or it cannot be read.
    pub fn new(root: PathBuf) -> Result<Self, Failure> {
        let shown = root.display();
        let canonical = fs::canonicalize(&root).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Failure::environmental(format!("`{shown}` does not exist")),
            _ => unreadable(&shown.to_string(), &error),
        })?;
        if canonical.is_dir() {
            Ok(Self { root: canonical })
        } else {
            Err(Failure::environmental(format!("`{shown}` is not a folder")))
        }
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where `relative` really is, with every link followed.
    ///
    /// # Errors
    /// If it is no plain relative path, does not exist, or is outside once its links are followed.
    pub fn resolve(&self, relative: &str) -> Result<PathBuf, Failure> {
        let missing = || Failure::environmental(format!("`{relative}` does not exist in the workspace"));
        self.look_up(relative)?.ok_or_else(missing)
    }

    /// As [`Self::resolve`], for those to whom a missing path is an answer.
    pub(crate) fn look_up(&self, relative: &str) -> Result<Option<PathBuf>, Failure> {
        check_plain(relative)?;
        match fs::canonicalize(self.root.join(relative)) {
            Ok(path) if path.starts_with(&self.root) => Ok(Some(path)),
            Ok(_outside) => Err(leads_out(relative)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(unreadable(relative, &error)),
        }
    }

    /// As [`Self::resolve`], and it is a folder.
    pub(crate) fn folder(&self, relative: &str) -> Result<PathBuf, Failure> {
        let path = self.resolve(relative)?;
        if path.is_dir() { Ok(path) } else { Err(Failure::logical(format!("`{relative}` is not a folder"))) }
    }

    /// As [`Self::resolve`], and it is a regular file: opening a pipe or a device could wait for ever.
    pub(crate) fn file(&self, relative: &str) -> Result<PathBuf, Failure> {
        let path = self.resolve(relative)?;
        if path.is_file() {
            Ok(path)
        } else if path.is_dir() {
            Err(Failure::logical(format!("`{relative}` is a folder, not a file")))
        } else {
            Err(Failure::logical(format!("`{relative}` is not a regular file")))
        }
    }

    /// The path of something in the workspace as people see it: `src/main.rs`. The root itself is empty.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

pub(crate) fn unreadable(path: &str, error: &io::Error) -> Failure {
    Failure::environmental(format!("`{path}` cannot be read: {}", error.kind()))
}

/// What can be refused without looking at the disk.
pub(crate) fn check_plain(relative: &str) -> Result<(), Failure> {
    if relative.is_empty() {
        return Err(Failure::logical("the path is empty; write `.` for the workspace itself"));
    }
    if relative.chars().any(char::is_control) {
        let escaped = relative.escape_debug();
        return Err(Failure::logical(format!("`{escaped}` contains a control character")));
    }
    let path = Path::new(relative);
    if path.is_absolute() {
        return Err(Failure::logical(format!(
            "`{relative}` is absolute; write it relative to the workspace"
        )));
    }
    let climbs = |part: Component<'_>| part == Component::ParentDir;
    if path.components().next().is_some_and(climbs) {
        return Err(leads_out(relative));
    }
    if path.components().any(climbs) {
        return Err(Failure::logical(format!("`{relative}` contains `..`; write the path without it")));
    }
    Ok(())
}

fn leads_out(relative: &str) -> Failure {
    Failure::logical(format!("`{relative}` leads out of the workspace"))
}

#[cfg(test)]
mod tests {
    use super::Workspace;
    use crate::testing::Tree;
    use domain::call::Failure;
    use std::os::unix::fs::symlink;

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
            let found = tree.workspace().resolve(asked);
            assert_eq!(found, Ok(tree.workspace().root().join(expected)), "{asked}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        let tree = Tree::new(&[("a/b.txt", "")]);
        symlink("/etc", tree.path("out")).unwrap();
        symlink("nowhere", tree.path("dangling")).unwrap();
        symlink("loop", tree.path("loop")).unwrap();
        let logical = |message: &str| Failure::logical(message);
        let environmental = |message: &str| Failure::environmental(message);
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
            ("out", logical("`out` leads out of the workspace")),
            ("out/hostname", logical("`out/hostname` leads out of the workspace")),
            ("docs", environmental("`docs` does not exist in the workspace")),
            ("a/b.txt/c", environmental("`a/b.txt/c` does not exist in the workspace")),
            ("dangling", environmental("`dangling` does not exist in the workspace")),
            (
                "loop",
                environmental(
                    "`loop` cannot be read: filesystem loop or indirection limit (e.g. symlink loop)",
                ),
            ),
        ];
        for (asked, expected) in table {
            assert_eq!(tree.workspace().resolve(asked), Err(expected), "{asked:?}");
        }
    }

    #[test]
    fn a_neighbour_with_the_same_beginning_is_outside() {
        let tree = Tree::new(&[("work/a", ""), ("work-secret/b", "")]);
        symlink("../work-secret", tree.path("work/link")).unwrap();
        let workspace = Workspace::new(tree.path("work")).unwrap();
        assert_eq!(workspace.resolve("link/b"), Err(Failure::logical("`link/b` leads out of the workspace")));
    }

    #[test]
    fn a_workspace_is_a_folder_that_exists() {
        let tree = Tree::new(&[("file", "")]);
        for (name, expected) in [("file", "is not a folder"), ("none", "does not exist")] {
            let path = tree.path(name);
            let message = format!("`{}` {expected}", path.display());
            assert_eq!(Workspace::new(path), Err(Failure::environmental(message)));
        }
    }
}
