//! What lies beside a file in its folder: what killed writers left there, and names that differ only in case.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use domain::Digest;
use domain::call::Failure;
use nix::dir::Dir;
use nix::errno::Errno;
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::confined::{Denied, Folder, Kind};
use crate::names::{self, LEFTOVER, LEFTOVER_END};
use crate::workspace::{self, Place};

/// The name of the unfinished file for this target, this content and this try.
pub(crate) fn name(target: &OsStr, content: Digest, count: u32) -> OsString {
    format!("{}{}-{count}{LEFTOVER_END}", prefix(target), short(content)).into()
}

/// What the names of unfinished files for this target begin with.
fn prefix(target: &OsStr) -> String {
    format!("{LEFTOVER}{}-", short(Digest::of(target.as_bytes())))
}

fn short(digest: Digest) -> String {
    digest.to_string().chars().take(16).collect()
}

/// What killed writers to this name left is removed.
///
/// # Errors
/// If a file is to be made whose name only differs in case from another one.
pub(crate) fn tidy(place: &Place<'_>, path: &str, is_new: bool) -> Result<(), Failure> {
    let prefix = prefix(place.name);
    let mut similar = None;
    let listed = each_name(&place.folder, |name| {
        if is_of(name, &prefix) {
            remove_leftover(&place.folder, name);
        } else if is_new && names::differ_in_case_only(name, place.name) {
            similar = Some(name.to_os_string());
        }
    });
    listed.map_err(|errno| workspace::refused(path, Denied::Os(errno)))?;
    similar.map_or(Ok(()), |other| Err(same_but_for_case(path, &other)))
}

/// The same question, and nothing is removed. A name that goes is none.
///
/// # Errors
/// If there is another name that differs only in case.
pub(crate) fn check_case(
    folder: &Folder,
    name: &OsStr,
    goes: Option<&OsStr>,
    path: &str,
) -> Result<(), Failure> {
    let mut similar = None;
    let listed = each_name(folder, |other| {
        if names::differ_in_case_only(other, name) && Some(other) != goes {
            similar = Some(other.to_os_string());
        }
    });
    listed.map_err(|errno| workspace::refused(path, Denied::Os(errno)))?;
    similar.map_or(Ok(()), |other| Err(same_but_for_case(path, &other)))
}

fn each_name(folder: &Folder, mut each: impl FnMut(&OsStr)) -> Result<(), Errno> {
    for entry in Dir::from_fd(folder.listable()?)?.iter() {
        each(OsStr::from_bytes(entry?.file_name().to_bytes()));
    }
    Ok(())
}

/// What cannot be removed does no harm: it is hidden, and never in the way.
fn remove_leftover(folder: &Folder, name: &OsStr) {
    if is_abandoned(folder, name) {
        unlinkat(folder, name, UnlinkatFlags::NoRemoveDir).unwrap_or_default();
    }
}

/// Whether nobody writes it any more. A link cannot be locked: whoever is just about to put it in its place finds it
/// gone, and has changed nothing.
fn is_abandoned(folder: &Folder, name: &OsStr) -> bool {
    match folder.look(name).map(|seen| seen.kind) {
        Ok(Kind::Link) => true,
        Ok(Kind::File) => folder.open(name).is_ok_and(|(file, _)| file.try_lock().is_ok()),
        Ok(Kind::Folder | Kind::Other) | Err(_) => false,
    }
}

/// Whether a killed writer to this name left something.
pub(crate) fn are_beside(place: &Place<'_>) -> bool {
    let (prefix, mut found) = (prefix(place.name), false);
    let listed = each_name(&place.folder, |name| {
        found |= is_of(name, &prefix) && is_abandoned(&place.folder, name);
    });
    listed.is_ok() && found
}

/// Whether nothing is in a folder.
pub(crate) fn is_empty(folder: &Folder) -> bool {
    let mut count = 0;
    each_name(folder, |name| count += usize::from(name != "." && name != "..")).is_ok() && count == 0
}

fn is_of(name: &OsStr, prefix: &str) -> bool {
    names::is_leftover(name) && name.as_bytes().starts_with(prefix.as_bytes())
}

fn same_but_for_case(path: &str, other: &OsStr) -> Failure {
    let other = other.to_string_lossy();
    let why = "on a disk that does not tell them apart one would replace the other";
    Failure::logical(format!("`{path}` differs only in case from `{other}`, which exists; {why}"))
}

#[cfg(test)]
mod tests {
    use super::{prefix, tidy};
    use crate::testing::Tree;
    use std::ffi::OsStr;
    use std::fs::File;

    #[test]
    fn what_a_killed_write_left_is_removed_by_the_next_one_to_the_same_name_only() {
        let tree = Tree::new(&[("f", "old")]);
        let left = |target: &str, count: u32| format!("{}abc-{count}.tmp", prefix(OsStr::new(target)));
        for name in [left("f", 0), left("f", 1), left("other", 0)] {
            tree.write(name, "half");
        }
        #[expect(clippy::disallowed_methods, reason = "the test plays a writer that is still alive")]
        let busy = File::open(tree.path(left("f", 1))).unwrap();
        busy.lock().unwrap();
        assert_eq!(tidy(&tree.workspace().place("f").unwrap(), "f", true), Ok(()));
        let mut expected = vec![left("f", 1), left("other", 0), "f".into()];
        expected.sort();
        assert_eq!(tree.names("."), expected);
    }
}
