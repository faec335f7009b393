//! Which copies of the instance there are: on the list, in the folders where copies were made, and unfinished ones that
//! killed processes have left. Those are removed; what cannot be removed is a copy like any other.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use app::instance::backup::{KeptBackup, Occasion};
use app::instance::paths::VaultOwner;
use app::{PolicyKind, Problem};

use crate::backup::read_manifest;
use crate::backup_list::{BackupList, BackupListing, ListedCopy};
use crate::folder_drafts::{self, DraftScope, FolderDraft};
use crate::os_host::{OsHost, file_problem};
use crate::{file_drafts, files, policy_files, tool_access};

/// What the names of copies begin with.
const PREFIX: &str = "regent-";

/// What the names of folders begin with that hold the files of an instance that did not open.
const ASIDE: &str = "replaced-";

impl OsHost {
    /// Makes a draft. In a folder that the owner named it is on the list before it is there.
    pub(crate) fn begin_draft(&self, parent: &Path) -> std::io::Result<FolderDraft> {
        files::make_folder(parent)?;
        let drafts = self.drafts_in(parent);
        drop(folder_drafts::clear(parent, drafts)?); // what is left is shown by `forget`, and in the way of nothing
        let path = folder_drafts::draft_path(parent, &self.unique());
        // An instance that is not there yet has no list: a dry run of its restore is made in the folder for temporary files.
        let entry = if drafts != DraftScope::Marked || !self.instance.data.is_dir() {
            None
        } else {
            self.stage("list the draft");
            Some(BackupList::of(&self.instance).begin(&path, self.clock.now())?)
        };
        self.stage("make the draft");
        FolderDraft::make(path, entry)
    }

    /// Says where a copy is.
    pub(crate) fn list(&self, copy: ListedCopy) -> Result<(), Problem> {
        self.stage("list the copy");
        let list = BackupList::of(&self.instance);
        list.add_copy(copy).map_err(|error| file_problem("write", list.path(), &error))
    }

    /// Where drafts are made that are not on the list.
    fn own_folders(&self) -> [PathBuf; 2] {
        [self.instance.data.clone(), self.instance.backups()]
    }

