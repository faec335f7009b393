//! Which files are wanted, as far as their name and what the kernel says about them tell.
//!
//! Pure, and in two steps, because a name costs nothing and the rest a question to the kernel: [`Wanted::admits_path`],
//! then [`Wanted::admits`]. What only the content tells is a [`crate::search::Study`].

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use domain::Time;
use domain::call::Failure;
use globset::GlobSet;

use crate::confined::{Kind, Seen};
use crate::names;
use crate::pattern;
use crate::workspace::tidied;

#[derive(Debug)]
pub(crate) struct Wanted {
    /// [`Kind::File`] or [`Kind::Folder`].
    pub(crate) kind: Kind,
    /// Any of them, or none is asked for.
    pub(crate) extensions: Vec<String>,
    pub(crate) not_extensions: Vec<String>,
    /// Of its own name.
    pub(crate) names: Option<GlobSet>,
    pub(crate) not_names: Option<GlobSet>,
    /// Of its path in the workspace.
    pub(crate) paths: Option<GlobSet>,
    pub(crate) not_paths: BTreeSet<PathBuf>,
    pub(crate) modified_from: Option<Time>,
    pub(crate) modified_before: Option<Time>,
    pub(crate) larger_than: Option<u64>,
    pub(crate) smaller_than: Option<u64>,
    /// Of a file: whether it has no bytes. Whether a folder is empty is not in [`Seen`].
    pub(crate) empty: Option<bool>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            kind: Kind::File,
            extensions: Vec::new(),
            not_extensions: Vec::new(),
            names: None,
            not_names: None,
            paths: None,
            not_paths: BTreeSet::new(),
            modified_from: None,
            modified_before: None,
            larger_than: None,
            smaller_than: None,
            empty: None,
        }
    }
}

impl Wanted {
    /// Asked with its path relative to the workspace, and the name that this ends with.
    pub(crate) fn admits_path(&self, path: &Path, name: &OsStr) -> bool {
        let extension = Path::new(name).extension();
        !names::is_leftover(name)
            && (self.extensions.is_empty() || is_one_of(extension, &self.extensions))
            && !is_one_of(extension, &self.not_extensions)
            && self.names.as_ref().is_none_or(|names| names.is_match(name))
            && !self.not_names.as_ref().is_some_and(|names| names.is_match(name))
            && self.paths.as_ref().is_none_or(|paths| paths.is_match(path))
            && !self.not_paths.contains(path)
    }

    /// Whether the name alone decides.
    pub(crate) fn goes_by_path(&self) -> bool {
        self.kind == Kind::File
            && self.modified_from.or(self.modified_before).is_none()
            && self.larger_than.or(self.smaller_than).is_none()
            && self.empty.is_none()
    }

    pub(crate) fn admits(&self, seen: &Seen) -> bool {
        let modified = seen.modified_at();
        seen.kind == self.kind
            && self.modified_from.is_none_or(|from| modified >= from)
            && self.modified_before.is_none_or(|before| modified < before)
            && self.larger_than.is_none_or(|bytes| seen.bytes > bytes)
            && self.smaller_than.is_none_or(|bytes| seen.bytes < bytes)
            && (seen.kind == Kind::Folder || self.empty.is_none_or(|empty| empty == (seen.bytes == 0)))
    }
}

fn is_one_of(extension: Option<&OsStr>, extensions: &[String]) -> bool {
    extension.is_some_and(|extension| extensions.iter().any(|wanted| extension.eq_ignore_ascii_case(wanted)))
}

pub(crate) fn check_extension(extension: &str) -> Result<(), Failure> {
    if extension.is_empty() || extension.contains(['.', '/']) || extension.chars().any(char::is_control) {
        let escaped = extension.escape_debug();
        return Err(Failure::logical(format!("`{escaped}` is no extension; write it like `rs`")));
    }
    Ok(())
}

/// Globs over names, or nothing if there are none.
pub(crate) fn name_globs<'a>(
    patterns: impl IntoIterator<Item = &'a String>,
) -> Result<Option<GlobSet>, Failure> {
    let patterns: Vec<&str> = patterns.into_iter().map(String::as_str).collect();
    if let Some(path) = patterns.iter().find(|pattern| pattern.contains('/')) {
        let problem = "is for file names, which have no `/`; use `glob` for paths";
        return Err(Failure::logical(format!("`{}` {problem}", path.escape_debug())));
    }
    if patterns.is_empty() { Ok(None) } else { pattern::compile_all(&patterns).map(Some) }
}

/// What is not wanted: names, and paths, which are told apart by their `/`.
pub(crate) fn exceptions(texts: &[String]) -> Result<(Option<GlobSet>, BTreeSet<PathBuf>), Failure> {
    let (paths, names): (Vec<&String>, Vec<&String>) = texts.iter().partition(|text| text.contains('/'));
    let path = |text: &&String| names::check_path(text).map(|()| tidied(text));
    Ok((name_globs(names)?, paths.iter().map(path).collect::<Result<_, _>>()?))
}
