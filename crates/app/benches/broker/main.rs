//! What the door costs, beside its tool and the disk in the same run: `cargo bench -p app --bench broker -- <what>`.
//!
//! It prints, and judges nothing but counts: a timed test fails on a busy machine for no fault of the code.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a tool for the terminal that measures time, and the one that calls a handler without the broker"
)]

mod calls;
mod decide;
mod disk;
mod nowhere;
mod world;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ledger::Store;
use ledger_sql::{PostgresStore, SqliteStore};
use services::{Flavour, Postgres};

use disk::Disk;

const USAGE: &str =
    "usage: cargo bench -p app --bench broker -- calls|decide [--postgres] [--calls N] [--globs N]";
const CALLS: u64 = 3_200;
const GLOBS: u64 = 100;

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let number = |name: &str, otherwise: u64| {
        let number = args.iter().skip_while(|arg| *arg != name).nth(1);
        number.map_or(otherwise, |number| number.parse().expect(USAGE))
    };
    let globs = usize::try_from(number("--globs", GLOBS)).expect(USAGE);
    let folder = tempfile::tempdir_in(disk_folder()).expect("a folder");
    let postgres = args.iter().any(|arg| arg == "--postgres");
    let server = postgres.then(|| Postgres::start(Flavour::Plain).expect("a server"));
    let place = Place { folder: folder.path(), server: server.as_ref() };
    match args.first().map(String::as_str) {
        Some("calls") => calls::measure(&place, number("--calls", CALLS), globs).await,
        Some("decide") => decide::measure(folder.path(), globs),
        _ => println!("{USAGE}"),
    }
}

/// Where things are built: a file system with a disk, unlike perhaps the folder for what is temporary.
fn disk_folder() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    program.parent().expect("a folder").to_owned()
}

struct Place<'a> {
    folder: &'a Path,
    server: Option<&'a Postgres>,
}

impl Place<'_> {
    async fn store(&self, name: &str) -> Arc<dyn Store> {
        match self.server {
            None => {
                let path = self.folder.join(format!("{name}.db"));
                Arc::new(SqliteStore::open(&path).await.expect("a database"))
            }
            Some(server) => {
                let url = server.create_database().expect("a database");
                Arc::new(PostgresStore::open(&url).await.expect("a schema"))
            }
        }
    }

    async fn disk(&self) -> Disk {
        match self.server {
            None => Disk::sqlite(&self.folder.join("disk.db")),
            Some(server) => Disk::postgres(&server.create_database().expect("a database")).await,
        }
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
