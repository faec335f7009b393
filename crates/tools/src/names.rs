//! What can be said about a path without looking at the disk.

use std::ffi::OsStr;
use std::path::{Component, Path};

use domain::call::Failure;

/// The kernel's own limits.
const NAME_BYTES: usize = 255;
const PATH_BYTES: usize = 4_095;

/// What may be asked for: a relative path of plain names.
pub(crate) fn check_plain(relative: &str) -> Result<(), Failure> {
    if relative.is_empty() {
        return Err(Failure::logical("the path is empty; write `.` for the workspace itself"));
    }
    if relative.chars().any(char::is_control) {
        let escaped = relative.escape_debug();
        return Err(Failure::logical(format!("`{escaped}` contains a control character")));
    }
    let path = Path::new(relative);
    if path.is_absolute() {
        return Err(Failure::logical(format!(
            "`{relative}` is absolute; write it relative to the workspace"
        )));
    }
    let climbs = |part: Component<'_>| part == Component::ParentDir;
    if path.components().next().is_some_and(climbs) {
        return Err(leads_out(relative));
    }
    if path.components().any(climbs) {
        return Err(Failure::logical(format!("`{relative}` contains `..`; write the path without it")));
    }
    Ok(())
}

/// What may be looked up: besides, not longer than any disk allows.
pub(crate) fn check_path(relative: &str) -> Result<(), Failure> {
    check_plain(relative)?;
    if relative.len() > PATH_BYTES || relative.split('/').any(|name| name.len() > NAME_BYTES) {
        return Err(too_long(relative));
    }
    Ok(())
}

pub(crate) fn too_long(relative: &str) -> Failure {
    let start: String = relative.chars().take(40).collect();
    Failure::logical(format!(
        "`{start}…` is too long: a name may have {NAME_BYTES} bytes and a path {PATH_BYTES}"
    ))
}

/// Names that make a folder a backup, which tools leave alone. With one of them a call could put what it changed there
/// beyond `undo`. The other files of a backup of earlier versions have common names, and do nothing without this database.
const BACKUP_NAMES: [&str; 2] = [domain::BACKUP_MARK, "regent.db"];

fn is_of_backup(name: &OsStr) -> bool {
    // Not only ASCII: on a disk that ignores case, the Kelvin sign is a `k`.
    name.to_str().is_some_and(|name| BACKUP_NAMES.contains(&name.to_lowercase().as_str()))
}

/// What may be changed or deleted: a file, and nothing that git runs or believes, or that makes a folder a backup.
pub(crate) fn check_changeable(relative: &str) -> Result<(), Failure> {
    check_path(relative)?;
    if relative.ends_with('/') {
        return Err(Failure::logical(format!("`{relative}` ends with `/`; name a file")));
    }
    let mut names = Path::new(relative).components().map(Component::as_os_str);
    if names.clone().any(|name| name.eq_ignore_ascii_case(".git")) {
        let problem = "belongs to git; tools do not change what is in there";
        return Err(Failure::logical(format!("`{relative}` {problem}")));
    }
    if names.any(is_of_backup) {
        let problem = "has a name that only backups of Regent use; choose another name";
        return Err(Failure::logical(format!("`{relative}` {problem}")));
    }
    Ok(())
}

/// What may be made: besides, no name that looks like another one.
pub(crate) fn check_writable(relative: &str) -> Result<(), Failure> {
    check_changeable(relative)?;
    if let Some(unseen) = relative.chars().find(|&c| is_deceptive(c)) {
        let shown = escape_deceptive(relative);
        let code = u32::from(unseen);
        return Err(Failure::logical(format!(
            "`{shown}` contains the invisible character U+{code:04X}; write the path without it"
        )));
    }
    if Path::new(relative).components().map(Component::as_os_str).any(is_leftover) {
        return Err(Failure::logical(format!("`{relative}` is a name that a write uses for itself")));
    }
    Ok(())
}

pub(crate) fn leads_out(relative: &str) -> Failure {
    Failure::logical(format!("`{relative}` leads out of the workspace"))
}

/// Two names with and without one look the same, or one looks like a blank and is none.
fn is_deceptive(c: char) -> bool {
    // The emoji selector is fine in a text, and so is the empty braille cell.
    domain::is_unseen(c) || matches!(c, '\u{fe0f}' | '\u{2800}') || (c.is_whitespace() && c != ' ')
}

