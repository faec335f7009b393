//! Which vault is used with the database that the settings name, and that the two belong together.

#![expect(clippy::disallowed_methods, reason = "the instance's own files")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use app::instance::paths::{VaultOwner, VaultPaths};
use app::{Code, Problem};
use domain::id::{Id, NodeId};
use domain::probe::Silent;
use ledger::chain::{Standing, Vault as _};
use ledger::records::{AuditHead, DatabaseStamp};
use ledger::table::Record;
use ledger::{CommitError, Ledger, Refusal, Seal, Select, Store, StoreError};
use ledger_sql::PostgresStore;

use crate::backup::SEALED_SCHEMA;
use crate::files;
use crate::key_files;
use crate::os_host::{OsHost, file_problem, load_seal};
use crate::vault_files::{format_stamp, read_stamp};
use crate::vault_match::check_match;

const GONE: &str = "its file is not there any more, and the keys beside it are";
const NO_ID: &str = "its id was taken out of it";
const WIPED: &str = "it is empty, and this instance has written to another one at the same place";
const COPY: &str = "it is an older copy of the one that the keys of this instance belong to";

fn mismatch_problem(why: &str) -> Problem {
    Problem::new(Code::DATABASE_MISMATCH, format!("the database cannot be used: {why}"))
        .safe("nothing was written, and no key was changed")
        .remedy("regent explain R4036")
}

impl OsHost {
    /// Whose vault it is, as far as that is known without asking the database.
    pub(crate) fn owner(&self) -> VaultOwner {
        if !self.is_remote() {
            return VaultOwner::File;
        }
        let known = self.owner.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.or_else(|| self.owner_by_place()).unwrap_or(VaultOwner::ServerBefore)
    }

