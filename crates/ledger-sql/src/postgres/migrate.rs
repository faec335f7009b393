//! The schema: looked at before anything is touched, then brought forward in one transaction.

use ledger::store::{Described, StoreError};
use tokio_postgres::{Error, Row};

use super::cells::Parameter;
use super::connection::Connection;
use super::errors::failure;
use super::{BEGIN, SCHEMA};
use crate::migrations::{KNOWN, MIGRATIONS};

const OLDEST: i64 = 150_000;
const OLDEST_NAME: &str = "PostgreSQL 15";

/// What is there, by one question, before anything is touched: the server, us, and the schema if there is one.
const LOOK: &str = "
    SELECT current_setting('server_version_num')::bigint AS number,
           current_setting('server_version') AS version,
           current_user::text AS me,
           pg_is_in_recovery() AS standby,
           (SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = $1) AS owner,
           (SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = $1) AS mine,
           (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = $1) AS relations,
           (SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
              JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = $1 AND c.relname = 'schema_migrations' AND c.relkind = 'r'
               AND a.attname IN ('number', 'name', 'at')) = 3 AS ours";

type Look = (i64, String, String, bool, Option<String>, Option<bool>, i64, bool);

fn read_look(row: &Row) -> Result<Look, Error> {
    Ok((
        row.try_get("number")?,
        row.try_get("version")?,
        row.try_get("me")?,
        row.try_get("standby")?,
        row.try_get("owner")?,
        row.try_get("mine")?,
        row.try_get("relations")?,
        row.try_get("ours")?,
    ))
}

/// What there is to be brought forward, and whether it is ours to do so.
pub(super) struct Found {
    /// 0: no schema of ours yet.
    pub(super) schema: i64,
    has_schema: bool,
    refused: Option<StoreError>,
}

/// Looks, and touches nothing. What is not ours or newer is an error.
pub(super) async fn look(connection: &mut Connection) -> Result<Found, StoreError> {
    let look = connection.query_row(LOOK, &[Parameter::text(SCHEMA)]).await?;
    let (number, version, me, standby, owner, mine, relations, ours) = read_look(&look).map_err(failure)?;
    if number < OLDEST {
        return Err(StoreError::TooOld { found: format!("PostgreSQL {version}"), needed: OLDEST_NAME });
    }
    if !ours && relations > 0 {
        return Err(StoreError::Foreign(format!("its schema `{SCHEMA}` holds tables of somebody else")));
    }
    let denied = |why: &str| {
        let owner = owner.as_deref().unwrap_or_default();
        StoreError::Denied(format!("its schema `{SCHEMA}` belongs to `{owner}`, and `{me}` may not {why}"))
    };
    let schema = match ours {
        true => newest(connection).await.map_err(|error| match error {
            StoreError::Denied(why) => denied(&format!("read it: {why}")),
            error => error,
        })?,
        false => 0,
    };
    if schema > KNOWN {
        return Err(StoreError::Newer { found: schema, known: KNOWN });
    }
    let refused = if standby {
        Some(StoreError::ReadOnly("the server is a standby; name the primary".into()))
    } else {
        (mine == Some(false)).then(|| denied("change it"))
    };
    Ok(Found { schema, has_schema: owner.is_some(), refused })
}

/// Makes the schema where there is none.
pub(super) async fn make(connection: &mut Connection) -> Result<(), StoreError> {
    let found = look(connection).await?;
    match (found.schema, found.refused) {
        (KNOWN, _) => return Ok(()),
        (older @ 1.., _) => return Err(StoreError::Older { found: older, known: KNOWN }),
        (_, Some(refused)) => return Err(refused),
        (_, None) => {}
    }
    // Whatever is usual on this server: what counts is what is there once the lock is ours.
    connection.run(BEGIN).await?;
    bring_forward(connection, found.has_schema).await?;
    connection.run("COMMIT").await
}

/// Whether this user on this server may change the schema.
pub(super) async fn may_change(connection: &mut Connection) -> Result<(), StoreError> {
    look(connection).await?.refused.map_or(Ok(()), Err)
}

pub(super) async fn newest(connection: &mut Connection) -> Result<i64, StoreError> {
    const NEWEST: &str = "SELECT coalesce(max(number), 0) FROM brainframe.schema_migrations";
    connection.query_row(NEWEST, &[]).await?.try_get(0).map_err(failure)
}

/// Under the writers' lock the number is read again: another process may have been faster.
pub(super) async fn bring_forward(connection: &mut Connection, has_schema: bool) -> Result<(), StoreError> {
    const MAKE_SCHEMA: &str = "CREATE SCHEMA IF NOT EXISTS brainframe";
    const MAKE: &str = "CREATE TABLE IF NOT EXISTS brainframe.schema_migrations (
            number bigint PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now());
        SET LOCAL search_path = brainframe;";
    // Only where there is none: making one needs a right on the database that the schema's owner may not have.
    if !has_schema {
        connection.run(MAKE_SCHEMA).await?;
    }
    connection.run(MAKE).await?;
    let found = newest(connection).await?;
    for (number, migration) in (1_i64..).zip(MIGRATIONS).filter(|(number, _)| *number > found) {
        connection.run(migration.postgres).await?;
        let done = [Parameter::number(number), Parameter::text(&migration.name())];
        connection.query("INSERT INTO schema_migrations (number, name) VALUES ($1, $2)", &done).await?;
    }
    Ok(())
}

pub(super) async fn describe(connection: &mut Connection) -> Result<Described, StoreError> {
    const WHAT: &str = "
        SELECT current_setting('server_version'), current_setting('fsync') = 'on',
               current_setting('full_page_writes') = 'on',
               (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
               EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')";
    let found = connection.query_row(WHAT, &[]).await?;
    let read = |row: &Row| -> Result<(String, bool, bool, Option<String>, bool), Error> {
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?))
    };
    let (version, fsync, whole_pages, vector, available) = read(&found).map_err(failure)?;
    let vector = match (vector, available) {
        (Some(version), _) => format!("pgvector {version}"),
        (None, true) => "pgvector can be installed".into(),
        (None, false) => "no pgvector, the plain fallback is used".into(),
    };
    let mut warnings = Vec::new();
    if !fsync {
        warnings.push(
            "the server runs with fsync = off: a crash of its machine loses what was acknowledged".into(),
        );
    }
    if !whole_pages {
        warnings.push(
            "the server runs with full_page_writes = off: a crash of its machine may tear pages".into(),
        );
    }
    Ok(Described { what: format!("PostgreSQL {version}, schema {KNOWN}, {vector}"), warnings })
}
