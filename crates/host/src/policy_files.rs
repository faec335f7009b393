//! The owner's policy files: read when they are needed, and not relied on if others could have written them.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::fs::Metadata;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use app::instance::paths::InstancePaths;
use app::{Code, PolicyFile, PolicyKind, Problem};
use policy::acl::limits::{FILE_BYTES, FILES, SET_BYTES};

use crate::file_drafts::FileDraft;
use crate::files;
use crate::trusted_files::{self, LinkPolicy};

/// Whether a name in the folder is that of a policy file. What editors and file managers leave is none.
fn is_policy_file(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    !name.starts_with('.') && ending.is_some_and(|ending| ["yaml", "yml"].contains(&ending))
}

/// Every policy file of one kind, with what cannot be relied on in its place.
pub(crate) fn read_all(instance: &InstancePaths, kind: PolicyKind) -> Vec<PolicyFile> {
    let folder = instance.policies_of(kind);
    let whole = |why: String| vec![PolicyFile { name: String::new(), text: Err(why) }];
    let names = match is_folder(&instance.policies()).and_then(|there| Ok(there && is_folder(&folder)?)) {
        Ok(true) => files::list_names(&folder),
        Ok(false) => return Vec::new(),
        Err(error) => Err(error),
    };
    let names = match names {
        Ok(names) => names,
        Err(error) => return whole(trusted_files::explain(&error)),
    };
    let mut left = SET_BYTES;
    // One more than a set may have: whoever loads it says so.
    let names = names.into_iter().filter(|name| is_policy_file(name)).take(FILES + 1);
    let read = names.map(|name| {
        let text = read_policy(&folder.join(&name), left).map_err(|error| trusted_files::explain(&error));
        left = left.saturating_sub(text.as_ref().map_or(0, String::len));
        PolicyFile { name, text }
    });
    read.collect()
}

/// Whether a folder is there and can be trusted. A link to one is no folder of ours.
fn is_folder(folder: &Path) -> io::Result<bool> {
    if folder.is_symlink() {
        return Err(io::Error::other(format!("{} is no folder", folder.display())));
    }
    trusted_files::check_folder(folder)
}

/// A link is not followed: nobody knows who else can change what it leads to.
fn read_policy(path: &Path, left: usize) -> io::Result<String> {
    let wrong = |why: &str| Err(io::Error::other(why));
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let file = trusted_files::open(path, LinkPolicy::Refused)?.ok_or_else(missing)?;
    let before = file.metadata()?;
    if before.len() > FILE_BYTES as u64 {
        return wrong(&format!("it is larger than {FILE_BYTES} bytes"));
    }
    if before.len() > left as u64 {
        return wrong(&format!("the policy files are larger than {SET_BYTES} bytes together"));
    }
    let mut bytes = Vec::new();
    let read = (&file).take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let after = file.metadata()?;
    let state = |found: &Metadata| (found.len(), found.mtime(), found.mtime_nsec());
    // Half a file may well be without a mistake, and without what it denies.
    if state(&before) != state(&after) || read as u64 != before.len() {
        return wrong("somebody is writing it");
    }
    let Ok(text) = String::from_utf8(bytes) else { return wrong("it is not UTF-8") };
    if text.trim().is_empty() {
        return wrong("it is empty, as after a crash; if nothing is to stand there, remove it");
    }
    Ok(text)
}

fn policy_problem(path: &Path, error: &io::Error) -> Problem {
    let code = if error.kind() == io::ErrorKind::StorageFull { Code::DISK_FULL } else { Code::POLICIES };
    Problem::new(code, format!("{}: {error}", path.display()))
        .safe("the policies in force are as they were")
        .remedy(format!("regent explain {code}"))
}

/// The file is replaced as a whole.
pub(crate) fn write_file(
    instance: &InstancePaths,
    kind: PolicyKind,
    name: &str,
    text: &str,
    unique: &str,
) -> Result<(), Problem> {
    let folder = instance.policies_of(kind);
    let path = folder.join(name);
    let written = || -> io::Result<()> {
        files::make_folder(&folder)?;
        FileDraft::write(&path, text.as_bytes(), unique)?.replace()?;
        // The folders may be new themselves.
        files::sync(&instance.policies())?;
        files::sync(&instance.config)
    };
    written().map_err(|error| policy_problem(&path, &error))
}

pub(crate) fn remove_file(instance: &InstancePaths, kind: PolicyKind, name: &str) -> Result<(), Problem> {
    let folder = instance.policies_of(kind);
    let path = folder.join(name);
    std::fs::remove_file(&path)
        .and_then(|()| files::sync(&folder))
        .map_err(|error| policy_problem(&path, &error))
}

/// Whether this is the name of a policy file in a backup.
pub(crate) fn is_backup_name(name: &str) -> bool {
    let file =
        PolicyKind::ALL.iter().find_map(|kind| name.strip_prefix(&format!("policies/{}/", kind.name())));
    file.is_some_and(|file| is_policy_file(file) && !file.contains(['/', '\\', '\0']))
}

/// What a backup takes along, under the names that it has there. A copy without them would let others in.
pub(crate) fn list_for_backup(instance: &InstancePaths) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for kind in PolicyKind::ALL {
        let folder = instance.policies_of(kind);
        for name in files::list_names(&folder)?.into_iter().filter(|name| is_policy_file(name)) {
            found.push((format!("policies/{}/{name}", kind.name()), folder.join(name)));
        }
    }
    Ok(found)
}

/// Whether a restore brings the policies of the backup: only where there are none.
pub(crate) fn is_restored(instance: &InstancePaths, restored: &InstancePaths) -> bool {
    restored.policies().is_dir() && !exists(instance)
}

pub(crate) fn exists(instance: &InstancePaths) -> bool {
    instance.policies().symlink_metadata().is_ok()
}

/// Where the policies of a backup lie until the instance is put in place: in the folder that they go to.
fn prepared_path(instance: &InstancePaths) -> PathBuf {
    instance.config.join(".policies.restored")
}

pub(crate) fn prepare(instance: &InstancePaths, restored: &InstancePaths) -> io::Result<()> {
    discard(instance)?; // somebody who was killed may have left it
    if !is_restored(instance, restored) {
        return Ok(());
    }
    let into = prepared_path(instance);
    files::make_folder(&into)?;
    for (name, from) in list_for_backup(restored)? {
        let to = into.join(name.trim_start_matches("policies/"));
        if let Some(folder) = to.parent() {
            files::make_folder(folder)?;
            files::copy(&from, &to)?;
            files::sync(folder)?;
        }
    }
    files::sync(&into)?;
    files::sync(&instance.config)
}

/// What was prepared gets its name, unless somebody has written policies meanwhile. Can be begun again.
pub(crate) fn put_in_place(instance: &InstancePaths) -> io::Result<()> {
    if exists(instance) || !prepared_path(instance).is_dir() {
        return Ok(());
    }
    std::fs::rename(prepared_path(instance), instance.policies())?;
    files::sync(&instance.config)
}

pub(crate) fn discard(instance: &InstancePaths) -> io::Result<()> {
    files::remove(&prepared_path(instance))
}
