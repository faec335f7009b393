//! What really happened in a workspace, told by the kernel and not by the program: each file that was put under a name, or
//! taken away from one. Whoever counts here is not killed.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use self::kernel::Watched;

/// Files under a name of their own until they are put in place; nobody asked for those.
const UNFINISHED: &str = ".regent-";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::crash) enum Change {
    /// Something stands under this name that did not before: moved there, or linked.
    Placed,
    Deleted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::crash) struct Effect {
    pub(in crate::crash) name: String,
    pub(in crate::crash) change: Change,
    /// When it was heard of; never before it happened.
    pub(in crate::crash) at: Instant,
}

/// The effects in one folder, as far as they were read.
#[derive(Debug)]
pub(in crate::crash) struct Effects(Mutex<Book>);

#[derive(Debug)]
struct Book {
    folder: Watched,
    seen: Vec<Effect>,
}

impl Effects {
    pub(in crate::crash) fn of(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self(Mutex::new(Book { folder: Watched::begin(folder)?, seen: Vec::new() })))
    }

    /// Takes in all that has happened until now: the kernel tells of a change before whoever made it goes on.
    pub(super) fn read(&self) -> anyhow::Result<()> {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let news = book.folder.news()?;
        book.seen.extend(news.into_iter().filter(|effect| !effect.name.starts_with(UNFINISHED)));
        drop(book);
        Ok(())
    }

    pub(in crate::crash) fn all(&self) -> anyhow::Result<Vec<Effect>> {
        self.read()?;
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).seen.clone())
    }

    /// What happened to this file so far was our own doing.
    pub(in crate::crash) fn forget(&self, name: &str) -> anyhow::Result<()> {
        self.read()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seen.retain(|effect| effect.name != name);
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::path::Path;
    use std::time::Instant;

    use anyhow::{Context as _, bail};
    use nix::errno::Errno;
    use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

    use super::{Change, Effect};

    #[derive(Debug)]
    pub(super) struct Watched(Inotify);

    impl Watched {
        pub(super) fn begin(folder: &Path) -> anyhow::Result<Self> {
            let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).context("inotify")?;
            let flags = AddWatchFlags::IN_MOVED_TO | AddWatchFlags::IN_CREATE | AddWatchFlags::IN_DELETE;
            inotify.add_watch(folder, flags).context("watch the workspace")?;
            Ok(Self(inotify))
        }

        pub(super) fn news(&self) -> anyhow::Result<Vec<Effect>> {
            let mut news = Vec::new();
            loop {
                let events = match self.0.read_events() {
                    Ok(events) => events,
                    Err(Errno::EAGAIN) => return Ok(news),
                    Err(Errno::EINTR) => continue,
                    Err(error) => bail!("inotify: {error}"),
                };
                let at = Instant::now();
                for event in events {
                    if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
                        bail!("inotify lost count");
                    }
                    let gone = event.mask.contains(AddWatchFlags::IN_DELETE);
                    let change = if gone { Change::Deleted } else { Change::Placed };
                    let name = event.name.unwrap_or_default().to_string_lossy().into_owned();
                    news.push(Effect { name, change, at });
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::path::Path;

    use super::Effect;

    #[derive(Debug)]
    pub(super) struct Watched;

    impl Watched {
        pub(super) fn begin(_: &Path) -> anyhow::Result<Self> {
            anyhow::bail!("effects are counted by inotify, which only Linux has")
        }

        pub(super) fn news(&self) -> anyhow::Result<Vec<Effect>> {
            Ok(Vec::new())
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_placed_and_deleted_is_counted_and_what_is_unfinished_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let effects = Effects::of(folder.path()).unwrap();
        std::fs::write(at(".regent-1.tmp"), "x").unwrap();
        std::fs::rename(at(".regent-1.tmp"), at("a")).unwrap();
        std::fs::write(at("b"), "x").unwrap();
        std::fs::remove_file(at("a")).unwrap();
        let seen = |effects: &Effects| -> Vec<(String, Change)> {
            effects.all().unwrap().into_iter().map(|effect| (effect.name, effect.change)).collect()
        };
        let (a, b) = ("a".to_owned(), "b".to_owned());
        assert_eq!(
            seen(&effects),
            [(a.clone(), Change::Placed), (b.clone(), Change::Placed), (a, Change::Deleted)]
        );
        effects.forget("a").unwrap();
        assert_eq!(seen(&effects), [(b, Change::Placed)]);
    }
}
