//! What calls that change several names have in common: how many, how much is read and kept of them, and what is said
//! when one of them fails halfway.
//!
//! All of them are looked at before the first one changes, and compared with what was looked at when the call was decided
//! about. Then they change one after the other. No more than one is open at a time, however many there are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::Stop;
use domain::call::Failure;
use domain::limits::{CHANGED_BYTES, CHANGED_NAMES, DELETED_DIGEST_BYTES, UNDO_BYTES};
use nix::unistd::fsync;

use crate::confined::Seen;
use crate::staged::changed_meanwhile;
use crate::standing::{self, Depth, Found};
use crate::stopping;
use crate::workspace::{Place, Workspace, tidied};

/// # Errors
/// If there are none, or too many.
pub(crate) fn check_count(count: usize) -> Result<(), Failure> {
    match count {
        0 => Err(Failure::logical("it names no file")),
        1..=CHANGED_NAMES => Ok(()),
        _ => Err(Failure::logical(format!("it names {count} files; at most {CHANGED_NAMES} at once"))),
    }
}

/// What may still be read and kept of the files of one call.
#[derive(Debug)]
pub(crate) struct Room(Depth);

impl Room {
    /// For whoever looks before.
    pub(crate) const fn keeping() -> Self {
        Self(Depth { keep: UNDO_BYTES, digest: CHANGED_BYTES })
    }

    /// For whoever only compares.
    pub(crate) const fn comparing() -> Self {
        Self(Depth { keep: 0, digest: CHANGED_BYTES })
    }

    /// What stands there. What there is no room for is not kept, or not even read; smaller ones after it may be.
    ///
    /// # Errors
    /// If it is neither a file nor a link, or the disk refuses.
    pub(crate) fn look(&mut self, place: &Place<'_>, path: &str, stop: &Stop) -> Result<Found, Failure> {
        stopping::check(stop)?;
        let depth = Depth { digest: self.0.digest.min(DELETED_DIGEST_BYTES), ..self.0 };
        let found = standing::within(place, path, depth, stop)?;
        if let domain::change::Standing::File(file) = &found.standing {
            self.0.digest -= file.bytes.min(self.0.digest);
        }
        self.0.keep -= found.content.as_ref().map_or(0, Vec::len);
        Ok(found)
    }
}

/// What was checked, as it is when it is its turn. Another name of the same file may have changed meanwhile, and with it
/// what the kernel says of this one; then its bytes tell.
///
/// # Errors
/// If something else is there.
pub(crate) fn still(place: &Place<'_>, path: &str, checked: &Found, stop: &Stop) -> Result<Seen, Failure> {
    let now = place.folder.look(place.name).ok();
    if let Some(seen) = now.filter(|_| now == checked.seen) {
        return Ok(seen);
    }
    let again = standing::at(place, path, 0, stop)?;
    let same = again.standing.is_as(&checked.standing);
    again.seen.filter(|_| same).ok_or_else(|| changed_meanwhile(path))
}

/// Names that are made or taken away, each of them once.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<String, (String, Use)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    File,
    /// Made on the way to a file; several files may need it.
    Folder,
}

impl Names {
    /// # Errors
    /// If it is there already, or only its case differs from another one.
    pub(crate) fn add(&mut self, path: &str, used: Use) -> Result<(), Failure> {
        let Some((other, before)) = self.0.insert(path.to_lowercase(), (path.to_owned(), used)) else {
            return Ok(());
        };
        let why = match (other == path, used, before) {
            (true, Use::Folder, Use::Folder) => return Ok(()),
            (true, Use::File, Use::File) => format!("`{path}` is named twice"),
            (true, ..) => format!("`{path}` cannot be a file and a folder"),
            (false, ..) => format!("`{path}` and `{other}` differ only in case"),
        };
        Err(Failure::logical(why))
    }
}

