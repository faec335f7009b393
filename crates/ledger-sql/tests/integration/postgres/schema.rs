//! The schema: what the records say, guarded by the database itself, made once by however many come at once.

use ledger::records::TABLES;
use ledger::{Store as _, StoreError};
use ledger_sql::PostgresStore;
use ledger_sql::schema::{ColumnShape, IndexShape, SchemaShape, SqlDialect, create_table, declared_schema};
use tokio::task::JoinSet;

use crate::fill;
use crate::postgres::world::{Raw, commit, database, fingerprint, holds_exactly, ledger, open};

const SCHEMA: i64 = PostgresStore::known_schema();

#[tokio::test]
async fn the_schema_is_what_the_records_say() {
    let url = database();
    open(&url).await;
    let mut raw = Raw::connect(&url).await;
    let mut migrated = read_schema(&mut raw).await;
    migrated.remove("schema_migrations").expect("its own table");
    assert_eq!(migrated, declared_schema(SqlDialect::Postgres));
    let outside = raw.number("SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public'");
    assert_eq!(outside.await, 0, "nothing outside its schema");
}

/// What is written into the next migration is what the records say, too.
#[tokio::test]
async fn a_schema_that_is_made_from_the_records_is_the_same() {
    let url = database();
    let mut raw = Raw::connect(&url).await;
    raw.execute(
        "CREATE SCHEMA brainframe; SET search_path = brainframe;
         CREATE FUNCTION is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
    )
    .await;
    raw.execute(&TABLES.map(|table| create_table(SqlDialect::Postgres, table)).concat()).await;
    assert_eq!(read_schema(&mut raw).await, declared_schema(SqlDialect::Postgres));
}

/// What the server says of the tables, as the records declare them.
async fn read_schema(raw: &mut Raw) -> SchemaShape {
    // With the collation: ids and keys are in the order of their bytes, whatever the database's language is.
    const COLUMNS: &str = "
        SELECT c.relname::text, a.attname::text, NOT a.attnotnull,
               replace(format_type(a.atttypid, a.atttypmod), 'timestamp with time zone', 'timestamptz')
               || CASE WHEN l.collname = 'C' THEN ' COLLATE \"C\"' ELSE '' END
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          LEFT JOIN pg_collation l ON l.oid = a.attcollation
         WHERE c.relnamespace = 'brainframe'::regnamespace AND c.relkind = 'r' ORDER BY c.relname, a.attnum";
    const INDEXES: &str = "
        SELECT i.indrelid::regclass::text, i.indisprimary, i.indisunique,
               ARRAY(SELECT coalesce(a.attname::text, '(expression)') FROM unnest(i.indkey) WITH ORDINALITY k (number, place)
                      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place),
               trim(BOTH '()' FROM pg_get_expr(i.indpred, i.indrelid))
          FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
         WHERE c.relnamespace = 'brainframe'::regnamespace AND c.relkind = 'r'";
    // A bit each for what a trigger comes before: `pg_trigger.h`.
    const TRIGGERS: &str = "
        SELECT t.tgrelid::regclass::text, verb
          FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
          JOIN (VALUES (8, 'DELETE'), (16, 'UPDATE'), (32, 'TRUNCATE')) v (bit, verb) ON t.tgtype::int & v.bit <> 0
         WHERE c.relnamespace = 'brainframe'::regnamespace AND p.proname = 'is_append_only'
           AND t.tgtype::int & 2 <> 0 AND t.tgenabled = 'O'";
    raw.execute("SET search_path = brainframe").await;
    let mut schema = SchemaShape::new();
    for row in raw.rows(COLUMNS).await {
        let column = ColumnShape { name: row.get(1), nullable: row.get(2), sql_type: row.get(3) };
        schema.entry(row.get(0)).or_default().columns.push(column);
    }
    for row in raw.rows(INDEXES).await {
        let table = schema.entry(row.get(0)).or_default();
        match row.get(1) {
            true => table.primary_key = row.get(3),
            false => {
                table.indexes.insert(IndexShape {
                    unique: row.get(2),
                    columns: row.get(3),
                    filter: row.get(4),
                });
            }
        }
    }
    for row in raw.rows(TRIGGERS).await {
        schema.entry(row.get(0)).or_default().refused.insert(row.get(1));
    }
    schema
}

/// Tables of which nothing is ever changed are guarded by the database itself, against its owner, too; all others are not.
#[tokio::test]
async fn what_is_for_ever_cannot_be_changed_or_deleted() {
    let url = database();
    fill(open(&url).await).await;
    let mut raw = Raw::connect(&url).await;
    raw.execute("SET search_path = brainframe").await;
    for table in TABLES {
        let (name, column, key) = (table.name, table.key[0], table.key.join("\", \""));
        for statement in [
            format!("UPDATE {name} SET \"{column}\" = \"{column}\""),
            format!("UPDATE {name} SET \"{column}\" = \"{column}\" WHERE false"),
            format!(
                "INSERT INTO {name} OVERRIDING SYSTEM VALUE SELECT * FROM {name} ON CONFLICT (\"{key}\") \
                 DO UPDATE SET \"{column}\" = excluded.\"{column}\""
            ),
            format!("MERGE INTO {name} USING (SELECT 1) AS one ON true WHEN MATCHED THEN DELETE"),
            format!("DELETE FROM {name}"),
            format!("TRUNCATE {name}"),
        ] {
            let refused = raw.attempt(&statement).await.err();
            let guarded = refused.as_ref().is_some_and(|error| error.contains("append-only"));
            assert_eq!(guarded, table.is_append_only(), "{statement}: {refused:?}");
        }
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
