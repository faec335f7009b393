//! `tool-access.json` and the secrets: read when they are needed, and closed if they cannot be.

#![expect(clippy::disallowed_methods, reason = "the house's own files")]

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use broker::access::Switches;
use broker::secrets::Secrets;
use domain::call::ToolId;
use runtime::{Code, House, Problem};

use super::file_drafts::FileDraft;
use super::{files, trusted};

/// What the file says.
fn text(house: &House) -> io::Result<Option<String>> {
    trusted::text(&house.tool_access())
}

fn trouble(house: &House, why: &str) -> Problem {
    Problem::new(Code::TOOL_ACCESS, format!("{}: {why}", house.tool_access().display()))
        .safe("the switches are as they were")
        .remedy("regent explain R4029")
}

/// # Errors
/// If nobody can know how the switches stand.
pub(super) fn known(house: &House) -> Result<(), Problem> {
    text(house).map(drop).map_err(|error| trouble(house, &trusted::explain(&error)))
}

pub(super) fn switches(house: &House, off: &str) -> Switches {
    match text(house) {
        Ok(text) => Switches::read(text.as_deref()),
        Err(error) => Switches::unreadable(trusted::explain(&error)),
    }
    .without(off)
}

/// The file is replaced as a whole. Whoever else turns a switch at the same moment waits.
pub(super) fn turn(house: &House, tool: &ToolId, enabled: bool, unique: &str) -> Result<(), Problem> {
    let path = house.tool_access();
    let io_trouble = |error: io::Error| trouble(house, &trusted::explain(&error));
    files::make_folder(&house.data).map_err(io_trouble)?;
    let mut open = std::fs::OpenOptions::new();
    let open = open.create(true).truncate(false).write(true);
    let lock = files::open_to_write(open, &house.data.join("tool-access.lock")).map_err(io_trouble)?;
    lock.lock().map_err(io_trouble)?;
    let now = text(house).map_err(io_trouble)?;
    let turned = Switches::turned(now.as_deref(), tool, enabled).map_err(|why| trouble(house, &why))?;
    let written = FileDraft::write(&path, turned.as_bytes(), unique).and_then(FileDraft::replace);
    written.map(drop).map_err(io_trouble)
}

/// Whether a restore brings the switches of the backup: only where there are none. A link that leads nowhere is there.
pub(super) fn comes_back(house: &House, restored: &House) -> bool {
    restored.tool_access().is_file() && house.tool_access().symlink_metadata().is_err()
}

/// Where the switches of a backup lie until the house is put in place: in the folder that they go to.
fn prepared(house: &House) -> PathBuf {
    house.config.join(".tool-access.restored")
}

pub(super) fn prepare(house: &House, restored: &House) -> io::Result<()> {
    discard(house)?; // somebody who was killed may have left it
    if comes_back(house, restored) {
        files::make_folder(&house.config)?;
        files::copy(&restored.tool_access(), &prepared(house))?;
        files::sync(&house.config)?;
    }
    Ok(())
}

/// What was prepared gets its name, unless somebody has turned a switch meanwhile. Can be begun again.
pub(super) fn put_back(house: &House) -> io::Result<()> {
    match std::fs::hard_link(prepared(house), house.tool_access()) {
        Ok(()) => files::sync(&house.config),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

pub(super) fn discard(house: &House) -> io::Result<()> {
    files::remove(&prepared(house))
}

/// The names in the folder of secrets. Folders, and what a file manager leaves (`.DS_Store`), are none.
pub(super) fn secret_files(house: &House) -> io::Result<Vec<String>> {
    let folder = house.secrets();
    let names = files::names(&folder)?.into_iter();
    Ok(names.filter(|name| !name.starts_with('.') && !folder.join(name).is_dir()).collect())
}

/// One file per secret. One that others can read is none any more, and then nothing runs until that is put right.
pub(super) fn secrets(house: &House) -> Result<Secrets, Problem> {
    let folder = house.secrets();
    let trouble = |path: &Path, why: String| {
        Problem::new(Code::SECRETS, format!("{}: {why}", path.display()))
            .safe("nothing was done")
            .remedy("regent explain R4030")
    };
    let mut secrets = Secrets::default();
    let names = secret_files(house).map_err(|error| trouble(&folder, error.to_string()))?;
    if names.is_empty() {
        return Ok(secrets);
    }
    let metadata = std::fs::metadata(&folder).map_err(|error| trouble(&folder, error.to_string()))?;
    if metadata.mode() & 0o077 != 0 {
        return Err(trouble(
            &folder,
            format!("others can look into it; chmod 700 {}", trusted::quote(&folder)),
        ));
    }
    for name in names {
        let path = folder.join(&name);
        let metadata = std::fs::metadata(&path).map_err(|error| trouble(&path, error.to_string()))?;
        if metadata.mode() & 0o077 != 0 {
            return Err(trouble(&path, format!("others can read it; chmod 600 {}", trusted::quote(&path))));
        }
        let value = trusted::text(&path).map_err(|error| trouble(&path, trusted::explain(&error)))?;
        let value = value.unwrap_or_default();
        secrets.insert(&name, value.trim_end_matches(['\n', '\r'])).map_err(|why| trouble(&path, why))?;
    }
    Ok(secrets)
}
