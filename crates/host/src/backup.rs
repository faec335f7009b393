//! A copy of the instance in a folder of its own, and whether it is as good as the instance: found out by setting it up in a
//! scratch place. An upgrade's rehearsal is the same, with a copy of the older schema.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::instance::backup::{Backup, Count, FORMAT, How, Manifest, Occasion, Tip};
use app::instance::paths::{InstancePaths, VaultOwner};
use app::instance::{AuthoritySnapshot, ExpiredAuthority};
use app::{Code, Problem};
use domain::probe::{Point, Silent};
use domain::{Digest, canonical};
use ledger::chain::Fault;
use ledger::{AuditFindings, AuditScope, Ledger, Seal, Store as _, Verification};
use ledger_sql::{Hold, PostgresHold, PostgresStore, SqliteStore, Tally};

use crate::backup_list::ListedCopy;
use crate::folder_drafts::FolderDraft;
use crate::os_host::{OsHost, file_problem, load_seal};
use crate::trusted_files::UntrustedFile;
use crate::{files, policy_files, run_blocking, tool_access, trusted_files};

/// What an instance consists of, in the data folder and in a backup. `keys` is a folder.
pub(crate) const NAMES: [&str; 6] = ["regent.db", "keys", "node", "checkpoints.jsonl", "tip", STAMP];
/// Which database it is.
pub(crate) const STAMP: &str = "database";
const DATABASE: &str = "regent.db";
const SETTINGS: &str = "regent.toml";
const SWITCHES: &str = "tool-access.json";
const MANIFEST: &str = "manifest.json";

/// How often a copy is begun because a key changed while it was made: every backup that ends meanwhile ends an epoch.
const TRIES: u32 = 5;

/// The first schema in which rows that carry authority are sealed.
pub(crate) const SEALED_SCHEMA: i64 = 7;

/// A copy that has no name yet.
pub(crate) struct BackupDraft {
    pub(crate) draft: FolderDraft,
    pub(crate) manifest: Manifest,
    pub(crate) digest: Digest,
    bytes: u64,
}

/// A copy that was set up in a scratch place, brought forward if it was older, and looked at.
pub(crate) struct ExaminedCopy {
    pub(crate) scratch: FolderDraft,
    pub(crate) seal: Arc<Seal>,
    pub(crate) counted: Count,
    /// What is not there as it was; then it is no good.
    pub(crate) lost: Option<String>,
    /// What is wrong with the audit in it.
    pub(crate) fault: Option<String>,
    /// Whether it is of a version before authority was sealed, and the audit has an entry for everything in it.
    pub(crate) confirmed: bool,
    /// What somebody had said in advance then.
    pub(crate) lapsed: ExpiredAuthority,
    /// What was in force then.
    pub(crate) authority: AuthoritySnapshot,
}

/// A scratch place is an instance: everything lies in one folder.
pub(crate) fn instance_in(folder: &Path) -> InstancePaths {
    InstancePaths { config: folder.into(), data: folder.into() }
}

pub(crate) fn count_rows(tally: &Tally, stream: &str) -> Count {
    let head = tally.heads.iter().find(|head| head.stream == stream);
    Count {
        schema: tally.schema,
        tables: tally.rows.len(),
        rows: tally.total(),
        audit: head.map(|head| Tip { seq: head.seq, hash: head.hash }),
    }
}

fn damaged_backup(what: impl Into<String>) -> Problem {
    Problem::new(Code::BACKUP_DAMAGED, what).safe("nothing was changed").remedy("regent explain R1006")
}

fn failed_backup(why: &str) -> Problem {
    Problem::new(Code::BACKUP_FAILED, format!("the copy is not as good as the house: {why}"))
        .safe("the house was not changed, and nothing was kept")
        .remedy("regent doctor")
}

/// Only these may be in a backup: what a manifest names is not to lead out of its folder.
fn is_instance_file(name: &str) -> bool {
    let plain = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    match name.split_once('/') {
        Some(_) if policy_files::is_backup_name(name) => true,
        Some((folder, file)) => folder == "keys" && plain(file),
        None => [SETTINGS, SWITCHES].contains(&name) || (NAMES.contains(&name) && name != "keys"),
    }
}

