//! `delete_file`: one file, or a link itself.

use std::io;

use domain::call::Failure;
use domain::digest::Digesting;
use domain::limits::DELETED_DIGEST_BYTES;
use domain::{Digest, Stop};
use nix::errno::Errno;
use nix::unistd::{UnlinkatFlags, fsync, unlinkat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confined::{Denied, Kind, Seen};
use crate::names::check_changeable;
use crate::search::{self, CHUNK};
use crate::staged::changed_meanwhile;
use crate::stopping::{self, Heeding};
use crate::workspace::{self, Place, Workspace, tidied};

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

/// # Errors
/// If there is no such file, it is a folder, or the disk refuses. Then it is still there.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Deleted, Failure> {
    let path = &args.path;
    check_changeable(path)?;
    let place = workspace.place(path)?;
    let seen = place.folder.look(place.name).map_err(|errno| match errno {
        Errno::ENOENT => Failure::environmental(format!("`{path}` does not exist in the workspace")),
        _ => workspace::refused(path, Denied::Os(errno)),
    })?;
    let (what, digest) = match seen.kind {
        Kind::File => (What::File, digest_of(&place, path, seen, stop)?),
        Kind::Link => (What::Link, None),
        Kind::Folder => {
            let advice = "delete the files in it one by one; the folder itself stays";
            return Err(Failure::logical(format!("`{path}` is a folder; {advice}")));
        }
        Kind::Other => return Err(workspace::not_regular(path)),
    };
    remove(&place, path, seen, stop)?;
    let path = tidied(path).to_string_lossy().into_owned();
    Ok(Deleted { path, what, bytes: seen.bytes, digest })
}

/// Of the file that was looked at, or nothing happens.
fn digest_of(place: &Place<'_>, path: &str, seen: Seen, stop: &Stop) -> Result<Option<Digest>, Failure> {
    if seen.bytes > DELETED_DIGEST_BYTES {
        return Ok(None);
    }
    let unreadable = |error: &io::Error| workspace::unreadable(path, error);
    let (file, opened) = match place.folder.open(place.name) {
        Ok(opened) => opened,
        Err(Errno::ELOOP | Errno::ENXIO | Errno::ENOENT) => return Err(changed_meanwhile(path)),
        Err(errno) => return Err(unreadable(&errno.into())),
    };
    if opened != seen {
        return Err(changed_meanwhile(path));
    }
    let mut reader = Heeding { reader: file, stop };
    let (mut digesting, mut buffer) = (Digesting::default(), vec![0; CHUNK]);
    loop {
        let read = search::fill(&mut reader, &mut buffer).map_err(|error| unreadable(&error))?;
        digesting.update(buffer.get(..read).unwrap_or_default());
        if read < CHUNK {
            return Ok(Some(digesting.finish()));
        }
    }
}

fn remove(place: &Place<'_>, path: &str, seen: Seen, stop: &Stop) -> Result<(), Failure> {
    stopping::check(stop)?;
    if place.folder.look(place.name) != Ok(seen) {
        return Err(changed_meanwhile(path));
    }
    let done = unlinkat(&place.folder, place.name, UnlinkatFlags::NoRemoveDir);
    let done = done.and_then(|()| place.folder.listable()).and_then(fsync);
    done.map_err(|errno| {
        let kind = io::Error::from(errno).kind();
        Failure::environmental(format!("`{path}` cannot be deleted: {kind}"))
    })
}

#[cfg(test)]
mod tests {
    use super::{Args, Deleted, What, run};
    use crate::testing::Tree;
    use domain::call::Failure;
    use domain::{Digest, Stop};
    use serde_json::{json, to_value};
    use std::os::unix::fs::symlink;

    fn delete(tree: &Tree, path: &str) -> Result<Deleted, Failure> {
        run(tree.workspace(), &Args { path: path.into() }, &Stop::default())
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
        let stopped = run(tree.workspace(), &Args { path: "a".into() }, &stop);
        assert_eq!(stopped, Err(Failure::environmental("stopped")));
        assert_eq!(tree.names("."), ["a"]);
    }
}
