//! The walk over a workspace: every folder that is meant is opened and listed once, by several threads.
//!
//! It begins at the workspace and goes straight to the folders it was asked for, so that the ignore files on the way
//! there count. Each folder is opened anew from the workspace's own descriptor and beneath it, without following a
//! link, and what is in it is asked for by name from there: INVARIANT (confined) is kept by [`crate::confined`] alone,
//! whoever moves folders about meanwhile. Names above the workspace play no part.
//!
//! INVARIANT (bounded): what waits to be listed are folders; files are shown while their folder is read, and not kept.
//!
//! Start reading at [`walk`].

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use domain::Stop;
use domain::call::Failure;
use nix::errno::Errno;

use crate::confined::{Denied, FileId, Folder, Kind};
use crate::places::{Places, Stand, depth};
use crate::queue::Queue;
use crate::rules::Rules;
use crate::stopping;
use crate::workspace::{Ground, Workspace};

/// Reading folders waits for the disk more than it computes.
const THREADS: usize = 4;

/// Where to look, and how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) places: &'a Places,
    pub(crate) stop: &'a Stop,
}

/// Something that a walk comes across: a file or a folder, neither hidden nor ignored.
#[derive(Debug)]
pub(crate) struct Met<'a> {
    /// Relative to the workspace.
    pub(crate) path: &'a Path,
    pub(crate) name: &'a OsStr,
    pub(crate) kind: Kind,
    /// The one that it lies in.
    pub(crate) folder: &'a Folder,
}

/// Who is shown what a walk comes across; one for each thread.
pub(crate) trait Visitor: Send {
    fn meet(&mut self, met: &Met<'_>);
    /// A folder that should have been looked into and could not.
    fn miss(&mut self);
}

/// # Errors
/// If it was stopped, or the rules about what to ignore cannot be read in a folder that was named.
pub(crate) fn walk<V: Visitor>(
    route: Route<'_>,
    make_visitor: impl Fn() -> V + Sync,
) -> Result<Vec<V>, Failure> {
    let (queue, since, ground) = (Queue::default(), 0, route.workspace.ground());
    queue.add(vec![Job {
        stand: route.places.stand(Path::new(""), since),
        path: PathBuf::new(),
        above: None,
        rules: Rules::default(),
        since,
    }]);
    let work = || -> Result<V, Failure> {
        let mut walker = Walker { route, ground: &ground, visitor: make_visitor(), buffer: Vec::new() };
        while let Some(turn) = queue.next(route.stop) {
            queue.add(walker.look_into(turn.job())?);
        }
        Ok(walker.visitor)
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..THREADS).map(|_| scope.spawn(work)).collect();
        let own = work();
        let panicked = |panic| std::panic::resume_unwind(panic);
        std::iter::once(own)
            .chain(others.into_iter().map(|other| other.join().unwrap_or_else(panicked)))
            .collect()
    });
    stopping::check(route.stop)?;
    ground.check_unchanged()?;
    done.into_iter().collect()
}

/// A folder that is still to be listed.
#[derive(Debug)]
struct Job {
    path: PathBuf,
    /// The folder above it, see [`Ground::listable`].
    above: Option<FileId>,
    stand: Stand,
    /// Of the folders above it.
    rules: Rules,
    /// See [`Places::stand`].
    since: usize,
}

struct Walker<'a, V> {
    route: Route<'a>,
    ground: &'a Ground<'a>,
    visitor: V,
    /// For listing folders.
    buffer: Vec<u8>,
}

