//! What does not let us in, or is not what we need, is named for what it is, at once, and without the password.

use std::time::Duration;

use ledger::{CommitError, StoreError};
use ledger_sql::PostgresStore;
use services::{Flavour, Postgres, Stop};

use crate::postgres::world::{
    Raw, batch, commit, database, fingerprint, holds_exactly, ledger, open, shared, timed,
};

const SECRET: &str = "open-sesame-4711";
/// What needs no waiting does not wait.
const AT_ONCE: Duration = Duration::from_secs(3);

/// Opening fails, in time, and says nothing of any password.
async fn refused(url: &str, within: Duration) -> StoreError {
    let (result, took) = timed(PostgresStore::open(url)).await;
    let error = result.expect_err("must be refused");
    assert!(took < within, "{took:?}: {error}");
    let password = url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
    let password = password.and_then(|(login, _)| login.split_once(':')).map_or(SECRET, |(_, word)| word);
    for text in [error.to_string(), format!("{error:?}")] {
        assert!(!text.contains(password) && !text.contains(SECRET), "{text}");
    }
    error
}

fn name_of(url: &str) -> &str {
    url.rsplit('/').next().expect("a name")
}

#[tokio::test]
async fn who_is_not_let_in_is_told_so_at_once() {
    let url = database();
    let (server, name) = (shared(), name_of(&url));
    let role = format!("role_of_{name}");
    let mut raw = Raw::connect(&url).await;
    raw.execute(&format!("CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'")).await;
    let wrong = refused(&server.url_as(&role, "a-wrong-one", name), AT_ONCE).await;
    assert!(matches!(&wrong, StoreError::Denied(why) if why.contains(&role)), "{wrong:?}");
    let unknown = refused(&server.url_as("nobody_at_all", SECRET, name), AT_ONCE).await;
    assert!(matches!(&unknown, StoreError::Denied(why) if why.contains("nobody_at_all")), "{unknown:?}");
    let nowhere = refused(&server.url("no_such_database"), AT_ONCE).await;
    assert!(matches!(&nowhere, StoreError::Denied(why) if why.contains("no_such_database")), "{nowhere:?}");
    raw.execute(&format!("REVOKE CONNECT ON DATABASE {name} FROM public")).await;
    let barred = refused(&server.url_as(&role, SECRET, name), AT_ONCE).await;
    assert!(matches!(&barred, StoreError::Denied(why) if why.contains(name)), "{barred:?}");
}