fn escape_deceptive(text: &str) -> String {
    let one = |c: char| if is_deceptive(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(one).collect()
}

/// The beginning of the name of a file that is not whole yet.
pub(crate) const LEFTOVER: &str = ".regent-";
pub(crate) const LEFTOVER_END: &str = ".tmp";

/// A file that a write was busy with, or that a killed process left behind.
pub(crate) fn is_leftover(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(LEFTOVER.as_bytes()) && name.ends_with(LEFTOVER_END.as_bytes())
}

/// Whether the two would be one name on a disk that does not tell upper from lower case.
pub(crate) fn differ_in_case_only(a: &OsStr, b: &OsStr) -> bool {
    let folded = |name: &OsStr| name.to_str().map(str::to_lowercase);
    a != b && folded(a).is_some_and(|a| folded(b) == Some(a))
}

#[cfg(test)]
mod tests {
    use super::{check_writable, differ_in_case_only};
    use domain::call::Failure;
    use std::ffi::OsStr;

    #[test]
    fn names_that_deceive_are_not_written() {
        let long = "n".repeat(255);
        for good in
            ["a", "a.", "a ", "ä/é.txt", ".gitignore", "a.git/b", "日本", "manifest.json", "node", &long]
        {
            assert_eq!(check_writable(good), Ok(()), "{good}");
        }
        let table = [
            ("../a", "`../a` leads out of the workspace"),
            ("a\nb", "`a\\nb` contains a control character"),
            (
                "a\u{202e}txt.exe",
                "`a\\u{202e}txt.exe` contains the invisible character U+202E; write the path without it",
            ),
            (
                "a\u{200b}b",
                "`a\\u{200b}b` contains the invisible character U+200B; write the path without it",
            ),
            ("a/", "`a/` ends with `/`; name a file"),
            ("a\u{a0}b", "`a\\u{a0}b` contains the invisible character U+00A0; write the path without it"),
            (".git/hooks/x", "`.git/hooks/x` belongs to git; tools do not change what is in there"),
            ("a/.GIT/config", "`a/.GIT/config` belongs to git; tools do not change what is in there"),
            (
                "a/.regent-backup",
                "`a/.regent-backup` has a name that only backups of Regent use; choose another name",
            ),
            (
                ".Regent-BacKup/x",
                "`.Regent-BacKup/x` has a name that only backups of Regent use; choose another name",
            ),
            (
                ".regent-bac\u{212a}up",
                "`.regent-bac\u{212a}up` has a name that only backups of Regent use; choose another name",
            ),
            ("REGENT.db", "`REGENT.db` has a name that only backups of Regent use; choose another name"),
            (".regent-1-2-0.tmp", "`.regent-1-2-0.tmp` is a name that a write uses for itself"),
        ];
        for (path, message) in table {
            assert_eq!(check_writable(path), Err(Failure::logical(message)), "{path:?}");
        }
    }

    #[test]
    fn what_takes_no_room_or_looks_like_a_blank_is_in_no_new_name() {
        let single = "\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{1680}\u{17b4}\u{17b5}\u{202f}\u{205f}\u{2800}\u{3000}\u{3164}\u{feff}\u{ffa0}";
        let ranges = [
            '\u{180b}'..='\u{180f}',
            '\u{2000}'..='\u{200f}',
            '\u{2028}'..='\u{202f}',
            '\u{2060}'..='\u{206f}',
            '\u{fe00}'..='\u{fe0f}',
            '\u{fff9}'..='\u{fffb}',
            '\u{1bca0}'..='\u{1bca3}',
            '\u{1d173}'..='\u{1d17a}',
            '\u{e0000}'..='\u{e01ef}',
        ];
        for c in single.chars().chain(ranges.into_iter().flatten()) {
            let (shown, code) = (c.escape_unicode(), u32::from(c));
            let message = format!(
                "`a{shown}` contains the invisible character U+{code:04X}; write the path without it"
            );
            assert_eq!(check_writable(&format!("a{c}")), Err(Failure::logical(message)));
        }
    }

    #[test]
    fn upper_and_lower_case_of_one_name() {
        let table = [
            ("a", "A", true),
            ("straße", "STRASSE", false),
            ("Ä", "ä", true),
            ("a", "a", false),
            ("a", "b", false),
        ];
        for (a, b, expected) in table {
            assert_eq!(differ_in_case_only(OsStr::new(a), OsStr::new(b)), expected, "{a} {b}");
        }
    }
}