impl OsHost {
    pub(crate) fn stage(&self, name: &'static str) {
        self.probe.reached(Point::Stage { name });
    }

    pub(crate) fn unique(&self) -> String {
        self.ids.bits().to_string()
    }

    /// Where what is called so in a backup lies in the instance.
    pub(crate) fn path_in_place(&self, name: &str) -> PathBuf {
        let vault = self.instance.vault(&self.owner());
        match name {
            "node" => vault.node,
            STAMP => vault.stamp,
            "keys" => vault.keys,
            "checkpoints.jsonl" => vault.checkpoints,
            "tip" => vault.tip,
            _ => self.instance.data.join(name),
        }
    }

    /// Everything but the database: small, and there or not.
    fn small_files(&self) -> Result<Vec<(String, PathBuf)>, Problem> {
        let (instance, folder) = (&self.instance, self.path_in_place("keys"));
        let keys = files::list_names(&folder).map_err(|error| file_problem("read", &folder, &error))?;
        let keys = keys.into_iter().map(|name| (format!("keys/{name}"), folder.join(name)));
        let beside = NAMES.iter().filter(|name| ![DATABASE, "keys"].contains(name));
        let beside = beside.map(|name| ((*name).to_owned(), self.path_in_place(name)));
        tool_access::check_readable(instance)?; // a copy without the switches that are there would have everything on
        let beside_settings = [(SETTINGS, instance.settings_file()), (SWITCHES, instance.tool_access())];
        let beside_settings = beside_settings.map(|(name, path)| (name.to_owned(), path));
        let own = policy_files::list_for_backup(instance)
            .map_err(|error| file_problem("read", &instance.policies(), &error))?;
        // A link that leads nowhere, or a folder with such a name, is not left out silently.
        if let Some((_, path)) = own.iter().find(|(_, path)| !path.is_file()) {
            return Err(file_problem("copy", path, &std::io::Error::other("it is no file")));
        }
        let all = keys.chain(beside).chain(beside_settings).chain(own);
        Ok(all.filter(|(name, path)| is_instance_file(name) && path.is_file()).collect())
    }

