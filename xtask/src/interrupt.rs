//! How commands are ended: by their limit, by Ctrl-C, by a polite kill of ours.
//!
//! Each command leads a process group of its own, so that it can be ended with everything below it. The terminal's Ctrl-C
//! then no longer reaches it by itself: a thread waits for the signals and passes them on. A group is asked first and
//! killed later, because test runners put each test into a group of its own and end those only when they are asked.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, killpg, raise};
use nix::unistd::Pid;

/// From the request to the kill: a little more than cargo-nextest gives its tests.
const PATIENCE: Duration = Duration::from_secs(12);
const TICK: Duration = Duration::from_millis(20);

/// The group that runs now; 0 when there is none. One command runs at a time.
static GROUP: AtomicI32 = AtomicI32::new(0);
/// Nothing is started any more.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The processes under watch, many at a time. Whoever waits for one holds the lock, so a number here is never another's.
static WATCHED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
/// Somebody has folders and services to clear away before this process ends.
static TIDYING: AtomicBool = AtomicBool::new(false);

fn signals() -> SigSet {
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
}

/// From here on the signals end the running group first, then this process. Called once, before any thread is started.
pub(crate) fn pass_on() -> anyhow::Result<()> {
    signals().thread_block().context("block the signals")?;
    std::thread::spawn(|| {
        let Ok(signal) = signals().wait() else { return };
        INTERRUPTED.store(true, Ordering::SeqCst);
        eprintln!("\n{signal}: ending what runs");
        let group = GROUP.load(Ordering::SeqCst);
        if group > 0 {
            end(group, || Ok(GROUP.load(Ordering::SeqCst) != group))
                .unwrap_or_else(|error| eprintln!("error: {error}"));
        }
        for process in watched().iter() {
            send(*process, Signal::SIGKILL).unwrap_or_else(|error| eprintln!("error: {error}"));
        }
        let asked = Instant::now();
        while TIDYING.load(Ordering::SeqCst) && asked.elapsed() < PATIENCE {
            std::thread::sleep(TICK);
        }
        if signals().thread_unblock().is_ok() && raise(signal).is_err() {
            eprintln!("error: could not end by {signal}");
        }
    });
    Ok(())
}

/// Starts a command as the leader of a process group, whose id is returned, with the signals as they were: a child inherits what is
/// blocked, and tests send themselves signals.
pub(crate) fn spawn(command: &mut Command) -> anyhow::Result<(Child, i32)> {
    let child = start(command.process_group(0))?;
    let group = i32::try_from(child.id())?;
    GROUP.store(group, Ordering::SeqCst);
    Ok((child, group))
}

fn start(command: &mut Command) -> anyhow::Result<Child> {
    check()?;
    let blocked = signals().thread_swap_mask(SigmaskHow::SIG_UNBLOCK).context("unblock the signals")?;
    let child = command.spawn();
    blocked.thread_set_mask().context("restore the signals")?;
    child.with_context(|| format!("start `{}`", command.get_program().to_string_lossy()))
}

/// Whether somebody wants this to end.
pub(crate) fn check() -> anyhow::Result<()> {
    if INTERRUPTED.load(Ordering::SeqCst) {
        bail!("interrupted");
    }
    Ok(())
}

/// The running command has ended and was waited for.
pub(crate) fn ended() {
    GROUP.store(0, Ordering::SeqCst);
}

/// Asks a process group to end, gives it time until `gone` says so, then kills what is left of it.
pub(crate) fn end(group: i32, mut gone: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    signal(group, Signal::SIGTERM)?;
    let asked = Instant::now();
    while !gone()? && asked.elapsed() < PATIENCE {
        std::thread::sleep(TICK);
    }
    signal(group, Signal::SIGKILL)
}

/// Nothing there to take the signal is fine: that was the aim.
fn signal(group: i32, signal: Signal) -> anyhow::Result<()> {
    match killpg(Pid::from_raw(group), signal) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => bail!("could not send {signal} to the process group {group}: {error}"),
    }
}

/// As long as it lives, an interrupt waits for it: folders are removed and services stopped first. There is one at a time.
#[derive(Debug)]
pub(crate) struct Tidying(());

impl Tidying {
    pub(crate) fn begin() -> Self {
        TIDYING.store(true, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Tidying {
    fn drop(&mut self) {
        TIDYING.store(false, Ordering::SeqCst);
    }
}

/// One of many processes that run at once. It is killed and waited for, whatever becomes of whoever started it.
#[derive(Debug)]
pub(crate) struct Watched {
    child: Child,
    number: i32,
    ended: Option<ExitStatus>,
}

impl Watched {
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut watched = watched();
        let child = start(command)?;
        let number = i32::try_from(child.id())?;
        watched.insert(number);
        Ok(Self { child, number, ended: None })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        let mut watched = watched();
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        if self.ended.is_some() {
            watched.remove(&self.number);
        }
        Ok(self.ended)
    }

    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let watched = watched();
        if watched.contains(&self.number) { send(self.number, signal) } else { Ok(()) }
    }

    /// At once, and for good: a process that is stopped dies of it too.
    pub(crate) fn kill(&mut self) -> anyhow::Result<ExitStatus> {
        self.signal(Signal::SIGKILL)?;
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.ended.is_none()
            && let Err(error) = self.kill()
        {
            eprintln!("error: a process was left behind: {error}");
        }
    }
}

fn watched() -> MutexGuard<'static, BTreeSet<i32>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send(process: i32, signal: Signal) -> anyhow::Result<()> {
    match kill(Pid::from_raw(process), signal) {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => bail!("could not send {signal} to the process {process}: {error}"),
    }
}
