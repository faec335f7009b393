//! Ctrl-C and a polite kill reach the commands we started.
//!
//! Each command leads a process group of its own, so that it can be ended with everything below it. The terminal's Ctrl-C
//! then no longer reaches it by itself: a thread waits for the signals and passes them on.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicI32, Ordering};

use anyhow::Context as _;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg, raise};
use nix::unistd::Pid;

/// The group that runs now; 0 when there is none. One command runs at a time.
static GROUP: AtomicI32 = AtomicI32::new(0);

fn signals() -> SigSet {
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
}

/// From here on the signals end the running group first, then this process. Called once, before any thread is started.
pub(crate) fn pass_on() -> anyhow::Result<()> {
    signals().thread_block().context("block the signals")?;
    std::thread::spawn(|| {
        let Ok(signal) = signals().wait() else { return };
        let group = GROUP.load(Ordering::SeqCst);
        if group > 0 {
            kill(group);
        }
        if signals().thread_unblock().is_ok() && raise(signal).is_err() {
            eprintln!("error: could not end by {signal}");
        }
    });
    Ok(())
}

/// Starts a command, as the leader of a process group whose id is returned, with the signals as they were: a child inherits what is blocked, and tests send themselves signals.
pub(crate) fn spawn(command: &mut Command) -> anyhow::Result<(Child, i32)> {
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

/// Kills a process group. Nothing to kill is fine: that was the aim.
pub(crate) fn kill(group: i32) {
    if let Err(error) = killpg(Pid::from_raw(group), Signal::SIGKILL)
        && error != nix::errno::Errno::ESRCH
    {
        eprintln!("error: could not kill the process group {group}: {error}");
    }
}