    fn set_owner(&self, owner: VaultOwner) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = Some(owner);
    }

    /// The vault of the database that was last seen at this place.
    fn owner_by_place(&self) -> Option<VaultOwner> {
        let place = PostgresStore::place_of(&self.server_url().ok()?).ok()?;
        let ids = files::list_names(&self.instance.servers()).unwrap_or_default().into_iter();
        let mut owners = ids.map(VaultOwner::Server);
        owners.find(|owner| {
            key_files::read(&self.instance.vault(owner).place).ok().flatten().as_deref()
                == Some(place.as_str())
        })
    }

    /// Asks the database which one it is. One of a version before has no id yet, nor has one without a schema.
    pub(crate) async fn find_owner(&self) -> Result<(), Problem> {
        if !self.is_remote() {
            return Ok(());
        }
        let owner = match PostgresStore::schema_of(&self.server_url()?).await? {
            None => return Ok(()),
            Some(schema) if schema < SEALED_SCHEMA => VaultOwner::ServerBefore,
            // Also of an older schema that is about to be upgraded: its audit is sealed with its own keys.
            Some(_) => {
                let id = PostgresStore::id_of(&self.server_url()?).await?.filter(|id| is_id(id));
                VaultOwner::Server(id.ok_or_else(|| mismatch_problem(NO_ID))?)
            }
        };
        self.set_owner(owner);
        Ok(())
    }

    /// A file is made once: if it is gone, so is what it held, a halt among it.
    pub(crate) fn expect_file(&self) -> Result<(), Problem> {
        let gone = self.vault_stamp()?.is_some() && !self.instance.database().exists();
        if gone { Err(mismatch_problem(GONE)) } else { Ok(()) }
    }

    pub(crate) fn new_id(&self) -> String {
        format!("{:032x}", self.ids.bits())
    }

    /// The stamp of the vault in use.
    pub(crate) fn vault_stamp(&self) -> Result<Option<DatabaseStamp>, Problem> {
        let path = self.instance.vault(&self.owner()).stamp;
        read_stamp(&path).map_err(|error| file_problem("read", &path, &error))
    }

    /// Makes what a vault needs before a database can be used with it. One of a version before gets a folder under its id.
    pub(crate) fn furnish_server(&self) -> Result<(), Problem> {
        let owner = self.owner();
        let VaultOwner::Server(_) = &owner else { return Ok(()) };
        let paths = self.instance.vault(&owner);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| file_problem("make", &path, &error)
        };
        files::make_folder(&paths.folder).map_err(failed(&paths.folder))?;
        let make = |path: &PathBuf, text: &str| {
            key_files::make(path, text, &self.unique()).map(drop).map_err(failed(path))
        };
        self.note_place()?;
        let name = key_files::read(&self.instance.node()).map_err(failed(&paths.node))?;
        let name = name.unwrap_or_else(|| {
            let node: NodeId = Id::random(&*self.ids);
            node.to_string()
        });
        make(&paths.node, &name)?;
        files::make_folder(&paths.keys).map_err(failed(&paths.keys))?;
        let vault = self.vault();
        if let Some(root) = self.furnish_vault(&vault)? {
            self.root.get_or_init(|| root);
        }
        Ok(())
    }

    /// Writes down where the database of this vault is.
    pub(crate) fn note_place(&self) -> Result<(), Problem> {
        let paths = self.instance.vault(&self.owner());
        let place = PostgresStore::place_of(&self.server_url()?)?;
        let noted = files::make_folder(&paths.folder)
            .and_then(|()| key_files::make(&paths.place, &place, &self.unique()));
        noted.map(drop).map_err(|error| file_problem("make", &paths.place, &error))
    }

    /// Moves the vault of a version before to the folder of the database's id, the keys last. It can be cut off anywhere and begun again.
    pub(crate) fn adopt_vault_before(&self, id: &str) -> Result<(), Problem> {
        let old = self.instance.vault(&VaultOwner::ServerBefore);
        let new = self.instance.vault(&VaultOwner::Server(id.to_owned()));
        let failed = |error| file_problem("move", &new.folder, &error);
        files::make_folder(&new.folder).map_err(failed)?;
        for (from, to) in [(&old.checkpoints, &new.checkpoints), (&old.tip, &new.tip), (&old.keys, &new.keys)]
        {
            if from.exists() && !to.exists() {
                std::fs::rename(from, to).map_err(failed)?;
            }
        }
        files::sync(&old.folder).map_err(failed)?;
        files::sync(&new.folder).map_err(failed)?;
        self.set_owner(VaultOwner::Server(id.to_owned()));
        Ok(())
    }

    /// The seal to write with, once the vault and the database are known to belong together.
    pub(crate) async fn load_matched_seal(&self, store: &Arc<dyn Store>) -> Result<Seal, Problem> {
        let stamp = read_stamp_of(&**store).await?.ok_or_else(|| mismatch_problem(NO_ID))?;
        if self.is_remote() {
            self.find_vault(&stamp, &**store).await?;
        }
        let (seal, known) = (self.seal()?, self.vault_stamp()?);
        if known.as_ref() == Some(&stamp) {
            return Ok(seal);
        }
        let unstamped = self.vault().unstamped();
        let authority = unstamped.paths.authority_key();
        unstamped.authority_key().map_err(|error| file_problem("make", &authority, &error))?;
        let unstamped = Seal::new(seal.stream(), Arc::new(unstamped));
        let ledger = Ledger::start(Arc::clone(store), unstamped, Arc::new(Silent));
        if let Some(stream) = ledger.begun_by_another().await? {
            return Err(CommitError::Refused(Refusal::OtherHouse { stream }).into());
        }
        check_match(&stamp, known.as_ref(), ledger.head_standing().await?, !self.is_remote())
            .map_err(|why| mismatch_problem(&why.to_string()))?;
        self.stamp_vault(&stamp)?;
        self.seal()
    }

    /// The vault of a database on a server: the one with its id, that of a version before, or a new one.
    async fn find_vault(&self, stamp: &DatabaseStamp, store: &dyn Store) -> Result<(), Problem> {
        let by_place = self.owner_by_place();
        self.set_owner(VaultOwner::Server(stamp.id.clone()));
        let paths = self.instance.vault(&self.owner());
        if paths.stamp.exists() {
            return self.check_place(&paths, store).await;
        }
        let heads: Vec<AuditHead> = select_rows(store, Select::all()).await?;
        if self.is_sealed_before(&heads)? {
            self.adopt_vault_before(&stamp.id)?;
        } else if !paths.keys.is_dir() {
            if let Some(head) = heads.first() {
                return Err(CommitError::Refused(Refusal::OtherHouse { stream: head.stream }).into());
            }
            if by_place.is_some_and(|known| known != self.owner()) {
                return Err(mismatch_problem(WIPED));
            }
        }
        self.furnish_server()
    }

    /// Whether the database was sealed with the keys that a version before has left: no other one takes them.
    fn is_sealed_before(&self, heads: &[AuditHead]) -> Result<bool, Problem> {
        let before = VaultOwner::ServerBefore;
        let paths = self.instance.vault(&before);
        if !paths.keys.is_dir() || heads.is_empty() {
            return Ok(false);
        }
        let seal = load_seal(&self.instance, &before, &self.ids)?;
        let failed = |error| file_problem("read", &paths.keys, &error);
        for head in heads.iter().filter(|head| head.stream == seal.stream()) {
            if seal.standing(head).map_err(failed)? == Standing::Ours {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A database may move to another server or name. A copy of it that stayed behind is not used with the same keys.
    async fn check_place(&self, paths: &VaultPaths, store: &dyn Store) -> Result<(), Problem> {
        let place = PostgresStore::place_of(&self.server_url()?)?;
        let failed = |error| file_problem("read", &paths.place, &error);
        if key_files::read(&paths.place).map_err(failed)?.as_ref() == Some(&place) {
            return Ok(());
        }
        let heads: Vec<AuditHead> = select_rows(store, Select::all()).await?;
        let tip = self.vault().tip().map_err(failed)?;
        if tip.is_some_and(|tip| heads.iter().all(|head| head.seq < tip.seq)) {
            return Err(mismatch_problem(COPY));
        }
        files::remove(&paths.place).map_err(failed)?;
        self.note_place()
    }

    /// Writes down which database the vault belongs to, whole, in the place of what was there.
    pub(crate) fn stamp_vault(&self, stamp: &DatabaseStamp) -> Result<(), Problem> {
        let paths = self.instance.vault(&self.owner());
        let made = key_files::make(&paths.stamp, &format_stamp(stamp), &self.unique());
        made.map(drop).map_err(|error| file_problem("make", &paths.stamp, &error))
    }
}

/// What a database says that it is.
pub(crate) async fn read_stamp_of(store: &dyn Store) -> Result<Option<DatabaseStamp>, Problem> {
    let stamp = select_rows(store, Select::by("name", &DatabaseStamp::THIS.to_owned())).await?.pop();
    // It names a folder of keys, and another program may have written it.
    Ok(stamp.filter(|stamp: &DatabaseStamp| is_id(&stamp.id)))
}

/// 32 hexadecimal digits.
fn is_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

async fn select_rows<T: Record>(store: &dyn Store, select: Select<T>) -> Result<Vec<T>, Problem> {
    let rows = store.select(&select.query).await?.into_iter();
    Ok(rows.map(T::from_row).collect::<Result<_, _>>().map_err(StoreError::from)?)
}

#[cfg(test)]
mod tests {
    use super::is_id;

    #[test]
    fn an_id_leads_nowhere_else() {
        assert!(is_id("0123456789abcdef0123456789abcdef"));
        for other in
            ["", "..", "../../../../../../../tmp/xxxxxxx", "0123456789ABCDEF0123456789ABCDEF", "a", "/"]
        {
            assert!(!is_id(other), "{other}");
        }
    }
}
