//! `delete_file`: one file, or a link itself.

use std::io;
use std::os::fd::OwnedFd;

use broker::{Looked, Sight};
use domain::call::Failure;
use domain::change::{Change, Standing};
use domain::limits::UNDO_BYTES;
use domain::{Digest, Stop};
use nix::errno::Errno;
use nix::unistd::{UnlinkatFlags, fsync, unlinkat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confined::{Denied, Kind, Seen};
use crate::expected::Expected;
use crate::names::check_changeable;
use crate::staged::changed_meanwhile;
use crate::standing;
use crate::stopping;
use crate::way;
use crate::workspace::{self, Place, Workspace, shown};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Relative to the workspace. A file, or a link, which is then deleted itself.
    pub(crate) path: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    File,
    /// What it led to is still there.
    Link,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Deleted {
    /// Relative to the workspace.
    pub(crate) path: String,
    /// A file, or a link, whose target is still there.
    pub(crate) what: What,
    /// Of what was deleted.
    pub(crate) bytes: u64,
    /// SHA-256 of what was deleted; null for a link and for a very large file.
    #[schemars(with = "Option<String>")]
    pub(crate) digest: Option<Digest>,
}

/// What this call would change. Nothing is changed by looking.
///
/// # Errors
/// As [`run`].
pub(crate) fn look(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Looked, Failure> {
    let (place, _) = find(workspace, &args.path)?;
    let found = standing::at(&place, &args.path, UNDO_BYTES, stop)?;
    let path = shown(&args.path);
    let modes = way::modes(workspace, &path);
    let change = |from| Change { modes, ..Change::new(path, from, Standing::Nothing) };
    Ok(Sight { modified: found.modified(), change: change(found.standing), content: found.content }.into())
}

/// # Errors
/// If there is no such file, it is a folder, it is not as it was looked at, or the disk refuses. Then it is still there.
pub(crate) fn run(
    workspace: &Workspace,
    args: &Args,
    expected: Expected<'_>,
    stop: &Stop,
) -> Result<Deleted, Failure> {
    let path = &args.path;
    let (place, seen) = find(workspace, path)?;
    let found = standing::at(&place, path, 0, stop)?;
    if found.seen != Some(seen) {
        return Err(changed_meanwhile(path));
    }
    expected.check(path, &shown(path), &found.standing)?;
    remove(&place, path, seen, stop)?;
    Ok(Deleted::new(shown(path), &found.standing, seen.bytes))
}

impl Deleted {
    pub(crate) fn new(path: String, was: &Standing, bytes: u64) -> Self {
        let (what, digest) = match was {
            Standing::File(content) => (What::File, Some(content.digest)),
            Standing::Large { .. } => (What::File, None),
            Standing::Link { .. } | Standing::Nothing => (What::Link, None),
        };
        Self { path, what, bytes, digest }
    }
}

/// The file or link that is meant, as the kernel sees it.
pub(crate) fn find<'a>(workspace: &Workspace, path: &'a str) -> Result<(Place<'a>, Seen), Failure> {
    check_changeable(path)?;
    let place = workspace.place(path)?;
    let seen = place.folder.look(place.name).map_err(|errno| match errno {
        Errno::ENOENT => Failure::environmental(format!("`{path}` does not exist in the workspace")),
        _ => workspace::refused(path, Denied::Os(errno)),
    })?;
    match seen.kind {
        Kind::File | Kind::Link => Ok((place, seen)),
        Kind::Folder => {
            let advice = "delete the files in it one by one; the folder itself stays";
            Err(Failure::logical(format!("`{path}` is a folder; {advice}")))
        }
        Kind::Other => Err(workspace::not_regular(path)),
    }
}

/// Takes away what was looked at, and nothing else.
pub(crate) fn remove(place: &Place<'_>, path: &str, seen: Seen, stop: &Stop) -> Result<(), Failure> {
    let folder = unlink(place, path, seen, stop)?;
    fsync(folder).map_err(|errno| failed(path, "is deleted, but may be back after a power cut", errno))
}

/// The same, and the folder that it gives back is still to be flushed.
pub(crate) fn unlink(place: &Place<'_>, path: &str, seen: Seen, stop: &Stop) -> Result<OwnedFd, Failure> {
    stopping::check(stop)?;
    if place.folder.look(place.name) != Ok(seen) {
        return Err(changed_meanwhile(path));
    }
    let undeleted = |errno| failed(path, "cannot be deleted", errno);
    let folder = place.folder.listable().map_err(undeleted)?;
    unlinkat(&place.folder, place.name, UnlinkatFlags::NoRemoveDir).map_err(undeleted)?;
    Ok(folder)
}

fn failed(path: &str, why: &str, errno: Errno) -> Failure {
    let kind = io::Error::from(errno).kind();
    Failure::environmental(format!("`{path}` {why}: {kind}"))
}

#[cfg(test)]
mod tests {
    use super::{Args, Deleted, What, run};
    use crate::expected::Expected;
    use crate::testing::Tree;
    use domain::call::Failure;
    use domain::{Digest, Stop};
    use serde_json::{json, to_value};
    use std::os::unix::fs::symlink;

    fn delete(tree: &Tree, path: &str) -> Result<Deleted, Failure> {
        run(tree.workspace(), &Args { path: path.into() }, Expected::default(), &Stop::default())
    }

    #[test]
    fn a_file_goes_and_a_link_goes_without_what_it_leads_to() {
        let tree = Tree::new(&[("a/b", "text"), ("keep", "x")]);
        symlink("../keep", tree.path("a/link")).unwrap();
        symlink("/etc/passwd", tree.path("out")).unwrap();
        let digest = Digest::of(b"text");
        let expected = json!({ "path": "a/b", "what": "file", "bytes": 4, "digest": digest.to_string() });
        assert_eq!(to_value(delete(&tree, "./a/b").unwrap()).unwrap(), expected);
        for (path, bytes) in [("a/link", 7), ("out", 11)] {
            let expected = Deleted { path: path.into(), what: What::Link, bytes, digest: None };
            assert_eq!(delete(&tree, path), Ok(expected));
        }
        assert_eq!(tree.names("a"), [""; 0]);
        assert_eq!(tree.names("."), ["a", "keep"]);
        let gone = delete(&tree, "a/b");
        assert_eq!(gone, Err(Failure::environmental("`a/b` does not exist in the workspace")));
    }

    #[test]
    fn what_is_no_file_stays() {
        let tree = Tree::new(&[("a/b", ""), (".git/config", "")]);
        symlink("a", tree.path("link")).unwrap();
        let table = [
            ("a", "`a` is a folder; delete the files in it one by one; the folder itself stays"),
            (".", "`.` is a folder, not a file"),
            ("a/", "`a/` ends with `/`; name a file"),
            ("link/b", "a link is on the way to `link/b`; name the place that it leads to"),
            ("../x", "`../x` leads out of the workspace"),
            (".git/config", "`.git/config` belongs to git; tools do not change what is in there"),
        ];
        for (path, message) in table {
            assert_eq!(delete(&tree, path), Err(Failure::logical(message)), "{path}");
        }
    }

    #[test]
    fn after_a_stop_nothing_is_deleted() {
        let tree = Tree::new(&[("a", "")]);
        let stop = Stop::default();
        stop.now();
        let stopped = run(tree.workspace(), &Args { path: "a".into() }, Expected::default(), &stop);
        assert_eq!(stopped, Err(Failure::interrupted("stopped")));
        assert_eq!(tree.names("."), ["a"]);
    }

    /// Whether it is gone for good could not be said of a folder that cannot be opened.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_said_not_to_be_deleted_is_there() {
        use crate::testing::{SOMEBODY, as_user};
        use std::os::unix::fs::{PermissionsExt, chown};
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let tree = Tree::new(&[("closed/f", "x")]);
        for path in [".", "closed", "closed/f"] {
            chown(tree.path(path), Some(SOMEBODY), Some(SOMEBODY)).unwrap();
        }
        std::fs::set_permissions(tree.path("closed"), PermissionsExt::from_mode(0o300)).unwrap();
        as_user(SOMEBODY, || {
            let refused = Failure::environmental("`closed/f` cannot be deleted: permission denied");
            assert_eq!(delete(&tree, "closed/f"), Err(refused));
        });
        assert_eq!(tree.names("closed"), ["f"]);
    }
}
