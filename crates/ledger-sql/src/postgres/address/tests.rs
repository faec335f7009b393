use std::path::Path;

use proptest::prelude::*;

use super::{ConnectionDefaults, ServerAddress, ServerHost, TlsMode, TlsSettings, complete_url};

const SECRET: &str = "open-sesame";

type Variables<'v> = &'v [(&'v str, &'v str)];

/// What a URL becomes with these variables and password files, on a machine with one socket.
fn complete(url: &str, variables: Variables<'_>, password_files: &[&str]) -> Result<String, String> {
    let variable = |name: &str| {
        let mut known = variables.iter().filter(|(known, _)| *known == name);
        known.next().map(|(_, value)| (*value).to_owned())
    };
    let defaults = ConnectionDefaults {
        variable: &variable,
        user: Some("me".into()),
        exists: &|path: &Path| path == Path::new("/tmp/.s.PGSQL.6000"),
        password_files: password_files.iter().map(|text| (*text).to_owned()).collect(),
    };
    complete_url(url, &defaults).map_err(|error| error.to_string())
}

#[test]
fn a_url_says_everything_or_is_completed() {
    let everything = [
        ("PGUSER", "bob"),
        ("PGPASSWORD", "p w"),
        ("PGHOST", "there"),
        ("PGPORT", "7000"),
        ("PGDATABASE", "data"),
        ("PGSSLMODE", "verify-full"),
        ("PGSSLROOTCERT", "/ca.pem"),
        ("PGOPTIONS", "-c a=b"),
    ];
    let table: [(&str, Variables<'_>, &str); 14] = [
        ("postgres://", &[], "postgres://me@localhost:5432/me?sslmode=prefer"),
        ("postgresql://:6000", &[], "postgres://me@%2Ftmp:6000/me?sslmode=prefer"),
        ("postgres://", &[("PGPORT", "6000")], "postgres://me@%2Ftmp:6000/me?sslmode=prefer"),
        (
            "postgres://",
            &everything,
            "postgres://bob:p%20w@there:7000/data?sslmode=verify-full&sslrootcert=%2Fca.pem&options=-c%20a%3Db",
        ),
        (
            "postgres://ada:x@db:1/r?sslmode=require&sslrootcert=ca&options=-c%20c%3Dd",
            &everything,
            "postgres://ada:x@db:1/r?sslmode=require&sslrootcert=ca&options=-c%20a%3Db%20-c%20c%3Dd",
        ),
        ("postgres://ada@db", &[], "postgres://ada@db:5432/ada?sslmode=prefer"),
        ("postgres://ada@[::1]:5433/r", &[], "postgres://ada@[::1]:5433/r?sslmode=prefer"),
        ("postgres://ada@[fe80::1]", &[], "postgres://ada@[fe80::1]:5432/ada?sslmode=prefer"),
        ("postgres://ada@/r?host=/run/pg", &[], "postgres://ada@%2Frun%2Fpg:5432/r?sslmode=prefer"),
        (
            "postgres://%2Frun%2Fpg:1/r?user=a&password=b",
            &[],
            "postgres://a:b@%2Frun%2Fpg:1/r?sslmode=prefer",
        ),
        ("postgres://db/?dbname=r&port=2&sslmode=VERIFY-CA", &[], "postgres://me@db:2/r?sslmode=verify-ca"),
        (
            "postgres://db?hostaddr=10.0.0.1",
            &[("PGHOST", "x")],
            "postgres://me@10.0.0.1:5432/me?sslmode=prefer",
        ),
        (
            "postgres://",
            &[("PGHOSTADDR", "::1"), ("PGHOST", "x")],
            "postgres://me@[::1]:5432/me?sslmode=prefer",
        ),
        (
            "postgres://db?options[statement_timeout]=5%20s&connect_timeout=3&sslcert=c&ssl-key=k",
            &[],
            "postgres://me@db:5432/me?sslmode=prefer&sslcert=c&sslkey=k&options=-c%20statement_timeout%3D5%5C%20s",
        ),
    ];
    for (url, variables, completed) in table {
        assert_eq!(complete(url, variables, &[]).as_deref(), Ok(completed), "{url} {variables:?}");
        assert_eq!(complete(completed, &[], &[]).as_deref(), Ok(completed), "it is complete");
    }
}

#[test]
fn a_mistake_is_named_without_the_password() {
    let table = [
        (format!("mysql://ada:{SECRET}@db"), "the URL does not begin with `postgres://`"),
        (format!("postgres://ada:{SECRET}@db:port"), "the port of the database is not a number up to 65535"),
        (format!("postgres://ada:{SECRET}@db:70000"), "the port of the database is not a number up to 65535"),
        (format!("postgres://ada:{SECRET}/x@db/r"), "the port of the database is not a number up to 65535"),
        (format!("postgres://ada:1?{SECRET}@db/r"), "a parameter of the URL has no value"),
        (
            format!("postgres://ada:%{SECRET}@db"),
            "the URL has a `%` that two hexadecimal digits do not follow",
        ),
        (format!("postgres://ada:%FF{SECRET}@db"), "the URL is not UTF-8"),
        (format!("postgres://ada:{SECRET}@[::1"), "the URL has a bracket that is not closed"),
        (format!("postgres://ada:{SECRET}@[::1]x"), "the URL has something else than a port after the host"),
        (
            format!("postgres://ada:{SECRET}@db?hostaddr=db"),
            "the parameter `hostaddr` of the URL is no IP address",
        ),
        (
            format!("postgres://ada:{SECRET}@db?sslmod=require"),
            "the URL has a parameter that PostgreSQL does not know",
        ),
        (
            format!("postgres://ada:{SECRET}@db?sslmode=verify_full"),
            "sslmode is not one of disable, allow, prefer, require, verify-ca, verify-full",
        ),
    ];
    for (url, why) in table {
        let error = complete(&url, &[], &[]).expect_err(&url);
        assert_eq!(error, format!("the database cannot be reached: {why}"), "{url}");
    }
    let error = complete("postgres://", &[("PGSSLMODE", "none")], &[]).expect_err("no mode");
    assert!(error.contains("sslmode is not one of"), "{error}");
    let error = ServerAddress::parse("postgres://db/r").expect_err("nobody");
    assert_eq!(error.to_string(), "the URL names no user");
}

#[test]
fn a_password_comes_from_the_url_then_the_variable_then_the_files() {
    let file = "# db:5432:r:ada:comment\ndb:5432:r:ada:from\\:file\r\n*:*:*:*:any";
    let variable = [("PGPASSWORD", "from-variable")];
    let of = |url: &str, variables: &[(&str, &str)], files: &[&str]| {
        let url = complete(url, variables, files).expect("a URL");
        ServerAddress::parse(&url).expect("an address").password
    };
    assert_eq!(of("postgres://ada:from-url@db/r", &variable, &[file]).as_deref(), Some("from-url"));
    assert_eq!(of("postgres://ada@db/r", &variable, &[file]).as_deref(), Some("from-variable"));
    assert_eq!(of("postgres://ada@db/r", &[], &[file]).as_deref(), Some("from:file"));
    assert_eq!(of("postgres://bob@db/r", &[], &[file]).as_deref(), Some("any"));
    assert_eq!(of("postgres://ada@db/r", &[], &["other:*:*:*:x", file]).as_deref(), Some("from:file"));
    assert_eq!(of("postgres://ada@db/r", &[], &["", "db:5432"]), None);
    // A socket is this machine.
    let socket = "postgres://ada@/r?host=/run/pg";
    assert_eq!(of(socket, &[], &["/run/pg:*:*:*:a"]).as_deref(), Some("a"));
    assert_eq!(of(socket, &[], &["localhost:5432:r:ada:b"]).as_deref(), Some("b"));
    assert_eq!(of("postgres://ada@db/r", &[], &["localhost:*:*:*:b"]), None);
    // Escaped and odd ones.
    assert_eq!(of("postgres://a%3Ab@db/r", &[], &["db:*:*:a\\:b:c\\\\d:e "]).as_deref(), Some("c\\d:e "));
}

#[test]
fn an_address_does_not_show_its_password() {
    let url = format!("postgres://ada:{SECRET}@db/r?password={SECRET}");
    let shown = format!("{:?}", ServerAddress::parse(&url).expect("an address"));
    assert!(shown.contains("db") && !shown.contains(SECRET), "{shown}");
}

proptest! {
    #[test]
    fn a_complete_url_means_what_was_resolved(
        host in "[a-z0-9.:]{1,12}|/[^\0]{1,12}",
        port: u16,
        user in ".{1,8}",
        password in proptest::option::of(".{0,12}"),
        database in ".{1,8}",
        mode in 0..6_usize,
        root in proptest::option::of(".{1,12}"),
        options in "[^\0]{0,12}",
    ) {
        let mode = TlsMode::ALL[mode].1;
        let tls = TlsSettings { mode, root, certificate: None, key: Some("k&=?".into()) };
        let host = ServerHost::parse(&host);
        let address = ServerAddress { host, port, user, password, database, tls, options };
        prop_assert_eq!(ServerAddress::parse(&address.to_url()).expect("an address"), address);
    }

    #[test]
    fn no_text_breaks_the_reading_of_a_url_or_a_password_file(text in ".{0,40}", url in "(postgres://)?.{0,40}") {
        drop(complete(&url, &[], &[&text]));
    }
}