impl<V: Visitor> Walker<'_, V> {
    /// Shows what is in a folder and gives back the folders in it that are to be looked into.
    fn look_into(&mut self, job: &Job) -> Result<Vec<Job>, Failure> {
        let Route { workspace, places, .. } = self.route;
        let is_named = places.is_meant(&job.path);
        let (folder, id) = match self.ground.listable(&job.path, job.above) {
            Ok(opened) => opened,
            Err(denied) => {
                // One that was there when it was named is missed even if it is gone.
                if is_named || !is_absent(denied) {
                    self.visitor.miss();
                }
                return Ok(Vec::new());
            }
        };
        let Ok(rules) = job.rules.and_of(workspace, &folder, &job.path) else {
            if is_named {
                return Err(trapped(&job.path));
            }
            self.visitor.miss();
            return Ok(Vec::new());
        };
        let mut listed = Listed {
            job,
            folder: &folder,
            id,
            rules: &rules,
            paths: Paths::of(&job.path),
            further: Vec::new(),
        };
        let (route, visitor) = (self.route, &mut self.visitor);
        let done = folder.each(&mut self.buffer, |name, kind| listed.entry(route, visitor, name, kind));
        if done.is_err() {
            self.visitor.miss();
        }
        Ok(listed.further)
    }
}

/// A folder while it is listed.
struct Listed<'a> {
    job: &'a Job,
    folder: &'a Folder,
    /// For the folders in it.
    id: Option<FileId>,
    rules: &'a Rules,
    paths: Paths,
    further: Vec<Job>,
}

impl Listed<'_> {
    fn entry(
        &mut self,
        route: Route<'_>,
        visitor: &mut impl Visitor,
        name: &OsStr,
        kind: Option<Kind>,
    ) -> ControlFlow<()> {
        if route.stop.is_asked() {
            return ControlFlow::Break(());
        }
        // Not every disk says what something is without being asked.
        let kind = kind.map_or_else(|| self.folder.look(name).map(|seen| seen.kind), Ok);
        match kind {
            Ok(kind @ (Kind::File | Kind::Folder)) => self.show(route, visitor, name, kind),
            Ok(Kind::Link | Kind::Other) => {}
            Err(errno) if is_absent(errno.into()) => {}
            Err(_) => visitor.miss(),
        }
        ControlFlow::Continue(())
    }

    fn show(&mut self, route: Route<'_>, visitor: &mut impl Visitor, name: &OsStr, kind: Kind) {
        let path = self.paths.to(name);
        let left_out = self.rules.leave_out(path, name, kind == Kind::Folder);
        if !left_out && self.job.stand == Stand::Inside {
            visitor.meet(&Met { path, name, kind, folder: self.folder });
        }
        if kind == Kind::Folder {
            // Who names a folder that is hidden or ignored wants to look into it, whatever the rules above it say.
            let (rules, since) =
                if left_out { (Rules::default(), depth(path)) } else { (self.rules.clone(), self.job.since) };
            let stand = route.places.stand(path, since);
            if stand != Stand::Elsewhere {
                self.further.push(Job { path: path.into(), above: self.id, stand, rules, since });
            }
        }
    }
}

/// Paths of what is in one folder, each made where the last one stood: there may be very many.
#[derive(Debug)]
struct Paths {
    bytes: Vec<u8>,
    folder: usize,
}

impl Paths {
    fn of(folder: &Path) -> Self {
        let mut bytes = folder.as_os_str().as_bytes().to_vec();
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        Self { folder: bytes.len(), bytes }
    }

    fn to(&mut self, name: &OsStr) -> &Path {
        self.bytes.truncate(self.folder);
        self.bytes.extend_from_slice(name.as_bytes());
        Path::new(OsStr::from_bytes(&self.bytes))
    }
}

fn trapped(folder: &Path) -> Failure {
    let problem = "its ignore files are no ordinary files in the workspace";
    let shown = if folder.as_os_str().is_empty() { ".".into() } else { folder.to_string_lossy() };
    Failure::environmental(format!("`{shown}` cannot be searched: {problem}"))
}

/// Whether this says that there is nothing for the tools to see, as opposed to: something could not be read.
pub(crate) fn is_absent(denied: Denied) -> bool {
    match denied {
        Denied::Forbidden => true,
        Denied::Os(errno) => {
            matches!(errno, Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::EXDEV | Errno::ENXIO)
        }
    }
}
