//! The machine as the use cases see it: the house's folders and keys, the user, and the ledger behind them.

#![expect(clippy::disallowed_methods, reason = "the house's own files")]

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use broker::access::Switches;
use broker::secrets::Secrets;
use domain::call::ToolId;
use domain::id::{Id, NodeId};
use domain::probe::Probe;
use domain::{Clock, IdSource, Time};
use ledger::chain::{PublicKey, Vault as _};
use ledger::{Ledger, Seal, Store, StoreError};
use ledger_sql::{PostgresStore, SqliteStore};
use nix::unistd::{Uid, User as OsUser};
use runtime::keeping::{Backup, How, KeptBackup, Restored, Upgrade};
use runtime::settings::{Settings, without_password};
use runtime::{
    Code, Finding, Furnished, Host, House, PolicyFile, PolicyKind, Problem, State, User, VaultOwner,
    VaultPaths,
};

use super::trusted::{self, Untrusted};
use super::vault::{FileVault, halt_requests};
use super::written::Unread;
use super::{Written, access, anchor, files, holder, keys, policies};

pub(crate) struct OsHost {
    pub(crate) house: House,
    /// Its settings, to be read again.
    pub(crate) written: Written,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) probe: Arc<dyn Probe>,
    /// Empty: a file in the data folder.
    pub(crate) database_url: String,
    /// Only in builds for tests: what stands between the ledger and its store.
    pub(crate) wrap: fn(Arc<dyn Store>) -> Arc<dyn Store>,
    /// The audit's root, if this process has set up the house.
    pub(crate) root: OnceLock<PublicKey>,
    /// What opening the house brought forward, if anything.
    pub(crate) upgraded: OnceLock<Upgrade>,
    /// Whose vault is used, once the database was asked.
    pub(crate) owner: Mutex<Option<VaultOwner>>,
    /// Tools that the environment switches off.
    pub(crate) tools_off: String,
}

#[async_trait]
impl Host for OsHost {
    fn user(&self) -> User {
        let id = Uid::effective();
        let name = OsUser::from_uid(id).ok().flatten().map(|user| user.name);
        User { id: id.as_raw(), name }
    }

    fn holder(&self) -> String {
        holder::this_process()
    }

    fn settings(&self) -> Result<Option<Settings>, Problem> {
        self.written.read().map(Some).map_err(|unread| unread.problem())
    }

    fn is_alive(&self, holder: &str) -> Option<bool> {
        holder::is_alive(holder)
    }

