//! The schema: what the records say, guarded by the database itself, made once by however many come at once.

use ledger::records::TABLES;
use ledger::value::Kind;
use ledger::{Store as _, StoreError};
use ledger_sql::PostgresStore;
use sqlx::Row as _;
use tokio::task::JoinSet;

use crate::postgres::world::{Raw, commit, database, fingerprint, holds_exactly, ledger, open};

const SCHEMA: i64 = PostgresStore::known_schema();

#[tokio::test]
async fn the_schema_is_what_the_records_say() {
    let url = database();
    open(&url).await;
    let mut raw = Raw::connect(&url).await;
    let rows = raw.rows(
        "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'brainframe' ORDER BY 1",
    );
    let tables: Vec<String> = rows.await.iter().map(|row| row.get(0)).collect();
    let mut known: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    known.push("schema_migrations");
    known.sort_unstable();
    assert_eq!(tables, known);
    for table in TABLES {
        // With the collation: ids and keys are in the order of their bytes, whatever the database's language is.
        let sql = format!(
            "SELECT column_name::text, data_type::text, is_nullable = 'YES', coalesce(collation_name::text, '')
               FROM information_schema.columns
              WHERE table_schema = 'brainframe' AND table_name = '{}' ORDER BY ordinal_position",
            table.name
        );
        let found: Vec<(String, String, bool, String)> =
            raw.rows(&sql).await.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect();
        let expected = table.columns.iter().map(|column| {
            let (kind, collation) = match column.kind {
                Kind::Int | Kind::Seq => ("bigint", ""),
                Kind::Real => ("double precision", ""),
                Kind::Text => ("text", "C"),
                Kind::Bytes => ("bytea", ""),
                Kind::Time => ("timestamp with time zone", ""),
            };
            (column.name.to_owned(), kind.to_owned(), column.nullable, collation.to_owned())
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{}", table.name);
    }
    let outside = raw.number("SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public'");
    assert_eq!(outside.await, 0, "nothing outside its schema");
}

/// The tables that the specification names are guarded by the database itself, against its owner, too.
#[tokio::test]
async fn what_is_for_ever_cannot_be_changed_or_deleted() {
    let url = database();
    open(&url).await;
    let mut raw = Raw::connect(&url).await;
    raw.execute("SET search_path = brainframe").await;
    for statement in [
        "INSERT INTO events VALUES (1, 'e', 'k', 'a', 'p', 'dm', 'l', 'i', 'in', '', 't', NULL, now(), now(), 'o', NULL)",
        "INSERT INTO task_steps VALUES (1, 't', 0, 1, '', now())",
        "INSERT INTO audit VALUES ('n', 1, '', '', '', now(), 'k', 'a', 's', NULL, NULL, NULL, NULL)",
    ] {
        raw.execute(statement).await;
    }
    for statement in [
        "UPDATE events SET key = 'other'",
        "UPDATE events SET key = 'other' WHERE false",
        "DELETE FROM events",
        "TRUNCATE events",
        "UPDATE task_steps SET n = 7",
        "DELETE FROM task_steps",
        "TRUNCATE task_steps",
        "UPDATE audit SET actor = 'nobody'",
        "DELETE FROM audit",
        "TRUNCATE audit",
        "INSERT INTO events SELECT * FROM events ON CONFLICT (id) DO UPDATE SET key = 'other'",
        "MERGE INTO events USING (SELECT 1) AS one ON true WHEN MATCHED THEN DELETE",
    ] {
        let error = raw.attempt(statement).await.expect_err(statement);
        assert!(error.to_string().contains("append-only"), "{statement}: {error}");
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_untouched() {
    let url = database();
    open(&url).await;
    let mut raw = Raw::connect(&url).await;
    raw.execute("INSERT INTO brainframe.schema_migrations (number, name) VALUES (99, 'from the future')")
        .await;
    let before = fingerprint(&url).await;
    let error = PostgresStore::open(&url).await.expect_err("must be refused");
    assert!(matches!(error, StoreError::Newer { found: 99, known: SCHEMA }), "{error}");
    assert_eq!(fingerprint(&url).await, before);
    assert_eq!(raw.number("SELECT count(*) FROM brainframe.schema_migrations").await, SCHEMA + 1);
}

/// `schema_migrations` is what half the world calls the table in which it counts its migrations.
#[tokio::test]
async fn somebody_elses_schema_is_foreign_and_untouched() {
    for theirs in [
        "CREATE TABLE brainframe.recipes (name text)",
        "CREATE VIEW brainframe.recipes AS SELECT 1 AS one",
        "CREATE SEQUENCE brainframe.numbers",
        "CREATE TABLE brainframe.schema_migrations (version text PRIMARY KEY)",
        "CREATE TABLE brainframe.recipes (name text); CREATE TABLE brainframe.schema_migrations (version text)",
    ] {
        let url = database();
        let mut raw = Raw::connect(&url).await;
        raw.execute(&format!("CREATE SCHEMA brainframe; {theirs}")).await;
        let before = fingerprint(&url).await;
        let error = PostgresStore::open(&url).await.expect_err(theirs);
        assert!(matches!(error, StoreError::Foreign(_)), "{theirs}: {error}");
        assert_eq!(fingerprint(&url).await, before, "{theirs}");
    }
}

/// What others keep in the same database, outside the schema, is none of our business.
#[tokio::test]
async fn tables_elsewhere_in_the_database_are_left_alone() {
    let url = database();
    let mut raw = Raw::connect(&url).await;
    raw.execute("CREATE TABLE public.events (mine text); INSERT INTO public.events VALUES ('mine')").await;
    raw.execute("CREATE SCHEMA brainframe").await; // empty, made by whoever set the database up
    let ledger = ledger(&url).await;
    commit(&ledger, 1).await;
    assert_eq!(raw.number("SELECT count(*) FROM public.events WHERE mine = 'mine'").await, 1);
    holds_exactly(&ledger, [1]).await;
}

/// Also where transactions see the past: what was found before the lock is not what is found under it.
#[tokio::test(flavor = "multi_thread")]
async fn eight_that_come_at_once_make_the_schema_once() {
    for isolation in ["read committed", "repeatable read", "serializable"] {
        for _ in 0..3 {
            let url = database();
            let mut raw = Raw::connect(&url).await;
            let name = url.rsplit('/').next().expect("a name");
            raw.execute(&format!("ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'"))
                .await;
            let mut openers = JoinSet::new();
            for n in 0..8 {
                let url = url.clone();
                openers.spawn(async move {
                    let ledger = ledger(&url).await;
                    commit(&ledger, n).await;
                    ledger
                });
            }
            let ledgers = openers.join_all().await;
            assert_eq!(raw.number("SELECT count(*) FROM brainframe.schema_migrations").await, SCHEMA);
            holds_exactly(ledgers.first().expect("one of them"), 0..8).await;
        }
    }
}

#[tokio::test]
async fn what_it_is_says_version_schema_and_vectors() {
    for (flavour, vectors) in [
        (services::Flavour::Plain, "no pgvector, the plain fallback is used"),
        (services::Flavour::Vector, "pgvector can be installed"),
    ] {
        let url = services::shared(flavour).expect("a server").create_database().expect("a database");
        let store = open(&url).await;
        let described = store.describe().await.expect("describe");
        assert!(described.what.starts_with("PostgreSQL 1"), "{described:?}");
        assert!(described.what.ends_with(&format!("schema {SCHEMA}, {vectors}")), "{described:?}");
        // The shared servers are fast, not durable, and that is what is said.
        let words = described.warnings.join(" ");
        assert!(words.contains("fsync = off") && words.contains("full_page_writes = off"), "{words}");
        store.upkeep().await.expect("upkeep");
        if flavour == services::Flavour::Vector {
            Raw::connect(&url).await.execute("CREATE EXTENSION vector SCHEMA public").await;
            let what = store.describe().await.expect("describe").what;
            assert!(what.contains(&format!("schema {SCHEMA}, pgvector 0.")), "{what}");
        }
    }
}
