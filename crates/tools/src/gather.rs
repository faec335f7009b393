//! Files that are wanted, gathered from a walk: by name, then by what the kernel says of them, then by their content.
//!
//! Whatever is said about a file comes from the descriptor of its folder, and what is said about its content from
//! the descriptor that it was read from. A file that is gone when it is looked at was not there.

use std::fs::File;
use std::io;

use domain::Stop;
use domain::call::Failure;
use domain::limits::FOUND_GROUPS;

use crate::confined::{Denied, Kind, Seen};
use crate::found::{Counts, Found, Match};
use crate::places::Places;
use crate::search::{self, CHUNK, Hits, Study};
use crate::stopping::Heeding;
use crate::tally::{Asked, Finding, Tally};
use crate::walk::{self, Met, Route, Visitor, is_absent};
use crate::wanted::Wanted;
use crate::workspace::Workspace;

/// Which files, where, and what is asked about them.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) stop: &'a Stop,
    pub(crate) places: Places,
    pub(crate) wanted: Wanted,
    /// Nothing, if no file needs to be opened.
    pub(crate) study: Option<Study<'a>>,
    pub(crate) asked: Asked,
}

/// # Errors
/// If it was stopped, a folder that was named cannot be searched, or there are too many groups.
pub(crate) fn find(question: &Question<'_>) -> Result<Found, Failure> {
    let Question { workspace, stop, places, asked, .. } = question;
    let route = Route { workspace, places, stop };
    let gatherer = || Gatherer { question, tally: Tally::new(*asked), buffer: Vec::new() };
    let mut total = Tally::new(*asked);
    for gatherer in walk::walk(route, gatherer)? {
        total.merge(gatherer.tally);
    }
    if total.crowded {
        let problem = format!("there are more than {FOUND_GROUPS} groups, too many to count");
        return Err(Failure::logical(problem));
    }
    let mut found = total.into_found();
    // What was found is in the folder that was opened, and whoever asked may mean the one in its place.
    found.complete &= workspace.is_in_place();
    Ok(found)
}

struct Gatherer<'a> {
    question: &'a Question<'a>,
    tally: Tally,
    /// Made for the first file that is read.
    buffer: Vec<u8>,
}

impl Visitor for Gatherer<'_> {
    fn meet(&mut self, met: &Met<'_>) {
        let wanted = &self.question.wanted;
        if met.kind != wanted.kind || !wanted.admits_path(met.path, met.name) {
            return;
        }
        let done = match (&self.question.study, met.kind) {
            (Some(study), Kind::File) => self.read(met, study),
            (_, Kind::Folder) => self.folder(met),
            // Its folder says that it is a file, and no more is asked.
            _ if !self.question.asked.sizes && wanted.goes_by_path() => {
                self.tally.count_one();
                Ok(())
            }
            _ => self.look(met),
        };
        match done {
            Err(denied) if !is_absent(denied) => self.tally.unreadable += 1,
            _ => {}
        }
    }

    fn miss(&mut self) {
        self.tally.unreadable += 1;
    }
}

impl Gatherer<'_> {
    fn look(&mut self, met: &Met<'_>) -> Result<(), Denied> {
        let seen = met.folder.look(met.name)?;
        if self.question.wanted.admits(&seen) {
            self.add(met, &seen, Counts::default(), Vec::new());
        }
        Ok(())
    }

    fn folder(&mut self, met: &Met<'_>) -> Result<(), Denied> {
        let folder = met.folder.enter(met.name)?;
        let seen = folder.seen()?;
        let Question { workspace, wanted, .. } = self.question;
        if !wanted.admits(&seen) || workspace.is_forbidden(&folder)? {
            return Ok(());
        }
        if let Some(empty) = wanted.empty
            && folder.is_empty()? != empty
        {
            return Ok(());
        }
        self.add(met, &seen, Counts::default(), Vec::new());
        Ok(())
    }

    fn read(&mut self, met: &Met<'_>, study: &Study<'_>) -> Result<(), Denied> {
        let (file, seen) = match met.folder.open(met.name) {
            // If the content only adds something, a file counts that cannot be opened.
            Err(errno) if !study.chooses() && !is_absent(errno.into()) => {
                self.tally.unreadable += 1;
                return self.look(met);
            }
            opened => opened?,
        };
        if !self.question.wanted.admits(&seen) {
            return Ok(());
        }
        match self.hits(file, study) {
            Ok(Some(hits)) => {
                let counts = study.counts(&hits);
                if !hits.spoiled && counts.matching_lines != Some(0) {
                    self.add(met, &seen, counts, hits.first);
                }
            }
            Ok(None) => {
                self.tally.binary_skipped += 1;
                self.add_uncounted(met, &seen, study);
            }
            Err(_unread) => {
                self.tally.unreadable += 1;
                self.add_uncounted(met, &seen, study);
            }
        }
        Ok(())
    }

    fn hits(&mut self, file: File, study: &Study<'_>) -> io::Result<Option<Hits>> {
        if self.buffer.is_empty() {
            self.buffer = study.buffer(CHUNK);
        }
        let reader = Heeding { reader: file, stop: self.question.stop };
        search::scan_text(reader, study, &mut self.buffer)
    }

    /// A file whose content is not known is found, unless the content is what it is found by.
    fn add_uncounted(&mut self, met: &Met<'_>, seen: &Seen, study: &Study<'_>) {
        if !study.chooses() {
            self.add(met, seen, Counts::default(), Vec::new());
        }
    }

    fn add(&mut self, met: &Met<'_>, seen: &Seen, counts: Counts, matches: Vec<Match>) {
        // What a disk needs for the folder itself is nobody's size.
        let bytes = if seen.kind == Kind::Folder { 0 } else { seen.bytes };
        let modified = seen.modified_at();
        self.tally.add(Finding { path: met.path, bytes, modified, counts, matches });
    }
}

impl Study<'_> {
    fn counts(&self, hits: &Hits) -> Counts {
        Counts {
            matching_lines: self.lines.is_some().then_some(hits.matching),
            lines: self.measures.lines.then_some(hits.lines),
            words: self.measures.words.then_some(hits.words),
            occurrences: self.measures.occurrences.then_some(hits.occurrences),
        }
    }
}