    async fn furnish(&self, name: &str) -> Result<Furnished, Problem> {
        let house = &self.house;
        self.is_ours()?;
        // A database on a server has its vault made, and its restore settled, when it is opened.
        let local = !self.is_remote();
        if local {
            self.settle().await?;
        }
        let vault = self.vault();
        let keys_folder = local.then_some(&vault.paths.keys);
        for folder in [&house.config, &house.data].into_iter().chain(keys_folder) {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| unusable("make", folder, &error))?;
            // Before anything is written there: another user may have made it meanwhile.
            trusted::folder(folder).map_err(|error| unusable("use", folder, &error))?;
        }
        let (mut made, mut root) = (Vec::new(), None);
        let mut make = |path: &Path, content: &str| -> Result<(), Problem> {
            let unique = self.ids.bits().to_string();
            if keys::make(path, content, &unique).map_err(|error| unusable("make", path, &error))? {
                made.push(path.display().to_string());
            }
            Ok(())
        };
        make(&house.settings_file(), &Settings::template(name))?;
        // A database without its key is a house whose secret was lost: a new one would hide that. (On PostgreSQL the
        // first batch says so: the record there was begun by another house.)
        if !house.database().exists() || self.is_remote() {
            let node: NodeId = Id::random(&*self.ids);
            make(&house.node(), &node.to_string())?;
            root = if local { self.furnish_vault(&vault)? } else { None };
            made.extend(root.map(|_| vault.paths.key(1).display().to_string()));
        }
        if let Some(root) = root {
            self.root.get_or_init(|| root);
        }
        Ok(Furnished { made, root })
    }

    fn is_furnished(&self) -> bool {
        let name = if self.is_remote() { self.house.node() } else { self.house.database() };
        name.exists() || self.house.restoring().exists()
    }

    fn keys_are_locked(&self) -> bool {
        self.vault().is_locked()
    }

    fn keys_folder(&self) -> Option<PathBuf> {
        Some(self.house.vault(&self.owner()).keys)
    }

    fn inspect(&self) -> Vec<Finding> {
        let house = &self.house;
        let mut findings = vec![self.inspect_user()];
        for (name, folder) in [("settings", &house.config), ("data", &house.data)] {
            findings.push(inspect_folder(name, folder));
        }
        findings.push(self.inspect_key());
        findings.extend(self.inspect_tools());
        let database = house.database();
        findings.push(if self.is_remote() {
            ok("database", without_password(&self.database_url))
        } else if database.exists() {
            inspect_private("database", &database)
        } else {
            let what = format!("{} is not there yet; the first command makes it", database.display());
            Finding { name: "database", state: State::Warn, what, remedy: Some("regent init".into()) }
        });
        findings
    }

    fn switches(&self) -> Switches {
        access::switches(&self.house, &self.tools_off)
    }

    fn turn(&self, tool: &ToolId, enabled: bool) -> Result<(), Problem> {
        access::turn(&self.house, tool, enabled, &self.unique())
    }

    fn request_halt(&self, at: Time) -> Result<(), Problem> {
        let path = self.house.halt_request(&self.owner());
        let request = files::make_folder(path.parent().unwrap_or(&self.house.data))
            .and_then(|()| keys::make(&path, &at.micros().to_string(), &self.unique()));
        request.map(drop).map_err(|error| unusable("make", &path, &error))
    }

    fn withdraw_halt_request(&self) -> Result<(), Problem> {
        for path in halt_requests(&self.house, &self.owner()).iter().filter(|path| path.exists()) {
            files::remove(path)
                .and_then(|()| keys::sync_folder(path))
                .map_err(|error| unusable("remove", path, &error))?;
        }
        Ok(())
    }

    fn policies(&self, kind: PolicyKind) -> Vec<PolicyFile> {
        policies::all(&self.house, kind)
    }

    fn put_policies(&self, kind: PolicyKind, file: &str, text: &str) -> Result<(), Problem> {
        policies::put(&self.house, kind, file, text, &self.unique())
    }

    fn take_policies(&self, kind: PolicyKind, file: &str) -> Result<(), Problem> {
        policies::take(&self.house, kind, file)
    }

    fn secrets(&self) -> Result<Secrets, Problem> {
        access::secrets(&self.house)
    }

    fn new_root(&self) -> Option<PublicKey> {
        self.root.get().copied()
    }

    fn keep_anchor(&self, to: &str, stream: NodeId, lines: &[String]) -> Result<String, Problem> {
        anchor::keep(to, stream, lines, &self.unique(), &self.written.environment)
    }

    async fn open(&self) -> Result<Ledger, Problem> {
        self.furnish("").await?;
        self.find_owner().await.map_err(|problem| self.problem_at_its_place(problem))?;
        if self.is_remote() {
            self.settle().await?;
        } else {
            self.expect_file()?;
            // The database holds what people wrote, and the files beside it take over its mode: nobody else reads them.
            let path = self.house.database();
            keys::make(&path, "", &self.unique()).map_err(|error| unusable("make", &path, &error))?;
        }
        let store = match self.store().await {
            Err(StoreError::Older { .. }) => {
                let upgrade = self.bring_forward(How::Really).await?;
                if upgrade.done {
                    self.upgraded.get_or_init(|| upgrade);
                }
                self.store().await
            }
            store => store,
        };
        let store = store.map_err(|error| self.at_its_place(error))?;
        let seal = self.matched_seal(&store).await?;
        Ok(Ledger::start((self.wrap)(store), seal, Arc::clone(&self.probe)))
    }

    async fn upgrade(&self, how: How) -> Result<Upgrade, Problem> {
        self.is_ours()?;
        // On a disk that is read-only SQLite only says that it cannot open the file.
        nix::unistd::access(&self.house.data, nix::unistd::AccessFlags::W_OK)
            .map_err(|error| unusable("write in", &self.house.data, &error.into()))?;
        self.find_owner().await?;
        self.settle().await?;
        self.bring_forward(how).await
    }

    async fn backup(&self, to: Option<&Path>, how: How) -> Result<Backup, Problem> {
        self.make_backup(to, how).await
    }

    async fn restore(&self, from: &Path, how: How) -> Result<Restored, Problem> {
        self.put_back(from, how).await
    }

    fn backups(&self) -> Result<Vec<KeptBackup>, Problem> {
        self.kept_backups()
    }

    fn upgraded(&self) -> Option<Upgrade> {
        self.upgraded.get().cloned()
    }
}

impl OsHost {
    pub(super) fn is_remote(&self) -> bool {
        !self.database_url.is_empty()
    }

    /// The database as it is: one of an older schema is not opened.
    pub(super) async fn store(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(match self.is_remote() {
            true => Arc::new(PostgresStore::open(&self.database_url).await?),
            false => Arc::new(SqliteStore::open(&self.house.database()).await?),
        })
    }

