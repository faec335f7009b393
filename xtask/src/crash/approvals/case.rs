//! One call that a person is asked about, its files, and how it is seen whether and how often it had an effect.

use std::path::Path;

use super::super::calls::effects::{Change, Effect};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Delete,
    /// A whole new content for a file.
    Replace,
    /// One sign more in a file.
    Edit,
}

impl Kind {
    /// Each with how often it is drawn.
    pub(super) const WEIGHTED: [(Self, u64); 3] = [(Self::Delete, 3), (Self::Replace, 1), (Self::Edit, 1)];

    pub(super) const fn tool(self) -> &'static str {
        match self {
            Self::Delete => "delete_file",
            Self::Replace => "write_file",
            Self::Edit => "edit_file",
        }
    }
}

/// What is in a file at first, and where one sign is added.
const MARK: &str = "count:";

/// One call, known by the names of its files, which are nobody else's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Case {
    number: u64,
    kind: Kind,
    /// What its file holds as long as nothing has happened to it.
    content: String,
}

/// What the kernel told of the call's two files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// On the file that was asked about.
    pub(super) own: u64,
    /// On the one that somebody may have written instead.
    pub(super) other: u64,
}

impl Case {
    pub(super) fn new(number: u64, kind: Kind) -> Self {
        Self { number, kind, content: MARK.to_owned() }
    }

    pub(super) fn file(&self) -> String {
        format!("asked-{}.txt", self.number)
    }

    fn other(&self) -> String {
        format!("instead-{}.txt", self.number)
    }

    pub(super) fn files(&self) -> [String; 2] {
        [self.file(), self.other()]
    }

    pub(super) const fn tool(&self) -> &'static str {
        self.kind.tool()
    }

    /// The command line of the call.
    pub(super) fn call(&self) -> Vec<String> {
        let arguments = match self.kind {
            Kind::Delete => Vec::new(),
            Kind::Replace => vec![format!("content={}", self.number), "replace=true".to_owned()],
            Kind::Edit => vec![format!("old={MARK}"), format!("new={MARK}+")],
        };
        let call = ["tools", "call", self.tool()].map(str::to_owned);
        call.into_iter().chain([format!("path={}", self.file())]).chain(arguments).collect()
    }

    /// The argument that makes it another call.
    pub(super) fn instead(&self) -> String {
        format!("path={}", self.other())
    }

    pub(super) fn count(&self, effects: &[Effect]) -> Counted {
        let change = match self.kind {
            Kind::Delete => Change::Deleted,
            Kind::Replace | Kind::Edit => Change::Placed,
        };
        let on = |file: String| {
            let ours = effects.iter().filter(|effect| effect.name == file && effect.change == change);
            u64::try_from(ours.count()).unwrap_or(u64::MAX)
        };
        Counted { own: on(self.file()), other: on(self.other()) }
    }

    /// Somebody else changes what is in the file that was asked about. In place: that is no effect.
    pub(super) fn spoil(&mut self, workspace: &Path) -> std::io::Result<()> {
        self.content = format!("{MARK} changed by somebody else");
        std::fs::write(workspace.join(self.file()), &self.content)
    }

    /// Puts both files back as they were: doing it a second time with the same yes must show. In place, or where a file is
    /// gone that is counted only when it goes.
    pub(super) fn undo(&self, workspace: &Path) -> std::io::Result<()> {
        for (file, text) in [(self.file(), self.content.as_str()), (self.other(), MARK)] {
            let path = workspace.join(file);
            if std::fs::read_to_string(&path).ok().as_deref() != Some(text) {
                std::fs::write(path, text)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn case(kind: Kind) -> Case {
        Case::new(7, kind)
    }

    #[test]
    fn an_effect_counts_for_the_file_it_is_on() {
        let at = Instant::now();
        let effect = |name: &str, change| Effect { name: name.to_owned(), change, at };
        let effects = [
            effect("asked-7.txt", Change::Placed),
            effect("asked-7.txt", Change::Deleted),
            effect("instead-7.txt", Change::Deleted),
            effect("asked-8.txt", Change::Deleted),
        ];
        assert_eq!(case(Kind::Delete).count(&effects), Counted { own: 1, other: 1 });
        assert_eq!(case(Kind::Edit).count(&effects), Counted { own: 1, other: 0 });
    }

    #[test]
    fn what_was_done_is_undone_and_what_somebody_else_wrote_stays() {
        let folder = tempfile::tempdir().unwrap();
        let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
        let mut case = case(Kind::Delete);
        case.undo(folder.path()).unwrap();
        case.spoil(folder.path()).unwrap();
        std::fs::remove_file(folder.path().join("instead-7.txt")).unwrap();
        case.undo(folder.path()).unwrap();
        assert_eq!(text("instead-7.txt").as_deref(), Some(MARK));
        assert_ne!(text("asked-7.txt").as_deref(), Some(MARK));
    }
}
