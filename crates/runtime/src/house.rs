//! Where everything of one installation lies.

use std::path::{Path, PathBuf};

/// The folders and files of one house. Plain paths: looking at them is the host's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct House {
    pub config: PathBuf,
    pub data: PathBuf,
}

impl House {
    /// Everything under one folder: what `REGENT_HOME` asks for.
    #[must_use]
    pub fn under(home: &Path) -> Self {
        Self { config: home.to_owned(), data: home.join("data") }
    }

    #[must_use]
    pub fn settings_file(&self) -> PathBuf {
        self.config.join("regent.toml")
    }

    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.data.join("regent.db")
    }

    #[must_use]
    pub fn keys(&self) -> PathBuf {
        self.data.join("keys")
    }

    /// The secret behind the audit's seal. It never enters the database or a log.
    #[must_use]
    pub fn audit_key(&self) -> PathBuf {
        self.keys().join("audit.key")
    }

    /// Where copies of the house are made unless somebody says otherwise, and where upgrades keep theirs.
    #[must_use]
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// Which copies were made, and where. Not in the ledger: a path can name a person.
    #[must_use]
    pub fn backup_list(&self) -> PathBuf {
        self.data.join("backups.jsonl")
    }

    /// Lies there while a restored house is being put in place.
    #[must_use]
    pub fn restoring(&self) -> PathBuf {
        self.data.join("restoring")
    }

    /// The name of this installation's audit stream.
    #[must_use]
    pub fn node(&self) -> PathBuf {
        self.data.join("node")
    }
}