    fn drafts_in(&self, place: &Path) -> DraftScope<'_> {
        let is_own = self.own_folders().iter().any(|own| own == place);
        if is_own { DraftScope::Own(&self.instance) } else { DraftScope::Marked }
    }

    fn read_listing(&self) -> Result<BackupListing, Problem> {
        let list = BackupList::of(&self.instance);
        list.read().map_err(|error| file_problem("read", list.path(), &error))
    }

    /// Every copy that is known of, oldest first. Removes unfinished ones that dead processes have left.
    pub(crate) fn kept_backups(&self) -> Result<Vec<KeptBackup>, Problem> {
        let listing = self.read_listing()?;
        // Drafts first: one that gets its name meanwhile is found under that name.
        let mut kept = self.clear_all(&listing);
        kept.extend(self.find_unlisted(&listing));
        kept.extend(listing.copies.into_iter().map(
            |ListedCopy { at, folder, occasion, manifest, .. }| {
                let there = folder.is_dir();
                KeptBackup { folder, at, occasion, manifest, there, unfinished: false }
            },
        ));
        kept.sort_by_key(|kept| kept.at);
        Ok(kept)
    }

    /// Removes what dead processes have left.
    pub(crate) fn remove_leftovers(&self) -> Result<(), Problem> {
        drop(self.clear_all(&self.read_listing()?)); // what is left is shown by `forget`
        Ok(())
    }

    /// Removes what dead processes have left. The unfinished copies that are still there.
    fn clear_all(&self, listing: &BackupListing) -> Vec<KeptBackup> {
        self.clear_files();
        self.discard_prepared();
        self.clear_copies(listing)
    }

    /// Removes drafts of single files.
    fn clear_files(&self) {
        let (instance, policies) =
            (&self.instance, PolicyKind::ALL.map(|kind| self.instance.policies_of(kind)));
        let servers =
            files::list_names(&instance.servers()).unwrap_or_default().into_iter().map(VaultOwner::Server);
        let owners = servers.chain([VaultOwner::File, VaultOwner::ServerBefore]);
        let keys: Vec<PathBuf> = owners
            .flat_map(|owner| {
                let paths = instance.vault(&owner);
                [paths.keys, paths.folder]
            })
            .collect();
        for folder in [&instance.config, &instance.data].into_iter().chain(&policies).chain(&keys) {
            drop(file_drafts::clear(folder)); // one that cannot be read is left as it is
        }
    }

    /// Removes what a restore has prepared if its process was killed before the file `restoring` was there. If that is not
    /// possible now, the next process does it.
    pub(crate) fn discard_prepared(&self) {
        let drafts =
            folder_drafts::clear(&self.instance.data, DraftScope::Own(&self.instance)).unwrap_or_default();
        if drafts.iter().any(|left| left.may_be_in_use) {
            return; // a restore is being prepared
        }
        let Ok(Some(alone)) = self.lock_keys() else { return };
        if folder_drafts::is_surely_absent(&self.instance.restoring()) {
            drop((tool_access::discard(&self.instance), policy_files::discard(&self.instance)));
            let backups = self.instance.backups();
            let aside = files::list_names(&backups).unwrap_or_default().into_iter();
            for name in aside.filter(|name| name.starts_with(ASIDE)) {
                drop(std::fs::remove_dir(backups.join(name))); // one that is not empty stays
            }
        }
        drop(alone);
    }

    /// Removes unfinished copies that dead processes have left, wherever copies were made. Those that are left.
    fn clear_copies(&self, listing: &BackupListing) -> Vec<KeptBackup> {
        let list = BackupList::of(&self.instance);
        let mut left = Vec::new();
        for begun in &listing.drafts {
            match folder_drafts::clear_listed(&begun.draft) {
                Some(leftover) => left.push((leftover.path, begun.begun)),
                None if begun.is_out_of_reach() => left.push((begun.draft.clone(), begun.begun)),
                // It is gone. If that cannot be written down, it is looked for again.
                None => drop(list.end(&begun.draft)),
            }
        }
        // In the folder for temporary files a restore is tried if there is no data folder yet.
        let places = self.own_folders().into_iter().chain([std::env::temp_dir()]);
        let places: BTreeSet<PathBuf> = places.chain(listing.places.iter().cloned()).collect();
        for place in places {
            let drafts = self.drafts_in(&place);
            // A folder that cannot be read is not shown; the drafts on the list are.
            for leftover in folder_drafts::clear(&place, drafts).unwrap_or_default() {
                let known = left.iter().any(|(path, _)| *path == leftover.path);
                // What another process works on outside the instance, and is not on the list, is another instance's.
                if !known && (drafts != DraftScope::Marked || !leftover.may_be_in_use) {
                    let at = files::read_change_time(&leftover.path);
                    left.push((leftover.path, at));
                }
            }
        }
        let unfinished = left.into_iter().map(|(folder, at)| {
            let (occasion, there) = (Occasion::Asked, exists(&folder));
            KeptBackup { folder, at, occasion, manifest: None, there, unfinished: true }
        });
        unfinished.collect()
    }

    /// Copies that are not on the list, in the folders where copies were made: their process was killed before it listed them.
    fn find_unlisted(&self, listing: &BackupListing) -> Vec<KeptBackup> {
        let listed: BTreeSet<PathBuf> = listing.copies.iter().map(|copy| resolve(&copy.folder)).collect();
        let (own, node) = (self.instance.backups(), self.node().ok());
        let places: BTreeSet<PathBuf> =
            listing.places.iter().chain([&own]).map(|place| resolve(place)).collect();
        let mut found = Vec::new();
        for place in places {
            let is_own = place == resolve(&own);
            // A folder that cannot be read shows nothing.
            for name in files::list_names(&place).unwrap_or_default() {
                let folder = place.join(&name);
                let may_be_one = if is_own { !name.starts_with('.') } else { name.starts_with(PREFIX) };
                if !may_be_one || listed.contains(&folder) {
                    continue;
                }
                let (at, occasion, manifest) = match read_manifest(&folder) {
                    Ok((manifest, digest)) if is_own || Some(manifest.node) == node => {
                        (manifest.at, manifest.occasion, Some(digest))
                    }
                    // The files of an instance that did not open.
                    Err(_) if is_own => (files::read_change_time(&folder), Occasion::Restore, None),
                    // It is the owner's, or a copy of another instance.
                    Ok(_) | Err(_) => continue,
                };
                found.push(KeptBackup { folder, at, occasion, manifest, there: true, unfinished: false });
            }
        }
        found
    }
}

fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// The path without links; as it is if it is not there.
fn resolve(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_absent| path.to_owned())
}
