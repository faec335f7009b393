//! Where a server is and who we are to it: read from a URL, completed with what libpq would take from elsewhere. Pure: variables,
//! password files and sockets are given.

mod password_file;
mod url;

use std::fmt;
use std::path::Path;

use ledger::store::StoreError;

use url::UrlParts;
pub(super) use url::{AddressError, escape_option};

const PORT: u16 = 5432;
/// Where a server on this machine has its socket: Debian, Homebrew, PostgreSQL itself.
const SOCKET_FOLDERS: [&str; 3] = ["/var/run/postgresql", "/private/tmp", "/tmp"];

/// How far the connection is encrypted, and what is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TlsMode {
    Disable,
    /// Only if the server does not let us in without.
    Allow,
    /// If the server can.
    #[default]
    Prefer,
    Require,
    /// The server's certificate comes from an authority that we trust.
    VerifyCa,
    /// And it is for this host.
    VerifyFull,
}

impl TlsMode {
    const ALL: [(&str, Self); 6] = [
        ("disable", Self::Disable),
        ("allow", Self::Allow),
        ("prefer", Self::Prefer),
        ("require", Self::Require),
        ("verify-ca", Self::VerifyCa),
        ("verify-full", Self::VerifyFull),
    ];

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, mode)| mode)
    }

    fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, mode)| *mode == self).map_or("prefer", |(word, _)| word)
    }
}

/// What a connection is encrypted with. The certificates are the names of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TlsSettings {
    pub(super) mode: TlsMode,
    pub(super) root: Option<String>,
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ServerHost {
    /// A name or an IP address.
    Name(String),
    /// The folder of a socket.
    Socket(String),
}

impl ServerHost {
    fn parse(text: &str) -> Self {
        match text.starts_with('/') {
            true => Self::Socket(text.to_owned()),
            false => Self::Name(text.to_owned()),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        let (Self::Name(text) | Self::Socket(text)) = self;
        text
    }
}

/// A complete address.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ServerAddress {
    pub(super) host: ServerHost,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) database: String,
    pub(super) tls: TlsSettings,
    /// Switches for the server, as on its command line.
    pub(super) options: String,
}

impl fmt::Debug for ServerAddress {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, database, .. } = self;
        f.debug_struct("ServerAddress")
            .field("host", host)
            .field("port", port)
            .field("database", database)
            .finish_non_exhaustive()
    }
}

/// What fills in what a URL leaves out, as libpq does it. The edge reads it; nothing here looks for itself.
#[expect(missing_debug_implementations, reason = "it holds passwords")]
pub struct ConnectionDefaults<'d> {
    /// The value of a variable, if it is set and not empty: `PGUSER`, `PGPASSWORD` and the like.
    pub variable: &'d dyn Fn(&str) -> Option<String>,
    /// The name under which the process runs.
    pub user: Option<String>,
    /// Whether there is such a file: the socket of a server.
    pub exists: &'d dyn Fn(&Path) -> bool,
    /// The texts of the files with passwords that nobody else can read: of `PGPASSFILE`, then of `~/.pgpass`.
    pub password_files: Vec<String>,
}

/// The same URL with everything in it that it left out, so that nothing has to be looked for when it is used: it may hold a
/// password that the URL did not.
///
/// # Errors
/// If the URL or a variable cannot be understood. The error holds no password.
pub fn complete_url(url: &str, defaults: &ConnectionDefaults<'_>) -> Result<String, StoreError> {
    let address = resolve(UrlParts::parse(url)?, defaults)?;
    Ok(address.to_url())
}

impl ServerAddress {
    /// Reads a URL to which nothing is added but `localhost` and the usual port.
    pub(super) fn parse(url: &str) -> Result<Self, AddressError> {
        let nothing = ConnectionDefaults {
            variable: &|_name| None,
            user: None,
            exists: &|_path| false,
            password_files: Vec::new(),
        };
        resolve(UrlParts::parse(url)?, &nothing)
    }

    fn to_url(&self) -> String {
        url::write(self)
    }
}

fn resolve(parts: UrlParts, defaults: &ConnectionDefaults<'_>) -> Result<ServerAddress, AddressError> {
    let variable = defaults.variable;
    let port_variable = || variable("PGPORT").map(|port| url::parse_port(&port)).transpose();
    let port = match parts.port {
        Some(port) => port,
        None => port_variable()?.unwrap_or(PORT),
    };
    let host = parts.host.or_else(|| variable("PGHOSTADDR")).or_else(|| variable("PGHOST"));
    let host = host.unwrap_or_else(|| usual_host(port, defaults.exists));
    let user = parts.user.or_else(|| variable("PGUSER")).or_else(|| defaults.user.clone());
    let user = user.ok_or(AddressError("the URL names no user"))?;
    let database = parts.database.or_else(|| variable("PGDATABASE")).unwrap_or_else(|| user.clone());
    let mode = match parts.tls_mode {
        Some(mode) => mode,
        None => variable("PGSSLMODE").map(|word| url::parse_mode(&word)).transpose()?.unwrap_or_default(),
    };
    let tls = TlsSettings {
        mode,
        root: parts.root.or_else(|| variable("PGSSLROOTCERT")),
        certificate: parts.certificate.or_else(|| variable("PGSSLCERT")),
        key: parts.key.or_else(|| variable("PGSSLKEY")),
    };
    let options = [variable("PGOPTIONS").unwrap_or_default(), parts.options];
    let options = options.into_iter().filter(|options| !options.is_empty()).collect::<Vec<_>>().join(" ");
    let mut address = ServerAddress {
        host: ServerHost::parse(&host),
        port,
        user,
        password: parts.password.or_else(|| variable("PGPASSWORD")),
        database,
        tls,
        options,
    };
    if address.password.is_none() {
        let mut files = defaults.password_files.iter();
        address.password = files.find_map(|file| password_file::find_password(file, &address));
    }
    Ok(address)
}

/// The server of this machine, by its socket if there is one.
fn usual_host(port: u16, exists: &dyn Fn(&Path) -> bool) -> String {
    let has_socket = |folder: &&str| exists(&Path::new(folder).join(socket_name(port)));
    SOCKET_FOLDERS.into_iter().find(has_socket).unwrap_or("localhost").to_owned()
}

/// The name of a server's socket in its folder.
pub(super) fn socket_name(port: u16) -> String {
    format!(".s.PGSQL.{port}")
}

#[cfg(test)]
mod tests;
