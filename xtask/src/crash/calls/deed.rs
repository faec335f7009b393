//! A call that changes something, and how it is seen whether and how often it did.

use std::path::{Path, PathBuf};

use super::effects::{Change, Effect};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A new file.
    Create,
    /// A whole new content for a file.
    Replace,
    /// One sign more in a file, every time it runs.
    Append,
    Delete,
}

/// Where one is added.
const MARK: &str = "count:";
const OLD: &str = "old";

/// One call, known by the name of its file, which is nobody else's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Deed {
    pub(super) number: u64,
    pub(super) kind: Kind,
    /// Whether its first commit was seen; before that nothing was promised.
    pub(super) begun: bool,
    /// Whether a process ended with 0 for it.
    pub(super) said_done: bool,
    /// Whether what it did was undone by us, so that doing it twice would show.
    pub(super) undone: bool,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Create, Self::Replace, Self::Append, Self::Delete];

    /// What happens to its file when it runs.
    const fn change(self) -> Change {
        match self {
            Self::Create | Self::Replace | Self::Append => Change::Placed,
            Self::Delete => Change::Deleted,
        }
    }

    pub(super) const fn tool(self) -> &'static str {
        match self {
            Self::Create | Self::Replace => "write_file",
            Self::Append => "edit_file",
            Self::Delete => "delete_file",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Delete => "delete",
        }
    }
}

impl Deed {
    pub(super) fn new(number: u64, kind: Kind) -> Self {
        Self { number, kind, begun: false, said_done: false, undone: false }
    }

    pub(super) fn file(&self) -> String {
        format!("{}-{}.txt", self.kind.name(), self.number)
    }

    /// The command line.
    pub(super) fn args(&self) -> Vec<String> {
        let path = format!("path={}", self.file());
        let content = format!("content={}", self.number);
        let (old, new) = (format!("old={MARK}"), format!("new={MARK}+"));
        let args: Vec<&str> = match self.kind {
            Kind::Create => vec![&path, &content],
            Kind::Replace => vec![&path, &content, "replace=true", "--yes"],
            Kind::Append => vec![&path, &old, &new, "--yes"],
            Kind::Delete => vec![&path, "--yes"],
        };
        ["tools", "call", self.kind.tool()].into_iter().chain(args).map(str::to_owned).collect()
    }

    /// What has to be there first.
    pub(super) const fn before(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Create => None,
            Kind::Append => Some(MARK),
            Kind::Replace | Kind::Delete => Some(OLD),
        }
    }

    /// How often it happened, by what the kernel told.
    pub(super) fn count(&self, effects: &[Effect]) -> u64 {
        let (file, change) = (self.file(), self.kind.change());
        let ours = effects.iter().filter(|effect| effect.name == file && effect.change == change);
        u64::try_from(ours.count()).unwrap_or(u64::MAX)
    }

    /// Whether the file is as it must be after so many effects: a second witness.
    pub(super) fn fits(&self, workspace: &Path, effects: u64) -> bool {
        let found = std::fs::read_to_string(workspace.join(self.file())).ok();
        let number = self.number.to_string();
        let done = effects > 0;
        match self.kind {
            _ if self.undone => true,
            Kind::Create => found == done.then_some(number),
            Kind::Replace => found == Some(if done { number } else { OLD.to_owned() }),
            Kind::Delete => found.is_none() == done,
            Kind::Append => found.is_some_and(|text| u64::try_from(text.matches('+').count()) == Ok(effects)),
        }
    }

    /// Undoes what would keep a second run from having an effect: a file that exists is not created, one that is gone is
    /// not deleted. What is moved away or put back is not counted.
    pub(super) fn undo(&mut self, workspace: &Path, aside: &Path) -> std::io::Result<()> {
        let (file, spare): (PathBuf, PathBuf) = (workspace.join(self.file()), aside.join(self.file()));
        match self.kind {
            Kind::Create if file.exists() => std::fs::rename(file, spare)?,
            Kind::Delete if !file.exists() => {
                std::fs::write(&spare, OLD)?;
                std::fs::rename(spare, file)?;
            }
            Kind::Create | Kind::Delete | Kind::Replace | Kind::Append => return Ok(()),
        }
        self.undone = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn an_effect_counts_for_the_call_whose_file_it_is() {
        let at = Instant::now();
        let effect = |name: &str, change| Effect { name: name.to_owned(), change, at };
        let effects = [
            effect("create-1.txt", Change::Placed),
            effect("delete-2.txt", Change::Placed),
            effect("delete-2.txt", Change::Deleted),
            effect("append-3.txt", Change::Placed),
            effect("append-3.txt", Change::Placed),
        ];
        for (number, kind, expected) in
            [(1, Kind::Create, 1), (2, Kind::Delete, 1), (3, Kind::Append, 2), (4, Kind::Create, 0)]
        {
            assert_eq!(Deed::new(number, kind).count(&effects), expected, "{kind:?}");
        }
    }

    #[test]
    fn a_file_that_does_not_fit_is_noticed() {
        let (folder, aside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("append-1.txt", "count:+");
        write("create-2.txt", "2");
        write("replace-3.txt", "3");
        for (number, kind, effects) in
            [(1, Kind::Append, 1), (2, Kind::Create, 1), (3, Kind::Replace, 1), (4, Kind::Delete, 1)]
        {
            let mut deed = Deed::new(number, kind);
            assert!(deed.fits(folder.path(), effects), "{kind:?}");
            assert!(!deed.fits(folder.path(), 0), "{kind:?}");
            deed.undo(folder.path(), aside.path()).unwrap();
            assert_eq!(deed.undone, matches!(kind, Kind::Create | Kind::Delete), "{kind:?}");
        }
    }
}
