//! The list of backups, `backups.jsonl` in the data folder: where copies of the instance are, and where one is being made.
//!
//! INVARIANT (listed): in a folder that the owner named, a draft is on the list, durably, before it is there. So whenever
//! the process is killed, the draft or the copy that it became is found again.
//!
//! Lines are only added. Earlier versions have written lines about copies only, and pass over the others.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use app::instance::backup::Occasion;
use app::instance::paths::InstancePaths;
use domain::{Digest, Time};
use serde::{Deserialize, Serialize};

use crate::{files, trusted_files};

/// A line has some hundred bytes, a backup a few lines.
const LARGEST: u64 = 64 * 1024 * 1024;

#[derive(Clone, Debug)]
pub(crate) struct BackupList {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum BackupLine {
    Copy(ListedCopy),
    Draft(ListedDraft),
    /// The draft is gone.
    Ended {
        ended: PathBuf,
    },
}

impl BackupLine {
    fn path(&self) -> &Path {
        match self {
            Self::Copy(copy) => &copy.folder,
            Self::Draft(begun) => &begun.draft,
            Self::Ended { ended } => ended,
        }
    }
}

/// A copy that was made, whether or not it is still there.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListedCopy {
    pub(crate) at: Time,
    pub(crate) folder: PathBuf,
    pub(crate) occasion: Occasion,
    pub(crate) manifest: Option<Digest>,
    /// The draft that it was, if that is on the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) draft: Option<PathBuf>,
}

/// A draft that may be there.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListedDraft {
    pub(crate) draft: PathBuf,
    pub(crate) begun: Time,
    /// The inode of the folder that it is made in.
    parent_inode: u64,
}

impl ListedDraft {
    /// Whether the folder that it was made in is out of reach: it is not there, or is another one, as where a disk
    /// is no longer mounted. Then nothing is known of the draft.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        parent_inode(&self.draft).ok() != Some(self.parent_inode)
    }
}

fn parent_inode(path: &Path) -> io::Result<u64> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    std::fs::metadata(parent).map(|found| found.ino())
}

/// What the list says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BackupListing {
    pub(crate) copies: Vec<ListedCopy>,
    /// Those that neither became a copy nor were removed, as far as the list says.
    pub(crate) drafts: Vec<ListedDraft>,
    /// The folders in which copies were made.
    pub(crate) places: BTreeSet<PathBuf>,
}