/// Changes one after the other. After a stop, or once one has failed, nothing more is changed.
///
/// # Errors
/// The first failure, and how far it came; `did` is what was done to those before it, as `deleted`.
pub(crate) fn each<T, R>(
    items: &[T],
    did: &str,
    name: impl Fn(&T) -> &str,
    mut change: impl FnMut(&T) -> Result<R, Failure>,
) -> Result<Vec<R>, Failure> {
    let mut done = Vec::new();
    for item in items {
        match change(item) {
            Ok(record) => done.push(record),
            Err(failure) => {
                let last = done.len().checked_sub(1).and_then(|last| items.get(last)).map(&name);
                return Err(halfway(failure, (done.len(), items.len()), did, last));
            }
        }
    }
    Ok(done)
}

/// What was done comes first: a long reason is cut at its end.
fn halfway(failure: Failure, (done, all): (usize, usize), did: &str, last: Option<&str>) -> Failure {
    let so_far = match last {
        None => format!("nothing was {did}"),
        Some(last) if done == 1 => format!("1 of {all} was {did}, `{last}`, and the others were not"),
        Some(last) => {
            format!("the first {done} of {all} were {did}, up to `{last}`, and the others were not")
        }
    };
    Failure { message: format!("{so_far}: {}", failure.message), ..failure }
}

/// Makes what was changed in the folders of these names durable, each folder once.
///
/// # Errors
/// If a folder cannot be flushed. The changes are made all the same.
pub(crate) fn flush<'a>(workspace: &Workspace, names: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let mut folders: Vec<PathBuf> =
        names.map(|name| tidied(name).parent().unwrap_or(Path::new("")).to_path_buf()).collect();
    folders.sort();
    folders.dedup();
    let one = |folder: &PathBuf| {
        let open = workspace.folder_at(folder).ok().and_then(|folder| folder.listable().ok());
        open.is_some_and(|open| fsync(open).is_ok())
    };
    if folders.iter().all(one) {
        return Ok(());
    }
    Err(Failure::environmental(
        "all of it is done, but it may not survive a power cut: a folder was not flushed",
    ))
}

#[cfg(test)]
mod tests {
    use super::{Names, Use, check_count, each};
    use domain::call::Failure;
    use domain::limits::CHANGED_NAMES;

    #[test]
    fn so_many_and_no_more() {
        let table = [(0, false), (1, true), (CHANGED_NAMES, true), (CHANGED_NAMES + 1, false)];
        for (count, fits) in table {
            assert_eq!(check_count(count).is_ok(), fits, "{count}");
        }
    }

    #[test]
    fn a_failure_says_how_far_it_came() {
        let table = [
            ("a", "nothing was moved: no"),
            ("b", "1 of 4 was moved, `a`, and the others were not: no"),
            ("d", "the first 3 of 4 were moved, up to `c`, and the others were not: no"),
        ];
        for (bad, message) in table {
            let mut tried = Vec::new();
            let done = each(
                &["a", "b", "c", "d"],
                "moved",
                |name| name,
                |name| {
                    tried.push(*name);
                    if *name == bad { Err(Failure::environmental("no")) } else { Ok(()) }
                },
            );
            assert_eq!(done, Err(Failure::environmental(message)));
            assert_eq!(tried.last(), Some(&bad), "nothing is tried after it");
        }
        assert_eq!(each(&[1, 2], "moved", |_| "", |n| Ok(n * 2)), Ok(vec![2, 4]));
    }

    #[test]
    fn each_name_once() {
        use Use::{File, Folder};
        let table = [
            (vec![("a", File), ("b", File), ("d", Folder), ("d", Folder)], None),
            (vec![("a", File), ("a", File)], Some("`a` is named twice")),
            (vec![("a", File), ("a", Folder)], Some("`a` cannot be a file and a folder")),
            (vec![("a/b", Folder), ("A/b", Folder)], Some("`A/b` and `a/b` differ only in case")),
        ];
        for (names, wrong) in table {
            let mut all = Names::default();
            let done: Result<Vec<()>, Failure> =
                names.into_iter().map(|(name, used)| all.add(name, used)).collect();
            assert_eq!(done.err(), wrong.map(Failure::logical));
        }
    }
}
