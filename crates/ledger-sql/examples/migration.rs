//! Writes the next migration, for both databases: what the records declare and the migrations do not make yet.
//!
//! ```console
//! $ cargo run -p ledger-sql --example migration -- reminders
//! ```
//!
//! Read the files before you commit them: what a person has to decide stands in them as a comment.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers, which writes files of this repository"
)]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use ledger::records::TABLES;
use ledger_sql::SqliteStore;
use ledger_sql::schema::{SqlDialect, missing_from, read_sqlite, write_migration};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).filter(|name| is_name(name));
    let name =
        name.ok_or("name the migration, in small letters, digits and `_`: `migration -- reminders`")?;
    let folder = tempfile::tempdir()?;
    let database = folder.path().join("migrated.db");
    SqliteStore::open(&database).await?.close().await;
    let changes = missing_from(&read_sqlite(&database)?, &TABLES);
    if changes.is_empty() {
        println!("nothing is missing: the migrations make what the records declare");
        return Ok(());
    }
    let file = format!("{:04}_{name}", SqliteStore::known_schema() + 1);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (dialect, database) in [(SqlDialect::Sqlite, "sqlite"), (SqlDialect::Postgres, "postgres")] {
        let path = here.join(format!("migrations/{database}/{file}.sql"));
        std::fs::write(&path, write_migration(dialect, &name, &changes))?;
        println!("wrote {}", path.display());
    }
    add_to_list(&here.join("src/migrations.rs"), &file)?;
    for change in changes {
        println!("  {change}");
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(fits)
}

/// After the last line of `migrations! { … }`.
fn add_to_list(path: &Path, file: &str) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let (before, after) = text.split_once("\nmigrations! {").ok_or("no list of migrations")?;
    let (list, after) = after.split_once("\n}").ok_or("the list of migrations has no end")?;
    std::fs::write(path, format!("{before}\nmigrations! {{{list}\n    \"{file}\",\n}}{after}"))?;
    println!("added {file} to {}", path.display());
    Ok(())
}
