//! The reference: one row per event with the same key and the same content, 64 in a durable transaction, nothing else;
//! the database is set as ours is.

use std::path::Path;

use rusqlite::TransactionBehavior::Immediate;
use rusqlite::types::Value;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use super::{TOGETHER, content, key};

pub(super) struct Bare {
    connection: Connection,
    next: u64,
}

enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(PgConnection),
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
        let mut db = PgConnection::connect(url).await.expect("a connection");
        db.execute("CREATE TABLE bare (key text COLLATE \"C\" NOT NULL UNIQUE, content bytea NOT NULL)")
            .await
            .expect("a table");
        Self { connection: Connection::Postgres(db), next: 0 }
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
        let places = |dollar: bool| {
            let place = |n: u64| if dollar { format!("${n}") } else { "?".to_owned() };
            let rows = (0..TOGETHER).map(|row| format!("({}, {})", place(2 * row + 1), place(2 * row + 2)));
            format!("INSERT INTO bare VALUES {}", rows.collect::<Vec<_>>().join(", "))
        };
        for _ in 0..count / TOGETHER {
            let numbers = self.next..self.next + TOGETHER;
            self.next += TOGETHER;
            match &mut self.connection {
                Connection::Sqlite(db) => {
                    let values =
                        numbers.flat_map(|n| [Value::Text(key(n)), Value::Blob(content(n).into_bytes())]);
                    let mut insert = db.prepare_cached(&places(false)).expect("a statement");
                    insert.execute(rusqlite::params_from_iter(values)).expect("durable");
                }
                Connection::Postgres(db) => {
                    let rows = numbers.fold(sqlx::query(AssertSqlSafe(places(true))), |rows, n| {
                        rows.bind(key(n)).bind(content(n).into_bytes())
                    });
                    rows.execute(db).await.expect("durable");
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
                    let mut tx = db.begin().await.expect("a transaction");
                    for n in numbers {
                        let row = sqlx::query("INSERT INTO bare VALUES ($1, $2)")
                            .bind(key(n))
                            .bind(content(n).into_bytes());
                        row.execute(&mut *tx).await.expect("a row");
                    }
                    tx.commit().await.expect("durable");
                }
            }
        }
    }
}