    /// What the database said, and which one it was.
    fn at_its_place(&self, error: StoreError) -> Problem {
        self.problem_at_its_place(Problem::from(error))
    }

    fn problem_at_its_place(&self, problem: Problem) -> Problem {
        let place = match self.is_remote() {
            true => without_password(&self.database_url),
            false => self.house.database().display().to_string(),
        };
        Problem { what: format!("{} ({place})", problem.what), ..problem }
    }

    pub(super) fn vault(&self) -> FileVault {
        FileVault::new(&self.house, &self.owner(), &self.ids)
    }

    /// The first secret, unless the house has one, or had: an epoch has ended then, and its checkpoint says so.
    pub(super) fn furnish_vault(&self, vault: &FileVault) -> Result<Option<PublicKey>, Problem> {
        let unusable = |error: io::Error| unusable("use", &vault.paths.keys, &error);
        if !vault.is_new().map_err(unusable)? {
            return Ok(None);
        }
        // Before there were epochs, a database elsewhere shared the secret of the file.
        let shared = if self.owner() == VaultOwner::ServerBefore {
            keys::read(&self.house.vault(&VaultOwner::File).key(1)).map_err(unusable)?
        } else {
            None
        };
        if !vault.begin(shared.as_deref()).map_err(unusable)? {
            return Ok(None);
        }
        Ok(vault.secret(1).map_err(unusable)?.map(|secret| secret.public()))
    }

    pub(super) fn seal(&self) -> Result<Seal, Problem> {
        let (vault, owner) = (self.vault(), self.owner());
        // Before there were epochs, a database elsewhere shared the secret of the file.
        let shared = owner == VaultOwner::ServerBefore
            && vault.is_new().map_err(|error| unusable("read", &vault.paths.keys, &error))?;
        seal_of(&self.house, if shared { &VaultOwner::File } else { &owner }, &self.ids)
    }

    pub(super) fn node(&self) -> Result<NodeId, Problem> {
        node_of(&self.house.vault(&self.owner()))
    }

    /// Whether no other user could have put anything into the instance. What SQLite opens by its name is looked at here,
    /// everything else again when it is read.
    pub(super) fn is_ours(&self) -> Result<(), Problem> {
        let checked =
            |path: &Path, found: io::Result<()>| found.map_err(|error| unusable("use", path, &error));
        for folder in [&self.house.config, &self.house.data] {
            checked(folder, trusted::folder(folder).map(drop))?;
        }
        let database = self.house.database();
        for ending in ["", "-wal", "-shm", "-journal"] {
            let path = PathBuf::from(format!("{}{ending}", database.display()));
            checked(&path, trusted::check(&path))?;
        }
        Ok(())
    }

    fn inspect_user(&self) -> Finding {
        let user = self.user();
        let name = user.name.clone().unwrap_or_else(|| user.id.to_string());
        let settings = || match self.written.read() {
            Err(Unread::Untrusted(untrusted)) => Err(untrusted.problem()),
            _ => Ok(()),
        };
        if let Err(problem) = self.is_ours().and_then(|()| settings()) {
            return Finding {
                name: "user",
                state: State::Bad,
                what: problem.what,
                remedy: problem.remedy.into_iter().next(),
            };
        }
        if user.is_root() {
            let what = "running as root: everything an agent may touch, it may touch as root".into();
            return Finding {
                name: "user",
                state: State::Warn,
                what,
                remedy: Some("run it as a user of its own".into()),
            };
        }
        ok("user", name)
    }

    /// Only where something is wrong: then nothing runs.
    fn inspect_tools(&self) -> Vec<Finding> {
        let bad = |name, what: String, remedy: &str| Finding {
            name,
            state: State::Bad,
            what,
            remedy: Some(remedy.into()),
        };
        let switches = self.switches();
        let access = switches.mistake().map(|why| {
            let what =
                format!("{} cannot be used, so no tool runs: {why}", self.house.tool_access().display());
            bad("tools", what, "regent explain R4029")
        });
        let secrets =
            self.secrets().err().map(|problem| bad("secrets", problem.what, "regent explain R4030"));
        access.into_iter().chain(secrets).collect()
    }

    fn inspect_key(&self) -> Finding {
        let vault = self.vault();
        let newest = vault.epochs().ok().and_then(|epochs| epochs.last().copied());
        let key = vault.paths.key(newest.unwrap_or(1));
        if !self.is_furnished() && newest.is_none() {
            ok("key", "made with the house".into())
        } else {
            inspect_private("key", &key)
        }
    }
}

