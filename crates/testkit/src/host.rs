//! A machine for tests: one user, and processes that live and die when the test says so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::sleeper;
use app::instance::backup::KeptBackup;
use app::{
    Finding, FindingState, Host, InstanceHost, InstanceSetup, OsUser, PolicyFile, PolicyKind, Problem,
};
use async_trait::async_trait;
use broker::Registry;
use broker::access::Switches;
use domain::call::ToolId;
use domain::id::NodeId;
use domain::probe::Probe;
use ledger::chain::Vault;
use ledger::{Ledger, Seal, Store};
use ledger_sql::{PostgresStore, SqliteStore};

#[derive(Debug)]
pub struct TestHost {
    pub(crate) place: Place,
    pub(crate) holder: String,
    pub(crate) alive: Arc<Mutex<BTreeSet<String>>>,
    /// Whether it can tell who lives; another container could not.
    pub(crate) sighted: bool,
    pub(crate) probe: ProbeBox,
    /// What the house keeps beside its database: every process of it has the same.
    pub(crate) vault: Arc<dyn Vault>,
    pub(crate) backups: Vec<KeptBackup>,
    /// `tool-access.json`, which every process of the house sees.
    pub(crate) access: Arc<Mutex<Option<String>>>,
    /// The policy files, which every process of the house sees.
    pub(crate) policies: Policies,
}

/// By kind and name: what a file says, or why that cannot be relied on.
pub(crate) type Policies = Arc<Mutex<BTreeMap<(PolicyKind, String), Result<String, String>>>>;

/// Where the ledger of a house is; every process opens it for itself, as a real one does.
#[derive(Clone, Debug)]
pub enum Place {
    Given(Arc<dyn Store>),
    File(PathBuf),
    Url(String),
}

impl Place {
    pub async fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Given(store) => Arc::clone(store),
            Self::File(path) => Arc::new(SqliteStore::open(path).await.expect("a database")),
            Self::Url(url) => Arc::new(PostgresStore::open(url).await.expect("a schema")),
        }
    }
}

/// A probe that prints as nothing.
#[derive(Clone)]
pub(crate) struct ProbeBox(pub(crate) Arc<dyn Probe>);

impl std::fmt::Debug for ProbeBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Probe")
    }
}

#[async_trait]
impl Host for TestHost {
    fn user(&self) -> OsUser {
        OsUser { id: 1000, name: Some("ada".into()) }
    }

    fn tools(&self, registry: Registry) -> Registry {
        registry.with(sleeper::spec(), Arc::new(sleeper::Sleeper))
    }

    fn holder(&self) -> String {
        self.holder.clone()
    }

    fn is_alive(&self, holder: &str) -> Option<bool> {
        self.sighted.then(|| self.alive.lock().unwrap_or_else(PoisonError::into_inner).contains(holder))
    }

    fn switches(&self) -> Switches {
        Switches::read(self.access.lock().unwrap_or_else(PoisonError::into_inner).as_deref())
    }

    async fn open(&self) -> Result<Ledger, Problem> {
        let seal = Seal::new(NodeId::from_bits(1), Arc::clone(&self.vault));
        Ok(Ledger::start(self.place.open().await, seal, Arc::clone(&self.probe.0)))
    }
}

#[async_trait]
impl InstanceHost for TestHost {
    fn is_furnished(&self) -> bool {
        true
    }

    fn inspect(&self) -> Vec<Finding> {
        vec![Finding { name: "database", state: FindingState::Ok, what: "in the test".into(), remedy: None }]
    }

    async fn furnish(&self, _name: &str) -> Result<InstanceSetup, Problem> {
        Ok(InstanceSetup { made: Vec::new(), root: None })
    }

    fn keep_anchor(&self, to: &str, _: NodeId, lines: &[String]) -> Result<String, Problem> {
        std::fs::write(to, lines.join("\n")).expect("a file");
        Ok(to.into())
    }

    fn turn(&self, tool: &ToolId, enabled: bool) -> Result<(), Problem> {
        let mut access = self.access.lock().unwrap_or_else(PoisonError::into_inner);
        *access = Some(Switches::turned(access.as_deref(), tool, enabled).expect("a readable file"));
        Ok(())
    }

    fn policies(&self, kind: PolicyKind) -> Vec<PolicyFile> {
        let files = self.policies.lock().unwrap_or_else(PoisonError::into_inner);
        let of_kind = files.iter().filter(|((of, _), _)| *of == kind);
        of_kind.map(|((_, name), text)| PolicyFile { name: name.clone(), text: text.clone() }).collect()
    }

    fn put_policies(&self, kind: PolicyKind, file: &str, text: &str) -> Result<(), Problem> {
        let mut files = self.policies.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert((kind, file.to_owned()), Ok(text.to_owned()));
        Ok(())
    }

    fn take_policies(&self, kind: PolicyKind, file: &str) -> Result<(), Problem> {
        let mut files = self.policies.lock().unwrap_or_else(PoisonError::into_inner);
        files
            .remove(&(kind, file.to_owned()))
            .map(drop)
            .ok_or_else(|| Problem::new(app::Code::POLICIES, format!("{file}: entity not found")))
    }

    fn backups(&self) -> Result<Vec<KeptBackup>, Problem> {
        Ok(self.backups.clone())
    }
}
