//! The machine as the use cases see it: the folders and keys of the instance, the user, and the ledger behind them.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use app::instance::backup::{Backup, How, KeptBackup, Restored, Upgrade};
use app::instance::paths::{InstancePaths, VaultOwner, VaultPaths};
use app::instance::settings::{Settings, without_password};
use app::{
    Code, Finding, FindingState, Host, InstanceHost, InstanceSetup, OsUser, PolicyFile, PolicyKind, Problem,
    RunSettings,
};
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
use nix::unistd::{Uid, User};

use crate::settings_source::SettingsError;
use crate::trusted_files::{self, UntrustedFile};
use crate::vault_files::{FileVault, list_halt_requests};
use crate::{SettingsSource, audit_anchor, files, key_files, policy_files, process_name, tool_access};

/// What stands between the ledger and its store. Only builds for tests put something there.
pub type StoreWrapper = Box<dyn Fn(Arc<dyn Store>) -> Arc<dyn Store> + Send + Sync>;

/// What an [`OsHost`] is made of.
pub struct HostConfig {
    pub instance: InstancePaths,
    /// Read again when settings may have changed.
    pub settings_source: SettingsSource,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub probe: Arc<dyn Probe>,
    /// Empty: a file in the data folder.
    pub database_url: String,
    pub wrap_store: StoreWrapper,
    /// Tools that the environment switches off.
    pub tools_off: String,
}

impl std::fmt::Debug for HostConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostConfig").field("instance", &self.instance).finish_non_exhaustive()
    }
}

/// The machine that an instance is on.
pub struct OsHost {
    pub(crate) instance: InstancePaths,
    pub(crate) settings_source: SettingsSource,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) probe: Arc<dyn Probe>,
    /// Empty: a file in the data folder.
    pub(crate) database_url: String,
    wrap_store: StoreWrapper,
    tools_off: String,
    /// The audit's root, if this process has set up the instance.
    pub(crate) root: OnceLock<PublicKey>,
    /// What opening the instance upgraded, if anything.
    upgraded: OnceLock<Upgrade>,
    /// Whose vault is used, once the database was asked.
    pub(crate) owner: Mutex<Option<VaultOwner>>,
}

impl std::fmt::Debug for OsHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OsHost").field("instance", &self.instance).finish_non_exhaustive()
    }
}

impl OsHost {
    pub fn new(config: HostConfig) -> Self {
        let HostConfig { instance, settings_source, clock, ids, probe, database_url, wrap_store, tools_off } =
            config;
        Self {
            instance,
            settings_source,
            clock,
            ids,
            probe,
            database_url,
            wrap_store,
            tools_off,
            root: OnceLock::new(),
            upgraded: OnceLock::new(),
            owner: Mutex::default(),
        }
    }
}

#[async_trait]
impl Host for OsHost {
    fn user(&self) -> OsUser {
        let id = Uid::effective();
        let name = User::from_uid(id).ok().flatten().map(|user| user.name);
        OsUser { id: id.as_raw(), name }
    }

    fn holder(&self) -> String {
        process_name::name_this_process()
    }

    fn run_settings(&self) -> Result<Option<RunSettings>, Problem> {
        let settings = self.settings_source.read().map_err(|unread| unread.problem())?;
        Ok(Some(settings.for_runs()))
    }

    fn is_alive(&self, holder: &str) -> Option<bool> {
        process_name::is_alive(holder)
    }

    fn switches(&self) -> Switches {
        tool_access::read_switches(&self.instance, &self.tools_off)
    }

    fn withdraw_halt_request(&self) -> Result<(), Problem> {
        for path in list_halt_requests(&self.instance, &self.owner()).iter().filter(|path| path.exists()) {
            files::remove(path)
                .and_then(|()| key_files::sync_folder(path))
                .map_err(|error| file_problem("remove", path, &error))?;
        }
        Ok(())
    }

    fn secrets(&self) -> Result<Secrets, Problem> {
        tool_access::read_secrets(&self.instance)
    }

    async fn open(&self) -> Result<Ledger, Problem> {
        self.furnish("").await?;
        self.find_owner().await.map_err(|problem| self.name_database_in(problem))?;
        if self.is_remote() {
            self.settle().await?;
        } else {
            self.expect_file()?;
            // The database holds what people wrote, and the files beside it take over its mode: nobody else reads them.
            let path = self.instance.database();
            key_files::make(&path, "", &self.unique())
                .map_err(|error| file_problem("make", &path, &error))?;
        }
        let store = match self.store().await {
            Err(StoreError::Older { .. }) => {
                let upgrade = self.run_upgrade(How::Really).await?;
                if upgrade.done {
                    self.upgraded.get_or_init(|| upgrade);
                }
                self.store().await
            }
            store => store,
        };
        let store = store.map_err(|error| self.store_problem(error))?;
        let seal = self.load_matched_seal(&store).await?;
        Ok(Ledger::start((self.wrap_store)(store), seal, Arc::clone(&self.probe)))
    }
}