fn lost(path: &Path, why: &str) -> Problem {
    Problem::new(Code::KEY, format!("{} {why}", path.display()))
        .safe("nothing was written")
        .remedy("regent explain R4008")
}

fn secret(path: &Path) -> Result<String, Problem> {
    let text = keys::read(path).map_err(|error| unusable("read", path, &error))?;
    text.ok_or_else(|| lost(path, "is missing"))
}

fn node_of(paths: &VaultPaths) -> Result<NodeId, Problem> {
    let node = &paths.node;
    secret(node)?.parse().map_err(|_unreadable| lost(node, "does not hold the name of a node"))
}

/// What a house seals its audit with; a scratch place has its own.
pub(super) fn seal_of(house: &House, owner: &VaultOwner, ids: &Arc<dyn IdSource>) -> Result<Seal, Problem> {
    let vault = FileVault::new(house, owner, ids);
    let stream = node_of(&vault.paths)?;
    // It is made before the database gets its id.
    let authority = vault.paths.authority_key();
    if vault.stamp().is_some() && !authority.exists() {
        return Err(lost(&authority, "is missing"));
    }
    let newest = || -> Result<u64, Problem> {
        let epochs = vault.epochs().map_err(|error| unusable("read", &vault.paths.keys, &error))?;
        epochs.last().copied().ok_or_else(|| lost(&vault.paths.key(1), "is missing"))
    };
    let mut epoch = newest()?;
    let mut found = vault.secret(epoch);
    // Another process may have ended the epoch meanwhile; then the next one's secret is there.
    if matches!(found, Ok(None)) {
        epoch = newest()?;
        found = vault.secret(epoch);
    }
    let path = vault.paths.key(epoch);
    match found {
        Ok(Some(_)) => Ok(Seal::new(stream, Arc::new(vault))),
        Ok(None) => Err(lost(&path, "is missing")),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(lost(&path, "does not hold a key")),
        Err(error) => Err(unusable("read", &path, &error)),
    }
}

/// A file that nobody else may read.
fn inspect_private(name: &'static str, path: &Path) -> Finding {
    match std::fs::metadata(path) {
        Ok(found) if found.permissions().mode() & 0o077 == 0 => {
            ok(name, format!("{}, yours only", path.display()))
        }
        Ok(_) => {
            let (what, remedy) = (
                format!("{} can be read by others", path.display()),
                format!("chmod 600 {}", trusted::quote(path)),
            );
            Finding { name, state: State::Bad, what, remedy: Some(remedy) }
        }
        Err(error) => {
            let what = format!("{}: {error}", path.display());
            Finding { name, state: State::Bad, what, remedy: Some("regent explain R4008".into()) }
        }
    }
}

fn ok(name: &'static str, what: String) -> Finding {
    Finding { name, state: State::Ok, what, remedy: None }
}

fn inspect_folder(name: &'static str, folder: &Path) -> Finding {
    if !folder.exists() {
        let what = format!("{} is not there yet; the first command makes it", folder.display());
        return Finding { name, state: State::Ok, what, remedy: None };
    }
    match nix::unistd::access(folder, nix::unistd::AccessFlags::W_OK | nix::unistd::AccessFlags::X_OK) {
        Ok(()) if open_to_others(folder) => {
            let (what, remedy) = (
                format!("{} is open to others", folder.display()),
                format!("chmod 700 {}", trusted::quote(folder)),
            );
            Finding { name, state: State::Bad, what, remedy: Some(remedy) }
        }
        Ok(()) => ok(name, folder.display().to_string()),
        Err(error) => {
            let what = format!("{} cannot be written: {}", folder.display(), error.desc());
            Finding { name, state: State::Bad, what, remedy: Some("regent explain R4001".into()) }
        }
    }
}

/// Whether anybody but the owner may write there, and so put files in.
fn open_to_others(folder: &Path) -> bool {
    std::fs::metadata(folder).is_ok_and(|found| found.permissions().mode() & 0o022 != 0)
}

pub(super) fn unusable(verb: &str, path: &Path, error: &io::Error) -> Problem {
    if let Some(untrusted) = Untrusted::within(error) {
        return untrusted.problem();
    }
    let what = format!("cannot {verb} {}: {error}", path.display());
    let code = match error.kind() {
        io::ErrorKind::StorageFull => Code::DISK_FULL,
        io::ErrorKind::ResourceBusy => Code::DATABASE_BUSY,
        io::ErrorKind::StaleNetworkFileHandle => Code::REPLACED,
        _ => Code::HOUSE,
    };
    Problem::new(code, what).safe("nothing was written").remedy("regent doctor")
}