impl BackupList {
    pub(crate) fn of(instance: &InstancePaths) -> Self {
        Self { path: instance.backup_list() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self) -> io::Result<BackupListing> {
        let bytes = trusted_files::read_bytes(&self.path, LARGEST)?.unwrap_or_default();
        let mut listing = BackupListing::default();
        // A torn line, or one of a later version, says nothing.
        let text = String::from_utf8_lossy(&bytes);
        for line in text.lines().filter_map(|line| serde_json::from_str::<BackupLine>(line).ok()) {
            listing.places.extend(line.path().parent().map(Path::to_owned));
            match line {
                BackupLine::Copy(copy) => {
                    listing.drafts.retain(|begun| Some(&begun.draft) != copy.draft.as_ref());
                    listing.copies.push(copy);
                }
                BackupLine::Draft(begun) => listing.drafts.push(begun),
                BackupLine::Ended { ended } => listing.drafts.retain(|begun| begun.draft != ended),
            }
        }
        Ok(listing)
    }

    fn add(&self, line: &BackupLine) -> io::Result<()> {
        files::append(&self.path, &serde_json::to_string(line)?)
    }

    pub(crate) fn add_copy(&self, copy: ListedCopy) -> io::Result<()> {
        self.add(&BackupLine::Copy(copy))
    }

    /// Says where a draft will be made. The folder above it is there.
    pub(crate) fn begin(&self, draft: &Path, now: Time) -> io::Result<DraftEntry> {
        let begun = ListedDraft { draft: draft.to_owned(), begun: now, parent_inode: parent_inode(draft)? };
        self.add(&BackupLine::Draft(begun))?;
        Ok(DraftEntry { list: self.clone(), draft: draft.to_owned() })
    }

    /// Says that a draft is gone.
    pub(crate) fn end(&self, draft: &Path) -> io::Result<()> {
        self.add(&BackupLine::Ended { ended: draft.to_owned() })
    }
}

/// The line about a draft that this process makes.
#[derive(Debug)]
pub(crate) struct DraftEntry {
    list: BackupList,
    draft: PathBuf,
}

impl DraftEntry {
    pub(crate) fn end(&self) -> io::Result<()> {
        self.list.end(&self.draft)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{BackupList, BackupListing, ListedCopy};
    use crate::folder_drafts::{FolderDraft, draft_path};
    use app::instance::backup::Occasion;
    use app::instance::paths::InstancePaths;
    use domain::Time;

    const NOW: Time = Time::from_micros(1_000_000);

    fn copy(folder: &Path, draft: Option<&Path>) -> ListedCopy {
        let draft = draft.map(Path::to_owned);
        ListedCopy { at: NOW, folder: folder.to_owned(), occasion: Occasion::Asked, manifest: None, draft }
    }

    fn list_in(folder: &Path) -> BackupList {
        BackupList::of(&InstancePaths { config: folder.into(), data: folder.into() })
    }

    #[test]
    fn a_draft_is_on_the_list_until_it_is_removed_or_has_its_name() {
        let folder = tempfile::tempdir().expect("folder");
        let (at, list) = (folder.path(), list_in(folder.path()));
        let make = |unique: &str| {
            let path = draft_path(at, unique);
            let entry = list.begin(&path, NOW).expect("entry");
            FolderDraft::make(path, Some(entry))
        };
        let drafts =
            || list.read().expect("list").drafts.into_iter().map(|begun| begun.draft).collect::<Vec<_>>();
        let [removed, named, killed] = ["1", "2", "3"].map(|unique| make(unique).expect("draft"));
        assert_eq!(drafts(), ["1", "2", "3"].map(|unique| draft_path(at, unique)));
        drop(removed);
        let was = named.path().to_owned();
        let name = named.name(&at.join("name")).expect("name");
        list.add_copy(copy(&name, Some(&was))).expect("copy");
        let killed = killed.leave();
        assert_eq!(drafts(), [killed]);
        assert!(make("3").is_err(), "it is there already");
        assert_eq!(drafts(), [""; 0].map(std::path::PathBuf::from), "what cannot be made is not there");
        assert_eq!(list.read().expect("list").copies, [copy(&name, Some(&was))]);
    }

    #[test]
    fn what_is_out_of_reach_is_told_from_what_is_gone() {
        let folder = tempfile::tempdir().expect("folder");
        let (list, disk) = (list_in(folder.path()), folder.path().join("disk"));
        std::fs::create_dir(&disk).expect("folder");
        list.begin(&draft_path(&disk, "1"), NOW).expect("entry");
        let is_out_of_reach = || {
            let [begun] = list.read().expect("list").drafts.try_into().expect("one");
            begun.is_out_of_reach()
        };
        assert!(!is_out_of_reach(), "its folder is there");
        std::fs::rename(&disk, folder.path().join("drawer")).expect("rename");
        assert!(is_out_of_reach(), "its folder is not there");
        std::fs::create_dir(&disk).expect("folder");
        assert!(is_out_of_reach(), "another folder is there");
    }

    /// One of them is torn in the middle of a letter.
    #[test]
    fn lines_of_earlier_versions_are_read_and_torn_ones_cost_nothing_else() {
        let folder = tempfile::tempdir().expect("folder");
        let list = list_in(folder.path());
        assert_eq!(list.read().expect("no list"), BackupListing::default());
        let old = r#"{"at":"1970-01-01T00:00:01.000000Z","folder":"/usb/regent-1","occasion":"asked","manifest":null}"#;
        let torn = "{\"at\":\"1970-01-01T00:00:01.000000Z\",\"folder\":\"/b\u{fc}cher".as_bytes();
        let torn = &torn[..torn.len() - 5];
        std::fs::write(list.path(), [old.as_bytes(), b"\n{}\nmilk\n", torn].concat()).expect("write");
        list.add_copy(copy(Path::new("/usb/regent-2"), None)).expect("copy");
        let copies = list.read().expect("list").copies;
        assert_eq!(copies, ["/usb/regent-1", "/usb/regent-2"].map(|path| copy(Path::new(path), None)));
        let text = std::fs::read(list.path()).expect("list");
        let last = String::from_utf8_lossy(&text).lines().last().expect("a line").to_owned();
        assert_eq!(last, old.replace("regent-1", "regent-2"), "earlier versions read it, too");
    }
}
