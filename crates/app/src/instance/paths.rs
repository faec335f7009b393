//! Where everything of one installation lies.

use std::path::{Path, PathBuf};

use crate::policies::PolicyKind;

/// The folders and files of one house. Plain paths: looking at them is the host's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstancePaths {
    pub config: PathBuf,
    pub data: PathBuf,
}

/// Which database a vault belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultOwner {
    /// The file in the data folder.
    File,
    /// The database on a server with this id.
    Server(String),
    /// The one database on a server that the versions before database ids knew.
    ServerBefore,
}

/// Where the files that belong to one database lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultPaths {
    pub folder: PathBuf,
    /// One secret per epoch; none of them ever enters the database or a log.
    pub keys: PathBuf,
    pub checkpoints: PathBuf,
    pub tip: PathBuf,
    /// Which database these belong to: its id and incarnation.
    pub stamp: PathBuf,
    /// The name of the database's audit stream.
    pub node: PathBuf,
    /// Where a database on a server is, without user and password; so that it is known again if its id was taken out.
    pub place: PathBuf,
}

impl VaultPaths {
    #[must_use]
    pub fn key(&self, epoch: u64) -> PathBuf {
        self.keys.join(if epoch == 1 { "audit.key".to_owned() } else { format!("audit-{epoch}.key") })
    }

    /// The key of the MACs on rows that carry authority.
    #[must_use]
    pub fn authority_key(&self) -> PathBuf {
        self.keys.join("authority.key")
    }

    /// The epoch whose secret a file of this name holds.
    #[must_use]
    pub fn epoch_of(name: &str) -> Option<u64> {
        match name.strip_prefix("audit")?.strip_suffix(".key")? {
            "" => Some(1),
            later => later.strip_prefix('-')?.parse().ok(),
        }
    }
}

impl InstancePaths {
    /// Everything under one folder: what `REGENT_HOME` asks for.
    #[must_use]
    pub fn under(home: &Path) -> Self {
        Self { config: home.to_owned(), data: home.join("data") }
    }

    #[must_use]
    pub fn settings_file(&self) -> PathBuf {
        self.config.join("regent.toml")
    }

    /// The one switch per tool.
    #[must_use]
    pub fn tool_access(&self) -> PathBuf {
        self.config.join("tool-access.json")
    }

    /// One file per secret, under its name.
    #[must_use]
    pub fn secrets(&self) -> PathBuf {
        self.config.join("secrets")
    }

    /// Keys to models, one file each, under the name of its provider. No tool is ever given one.
    #[must_use]
    pub fn model_keys(&self) -> PathBuf {
        self.config.join("keys")
    }

    /// What models cost, where the owner knows better than the list that ships.
    #[must_use]
    pub fn prices(&self) -> PathBuf {
        self.config.join("prices.toml")
    }

    /// Of which machines the owner was told that they may be spoken to, one a line.
    #[must_use]
    pub fn told(&self) -> PathBuf {
        self.data.join("told")
    }

    /// Which provider's key may go to which other host, one pair a line.
    #[must_use]
    pub fn confirmed(&self) -> PathBuf {
        self.data.join("confirmed")
    }

    /// The owner's policies, one folder per kind.
    #[must_use]
    pub fn policies(&self) -> PathBuf {
        self.config.join("policies")
    }

    #[must_use]
    pub fn policies_of(&self, kind: PolicyKind) -> PathBuf {
        self.policies().join(kind.name())
    }

    /// What no tool reaches, wherever its workspace is: whoever could write here could give themselves leave.
    #[must_use]
    pub fn guarded(&self) -> Vec<PathBuf> {
        vec![self.config.clone(), self.data.clone()]
    }

    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.data.join("regent.db")
    }

    /// What is kept beside a database: the secrets, the checkpoints, the tip, its id. Each database has its own, so that two
    /// never share an epoch.
    #[must_use]
    pub fn vault(&self, owner: &VaultOwner) -> VaultPaths {
        let folder = match owner {
            VaultOwner::File => self.data.clone(),
            VaultOwner::Server(id) => self.servers().join(id),
            VaultOwner::ServerBefore => self.servers(),
        };
        let with_own_name = matches!(owner, VaultOwner::Server(_));
        VaultPaths {
            keys: folder.join("keys"),
            checkpoints: folder.join("checkpoints.jsonl"),
            tip: folder.join("tip"),
            stamp: folder.join("database"),
            node: if with_own_name { folder.join("node") } else { self.node() },
            place: folder.join("place"),
            folder,
        }
    }

    /// The vaults of databases on servers, a folder each, under the database's id.
    #[must_use]
    pub fn servers(&self) -> PathBuf {
        self.data.join("remote")
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

    /// Is there while a restored database is being put in place; it says which one.
    #[must_use]
    pub fn restoring(&self) -> PathBuf {
        self.data.join("restoring")
    }

    /// Is there while a halt waits to be written to the ledger of this database. If nobody knows yet which database is on the
    /// server, the request is that of `ServerBefore`, and counts for every database on a server.
    #[must_use]
    pub fn halt_request(&self, owner: &VaultOwner) -> PathBuf {
        self.vault(owner).folder.join("halt-requested")
    }

    /// The name of this installation's audit stream.
    #[must_use]
    pub fn node(&self) -> PathBuf {
        self.data.join("node")
    }
}
