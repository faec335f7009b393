//! What the ignore files of a workspace say, and what is hidden.
//!
//! A folder's own rules are asked first, then those of the folder above, up to the workspace; the first that says
//! something decides. Within a folder `.ignore` wins over `.gitignore`, and a later line over an earlier one. Rules
//! count with and without a `.git`. Nothing above the workspace counts, nor do the user's own git settings: the answer
//! depends on the workspace alone.
//!
//! An ignore file is read as any other file of the workspace: beneath it, and through a link only if that stays inside.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use nix::errno::Errno;

use crate::confined::{Folder, Kind};
use crate::workspace::Workspace;

const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// A larger ignore file is none that somebody wrote.
const IGNORE_BYTES: u64 = 1024 * 1024;

/// The rules of a folder and of those above it. None where no folder has any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Option<Arc<Own>>);

#[derive(Debug)]
struct Own {
    matcher: Gitignore,
    above: Rules,
}

/// An ignore file that is a pipe, a device, too large, a link out of the workspace, or not ours to read.
#[derive(Debug)]
pub(crate) struct Trap;

impl Rules {
    /// These, and what the ignore files of one more folder say.
    pub(crate) fn and_of(&self, workspace: &Workspace, folder: &Folder, path: &Path) -> Result<Self, Trap> {
        let mut builder = None;
        for name in IGNORE_FILES {
            let Some(text) = read(workspace, folder, path, name)? else { continue };
            let builder = builder.get_or_insert_with(|| GitignoreBuilder::new(path));
            for line in text.trim_start_matches('\u{feff}').lines() {
                if builder.add_line(None, line).is_err() {
                    continue; // a line that is no glob rules nothing, as in git
                }
            }
        }
        match builder.map(|builder| builder.build()) {
            None => Ok(self.clone()),
            Some(Ok(matcher)) if matcher.is_empty() => Ok(self.clone()),
            Some(Ok(matcher)) => Ok(Self(Some(Arc::new(Own { matcher, above: self.clone() })))),
            Some(Err(_too_much)) => Err(Trap),
        }
    }

    /// Whether something in a walk is passed over. What begins with a dot is hidden, unless a rule asks for it.
    pub(crate) fn leave_out(&self, path: &Path, name: &OsStr, is_folder: bool) -> bool {
        let mut rules = self;
        while let Some(own) = rules.0.as_deref() {
            match own.matcher.matched(path, is_folder) {
                Match::None => rules = &own.above,
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        name.as_encoded_bytes().starts_with(b".")
    }
}

/// Nothing, if there is no such file. Bytes that are no UTF-8 are in no rule that could be meant.
fn read(workspace: &Workspace, folder: &Folder, path: &Path, name: &str) -> Result<Option<String>, Trap> {
    let (file, seen) = match folder.open(OsStr::new(name)) {
        Ok(opened) => opened,
        Err(Errno::ENOENT) => return Ok(None),
        Err(Errno::ELOOP) => {
            let link = path.join(name);
            let opened = link.to_str().and_then(|link| workspace.file(link).ok()).ok_or(Trap)?;
            (opened.file, opened.seen)
        }
        Err(_) => return Err(Trap),
    };
    match seen.kind {
        Kind::Folder => Ok(None),
        Kind::File if seen.bytes <= IGNORE_BYTES => text(file).map(Some).ok_or(Trap),
        _ => Err(Trap),
    }
}

fn text(file: File) -> Option<String> {
    let mut bytes = Vec::new();
    // It may have grown since it was looked at.
    let read = file.take(IGNORE_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (read as u64 <= IGNORE_BYTES).then(|| String::from_utf8_lossy(&bytes).into_owned())
}
