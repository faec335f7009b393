//! How commands are ended: by their limit, by Ctrl-C, by a polite kill of ours.
//!
//! Each command leads a process group of its own, so that it can be ended with everything below it. The terminal's Ctrl-C
//! then no longer reaches it by itself: a thread waits for the signals and passes them on. A group is asked first and
//! killed later, because test runners put each test into a group of its own and end those only when they are asked.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg, raise};
use nix::unistd::Pid;

/// From the request to the kill: a little more than cargo-nextest gives its tests.
const PATIENCE: Duration = Duration::from_secs(12);
const TICK: Duration = Duration::from_millis(20);

/// The group that runs now; 0 when there is none. One command runs at a time.
static GROUP: AtomicI32 = AtomicI32::new(0);
/// Nothing is started any more.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

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
        if signals().thread_unblock().is_ok() && raise(signal).is_err() {
            eprintln!("error: could not end by {signal}");
        }
    });
    Ok(())
}

/// Starts a command as the leader of a process group, whose id is returned, with the signals as they were: a child inherits what is
/// blocked, and tests send themselves signals.
pub(crate) fn spawn(command: &mut Command) -> anyhow::Result<(Child, i32)> {
    if INTERRUPTED.load(Ordering::SeqCst) {
        bail!("interrupted");
    }
    let blocked = signals().thread_swap_mask(SigmaskHow::SIG_UNBLOCK).context("unblock the signals")?;
    let child = command.process_group(0).spawn();
    blocked.thread_set_mask().context("restore the signals")?;
    let child = child.with_context(|| format!("start `{}`", command.get_program().to_string_lossy()))?;
    let group = i32::try_from(child.id())?;
    GROUP.store(group, Ordering::SeqCst);
    Ok((child, group))
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