    /// Copies the instance into a draft below `parent`. The small files first: a key may be older than the database then,
    /// which is noticed when the copy is tried, but nothing beside the database is ever ahead of it.
    ///
    /// The rows of a server come from a transaction that keeps everybody else from writing, where there is one: then they may be
    /// of an older schema.
    pub(crate) async fn draft(
        &self,
        parent: &Path,
        occasion: Occasion,
        hold: Option<&PostgresHold>,
    ) -> Result<BackupDraft, Problem> {
        let making = |path: &Path| {
            let path = path.to_owned();
            move |error| file_problem("make", &path, &error)
        };
        let draft = self.begin_draft(parent).map_err(making(parent))?;
        let folder = draft.path().to_owned();
        self.stage("copy files");
        files::make_folder(&folder.join("keys")).map_err(making(&folder))?;
        let (mut listed, mut bytes) = (std::collections::BTreeMap::new(), 0);
        for (name, path) in self.small_files()? {
            let to = folder.join(&name);
            to.parent().map_or(Ok(()), files::make_folder).map_err(making(&to))?;
            let (digest, length) = match files::copy(&path, &to) {
                // Another backup or a checkpoint has just ended the epoch, and its key was erased. Whether the copy can do
                // without it is found out when it is tried.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && name.starts_with("keys/") => {
                    continue;
                }
                copied => copied.map_err(making(&to))?,
            };
            listed.insert(name, digest);
            bytes += length;
        }
        self.stage("copy database");
        let database = folder.join(DATABASE);
        drop(files::create(&database).map_err(making(&database))?);
        let saved = match (self.is_remote(), hold) {
            (_, Some(hold)) => Some(hold.save_to(&database).await?),
            (true, None) => Some(PostgresStore::open(&self.server_url()?).await?.save_to(&database).await?),
            (false, None) => None,
        };
        if saved.is_none() {
            SqliteStore::copy(&self.instance.database(), &database).await?;
        }
        let tally = SqliteStore::tally(&database).await?;
        if let Some(lost) = saved.and_then(|saved| saved.lost_in(&tally)) {
            return Err(failed_backup(&lost));
        }
        let path = database.clone();
        let read = run_blocking(move || {
            files::sync(&path)?;
            files::compute_digest(&path)
        });
        let (digest, length) = read.await.map_err(making(&database))?;
        listed.insert(DATABASE.into(), digest);
        let node = self.node()?;
        let manifest = Manifest {
            format: FORMAT,
            program: env!("CARGO_PKG_VERSION").into(),
            schema: tally.schema,
            at: self.clock.now(),
            occasion,
            node,
            files: listed,
            audit: count_rows(&tally, &node.to_string()).audit,
            rows: tally.rows,
            chain: tally.chain,
        };
        let text =
            canonical::bytes(&manifest).map_err(|error| Problem::new(Code::INTERNAL, error.to_string()))?;
        let digest = Digest::of(&text);
        let path = folder.join(MANIFEST);
        files::write(&path, &text).map_err(making(&path))?;
        let below = manifest.files.keys().filter_map(|name| folder.join(name).parent().map(Path::to_owned));
        let below: std::collections::BTreeSet<PathBuf> = below.chain([folder.join("keys")]).collect();
        for below in below.iter().rev() {
            files::sync(below).map_err(making(&folder))?;
        }
        files::sync(&folder).map_err(making(&folder))?;
        Ok(BackupDraft { draft, manifest, digest, bytes: bytes + length })
    }

    /// Sets the copy up in a scratch place below `parent`, brings it forward, and looks at it.
    pub(crate) async fn examine(
        &self,
        parent: &Path,
        folder: &Path,
        manifest: &Manifest,
    ) -> Result<ExaminedCopy, Problem> {
        self.stage("set up scratch");
        let making = |error| file_problem("make", parent, &error);
        let scratch = self.begin_draft(parent).map_err(making)?;
        let instance = instance_in(scratch.path());
        files::make_folder(&instance.vault(&VaultOwner::File).keys).map_err(making)?;
        for (name, expected) in &manifest.files {
            if !is_instance_file(name) {
                return Err(damaged_backup(format!(
                    "the manifest names `{name}`, which is no file of a house"
                )));
            }
            let (from, to) = (folder.join(name), scratch.path().join(name));
            to.parent().map_or(Ok(()), files::make_folder).map_err(making)?;
            match run_blocking(move || files::copy(&from, &to)).await {
                Ok((found, _)) if found == *expected => {}
                Ok(_) => return Err(damaged_backup(format!("`{name}` is not what the manifest says"))),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(damaged_backup(format!("`{name}` is missing")));
                }
                Err(error) => return Err(file_problem("copy", &folder.join(name), &error)),
            }
        }
        let seal = Arc::new(load_seal(&instance, &VaultOwner::File, &self.ids)?);
        if seal.stream() != manifest.node {
            return Err(damaged_backup("its `node` is not that of the manifest"));
        }
        self.stage("look at scratch");
        let database = instance.database();
        let before = SqliteStore::tally(&database).await?;
        let stream = manifest.node.to_string();
        let counted = count_rows(&before, &stream);
        let written = (manifest.schema, &manifest.rows, &manifest.audit, &manifest.chain);
        if (before.schema, &before.rows, &counted.audit, &before.chain) != written {
            return Err(damaged_backup("the database in it does not hold what the manifest says"));
        }
        self.stage("bring scratch forward");
        Hold::take(&database).await?.migrate(None, Arc::clone(&seal), Arc::new(Silent)).await?;
        let store = Arc::new(SqliteStore::open(&database).await?);
        store.describe().await?; // every page is looked at
        let ledger =
            Ledger::start(Arc::<SqliteStore>::clone(&store) as _, Arc::clone(&seal), Arc::new(Silent));
        // Rows from before they were sealed are sealed as they are if the audit has an entry for each of them.
        let older = before.schema < SEALED_SCHEMA;
        let found = ledger.examine_audit(AuditScope { complete: older, ..AuditScope::default() }).await?;
        let fault = find_first_fault(&found.verification);
        let confirmed = older && is_confirmed(&found);
        let lapsed = ExpiredAuthority::in_house(&ledger).await?;
        let authority = AuthoritySnapshot::unverified(&ledger).await?;
        drop(ledger);
        store.close().await;
        let after = SqliteStore::tally(&database).await?;
        Ok(ExaminedCopy {
            scratch,
            seal,
            counted,
            lost: before.lost_in(&after),
            fault,
            confirmed,
            lapsed,
            authority,
        })
    }

    /// A copy that was tried, or why there is none.
    pub(crate) async fn draft_and_examine(
        &self,
        parent: &Path,
        occasion: Occasion,
    ) -> Result<(BackupDraft, Count, Option<String>), Problem> {
        let mut tries = 1..TRIES;
        loop {
            let drafted = self.draft(parent, occasion, None).await?;
            let examined = self.examine(parent, drafted.draft.path(), &drafted.manifest).await;
            let why = match examined {
                Ok(ExaminedCopy { lost: Some(lost), .. }) => failed_backup(&lost),
                // A fault that the instance has itself is copied as it is; one that only the copy has comes from a key that
                // was changed while it was made.
                Ok(ExaminedCopy { fault: Some(fault), counted, .. }) => match self.has_fault(&fault).await? {
                    true => return Ok((drafted, counted, Some(fault))),
                    false => failed_backup(&fault),
                },
                Ok(ExaminedCopy { counted, .. }) => return Ok((drafted, counted, None)),
                // What was copied while it was erased is no key.
                Err(problem) if [Code::BACKUP_DAMAGED, Code::KEY].contains(&problem.code) => {
                    failed_backup(&problem.what)
                }
                Err(problem) => return Err(problem),
            };
            if tries.next().is_none() {
                return Err(why);
            }
        }
    }

    async fn has_fault(&self, fault: &str) -> Result<bool, Problem> {
        let ledger = Ledger::start(self.store().await?, self.seal()?, Arc::new(Silent));
        let verification = ledger.verify_audit().await?;
        Ok(verification.all_faults().any(|(_, found)| found.to_string() == fault))
    }

    pub(crate) async fn make_backup(&self, to: Option<&Path>, how: How) -> Result<Backup, Problem> {
        let parent = match to {
            Some(to) => std::path::absolute(to).map_err(|error| file_problem("make", to, &error))?,
            None => self.instance.backups(),
        };
        let folder = parent.join(self.dated_name("regent"));
        trusted_files::check_folder(&folder).map_err(|error| file_problem("make", &folder, &error))?;
        let secrets_left_out = tool_access::list_secret_files(&self.instance).map_or(0, |files| files.len());
        if how == How::Rehearse {
            let files = self.small_files()?;
            let size = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
            let small: u64 = files.iter().map(|(_, path)| size(path)).sum();
            let tally = self.tally_present().await?;
            let node = self.node()?.to_string();
            return Ok(Backup {
                folder,
                counted: count_rows(&tally, &node),
                files: files.len() + 1,
                bytes: small + if self.is_remote() { 0 } else { size(&self.instance.database()) },
                manifest: None,
                fault: None,
                secrets_left_out,
            });
        }
        self.remove_leftovers()?;
        let (drafted, counted, fault) = self.draft_and_examine(&parent, Occasion::Asked).await?;
        let (manifest, bytes, files) = (drafted.digest, drafted.bytes, drafted.manifest.files.len());
        let folder = self.keep(drafted, &folder)?;
        Ok(Backup { folder, counted, files, bytes, manifest: Some(manifest), fault, secrets_left_out })
    }

    /// Gives the copy its name, and writes down where it is.
    pub(crate) fn keep(&self, drafted: BackupDraft, folder: &Path) -> Result<PathBuf, Problem> {
        let (at, occasion) = (drafted.manifest.at, drafted.manifest.occasion);
        let (manifest, draft) = (Some(drafted.digest), &drafted.draft);
        let draft = draft.is_listed().then(|| draft.path().to_owned());
        let folder = self.name(drafted, folder)?;
        self.list(ListedCopy { at, folder: folder.clone(), occasion, manifest, draft })?;
        Ok(folder)
    }

    pub(crate) fn name(&self, drafted: BackupDraft, folder: &Path) -> Result<PathBuf, Problem> {
        self.stage("name the copy");
        drafted.draft.name(folder).map_err(|error| file_problem("make", folder, &error))
    }

    /// `regent-20261116T051805Z`.
    pub(crate) fn dated_name(&self, name: &str) -> String {
        let now = jiff::Timestamp::from_microsecond(self.clock.now().micros()).unwrap_or_default();
        format!("{name}-{}", now.strftime("%Y%m%dT%H%M%SZ"))
    }

    /// What the instance holds now.
    pub(crate) async fn tally_present(&self) -> Result<Tally, Problem> {
        Ok(if self.is_remote() {
            PostgresStore::open(&self.server_url()?).await?.tally().await?
        } else {
            SqliteStore::tally(&self.instance.database()).await?
        })
    }
}

