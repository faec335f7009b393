//! As whom a server runs. PostgreSQL refuses root: as root we start it as `nobody`, else as ourselves.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use nix::unistd::{Uid, User, chown};

const UNPRIVILEGED: &str = "nobody";

#[derive(Debug)]
pub(crate) struct Account {
    /// None: as ourselves.
    user: Option<User>,
}

impl Account {
    pub(crate) fn find() -> Result<Self, String> {
        if !Uid::effective().is_root() {
            return Ok(Self { user: None });
        }
        match User::from_name(UNPRIVILEGED) {
            Ok(Some(user)) => Ok(Self { user: Some(user) }),
            Ok(None) => {
                Err(format!("PostgreSQL does not run as root, and there is no user `{UNPRIVILEGED}`"))
            }
            Err(error) => Err(format!("could not look up the user `{UNPRIVILEGED}`: {error}")),
        }
    }

    /// A command that runs as this user, in a process group of its own: whoever ends the group of a test does not end it by
    /// that, and the terminal's Ctrl-C does not reach it. It hears nothing of our PostgreSQL settings.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir("/").process_group(0);
        forget_settings(&mut command);
        if let Some(user) = &self.user {
            // With the user id, std also drops the supplementary groups.
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        command
    }

    pub(crate) fn own(&self, path: &Path) -> Result<(), String> {
        let Some(user) = &self.user else { return Ok(()) };
        chown(path, Some(user.uid), Some(user.gid))
            .map_err(|error| format!("could not give `{}` to `{}`: {error}", path.display(), user.name))
    }
}

/// `PGHOST`, `PGOPTIONS` and their like are a person's; tests say everything themselves.
pub(crate) fn forget_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("PG")) {
            command.env_remove(name);
        }
    }
    // Messages in English, whatever language the person speaks.
    command.env("LC_ALL", "C");
}
