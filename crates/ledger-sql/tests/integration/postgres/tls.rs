//! Encrypted connections: what each mode asks of a server and of its certificate.

use std::path::Path;

use ledger::StoreError;
use ledger_sql::PostgresStore;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use services::{Flavour, Postgres};

use crate::postgres::world::Raw;

/// A certificate authority.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = named(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate and its key.
    fn certify(&self, name: &str, hosts: &[&str]) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let certificate = named(name, hosts).signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }
}

fn named(name: &str, hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(hosts).expect("parameters");
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// A file that only the server's account can read.
fn put(server: &Postgres, name: &str, text: &str) {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let file = server.folder().join("data").join(name);
    std::fs::write(&file, text).expect("written");
    let owner = std::fs::metadata(server.folder()).expect("a folder");
    std::os::unix::fs::chown(&file, Some(owner.uid()), Some(owner.gid())).expect("given");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("set");
}

/// A server for `localhost`, which `authority` vouches for. With these lines in its list of who may come in, before all others.
async fn start(authority: &Authority, access: &str) -> (Postgres, String) {
    let server = Postgres::start(Flavour::Plain).expect("a server");
    let url = server.create_database().expect("a database");
    let mut raw = Raw::connect(&url).await;
    let (certificate, key) = authority.certify("a server", &["localhost"]);
    put(&server, "server.crt", &certificate);
    put(&server, "server.key", &key);
    put(&server, "ca.crt", &authority.pem);
    let usual = std::fs::read_to_string(server.folder().join("data/pg_hba.conf")).expect("access");
    put(&server, "pg_hba.conf", &format!("{access}\n{usual}"));
    for setting in
        ["ssl_cert_file = 'server.crt'", "ssl_key_file = 'server.key'", "ssl_ca_file = 'ca.crt'", "ssl = on"]
    {
        raw.execute(&format!("ALTER SYSTEM SET {setting}")).await;
    }
    raw.execute("SELECT pg_reload_conf()").await;
    // A new connection is under the new settings once the server has read them.
    for _ in 0..500 {
        let reread = "SELECT count(*) FROM pg_settings WHERE name = 'ssl' AND setting = 'on'";
        if Raw::connect(&server.socket_url("postgres")).await.number(reread).await == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    (server, url)
}

/// Whether the connection of a store is encrypted, if it gets one.
async fn is_encrypted(url: &str, server: &Postgres) -> Result<bool, StoreError> {
    const OURS: &str = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                        WHERE application_name = 'regent' AND ssl";
    let store = PostgresStore::open(url).await?;
    let encrypted = Raw::connect(&server.socket_url("postgres")).await.number(OURS).await;
    drop(store);
    // Until the server has ended it.
    let mut raw = Raw::connect(&server.socket_url("postgres")).await;
    while raw.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'regent'").await > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    Ok(encrypted == 1)
}

fn unreachable(result: Result<bool, StoreError>) -> String {
    match result {
        Err(StoreError::Unreachable(why)) => why,
        other => panic!("must be unreachable, is {other:?}"),
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mode_asks_for_what_it_says() {
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let (server, by_address) = start(&ours, "").await;
    let by_name = by_address.replace("127.0.0.1", "localhost");
    let folder = tempfile::tempdir().expect("folder");
    let [right, wrong, no_pem] = ["right", "wrong", "no-pem"].map(|name| text(&folder.path().join(name)));
    for (file, pem) in [(&right, ours.pem.as_str()), (&wrong, &theirs.pem), (&no_pem, "nothing")] {
        std::fs::write(file, pem).expect("written");
    }
    for (mode, encrypted) in [("disable", false), ("allow", false), ("prefer", true), ("require", true)] {
        // Whoever vouches for it: nobody is asked.
        for root in ["", &format!("&sslrootcert={wrong}")] {
            let url = format!("{by_address}?sslmode={mode}{root}");
            assert_eq!(is_encrypted(&url, &server).await.expect(mode), encrypted, "{mode}{root}");
        }
    }
    assert!(is_encrypted(&by_address, &server).await.expect("the default"), "prefer");

    let with = |url: &str, mode: &str, root: &str| format!("{url}?sslmode={mode}&sslrootcert={root}");
    assert!(
        is_encrypted(&with(&by_address, "verify-ca", &right), &server).await.expect("whatever its name is")
    );
    assert!(is_encrypted(&with(&by_name, "verify-full", &right), &server).await.expect("by its name"));
    let why = unreachable(is_encrypted(&with(&by_address, "verify-full", &right), &server).await);
    assert!(why.contains("not valid for name"), "{why}");
    for mode in ["verify-ca", "verify-full"] {
        let why = unreachable(is_encrypted(&with(&by_name, mode, &wrong), &server).await);
        assert!(why.contains("invalid peer certificate"), "{mode}: {why}");
        // Without a file those count whom everybody knows, and nobody of them knows this one.
        let why = unreachable(is_encrypted(&format!("{by_name}?sslmode={mode}"), &server).await);
        assert!(why.contains("UnknownIssuer"), "{mode}: {why}");
        let why = unreachable(is_encrypted(&with(&by_name, mode, "/no/such/file"), &server).await);
        assert!(why.contains("cannot read `/no/such/file`"), "{mode}: {why}");
        let why = unreachable(is_encrypted(&with(&by_name, mode, &no_pem), &server).await);
        assert!(why.contains("there is none in it"), "{mode}: {why}");
    }
    // A socket does not leave the machine.
    let socket = server.socket_url(by_address.rsplit('/').next().expect("a name"));
    assert!(!is_encrypted(&with(&socket, "verify-full", &right), &server).await.expect("a socket"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_tls_gets_it_from_those_who_may() {
    let ours = Authority::new("ours");
    let (server, url) = start(&ours, "hostnossl all all all reject").await;
    match is_encrypted(&format!("{url}?sslmode=disable"), &server).await {
        Err(StoreError::Denied(why)) => assert!(why.contains("no encryption"), "{why}"),
        other => panic!("must be denied, is {other:?}"),
    }
    for mode in ["allow", "prefer", "require"] {
        assert!(is_encrypted(&format!("{url}?sslmode={mode}"), &server).await.expect(mode), "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_knows_people_by_their_certificates_knows_us() {
    let ours = Authority::new("ours");
    let (server, url) = start(&ours, "hostssl all all all cert").await;
    let folder = tempfile::tempdir().expect("folder");
    let files = |name: &str, whose: &str| {
        let (certificate, key) = ours.certify(whose, &[]);
        let paths = ["crt", "key"].map(|end| text(&folder.path().join(format!("{name}.{end}"))));
        for (path, pem) in paths.iter().zip([certificate, key]) {
            std::fs::write(path, pem).expect("written");
        }
        format!("{url}?sslmode=require&sslcert={}&sslkey={}", paths[0], paths[1])
    };
    assert!(is_encrypted(&files("ours", "regent"), &server).await.expect("let in"));
    match is_encrypted(&files("other", "bob"), &server).await {
        Err(StoreError::Denied(why)) => assert!(why.contains("certificate"), "{why}"),
        other => panic!("must be denied, is {other:?}"),
    }
    let half = files("half", "regent");
    let half = half.split("&sslkey").next().expect("a URL");
    assert!(unreachable(is_encrypted(half, &server).await).contains("sslkey"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tls_is_used_without_it_unless_that_is_asked_for() {
    let server = Postgres::start(Flavour::Plain).expect("a server");
    let url = server.create_database().expect("a database");
    for mode in ["disable", "allow", "prefer"] {
        assert!(!is_encrypted(&format!("{url}?sslmode={mode}"), &server).await.expect(mode), "{mode}");
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let why = unreachable(is_encrypted(&format!("{url}?sslmode={mode}"), &server).await);
        assert_eq!(why, "the server does not support TLS", "{mode}");
    }
}
