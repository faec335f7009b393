//! Which questions are alike: what a yes to all of them at once may be offered for.

use std::collections::BTreeSet;
use std::path::Path;

use super::view::ApprovalView;
use broker::Reach;
use broker::question::Question;

/// What a file is, as far as its name says so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileKind {
    folder: String,
    extension: Option<String>,
    /// Whether it, or a folder on the way to it, is hidden.
    hidden: bool,
    temporary: bool,
}

/// How the names of files end that editors, downloads and programs leave behind.
const TEMPORARY: [&str; 10] =
    ["~", ".tmp", ".temp", ".swp", ".swo", ".bak", ".orig", ".old", ".part", ".crdownload"];

impl FileKind {
    fn of(path: &str) -> Self {
        let lower = path.to_lowercase();
        let name = lower.rsplit('/').next().unwrap_or(&lower);
        let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().into_owned());
        Self {
            folder: path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned(),
            extension,
            hidden: lower.split('/').any(|part| part.starts_with('.') && part != "."),
            temporary: TEMPORARY.iter().any(|end| name.ends_with(end)) || name.starts_with(['#', '~']),
        }
    }
}

/// The files that a question is about: those that would change, or those that its arguments name.
pub fn list_files(view: &ApprovalView) -> Vec<String> {
    let Some(question) = &view.question else { return Vec::new() };
    let names = question.names.iter().map(|name| name.change.path.clone());
    let names: Vec<String> = names.collect();
    let named = || question.sinks.iter().map(|sink| sink.value.clone()).collect();
    if names.is_empty() { named() } else { names }
}

/// Alike are questions about the same tool and the same kind of arguments, asked for the same reasons, about files of the same
/// folder and the same kind. One that wants something typed stands alone, so that it is read.
fn is_alike(one: &ApprovalView, other: &ApprovalView) -> bool {
    let kinds = |view: &ApprovalView| -> BTreeSet<FileKind> {
        list_files(view).iter().map(|file| FileKind::of(file)).collect()
    };
    let both = |test: fn(&Question) -> bool| {
        [one, other].iter().all(|view| view.question.as_ref().is_some_and(test))
    };
    let in_workspace = both(|question| question.reach == Reach::Workspace);
    one.shape == other.shape
        && both(|question| question.typed.is_none())
        && (!in_workspace || kinds(one) == kinds(other))
}

/// The questions in groups of alike ones, each in the order of its first.
pub fn group_alike<'a>(views: &[&'a ApprovalView]) -> Vec<Vec<&'a ApprovalView>> {
    let mut groups: Vec<Vec<&ApprovalView>> = Vec::new();
    for view in views {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| is_alike(first, view))) {
            Some(group) => group.push(view),
            None => groups.push(vec![view]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::ApprovalView;
    use broker::question::NamedBy;
    use serde_json::json;

    use super::super::sample::{question, sink, view};
    use super::group_alike;

    fn deletion(path: &str) -> ApprovalView {
        view(question("delete_file", json!({ "path": path }), vec![sink("path", path, NamedBy::Request)]))
    }

    #[test]
    fn alike_are_files_of_one_folder_and_one_kind() {
        for (one, other, expected) in [
            ("src/a.rs", "src/b.rs", true),
            ("src/a.rs", "src/A.RS", true),
            ("notes", "Makefile", true),
            ("src/a.rs", "src/b.rs.tmp", false),
            ("src/a.rs", "src/a.tmp", false),
            ("src/a.rs", "src/#a.rs", false),
            ("src/a.rs", "src/.a.rs", false),
            ("src/a.rs", ".src/a.rs", false),
            ("src/a.rs", "src/a.toml", false),
            ("src/a.rs", "src/a", false),
            ("src/a.rs", "lib/a.rs", false),
            ("src/a.rs", "src/deep/a.rs", false),
            (".env", ".profile", true),
        ] {
            let (one, other) = (deletion(one), deletion(other));
            assert_eq!(
                group_alike(&[&one, &other]).len() == 1,
                expected,
                "{:?} {:?}",
                one.question,
                other.question
            );
        }
    }

    #[test]
    fn a_question_that_wants_something_typed_or_was_erased_stands_alone() {
        let mut typed = deletion("a.txt");
        let value = broker::question::Typed { sink: "path".into(), expected: "a.txt".into() };
        typed.question.as_mut().expect("a question").typed = Some(value);
        let mut erased = deletion("a.txt");
        erased.question = None;
        let plain = deletion("b.txt");
        assert_eq!(group_alike(&[&plain, &typed, &erased, &plain, &typed, &erased]).len(), 5);
    }
}