#[async_trait]
impl InstanceHost for OsHost {
    async fn furnish(&self, name: &str) -> Result<InstanceSetup, Problem> {
        let instance = &self.instance;
        self.check_trusted()?;
        // A database on a server has its vault made, and its restore settled, when it is opened.
        let local = !self.is_remote();
        if local {
            self.settle().await?;
        }
        let vault = self.vault();
        let keys_folder = local.then_some(&vault.paths.keys);
        for folder in [&instance.config, &instance.data].into_iter().chain(keys_folder) {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| file_problem("make", folder, &error))?;
            // Before anything is written there: another user may have made it meanwhile.
            trusted_files::check_folder(folder).map_err(|error| file_problem("use", folder, &error))?;
        }
        let (mut made, mut root) = (Vec::new(), None);
        let mut make = |path: &Path, content: &str| -> Result<(), Problem> {
            let unique = self.ids.bits().to_string();
            if key_files::make(path, content, &unique).map_err(|error| file_problem("make", path, &error))? {
                made.push(path.display().to_string());
            }
            Ok(())
        };
        make(&instance.settings_file(), &Settings::template(name))?;
        // A database without its key is an instance whose secret was lost: a new one would hide that. (On PostgreSQL the
        // first batch says so: the record there was begun by another instance.)
        if !instance.database().exists() || self.is_remote() {
            let node: NodeId = Id::random(&*self.ids);
            make(&instance.node(), &node.to_string())?;
            root = if local { self.furnish_vault(&vault)? } else { None };
            made.extend(root.map(|_| vault.paths.key(1).display().to_string()));
        }
        if let Some(root) = root {
            self.root.get_or_init(|| root);
        }
        Ok(InstanceSetup { made, root })
    }

    fn is_furnished(&self) -> bool {
        let name = if self.is_remote() { self.instance.node() } else { self.instance.database() };
        name.exists() || self.instance.restoring().exists()
    }

    fn keys_are_locked(&self) -> bool {
        self.vault().is_locked()
    }

    fn keys_folder(&self) -> Option<PathBuf> {
        Some(self.instance.vault(&self.owner()).keys)
    }

    fn inspect(&self) -> Vec<Finding> {
        let instance = &self.instance;
        let mut findings = vec![self.inspect_user()];
        for (name, folder) in [("settings", &instance.config), ("data", &instance.data)] {
            findings.push(inspect_folder(name, folder));
        }
        findings.push(self.inspect_key());
        findings.extend(self.inspect_tools());
        let database = instance.database();
        findings.push(if self.is_remote() {
            ok_finding("database", without_password(&self.database_url))
        } else if database.exists() {
            inspect_private("database", &database)
        } else {
            let what = format!("{} is not there yet; the first command makes it", database.display());
            Finding { name: "database", state: FindingState::Warn, what, remedy: Some("regent init".into()) }
        });
        findings
    }

    fn turn(&self, tool: &ToolId, enabled: bool) -> Result<(), Problem> {
        tool_access::set_switch(&self.instance, tool, enabled, &self.unique())
    }

    fn request_halt(&self, at: Time) -> Result<(), Problem> {
        let path = self.instance.halt_request(&self.owner());
        let request = files::make_folder(path.parent().unwrap_or(&self.instance.data))
            .and_then(|()| key_files::make(&path, &at.micros().to_string(), &self.unique()));
        request.map(drop).map_err(|error| file_problem("make", &path, &error))
    }

    fn policies(&self, kind: PolicyKind) -> Vec<PolicyFile> {
        policy_files::read_all(&self.instance, kind)
    }

    fn put_policies(&self, kind: PolicyKind, file: &str, text: &str) -> Result<(), Problem> {
        policy_files::write_file(&self.instance, kind, file, text, &self.unique())
    }

    fn take_policies(&self, kind: PolicyKind, file: &str) -> Result<(), Problem> {
        policy_files::remove_file(&self.instance, kind, file)
    }

    fn new_root(&self) -> Option<PublicKey> {
        self.root.get().copied()
    }

    fn keep_anchor(&self, to: &str, stream: NodeId, lines: &[String]) -> Result<String, Problem> {
        audit_anchor::write_anchor(to, stream, lines, &self.unique(), &self.settings_source.environment)
    }

    async fn upgrade(&self, how: How) -> Result<Upgrade, Problem> {
        self.check_trusted()?;
        // On a disk that is read-only SQLite only says that it cannot open the file.
        nix::unistd::access(&self.instance.data, nix::unistd::AccessFlags::W_OK)
            .map_err(|error| file_problem("write in", &self.instance.data, &error.into()))?;
        self.find_owner().await?;
        self.settle().await?;
        self.run_upgrade(how).await
    }

    async fn backup(&self, to: Option<&Path>, how: How) -> Result<Backup, Problem> {
        self.make_backup(to, how).await
    }

    async fn restore(&self, from: &Path, how: How) -> Result<Restored, Problem> {
        self.restore_backup(from, how).await
    }

    fn backups(&self) -> Result<Vec<KeptBackup>, Problem> {
        self.kept_backups()
    }

    fn upgraded(&self) -> Option<Upgrade> {
        self.upgraded.get().cloned()
    }
}

