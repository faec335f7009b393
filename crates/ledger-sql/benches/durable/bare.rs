//! The reference: one row per event with the same key and the same content, 64 in a durable transaction, nothing else;
//! the database is set as ours is.

use std::path::Path;

use rusqlite::TransactionBehavior::Immediate;
use rusqlite::types::Value;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

use super::{TOGETHER, content, key};

pub(super) struct Bare {
    connection: Connection,
    next: u64,
}

/// A client of PostgreSQL with the statements that it has prepared.
struct BareClient {
    client: Client,
    one: Statement,
    all: Statement,
}

impl BareClient {
    async fn connect(url: &str) -> Self {
        const TABLE: &str =
            "CREATE TABLE bare (key text COLLATE \"C\" NOT NULL UNIQUE, content bytea NOT NULL)";
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
        drop(tokio::spawn(connection));
        client.batch_execute(TABLE).await.expect("a table");
        let one = client.prepare("INSERT INTO bare VALUES ($1, $2)").await.expect("a statement");
        let all = client.prepare(&insert_all(|n| format!("${n}"))).await.expect("a statement");
        Self { client, one, all }
    }

    async fn execute(&self, statement: &Statement, numbers: std::ops::Range<u64>) {
        let rows: Vec<(String, Vec<u8>)> = numbers.map(|n| (key(n), content(n).into_bytes())).collect();
        let cells: Vec<&(dyn ToSql + Sync)> =
            rows.iter().flat_map(|(key, content)| [key as &(dyn ToSql + Sync), content]).collect();
        self.client.execute(statement, &cells).await.expect("rows");
    }
}

/// One statement for all rows.
fn insert_all(place: impl Fn(u64) -> String) -> String {
    let rows = (0..TOGETHER).map(|row| format!("({}, {})", place(2 * row + 1), place(2 * row + 2)));
    format!("INSERT INTO bare VALUES {}", rows.collect::<Vec<_>>().join(", "))
}

enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(BareClient),
}

impl Bare {
    pub(super) fn sqlite(path: &Path) -> Self {
        const AS_OURS: &str =
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000";
        let db = rusqlite::Connection::open(path).expect("a database");
        db.execute_batch(AS_OURS).expect("settings");
        db.execute_batch("CREATE TABLE IF NOT EXISTS bare (key TEXT NOT NULL UNIQUE, content BLOB NOT NULL)")
            .expect("a table");
        Self { connection: Connection::Sqlite(db), next: 0 }
    }

    pub(super) async fn postgres(url: &str) -> Self {
        Self { connection: Connection::Postgres(BareClient::connect(url).await), next: 0 }
    }

    pub(super) const fn count(&self) -> u64 {
        self.next
    }

    /// The next row is number `n`: an earlier process has written those before it.
    pub(super) fn starting_at(self, n: u64) -> Self {
        Self { next: n, ..self }
    }

    /// The same by one statement for all 64, which no client does that has one event at a time: the least it can cost.
    pub(super) async fn insert_at_once(&mut self, count: u64) {
        for _ in 0..count / TOGETHER {
            let numbers = self.next..self.next + TOGETHER;
            self.next += TOGETHER;
            match &mut self.connection {
                Connection::Sqlite(db) => {
                    let values =
                        numbers.flat_map(|n| [Value::Text(key(n)), Value::Blob(content(n).into_bytes())]);
                    let mut insert = db.prepare_cached(&insert_all(|_| "?".into())).expect("a statement");
                    insert.execute(rusqlite::params_from_iter(values)).expect("durable");
                }
                Connection::Postgres(db) => {
                    db.execute(&db.all, numbers).await;
                }
            }
        }
    }

    pub(super) async fn insert(&mut self, count: u64) {
        let end = self.next + count;
        while self.next < end {
            let numbers = self.next..end.min(self.next + TOGETHER);
            self.next = numbers.end;
            match &mut self.connection {
                Connection::Sqlite(db) => {
                    let tx = db.transaction_with_behavior(Immediate).expect("a transaction");
                    let mut insert =
                        tx.prepare_cached("INSERT INTO bare VALUES (?, ?)").expect("a statement");
                    for n in numbers {
                        insert.execute((key(n), content(n).into_bytes())).expect("a row");
                    }
                    drop(insert);
                    tx.commit().expect("durable");
                }
                Connection::Postgres(db) => {
                    db.client.batch_execute("BEGIN").await.expect("a transaction");
                    for n in numbers {
                        db.execute(&db.one, n..n + 1).await;
                    }
                    db.client.batch_execute("COMMIT").await.expect("durable");
                }
            }
        }
    }
}
