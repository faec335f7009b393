//! The name of a process that another process can check: the boot it belongs to, its number, and when it started.

#![expect(clippy::disallowed_methods, reason = "asks the kernel about processes")]

use std::path::Path;

/// `linux:<boot>:<pid>:<start>`; elsewhere only the number is known, and time has to tell.
pub(super) fn this_process() -> String {
    let pid = std::process::id();
    match (boot(), started(pid)) {
        (Some(boot), Some(start)) => format!("linux:{boot}:{pid}:{start}"),
        _ => format!("pid:{pid}"),
    }
}

/// Nothing if this machine cannot know: another boot, or another machine.
pub(super) fn is_alive(holder: &str) -> Option<bool> {
    let mut parts = holder.strip_prefix("linux:")?.split(':');
    let (its_boot, pid, start) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
    if boot()? != its_boot {
        return None;
    }
    Some(started(pid).as_deref() == Some(start))
}

fn boot() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// The 22nd field of `/proc/<pid>/stat`, counted after the name in brackets, which may hold anything. A process
/// that is only waiting to be reaped is dead.
fn started(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if state == "Z" || state == "X" {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{is_alive, this_process};

    #[test]
    fn this_process_lives_and_a_made_up_one_does_not() {
        let me = this_process();
        assert_eq!(is_alive(&me), Some(true), "{me}");
        let (front, _) = me.rsplit_once(':').expect("four parts");
        assert_eq!(is_alive(&format!("{front}:1")), Some(false), "same number, another start");
        assert_eq!(is_alive("linux:another-boot:1:1"), None);
        assert_eq!(is_alive("pid:1"), None);
    }
}
