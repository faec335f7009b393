//! The same on PostgreSQL: the rehearsal is a transaction, and a backup is a file all the same.

use std::path::PathBuf;

use serde_json::Value;
use services::Flavour;

use crate::keeping::old::{ENTRIES, SCHEMA, entries_of, kept, leftovers, old_house, record};
use crate::postgres_client::connect;
use crate::process::{Regent, Running};
use crate::world::{ANSWER, REQUEST, World, events, migrated_database};

/// A house whose ledger is on a server.
pub(crate) struct OnServer {
    pub(crate) world: World,
    pub(crate) url: String,
}

impl OnServer {
    pub(crate) fn lived_in() -> Self {
        let house = Self { world: World::new(), url: migrated_database() };
        house.regent(&["run", REQUEST]).run().succeeds();
        house.regent(&["events", "ingest"]).stdin(events(1..=3)).run().succeeds();
        house
    }

    pub(crate) fn regent(&self, args: &[&str]) -> Regent {
        self.world.regent(args).env("REGENT_DATABASE_URL", &self.url)
    }

    pub(crate) fn back_up(&self) -> PathBuf {
        let made = self.regent(&["backup", "--json"]).run().succeeds().json();
        made[0]["folder"].as_str().expect("a folder").into()
    }

    pub(crate) fn events(&self) -> String {
        self.regent(&["events", "list", "--json", "--limit", "100000"]).run().succeeds().stdout
    }

    pub(crate) fn audit(&self) -> Vec<Value> {
        self.regent(&["audit", "list", "--json", "--limit", "100000"]).run().succeeds().json()
    }

    pub(crate) fn works(&self) {
        let run = self.regent(&["run", REQUEST]).run().succeeds();
        assert!(run.stdout.starts_with(ANSWER), "{run}");
        self.regent(&["audit", "verify"]).run().succeeds();
    }

    pub(crate) fn schema(&self) -> i64 {
        self.ask("SELECT max(number) FROM brainframe.schema_migrations")
    }

    fn ask(&self, sql: &str) -> i64 {
        block_on(async {
            let asked = connect(&self.url).await.expect("connect").query_one(sql, &[]).await;
            asked.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
        })
    }

    fn execute(&self, sql: &str) {
        block_on(async {
            let done = connect(&self.url).await.expect("connect").batch_execute(sql).await;
            done.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        });
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    runtime.block_on(future)
}

/// The house of the first walk, its rows in PostgreSQL under the first schema.
pub(crate) fn old_server() -> OnServer {
    const FIRST: &str = include_str!("../../../../ledger-sql/migrations/postgres/0001_first_walk.sql");
    let server = services::shared(Flavour::Plain).expect("a server");
    let house = OnServer { world: old_house(), url: server.create_database().expect("a database") };
    house.execute(&format!(
        "CREATE SCHEMA brainframe; SET search_path = brainframe;
         CREATE TABLE schema_migrations (number bigint PRIMARY KEY, name text NOT NULL,
            at timestamptz NOT NULL DEFAULT now());
         INSERT INTO schema_migrations (number, name) VALUES (1, 'first walk'); {FIRST}"
    ));
    block_on(move_rows(&house));
    for suffix in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(format!("{}{suffix}", house.world.database().display())));
    }
    house
}

/// Row by row, as literals: `quote` writes numbers, texts and bytes so that they can be typed again.
async fn move_rows(house: &OnServer) {
    const COLUMNS: &str = "SELECT table_name::text, column_name::text, data_type::text
        FROM information_schema.columns WHERE table_schema = 'brainframe' AND table_name <> 'schema_migrations'
        ORDER BY table_name, ordinal_position";
    let to = connect(&house.url).await.expect("connect");
    let from = rusqlite::Connection::open(house.world.database()).expect("connect");
    let columns = to.query(COLUMNS, &[]).await.expect("columns");
    let columns: Vec<(String, String, String)> =
        columns.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    let mut tables: Vec<&String> = columns.iter().map(|(table, ..)| table).collect();
    tables.dedup();
    for table in tables {
        let of: Vec<_> = columns.iter().filter(|(of, ..)| of == table).collect();
        let quoted: Vec<String> = of.iter().map(|(_, name, _)| format!("quote(\"{name}\")")).collect();
        let mut rows =
            from.prepare(&format!("SELECT {} FROM {table}", quoted.join(", "))).expect("a statement");
        let mut rows = rows.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let cell = |at: usize, kind: &str| {
                let literal: String = row.get(at).expect("text");
                match (kind, literal.strip_prefix("X'")) {
                    (_, _) if literal == "NULL" => literal,
                    (_, Some(hex)) => format!("'\\x{hex}"),
                    ("timestamp with time zone", _) => {
                        format!("'epoch'::timestamptz + {literal} * interval '1 microsecond'")
                    }
                    _ => literal,
                }
            };
            let cells: Vec<String> = of.iter().enumerate().map(|(at, (_, _, kind))| cell(at, kind)).collect();
            let insert = format!("INSERT INTO brainframe.{table} VALUES ({})", cells.join(", "));
            let done = to.batch_execute(&insert).await;
            done.unwrap_or_else(|error| panic!("{insert}: {error:?}"));
        }
        if of.iter().any(|(_, name, _)| name == "seq") && !table.starts_with("audit") {
            let count = format!(
                "SELECT setval(pg_get_serial_sequence('brainframe.{table}', 'seq'), max(seq)) FROM brainframe.{table}"
            );
            to.batch_execute(&count).await.expect("sequence");
        }
    }
}