impl OsHost {
    pub(crate) fn is_remote(&self) -> bool {
        !self.database_url.is_empty()
    }

    /// The database as it is: one of an older schema is not opened.
    pub(crate) async fn store(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(match self.is_remote() {
            true => Arc::new(PostgresStore::open(&self.server_url()?).await?),
            false => Arc::new(SqliteStore::open(&self.instance.database()).await?),
        })
    }

    /// What the database said, and which one it was.
    fn store_problem(&self, error: StoreError) -> Problem {
        self.name_database_in(Problem::from(error))
    }

    fn name_database_in(&self, problem: Problem) -> Problem {
        let place = match self.is_remote() {
            true => without_password(&self.database_url),
            false => self.instance.database().display().to_string(),
        };
        Problem { what: format!("{} ({place})", problem.what), ..problem }
    }

    pub(crate) fn vault(&self) -> FileVault {
        FileVault::new(&self.instance, &self.owner(), &self.ids)
    }

    /// The first secret, unless the instance has one, or had: an epoch has ended then, and its checkpoint says so.
    pub(crate) fn furnish_vault(&self, vault: &FileVault) -> Result<Option<PublicKey>, Problem> {
        let unusable = |error: io::Error| file_problem("use", &vault.paths.keys, &error);
        if !vault.is_new().map_err(unusable)? {
            return Ok(None);
        }
        // Before there were epochs, a database elsewhere shared the secret of the file.
        let shared = if self.owner() == VaultOwner::ServerBefore {
            key_files::read(&self.instance.vault(&VaultOwner::File).key(1)).map_err(unusable)?
        } else {
            None
        };
        if !vault.begin(shared.as_deref()).map_err(unusable)? {
            return Ok(None);
        }
        Ok(vault.secret(1).map_err(unusable)?.map(|secret| secret.public()))
    }

    pub(crate) fn seal(&self) -> Result<Seal, Problem> {
        let (vault, owner) = (self.vault(), self.owner());
        // Before there were epochs, a database elsewhere shared the secret of the file.
        let shared = owner == VaultOwner::ServerBefore
            && vault.is_new().map_err(|error| file_problem("read", &vault.paths.keys, &error))?;
        load_seal(&self.instance, if shared { &VaultOwner::File } else { &owner }, &self.ids)
    }

    pub(crate) fn node(&self) -> Result<NodeId, Problem> {
        read_node(&self.instance.vault(&self.owner()))
    }

    /// Whether no other user could have put anything into the instance. What SQLite opens by its name is looked at here,
    /// everything else again when it is read.
    pub(crate) fn check_trusted(&self) -> Result<(), Problem> {
        let checked =
            |path: &Path, found: io::Result<()>| found.map_err(|error| file_problem("use", path, &error));
        for folder in [&self.instance.config, &self.instance.data] {
            checked(folder, trusted_files::check_folder(folder).map(drop))?;
        }
        let database = self.instance.database();
        for ending in ["", "-wal", "-shm", "-journal"] {
            let path = PathBuf::from(format!("{}{ending}", database.display()));
            checked(&path, trusted_files::check_file(&path))?;
        }
        Ok(())
    }

    fn inspect_user(&self) -> Finding {
        let user = self.user();
        let name = user.name.clone().unwrap_or_else(|| user.id.to_string());
        let settings = || match self.settings_source.read() {
            Err(SettingsError::Untrusted(untrusted)) => Err(untrusted.problem()),
            _ => Ok(()),
        };
        if let Err(problem) = self.check_trusted().and_then(|()| settings()) {
            return Finding {
                name: "user",
                state: FindingState::Bad,
                what: problem.what,
                remedy: problem.remedy.into_iter().next(),
            };
        }
        if user.is_root() {
            let what = "running as root: everything an agent may touch, it may touch as root".into();
            return Finding {
                name: "user",
                state: FindingState::Warn,
                what,
                remedy: Some("run it as a user of its own".into()),
            };
        }
        ok_finding("user", name)
    }