#[tokio::test]
async fn where_nobody_listens_is_said_at_once() {
    let folder = tempfile::tempdir().expect("folder");
    let socket = folder.path().to_string_lossy().replace('/', "%2F");
    for url in [
        format!("postgres://ada:{SECRET}@127.0.0.1:1/regent"),
        format!("postgres://ada:{SECRET}@{socket}:5432/regent"),
        format!("postgres://ada:{SECRET}@/regent?host=/no/such/folder"),
        format!("postgres://ada:{SECRET}@localhost.invalid/regent"),
        format!("postgres://ada:{SECRET}@127.0.0.1:port/regent"),
        format!("postgres://ada:{SECRET}/x@127.0.0.1/regent"),
        format!("postgres://ada:{SECRET}@127.0.0.1:1/regent?sslmode=perhaps"),
        format!("postgres://127.0.0.1:1/regent?user=ada&password={SECRET}&port=many"),
    ] {
        let error = refused(&url, Duration::from_secs(10)).await;
        assert!(matches!(error, StoreError::Unreachable(_)), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn the_store_does_not_show_its_password() {
    let url = database();
    let password = url.split([':', '@']).nth(2).expect("a password").to_owned();
    let store = open(&url).await;
    assert!(!format!("{store:?}").contains(&password));
}

#[tokio::test]
async fn a_schema_of_another_role_is_denied_with_both_names() {
    let url = database();
    let (server, name) = (shared(), name_of(&url));
    let (owner, other) = (format!("owner_of_{name}"), format!("guest_of_{name}"));
    let mut raw = Raw::connect(&url).await;
    raw.execute(&format!("CREATE ROLE {owner} LOGIN PASSWORD '{SECRET}'")).await;
    raw.execute(&format!("CREATE ROLE {other} LOGIN PASSWORD '{SECRET}'")).await;
    let theirs = server.url_as(&other, SECRET, name);
    let names_both = |error: &StoreError| {
        assert!(
            matches!(error, StoreError::Denied(why) if why.contains(&owner) && why.contains(&other)),
            "{error:?}"
        );
    };

    // No schema, and no right to make one.
    let error = refused(&theirs, AT_ONCE).await;
    assert!(matches!(error, StoreError::Denied(_)), "{error:?}");
    // An empty one.
    raw.execute(&format!("CREATE SCHEMA brainframe AUTHORIZATION {owner}")).await;
    let before = fingerprint(&url).await;
    names_both(&refused(&theirs, AT_ONCE).await);
    assert_eq!(fingerprint(&url).await, before);
    // One in use, that the other may not even look into; then look, and not write.
    let ours = ledger(&server.url_as(&owner, SECRET, name)).await;
    commit(&ours, 1).await;
    let before = fingerprint(&url).await;
    names_both(&refused(&theirs, AT_ONCE).await);
    raw.execute(&format!("GRANT USAGE ON SCHEMA brainframe TO {other}")).await;
    names_both(&refused(&theirs, AT_ONCE).await);
    raw.execute(&format!("GRANT SELECT ON ALL TABLES IN SCHEMA brainframe TO {other}")).await;
    let looks = ledger(&theirs).await;
    assert!(looks.verify_audit().await.expect("verify").is_consistent());
    match looks.commit(batch(2)).await {
        Err(CommitError::Store(error)) => assert!(matches!(&*error, StoreError::Denied(_)), "{error:?}"),
        other => panic!("must be denied, is {other:?}"),
    }
    assert_eq!(fingerprint(&url).await, before);
    // With the rights it writes: whoever runs the server may have more than one role for one house.
    raw.execute(&format!("GRANT INSERT, UPDATE ON ALL TABLES IN SCHEMA brainframe TO {other}")).await;
    commit(&looks, 2).await;
    commit(&ours, 3).await;
    holds_exactly(&ours, 1..=3).await;
}

#[tokio::test]
async fn version_14_is_too_old_and_untouched() {
    let server = services::shared(Flavour::Old).expect("a server");
    let url = server.create_database().expect("a database");
    let error = refused(&url, AT_ONCE).await;
    assert!(
        matches!(&error, StoreError::TooOld { found, needed: "PostgreSQL 15" } if found.contains("14.")),
        "{error:?}"
    );
    assert_eq!(fingerprint(&url).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_database_that_takes_no_writes_is_read_only() {
    let (fresh, used) = (database(), database());
    let before = ledger(&used).await;
    commit(&before, 1).await;
    for url in [&fresh, &used] {
        let read_only = format!("ALTER DATABASE {} SET default_transaction_read_only = on", name_of(url));
        Raw::connect(url).await.execute(&read_only).await;
    }
    let error = refused(&fresh, AT_ONCE).await;
    assert!(matches!(error, StoreError::ReadOnly(_)), "{error:?}");
    reads_and_does_not_write(&used).await;
}

/// What was there can be read, and nothing can be written.
async fn reads_and_does_not_write(url: &str) {
    let ledger = ledger(url).await;
    assert!(ledger.verify_audit().await.expect("verify").is_consistent());
    match ledger.commit(batch(2)).await {
        Err(CommitError::Store(error)) => assert!(matches!(&*error, StoreError::ReadOnly(_)), "{error:?}"),
        other => panic!("must be read-only, is {other:?}"),
    }
    holds_exactly(&ledger, [1]).await;
}

/// A server that replays what a primary sends, and answers questions meanwhile. That its primary is silent changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_hot_standby_is_read_only() {
    let mut server = Postgres::start(Flavour::Plain).expect("a server");
    let (fresh, used) =
        (server.create_database().expect("database"), server.create_database().expect("database"));
    let before = ledger(&used).await;
    commit(&before, 1).await;
    drop(before);
    server.stop(Stop::Fast);
    let signal = server.folder().join("data/standby.signal");
    std::fs::write(signal, "").expect("the file that makes it a standby");
    server.resume().expect("it starts as a standby");
    let mut raw = Raw::connect(&used).await;
    assert_eq!(raw.number("SELECT pg_is_in_recovery()::int::bigint").await, 1);
    let error = refused(&fresh, AT_ONCE).await;
    assert!(matches!(&error, StoreError::ReadOnly(why) if why.contains("standby")), "{error:?}");
    reads_and_does_not_write(&used).await;
}

/// Every connection that the server still has. One that was just closed takes a moment to be free.
async fn take_all(url: &str) -> Vec<Raw> {
    let (mut taken, mut in_vain) = (Vec::new(), 0);
    while in_vain < 10 {
        match Raw::try_connect(url).await {
            Ok(connection) => taken.push(connection),
            Err(_crowded) => {
                in_vain += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    taken
}

/// As `take_all`, and those of the ledger, too.
async fn take_even_ours(url: &str) -> Vec<Raw> {
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'regent'";
    let mut taken = take_all(url).await;
    taken.first_mut().expect("one of them").execute(cut).await;
    taken.extend(take_all(url).await);
    taken
}

fn crowded() -> (Postgres, String) {
    let few = [("max_connections", "4"), ("superuser_reserved_connections", "0")];
    let server = Postgres::start_with(Flavour::Plain, &few).expect("a server");
    let url = server.create_database().expect("a database");
    (server, url)
}

/// Frees them once another was refused; if all have what they need, after two seconds.
async fn free(server: &Postgres, taken: Vec<Raw>) {
    let before = server.refusals();
    for _ in 0..200 {
        if server.refusals() > before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(taken);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_when_no_connection_is_left_waits_and_is_then_told() {
    let (server, url) = crowded();
    let taken = take_all(&url).await;
    let (error, took) = timed(Box::pin(refused(&url, Duration::from_secs(20)))).await;
    assert!(matches!(error, StoreError::Crowded(_)), "{error:?}");
    assert!(took > Duration::from_secs(8), "it was asked again for a while: {took:?}");

    // Freed in time, it goes on by itself.
    tokio::join!(free(&server, taken), async { drop(open(&url).await) });
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_at_work_when_no_connection_is_left_waits_and_is_then_told() {
    let (server, url) = crowded();
    let ledger = ledger(&url).await;
    commit(&ledger, 1).await;
    let taken = take_all(&url).await;
    let ((), read) = tokio::join!(free(&server, taken), ledger.verify_audit());
    assert!(read.expect("verify").is_consistent());
    let taken = take_even_ours(&url).await;
    tokio::join!(free(&server, taken), commit(&ledger, 2));

    // And if they are not freed, whoever reads is told the same, in the same time.
    let taken = take_even_ours(&url).await;
    let (read, took) = timed(ledger.verify_audit()).await;
    let error = read.expect_err("nobody frees them");
    assert!(matches!(error, StoreError::Crowded(_)), "{error:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    drop(taken);
    holds_exactly(&ledger, [1, 2]).await;
}
