//! The walk that `find_files` and `glob` share: every file is counted, the best are kept.
//!
//! It always begins at the root of the workspace and goes straight to the folder it was asked for, so
//! that the ignore files on the way there count. Nothing above the workspace is opened, and the user's
//! own git settings do not count: the answer depends on the workspace alone.
//!
//! The crate `ignore` goes by names, and names can be swapped while it walks. So what it comes across is only a
//! candidate: it counts if it is a regular file in a folder that opens beneath the workspace without a link,
//! and its size, time and content come from there. INVARIANT (confined) is kept by [`crate::confined`] alone.
//!
//! If the workspace itself was replaced by another folder, the names are those of the other one, and what is
//! found is not complete. Known gap: one that is back in its place when the walk ends is not noticed.
//!
//! An ignore file is opened by that crate, by name. A folder whose ignore file is a pipe, a device, too large
//! or a link out of the workspace is not looked into, and counts as unreadable. Known gap: one that is swapped
//! between that look and its opening is read where it leads, as rules that are never shown.
//!
//! INVARIANT (bounded): no more than `limit` files per thread are in memory, however many there are.
//!
//! Start reading at [`find`].

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::Stop;
use domain::call::Failure;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use nix::errno::Errno;

use crate::confined::{Denied, Folder, Kind, Seen};
use crate::found::{Found, Order};
use crate::names;
use crate::search::{self, CHUNK, Hits, Needle};
use crate::stopping::{self, Heeding};
use crate::tally::{Candidate, Tally};
use crate::workspace::Workspace;

/// As custom files they are read from the start on, with or without a `.git`; as `git_ignore` they would also
/// be read from every folder above the workspace. The later name wins.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// A larger ignore file is none that somebody wrote.
const IGNORE_BYTES: u64 = 1024 * 1024;

/// Reading folders waits for the disk more than it computes.
const THREADS: usize = 4;

pub(crate) struct Question<'a, W> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) stop: &'a Stop,
    /// A folder relative to the workspace, as the workspace resolved it.
    pub(crate) under: PathBuf,
    /// How deep below the root a file can be and still be wanted.
    pub(crate) max_depth: Option<usize>,
    /// Asked with the path relative to the workspace.
    pub(crate) wanted: W,
    pub(crate) contains: Option<&'a Needle<'a>>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
}

/// # Errors
/// If it was stopped, or the rules about what to ignore cannot be read where it starts.
pub(crate) fn find<W: Fn(&Path) -> bool + Sync>(question: &Question<'_, W>) -> Result<Found, Failure> {
    let mut tally = walk(question, Path::new(""))?;
    if !tally.reached {
        // The folder is hidden or ignored itself. Who names it wants to look into it.
        tally = walk(question, &question.under)?;
    }
    let mut found = tally.into_found();
    found.complete &= question.workspace.is_in_place();
    Ok(found)
}

fn walk<W: Fn(&Path) -> bool + Sync>(question: &Question<'_, W>, start: &Path) -> Result<Tally, Failure> {
    let gate = Gate { workspace: question.workspace.clone(), closed: Arc::default() };
    if !gate.lets_in(start) {
        let problem = "its ignore files are no ordinary files in the workspace";
        let shown = if start.as_os_str().is_empty() { ".".into() } else { start.to_string_lossy() };
        return Err(Failure::environmental(format!("`{shown}` cannot be searched: {problem}")));
    }
    let (closed, root) = (Arc::clone(&gate.closed), question.workspace.root());
    let (start, under) = (root.join(start), root.join(&question.under));
    let depth_of = |path: &Path| question.workspace.relative(path).components().count();
    let way = depth_of(&under).saturating_sub(depth_of(&start));
    let mut builder = WalkBuilder::new(&start);
    builder
        .standard_filters(false)
        .hidden(true)
        .current_dir(&start) // else it asks the environment
        .follow_links(false)
        .max_depth(question.max_depth.map(|depth| depth.saturating_sub(depth_of(&start))))
        .threads(THREADS)
        .filter_entry(move |entry| {
            (entry.depth() > way || under.starts_with(entry.path())) && gate.passes(entry)
        });
    for name in IGNORE_FILES {
        builder.add_custom_ignore_filename(name);
    }
    let total = Mutex::new(Tally::new(question.order, question.limit));
    builder.build_parallel().visit(&mut Visitors { question, total: &total });
    stopping::check(question.stop)?;
    let mut total = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    total.unreadable += closed.load(Ordering::Relaxed);
    Ok(total)
}

/// Which folders are looked into.
#[derive(Debug)]
struct Gate {
    workspace: Workspace,
    /// Folders that should have been looked into and could not.
    closed: Arc<AtomicU64>,
}

impl Gate {
    fn passes(&self, entry: &DirEntry) -> bool {
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
            return true;
        }
        self.lets_in(self.workspace.relative(entry.path()))
    }

    fn lets_in(&self, path: &Path) -> bool {
        let folder = match self.workspace.folder_at(path) {
            Ok(folder) => folder,
            // Forbidden or swapped for a link: not there. Anything else is found out by the walk itself.
            Err(denied) => return !is_absent(denied),
        };
        let sound = IGNORE_FILES.iter().all(|name| self.is_sound(path, &folder, name));
        self.closed.fetch_add(u64::from(!sound), Ordering::Relaxed);
        sound
    }

    fn is_sound(&self, path: &Path, folder: &Folder, name: &str) -> bool {
        match folder.look(OsStr::new(name)) {
            Ok(Seen { kind: Kind::File, bytes, .. }) => bytes <= IGNORE_BYTES,
            Ok(Seen { kind: Kind::Link, .. }) => {
                let inside = path.join(name).to_str().map(|link| self.workspace.file(link));
                inside.is_some_and(|opened| opened.is_ok_and(|opened| opened.seen.bytes <= IGNORE_BYTES))
            }
            Ok(Seen { kind: Kind::Other, .. }) => false,
            Ok(Seen { kind: Kind::Folder, .. }) | Err(_) => true, // then there are no rules
        }
    }
}

