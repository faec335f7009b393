//! From here to there: what `copy_files` and `move_files` are asked for, found out and checked before anything changes.

use std::path::Path;

use domain::Stop;
use domain::call::Failure;
use domain::change::{Content, Standing};
use domain::limits::{CHANGED_BYTES, DELETED_DIGEST_BYTES};
use nix::errno::Errno;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::confined::{Denied, Kind};
use crate::names::{check_path, check_writable};
use crate::several::{self, Names, Room, Use};
use crate::staged;
use crate::standing::Found;
use crate::way::{self, Way};
use crate::workspace::{self, Place, Workspace, shown, tidied};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair {
    /// A file, relative to the workspace.
    pub(crate) from: String,
    /// Its new name, relative to the workspace; a folder, or what ends with `/`, is where it goes under its own name.
    /// Folders on the way are made if they are missing.
    pub(crate) to: String,
}

/// A pair that can be done, as it was found.
#[derive(Debug)]
pub(crate) struct Errand<'a> {
    /// As the caller calls it.
    pub(crate) from: &'a str,
    /// As it is kept and shown.
    pub(crate) shown: String,
    pub(crate) to: String,
    pub(crate) found: Found,
    /// Those that have to be made for it.
    pub(crate) folders: Vec<String>,
}

/// What more there is to check, and to find out, about one pair; the place is the source's.
pub(crate) type Check<'a, T> = &'a dyn Fn(&Place<'_>, &Errand<'_>, &Way<'_>) -> Result<T, Failure>;

/// # Errors
/// If there are too many, a source is no file, something is where one of them is to go, or the same name is meant twice.
pub(crate) fn find<'a, T>(
    workspace: &Workspace,
    pairs: &'a [Pair],
    mut room: Room,
    check: Check<'_, T>,
    stop: &Stop,
) -> Result<Vec<(Errand<'a>, T)>, Failure> {
    several::check_count(pairs.len())?;
    let mut made = Names::default();
    let one = |pair: &'a Pair| {
        let from = pair.from.as_str();
        check_path(from)?;
        let place = workspace.place(from)?;
        let found = room.look(&place, from, stop)?;
        check_source(&found, from)?;
        let to = target(workspace, pair)?;
        let way = way::to(workspace, &to, stop)?;
        if !way.is_missing() && way.place.folder.look(way.place.name) != Err(Errno::ENOENT) {
            return Err(staged::taken(&to));
        }
        let errand = Errand { from, shown: shown(from), folders: way.folders(), to: to.clone(), found };
        let more = check(&place, &errand, &way)?;
        errand.folders.iter().try_for_each(|folder| made.add(folder, Use::Folder))?;
        made.add(&to, Use::File)?;
        Ok((errand, more))
    };
    pairs.iter().map(one).collect()
}

/// Only a file goes anywhere; a link could lead elsewhere from there.
fn check_source(found: &Found, path: &str) -> Result<(), Failure> {
    match found.standing {
        Standing::File(_) | Standing::Large { .. } => Ok(()),
        Standing::Link { .. } => {
            Err(Failure::logical(format!("`{path}` is a link; name the file that it leads to")))
        }
        Standing::Nothing => Err(Failure::environmental(format!("`{path}` does not exist in the workspace"))),
    }
}

/// The very name that it gets.
fn target(workspace: &Workspace, pair: &Pair) -> Result<String, Failure> {
    let Pair { from, to } = pair;
    check_path(to)?;
    let folder = tidied(to);
    let is_folder = match workspace.folder_at(&folder) {
        Ok(_) => true,
        Err(Denied::Forbidden) => return Err(workspace::refused(to, Denied::Forbidden)),
        Err(Denied::Os(_)) => to.ends_with('/'),
    };
    let name = Path::new(from).file_name().unwrap_or_default();
    let whole = if is_folder { folder.join(name) } else { folder };
    let whole = whole.to_string_lossy().into_owned();
    check_writable(&whole)?;
    Ok(whole)
}

impl Errand<'_> {
    /// What is read of the source.
    ///
    /// # Errors
    /// If it has too many bytes to be read.
    pub(crate) fn content(&self) -> Result<&Content, Failure> {
        let from = self.from;
        match (&self.found.standing, self.found.seen.map(|seen| (seen.kind, seen.bytes))) {
            (Standing::File(content), _) => Ok(content),
            (_, Some((Kind::File, bytes))) if bytes <= DELETED_DIGEST_BYTES => {
                let why = format!("`{from}` is too much; at most {CHANGED_BYTES} bytes are copied at once");
                Err(Failure::logical(why))
            }
            _ => {
                let why = format!("`{from}` has more than {DELETED_DIGEST_BYTES} bytes, too many to copy");
                Err(Failure::logical(why))
            }
        }
    }
}
