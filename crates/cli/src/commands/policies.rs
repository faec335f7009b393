//! Policy files of any kind, as commands read and check them.

use std::path::{Path, PathBuf};

use app::{Code, Problem};
use host::read_named_text;
use policy::yaml::{Mistakes, Note, Origin, Source};

use super::Done;
use crate::show::{Screen, inline, plural};

/// The policies of these files, and of no others.
pub(super) fn read<L>(
    files: &[PathBuf],
    load: impl Fn(&[Source<'_>]) -> Result<L, Mistakes>,
) -> Result<L, Problem> {
    let mut texts = Vec::new();
    for file in files {
        texts.push((file.display().to_string(), text(file)?));
    }
    let sources: Vec<Source<'_>> =
        texts.iter().map(|(file, text)| Source { file, text, origin: Origin::Own }).collect();
    load(&sources).map_err(|mistakes| wrong(&mistakes))
}

pub(super) fn text(file: &Path) -> Result<String, Problem> {
    let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
    read_named_text(file).and_then(|text| text.ok_or_else(missing)).map_err(|error| {
        let what = format!("`{}` cannot be read: {error}", file.display());
        Problem::new(Code::INPUT, what).safe("nothing was done")
    })
}

/// Says that nothing is wrong with so many policies.
pub(super) fn sound(screen: &Screen, count: usize, notes: &[Note], files: &[PathBuf]) -> Done {
    if screen.json {
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        screen.json_line(&serde_json::json!({ "policies": count, "notes": notes }))?;
        return Ok(0);
    }
    for note in notes {
        screen.note(&format!("note: {}", inline(&note.to_string())));
    }
    let (policies, files) = (plural(count, "policy", "policies"), plural(files.len(), "file", "files"));
    screen.line(&format!("{policies} in {files}: nothing is wrong"))?;
    Ok(0)
}

pub(super) fn wrong(mistakes: &Mistakes) -> Problem {
    Problem::new(Code::BAD_POLICY, mistakes.to_string())
        .safe("nothing was done")
        .remedy("regent explain R2023")
}
