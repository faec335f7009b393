//! What stands under a name, as it is kept and compared: a file with its bytes, a link, or nothing.

use std::io::Read;

use domain::call::Failure;
use domain::change::{Content, Standing};
use domain::digest::Digesting;
use domain::limits::DELETED_DIGEST_BYTES;
use domain::{Digest, Stop, Time};
use nix::errno::Errno;
use nix::libc::mode_t;

use crate::confined::{Denied, Kind, Seen};
use crate::search::{self, CHUNK};
use crate::staged::{changed_meanwhile, has_list};
use crate::stopping::Heeding;
use crate::workspace::{self, Place, Workspace};

/// All that can be changed about who may do what with a file.
const PERMISSIONS: mode_t = 0o7777;

#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) standing: Standing,
    /// What the kernel said about it; nothing if nothing is there.
    pub(crate) seen: Option<Seen>,
    /// The bytes of a file, if they are few enough.
    pub(crate) content: Option<Vec<u8>>,
}

impl Found {
    pub(crate) const NOTHING: Self = Self { standing: Standing::Nothing, seen: None, content: None };

    pub(crate) fn modified(&self) -> Option<Time> {
        self.seen.map(|seen| seen.modified_at())
    }
}

/// A file whose bytes were read already.
#[derive(Debug)]
pub(crate) struct Old {
    pub(crate) seen: Seen,
    pub(crate) content: Vec<u8>,
    /// Whether it has an access control list.
    pub(crate) listed: bool,
}

impl Old {
    pub(crate) fn standing(&self) -> Standing {
        let content = of_content(&self.content, permissions(self.seen.mode));
        Standing::File(Content { owner: Some(self.seen.owner), listed: self.listed, ..content })
    }
}

/// How many bytes are read, and how many of those are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth {
    pub(crate) keep: usize,
    pub(crate) digest: u64,
}

impl Depth {
    /// What one file may be read.
    pub(crate) const fn keeping(keep: usize) -> Self {
        Self { keep, digest: DELETED_DIGEST_BYTES }
    }
}

/// # Errors
/// If it is neither a file nor a link, or the disk refuses.
pub(crate) fn at(place: &Place<'_>, path: &str, keep: usize, stop: &Stop) -> Result<Found, Failure> {
    within(place, path, Depth::keeping(keep), stop)
}

/// # Errors
/// As [`at`].
pub(crate) fn within(place: &Place<'_>, path: &str, depth: Depth, stop: &Stop) -> Result<Found, Failure> {
    let seen = match place.folder.look(place.name) {
        Ok(seen) => seen,
        Err(Errno::ENOENT) => return Ok(Found::NOTHING),
        Err(errno) => return Err(workspace::refused(path, Denied::Os(errno))),
    };
    match seen.kind {
        Kind::File => file(place, path, seen, depth, stop),
        Kind::Link => {
            let to = place.folder.read_link(place.name);
            let to = to.map_err(|errno| workspace::unreadable(path, &errno.into()))?;
            let to = to.into_string().map_err(|_not_utf8| {
                Failure::logical(format!("the link `{path}` leads to a name that is not UTF-8"))
            })?;
            Ok(Found { standing: Standing::Link { to }, seen: Some(seen), content: None })
        }
        Kind::Folder => Err(Failure::logical(format!("`{path}` is a folder, not a file"))),
        Kind::Other => Err(workspace::not_regular(path)),
    }
}

/// The file that was looked at, or nothing is said about it.
fn file(place: &Place<'_>, path: &str, seen: Seen, depth: Depth, stop: &Stop) -> Result<Found, Failure> {
    if seen.bytes > depth.digest {
        let (mode, changed_at) = (permissions(seen.mode), seen.changed_at());
        let standing = Standing::Large { bytes: seen.bytes, mode, changed_at };
        return Ok(Found { standing, seen: Some(seen), content: None });
    }
    let (file, opened) = match place.folder.open(place.name) {
        Ok(opened) => opened,
        Err(Errno::ELOOP | Errno::ENXIO | Errno::ENOENT) => return Err(changed_meanwhile(path)),
        Err(errno) => return Err(workspace::unreadable(path, &errno.into())),
    };
    if opened != seen {
        return Err(changed_meanwhile(path));
    }
    let listed = has_list(&file);
    let mut reader = Heeding { reader: file.take(depth.digest), stop };
    let (mut digesting, mut buffer, mut bytes) = (Digesting::default(), vec![0; CHUNK], 0);
    let mut content = Some(Vec::new());
    loop {
        let read = search::fill(&mut reader, &mut buffer);
        let read = read.map_err(|error| workspace::unreadable(path, &error))?;
        let part = buffer.get(..read).unwrap_or_default();
        digesting.update(part);
        bytes += read as u64;
        content = content.filter(|_| bytes <= depth.keep as u64);
        if let Some(content) = &mut content {
            content.extend_from_slice(part);
        }
        if read < CHUNK {
            let found = Content::new(digesting.finish(), bytes, permissions(seen.mode));
            let found = Content { owner: Some(seen.owner), listed, ..found };
            return Ok(Found { standing: Standing::File(found), seen: Some(seen), content });
        }
    }
}

/// What is to be a file.
pub(crate) fn of_content(content: &[u8], mode: u32) -> Content {
    Content::new(Digest::of(content), content.len() as u64, mode)
}

pub(crate) fn permissions(mode: mode_t) -> u32 {
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::useless_conversion, reason = "on other systems a mode has fewer bits")
    )]
    u32::from(mode & PERMISSIONS)
}

impl Workspace {
    /// What stands at a path now, without anything being changed; nothing where a folder on the way is missing. It
    /// blocks.
    ///
    /// # Errors
    /// If it is neither a file nor a link, or the disk refuses.
    pub fn standing(&self, path: &str) -> Result<Standing, Failure> {
        crate::names::check_changeable(path)?;
        let stop = Stop::default();
        let way = crate::way::to(self, path, &stop)?;
        if way.is_missing() {
            return Ok(Standing::Nothing);
        }
        at(&way.place, path, 0, &stop).map(|found| found.standing)
    }
}
