//! The name of a process that another process can check: the boot and the name space it belongs to, its number, and
//! when it started.

#![expect(clippy::disallowed_methods, reason = "asks the kernel about processes")]

use std::path::Path;

/// `linux:<boot>/<name space>:<pid>:<start>`; elsewhere only the number is known, and time has to tell.
pub(crate) fn name_this_process() -> String {
    let pid = std::process::id();
    match (identify_boot(), read_start_time(pid)) {
        (Some(here), Some(start)) => format!("linux:{here}:{pid}:{start}"),
        _ => format!("pid:{pid}"),
    }
}

/// Nothing if this process cannot know: another boot, another machine, another container.
pub(crate) fn is_alive(holder: &str) -> Option<bool> {
    let mut parts = holder.strip_prefix("linux:")?.split(':');
    let (there, pid, start) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
    if identify_boot()? != there {
        return None;
    }
    Some(read_start_time(pid).as_deref() == Some(start))
}

/// Which boot of which machine, and in which name space process numbers mean something.
fn identify_boot() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{}/{}", boot.trim(), space.display()).replace(':', "-"))
}

/// The 22nd field of `/proc/<pid>/stat`, counted after the name in brackets, which may hold anything. A process
/// that is only waiting to be reaped is dead.
fn read_start_time(pid: u32) -> Option<String> {
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
    use super::{is_alive, name_this_process};

    #[test]
    fn this_process_lives_and_a_made_up_one_does_not() {
        let me = name_this_process();
        assert_eq!(is_alive(&me), Some(true), "{me}");
        let (front, _) = me.rsplit_once(':').expect("four parts");
        assert_eq!(is_alive(&format!("{front}:1")), Some(false), "same number, another start");
        assert_eq!(is_alive("linux:another-boot:1:1"), None);
        assert_eq!(is_alive("pid:1"), None);
    }
}
