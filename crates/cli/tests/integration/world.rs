//! The world of one test: a house, a workspace, and the program in them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::process::{Outcome, Regent};
use crate::sql::Database;

/// A request that the program answers without a model.
pub(crate) const REQUEST: &str = "how many Rust files are here, and which is the largest?";
pub(crate) const ANSWER: &str = "2 Rust files; the largest is main.rs (30 bytes).\n";

pub(crate) struct World {
    folder: tempfile::TempDir,
    /// Where the house is; below the folder unless a test puts it elsewhere.
    pub(crate) home: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let world = Self { home: folder.path().join("house"), folder };
        std::fs::create_dir(world.workspace()).expect("workspace");
        for (name, text) in
            [("main.rs", "fn main() { println!(\"hi\"); }\n"), ("lib.rs", "// no\n"), ("notes.md", "x\n")]
        {
            std::fs::write(world.workspace().join(name), text).expect("a file of the workspace");
        }
        world
    }

    /// A house in which something has happened: one answered request and three events from outside.
    pub(crate) fn lived_in() -> Self {
        let world = Self::new();
        world.regent(&["run", REQUEST]).run().succeeds();
        world.regent(&["events", "ingest"]).stdin(events(1..=3)).run().succeeds();
        // What is due after the request may have been cut off: from here on one epoch is over, and its key is gone.
        world.regent(&["tick"]).run().succeeds();
        world
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data().join("regent.db")
    }

    /// The secret of the second epoch: that of the first went with its checkpoint.
    pub(crate) fn audit_key(&self) -> PathBuf {
        self.data().join("keys").join("audit-2.key")
    }

    pub(crate) fn write_settings(&self, text: impl AsRef<[u8]>) {
        std::fs::create_dir_all(&self.home).expect("house");
        std::fs::write(self.home.join("regent.toml"), text).expect("settings");
    }

    /// The program with these arguments, in the workspace, knowing nothing but its house.
    pub(crate) fn regent<S: AsRef<OsStr>>(&self, args: &[S]) -> Regent {
        let regent = Regent::new(args).within(&self.workspace());
        regent.env("HOME", self.folder.path()).env("REGENT_HOME", &self.home)
    }

    /// Everything on record: the events and the audit. Nothing if there is no database.
    pub(crate) fn record(&self) -> Option<[String; 2]> {
        self.database().exists().then(|| {
            self.regent(&["audit", "verify"]).run().succeeds();
            [["events", "list"], ["audit", "list"]].map(|command| {
                let all = [command[0], command[1], "--json", "--limit", "100000"];
                self.regent(&all).run().succeeds().stdout
            })
        })
    }

    /// Runs a command that must be refused, and checks that the record is the same before and after.
    pub(crate) fn refuses(&self, regent: Regent, exit: i32, code: &str) -> Outcome {
        let before = self.record();
        let outcome = regent.run().fails(exit, code);
        assert_eq!(outcome.stdout, "", "{outcome}");
        assert_eq!(self.record(), before, "{outcome}");
        outcome
    }

    /// Speaks SQL to the database behind the program's back, and leaves everything in the one file.
    pub(crate) fn sql(&self, statements: &[&str]) {
        let database = Database::open(&self.database());
        for statement in statements {
            database.execute(statement);
        }
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
        database.close();
    }
}

/// A database on the shared server, its schema made already.
pub(crate) fn migrated_database() -> String {
    use ledger_sql::PostgresStore;
    let server = services::shared(services::Flavour::Plain).expect("a server");
    let template = format!("schema_{}", PostgresStore::known_schema());
    let migrate =
        async |url: &str| PostgresStore::open(url).await.map(drop).map_err(|error| error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    runtime.block_on(server.create_database_from(&template, migrate)).expect("a database")
}

/// One event from outside as a line.
pub(crate) fn event(source_id: &str, content: &str) -> String {
    let event = serde_json::json!({
        "adapter": "demo", "source_id": source_id, "sender": "lea", "content": content,
    });
    format!("{event}\n")
}

pub(crate) fn events(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(|n| event(&n.to_string(), &format!("message {n}"))).collect()
}

/// Tests that need root say so and pass elsewhere; the CI is root.
pub(crate) fn is_root(needed_for: &str) -> bool {
    let root = nix::unistd::Uid::effective().is_root();
    if !root {
        eprintln!("skipped: only root can {needed_for}");
    }
    root
}