    /// Only where something is wrong: then nothing runs.
    fn inspect_tools(&self) -> Vec<Finding> {
        let bad = |name, what: String, remedy: &str| Finding {
            name,
            state: FindingState::Bad,
            what,
            remedy: Some(remedy.into()),
        };
        let switches = self.switches();
        let access = switches.mistake().map(|why| {
            let what =
                format!("{} cannot be used, so no tool runs: {why}", self.instance.tool_access().display());
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
            ok_finding("key", "made with the house".into())
        } else {
            inspect_private("key", &key)
        }
    }
}

fn key_problem(path: &Path, why: &str) -> Problem {
    Problem::new(Code::KEY, format!("{} {why}", path.display()))
        .safe("nothing was written")
        .remedy("regent explain R4008")
}

fn read_required(path: &Path) -> Result<String, Problem> {
    let text = key_files::read(path).map_err(|error| file_problem("read", path, &error))?;
    text.ok_or_else(|| key_problem(path, "is missing"))
}

fn read_node(paths: &VaultPaths) -> Result<NodeId, Problem> {
    let node = &paths.node;
    read_required(node)?.parse().map_err(|_unreadable| key_problem(node, "does not hold the name of a node"))
}

/// What an instance seals its audit with; a scratch place has its own.
pub(crate) fn load_seal(
    instance: &InstancePaths,
    owner: &VaultOwner,
    ids: &Arc<dyn IdSource>,
) -> Result<Seal, Problem> {
    let vault = FileVault::new(instance, owner, ids);
    let stream = read_node(&vault.paths)?;
    // It is made before the database gets its id.
    let authority = vault.paths.authority_key();
    if vault.stamp().is_some() && !authority.exists() {
        return Err(key_problem(&authority, "is missing"));
    }
    let newest = || -> Result<u64, Problem> {
        let epochs = vault.epochs().map_err(|error| file_problem("read", &vault.paths.keys, &error))?;
        epochs.last().copied().ok_or_else(|| key_problem(&vault.paths.key(1), "is missing"))
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
        Ok(None) => Err(key_problem(&path, "is missing")),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(key_problem(&path, "does not hold a key"))
        }
        Err(error) => Err(file_problem("read", &path, &error)),
    }
}

/// A file that nobody else may read.
fn inspect_private(name: &'static str, path: &Path) -> Finding {
    match std::fs::metadata(path) {
        Ok(found) if found.permissions().mode() & 0o077 == 0 => {
            ok_finding(name, format!("{}, yours only", path.display()))
        }
        Ok(_) => {
            let (what, remedy) = (
                format!("{} can be read by others", path.display()),
                format!("chmod 600 {}", trusted_files::quote(path)),
            );
            Finding { name, state: FindingState::Bad, what, remedy: Some(remedy) }
        }
        Err(error) => {
            let what = format!("{}: {error}", path.display());
            Finding { name, state: FindingState::Bad, what, remedy: Some("regent explain R4008".into()) }
        }
    }
}

fn ok_finding(name: &'static str, what: String) -> Finding {
    Finding { name, state: FindingState::Ok, what, remedy: None }
}

fn inspect_folder(name: &'static str, folder: &Path) -> Finding {
    if !folder.exists() {
        let what = format!("{} is not there yet; the first command makes it", folder.display());
        return Finding { name, state: FindingState::Ok, what, remedy: None };
    }
    match nix::unistd::access(folder, nix::unistd::AccessFlags::W_OK | nix::unistd::AccessFlags::X_OK) {
        Ok(()) if is_open_to_others(folder) => {
            let (what, remedy) = (
                format!("{} is open to others", folder.display()),
                format!("chmod 700 {}", trusted_files::quote(folder)),
            );
            Finding { name, state: FindingState::Bad, what, remedy: Some(remedy) }
        }
        Ok(()) => ok_finding(name, folder.display().to_string()),
        Err(error) => {
            let what = format!("{} cannot be written: {}", folder.display(), error.desc());
            Finding { name, state: FindingState::Bad, what, remedy: Some("regent explain R4001".into()) }
        }
    }
}

/// Whether anybody but the owner may write there, and so put files in.
fn is_open_to_others(folder: &Path) -> bool {
    std::fs::metadata(folder).is_ok_and(|found| found.permissions().mode() & 0o022 != 0)
}

pub(crate) fn file_problem(verb: &str, path: &Path, error: &io::Error) -> Problem {
    if let Some(untrusted) = UntrustedFile::within(error) {
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
