//! Writes one setting into the settings file. Everything else in it stays as it is, comments included.

#![expect(clippy::disallowed_methods, reason = "the settings file")]

use std::fs::File;
use std::io;
use std::path::Path;

use app::instance::paths::InstancePaths;
use app::instance::settings::{Layers, Settings};
use app::{Code, Problem};
use rustix::fs::FlockOperation;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::file_drafts::FileDraft;
use crate::settings_source::settings_problem;
use crate::{files, trusted_files};

/// Writes `name`, a table and a key, durably and whole.
///
/// # Errors
/// If the file cannot be read, understood or written; then it is as it was.
pub(crate) fn write_setting(
    instance: &InstancePaths,
    name: &str,
    to: &str,
    unique: &str,
) -> Result<(), Problem> {
    let path = instance.settings_file();
    let trouble = |error: io::Error| {
        if let Some(untrusted) = trusted_files::UntrustedFile::within(&error) {
            return untrusted.problem();
        }
        Problem::new(Code::HOUSE, format!("cannot write {}: {error}", path.display()))
            .safe("the settings are as they were")
            .remedy("regent paths")
    };
    trusted_files::check_folder(&instance.config).map_err(trouble)?;
    files::make_folder(&instance.config).map_err(trouble)?;
    // What somebody else writes between reading and writing would be lost. The lock goes with the file.
    let folder = File::open(&instance.config).map_err(trouble)?;
    rustix::fs::flock(&folder, FlockOperation::LockExclusive).map_err(|errno| trouble(errno.into()))?;
    let before = trusted_files::read_text(&path).map_err(trouble)?.unwrap_or_else(|| Settings::template(""));
    let after =
        with(&before, name, to).map_err(|why| settings_problem(&[format!("{}: {why}", path.display())]))?;
    let file = Some((path.display().to_string(), after.clone()));
    Settings::layer(&Layers { file, ..Layers::default() }).map_err(|mistakes| settings_problem(&mistakes))?;
    replace(&path, &after, unique).map_err(trouble)
}

/// The text with one setting changed or added.
fn with(text: &str, name: &str, to: &str) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| format!("it is no TOML: {}", error.message()))?;
    let (table, key) = name.split_once('.').unwrap_or(("", name));
    let section = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
    let section = section.as_table_like_mut().ok_or_else(|| format!("`{table}` is no table"))?;
    match section.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let around = old.decor().clone();
            *old = to.into();
            *old.decor_mut() = around;
        }
        None => drop(section.insert(key, value(to))),
    }
    Ok(document.to_string())
}

/// A link to the file stays a link, and whoever could read it still can.
fn replace(path: &Path, text: &str, unique: &str) -> io::Result<()> {
    let real = if path.exists() { std::fs::canonicalize(path)? } else { path.to_owned() };
    let draft = FileDraft::write(&real, text.as_bytes(), unique)?;
    if let Ok(found) = std::fs::metadata(&real) {
        draft.file().set_permissions(found.permissions())?;
        draft.file().sync_all()?;
    }
    draft.replace().map(drop)
}

#[cfg(test)]
mod tests {
    use super::{with, write_setting};
    use app::instance::paths::InstancePaths;
    use app::instance::settings::Settings;

    #[test]
    fn one_setting_changes_and_nothing_else_does() {
        let table = [
            ("", "[model]\nbrain = \"a/b\"\n"),
            (
                "[model]\n# why\nbrain = \"x/y\" # this one\nhands='q/r'\n",
                "[model]\n# why\nbrain = \"a/b\" # this one\nhands='q/r'\n",
            ),
            (
                "model.hands = \"x/y\"\n[ui] # look\ncolor=\"never\"\n",
                "model.hands = \"x/y\"\nmodel.brain = \"a/b\"\n[ui] # look\ncolor=\"never\"\n",
            ),
            ("model = { hands = \"x/y\" }\n", "model = { hands = \"x/y\" , brain = \"a/b\" }\n"),
            (
                "# only this\n[model]\n# brain = \"\"\n\n[ui]\n",
                "# only this\n[model]\nbrain = \"a/b\"\n# brain = \"\"\n\n[ui]\n",
            ),
        ];
        for (before, after) in table {
            assert_eq!(with(before, "model.brain", "a/b").expect("text"), after, "{before}");
        }
        assert!(with("model = 1", "model.brain", "a/b").is_err());
        let broken = with("key = \"sk-canary", "model.brain", "a/b").expect_err("no TOML");
        assert!(!broken.contains("canary"), "{broken}");
    }

    #[test]
    fn two_that_write_at_once_do_not_undo_each_other() {
        let folder = tempfile::tempdir().expect("folder");
        let instance = InstancePaths::under(&folder.path().join("house"));
        std::thread::scope(|scope| {
            for tier in ["brain", "hands"] {
                let instance = &instance;
                scope.spawn(move || {
                    for round in 0..50 {
                        let wanted = format!("a/{tier}-{round}");
                        write_setting(instance, &format!("model.{tier}"), &wanted, &format!("{tier}{round}"))
                            .expect("set");
                        let text = std::fs::read_to_string(instance.settings_file()).expect("settings");
                        assert!(text.contains(&format!("\n{tier} = \"{wanted}\"\n")), "{wanted}: {text}");
                    }
                });
            }
        });
    }

    #[test]
    fn the_file_is_made_where_there_is_none_and_keeps_its_mode_where_there_is_one() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("folder");
        let instance = InstancePaths::under(&folder.path().join("house"));
        let read = || std::fs::read_to_string(instance.settings_file()).expect("settings");
        write_setting(&instance, "model.brain", "reflex", "1").expect("set");
        let template = Settings::template("");
        assert_eq!(read().lines().count(), template.lines().count() + 1, "a line more");
        assert!(template.lines().all(|line| read().lines().any(|kept| kept == line)));
        std::fs::set_permissions(instance.settings_file(), std::fs::Permissions::from_mode(0o640))
            .expect("mode");
        write_setting(&instance, "model.brain", "a/b", "2").expect("set");
        assert!(read().contains("\nbrain = \"a/b\"\n") && !read().contains("reflex\"\n"));
        let mode = std::fs::metadata(instance.settings_file()).expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        let before = read();
        assert!(write_setting(&instance, "model.brain", "nonsense", "3").is_err());
        assert_eq!(read(), before);
        assert_eq!(std::fs::read_dir(&instance.config).expect("folder").count(), 1, "no drafts are left");
    }
}
