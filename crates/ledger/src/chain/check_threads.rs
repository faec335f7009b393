//! Entries that several threads check, and one walks in their order.
//!
//! The thread that reads copies entries into pages. A page goes to a thread that is free; where none is, the reader checks it
//! itself. What was found out comes back with the page, and is handed on in the order of the chain.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::mpsc;
use std::thread;

use domain::Time;

use super::walk::{EntryCheck, EntryChecker, Link};

/// Entries of a page.
const ENTRIES: usize = 512;
/// Pages that wait for a thread, for each thread.
const WAITING: usize = 2;
/// More threads than this have to wait for the one that reads.
const THREADS: usize = 4;

/// Hands entries on in the order in which they were given, each with what was found out about it; `None` for a row that is no
/// entry.
pub(crate) struct CheckThreads<V> {
    visit: V,
    page: Page,
    /// The number of the next page that is begun, and of the next one that is handed on.
    begun: u64,
    handed_on: u64,
    done: BTreeMap<u64, CheckedPage>,
    threads: VecDeque<mpsc::SyncSender<(u64, Page)>>,
    results: mpsc::Receiver<(u64, CheckedPage)>,
    checker: EntryChecker,
}

type CheckedPage = (Page, Vec<EntryCheck>);

impl<V: FnMut(Option<(&Link<'_>, EntryCheck)>)> CheckThreads<V> {
    /// With a thread for each core but the one that reads.
    pub(crate) fn start(visit: V) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let (done, results) = mpsc::channel();
        let threads = (1..cores.min(THREADS + 1)).filter_map(|_| start_thread(done.clone()));
        Self {
            visit,
            page: Page::default(),
            begun: 0,
            handed_on: 0,
            done: BTreeMap::new(),
            threads: threads.collect(),
            results,
            checker: EntryChecker::default(),
        }
    }

    pub(crate) fn take(&mut self, link: Option<&Link<'_>>) {
        self.page.push(link);
        if self.page.links.len() == ENTRIES {
            self.send();
        }
    }

    /// Hands everything on that was not handed on yet.
    pub(crate) fn finish(mut self) {
        self.send();
        self.threads.clear(); // they end when there is nothing more to do
        while let Ok((number, page)) = self.results.recv() {
            self.done.insert(number, page);
            self.hand_on();
        }
        self.hand_on();
    }

    fn send(&mut self) {
        let (number, mut page) = (self.begun, std::mem::take(&mut self.page));
        self.begun += 1;
        for _ in 0..self.threads.len() {
            let Some(thread) = self.threads.pop_front() else { break };
            match thread.try_send((number, page)) {
                Ok(()) => {
                    self.threads.push_back(thread);
                    return self.collect();
                }
                Err(mpsc::TrySendError::Full((_, back))) => {
                    self.threads.push_back(thread);
                    page = back;
                }
                Err(mpsc::TrySendError::Disconnected((_, back))) => page = back,
            }
        }
        let checks = page.check(&mut self.checker);
        self.done.insert(number, (page, checks));
        self.collect();
    }

    fn collect(&mut self) {
        self.done.extend(self.results.try_iter());
        self.hand_on();
    }

    fn hand_on(&mut self) {
        while let Some((page, checks)) = self.done.remove(&self.handed_on) {
            self.handed_on += 1;
            let mut checks = checks.into_iter();
            for link in &page.links {
                // There is a check for each entry.
                match link.as_ref().and_then(|places| Some((page.link(places), checks.next()?))) {
                    Some((link, check)) => (self.visit)(Some((&link, check))),
                    None => (self.visit)(None),
                }
            }
        }
    }
}

fn start_thread(done: mpsc::Sender<(u64, CheckedPage)>) -> Option<mpsc::SyncSender<(u64, Page)>> {
    let (pages, waiting) = mpsc::sync_channel::<(u64, Page)>(WAITING);
    let check = move || {
        let mut checker = EntryChecker::default();
        while let Ok((number, page)) = waiting.recv() {
            let checks = page.check(&mut checker);
            if done.send((number, (page, checks))).is_err() {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("verify".into());
    let started = thread.spawn(check);
    // Without it the reader does the work.
    started.ok().map(|_running| pages)
}

/// Copies of entries, in one piece.
#[derive(Debug, Default)]
struct Page {
    bytes: Vec<u8>,
    links: Vec<Option<LinkPlaces>>,
}

/// Where the parts of an entry lie in a page.
#[derive(Debug)]
struct LinkPlaces {
    stream: Range<usize>,
    seq: u64,
    bytes: Range<usize>,
    prev_hash: Range<usize>,
    hash: Range<usize>,
    at: Time,
    kind: Range<usize>,
    actor: Range<usize>,
    subject: Range<usize>,
    trust: Option<Range<usize>>,
    origin_id: Option<Range<usize>>,
    reason_id: Option<Range<usize>>,
    vpol_id: Option<Range<usize>>,
}

impl Page {
    fn push(&mut self, link: Option<&Link<'_>>) {
        let places = link.map(|link| LinkPlaces {
            stream: self.copy(link.stream.as_bytes()),
            seq: link.seq,
            bytes: self.copy(link.bytes),
            prev_hash: self.copy(link.prev_hash),
            hash: self.copy(link.hash),
            at: link.at,
            kind: self.copy(link.kind.as_bytes()),
            actor: self.copy(link.actor.as_bytes()),
            subject: self.copy(link.subject.as_bytes()),
            trust: link.trust.map(|text| self.copy(text.as_bytes())),
            origin_id: link.origin_id.map(|text| self.copy(text.as_bytes())),
            reason_id: link.reason_id.map(|text| self.copy(text.as_bytes())),
            vpol_id: link.vpol_id.map(|text| self.copy(text.as_bytes())),
        });
        self.links.push(places);
    }

    fn copy(&mut self, part: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(part);
        start..self.bytes.len()
    }

    fn check(&self, checker: &mut EntryChecker) -> Vec<EntryCheck> {
        self.links.iter().flatten().map(|places| checker.check(&self.link(places))).collect()
    }

    fn link(&self, places: &LinkPlaces) -> Link<'_> {
        let bytes = |range: &Range<usize>| self.bytes.get(range.clone()).unwrap_or_default();
        let text = |range: &Range<usize>| std::str::from_utf8(bytes(range)).unwrap_or_default();
        let given = |range: &Option<Range<usize>>| range.as_ref().map(text);
        Link {
            stream: text(&places.stream),
            seq: places.seq,
            bytes: bytes(&places.bytes),
            prev_hash: bytes(&places.prev_hash),
            hash: bytes(&places.hash),
            at: places.at,
            kind: text(&places.kind),
            actor: text(&places.actor),
            subject: text(&places.subject),
            trust: given(&places.trust),
            origin_id: given(&places.origin_id),
            reason_id: given(&places.reason_id),
            vpol_id: given(&places.vpol_id),
        }
    }
}