#[test]
fn an_upgrade_is_checked_and_then_done() {
    let house = old_server();
    let check = house.regent(&["upgrade", "--check"]).run().succeeds();
    let expected =
        format!("schema 1 → {SCHEMA}, 125 rows in 17 tables, chain verified; nothing was changed\n");
    assert_eq!((check.stdout.as_str(), house.schema()), (expected.as_str(), 1), "{check}");
    let run = house.regent(&["run", REQUEST]).run().succeeds();
    assert!(run.stdout.starts_with(ANSWER) && run.stderr.contains("schema-1"), "{run}");
    assert_eq!(entries_of(&house.audit(), "house.upgraded")[0]["seq"], ENTRIES + 1);
    assert_eq!(house.schema(), SCHEMA);
    house.works();

    // What was there is kept, of the schema that it had, and is a backup like any other.
    let [copy] = &kept(&house.world)[..] else { panic!("one copy") };
    let before = record(&old_house());
    let file = World::new();
    file.regent(&["restore", "--yes", copy.to_str().expect("text")]).run().succeeds();
    assert!(record(&file)[0] == before[0], "the same house in a file");
    assert_eq!(leftovers(&house.world).len(), 0);
}

#[test]
fn what_does_not_pass_is_refused_and_not_touched() {
    let house = old_server();
    house.execute(
        "INSERT INTO brainframe.entities VALUES ('p-0000000000000000000000000g', 'person', NULL, 1, NULL, NULL, now())",
    );
    for args in [&["run", REQUEST][..], &["upgrade"], &["upgrade", "--check"]] {
        house.regent(args).run().fails(4, "R4023").says(&["the house is as it was"]);
        assert_eq!(house.schema(), 1);
    }
    house.execute("DELETE FROM brainframe.entities WHERE id = 'p-0000000000000000000000000g'");
    house.works();
}

#[test]
fn the_old_database_of_another_house_is_not_brought_forward() {
    let house = old_server();
    std::fs::remove_file(house.world.data().join("node")).expect("remove");
    std::fs::remove_file(house.world.data().join("keys/audit.key")).expect("remove");
    house.regent(&["run", REQUEST]).run().fails(4, "R4022");
    assert_eq!(house.schema(), 1);
}

#[test]
fn those_who_start_at_once_on_an_old_house_all_end_well() {
    let house = old_server();
    let running: Vec<Running> = (0..4).map(|_| house.regent(&["run", REQUEST]).start()).collect();
    running.into_iter().for_each(|process| drop(process.finish().succeeds()));
    assert_eq!(entries_of(&house.audit(), "house.upgraded").len(), 1);
    house.works();
}

#[test]
fn a_backup_comes_back_to_the_server_and_to_a_file() {
    let house = OnServer::lived_in();
    // More than fits into a page, of rows as well as of entries.
    house.regent(&["events", "ingest"]).stdin(events(1000..=1300)).run().succeeds();
    let (then, folder) = (house.events(), house.back_up());
    let folder = folder.to_str().expect("text");
    house.regent(&["events", "ingest"]).stdin(events(50..=60)).run().succeeds();
    let now = house.events();

    let dry = house.regent(&["restore", "--dry-run", folder]).run().succeeds();
    assert!(dry.stdout.contains("12 entries ahead") && house.events() == now, "{dry}");
    house.regent(&["restore", "--yes", folder]).run().succeeds();
    assert!(house.events() == then, "the very events, with their numbers");
    assert_eq!(entries_of(&house.audit(), "house.restored").len(), 1);
    house.works();
    house.regent(&["doctor"]).run().succeeds();
    assert_eq!(leftovers(&house.world).len(), 0);
    // What is for ever is guarded again.
    let guards = "SELECT count(*) FROM pg_trigger WHERE tgenabled = 'O' AND NOT tgisinternal
                  AND tgrelid::regclass::text LIKE 'brainframe.%'";
    assert_eq!(house.ask(guards), 4);

    let file = World::new();
    file.regent(&["restore", "--yes", folder]).run().succeeds();
    assert!(record(&file)[0] == then, "the same house in a file");
    file.regent(&["run", REQUEST]).run().succeeds();
}

#[test]
fn a_file_can_move_to_a_server_that_has_nothing_yet() {
    let world = World::lived_in();
    let folder = crate::keeping::backups::back_up(&world);
    let [then, _] = record(&world);
    let server = services::shared(Flavour::Plain).expect("a server");
    let house = OnServer { world: World::new(), url: server.create_database().expect("a database") };
    house.regent(&["restore", "--yes", folder.to_str().expect("text")]).run().succeeds();
    assert!(house.events() == then, "the same house on a server");
    house.works();
}
