//! Plants canaries in a house, and searches for them: every column of every table, and the database's own files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::Time;
use domain::id::{BatchId, Id, NodeId, TaskId};
use domain::probe::Silent;
use ledger::query::Query;
use ledger::records::{Blob, Event, TABLES, TaskStep};
use ledger::value::{Seq, Value};
use ledger::{Batch, Ledger, Seal, Store};
use ledger_sql::{PostgresStore, SqliteStore};
use tokio::runtime::Runtime;

pub(crate) const CANARY: &str = "canary-lea";
pub(crate) const ADDRESS: &str = "demo:canary-lea@x.example";

/// Where the ledger of a house is.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    File(PathBuf),
    Url(String),
}

/// Messages with the canary in every field that can hold it, and one of a neighbour.
pub(crate) fn messages() -> String {
    let lea = |n: u32| {
        serde_json::json!({
            "adapter": "demo", "account": "home", "source_id": n.to_string(), "sender": "canary-lea@x.example",
            "content": format!("{CANARY} writes {n} {}", "at length ".repeat(n as usize * 300)),
            "content_type": format!("text/x-{CANARY}; name=\"{CANARY}\""), "metadata": { CANARY: [CANARY, n] },
            "container_id": format!("{CANARY}-chat"), "watermark": format!("{CANARY} at {n}"),
        })
    };
    let tom = serde_json::json!({
        "adapter": "mail", "source_id": "1", "sender": "tom@x.example", "content": "tom writes", "metadata": { "tom": 1 },
        "container_id": "tom-chat", "watermark": "tom at 1",
    });
    (1..=3).map(lea).chain([tom]).map(|line| format!("{line}\n")).collect()
}

impl Kept {
    fn with<T>(&self, work: impl AsyncFnOnce(Arc<dyn Store>) -> T) -> T {
        let runtime: Runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        runtime.block_on(async {
            let store: Arc<dyn Store> = match self {
                Self::File(path) => Arc::new(SqliteStore::open(path).await.expect("a database")),
                Self::Url(url) => Arc::new(PostgresStore::open(url).await.expect("a database")),
            };
            work(store).await
        })
    }

    /// A task of theirs, as it will be when somebody outside is let in; and their identity.
    pub(crate) fn give_a_task(&self) -> (String, String) {
        self.with(async |store| {
            let ledger =
                Ledger::start(store, Seal::for_tests(NodeId::from_bits(1), [7; 32]), Arc::new(Silent));
            let lea = ledger.identity_of("demo", "canary-lea@x.example").await.expect("ledger").expect("lea");
            let event = ledger.event_by_key("demo:home:1").await.expect("ledger").expect("an event");
            let salt = ledger.salt_of(&lea.id.to_string()).await.expect("ledger").expect("a salt");
            let (task, at): (TaskId, _) = (Id::derived(event.id, 0, 0), Time::from_micros(1));
            let step = Blob::personal(format!("{CANARY} in a journal").into(), &salt);
            let mut batch = Batch::new(BatchId::from_bits(4821), at);
            batch.put(&step).put(&TaskStep { seq: Seq(None), task, n: 0, epoch: 1, body: step.hash, at });
            ledger.commit(batch).await.expect("commit");
            self.insert_ended_task(&task.to_string(), &event).await;
            (task.to_string(), lea.id.to_string())
        })
    }

    /// A row of a task that is over: written by SQL, because the keys are the program's.
    async fn insert_ended_task(&self, task: &str, event: &Event) {
        let (at, schema) = match self {
            Self::File(_) => ("1", ""),
            Self::Url(_) => ("to_timestamp(0)", "brainframe."),
        };
        let (payload, origin) = (event.id, event.origin_id);
        let insert = format!(
            "INSERT INTO {schema}agent_tasks (task_id, agent_id, status, priority, payload, o_tag, task_class, steps, \
             created_at, completed_at) VALUES ('{task}', 'main', 'done', 50, '{payload}', '{origin}', '{CANARY}_files', \
             1, {at}, {at})"
        );
        match self {
            Self::File(path) => {
                let database = crate::sql::Database::open(path);
                database.execute(&insert);
                database.close();
            }
            Self::Url(url) => {
                let database = crate::postgres_client::connect(url).await.expect("a database");
                database.batch_execute(&insert).await.expect("inserted");
            }
        }
    }

    /// The tables that hold this in any column.
    pub(crate) fn tables_with(&self, what: &str) -> Vec<&'static str> {
        self.with(async |store| {
            let mut found = Vec::new();
            for table in TABLES {
                let query = Query { table, filters: Vec::new(), order: None, limit: None };
                let rows = store.select(&query).await.expect("select");
                let holds = |cell: &Value| match cell {
                    Value::Text(text) => text.contains(what),
                    Value::Bytes(bytes) => contains(bytes, what),
                    Value::Null | Value::Int(_) | Value::Real(_) | Value::Time(_) => false,
                };
                if rows.iter().flatten().any(holds) {
                    found.push(table.name);
                }
            }
            found
        })
    }
}

fn contains(bytes: &[u8], what: &str) -> bool {
    bytes.windows(what.len()).any(|window| window == what.as_bytes())
}

/// The files of the house, at any depth, that hold this. To be asked before anybody opens the database: whoever closes
/// it last folds its log in.
pub(crate) fn files_with(folder: &Path, what: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_with(&path, what));
        } else if std::fs::read(&path).is_ok_and(|bytes| contains(&bytes, what)) {
            // A log that its last reader has just taken away holds nothing.
            found.push(path.file_name().expect("a name").to_string_lossy().into_owned());
        }
    }
    found
}
