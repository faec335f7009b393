//! `tool-access.json` and the secrets: read when they are needed, and closed if they cannot be.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use app::instance::paths::InstancePaths;
use app::{Code, Problem};
use broker::access::Switches;
use broker::secrets::Secrets;
use domain::call::ToolId;

use crate::file_drafts::FileDraft;
use crate::{files, trusted_files};

/// What the file says.
fn read_text(instance: &InstancePaths) -> io::Result<Option<String>> {
    trusted_files::read_text(&instance.tool_access())
}

fn access_problem(instance: &InstancePaths, why: &str) -> Problem {
    Problem::new(Code::TOOL_ACCESS, format!("{}: {why}", instance.tool_access().display()))
        .safe("the switches are as they were")
        .remedy("regent explain R4029")
}

/// # Errors
/// If nobody can know how the switches stand.
pub(crate) fn check_readable(instance: &InstancePaths) -> Result<(), Problem> {
    read_text(instance).map(drop).map_err(|error| access_problem(instance, &trusted_files::explain(&error)))
}

pub(crate) fn read_switches(instance: &InstancePaths, off: &str) -> Switches {
    match read_text(instance) {
        Ok(text) => Switches::read(text.as_deref()),
        Err(error) => Switches::unreadable(trusted_files::explain(&error)),
    }
    .without(off)
}

/// The file is replaced as a whole. Whoever else turns a switch at the same moment waits.
pub(crate) fn set_switch(
    instance: &InstancePaths,
    tool: &ToolId,
    enabled: bool,
    unique: &str,
) -> Result<(), Problem> {
    let path = instance.tool_access();
    let io_trouble = |error: io::Error| access_problem(instance, &trusted_files::explain(&error));
    files::make_folder(&instance.data).map_err(io_trouble)?;
    let mut open = std::fs::OpenOptions::new();
    let open = open.create(true).truncate(false).write(true);
    let lock = files::open_to_write(open, &instance.data.join("tool-access.lock")).map_err(io_trouble)?;
    lock.lock().map_err(io_trouble)?;
    let now = read_text(instance).map_err(io_trouble)?;
    let turned =
        Switches::turned(now.as_deref(), tool, enabled).map_err(|why| access_problem(instance, &why))?;
    let written = FileDraft::write(&path, turned.as_bytes(), unique).and_then(FileDraft::replace);
    written.map(drop).map_err(io_trouble)
}

/// Whether a restore brings the switches of the backup: only where there are none. A link that leads nowhere is there.
pub(crate) fn is_restored(instance: &InstancePaths, restored: &InstancePaths) -> bool {
    restored.tool_access().is_file() && instance.tool_access().symlink_metadata().is_err()
}

/// Where the switches of a backup lie until the instance is put in place: in the folder that they go to.
fn prepared_path(instance: &InstancePaths) -> PathBuf {
    instance.config.join(".tool-access.restored")
}

pub(crate) fn prepare(instance: &InstancePaths, restored: &InstancePaths) -> io::Result<()> {
    discard(instance)?; // somebody who was killed may have left it
    if is_restored(instance, restored) {
        files::make_folder(&instance.config)?;
        files::copy(&restored.tool_access(), &prepared_path(instance))?;
        files::sync(&instance.config)?;
    }
    Ok(())
}

/// What was prepared gets its name, unless somebody has turned a switch meanwhile. Can be begun again.
pub(crate) fn put_in_place(instance: &InstancePaths) -> io::Result<()> {
    match std::fs::hard_link(prepared_path(instance), instance.tool_access()) {
        Ok(()) => files::sync(&instance.config),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

pub(crate) fn discard(instance: &InstancePaths) -> io::Result<()> {
    files::remove(&prepared_path(instance))
}

/// The names in the folder of secrets. Folders, and what a file manager leaves (`.DS_Store`), are none.
pub(crate) fn list_secret_files(instance: &InstancePaths) -> io::Result<Vec<String>> {
    let folder = instance.secrets();
    let names = files::list_names(&folder)?.into_iter();
    Ok(names.filter(|name| !name.starts_with('.') && !folder.join(name).is_dir()).collect())
}

/// One file per secret. One that others can read is none any more, and then nothing runs until that is put right.
pub(crate) fn read_secrets(instance: &InstancePaths) -> Result<Secrets, Problem> {
    let folder = instance.secrets();
    let secrets_problem = |path: &Path, why: String| {
        Problem::new(Code::SECRETS, format!("{}: {why}", path.display()))
            .safe("nothing was done")
            .remedy("regent explain R4030")
    };
    let mut secrets = Secrets::default();
    let names = list_secret_files(instance).map_err(|error| secrets_problem(&folder, error.to_string()))?;
    if names.is_empty() {
        return Ok(secrets);
    }
    let metadata = std::fs::metadata(&folder).map_err(|error| secrets_problem(&folder, error.to_string()))?;
    if metadata.mode() & 0o077 != 0 {
        return Err(secrets_problem(
            &folder,
            format!("others can look into it; chmod 700 {}", trusted_files::quote(&folder)),
        ));
    }
    for name in names {
        let path = folder.join(&name);
        let metadata = std::fs::metadata(&path).map_err(|error| secrets_problem(&path, error.to_string()))?;
        if metadata.mode() & 0o077 != 0 {
            return Err(secrets_problem(
                &path,
                format!("others can read it; chmod 600 {}", trusted_files::quote(&path)),
            ));
        }
        let value = trusted_files::read_text(&path)
            .map_err(|error| secrets_problem(&path, trusted_files::explain(&error)))?;
        let value = value.unwrap_or_default();
        secrets
            .insert(&name, value.trim_end_matches(['\n', '\r']))
            .map_err(|why| secrets_problem(&path, why))?;
    }
    Ok(secrets)
}