/// Whether this says that there is nothing for the tools to see, as opposed to: something could not be read.
fn is_absent(denied: Denied) -> bool {
    match denied {
        Denied::Forbidden => true,
        Denied::Os(errno) => {
            matches!(errno, Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::EXDEV | Errno::ENXIO)
        }
    }
}

struct Visitors<'a, W> {
    question: &'a Question<'a, W>,
    total: &'a Mutex<Tally>,
}

impl<'a, W: Fn(&Path) -> bool + Sync> ParallelVisitorBuilder<'a> for Visitors<'a, W> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        let own = Tally::new(self.question.order, self.question.limit);
        Box::new(Visitor {
            question: self.question,
            total: self.total,
            own,
            buffer: Vec::new(),
            folder: None,
        })
    }
}

/// One per thread. It counts for itself and adds what it has to the total when it is done.
struct Visitor<'a, W> {
    question: &'a Question<'a, W>,
    total: &'a Mutex<Tally>,
    own: Tally,
    /// Made for the first file that is searched.
    buffer: Vec<u8>,
    /// The one that the last file was in; the next one usually is too.
    folder: Option<(PathBuf, Folder)>,
}

impl<W: Fn(&Path) -> bool + Sync> ParallelVisitor for Visitor<'_, W> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.question.stop.is_asked() {
            return WalkState::Quit;
        }
        match entry {
            Ok(entry) => match entry.file_type() {
                Some(kind) if kind.is_file() => self.look_at(&entry),
                Some(kind) if kind.is_dir() => {
                    self.own.reached |= self.question.workspace.relative(entry.path()) == self.question.under;
                }
                _ => {} // a link, a pipe, a device
            },
            Err(error) => self.fail(error.io_error()),
        }
        WalkState::Continue
    }
}

impl<W: Fn(&Path) -> bool + Sync> Visitor<'_, W> {
    fn look_at(&mut self, entry: &DirEntry) {
        let relative = self.question.workspace.relative(entry.path());
        let Some(name) = relative.file_name().filter(|name| !names::is_leftover(name)) else { return };
        if !(self.question.wanted)(relative) {
            return;
        }
        match self.candidate(relative, name) {
            Ok(Some(candidate)) => self.own.add(candidate),
            Ok(None) => {}
            Err(error) => self.fail(Some(&error)),
        }
    }

    /// Nothing, if it is not there after all, or a text is looked for and not in there.
    fn candidate(&mut self, relative: &Path, name: &OsStr) -> io::Result<Option<Candidate>> {
        let found = match self.question.contains {
            Some(_) => {
                self.in_folder(relative, |folder| folder.open(name).map(|(file, seen)| (Some(file), seen)))
            }
            None => self.in_folder(relative, |folder| folder.look(name).map(|seen| (None, seen))),
        };
        let (file, seen) = match found {
            Ok((file, seen)) if seen.kind == Kind::File => (file, seen),
            Ok(_) => return Ok(None),
            Err(denied) if is_absent(denied) => return Ok(None),
            Err(Denied::Os(errno)) => return Err(errno.into()),
            Err(Denied::Forbidden) => return Ok(None),
        };
        let hits = match (file, self.question.contains) {
            (Some(file), Some(needle)) => Some(self.search(file, needle)?),
            _ => None,
        };
        if hits.as_ref().is_some_and(|hits| hits.matching == 0) {
            return Ok(None);
        }
        Ok(Some(Candidate {
            path: relative.into(),
            bytes: seen.bytes,
            modified: seen.modified_at(),
            matching_lines: hits.as_ref().map(|hits| hits.matching),
            first_match: hits.and_then(|hits| hits.first.into_iter().next()),
        }))
    }

    fn in_folder<T>(
        &mut self,
        relative: &Path,
        ask: impl FnOnce(&Folder) -> Result<T, Errno>,
    ) -> Result<T, Denied> {
        let parent = relative.parent().unwrap_or(Path::new(""));
        if let Some((path, folder)) = &self.folder
            && path == parent
        {
            return Ok(ask(folder)?);
        }
        let folder = self.question.workspace.folder_at(parent)?;
        let answer = ask(&folder);
        self.folder = Some((parent.into(), folder));
        Ok(answer?)
    }

    fn search(&mut self, file: File, needle: &Needle<'_>) -> io::Result<Hits> {
        if self.buffer.is_empty() {
            self.buffer = needle.buffer(CHUNK);
        }
        let reader = Heeding { reader: file, stop: self.question.stop };
        let hits = search::scan_text(reader, needle, 1, &mut self.buffer)?;
        Ok(hits.unwrap_or_else(|| {
            self.own.binary_skipped += 1;
            Hits::NONE
        }))
    }

    /// What was removed while the walk was under way is not there; anything else is there and unread.
    fn fail(&mut self, error: Option<&io::Error>) {
        if error.is_none_or(|error| error.kind() != io::ErrorKind::NotFound) {
            self.own.unreadable += 1;
        }
    }
}

impl<W> Drop for Visitor<'_, W> {
    fn drop(&mut self) {
        let own = std::mem::replace(&mut self.own, Tally::new(self.question.order, 0));
        self.total.lock().unwrap_or_else(PoisonError::into_inner).merge(own);
    }
}
