//! Upgrades, backups and restores, as values: what was or would be done about the house as a whole. Doing it is the
//! host's business.

use std::collections::BTreeMap;
use std::path::PathBuf;

use domain::id::NodeId;
use domain::{Digest, Time};
use present::pluralize;
use serde::{Deserialize, Serialize};

/// Whether something is done, or only tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// On a copy, or in a transaction that is taken back: nothing is changed.
    Rehearse,
    Really,
}

impl How {
    pub(super) const fn dry_run(dry_run: bool) -> Self {
        if dry_run { Self::Rehearse } else { Self::Really }
    }
}

/// The format of backups that this program writes, and the newest that it reads.
pub const FORMAT: u32 = 3;

/// Why a copy was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// `regent backup`.
    Asked,
    /// The house as it was before its schema was brought forward.
    Upgrade,
    /// The house as it was before another one was put in its place.
    Restore,
}

/// The newest entry of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tip {
    pub seq: u64,
    pub hash: Digest,
}

/// What a backup holds; it lies in it as `manifest.json`, and its digest names the backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    pub program: String,
    pub schema: i64,
    pub at: Time,
    pub occasion: Occasion,
    pub node: NodeId,
    /// The digest of every file, by its name in the folder.
    pub files: BTreeMap<String, Digest>,
    /// Rows per table.
    pub rows: BTreeMap<String, u64>,
    pub audit: Option<Tip>,
    /// Of all entries of the audit.
    pub chain: Digest,
}

impl Manifest {
    #[must_use]
    pub fn total(&self) -> u64 {
        self.rows.values().sum()
    }
}

/// What a database holds, in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    pub schema: i64,
    pub tables: usize,
    pub rows: u64,
    pub audit: Option<Tip>,
}

impl Count {
    pub(super) fn describe(&self) -> String {
        let (rows, tables) =
            (pluralize(self.rows, "row", "rows"), pluralize(self.tables as u64, "table", "tables"));
        format!("{rows} in {tables}")
    }

    pub(super) fn audit_entries(&self) -> u64 {
        self.audit.as_ref().map_or(0, |tip| tip.seq)
    }
}

/// What came of an upgrade, or would.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Upgrade {
    pub from: i64,
    pub to: i64,
    /// What was counted before, and again afterwards; nothing if there was nothing to do.
    pub counted: Option<Count>,
    /// What was wrong with the audit before, and still is.
    pub fault: Option<String>,
    /// The copy of before. PostgreSQL has none.
    pub kept: Option<PathBuf>,
    pub done: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Backup {
    pub folder: PathBuf,
    pub counted: Count,
    pub files: usize,
    /// Bytes of all files together.
    pub bytes: u64,
    /// The digest of the manifest; nothing in a rehearsal.
    pub manifest: Option<Digest>,
    /// What is wrong with the audit in it, as in the house itself: then it cannot be restored.
    pub fault: Option<String>,
    /// How many secrets the house has. They are in no backup.
    pub secrets_left_out: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restored {
    pub from: PathBuf,
    pub at: Time,
    pub manifest: Digest,
    pub counted: Count,
    /// What is there now and would go, or went; nothing if there was nothing.
    pub present: Option<Present>,
    pub settings: SettingsFile,
    pub switches: SettingsFile,
    /// The owner's policies; nothing where there are none, here or there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policies: Option<SettingsFile>,
    /// Grants in it that have to be given anew: they may have been revoked since.
    pub grants_revoked: usize,
    /// What the owner has said since, and what restricts: it stays as it is now, a line each.
    pub carried: Vec<String>,
    /// Where what was there is kept.
    pub kept: Option<PathBuf>,
    pub done: bool,
}

/// The house that is replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Present {
    Counted(Count),
    /// It does not open; its files are moved aside.
    Unreadable(String),
}

/// What becomes of `regent.toml` and `tool-access.json`: neither is taken back in time behind anybody's back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsFile {
    /// There is none, so it comes from the backup.
    PutBack,
    /// The one that is there stays, or there is none in the backup either.
    Left,
}

/// A copy of the house that was made at some time: whoever erases a person wants to know where they still stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptBackup {
    pub folder: PathBuf,
    pub at: Time,
    pub occasion: Occasion,
    /// `None` for the files of an instance that did not open, moved aside by a restore, and for an unfinished copy.
    pub manifest: Option<Digest>,
    /// Whether it is still there.
    pub there: bool,
    /// A process was killed while it made the copy, or is still at it. What is in it is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
}
