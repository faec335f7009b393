//! Policy files that the caller names, of any kind.

use std::io;
use std::path::{Path, PathBuf};

use kernel::{Code, Problem};
use policy::yaml::{Mistakes, Note, Origin, Source};
use present::{Page, Style, inline, pluralize};
use serde::Serialize;

use crate::operation::{OperationIo, Output};

/// The policies of these files, and of no others.
pub(super) fn read_policy_files<L>(
    io: &dyn OperationIo,
    files: &[PathBuf],
    load: impl Fn(&[Source<'_>]) -> Result<L, Mistakes>,
) -> Result<L, Problem> {
    let mut texts = Vec::new();
    for file in files {
        texts.push((file.display().to_string(), read_policy_text(io, file)?));
    }
    let sources: Vec<Source<'_>> =
        texts.iter().map(|(file, text)| Source { file, text, origin: Origin::Own }).collect();
    load(&sources).map_err(|mistakes| {
        Problem::new(Code::BAD_POLICY, mistakes.to_string())
            .safe("nothing was done")
            .remedy("regent explain R2023")
    })
}

pub(super) fn read_policy_text(io: &dyn OperationIo, file: &Path) -> Result<String, Problem> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    io.read_file(file).and_then(|text| text.ok_or_else(missing)).map_err(|error| {
        let what = format!("`{}` cannot be read: {error}", file.display());
        Problem::new(Code::INPUT, what).safe("nothing was done")
    })
}

/// The name of a file without the folders above it.
pub(super) fn name_policy_file(file: &Path) -> Result<String, Problem> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    name.ok_or_else(|| {
        Problem::new(Code::INPUT, format!("`{}` is no file", file.display())).safe("nothing was done")
    })
}

/// Policy files in which nothing is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyCheck {
    pub policies: usize,
    #[serde(skip)]
    pub files: usize,
    pub notes: Vec<String>,
}

impl PolicyCheck {
    pub(super) fn new(policies: usize, files: usize, notes: &[Note]) -> Self {
        Self { policies, files, notes: notes.iter().map(ToString::to_string).collect() }
    }
}

impl Output for PolicyCheck {
    fn render(&self, _: &Style<'_>) -> Page {
        let mut page = Page::new();
        for note in &self.notes {
            page.add_note(format!("note: {}", inline(note)));
        }
        let policies = pluralize(self.policies, "policy", "policies");
        let files = pluralize(self.files, "file", "files");
        page.add(format!("{policies} in {files}: nothing is wrong"));
        page
    }
}