/// Whether the audit is whole, and has an entry for everything that was done.
pub(crate) fn is_confirmed(found: &AuditFindings) -> bool {
    found.gaps.as_ref().is_some_and(Vec::is_empty) && found.verification.all_faults().next().is_none()
}

/// The first thing that is wrong with an audit, but for what it says itself: a damage that is on record is part of it.
pub(crate) fn find_first_fault(verification: &Verification) -> Option<String> {
    let mut faults = verification.all_faults().map(|(_, fault)| fault);
    faults.find(|fault| !matches!(fault, Fault::Recorded { .. })).map(ToString::to_string)
}

/// # Errors
/// If there is none, or it is none of ours, or from a newer program.
pub(crate) fn read_manifest(folder: &Path) -> Result<(Manifest, Digest), Problem> {
    let path = folder.join(MANIFEST);
    let none = |why: &str| {
        Problem::new(Code::NOT_A_BACKUP, format!("{} is no backup of Regent: {why}", folder.display()))
            .safe("nothing was changed")
            .remedy("regent backup --dry-run")
    };
    let text = trusted_files::read_text(&path).map_err(|error| match UntrustedFile::within(&error) {
        Some(untrusted) => untrusted.problem(),
        None => none(&error.to_string()),
    })?;
    let text = text.ok_or_else(|| none(&format!("there is no {MANIFEST} in it")))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|_unreadable| none(&format!("its {MANIFEST} cannot be read")))?;
    if let Some(format) =
        value.get("format").and_then(serde_json::Value::as_u64).filter(|format| *format > u64::from(FORMAT))
    {
        let what = format!("the backup has format {format}, this program knows up to {FORMAT}");
        return Err(Problem::new(Code::DATABASE_NEWER, what)
            .safe("nothing was changed")
            .remedy("regent explain R4004"));
    }
    let manifest = serde_json::from_value(value)
        .map_err(|error| none(&format!("its {MANIFEST} is incomplete ({error})")))?;
    Ok((manifest, Digest::of(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::is_instance_file;

    #[test]
    fn a_manifest_cannot_lead_out_of_its_folder() {
        for name in [
            "regent.db",
            "node",
            "tip",
            "checkpoints.jsonl",
            "regent.toml",
            "tool-access.json",
            "keys/audit.key",
            "keys/audit-2.key",
            "policies/acl/people.yaml",
            "policies/vpol/nights.yml",
        ] {
            assert!(is_instance_file(name), "{name}");
        }
        for name in [
            "",
            "keys",
            "keys/",
            "keys/..",
            "keys/../node",
            "../node",
            "/etc/passwd",
            "other",
            "keys/a/b",
            "node/",
            "policies",
            "policies/people.yaml",
            "policies/acl/",
            "policies/acl/..",
            "policies/acl/../x.yaml",
            "policies/acl/a/b.yaml",
            "policies/acl/.x.yaml",
            "policies/acl/people.txt",
            "policies/other/x.yaml",
        ] {
            assert!(!is_instance_file(name), "{name}");
        }
    }
}
