//! Which folders a walk looks into. Pure: it knows paths and nothing of what is on the disk.
//!
//! Folders are named, to be looked into or to be left alone, and the nearest named one above a folder decides about
//! it. So a folder that is named twice, or lies in another one that is, is looked into once.

use std::path::{Path, PathBuf};

use domain::call::Failure;

use crate::workspace::Workspace;

/// Paths here are relative to the workspace and free of links; the workspace itself is the empty one.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    named: Vec<Named>,
    /// How many folders below a named one are looked into, that one included.
    levels: usize,
}

#[derive(Clone, Debug)]
struct Named {
    path: PathBuf,
    depth: usize,
    wanted: bool,
}

/// What a folder is to a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// What lies directly in it counts.
    Inside,
    /// Only a folder further down is looked into.
    OnTheWay,
    Elsewhere,
}

impl Places {
    pub(crate) fn new(under: Vec<PathBuf>) -> Self {
        let named = under.into_iter().map(|path| Named::new(path, true)).collect();
        Self { named, levels: usize::MAX }
    }

    /// The folders as a caller names them.
    ///
    /// # Errors
    /// If one of them is not there, or is both wanted and not.
    pub(crate) fn look_up(
        workspace: &Workspace,
        under: &[String],
        outside: &[String],
    ) -> Result<Self, Failure> {
        if under.is_empty() {
            return Err(Failure::logical("`under` names no folder; leave it out for the whole workspace"));
        }
        let mut places =
            Self::new(under.iter().map(|path| workspace.folder(path)).collect::<Result<_, _>>()?);
        for shown in outside {
            let path = workspace.folder(shown)?;
            if places.named.iter().any(|named| named.wanted && named.path == path) {
                let problem = "is both to be looked into and to be left alone";
                return Err(Failure::logical(format!("`{shown}` {problem}")));
            }
            places.named.push(Named::new(path, false));
        }
        Ok(places)
    }

    /// With this many levels of folders looked into, 1 being what lies directly in those that are named.
    pub(crate) fn deep(mut self, levels: usize) -> Self {
        self.levels = levels;
        self
    }

    /// `since` is how deep a folder must lie to be named at all: below one that is hidden or ignored, only those that
    /// are named themselves are meant.
    pub(crate) fn stand(&self, folder: &Path, since: usize) -> Stand {
        let named = || self.named.iter().filter(|named| named.depth >= since);
        let nearest = named().filter(|named| folder.starts_with(&named.path)).max_by_key(|named| named.depth);
        let inside = |named: &Named| named.wanted && depth(folder) - named.depth < self.levels;
        if nearest.is_some_and(inside) {
            Stand::Inside
        } else if named().any(|named| named.wanted && named.path.starts_with(folder)) {
            Stand::OnTheWay
        } else {
            Stand::Elsewhere
        }
    }

    /// Whether somebody named this very folder, or one further down.
    pub(crate) fn is_meant(&self, folder: &Path) -> bool {
        self.named.iter().any(|named| named.wanted && named.path.starts_with(folder))
    }
}

impl Named {
    fn new(path: PathBuf, wanted: bool) -> Self {
        Self { depth: depth(&path), path, wanted }
    }
}

pub(crate) fn depth(folder: &Path) -> usize {
    folder.components().count()
}

#[cfg(test)]
mod tests {
    use super::{Places, Stand};
    use crate::testing::Tree;
    use domain::call::Failure;
    use std::path::Path;

    #[test]
    fn the_nearest_named_folder_decides() {
        use Stand::{Elsewhere, Inside, OnTheWay};
        let tree = Tree::new(&[("a/b/c/d", ""), ("x/y", "")]);
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        type Case<'a> = (&'a [&'a str], &'a [&'a str], usize, usize, [Stand; 5]);
        let table: [Case<'_>; 12] = [
            //  under      outside  levels since   the workspace, a, a/b, a/b/c, x
            (&["."], &[], usize::MAX, 0, [Inside, Inside, Inside, Inside, Inside]),
            (&["a"], &[], usize::MAX, 0, [OnTheWay, Inside, Inside, Inside, Elsewhere]),
            (&["a", "a/b"], &[], usize::MAX, 0, [OnTheWay, Inside, Inside, Inside, Elsewhere]),
            (&["a/b", "x"], &[], usize::MAX, 0, [OnTheWay, OnTheWay, Inside, Inside, Inside]),
            (&["."], &["a"], usize::MAX, 0, [Inside, Elsewhere, Elsewhere, Elsewhere, Inside]),
            (&["."], &["a/b"], usize::MAX, 0, [Inside, Inside, Elsewhere, Elsewhere, Inside]),
            (&[".", "a/b/c"], &["a"], usize::MAX, 0, [Inside, OnTheWay, OnTheWay, Inside, Inside]),
            (&["a/b"], &["a"], usize::MAX, 0, [OnTheWay, OnTheWay, Inside, Inside, Elsewhere]),
            (&["."], &[], 1, 0, [Inside, Elsewhere, Elsewhere, Elsewhere, Elsewhere]),
            (&["a", "a/b/c"], &[], 1, 0, [OnTheWay, Inside, OnTheWay, Inside, Elsewhere]),
            (&["a"], &[], 2, 0, [OnTheWay, Inside, Inside, Elsewhere, Elsewhere]),
            (&[".", "a/b"], &[], usize::MAX, 1, [OnTheWay, OnTheWay, Inside, Inside, Elsewhere]),
        ];
        for (under, outside, levels, since, expected) in table {
            let places = Places::look_up(tree.workspace(), &names(under), &names(outside)).unwrap();
            let stands = ["", "a", "a/b", "a/b/c", "x"];
            let stands = stands.map(|folder| places.clone().deep(levels).stand(Path::new(folder), since));
            assert_eq!(stands, expected, "{under:?} but {outside:?}, {levels}, {since}");
        }
    }

    #[test]
    fn folders_that_cannot_be_meant_are_refused() {
        let tree = Tree::new(&[("a/b", ""), ("c", "")]);
        let table: [(&[&str], &[&str], Failure); 5] = [
            (&[], &[], Failure::logical("`under` names no folder; leave it out for the whole workspace")),
            (&["a", "x"], &[], Failure::environmental("`x` does not exist in the workspace")),
            (&["."], &["x"], Failure::environmental("`x` does not exist in the workspace")),
            (&["."], &["c"], Failure::logical("`c` is not a folder")),
            (&["a"], &["./a/"], Failure::logical("`./a/` is both to be looked into and to be left alone")),
        ];
        for (under, outside, failure) in table {
            let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
            let refused = Places::look_up(tree.workspace(), &names(under), &names(outside));
            assert_eq!(refused.unwrap_err(), failure, "{under:?} {outside:?}");
        }
    }
}
