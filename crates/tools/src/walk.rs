//! The walk that `find_files` and `glob` share: every file is counted, the best are kept.
//!
//! It always begins at the root of the workspace and goes straight to the folder it was asked for, so
//! that the ignore files on the way there count. Nothing above the workspace is opened, and the user's
//! own git settings do not count: the answer depends on the workspace alone.
//!
//! Known gap: the `ignore` crate opens an ignore file whatever it is. One that is a link is read where it
//! leads, as rules that are never shown; one that is a pipe makes the walk wait until the caller gives up.
//!
//! INVARIANT (bounded): no more than `limit` files per thread are in memory, however many there are.
//!
//! Start reading at [`find`].

#![expect(clippy::disallowed_methods, reason = "files are opened here to look for a text in them")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use domain::Time;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

use crate::found::{Found, Order};
use crate::search::{self, CHUNK, Hits, Needle};
use crate::tally::{Candidate, Tally};
use crate::workspace::Workspace;

/// Reading folders waits for the disk more than it computes.
const THREADS: usize = 4;

pub(crate) struct Question<'a, W> {
    pub(crate) workspace: &'a Workspace,
    /// A folder, as the workspace resolved it.
    pub(crate) under: PathBuf,
    /// How deep below the root a file can be and still be wanted.
    pub(crate) max_depth: Option<usize>,
    /// Asked with the path relative to the workspace.
    pub(crate) wanted: W,
    pub(crate) contains: Option<&'a Needle<'a>>,
    pub(crate) order: Order,
    pub(crate) limit: usize,
}

pub(crate) fn find<W: Fn(&Path) -> bool + Sync>(question: &Question<'_, W>) -> Found {
    let mut tally = walk(question, question.workspace.root());
    if !tally.reached {
        // The folder is hidden or ignored itself. Who names it wants to look into it.
        tally = walk(question, &question.under);
    }
    tally.into_found()
}

fn walk<W: Fn(&Path) -> bool + Sync>(question: &Question<'_, W>, start: &Path) -> Tally {
    let depth_of = |path: &Path| question.workspace.relative(path).components().count();
    let way = depth_of(&question.under).saturating_sub(depth_of(start));
    let under = question.under.clone();
    let mut builder = WalkBuilder::new(start);
    builder
        .standard_filters(false)
        .hidden(true)
        // As custom files they are read from `start` on, with or without a `.git`; as `git_ignore` they
        // would also be read from every folder above the workspace. The later name wins.
        .add_custom_ignore_filename(".gitignore")
        .add_custom_ignore_filename(".ignore")
        .current_dir(start) // else it asks the environment
        .follow_links(false)
        .max_depth(question.max_depth.map(|depth| depth.saturating_sub(depth_of(start))))
        .threads(THREADS)
        .filter_entry(move |entry| entry.depth() > way || under.starts_with(entry.path()));
    let total = Mutex::new(Tally::new(question.order, question.limit));
    builder.build_parallel().visit(&mut Visitors { question, total: &total });
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Visitors<'a, W> {
    question: &'a Question<'a, W>,
    total: &'a Mutex<Tally>,
}

impl<'a, W: Fn(&Path) -> bool + Sync> ParallelVisitorBuilder<'a> for Visitors<'a, W> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        let own = Tally::new(self.question.order, self.question.limit);
        Box::new(Visitor { question: self.question, total: self.total, own, buffer: Vec::new() })
    }
}

/// One per thread. It counts for itself and adds what it has to the total when it is done.
struct Visitor<'a, W> {
    question: &'a Question<'a, W>,
    total: &'a Mutex<Tally>,
    own: Tally,
    /// Made for the first file that is searched.
    buffer: Vec<u8>,
}

impl<W: Fn(&Path) -> bool + Sync> ParallelVisitor for Visitor<'_, W> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        match entry {
            Ok(entry) => match entry.file_type() {
                Some(kind) if kind.is_file() => self.look_at(&entry),
                Some(kind) if kind.is_dir() => self.own.reached |= entry.path() == self.question.under,
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
        if !(self.question.wanted)(relative) {
            return;
        }
        match self.candidate(entry.path(), relative) {
            Ok(Some(candidate)) => self.own.add(candidate),
            Ok(None) => {}
            Err(error) => self.fail(Some(&error)),
        }
    }

    /// Nothing, if a text is looked for and not in there. Only what is counted is asked for its size.
    fn candidate(&mut self, path: &Path, relative: &Path) -> io::Result<Option<Candidate>> {
        let hits = match self.question.contains {
            Some(needle) => Some(self.search(path, needle)?),
            None => None,
        };
        if hits.as_ref().is_some_and(|hits| hits.matching == 0) {
            return Ok(None);
        }
        let metadata = fs::symlink_metadata(path)?;
        Ok(Some(Candidate {
            path: relative.into(),
            bytes: metadata.len(),
            modified: time_of(metadata.modified()?),
            matching_lines: hits.as_ref().map(|hits| hits.matching),
            first_match: hits.and_then(|hits| hits.first.into_iter().next()),
        }))
    }

    fn search(&mut self, path: &Path, needle: &Needle<'_>) -> io::Result<Hits> {
        if self.buffer.is_empty() {
            self.buffer = needle.buffer(CHUNK);
        }
        let hits = search::scan_text(fs::File::open(path)?, needle, 1, &mut self.buffer)?;
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

fn time_of(time: SystemTime) -> Time {
    let micros = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
    };
    Time::from_micros(micros)
}
