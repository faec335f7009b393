//! Copies of the checkpoints where whoever takes this machine does not reach: a file, a folder, a git repository.

#![expect(
    clippy::disallowed_methods,
    reason = "a file that the owner named, and git if it lies in a repository"
)]

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use domain::id::NodeId;
use runtime::{Code, Problem};

/// Writes the lines to a file, or into a folder under the stream's name; in a git repository the file is committed.
pub(super) fn keep(to: &str, stream: NodeId, lines: &[String]) -> Result<String, Problem> {
    if to.contains("://") {
        let what =
            format!("`{to}` is an address; an anchor is kept in a file, a folder or a git repository so far");
        return Err(Problem::new(Code::PIN, what).remedy("regent audit anchor --to <folder>"));
    }
    let given = PathBuf::from(to);
    let file = if given.is_dir() { given.join(format!("regent-{stream}.jsonl")) } else { given };
    let failed = |error: io::Error| {
        Problem::new(Code::PIN, format!("cannot keep an anchor in {}: {error}", file.display()))
            .safe("what lies there was not changed")
    };
    let there = match std::fs::read_to_string(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        there => there.map_err(failed)?,
    };
    let known: Vec<&str> = there.lines().filter(|line| !line.is_empty()).collect();
    if known.len() > lines.len() || known.iter().zip(lines).any(|(known, line)| *known != line.as_str()) {
        let what = format!("{} holds checkpoints that are not the beginning of ours", file.display());
        return Err(Problem::new(Code::AUDIT_BROKEN, what)
            .safe("what lies there was not changed")
            .remedy(format!("regent audit verify --root {}", file.display())));
    }
    write(&file, lines).map_err(failed)?;
    match repository(&file) {
        Some(folder) => commit(&folder, &file, lines.len()),
        None => Ok(file.display().to_string()),
    }
}

/// Under another name first, so that nobody ever sees half of it.
fn write(file: &Path, lines: &[String]) -> io::Result<()> {
    let draft = file.with_extension("draft");
    let mut text = lines.join("\n");
    text.push('\n');
    let mut open = std::fs::File::create(&draft)?;
    open.write_all(text.as_bytes()).and_then(|()| open.sync_all())?;
    std::fs::rename(&draft, file)
}

/// The folder of the file, if a git repository is around it.
fn repository(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().any(|above| above.join(".git").exists()).then_some(folder)
}

fn commit(folder: &Path, file: &Path, checkpoints: usize) -> Result<String, Problem> {
    let name = file.file_name().unwrap_or_default();
    let message = format!("checkpoints of the audit, {checkpoints} so far");
    let git = |args: &[&std::ffi::OsStr]| -> Result<(), Problem> {
        let ran = Command::new("git").arg("-C").arg(folder).args(args).output();
        let why = match ran {
            Ok(ran) if ran.status.success() => return Ok(()),
            Ok(ran) => String::from_utf8_lossy(&ran.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        let what = format!("the anchor is written to {}, and git did not take it: {why}", file.display());
        Err(Problem::new(Code::PIN, what))
    };
    git(&["add".as_ref(), "--".as_ref(), name])?;
    git(&["commit".as_ref(), "--quiet".as_ref(), "-m".as_ref(), message.as_ref(), "--".as_ref(), name])?;
    Ok(format!("{} (committed; push it to where this machine cannot rewrite it)", file.display()))
}
